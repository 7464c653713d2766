// SPDX-License-Identifier: Apache-2.0
#include "rules/condition.h"

#include <gmock/gmock.h>

namespace sawbill::rules {
namespace {
using ::testing::HasSubstr;
using wave::Feature;

Condition Parsed(std::string_view text) {
  Condition c;
  const TextError error = ParseCondition(text, &c);
  EXPECT_EQ(error.message, "") << text;
  return c;
}
TextError Refused(std::string_view text) {
  Condition c;
  TextError error = ParseCondition(text, &c);
  EXPECT_FALSE(error.ok()) << text;
  return error;
}

TEST(Condition, EachOperatorIsRead) {
  EXPECT_EQ(Parsed("workers < 4").op, Op::kLt);
  EXPECT_EQ(Parsed("workers <= 4").op, Op::kLe);
  EXPECT_EQ(Parsed("workers > 4").op, Op::kGt);
  EXPECT_EQ(Parsed("workers >= 4").op, Op::kGe);
  EXPECT_EQ(Parsed("workers == 4").op, Op::kEq);
  EXPECT_EQ(Parsed("workers != 4").op, Op::kNe);
}

TEST(Condition, ARatioTakesPercentOrTheRatioItself) {
  EXPECT_DOUBLE_EQ(Parsed("wait_share >= 8%").value, 0.08);
  EXPECT_DOUBLE_EQ(Parsed("wait_share >= 8 %").value, 0.08);
  EXPECT_DOUBLE_EQ(Parsed("wait_share >= 0.08").value, 0.08);
  EXPECT_DOUBLE_EQ(Parsed("mem_spread >= 1.2").value, 1.2);
  EXPECT_EQ(Parsed("wait_share>=8%").feature, Feature::kWaitShare);
}

TEST(Condition, APercentageTakesPercentOrAPlainNumber) {
  EXPECT_DOUBLE_EQ(Parsed("util_mean < 30%").value, 30);
  EXPECT_DOUBLE_EQ(Parsed("util_mean < 30").value, 30);
  EXPECT_DOUBLE_EQ(Parsed("util_mean < 0.5%").value, 0.5);
}

TEST(Condition, ATimeTakesUnitsOfTime) {
  EXPECT_DOUBLE_EQ(Parsed("active_s >= 250ms").value, 0.25);
  EXPECT_DOUBLE_EQ(Parsed("active_s >= 90s").value, 90);
  EXPECT_DOUBLE_EQ(Parsed("active_s >= 3m").value, 180);
  EXPECT_DOUBLE_EQ(Parsed("active_s >= 2 h").value, 7200);
  EXPECT_DOUBLE_EQ(Parsed("active_s >= 1d").value, 86400);
  EXPECT_DOUBLE_EQ(Parsed("active_s >= 180").value, 180);
}

TEST(Condition, AUnitThatDoesNotFitIsRefusedAtItsPlace) {
  const TextError time = Refused("active_s >= 8%");
  EXPECT_THAT(time.message, HasSubstr("is a time"));
  EXPECT_EQ(time.offset, 12u);
  EXPECT_THAT(Refused("wait_share >= 8s").message, HasSubstr("it takes %"));
  EXPECT_THAT(Refused("workers >= 8%").message, HasSubstr("takes no '%'"));
  EXPECT_THAT(Refused("temp_c >= 83C").message, HasSubstr("no unit"));
  EXPECT_THAT(Refused("active_s >= -3m").message, HasSubstr("cannot be negative"));
}

TEST(Condition, SlipsOfAFactorOfAHundredAreRefused) {
  EXPECT_THAT(Refused("wait_share >= 8").message, HasSubstr("write 8%"));
  EXPECT_THAT(Refused("util_mean < 0.3").message, HasSubstr("write 30%"));
}

TEST(Condition, MisspeltWordsGetTheNearest) {
  const TextError word = Refused("  wait_shrae >= 8%");
  EXPECT_THAT(word.message, HasSubstr("did you mean 'wait_share'?"));
  EXPECT_EQ(word.offset, 2u);
  EXPECT_THAT(Refused("sm_util < 30%").message, HasSubstr("is a metric, not a feature"));
  EXPECT_THAT(Refused("workers => 3").message, HasSubstr("did you mean '>='?"));
  EXPECT_THAT(Refused("workers = 3").message, HasSubstr("did you mean '=='?"));
  EXPECT_EQ(Refused("workers = 3").offset, 8u);
}

TEST(Condition, WhatIsMissingIsSaid) {
  EXPECT_THAT(Refused("").message, HasSubstr("begins with the name of a feature"));
  EXPECT_THAT(Refused("workers").message, HasSubstr("an operator is missing"));
  EXPECT_THAT(Refused("workers >=").message, HasSubstr("a value is missing"));
  EXPECT_THAT(Refused("workers >= many").message, HasSubstr("is no number"));
  EXPECT_THAT(Refused("workers >= nan").message, HasSubstr("is no number"));
  EXPECT_THAT(Refused("workers >= 3 4").message, HasSubstr("unit '4'"));
}

TEST(MetricTest, ThresholdAndTrendAreRead) {
  MetricTest t;
  ASSERT_TRUE(ParseMetricTest("sm_util < 30%", Layer::kThreshold, &t).ok());
  EXPECT_EQ(t.metric, model::GpuMetric::kSmUtil);
  EXPECT_EQ(t.op, Op::kLt);
  EXPECT_DOUBLE_EQ(t.value, 30);
  ASSERT_TRUE(ParseMetricTest("sm_util falls 15%", Layer::kTrend, &t).ok());
  EXPECT_EQ(t.op, Op::kLt);
  EXPECT_DOUBLE_EQ(t.value, 0.15);
  ASSERT_TRUE(ParseMetricTest("power_w rises 150%", Layer::kTrend, &t).ok());
  EXPECT_EQ(t.op, Op::kGt);
  EXPECT_DOUBLE_EQ(t.value, 1.5);
}

TEST(MetricTest, MistakesAreSaid) {
  MetricTest t;
  const auto wrong = [&](std::string_view text, Layer layer) { return ParseMetricTest(text, layer, &t).message; };
  EXPECT_THAT(wrong("sm_utl < 30%", Layer::kThreshold), HasSubstr("did you mean 'sm_util'?"));
  EXPECT_THAT(wrong("wait_share < 30%", Layer::kThreshold), HasSubstr("is a feature, not a metric"));
  EXPECT_THAT(wrong("energy_j > 3", Layer::kThreshold), HasSubstr("is no level"));
  EXPECT_THAT(wrong("throttle > 3", Layer::kThreshold), HasSubstr("is no level"));
  EXPECT_THAT(wrong("power_w < 30%", Layer::kThreshold), HasSubstr("takes no '%'"));
  EXPECT_THAT(wrong("sm_util < 15%", Layer::kTrend), HasSubstr("'falls' or 'rises'"));
  EXPECT_THAT(wrong("sm_util falls 0.15", Layer::kTrend), HasSubstr("is no change"));
  EXPECT_THAT(wrong("sm_util falls 150%", Layer::kTrend), HasSubstr("is no change"));
  EXPECT_THAT(wrong("sm_util falls 15%", Layer::kThreshold), HasSubstr("an operator is missing"));
}

TEST(FormatValue, PrintsInTheFeaturesUnit) {
  EXPECT_EQ(FormatValue(Feature::kWaitShare, 0.432, Lang::kEn), "43.2 %");
  EXPECT_EQ(FormatValue(Feature::kWaitShare, 0.08, Lang::kEn), "8 %");
  EXPECT_EQ(FormatValue(Feature::kUtilMean, 55.25, Lang::kEn), "55.2 %");
  EXPECT_EQ(FormatValue(Feature::kActiveS, 300, Lang::kEn), "5 min");
  EXPECT_EQ(FormatValue(Feature::kWorkers, 4, Lang::kEn), "4");
  EXPECT_EQ(FormatValue(Feature::kMainBusy, 0.976, Lang::kEn), "0.98 cores");
  EXPECT_EQ(FormatValue(Feature::kTempC, 84, Lang::kEn), "84 °C");
  EXPECT_EQ(FormatValue(Feature::kLinkMbS, 12345, Lang::kEn), "12,345 MB/s");
  EXPECT_EQ(FormatValue(Feature::kWorkers, kMissing, Lang::kEn), "—");
  // Factors are no shares, and what is spread over percentages is points.
  EXPECT_EQ(FormatValue(Feature::kWorkersPerCore, 1.5, Lang::kEn), "1.5");
  EXPECT_EQ(FormatValue(Feature::kMemSpread, 1.2, Lang::kEn), "1.2");
  EXPECT_EQ(FormatValue(Feature::kSwing, 43.2, Lang::kEn), "43.2 points");
}

TEST(FormatValue, ChineseIsChinese) {
  EXPECT_EQ(FormatValue(Feature::kActiveS, 300, Lang::kZh), "5 分钟");
  EXPECT_EQ(FormatValue(Feature::kStartupS, 1461, Lang::kZh), "24 分 21 秒");
  EXPECT_EQ(FormatValue(Feature::kMainBusy, 0.976, Lang::kZh), "0.98 核");
  EXPECT_EQ(FormatValue(Feature::kSwing, 43.2, Lang::kZh), "43.2 个百分点");
}

TEST(FormatValue, AFactIsYesOrNoAndAFigureIsNot) {
  EXPECT_EQ(FormatValue(Feature::kOneProcess, 1, Lang::kEn), "yes");
  EXPECT_EQ(FormatValue(Feature::kOneProcess, 0, Lang::kEn), "no");
  EXPECT_EQ(FormatValue(Feature::kAliased, 1, Lang::kZh), "是");
  EXPECT_EQ(FormatValue(Feature::kOneProcess, kMissing, Lang::kEn), "—");
  EXPECT_EQ(FormatValue(Feature::kWorkers, 1, Lang::kEn), "1");
  EXPECT_EQ(YesOrNo(Feature::kOneProcess, Lang::kEn), "one process holds all cards");
  EXPECT_EQ(YesOrNo(Feature::kWorkers, Lang::kEn), "");
}

TEST(FormatValue, AValueJustBesideTheThresholdDoesNotPrintAsTheThreshold) {
  const ValuePair near = FormatPair(Parsed("wait_share >= 8%"), 0.07996, Lang::kEn);
  EXPECT_NE(near.value, near.threshold);
  EXPECT_EQ(near.threshold, "8 %");
  const ValuePair time = FormatPair(Parsed("active_s >= 3m"), 179.99, Lang::kEn);
  EXPECT_EQ(time.value, "179.99 s");
  EXPECT_EQ(FormatPair(Parsed("wait_share >= 8%"), 0.08, Lang::kEn).value, "8 %");
}

}  // namespace
}  // namespace sawbill::rules
