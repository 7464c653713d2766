// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "analysis/recording_builder.h"
#include "ledger/apportion.h"

namespace sawbill::analysis {
namespace {

using model::Cause;
using model::FindingId;
using model::GpuMetric;
using model::HostMetric;
using model::Index;
using model::Line;

double Seconds(const Analysis& a, Line l) { return a.Lines()[Index(l)]; }

RecordingBuilder::Job Starved(double to_s) {
  RecordingBuilder::Job j;
  j.to_s = to_s;
  j.workers = 2;
  j.tree_cores = 2.5;
  j.main_cores = 0.5;
  return j;
}

TEST(Analyze, AWellFedRunHasNoFinding) {
  const Analysis a = Judge(RecordingBuilder().Card("0x20 97x1200").Constant(GpuMetric::kMemUsedMb, 60000).Build());
  EXPECT_EQ(Names(a), "");
  EXPECT_NEAR(Seconds(a, Line::kUseful), 1200, 2);
}

TEST(Analyze, ASawtoothWithSaturatedWorkersIsDataLoadingByFewWorkers) {
  const Analysis a = Judge(RecordingBuilder()
                               .Card("0x20 " + Repeat("98x5 0x5", 120))
                               .Constant(GpuMetric::kMemUsedMb, 60000)
                               .Process({0}, Starved(1220))
                               .Host(HostMetric::kCpuCount, "16x1220")
                               .Host(HostMetric::kCpuUtil, "17x1220")
                               .Build());
  const Finding* f = Find(a, FindingId::kDataLoading);
  ASSERT_NE(f, nullptr) << Names(a);
  EXPECT_EQ(f->cause, Cause::kFewWorkers);
  EXPECT_NEAR(f->wasted_s, 600, 12);
  EXPECT_NEAR(Seconds(a, Line::kUseful), 600, 12);
  ASSERT_TRUE(f->period_s.has_value());
  EXPECT_NEAR(*f->period_s, 10, 0.2);
  EXPECT_EQ(f->tier, "host");
}

TEST(Analyze, WithoutHostAndProcessDataNoCauseIsNamed) {
  const Analysis a =
      Judge(RecordingBuilder().Card("0x20 " + Repeat("98x5 0x5", 120)).Constant(GpuMetric::kMemUsedMb, 60000).Build());
  for (const Finding& f : a.findings) EXPECT_FALSE(f.cause.has_value()) << Names(a);
  EXPECT_FALSE(a.limits.empty());
}

TEST(Analyze, LinkTrafficIsCommunicationOnlyWhereTheLinksRateIsKnown) {
  const auto two_cards = [](const std::string& name) {
    RecordingBuilder b(name);
    for (int card = 0; card < 2; ++card) {
      b.Card("97x1200").Constant(GpuMetric::kMemUsedMb, 60000).Constant(GpuMetric::kPowerW, 250);
      b.Constant(GpuMetric::kNvlinkRxMbS, 60'000).Constant(GpuMetric::kNvlinkTxMbS, 60'000);
    }
    RecordingBuilder::Job job;
    job.to_s = 1200;
    return Judge(b.Process({0, 1}, job).Build());
  };
  // An A100's links carry 300 GB/s each way: 60 are no small share. The same figures on a card that is not known may be
  // a link that is nearly idle.
  EXPECT_NE(Find(two_cards("NVIDIA A100-SXM4-80GB"), FindingId::kCommunication), nullptr);
  const Analysis unknown = two_cards("");
  EXPECT_EQ(Find(unknown, FindingId::kCommunication), nullptr) << Names(unknown);
  EXPECT_DOUBLE_EQ(Seconds(unknown, Line::kCommunication), 0);
}

TEST(Analyze, WhatTheRecordLacksStandsInOneLine) {
  const auto limits = [](RecordingBuilder b, Lang lang) {
    const FixedSource source(b.Build());
    Options o;
    o.lang = lang;
    return Analyze(source, o)->limits;
  };
  const RecordingBuilder bare = RecordingBuilder().Card("97x1200");
  EXPECT_THAT(limits(bare, Lang::kEn),
              testing::Contains("No memory use, no processes, no host data: held and free cards look alike, causes of "
                                "waiting cannot be told apart. `sawbill record` would record them."));
  EXPECT_THAT(
      limits(bare, Lang::kZh),
      testing::Contains("没有显存占用、进程、主机数据：被占用与空闲的显卡看起来一样，无法区分等待的原因。`sawbill "
                        "record` 会记录这些。"));
}

TEST(Analyze, TimeWithoutSamplesIsUnmeasuredAndNeverWaste) {
  const Analysis a =
      Judge(RecordingBuilder().Card("97x600 _x900 97x600").Constant(GpuMetric::kMemUsedMb, 60000).Build());
  EXPECT_NEAR(Seconds(a, Line::kUnmeasured), 898.5, 1);
  EXPECT_EQ(Names(a), "");
}

TEST(Analyze, ACardWithoutUtilisationIsNeverCalledIdle) {
  model::Recording r = RecordingBuilder().Card("0x900").Constant(GpuMetric::kMemUsedMb, 60000).Build();
  r.gpus[0].columns[static_cast<size_t>(GpuMetric::kSmUtil)].clear();
  const Analysis a = Judge(std::move(r));
  EXPECT_EQ(Seconds(a, Line::kIdleHeld) + Seconds(a, Line::kUnused), 0);
  EXPECT_NEAR(Seconds(a, Line::kUnexplained), 899, 1e-6);
  ASSERT_FALSE(a.cannot_judge.empty());
}

TEST(Analyze, ABusAddressIsNoMigInstance) {
  const auto instance = [](const std::string& label) {
    model::CardInfo card;
    card.gpu = label;
    return IsInstance(card);
  };
  EXPECT_TRUE(instance("0.2.0"));
  EXPECT_TRUE(instance("11.i3"));
  EXPECT_FALSE(instance("0"));
  EXPECT_FALSE(instance("00000000:1B:00.0"));
}

TEST(Analyze, UnderMigTheEngineRatioStandsInForUtilisation) {
  model::Recording r = RecordingBuilder().Card("0x900").Constant(GpuMetric::kGrActive, 0.97).Build();
  r.gpus[0].columns[static_cast<size_t>(GpuMetric::kSmUtil)].clear();
  r.gpus[0].columns[static_cast<size_t>(GpuMetric::kPowerW)].clear();
  const Analysis a = Judge(std::move(r));
  EXPECT_NEAR(Seconds(a, Line::kUseful), 899, 1);
}

TEST(Analyze, StopsWithWriteBurstsAreCheckpointsAndKeepTheirPeriod) {
  const Analysis a = Judge(RecordingBuilder()
                               .Card("0x10 " + Repeat("98x110 0x10", 12))
                               .Constant(GpuMetric::kMemUsedMb, 60000)
                               .Host(HostMetric::kDiskWriteMbS, "1x10 " + Repeat("1x110 400x10", 12))
                               .Build());
  const Finding* f = Find(a, FindingId::kCheckpoint);
  ASSERT_NE(f, nullptr) << Names(a);
  EXPECT_NEAR(*f->period_s, 120, 1);
  EXPECT_NEAR(f->wasted_s, 120, 14);
  EXPECT_EQ(a.findings.size(), 1U) << Names(a);
}

TEST(Analyze, WritesWithoutStopsAreNoCheckpoints) {
  const Analysis a = Judge(RecordingBuilder()
                               .Card("0x10 98x1440")
                               .Constant(GpuMetric::kMemUsedMb, 60000)
                               .Host(HostMetric::kDiskWriteMbS, "1x10 " + Repeat("1x110 400x10", 12))
                               .Build());
  EXPECT_EQ(Names(a), "");
}

TEST(Analyze, SwingsThatPowerDoesNotFollowAreAliasedAndNoPeriodIsClaimed) {
  model::Recording r = RecordingBuilder()
                           .Card("0x20 " + Repeat("100x11 0x5", 80))
                           .Set(GpuMetric::kPowerW, "60x20 270x1280")
                           .Constant(GpuMetric::kMemUsedMb, 60000)
                           .Build();
  r.gpus[0].card.util_window_s = 0.167;
  const Analysis a = Judge(std::move(r));
  EXPECT_EQ(a.cards[0].idle_pattern, "aliased");
  for (const Finding& f : a.findings) EXPECT_FALSE(f.period_s.has_value()) << Names(a);
}

TEST(Analyze, UnderNcclTheCardThatWaitsLeastIsTheSlowOne) {
  RecordingBuilder b;
  const double power[] = {180, 320, 180, 180}, memory[] = {30, 52, 30, 30};
  for (int k = 0; k < 4; ++k) {
    b.Card("0x20 99x900").Constant(GpuMetric::kMemUsedMb, 60000);
    b.Set(GpuMetric::kPowerW, "60x20 " + std::to_string(power[k]) + "x900");
    b.Set(GpuMetric::kMemUtil, "0x20 " + std::to_string(memory[k]) + "x900");
  }
  for (int k = 0; k < 4; ++k) {
    RecordingBuilder::Job j;
    j.pid = 100 + k;
    j.to_s = 920;
    j.main_cores = j.tree_cores = 1.0;
    b.Process({static_cast<size_t>(k)}, j);
  }
  const Analysis a = Judge(b.Build());
  const Finding* f = Find(a, FindingId::kImbalance);
  ASSERT_NE(f, nullptr) << Names(a);
  EXPECT_EQ(f->cause, Cause::kStraggler);
  EXPECT_EQ(f->cards, std::vector<size_t>{1});
}

TEST(Analyze, APowerCapThatCostsNoClocksIsHealthy) {
  const Analysis a = Judge(RecordingBuilder()
                               .Card("0x10 99x900")
                               .Constant(GpuMetric::kMemUsedMb, 60000)
                               .Set(GpuMetric::kThrottle, "1x10 2x900")
                               .Set(GpuMetric::kSmClockMhz, "210x10 1360x900")
                               .Build());
  EXPECT_EQ(Names(a), "");
}

TEST(Analyze, HeatThatTakesClocksIsThrottlingWithItsLoss) {
  const Analysis a = Judge(RecordingBuilder()
                               .Card("0x10 99x60 99x840")
                               .Constant(GpuMetric::kMemUsedMb, 60000)
                               .Constant(GpuMetric::kTempC, 86)
                               .Set(GpuMetric::kThrottle, "1x10 0x60 32x840")
                               .Set(GpuMetric::kSmClockMhz, "210x10 1410x60 987x840")
                               .Build());
  const Finding* f = Find(a, FindingId::kThrottling);
  ASSERT_NE(f, nullptr) << Names(a);
  EXPECT_EQ(f->cause, Cause::kThermal);
  EXPECT_NEAR(f->wasted_s, 0.3 * 840, 8);
}

TEST(Analyze, HeldMemoryWithoutWorkIsIdleHeld) {
  RecordingBuilder::Job j;
  j.to_s = 3000;
  j.main_cores = j.tree_cores = 0.01;
  j.workers = 0;
  const Analysis a = Judge(
      RecordingBuilder().Card("0x1000 60x30 0x1970").Constant(GpuMetric::kMemUsedMb, 20000).Process({0}, j).Build());
  const Finding* f = Find(a, FindingId::kIdleHeld);
  ASSERT_NE(f, nullptr) << Names(a);
  EXPECT_NEAR(f->wasted_s, 2970, 15);
  EXPECT_EQ(Find(a, FindingId::kDataLoading), nullptr);
}

TEST(Analyze, GapsBetweenRunsAreUnusedAndManyShortLivesARestartLoop) {
  RecordingBuilder b;
  b.Card(Repeat("0x40 95x60 0x20", 12)).Constant(GpuMetric::kMemUsedMb, 500);
  for (int k = 0; k < 12; ++k) {
    RecordingBuilder::Job j;
    j.pid = 500 + k;
    j.from_s = 120.0 * k + 5;
    j.to_s = 120.0 * k + 95;
    b.Process({0}, j);
  }
  const Analysis a = Judge(b.Build());
  EXPECT_NE(Find(a, FindingId::kRestartLoop), nullptr) << Names(a);
}

TEST(Analyze, TheWholeAccountAddsUpForAnyWave) {
  EXPECT_TRUE(rc::check([](void) {
    const int n = *rc::gen::inRange(1, 12);
    std::string wave;
    double seconds = 0;
    for (int i = 0; i < n; ++i) {
      const bool hole = i > 0 && i + 1 < n && *rc::gen::inRange(0, 6) == 0;
      const int level = *rc::gen::inRange(0, 101), length = *rc::gen::inRange(1, 400);
      wave += (hole ? "_" : std::to_string(level)) + "x" + std::to_string(length) + " ";
      seconds += length;
    }
    RecordingBuilder b;
    b.Card(wave).Constant(GpuMetric::kMemUsedMb, *rc::gen::inRange(0, 80000));
    if (*rc::gen::inRange(0, 2) == 1) b.Process({0}, Starved(*rc::gen::inRange(0, static_cast<int>(seconds))));
    const Analysis a = Judge(b.Build());
    const model::LineSeconds lines = a.Lines();
    for (const double s : lines) RC_ASSERT(s >= -1e-9);
    RC_ASSERT(std::abs(ledger::Sum(lines) - (seconds - 1)) < 1e-3);
    // Overlap: whatever fires together, findings never claim more of a line than stands on it.
    model::LineSeconds claimed{};
    for (const Finding& f : a.findings) {
      if (model::Info(f.id).own_line)
        claimed[Index(model::Info(f.id).line)] += f.cause || f.id != FindingId::kUnsaturated ? f.wasted_s : 0;
    }
    for (size_t i = 0; i < model::kLines; ++i) RC_ASSERT(claimed[i] <= lines[i] + 1e-6);
    for (const Finding& f : a.findings) {
      RC_ASSERT(f.wasted_s >= 0);
      RC_ASSERT(f.wasted_s <= seconds + 1e-6);
    }
  }));
}

TEST(Analyze, PiecesAddUpToTheSameAccount) {
  const auto recording = [] {
    return RecordingBuilder()
        .Card("0x20 " + Repeat("98x5 0x5", 240))
        .Constant(GpuMetric::kMemUsedMb, 60000)
        .Process({0}, Starved(2420))
        .Host(HostMetric::kCpuCount, "16x2420")
        .Host(HostMetric::kCpuUtil, "17x2420")
        .Build();
  };
  const Analysis whole = Judge(recording()), cut = Judge(recording(), {800, 1600});
  for (size_t i = 0; i < model::kLines; ++i)
    EXPECT_NEAR(whole.Lines()[i], cut.Lines()[i], 12) << model::Name(static_cast<Line>(i));
  EXPECT_NEAR(ledger::Sum(whole.Lines()), ledger::Sum(cut.Lines()), 1e-6);
  EXPECT_EQ(whole.findings.size(), cut.findings.size());
  EXPECT_EQ(cut.runs.size(), 1U);
}

TEST(Analyze, ThreadsChangeNothing) {
  RecordingBuilder b;
  for (int k = 0; k < 6; ++k) {
    b.Card("0x20 " + Repeat(k % 2 == 0 ? "98x5 0x5" : "97x9 40x1", 60)).Constant(GpuMetric::kMemUsedMb, 60000);
    RecordingBuilder::Job job = Starved(620);
    job.pid = 100 + k;
    job.name = "job" + std::to_string(k);
    b.Process({static_cast<size_t>(k)}, job);
  }
  const FixedSource source(b.Build());
  Options one, four;
  four.threads = 4;
  const Analysis x = *Analyze(source, one), y = *Analyze(source, four);
  EXPECT_EQ(Names(x), Names(y));
  EXPECT_EQ(x.runs.size(), 6U);
  ASSERT_EQ(x.account.size(), y.account.size());
  for (auto a = x.account.begin(), c = y.account.begin(); a != x.account.end(); ++a, ++c) {
    EXPECT_FALSE(a->first < c->first || c->first < a->first);
    EXPECT_EQ(a->second, c->second);
  }
}

TEST(Analyze, AReadingThatARuleTestsIsNoneThatNobodyReads) {
  const auto bit = model::Bit(model::GpuMetric::kPcieRxMbS);
  rules::RuleSet rules = rules::DefaultRules();
  EXPECT_NE(UnreadBy(rules) & bit, 0U);
  EXPECT_EQ(UnreadBy(rules) & model::Bit(model::GpuMetric::kSmUtil), 0U);
  rules::Rule rule;
  rule.layer = rules::Layer::kThreshold;
  rule.test.emplace().metric = model::GpuMetric::kPcieRxMbS;
  rules.rules.push_back(rule);
  EXPECT_EQ(UnreadBy(rules) & bit, 0U);
}

TEST(Analyze, ExplainedTrialsNameEveryRule) {
  Options o;
  o.keep_trials = true;
  const FixedSource source(RecordingBuilder().Card("0x20 97x900").Build());
  const Result<Analysis> a = Analyze(source, o);
  ASSERT_TRUE(a.ok());
  EXPECT_GE(a->trials.size(), 16U);
}

// What happens before the first kernel is a start-up unless it is known that nobody did anything.
TEST(QuietStart, IsHeldOnlyWhereNothingWasUsedReadOrWritten) {
  const auto lines = [](double cores, double read_mb_s) {
    RecordingBuilder b;
    b.Card("0x900 98x900").Constant(GpuMetric::kMemUsedMb, 9000);
    RecordingBuilder::Job j;
    j.to_s = 1800;
    j.workers = 0;
    j.tree_cores = j.main_cores = cores;
    j.read_mb_s = j.write_mb_s = read_mb_s;
    return Judge(b.Process({0}, j).Build()).Lines();
  };
  const auto held = lines(0.01, 0), works = lines(0.9, 0), copies = lines(0.01, 80), unknown = lines(0.01, kMissing);
  EXPECT_NEAR(held[Index(Line::kIdleHeld)], 900, 5);
  EXPECT_NEAR(held[Index(Line::kStartup)], 0, 5);
  for (const auto& started : {works, copies, unknown}) {
    EXPECT_NEAR(started[Index(Line::kStartup)], 900, 5);
    EXPECT_NEAR(started[Index(Line::kIdleHeld)], 0, 5);
  }
}

TEST(LongPause, IsAWaitWhereTheLoaderWorksAndIdleWhereItSleeps) {
  const auto idle_s = [](double tree_cores) {
    RecordingBuilder b;
    b.Card(Repeat("98x200 0x90", 6)).Constant(GpuMetric::kMemUsedMb, 9000);
    RecordingBuilder::Job j;
    j.to_s = 1740;
    j.workers = 4;
    j.main_cores = 0.4;
    j.tree_cores = tree_cores;
    return Judge(b.Process({0}, j).Build()).Lines()[Index(Line::kIdleHeld)];
  };
  EXPECT_LT(idle_s(0.4 + 3.6), 95);  // the last one is the end of the work
  EXPECT_GT(idle_s(0.4 + 0.02), 440);
}

TEST(InlineLoading, IsNotConcludedWhereNobodySaysWhatIsRead) {
  const auto finding = [](double read_mb_s) {
    RecordingBuilder b;
    b.Card("50x1200").Constant(GpuMetric::kMemUsedMb, 9000);
    RecordingBuilder::Job j;
    j.to_s = 1200;
    j.workers = 0;
    j.tree_cores = j.main_cores = 0.99;
    j.read_mb_s = read_mb_s;
    const Analysis a = Judge(b.Process({0}, j).Build());
    return Find(a, FindingId::kDataLoading) != nullptr;
  };
  EXPECT_TRUE(finding(20));
  EXPECT_FALSE(finding(0));
  EXPECT_FALSE(finding(kMissing));
}

// A sample that holds power but no utilisation, at the edge of a pause, must neither widen it nor spoil its time.
TEST(PauseBesideMissingReadings, KeepsItsOwnLength) {
  for (const size_t beside : {199U, 209U}) {  // the last sample before, the first after the pause
    RecordingBuilder b;
    b.Card(Repeat("98x200 0x9 98x91", 6)).Constant(GpuMetric::kMemUsedMb, 9000);
    b.Host(HostMetric::kDiskWriteMbS, Repeat("1x200 500x10 1x90", 6));
    RecordingBuilder::Job j;
    j.to_s = 1800;
    model::Recording r = b.Process({0}, j).Build();
    auto& util = r.gpus[0].columns[static_cast<size_t>(GpuMetric::kSmUtil)];
    for (size_t k = 0; k < 6; ++k) util[300 * k + beside] = static_cast<float>(kMissing);
    const Analysis a = Judge(std::move(r));
    const Finding* save = Find(a, FindingId::kCheckpoint);
    ASSERT_NE(save, nullptr) << beside;
    EXPECT_NEAR(*save->width_s, 9, 1) << beside;
    EXPECT_NEAR(a.Lines()[Index(Line::kCheckpoint)], 54, 6) << beside;
  }
}

}  // namespace
}  // namespace sawbill::analysis
