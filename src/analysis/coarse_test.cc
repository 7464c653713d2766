// SPDX-License-Identifier: Apache-2.0
// Records of 10 s to 1,000 s between samples. GPU-Util is a look at the last second: looks that stand side by side are
// no stretch of time, and what a look cannot show is not claimed. Means and shares hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/interruptions.h"
#include "analysis/recording_builder.h"

namespace sawbill::analysis {
namespace {

using model::FindingId;
using model::GpuMetric;
using model::Index;
using model::Line;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr double kIntervals[] = {10, 60, 300, 1000};

/// `n` looks at a load that is at `busy` percent, and at nothing in `quiet` of them: single seconds of a wave that is
/// far shorter than the interval.
std::string Looks(size_t n, double quiet, int busy, unsigned seed) {
  std::mt19937 random(seed);
  std::string wave;
  for (size_t i = 0; i < n; ++i)
    wave += static_cast<double>(random() % 1000) < 1000 * quiet ? "0x1 " : std::to_string(busy) + "x1 ";
  return wave;
}

RecordingBuilder::Job Starving(double to_s) {
  RecordingBuilder::Job job;
  job.to_s = to_s;
  job.workers = 4, job.tree_cores = 4.4, job.main_cores = 0.45;
  return job;
}

bool Says(const Finding& f, const std::string& what) {
  return std::any_of(f.evidence.begin(), f.evidence.end(),
                     [&](const EvidenceItem& e) { return e.statement.find(what) != std::string::npos; });
}

TEST(Coarse, ASawtoothOfSecondsIsLossAndNoStretchOfIdleness) {
  for (const double interval : kIntervals) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      const Analysis a = Judge(RecordingBuilder()
                                   .Card(Looks(200, 0.4, 97, seed), interval)
                                   .Constant(GpuMetric::kMemUsedMb, 60000)
                                   .Process({0}, Starving(199 * interval))
                                   .Build());
      const std::string where = std::to_string(interval) + " s, seed " + std::to_string(seed);
      EXPECT_EQ(Find(a, FindingId::kIdleHeld), nullptr) << where;
      EXPECT_EQ(Find(a, FindingId::kStartup), nullptr) << where;
      EXPECT_EQ(Find(a, FindingId::kCheckpoint), nullptr) << where;
      EXPECT_EQ(Find(a, FindingId::kLogging), nullptr) << where;
      EXPECT_EQ(Find(a, FindingId::kDegradation), nullptr) << where;
      const model::LineSeconds lines = a.Lines();
      EXPECT_EQ(lines[Index(Line::kIdleHeld)], 0) << where;
      const Finding* f = Find(a, FindingId::kDataLoading);
      ASSERT_NE(f, nullptr) << where;  // workers that never rest tell it at any interval
      EXPECT_NEAR(f->wasted_s / (200 * interval), 0.4, 0.1) << where;
      // No shape is claimed: neither single dips with a length, nor a period, nor swings.
      EXPECT_FALSE(f->period_s) << where;
      EXPECT_FALSE(Says(*f, "fell from")) << where;
      EXPECT_FALSE(Says(*f, "spread of")) << where;
    }
  }
}

TEST(Coarse, WhatCannotBeSeenIsSaidAndWhatToRecordInstead) {
  const auto limits = [](double interval, Lang lang) {
    Options o;
    o.lang = lang;
    const FixedSource source(RecordingBuilder().Card(Looks(100, 0.4, 97, 7), interval).Build());
    auto a = Analyze(source, o);
    EXPECT_TRUE(a.ok());
    std::vector<std::string> all = a->limits;
    all.insert(all.end(), a->cannot_judge.begin(), a->cannot_judge.end());
    return all;
  };
  EXPECT_THAT(limits(60, Lang::kEn), Contains(HasSubstr("Samples are 1 min apart")));
  EXPECT_THAT(limits(60, Lang::kEn), Contains(HasSubstr("shorter than 3 min cannot be seen")));
  EXPECT_THAT(limits(60, Lang::kEn),
              Contains(HasSubstr("record once a second: `sawbill record`, or nvidia-smi with -l 1")));
  EXPECT_THAT(limits(1000, Lang::kEn),
              Contains(HasSubstr("Waveforms cannot be judged, because samples are 16 min 40 s")));
  EXPECT_THAT(limits(60, Lang::kZh), Contains(HasSubstr("采样间隔为 1 分钟")));
  EXPECT_THAT(limits(1, Lang::kEn), Not(Contains(HasSubstr("Samples are"))));
}

TEST(Coarse, AWellFedRunIsNotAccusedWhereLooksMeetAGap) {
  for (const double interval : kIntervals) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      const Analysis a =
          Judge(RecordingBuilder()
                    .Card(Looks(200, 0.02, 98, seed), interval)
                    .Constant(GpuMetric::kMemUsedMb, 60000)
                    .Constant(GpuMetric::kPowerW, 380)  // the mean of a second holds the gap and the work
                    .Process({0}, Starving(199 * interval))
                    .Build());
      EXPECT_TRUE(a.findings.empty()) << interval << " s, seed " << seed << ": " << model::Name(a.findings.front().id);
      EXPECT_GT(a.Lines()[Index(Line::kUseful)], 0.94 * 199 * interval) << interval << " s, seed " << seed;
    }
  }
}

TEST(Coarse, HoursOfIdlenessAreFoundAllTheSame) {
  for (const double interval : {10.0, 60.0, 300.0}) {
    const auto looks = static_cast<size_t>(7200 / interval);
    const Analysis a = Judge(RecordingBuilder()
                                 .Card(Looks(looks, 0.02, 98, 3) + "0x" + std::to_string(2 * looks), interval)
                                 .Constant(GpuMetric::kMemUsedMb, 60000)
                                 .Process({0}, Starving(static_cast<double>(3 * looks - 1) * interval))
                                 .Build());
    const Finding* f = Find(a, FindingId::kIdleHeld);
    ASSERT_NE(f, nullptr) << interval;
    EXPECT_NEAR(f->wasted_s, 14400, 2 * interval + 60) << interval;
  }
}

TEST(Coarse, LongerThanChanceCountsHowOftenItCouldHaveHappened) {
  EXPECT_FALSE(LongerThanChance(2, 0.4, 480));   // 77 such pairs are to be expected
  EXPECT_FALSE(LongerThanChance(11, 0.4, 480));  // one in fifty records has it
  EXPECT_TRUE(LongerThanChance(12, 0.4, 480));
  EXPECT_TRUE(LongerThanChance(3, 0.02, 480));
  EXPECT_TRUE(LongerThanChance(1, 0, 480));
  EXPECT_TRUE(LongerThanChance(3, 0.95, 480));  // idle whichever way it is spread
}

TEST(Coarse, AStartIsAtLeastWhatIsSure) {
  // The process starts with the first look, at 5 minutes; the one at 20 finds nothing, that at 25 finds work: it took
  // 15 minutes at least and 20 at most.
  RecordingBuilder::Job job = Starving(63 * 300);
  job.from_s = 300;
  const Analysis a =
      Judge(RecordingBuilder().Card("0x4 98x60", 300).Constant(GpuMetric::kMemUsedMb, 60000).Process({0}, job).Build());
  const Finding* f = Find(a, FindingId::kStartup);
  ASSERT_NE(f, nullptr);
  EXPECT_NEAR(f->features.Get(wave::Feature::kStartupS), 900, 1);
}

TEST(IdlePower, SingleLooksAtNothingAreNotIdleness) {
  const auto idle_w = [](const std::string& wave, double interval) {
    const model::Recording r = RecordingBuilder().Card(wave, interval).Build();
    return Prepare(r.gpus[0]).idle_w;
  };
  EXPECT_TRUE(IsMissing(idle_w("98x20 0x1 98x20 0x1 98x20 0x1 98x20 0x1", 60)));
  EXPECT_TRUE(IsMissing(idle_w("98x20 0x2 98x20 0x2 98x20", 60)));
  EXPECT_NEAR(idle_w("98x20 0x10", 60), 60, 1e-3);
  EXPECT_NEAR(idle_w("98x20 0x10", 1), 60, 1e-3);
}

TEST(Neighbours, WhoCameBeforeOrAfterIsNone) {
  RecordingBuilder::Job one, two;
  one.to_s = 600, one.sm_util = 90;
  two.from_s = 610, two.to_s = 1200, two.pid = 200, two.name = "other", two.user = "bob", two.sm_util = 90;
  const Analysis a = Judge(RecordingBuilder().Card("95x1201").Process({0}, one).Process({0}, two).Build());
  EXPECT_EQ(Find(a, FindingId::kSharedGpu), nullptr);
}

}  // namespace
}  // namespace sawbill::analysis
