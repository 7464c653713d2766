// SPDX-License-Identifier: Apache-2.0
#include "store/minute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "store/test_util.h"

namespace sawbill::store {
namespace {
using model::GpuMetric;

constexpr TimeMs kForever = std::numeric_limits<TimeMs>::max();

model::GpuTrack Track(const std::vector<TimeMs>& t, const std::vector<float>& util) {
  model::GpuTrack g;
  g.card.gpu = "0";
  g.t_ms = t;
  g.columns[0] = util;
  return g;
}
const MinuteRow::Summary& Of(const MinuteRow& row, GpuMetric m) { return row.metrics[static_cast<size_t>(m)]; }

TEST(Minute, ColumnsAreThoseOfTheContract) {
  const std::vector<std::string> c = MinuteColumns();
  EXPECT_EQ(c.size(), 3 + 3 * model::kGpuMetrics + 3);
  EXPECT_EQ(c[2], "covered_s");
  EXPECT_EQ(c[3], "sm_util_mean");
  EXPECT_EQ(c[5], "sm_util_max");
  EXPECT_EQ(c[c.size() - 4], "sm_util_max_max");
  EXPECT_THAT((std::vector<std::string>{c.end() - 3, c.end()}),
              ::testing::ElementsAre("sm_util_p50", "sm_util_p95", "low_s"));
  RowText row;
  MakeMinuteRow({}, &row);
  EXPECT_EQ(row.cells() + 1, c.size());
}

TEST(Minute, ASampleSpeaksForTheTimeBeforeItAcrossMinutes) {
  // Every 40 s from 12:00:00: the sample at 12:01:20 speaks for 20 s of the first minute and 20 s of the second.
  const auto rows =
      MinuteRows(Track({kNoon, kNoon + 40'000, kNoon + 80'000, kNoon + 120'000}, {0, 90, 30, 60}), 0, kForever);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].t_ms, kNoon + 60'000);
  EXPECT_DOUBLE_EQ(rows[0].covered_s, 60);
  EXPECT_DOUBLE_EQ(Of(rows[0], GpuMetric::kSmUtil).mean, (40 * 90 + 20 * 30) / 60.0);
  EXPECT_EQ(Of(rows[0], GpuMetric::kSmUtil).min, 30);
  EXPECT_EQ(Of(rows[0], GpuMetric::kSmUtil).max, 90);
  EXPECT_EQ(rows[0].sm_util_p50, 90);
  EXPECT_DOUBLE_EQ(Of(rows[1], GpuMetric::kSmUtil).mean, (20 * 30 + 40 * 60) / 60.0);
}

TEST(Minute, WhatIsNotCoveredIsNotThere) {
  // 1 Hz, a hole of ten minutes, 1 Hz again: at most 2.5 s of the hole count.
  std::vector<TimeMs> t;
  for (int i = 0; i < 31; ++i) t.push_back(kNoon + i * 1000);
  for (int i = 0; i < 31; ++i) t.push_back(kNoon + 630'000 + i * 1000);
  const auto rows = MinuteRows(Track(t, std::vector<float>(t.size(), 10)), 0, kForever);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_DOUBLE_EQ(rows[0].covered_s, 30);
  EXPECT_DOUBLE_EQ(rows[1].covered_s, 32.5);
  EXPECT_EQ(rows[1].t_ms, kNoon + 660'000);
  EXPECT_DOUBLE_EQ(rows[0].low_s, 30);
}

TEST(Minute, MissingReadingsAreLeftOutAndNeverZero) {
  const float nan = std::nanf("");
  auto g = Track({kNoon, kNoon + 20'000, kNoon + 40'000, kNoon + 60'000}, {50, 50, nan, 10});
  g.columns[static_cast<size_t>(GpuMetric::kPowerW)] = {nan, nan, nan, nan};
  g.columns[static_cast<size_t>(GpuMetric::kThrottle)] = {0, 1, 3, nan};
  g.energy_j = {1e9, 1e9 + 100, 1e9 + 200, 1e9 + 300};
  const auto rows = MinuteRows(g, 0, kForever);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_DOUBLE_EQ(Of(rows[0], GpuMetric::kSmUtil).mean, 30);
  EXPECT_DOUBLE_EQ(rows[0].low_s, 20);
  EXPECT_TRUE(IsMissing(Of(rows[0], GpuMetric::kPowerW).mean));
  EXPECT_TRUE(IsMissing(Of(rows[0], GpuMetric::kThrottle).mean));
  EXPECT_EQ(Of(rows[0], GpuMetric::kThrottle).min, 1);  // gpu_idle all the time
  EXPECT_EQ(Of(rows[0], GpuMetric::kThrottle).max, 3);
  EXPECT_EQ(Of(rows[0], GpuMetric::kEnergyJ).max - Of(rows[0], GpuMetric::kEnergyJ).min, 200);
  RowText text;
  MakeMinuteRow(rows[0], &text);
  EXPECT_THAT(text.text(), ::testing::StartsWith("0,60.000,30.00,10,50,,,,"));
  EXPECT_THAT(text.text(), ::testing::HasSubstr(",,gpu_idle,gpu_idle|sw_power_cap,"));
}

TEST(Minute, CoveredTimeAddsUpToThatOfTheSamples) {
  std::mt19937 rng(4);
  for (int round = 0; round < 50; ++round) {
    std::vector<TimeMs> t = {kNoon + static_cast<TimeMs>(rng() % 60'000)};
    const int n = 2 + static_cast<int>(rng() % 500);
    for (int i = 0; i < n; ++i)
      t.push_back(t.back() + 1 + static_cast<TimeMs>(rng() % (rng() % 30 == 0 ? 300'000 : 3000)));
    const auto g = Track(t, std::vector<float>(t.size(), 40));
    double covered = 0;
    TimeMs last = 0;
    for (const MinuteRow& row : MinuteRows(g, 0, kForever)) {
      covered += row.covered_s;
      EXPECT_LE(row.covered_s, 60.0 + 1e-6);
      EXPECT_GT(row.t_ms, last);
      EXPECT_EQ(row.t_ms % 60'000, 0);
      EXPECT_NEAR(Of(row, GpuMetric::kSmUtil).mean, 40, 1e-9);
      last = row.t_ms;
    }
    // Each sample's time is rounded to milliseconds.
    EXPECT_NEAR(covered, model::Cover(t).covered_s, 0.0006 * n);
  }
}

TEST(Minute, TheRowBeforeTheDayGivesItsFirstMinuteItsWhole) {
  const auto rows =
      MinuteRows(Track({kMidnight - 30'000, kMidnight, kMidnight + 30'000, kMidnight + 60'000}, {9, 8, 7, 6}),
                 kMidnight, kForever);
  ASSERT_EQ(rows.size(), 1U);  // the minute that ends at midnight is the day before's
  EXPECT_DOUBLE_EQ(rows[0].covered_s, 60);
}

}  // namespace
}  // namespace sawbill::store
