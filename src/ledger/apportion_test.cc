// SPDX-License-Identifier: Apache-2.0
#include "ledger/apportion.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

namespace sawbill::ledger {
namespace {
using model::Index;
using model::Line;

TEST(Apportion, WaitIsWhatIsNotBusy) {
  model::LineSeconds l{};
  Apportion({1.0, 0.6, {}, Line::kDataLoading, {}}, &l);
  EXPECT_DOUBLE_EQ(l[Index(Line::kUseful)], 0.6);
  EXPECT_DOUBLE_EQ(l[Index(Line::kDataLoading)], 0.4);
}

TEST(Apportion, AFixedPartHoldsNoKernels) {
  // A save takes 0.7 s of a sample that reads 30 % busy: the other 0.3 s were all work, none of it waiting.
  model::LineSeconds l{};
  Apportion({1.0, 0.3, {{Line::kCheckpoint, 0.7}}, Line::kDataLoading, {}}, &l);
  EXPECT_DOUBLE_EQ(l[Index(Line::kCheckpoint)], 0.7);
  EXPECT_NEAR(l[Index(Line::kUseful)], 0.3, 1e-12);
  EXPECT_NEAR(l[Index(Line::kDataLoading)], 0.0, 1e-12);
}

TEST(Apportion, LossesApplyToWhatEarlierOnesLeft) {
  model::LineSeconds l{};
  Apportion({10, 1.0, {}, Line::kUnsaturated, {{Line::kThrottling, 0.3}, {Line::kImbalance, 0.5}}}, &l);
  EXPECT_DOUBLE_EQ(l[Index(Line::kThrottling)], 3.0);
  EXPECT_DOUBLE_EQ(l[Index(Line::kImbalance)], 3.5);
  EXPECT_DOUBLE_EQ(l[Index(Line::kUseful)], 3.5);
}

TEST(Apportion, UnknownUtilisationIsUnexplainedNeverIdle) {
  model::LineSeconds l{};
  Apportion({1.0, std::nan(""), {}, Line::kDataLoading, {}}, &l);
  EXPECT_DOUBLE_EQ(l[Index(Line::kUnexplained)], 1.0);
}

TEST(Apportion, AnyInputAddsUpAndNothingIsNegative) {
  EXPECT_TRUE(rc::check([](void) {
    const auto real = [](int lo, int hi) { return *rc::gen::inRange(lo, hi) / 1000.0; };
    Interval i;
    i.seconds = real(0, 5000);
    i.busy = *rc::gen::inRange(0, 10) == 0 ? std::nan("") : real(-500, 1500);
    const auto any_line = [] { return static_cast<Line>(*rc::gen::inRange(0, static_cast<int>(model::kLines))); };
    for (int n = *rc::gen::inRange(0, 4); n > 0; --n) i.fixed.push_back({any_line(), real(-1000, 4000)});
    for (int n = *rc::gen::inRange(0, 4); n > 0; --n) i.losses.push_back({any_line(), real(-500, 1500)});
    i.wait_line = any_line();
    model::LineSeconds l{};
    Apportion(i, &l);
    for (const double s : l) RC_ASSERT(s >= 0);
    RC_ASSERT(std::abs(Sum(l) - i.seconds) < 1e-9);
  }));
}

}  // namespace
}  // namespace sawbill::ledger
