// SPDX-License-Identifier: Apache-2.0
#include "whatif/savings.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sawbill::whatif {
namespace {

TEST(Savings, AWaitThatTheCoresCannotServeStays) {
  const Range all = DataLoading(100, 12, 16, true), some = DataLoading(100, 32, 16, true);
  EXPECT_NEAR(all.expected, 98, 1e-9);
  EXPECT_NEAR(some.expected, 49, 1e-9);
}

TEST(Savings, RangesAreOrderedAndNeverExceedTheRun) {
  const Range r[] = {DataLoading(40, 8, 16, true),
                     DataLoading(40, NAN, NAN, false),
                     Checkpoint(10, 12),
                     Checkpoint(10, 0.5),
                     Rarer(20, 4),
                     HostBound(40, 100),
                     DoubleBatch(100),
                     MixedPrecision(100),
                     Straggler(100, 0.3),
                     DataParallel(100, 97, 66, 4),
                     Communication(100, 0.3, 0.2, 0.4),
                     Throttling(30)};
  for (const Range& x : r) {
    EXPECT_GE(x.low, 0);
    EXPECT_LE(x.low, x.expected);
    EXPECT_LE(x.expected, x.high);
    EXPECT_LE(x.high, 100);
  }
}

TEST(Savings, NothingLostNothingSaved) {
  EXPECT_EQ(HostBound(0, 100).expected, 0);
  EXPECT_EQ(Communication(100, 0.03, 0.02, 0.04).expected, 0);
  EXPECT_EQ(DataLoading(0, 4, 8, true).high, 0);
}

}  // namespace
}  // namespace sawbill::whatif
