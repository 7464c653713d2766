// SPDX-License-Identifier: Apache-2.0
#include "wave/events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/numbers.h"
#include "wave/periodicity.h"
#include "wave/stats.h"
#include "wave/wave_notation.h"

namespace sawbill::wave {
namespace {

Periodicity Judge(const Series& s) {
  const double hi = WeightedQuantile(s.v, s.dt_s, 0.9);
  std::vector<double> centroids;
  for (const Event& e : FindDips(s, hi)) centroids.push_back(e.centroid_s);
  return TestSpacing(centroids, 3.0);
}

TEST(FindDips, ASawtoothHasOneDipATooth) {
  const std::vector<Event> dips = FindDips(Wave("95x8 5x2 95x8 5x2 95x8 5x2 95x4"), 95);
  ASSERT_EQ(dips.size(), 3U);
  EXPECT_NEAR(dips[0].start_s, 8, 1e-6);
  EXPECT_NEAR(dips[0].end_s, 10, 1e-6);
  EXPECT_NEAR(dips[0].centroid_s, 9, 1e-6);
  EXPECT_NEAR(dips[0].width_s, 2, 1e-6);
  EXPECT_NEAR(dips[0].depth, 90, 1e-6);
}

TEST(FindDips, HysteresisJoinsAWobbleInsideADip) {
  EXPECT_EQ(FindDips(Wave("100x5 60x2 78x1 60x2 100x5"), 100).size(), 1U);
}

TEST(FindDips, AHoleEndsADipAndIsNotPartOfIt) {
  const std::vector<Event> dips = FindDips(Wave("95x5 5x2 _x3 5x2 95x5"), 95);
  ASSERT_EQ(dips.size(), 2U);
  EXPECT_NEAR(dips[0].end_s, 7, 1e-6);
}

TEST(FindDips, ShallowRippleIsNoDip) { EXPECT_TRUE(FindDips(Wave("30x5 22x2 30x5"), 30).empty()); }

TEST(TestSpacing, EvenGapsArePeriodicWithTheirPeriod) {
  const Periodicity p = TestSpacing({0, 10, 20.1, 30, 39.9, 50, 60, 70.2, 80}, 3);
  EXPECT_EQ(p.verdict, Periodicity::Verdict::kPeriodic);
  EXPECT_NEAR(p.period_s, 10, 0.15);
}

TEST(TestSpacing, AMissedBeatIsFolded) {
  const Periodicity p = TestSpacing({0, 10, 20, 40, 50, 60, 70, 90, 100, 110}, 3);
  EXPECT_EQ(p.verdict, Periodicity::Verdict::kPeriodic);
  EXPECT_NEAR(p.period_s, 10, 1e-6);
}

TEST(TestSpacing, NoPeriodBelowTheLimitIsClaimed) {
  EXPECT_EQ(TestSpacing({0, 2, 4, 6, 8, 10, 12, 14, 16}, 3).verdict, Periodicity::Verdict::kTooShort);
}

TEST(TestSpacing, FewEventsGiveNoVerdict) {
  EXPECT_EQ(TestSpacing({0, 10, 20}, 3).verdict, Periodicity::Verdict::kTooFew);
}

TEST(Periodicity, DoubledAndMissingTicksDoNotChangeTheVerdict) {
  Series s = Wave("95x9 5x3 95x9 5x3 95x9 5x3 95x9 5x3 95x9 5x3 95x9 5x3 95x9 5x3 95x9 5x3 95x9 5x3 95x9 5x3");
  const Periodicity whole = Judge(s);
  for (const size_t drop : {size_t{100}, size_t{60}, size_t{31}, size_t{4}}) {
    for (auto* v : {&s.v, &s.dt_s}) v->erase(v->begin() + static_cast<std::ptrdiff_t>(drop));
    s.t_s.erase(s.t_s.begin() + static_cast<std::ptrdiff_t>(drop));
    s.dt_s[drop] = static_cast<float>(s.t_s[drop] - s.t_s[drop - 1]);
  }
  const Periodicity torn = Judge(s);
  EXPECT_EQ(whole.verdict, Periodicity::Verdict::kPeriodic);
  EXPECT_EQ(torn.verdict, whole.verdict);
  EXPECT_NEAR(torn.period_s, 12, 0.3);
}

TEST(FindLowStretches, ARecurringPlateauIsFoundWithItsEdges) {
  const auto found = FindLowStretches(Wave("97x200 51x90 97x300 51x90 97x300 51x90 97x200"), 5, 10, 8);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_NEAR(found[0].start_s, 200, 1.01);
  EXPECT_NEAR(found[0].end_s, 290, 1.01);
  EXPECT_NEAR(found[0].level, 51, 1);
}

TEST(FindLowStretches, ASteadySawtoothHasNone) {
  std::string wave;
  for (int i = 0; i < 80; ++i) wave += "95x3 5x4 ";
  EXPECT_TRUE(FindLowStretches(Wave(wave), 5, 10, 8).size() <= 1);
}

TEST(FindMeanShift, AFallIsFoundWhereItIs) {
  std::vector<double> v(60, 95), tail(40, 70);
  for (size_t i = 0; i < v.size(); ++i) v[i] += static_cast<double>(i % 3) - 1;
  v.insert(v.end(), tail.begin(), tail.end());
  const MeanShift s = FindMeanShift(v, 10);
  ASSERT_TRUE(s.found);
  EXPECT_EQ(s.at, 60U);
  EXPECT_NEAR(s.before, 95, 0.2);
  EXPECT_NEAR(s.after, 70, 0.2);
  EXPECT_GT(s.t_value, 20);
}

TEST(Stats, QuantilesAreWeightedByTime) {
  EXPECT_DOUBLE_EQ(WeightedMean({0, 100}, {9, 1}), 10);
  EXPECT_DOUBLE_EQ(WeightedQuantile({0, 100}, {9, 1}, 0.5), 0);
  EXPECT_DOUBLE_EQ(WeightedQuantile({0, 100}, {9, 1}, 0.95), 100);
  EXPECT_TRUE(IsMissing(WeightedMean({}, {})));
}

TEST(Stats, QuantilesOfLongSeriesAreThoseOfTheSortedSeries) {
  uint32_t state = 12345;
  const auto random = [&] { return (state = state * 1664525U + 1013904223U) >> 8; };
  for (const float scale : {0.01F, 1.0F, 1000.0F}) {
    std::vector<float> v, w;
    std::vector<std::pair<float, float>> sorted;
    double total = 0;
    for (int i = 0; i < 10'000; ++i) {
      const bool missing = random() % 50 == 0;
      v.push_back(missing ? static_cast<float>(kMissing)
                          : scale * static_cast<float>(static_cast<int>(random() % 101) - 20));
      w.push_back(static_cast<float>(random() % 3));
      if (!missing && w.back() > 0) sorted.emplace_back(v.back(), w.back());
      if (!missing) total += w.back();
    }
    std::sort(sorted.begin(), sorted.end());
    for (const double q : {0.001, 0.05, 0.5, 0.9, 0.95, 0.999, 1.0}) {
      double running = 0;
      size_t at = 0;
      while (at + 1 < sorted.size() && running + sorted[at].second < q * total) running += sorted[at++].second;
      EXPECT_EQ(WeightedQuantile(v, w, q), static_cast<double>(sorted[at].first)) << scale << " " << q;
    }
  }
}

/// The plain way: sorted, and summed up.
double SortedQuantile(const std::vector<float>& v, const std::vector<float>& w, double q) {
  std::vector<std::pair<float, float>> sorted;
  double total = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    if (IsMissing(v[i]) || w[i] <= 0) continue;
    sorted.emplace_back(v[i], w[i]);
    total += w[i];
  }
  std::sort(sorted.begin(), sorted.end());
  double running = 0;
  size_t at = 0;
  while (at + 1 < sorted.size() && running + sorted[at].second < q * total) running += sorted[at++].second;
  return sorted[at].first;
}

TEST(Stats, QuantilesOfLongSeriesOfAnyKindAreThoseOfTheSortedSeries) {
  uint32_t state = 4711;
  const auto random = [&](uint32_t n) { return ((state = state * 1664525U + 1013904223U) >> 8) % n; };
  // Percents; means of eight cards; nearly all alike; alike in their upper digits; of any size and sign.
  const auto value = [&](int kind) -> double {
    if (kind == 0) return random(101);
    if (kind == 1) return random(1024) / 8.0;
    if (kind == 2) return random(50) == 0 ? random(100) : 98;
    if (kind == 3) return 0.75 + random(100'000) * 1e-7;
    return std::exp(random(1000) / 50.0) * (random(2) == 0 ? 1 : -1);
  };
  for (int kind = 0; kind < 5; ++kind) {
    for (const size_t n : {size_t{2'500}, size_t{30'000}}) {
      std::vector<float> v, w;
      for (size_t i = 0; i < n; ++i) {
        v.push_back(random(30) == 0 ? static_cast<float>(kMissing) : static_cast<float>(value(kind)));
        w.push_back(static_cast<float>(random(4)) / 2);
      }
      for (const double q : {0.001, 0.05, 0.5, 0.75, 0.9, 0.99, 1.0})
        EXPECT_EQ(WeightedQuantile(v, w, q), SortedQuantile(v, w, q)) << kind << " " << n << " " << q;
    }
  }
  for (int kind = 0; kind < 5; ++kind) {
    for (const size_t n : {size_t{1'999}, size_t{2'500}, size_t{30'001}}) {
      std::vector<float> v;
      for (size_t i = 0; i < n; ++i) v.push_back(static_cast<float>(value(kind)));
      for (const double q : {0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 1.0})
        EXPECT_EQ(QuantileOfReadings(v, q), Quantile({v.begin(), v.end()}, q)) << kind << " " << n << " " << q;
    }
  }
  const std::vector<float> nothing(5000, static_cast<float>(kMissing)), ones(5000, 1);
  EXPECT_TRUE(IsMissing(WeightedQuantile(nothing, ones, 0.5)));
}

TEST(Stats, MissingReadingsCarryNoWeight) {
  EXPECT_DOUBLE_EQ(WeightedMean({50, static_cast<float>(kMissing)}, {1, 9}), 50);
}

}  // namespace
}  // namespace sawbill::wave
