// SPDX-License-Identifier: Apache-2.0
#include "whatif/savings.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sawbill::whatif {
namespace {

/// Throughput relative to the law min(W/p, 1/G), for rho = (W/p)/G.
double Efficiency(int workers, int prefetch, double cv, double rho) {
  Pipeline p;
  p.workers = workers;
  p.prefetch = prefetch;
  p.cv = cv;
  p.gpu_s = 0.2;
  p.prep_s = workers * p.gpu_s / rho;
  const double law = std::min(workers / p.prep_s, 1 / p.gpu_s);
  double sum = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) sum += SimulatePipeline(p, 12000, seed).steps_per_s / law;
  return sum / 8;
}

TEST(Pipeline, WithoutVarianceTheLawHolds) {
  for (const double rho : {0.5, 0.8, 1.0, 1.25, 2.0}) EXPECT_NEAR(Efficiency(8, 2, 0, rho), 1.0, 0.005) << rho;
}

TEST(Pipeline, VarianceCostsWhatTheReferenceTableSays) {
  // Eight workers; the table's own simulation, its cells with the smallest sampling error.
  EXPECT_NEAR(Efficiency(8, 2, 0.3, 0.8), 0.91, 0.02);
  EXPECT_NEAR(Efficiency(8, 2, 0.3, 1.25), 1.0, 0.02);
  EXPECT_NEAR(Efficiency(8, 4, 0.3, 0.8), 0.96, 0.02);
  EXPECT_NEAR(Efficiency(8, 2, 0.1, 0.95), 0.99, 0.02);
}

TEST(Pipeline, MoreWorkersThanCoresDoNotHelp) {
  Pipeline p;
  p.workers = 8;
  p.cores = 4;
  p.cv = 0;
  p.prep_s = 1.6;
  const double at_8 = SimulatePipeline(p, 4000, 1).steps_per_s;
  p.workers = 4;
  EXPECT_NEAR(at_8, SimulatePipeline(p, 4000, 1).steps_per_s, 0.02);
}

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
