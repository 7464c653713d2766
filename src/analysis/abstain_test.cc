// SPDX-License-Identifier: Apache-2.0
// What a record does not tell is not said: the same wave with and without the witness that decides.
#include <gtest/gtest.h>

#include "analysis/recording_builder.h"

namespace sawbill::analysis {
namespace {

using model::Cause;
using model::FindingId;
using model::GpuMetric;
using model::HostMetric;
using model::Line;

// A steady step of 0.9 s, polled once a second through a short window, draws the same sawtooth of 10 s: without power
// or the driver's window nothing tells them apart, and only beats that an alias hardly makes are claimed.
TEST(Abstain, FromUtilisationAloneAShortBeatIsNotClaimed) {
  const auto pattern_period = [](const std::string& wave) {
    model::Recording r = RecordingBuilder().Card(wave).Constant(GpuMetric::kMemUsedMb, 60000).Build();
    r.gpus[0].columns[static_cast<size_t>(GpuMetric::kPowerW)].clear();
    r.gpus[0].card.util_window_s.reset();
    const Analysis a = Judge(std::move(r));
    for (const Finding& f : a.findings) EXPECT_FALSE(f.period_s && *f.period_s < 60) << Names(a);
    EXPECT_NE(a.cards[0].idle_pattern, "random");
    return a.cards[0].idle_period_s.value_or(kMissing);
  };
  EXPECT_FALSE(IsPresent(pattern_period("0x20 " + Repeat("98x5 0x5", 120))));
  EXPECT_NEAR(pattern_period("0x20 " + Repeat("98x63 0x3", 20)), 66, 1);
}

// The same work takes the same time. Minutes of another level without a measure are something else: an alias of the
// polls, a neighbour, a phase of the training.
TEST(Abstain, StretchesOfAnotherLevelAreAnEvaluationOnlyIfTheyAreAlike) {
  const auto names = [](const std::vector<int>& widths_s) {
    std::string wave = "0x20 ";
    for (const int w : widths_s) wave += "98x240 40x" + std::to_string(w) + " ";
    return Names(Judge(RecordingBuilder().Card(wave + "98x240").Constant(GpuMetric::kMemUsedMb, 60000).Build()));
  };
  EXPECT_EQ(names({60, 62, 58, 60, 61, 60, 59, 60}), "evaluation:too-often ");
  EXPECT_EQ(names({60, 140, 45, 75, 100, 50, 165, 90}).find("evaluation"), std::string::npos);
}

// A full CPU is the job's own load only where its processes say so; on a shared host it may be anybody's.
TEST(Abstain, AFullCpuWithoutProcessesIsNobodysLoad) {
  const auto cause = [](bool with_processes) {
    RecordingBuilder b;
    b.Card("0x20 " + Repeat("98x5 0x5", 120))
        .Constant(GpuMetric::kMemUsedMb, 60000)
        .Host(HostMetric::kCpuCount, "4x1220")
        .Host(HostMetric::kCpuUtil, "98x1220");
    if (with_processes) {
      RecordingBuilder::Job j;
      j.to_s = 1220;
      j.workers = 4;
      j.tree_cores = 3.9;
      j.main_cores = 0.3;
      j.cores_allowed = 4;
      b.Process({0}, j);
    }
    const Analysis a = Judge(b.Build());
    const Finding* f = Find(a, FindingId::kDataLoading);
    return f == nullptr ? std::optional<Cause>() : f->cause;
  };
  EXPECT_EQ(cause(true), Cause::kCpuSaturated);
  EXPECT_NE(cause(false), Cause::kCpuSaturated);
}

// "Below 50 %: raise the batch size" is what others say of this. Without the job's processes it may as well be its
// loader.
TEST(Abstain, ALowMeanWithRoomInMemoryAloneIsNoSmallBatch) {
  const Analysis a = Judge(RecordingBuilder()
                               .Card("0x20 " + Repeat("30x7 25x5 33x9", 60))
                               .Constant(GpuMetric::kMemUsedMb, 4000)
                               .Set(GpuMetric::kPowerW, "60x20 " + Repeat("110x7 105x5 115x9", 60))
                               .Build());
  const Finding* f = Find(a, FindingId::kUnsaturated);
  ASSERT_NE(f, nullptr) << Names(a);
  EXPECT_FALSE(f->cause.has_value()) << Names(a);
  EXPECT_EQ(a.Lines()[model::Index(Line::kUnsaturated)], 0);
  EXPECT_GT(a.Lines()[model::Index(Line::kUnexplained)], 600);
}

// A card that heat holds down draws little power too: without reasons for throttling low power is not the kernels'
// fault.
TEST(Abstain, LowPowerSpeaksOfTheKernelsOnlyWhereThrottlingIsKnown) {
  const auto names = [](double memory_mb, bool throttle_known) {
    RecordingBuilder b;
    b.Card("0x20 98x1200")
        .Constant(GpuMetric::kMemUsedMb, memory_mb)
        .Set(GpuMetric::kPowerW, "60x20 170x1200")
        .Set(GpuMetric::kSmClockMhz, "210x20 1400x1200");
    if (throttle_known) b.Set(GpuMetric::kThrottle, "1x20 0x1200");
    return Names(Judge(b.Build()));
  };
  EXPECT_EQ(names(60000, true), "kernel-inefficiency ");
  EXPECT_EQ(names(60000, false), "");
  EXPECT_EQ(names(8000, true), "unsaturated:small-batch ");
  EXPECT_EQ(names(8000, false), "");
}

// What is true of all cards is said once.
TEST(Abstain, OneSentenceForAllCards) {
  RecordingBuilder b;
  for (int k = 0; k < 4; ++k) b.Card("0x20 98x1200").Constant(GpuMetric::kMemUsedMb, 60000);
  model::Recording r = b.Build();
  for (auto& g : r.gpus) g.columns[static_cast<size_t>(GpuMetric::kSmUtil)].clear();
  const Analysis a = Judge(std::move(r));
  const auto about = [](const std::string& s) { return s.find("no utilisation was recorded") != std::string::npos; };
  EXPECT_EQ(std::count_if(a.limits.begin(), a.limits.end(), about), 1);
  EXPECT_NE(std::find_if(a.limits.begin(), a.limits.end(), about)->find("Cards 0, 1, 2, 3:"), std::string::npos);
}

}  // namespace
}  // namespace sawbill::analysis
