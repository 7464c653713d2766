// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/card_specs.h"
#include "model/data_quality.h"
#include "model/ids.h"
#include "model/metrics.h"
#include "model/money.h"
#include "model/recording.h"

namespace sawbill::model {
namespace {

TEST(Cover, ASampleSpeaksForTheTimeBeforeItUpToTwoAndAHalfIntervals) {
  const Coverage c = Cover({0, 1000, 2000, 3000, 13000, 14000});
  EXPECT_DOUBLE_EQ(c.median_interval_s, 1);
  EXPECT_FLOAT_EQ(c.dt_s[0], 0);
  EXPECT_FLOAT_EQ(c.dt_s[1], 1);
  EXPECT_FLOAT_EQ(c.dt_s[4], 2.5);
  EXPECT_DOUBLE_EQ(c.covered_s, 6.5);
  EXPECT_DOUBLE_EQ(c.hole_s, 7.5);
  EXPECT_EQ(c.holes, 1);
}

TEST(Cover, CoveredAndHolesAddUpToTheWholeTime) {
  const Coverage c = Cover({0, 900, 2100, 3000, 9000, 9900, 40000});
  EXPECT_DOUBLE_EQ(c.covered_s + c.hole_s, 40);
}

/// `n` more samples, `interval_ms` apart.
void Go(int n, TimeMs interval_ms, std::vector<TimeMs>* t) {
  for (int i = 0; i < n; ++i) t->push_back((t->empty() ? 0 : t->back()) + interval_ms);
}

TEST(Cover, AnIntervalThatGrowsIsNoRowOfHoles) {
  std::vector<TimeMs> t;
  Go(601, 1000, &t);
  Go(120, 60'000, &t);
  const Coverage c = Cover(t);
  EXPECT_EQ(c.holes, 0);
  EXPECT_DOUBLE_EQ(c.covered_s, 600 + 7200);
  EXPECT_FLOAT_EQ(c.dt_s[600], 1);
  EXPECT_FLOAT_EQ(c.dt_s[601], 60);
  EXPECT_FLOAT_EQ(c.dt_s.back(), 60);
  EXPECT_DOUBLE_EQ(c.median_interval_s, 60);  // of two hours of 2 h 10 min
  EXPECT_DOUBLE_EQ(c.other_interval_s, 1);
}

TEST(Cover, AHoleAmongSecondsIsOneBesideMinutesToo) {
  std::vector<TimeMs> t;
  Go(200, 60'000, &t);
  Go(50, 1000, &t);
  Go(1, 100'000, &t);  // below 2.5 minutes
  Go(50, 1000, &t);
  const Coverage c = Cover(t);
  EXPECT_EQ(c.holes, 1);
  EXPECT_DOUBLE_EQ(c.hole_s, 97.5);
  EXPECT_FLOAT_EQ(c.dt_s[250], 2.5);
  EXPECT_DOUBLE_EQ(c.median_interval_s, 60);
  EXPECT_DOUBLE_EQ(c.other_interval_s, 1);
}

TEST(Cover, TenSecondsThenOneAndBackAgain) {
  std::vector<TimeMs> t;
  Go(361, 10'000, &t);
  Go(3600, 1000, &t);
  Go(360, 10'000, &t);
  const Coverage c = Cover(t);
  EXPECT_EQ(c.holes, 0);
  EXPECT_DOUBLE_EQ(c.covered_s, 3 * 3600);
  EXPECT_FLOAT_EQ(c.dt_s[360], 10);
  EXPECT_FLOAT_EQ(c.dt_s[361], 1);
  EXPECT_FLOAT_EQ(c.dt_s[3961], 10);
  EXPECT_DOUBLE_EQ(c.median_interval_s, 10);
}

TEST(Cover, AHoleInTheSlowerStretchIsOneByItsOwnInterval) {
  std::vector<TimeMs> t;
  Go(601, 1000, &t);
  Go(60, 60'000, &t);
  Go(1, 1'000'000, &t);
  Go(60, 60'000, &t);
  const Coverage c = Cover(t);
  EXPECT_EQ(c.holes, 1);
  EXPECT_FLOAT_EQ(c.dt_s[661], 150);
  EXPECT_DOUBLE_EQ(c.hole_s, 850);
}

TEST(Cover, TheTimeBetweenTwoLogsIsMeasuredByTheFasterOne) {
  std::vector<TimeMs> t;
  Go(601, 1000, &t);
  Go(1, 5'000'000, &t);
  Go(600, 60'000, &t);
  const Coverage c = Cover(t);
  EXPECT_EQ(c.holes, 1);
  EXPECT_FLOAT_EQ(c.dt_s[601], 2.5);
}

TEST(Cover, SingleHolesMakeNoSlowerStretch) {
  std::vector<TimeMs> t;
  for (int i = 0; i < 50; ++i) {
    Go(20, 1000, &t);
    Go(4, 30'000, &t);
  }
  const Coverage c = Cover(t);
  EXPECT_EQ(c.holes, 200);
  EXPECT_DOUBLE_EQ(c.other_interval_s, 0);
  // Pairs of samples, and bursts: the distance inside of them is the interval, as it always was.
  std::vector<TimeMs> pairs;
  for (int i = 0; i < 50; ++i) {
    Go(1, 1000, &pairs);
    Go(1, 59'000, &pairs);
  }
  EXPECT_DOUBLE_EQ(Cover(pairs).other_interval_s, 0);
  std::vector<TimeMs> bursts;
  for (int i = 0; i < 50; ++i) {
    Go(10, 1000, &bursts);
    Go(1, 50'000, &bursts);
  }
  EXPECT_EQ(Cover(bursts).holes, 50);
}

TEST(Cover, ALateSamplerThatCatchesUpChangesNoInterval) {
  std::vector<TimeMs> t;
  for (int i = 0; i < 20; ++i) {
    Go(30, 1000, &t);
    Go(1, 5000, &t);
    Go(6, 300, &t);
  }
  const Coverage c = Cover(t);
  EXPECT_EQ(c.holes, 20);
  EXPECT_FLOAT_EQ(c.dt_s[30], 2.5);
  EXPECT_DOUBLE_EQ(c.other_interval_s, 0);
}

TEST(Cover, TheIntervalIsTheMedianDistanceHoweverLong) {
  uint32_t state = 99;
  const auto random = [&](uint32_t n) {
    return static_cast<TimeMs>(((state = state * 1664525U + 1013904223U) >> 8) % n);
  };
  for (const uint32_t longest : {20U, 3'000U, 9'000U, 900'000U}) {
    std::vector<TimeMs> t = {1'000'000};
    std::vector<double> gaps;
    for (int i = 0; i < 501; ++i) {
      const TimeMs gap = random(longest);
      t.push_back(t.back() + gap);
      gaps.push_back(Seconds(gap));
    }
    std::sort(gaps.begin(), gaps.end());
    EXPECT_FLOAT_EQ(static_cast<float>(Cover(t).median_interval_s), static_cast<float>(gaps[gaps.size() / 2]))
        << longest;
  }
}

TEST(Cover, OneSampleCoversNoTime) { EXPECT_EQ(Cover({5000}).covered_s, 0); }

TEST(SortAndDeduplicate, ADoubledTickIsCountedOnce) {
  GpuTrack t;
  t.t_ms = {1000, 2000, 2000, 3000};
  t.columns[static_cast<size_t>(GpuMetric::kSmUtil)] = {10, 20, 99, 30};
  DataQuality q;
  SortAndDeduplicate(&t, &q);
  EXPECT_EQ(t.t_ms, (std::vector<TimeMs>{1000, 2000, 3000}));
  EXPECT_EQ(t.columns[0], (std::vector<float>{10, 20, 30}));
  EXPECT_EQ(q.count(Odd::kDuplicateSample), 1);
}

TEST(Catalog, NamesAreUniqueAndFindable) {
  std::set<std::string> names;
  for (size_t i = 0; i < kGpuMetrics; ++i) {
    const auto m = static_cast<GpuMetric>(i);
    EXPECT_TRUE(names.insert(Info(m).name).second) << Info(m).name;
    EXPECT_EQ(FindGpuMetric(Info(m).name), m);
    EXPECT_LT(Info(m).min, Info(m).max);
  }
  for (size_t i = 0; i < kHostMetrics; ++i)
    EXPECT_EQ(FindHostMetric(Info(static_cast<HostMetric>(i)).name), static_cast<HostMetric>(i));
  EXPECT_FALSE(FindGpuMetric("nonsense").has_value());
}

TEST(Catalog, MemoryOfACardAndOfTheHostAreDifferentNames) {
  // One name for two totals once read 40 GB of page cache on a 2 TB host as half of an 80 GB card.
  EXPECT_STREQ(Info(GpuMetric::kMemUsedMb).label_en, "memory used");
  EXPECT_STREQ(Info(HostMetric::kMemUsedMb).label_en, "host memory used");
  EXPECT_STRNE(Info(GpuMetric::kMemUsedMb).prometheus, Info(HostMetric::kMemUsedMb).prometheus);
  EXPECT_STRNE(Info(GpuMetric::kMemUtil).label_en, Info(GpuMetric::kMemUsedMb).label_en);
}

TEST(Throttle, NamesAreReadAndNoneIsNotMissing) {
  EXPECT_EQ(ParseThrottle("none"), 0U);
  EXPECT_EQ(ParseThrottle(""), std::nullopt);
  EXPECT_EQ(ParseThrottle("sw_power_cap|hw_thermal"), Mask(ThrottleBit::kSwPowerCap) | Mask(ThrottleBit::kHwThermal));
  EXPECT_EQ(ParseThrottle("sw_power_cap|bogus"), std::nullopt);
}

TEST(Ids, EveryNameReadsBackAndHasBothLanguages) {
  for (size_t i = 0; i < kLines; ++i) {
    const auto l = static_cast<Line>(i);
    EXPECT_EQ(FindLine(Name(l)), l);
    EXPECT_FALSE(Title(l, Lang::kEn).empty() || Title(l, Lang::kZh).empty());
  }
  for (size_t i = 0; i < kFindingIds; ++i) {
    const auto f = static_cast<FindingId>(i);
    EXPECT_EQ(FindFinding(Name(f)), f);
    EXPECT_FALSE(Title(f, Lang::kEn).empty() || Title(f, Lang::kZh).empty());
  }
  for (size_t i = 0; i < static_cast<size_t>(Cause::kCount); ++i) {
    const auto c = static_cast<Cause>(i);
    EXPECT_EQ(FindCause(Name(c)), c);
    EXPECT_FALSE(Title(c, Lang::kEn).empty() || Title(c, Lang::kZh).empty());
  }
}

TEST(CardSpecs, AModelIsAWholeWord) {
  EXPECT_EQ(FindCardSpec("NVIDIA A100-SXM4-80GB")->model, "A100");
  EXPECT_EQ(FindCardSpec("NVIDIA GB200")->model, "GB200");
  EXPECT_EQ(FindCardSpec("NVIDIA B200")->model, "B200");
  EXPECT_EQ(FindCardSpec("Tesla V100S-PCIE-32GB")->model, "V100S");
  EXPECT_FALSE(FindCardSpec("NVIDIA A1000 Laptop").has_value());
  // The own power limit of a model is that of its form.
  EXPECT_EQ(FindCardSpec("NVIDIA A100-SXM4-80GB")->power_w, 400);
  EXPECT_EQ(FindCardSpec("NVIDIA A100-PCIE-40GB")->power_w, 250);
  EXPECT_EQ(FindCardSpec("NVIDIA A100 80GB PCIe")->power_w, 300);
  EXPECT_EQ(FindCardSpec("NVIDIA H100 80GB HBM3")->power_w, 700);
  EXPECT_EQ(FindCardSpec("NVIDIA H100 NVL")->power_w, 400);
  EXPECT_EQ(FindCardSpec("NVIDIA GeForce RTX 3080 Ti")->power_w, 350);
  EXPECT_EQ(FindCardSpec("NVIDIA GeForce RTX 4090 Laptop GPU")->power_w, 0);
}

TEST(Money, MicroUnitsRoundHalfToEven) {
  EXPECT_EQ(MicroFromUnits(2.5e-6).micro, 2);
  EXPECT_EQ(MicroFromUnits(3.5e-6).micro, 4);
  EXPECT_EQ((MicroFromUnits(0.1) + MicroFromUnits(0.2)).micro, 300000);
}

TEST(DataQuality, CountsAddAndTheFirstPlaceIsKept) {
  DataQuality a, b;
  b.Count(Odd::kTornLine, "b:7");
  a.Merge(b);
  a.Count(Odd::kTornLine, "a:9", 2);
  EXPECT_EQ(a.count(Odd::kTornLine), 3);
  EXPECT_EQ(a.detail(Odd::kTornLine), "b:7");
}

}  // namespace
}  // namespace sawbill::model
