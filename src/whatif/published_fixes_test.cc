// SPDX-License-Identifier: Apache-2.0
#include "whatif/published_fixes.h"

#include <gtest/gtest.h>

namespace sawbill::whatif {
namespace {

TEST(PublishedFixes, TheFormulaIsOffByWhatThePaperTellsOfIt) {
  EXPECT_EQ(PublishedFixes().size(), 13U);
  EXPECT_NEAR(ScoreFixes().naive, 0.281, 0.005);
}

TEST(PublishedFixes, TheEstimateStaysFarBelowThat) {
  const FixScore s = ScoreFixes();
  // Measured: 0.066. The bound leaves room for a change of a constant, not for a return to the formula.
  EXPECT_LE(s.ours, 0.09);
  EXPECT_LE(s.ours, s.naive / 3);
}

TEST(PublishedFixes, TheTruthLiesInTheRangeButForOneOfNine) {
  const FixScore s = ScoreFixes();
  EXPECT_EQ(s.told, 9);
  EXPECT_GE(s.inside, 8);
}

TEST(PublishedFixes, NoFixIsSaidToSlowTheJob) {
  int slower = 0;
  for (const PublishedFix& f : PublishedFixes()) {
    const FixEstimate e = EstimateFix(f);
    EXPECT_GE(e.range.low, 0) << f.name;
    EXPECT_LE(e.range.low, e.range.expected) << f.name;
    EXPECT_LE(e.range.expected, e.range.high) << f.name;
    EXPECT_LT(e.range.high, 1) << f.name;
    slower += NaiveSaving(f) < 0 ? 1 : 0;
  }
  EXPECT_EQ(slower, 2);  // which the formula says of two real gains
}

TEST(PublishedFixes, SavesThatBlockAreNeverPromisedMoreThanTheTimeOutsideTraining) {
  for (const PublishedFix& f : PublishedFixes()) {
    if (f.doublings > 0 || !f.async_save) continue;
    EXPECT_LE(EstimateFix(f).range.high, 1 - f.job_before / f.train_before + 1e-12) << f.name;
    EXPECT_EQ(EstimateFix(f).range.low, 0) << f.name;  // some of that time may be something else
  }
}

TEST(PublishedFixes, EachDoublingOfTheSweepsGainsWhatIsClaimed) {
  double error = 0;
  for (const PublishedDoubling& d : PublishedDoublings()) {
    const Range r = DoubleBatch(1);
    EXPECT_GE(TrueSaving(d.speedup), r.low) << d.name;
    EXPECT_LE(TrueSaving(d.speedup), r.high) << d.name;
    error += std::abs(TrueSaving(d.speedup) - r.expected);
  }
  // With one batch size known, one to two is all that is certain; what is expected is off by 14 points.
  EXPECT_LE(error / static_cast<double>(PublishedDoublings().size()), 0.16);
}

}  // namespace
}  // namespace sawbill::whatif
