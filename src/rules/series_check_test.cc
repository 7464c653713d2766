// SPDX-License-Identifier: Apache-2.0
#include "rules/series_check.h"

#include <gmock/gmock.h>

namespace sawbill::rules {
namespace {
using model::GpuMetric;

/// A sample a second, utilisation by second.
model::GpuTrack Track(const std::vector<std::pair<int, float>>& seconds_at_level) {
  model::GpuTrack track;
  TimeMs t = 1'700'000'000'000;
  for (const auto& [seconds, level] : seconds_at_level) {
    for (int i = 0; i < seconds; ++i) {
      track.t_ms.push_back(t += 1000);
      track.columns[static_cast<size_t>(GpuMetric::kSmUtil)].push_back(level);
    }
  }
  return track;
}
MetricTest MakeTest(const char* text, Layer layer, double a, double b = 0) {
  MetricTest t;
  t.metric = GpuMetric::kSmUtil;
  t.op = Op::kLt;
  t.value = layer == Layer::kTrend ? 0.15 : 30;
  t.text = text;
  (layer == Layer::kTrend ? t.window_s : t.for_s) = a;
  t.against_s = b;
  return t;
}
TestResult Threshold(const model::GpuTrack& track, double for_s) {
  return CheckThreshold(MakeTest("sm_util < 30%", Layer::kThreshold, for_s), track, model::Cover(track.t_ms));
}
TestResult Trend(const model::GpuTrack& track, double window_s) {
  return CheckTrend(MakeTest("sm_util falls 15%", Layer::kTrend, window_s, window_s), track, model::Cover(track.t_ms));
}
const float kNoReading = static_cast<float>(kMissing);

TEST(CheckThreshold, TheLongestStretchCounts) {
  const model::GpuTrack track = Track({{100, 90}, {200, 5}, {10, 90}, {150, 5}});
  EXPECT_EQ(Threshold(track, 200).truth, Truth::kTrue);
  EXPECT_NEAR(Threshold(track, 200).value, 200, 1e-3);
  EXPECT_EQ(Threshold(track, 201).truth, Truth::kFalse);
}

TEST(CheckThreshold, AMissingReadingBreaksAStretch) {
  EXPECT_EQ(Threshold(Track({{1, 90}, {100, 5}, {1, kNoReading}, {100, 5}}), 150).truth, Truth::kFalse);
  EXPECT_EQ(Threshold(Track({{200, kNoReading}}), 100).truth, Truth::kUnknown);
  EXPECT_EQ(Threshold(model::GpuTrack(), 100).truth, Truth::kUnknown);
}

TEST(CheckThreshold, AHoleInTheSamplesBreaksAStretch) {
  model::GpuTrack track = Track({{1, 90}, {200, 5}});
  for (size_t i = 100; i < track.t_ms.size(); ++i) track.t_ms[i] += 3'600'000;
  const TestResult r = Threshold(track, 150);
  EXPECT_EQ(r.truth, Truth::kFalse);
  EXPECT_LE(r.value, 105);
}

TEST(CheckTrend, AFallOfTheMeanIsSeen) {
  const TestResult r = Trend(Track({{600, 70}, {300, 70}, {300, 40}}), 300);
  EXPECT_EQ(r.truth, Truth::kTrue);
  EXPECT_NEAR(r.value, 1 - 40.0 / 70, 1e-6);
  EXPECT_EQ(Trend(Track({{300, 70}, {300, 65}}), 300).truth, Truth::kFalse);
  EXPECT_EQ(Trend(Track({{300, 40}, {300, 70}}), 300).truth, Truth::kFalse);
}

TEST(CheckTrend, TooLittleMeasuredTimeIsUnknown) {
  EXPECT_EQ(Trend(Track({{100, 70}, {300, 40}}), 300).truth, Truth::kUnknown);
  EXPECT_EQ(Trend(Track({{300, 70}, {200, kNoReading}, {100, 40}}), 300).truth, Truth::kUnknown);
  EXPECT_EQ(Trend(Track({{300, 0}, {300, 40}}), 300).truth, Truth::kUnknown) << "no share of nothing";
}

TEST(CheckTrend, ARiseIsMeasuredAgainstTheEarlierMean) {
  MetricTest t = MakeTest("sm_util rises 15%", Layer::kTrend, 100, 100);
  t.op = Op::kGt;
  const model::GpuTrack track = Track({{101, 40}, {100, 60}});
  const TestResult r = CheckTrend(t, track, model::Cover(track.t_ms));
  EXPECT_EQ(r.truth, Truth::kTrue);
  EXPECT_NEAR(r.value, 0.5, 1e-6);
}

}  // namespace
}  // namespace sawbill::rules
