// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "analysis/merge.h"

namespace sawbill::analysis {
namespace {

using model::FindingId;

Finding Fix(FindingId id, double saved_s, double run_s, bool speedup, int run = 0) {
  Finding f;
  f.id = id;
  f.run = run;
  f.wasted_s = saved_s;
  f.saving = SavingEstimate{0.5 * saved_s, saved_s, std::min(run_s, 1.2 * saved_s), saved_s, run_s, false, speedup};
  return f;
}

double Total(const std::vector<Finding>& v) {
  double s = 0;
  for (const Finding& f : v) s += f.saving->expected_s;
  return s;
}

TEST(JointSavings, StallsAreDifferentSecondsAndAddUp) {
  std::vector<Finding> v = {Fix(FindingId::kDataLoading, 300, 1000, false),
                            Fix(FindingId::kCheckpoint, 100, 1000, false)};
  SettleSavings(&v);
  EXPECT_DOUBLE_EQ(Total(v), 400);
}

TEST(JointSavings, ASpeedUpSavesItsShareOfWhatIsLeft) {
  // 400 s of stalls gone, 600 s left, of which a straggler mended saves 30 %: 580 in all, not 700.
  std::vector<Finding> v = {Fix(FindingId::kImbalance, 300, 1000, true), Fix(FindingId::kCheckpoint, 400, 1000, false)};
  SettleSavings(&v);
  EXPECT_DOUBLE_EQ(v[1].saving->expected_s, 400);
  EXPECT_DOUBLE_EQ(v[0].saving->expected_s, 180);
  EXPECT_DOUBLE_EQ(v[0].saving->alone_s, 300);
  EXPECT_LE(v[0].saving->low_s, v[0].saving->expected_s);
}

TEST(JointSavings, AStallAfterALargerSpeedUpShrinksWithTheSteps) {
  std::vector<Finding> v = {Fix(FindingId::kCheckpoint, 100, 1000, false), Fix(FindingId::kImbalance, 500, 1000, true)};
  SettleSavings(&v);
  EXPECT_DOUBLE_EQ(v[1].saving->expected_s, 500);
  EXPECT_DOUBLE_EQ(v[0].saving->expected_s, 50);
}

TEST(JointSavings, OtherRunsAreOtherTime) {
  std::vector<Finding> v = {Fix(FindingId::kImbalance, 300, 1000, true, 0),
                            Fix(FindingId::kCheckpoint, 400, 1000, false, 1)};
  SettleSavings(&v);
  EXPECT_DOUBLE_EQ(Total(v), 700);
}

/// Fixes of one run: stalls on lines of their own, which fit into it, and up to three speed-ups.
std::vector<Finding> AnyFixes(double run_s) {
  constexpr FindingId kStalls[] = {FindingId::kCheckpoint, FindingId::kEvaluation, FindingId::kLogging,
                                   FindingId::kStartup, FindingId::kIdleHeld};
  std::vector<Finding> v;
  double left = run_s;
  for (const FindingId id : kStalls) {
    const double s = left * *rc::gen::inRange(0, 700) / 1000.0;
    left -= s;
    if (*rc::gen::inRange(0, 3) != 0) v.push_back(Fix(id, s, run_s, false));
  }
  for (int n = *rc::gen::inRange(0, 4); n > 0; --n) {
    v.push_back(Fix(FindingId::kImbalance, run_s * *rc::gen::inRange(0, 900) / 1000.0, run_s, true));
  }
  return v;
}

TEST(JointSavings, TheTotalIsBoundedAndDoesNotDependOnTheOrder) {
  EXPECT_TRUE(rc::check([] {
    const double run_s = *rc::gen::inRange(60, 1000000);
    std::vector<Finding> v = AnyFixes(run_s), turned;
    double alone = 0;
    for (const Finding& f : v) alone += f.saving->expected_s;
    turned.assign(v.rbegin(), v.rend());
    for (size_t n = v.size(); n > 1; --n)
      std::swap(turned[n - 1], turned[static_cast<size_t>(*rc::gen::inRange<int>(0, static_cast<int>(n)))]);
    SettleSavings(&v);
    SettleSavings(&turned);
    const double total = Total(v);
    RC_ASSERT(std::abs(total - Total(turned)) <= 1e-9 * run_s);
    RC_ASSERT(total <= alone + 1e-9 * run_s);
    RC_ASSERT(total <= run_s * (1 + 1e-12));
    for (const Finding& f : v) {
      RC_ASSERT(f.saving->low_s >= 0);
      RC_ASSERT(f.saving->low_s <= f.saving->expected_s);
      RC_ASSERT(f.saving->expected_s <= f.saving->high_s + 1e-9);
      RC_ASSERT(f.saving->expected_s <= f.saving->alone_s + 1e-9);
    }
  }));
}

TEST(JointSavings, AFasterCardSavesNothingByItselfWhileBatchesComeLate) {
  std::vector<Finding> v = {Fix(FindingId::kDataLoading, 400, 1000, false),
                            Fix(FindingId::kThrottling, 200, 1000, false)};
  SettleSavings(&v);
  EXPECT_DOUBLE_EQ(v[1].saving->alone_s, 0);
  EXPECT_DOUBLE_EQ(v[1].saving->expected_s, 200);  // on top of the loader it counts in full
}

}  // namespace
}  // namespace sawbill::analysis
