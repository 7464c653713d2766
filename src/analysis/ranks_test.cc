// SPDX-License-Identifier: Apache-2.0
// Cards of one job against cards that merely work at the same time, and what ranks lose to each other.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <set>

#include "analysis/coupling.h"
#include "analysis/recording_builder.h"
#include "base/numbers.h"
#include "ledger/apportion.h"

namespace sawbill::analysis {
namespace {

using model::Cause;
using model::FindingId;
using model::GpuMetric;
using model::HostMetric;
using model::Index;
using model::Line;

constexpr int kWork = 1200;

/// 20 s of start, then a value for each second of work.
std::string Wave(const std::function<double(int)>& value, double start = 0) {
  std::string out = FormatFixed(start, 0) + "x20";
  for (int i = 0; i < kWork; ++i) out += " " + FormatFixed(value(i), 1) + "x1";
  return out;
}

/// Where in its step a sample meets a job: a number in [0,1) for each second, another sequence for each seed.
double Phase(int seed, int i) {
  uint64_t z = static_cast<uint64_t>(seed) * 1000003 + static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

/// One card: its utilisation, and its memory activity and power as shares of what a card shows that works.
struct Load {
  std::function<double(int)> util, work;
};

enum class Who { kNobody, kUnnamed, kOneJob };

RecordingBuilder::Job Rank(size_t k, Who who) {
  RecordingBuilder::Job j;
  j.name = who == Who::kOneJob ? "train" : "";
  j.pid = 100 + static_cast<int64_t>(k);
  j.to_s = kWork + 20;
  return j;
}

RecordingBuilder& Add(RecordingBuilder& b, const Load& l) {
  return b.Card(Wave(l.util))
      .Constant(GpuMetric::kMemUsedMb, 60000)
      .Set(GpuMetric::kMemUtil, Wave([&](int i) { return 50 * l.work(i); }))
      .Set(GpuMetric::kPowerW, Wave([&](int i) { return 60 + 300 * (0.3 * l.util(i) / 100 + 0.7 * l.work(i)); }, 60));
}

model::Recording Record(const std::vector<Load>& loads, Who who) {
  RecordingBuilder b;
  for (const Load& l : loads) Add(b, l);
  for (size_t k = 0; k < loads.size() && who != Who::kNobody; ++k) b.Process({k}, Rank(k, who));
  return b.Build();
}

double Busy(int) { return 99; }
double Full(int) { return 1; }
/// Spins in `share` of its samples, at those of `seed`.
std::function<double(int)> Spins(int seed, double share) {
  return [=](int i) { return Phase(seed, i) < share ? 0.03 : 1.0; };
}

TEST(Coupling, IsSeenWhereTwoChangeTogetherAndNotWhereTheyDoNot) {
  const std::function<double(int)> mine = Spins(1, 0.3);
  const auto together = [&](const std::function<double(int)>& other) {
    const model::Recording r = Record({{Busy, mine}, {Busy, other}}, Who::kNobody);
    const PreparedCard a = Prepare(r.gpus[0]), b = Prepare(r.gpus[1]);
    return WorkTogether(a, b, {r.gpus[0].t_ms.front(), r.gpus[0].t_ms.back()});
  };
  EXPECT_EQ(together(mine), Together::kYes);
  EXPECT_EQ(together([&](int i) { return 1.03 - mine(i); }), Together::kYes);  // the one waits while the other works
  EXPECT_EQ(together(Spins(2, 0.3)), Together::kNo);
  EXPECT_EQ(together([&](int i) { return mine(i + 7); }), Together::kNo);
  // A stop that the host imposes on both once in five minutes makes no job of them.
  const auto stops = [&](int seed) { return [=](int i) { return i % 300 < 10 ? 0.0 : 0.9 + 0.1 * Phase(seed, i); }; };
  const model::Recording r = Record({{Busy, stops(1)}, {Busy, stops(2)}}, Who::kNobody);
  const PreparedCard a = Prepare(r.gpus[0]), b = Prepare(r.gpus[1]);
  EXPECT_NE(WorkTogether(a, b, {r.gpus[0].t_ms.front(), r.gpus[0].t_ms.back()}), Together::kYes);
  // Two steady cards may be anything.
  const model::Recording steady = Record({{Busy, Full}, {Busy, Full}}, Who::kNobody);
  EXPECT_EQ(WorkTogether(Prepare(steady.gpus[0]), Prepare(steady.gpus[1]),
                         {steady.gpus[0].t_ms.front(), steady.gpus[0].t_ms.back()}),
            Together::kUntold);
}

TEST(Ranks, TheSlowOneIsFoundByTheStepsOfTheOthersWhateverIsKnownOfTheirProcesses) {
  for (const Who who : {Who::kNobody, Who::kUnnamed, Who::kOneJob}) {
    for (size_t slow = 0; slow < 4; ++slow) {
      std::vector<Load> loads(4, Load{Busy, Spins(1, 0.3)});
      loads[slow].work = Full;
      const Analysis a = Judge(Record(loads, who));
      ASSERT_EQ(a.runs.size(), 1U);
      const Finding* f = Find(a, FindingId::kImbalance);
      ASSERT_NE(f, nullptr) << slow;
      EXPECT_EQ(f->cause, Cause::kStraggler);
      EXPECT_EQ(f->cards, std::vector<size_t>{slow});
      EXPECT_NEAR(f->saving->expected_s / (4 * kWork), 0.29, 0.03);
    }
  }
}

// Four healthy jobs of one card were called one with a straggler, at a quarter of the bill.
TEST(Ranks, JobsThatMerelyRunAtTheSameTimeAreNotCompared) {
  const double share[] = {0, 0.25, 0.1, 0.4}, level[] = {1, 0.8, 0.9, 0.6};
  for (const Who who : {Who::kNobody, Who::kUnnamed, Who::kOneJob}) {
    for (const size_t n : {2, 3, 4}) {
      std::vector<Load> uneven, steady;
      for (size_t k = 0; k < n; ++k) {
        uneven.push_back({Busy, Spins(static_cast<int>(k) + 1, share[k])});
        steady.push_back({Busy, [=](int) { return level[k]; }});
      }
      const auto compared = [&](const std::vector<Load>& loads) {
        return Find(Judge(Record(loads, who)), FindingId::kImbalance) != nullptr;
      };
      // Of two under one name the one may wait for the other, and of steady ones any: then the name is believed.
      const bool believed = who == Who::kOneJob;
      EXPECT_FALSE(compared(uneven) && (n > 2 || !believed)) << n << " " << static_cast<int>(who);
      EXPECT_FALSE(compared(steady) && !believed) << n << " " << static_cast<int>(who);
    }
  }
}

TEST(Ranks, MigInstancesNeverMakeOneJobOfTheirOwnAccord) {
  model::Recording r = Record({{Busy, Full}, {Busy, Spins(1, 0.3)}, {Busy, Spins(1, 0.3)}}, Who::kUnnamed);
  for (size_t k = 0; k < 3; ++k) r.gpus[k].card.gpu = "0." + std::to_string(k + 1) + ".0";
  const Analysis a = Judge(std::move(r));
  EXPECT_EQ(a.runs.size(), 3U);
  EXPECT_EQ(Find(a, FindingId::kImbalance), nullptr);
}

// Its wait was spread over the healthy cards beside it, and with it the cause was gone.
TEST(Ranks, AStarvedJobBesideOthersIsJudgedByItself) {
  std::vector<Load> loads;
  for (int k = 0; k < 4; ++k) loads.push_back({Busy, Full});
  loads[2].util = [](int i) { return Phase(5, i) < 0.5 ? 0 : 99; };
  loads[2].work = [](int i) { return Phase(5, i) < 0.5 ? 0 : 1; };
  RecordingBuilder b;
  for (const Load& l : loads) Add(b, l);
  for (size_t k = 0; k < 4; ++k) {
    RecordingBuilder::Job j = Rank(k, Who::kUnnamed);
    j.workers = 2;
    j.main_cores = k == 2 ? 0.5 : 0.9;
    j.tree_cores = j.main_cores + (k == 2 ? 1.98 : 0.2);
    b.Process({k}, j);
  }
  const Analysis a = Judge(b.Build());
  EXPECT_EQ(a.runs.size(), 2U);
  const Finding* f = Find(a, FindingId::kDataLoading);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->cause, Cause::kFewWorkers);
  EXPECT_EQ(f->cards, std::vector<size_t>{2});
  EXPECT_NEAR(f->saving->expected_s / kWork, 0.5, 0.05);
}

TEST(Ranks, TwoJobsOfSeveralCardsAreToldApartByTheirSteps) {
  const auto util = [](int seed) { return [=](int i) { return Phase(seed, i) < 0.25 ? 0.0 : 99.0; }; };
  const auto work = [](int seed) { return [=](int i) { return Phase(seed, i) < 0.25 ? 0.0 : 1.0; }; };
  const Analysis a = Judge(Record(
      {{util(1), work(1)}, {util(2), work(2)}, {util(1), work(1)}, {Busy, Full}, {util(2), work(2)}}, Who::kNobody));
  std::set<std::vector<size_t>> parts;
  for (const RunFacts& r : a.runs) parts.insert(r.cards);
  EXPECT_TRUE(parts.contains({0, 2})) << a.runs.size();
  EXPECT_TRUE(parts.contains({1, 4})) << a.runs.size();
}

// A step is as long as its slowest rank: only the late card's own wait was counted, a quarter of what was lost.
TEST(Ranks, WhatTheOthersSpinForALateRankIsPartOfItsFinding) {
  const auto waits = [](int i) { return Phase(3, i) < 0.33; };
  std::vector<Load> loads(4, Load{Busy, Spins(3, 0.33)});
  loads[1] = {[=](int i) { return waits(i) ? 0 : 99; }, [=](int i) { return waits(i) ? 0 : 1; }};
  for (const Who who : {Who::kUnnamed, Who::kOneJob}) {
    RecordingBuilder b;
    for (const Load& l : loads) Add(b, l);
    for (size_t k = 0; k < 4; ++k) {
      RecordingBuilder::Job j = Rank(k, who);
      j.workers = 4;
      j.main_cores = k == 1 ? 0.6 : 1.0;
      j.tree_cores = j.main_cores + (k == 1 ? 3.96 : 1.0);
      j.cores_allowed = 64;
      b.Process({k}, j);
    }
    const Analysis a = Judge(b.Build());
    EXPECT_EQ(Names(a), "data-loading:few-workers ");
    const Finding* f = Find(a, FindingId::kDataLoading);
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(f->cards, std::vector<size_t>{1});
    EXPECT_NEAR(f->saving->expected_s / (4 * kWork), 0.33, 0.03);
    EXPECT_NEAR(a.Lines()[Index(Line::kDataLoading)], 0.33 * kWork, 40);
    EXPECT_NEAR(a.Lines()[Index(Line::kImbalance)], 3 * 0.33 * kWork, 100);
    EXPECT_NEAR(ledger::Sum(a.Lines()), 4 * a.period.seconds(), 1);
  }
}

TEST(Ranks, OfCardsWithAHeldDownClockOnlyTheseAreNamedAndTheOthersWait) {
  for (const bool one_job : {true, false}) {
    std::vector<Load> loads(4, Load{Busy, Spins(4, 0.3)});
    loads[1] = {Busy, [](int) { return 0.7; }};
    // Strangers beside a hot card wait for nothing.
    if (!one_job)
      loads = {{Busy, Spins(1, 0.2)}, {Busy, [](int) { return 0.7; }}, {Busy, Spins(2, 0.2)}, {Busy, Spins(3, 0.2)}};
    RecordingBuilder b;
    for (size_t k = 0; k < 4; ++k) {
      Add(b, loads[k]);
      b.Set(GpuMetric::kThrottle, k == 1 ? "0x80 32x1140" : "0x1220");
      b.Set(GpuMetric::kSmClockMhz, k == 1 ? "1400x80 980x1140" : "1400x1220");
      b.Constant(GpuMetric::kTempC, k == 1 ? 87 : 60);
    }
    for (size_t k = 0; k < 4; ++k) b.Process({k}, Rank(k, Who::kUnnamed));
    const Analysis a = Judge(b.Build());
    const Finding* f = Find(a, FindingId::kThrottling);
    ASSERT_NE(f, nullptr) << one_job;
    EXPECT_EQ(f->cards, std::vector<size_t>{1});
    EXPECT_EQ(Find(a, FindingId::kImbalance), nullptr);
    EXPECT_NEAR(f->wasted_s / 1140, (one_job ? 4 : 1) * 0.3, 0.06) << one_job;
  }
}

TEST(Ranks, CardsThatRestUntilTheSlowOneIsReadyAreNotHostBound) {
  const auto rests = [](int i) { return Phase(6, i) < 0.25; };
  std::vector<Load> loads(4, Load{[=](int i) { return rests(i) ? 0 : 99; }, [=](int i) { return rests(i) ? 0 : 1; }});
  loads[3] = {Busy, Full};
  RecordingBuilder b;
  for (const Load& l : loads) Add(b, l);
  for (size_t k = 0; k < 4; ++k) {
    RecordingBuilder::Job j = Rank(k, Who::kUnnamed);
    j.main_cores = 1;
    j.tree_cores = 1.2;
    j.workers = 2;
    b.Process({k}, j);
  }
  const Analysis a = Judge(b.Build());
  EXPECT_EQ(Names(a), "imbalance:straggler ");
  const Finding* f = Find(a, FindingId::kImbalance);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->cards, std::vector<size_t>{3});
  EXPECT_NEAR(a.Lines()[Index(Line::kImbalance)], 3 * 0.25 * kWork, 60);
}

// Two jobs, and a third on the card of the one that ended: never two on a card.
TEST(Ranks, WhoeverFollowsOnACardIsNoNeighbourAndWhoeverLeftWasNoRank) {
  RecordingBuilder b;
  Add(b, {Busy, Full});
  Add(b, {Busy, Full});
  RecordingBuilder::Job first = Rank(0, Who::kUnnamed), second = Rank(1, Who::kUnnamed), third = Rank(2, Who::kUnnamed);
  for (RecordingBuilder::Job* j : {&first, &second, &third}) j->sm_util = 98;
  second.to_s = 500;
  third.from_s = 510;
  const Analysis a = Judge(b.Process({0}, first).Process({1}, second).Process({1}, third).Build());
  EXPECT_EQ(a.runs.size(), 3U);
  EXPECT_EQ(Find(a, FindingId::kSharedGpu), nullptr);
}

// The mean over eight ranks of which one stands still is no quiet dip: it was called another level, an evaluation.
TEST(Ranks, ASaveOfOneRankIsASaveThoughTheOthersSpin) {
  for (const size_t n : {2, 4, 8}) {
    const auto saves = [](int i) { return i % 150 >= 135; };
    std::vector<Load> loads(n, Load{Busy, [=](int i) { return saves(i) ? 0.05 : 1; }});
    loads[0] = {[=](int i) { return saves(i) ? 0 : 99; }, [=](int i) { return saves(i) ? 0 : 1; }};
    RecordingBuilder b;
    for (const Load& l : loads) Add(b, l);
    for (size_t k = 0; k < n; ++k) b.Process({k}, Rank(k, Who::kOneJob));
    b.Host(HostMetric::kDiskWriteMbS, Wave([=](int i) { return saves(i) ? 700 : 1; }, 1));
    const Analysis a = Judge(b.Build());
    const Finding* f = Find(a, FindingId::kCheckpoint);
    ASSERT_NE(f, nullptr) << n << " " << Names(a);
    EXPECT_EQ(f->cause, Cause::kSynchronousSave);
    EXPECT_EQ(Find(a, FindingId::kEvaluation), nullptr);
    EXPECT_NEAR(f->wasted_s, static_cast<double>(n) * 0.1 * kWork, 20.0 * static_cast<double>(n));
  }
}

TEST(Ranks, CardsThatAJobHoldsAndNeverUsesAreOneFinding) {
  RecordingBuilder b;
  for (int k = 0; k < 5; ++k) Add(b, k < 2 ? Load{Busy, Full} : Load{[](int) { return 0; }, [](int) { return 0; }});
  const Analysis a = Judge(b.Process({0, 1, 2, 3, 4}, Rank(0, Who::kOneJob)).Build());
  EXPECT_EQ(Names(a), "unused:over-allocated ");
  EXPECT_EQ(a.findings.at(0).cards, (std::vector<size_t>{2, 3, 4}));
  EXPECT_NEAR(a.Lines()[Index(Line::kUnused)], 3 * kWork, 100);
}

TEST(RestartLoop, CountsWhatTheLivesComputedAsLostOnlyWhereNothingWasSaved) {
  const auto wasted = [](double write_mb_s) {
    RecordingBuilder b;
    b.Card(Repeat("0x20 98x80 0x20", 10)).Constant(GpuMetric::kMemUsedMb, 60000);
    for (int k = 0; k < 10; ++k) {
      RecordingBuilder::Job j;
      j.pid = 100 + k;
      j.from_s = 120 * k;
      j.to_s = j.from_s + 100;
      j.write_mb_s = write_mb_s;
      b.Process({0}, j);
    }
    const Analysis a = Judge(b.Build());
    const Finding* f = Find(a, FindingId::kRestartLoop);
    return f != nullptr ? f->wasted_s : kMissing;
  };
  EXPECT_GT(wasted(0.1), 1000);
  EXPECT_LT(wasted(200), 500);
  EXPECT_LT(wasted(kMissing), 500);
}

}  // namespace
}  // namespace sawbill::analysis
