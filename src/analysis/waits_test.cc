// SPDX-License-Identifier: Apache-2.0
// What is said of host and workers is said of the time in which the card waited.
#include <gtest/gtest.h>

#include "analysis/recording_builder.h"
#include "base/numbers.h"

namespace sawbill::analysis {
namespace {

using model::Cause;
using model::FindingId;
using model::GpuMetric;
using model::HostMetric;
using wave::Feature;

struct HostLoad {
  double cores = 16, cpu = 0, iowait = 0, disk = 0, net_rx = 0.1;
};

/// 20 minutes of one card, with a host.
RecordingBuilder Recorded(const std::string& util, const HostLoad& h) {
  RecordingBuilder b;
  const auto all = [](double v) { return FormatShortest(v) + "x1220"; };
  b.Card(util)
      .Constant(GpuMetric::kMemUsedMb, 60000)
      .Host(HostMetric::kCpuCount, all(h.cores))
      .Host(HostMetric::kCpuUtil, all(h.cpu))
      .Host(HostMetric::kCpuIowait, all(h.iowait))
      .Host(HostMetric::kDiskUtil, all(h.disk))
      .Host(HostMetric::kNetRxMbS, all(h.net_rx));
  return b;
}

RecordingBuilder::Job Process(double workers, double tree, double main) {
  RecordingBuilder::Job j;
  j.to_s = 1220;
  j.workers = workers;
  j.tree_cores = tree;
  j.main_cores = main;
  return j;
}

// Starved for its first third with eight workers at full load, then fed by idle ones: nobody else is on the host.
TEST(Waits, TheJobsOwnLoadIsNobodyElses) {
  RecordingBuilder b;
  b.Card("0x20 " + Repeat("98x4 0x4", 50) + " 98x800")
      .Constant(GpuMetric::kMemUsedMb, 60000)
      .Host(HostMetric::kCpuCount, "16x1220")
      .Host(HostMetric::kCpuUtil, "53x420 6x800");
  RecordingBuilder::Job j = Process(8, 8.5, 0.5);
  j.to_s = 420;
  b.Process({0}, j);
  j = Process(8, 0.95, 0.9);
  j.from_s = 430;
  j.started_s = 0;
  b.Process({0}, j);
  const Analysis a = Judge(b.Build());
  ASSERT_EQ(a.runs.size(), 1U);
  const wave::FeatureSet& f = a.runs[0].features;
  EXPECT_LT(f.Get(Feature::kForeignShare), 0.03);
  EXPECT_NEAR(f.Get(Feature::kWorkerBusy), 0.93, 0.01);  // 200 s of waits at full load, 16 s (2 % of 800) at rest
  const Finding* x = Find(a, FindingId::kDataLoading);
  ASSERT_NE(x, nullptr) << Names(a);
  EXPECT_EQ(x->cause, Cause::kFewWorkers);
}

// Somebody takes the cores just while the card waits.
TEST(Waits, WhoTakesTheCoresWhileTheCardWaitsIsSeen) {
  RecordingBuilder b;
  b.Card("0x20 " + Repeat("98x4 0x4", 50) + " 98x800")
      .Constant(GpuMetric::kMemUsedMb, 60000)
      .Host(HostMetric::kCpuCount, "16x1220")
      .Host(HostMetric::kCpuUtil, "98x420 6x800");
  b.Process({0}, Process(8, 3.0, 0.6));
  const Analysis a = Judge(b.Build());
  EXPECT_GT(a.runs.at(0).features.Get(Feature::kForeignShare), 0.7);
  const Finding* x = Find(a, FindingId::kDataLoading);
  ASSERT_NE(x, nullptr) << Names(a);
  EXPECT_EQ(x->cause, Cause::kHostContention);
}

// While a card waits for a batch one worker at least prepares it. Where all of them rest and nothing is read, the wait
// is another's: what it is cannot be told here.
TEST(Waits, IdleWorkersKeepNobodyWaiting) {
  for (const std::string wave : {"0x20 88x1200", "0x20 70x1200"}) {
    for (const double main : {0.3, 0.6, 0.85}) {
      const Analysis a = Judge(Recorded(wave, {}).Process({0}, Process(8, main + 0.3, main)).Build());
      EXPECT_EQ(Find(a, FindingId::kDataLoading), nullptr) << wave << " " << main;
      EXPECT_EQ(a.runs.at(0).features.Get(Feature::kNobodyPrepares), 1) << wave << " " << main;
    }
  }
}

// One worker that gets a third of a core, because others take the rest.
TEST(Waits, AWorkerThatGetsNoCoreIsNotIdle) {
  const Analysis a = Judge(
      Recorded("0x20 " + Repeat("98x6 0x6", 100), {2, 100, 0, 1, 0.1}).Process({0}, Process(1, 0.8, 0.5)).Build());
  EXPECT_EQ(a.runs.at(0).features.Get(Feature::kNobodyPrepares), 0);
  const Finding* x = Find(a, FindingId::kDataLoading);
  ASSERT_NE(x, nullptr) << Names(a);
  EXPECT_EQ(x->cause, Cause::kHostContention);
}

// The same idle workers, but they sleep in reads: of a disk, or of a socket.
TEST(Waits, WorkersThatSleepInReadsDo) {
  const std::string wave = "0x20 " + Repeat("98x6 0x6", 100);
  for (const HostLoad& h :
       {HostLoad{16, 5, 45, 95, 0.1}, HostLoad{16, 5, 0, 10, 300}, HostLoad{128, 1, 5.5, 95, 0.1}}) {
    const Analysis a = Judge(Recorded(wave, h).Process({0}, Process(8, 0.85, 0.5)).Build());
    const Finding* x = Find(a, FindingId::kDataLoading);
    ASSERT_NE(x, nullptr) << h.cores << " " << h.iowait << Names(a);
    EXPECT_EQ(x->cause, Cause::kSlowStorage) << h.cores << " " << h.iowait;
  }
}

// On a host of 128 cores eight workers that all wait for the disk are 6 % of it.
TEST(Waits, WaitingForIoCountsForEachWorker) {
  const Analysis a = Judge(
      Recorded("0x20 " + Repeat("98x6 0x6", 100), {128, 1, 6.25, 95, 0.1}).Process({0}, Process(8, 0.85, 0.5)).Build());
  EXPECT_NEAR(a.runs.at(0).features.Get(Feature::kLoaderIowait), 1.0, 0.01);
}

// A figure of the host that was not read is neither none nor much of it.
TEST(Waits, WhatTheHostDidNotTellIsNotKnown) {
  RecordingBuilder b;
  b.Card("0x20 70x1200").Constant(GpuMetric::kMemUsedMb, 60000);
  b.Host(HostMetric::kCpuCount, "16x1220").Host(HostMetric::kCpuUtil, "5x1220");
  const Analysis a = Judge(b.Process({0}, Process(8, 0.6, 0.3)).Build());
  const wave::FeatureSet& f = a.runs.at(0).features;
  for (const Feature x : {Feature::kIowait, Feature::kLoaderIowait, Feature::kDiskUtil, Feature::kNetRxMbS}) {
    EXPECT_FALSE(f.Has(x)) << static_cast<int>(x);
  }
  EXPECT_EQ(f.Get(Feature::kNobodyPrepares), 0);  // they may sleep in reads
}

// A disk that is busy with a save says nothing of the loader.
TEST(Waits, TheDiskOfASaveIsNotTheLoaders) {
  RecordingBuilder b;
  b.Card("0x20 " + Repeat("98x90 0x30", 10)).Constant(GpuMetric::kMemUsedMb, 60000);
  b.Host(HostMetric::kDiskUtil, "0x20 " + Repeat("2x90 99x30", 10))
      .Host(HostMetric::kDiskWriteMbS, "0x20 " + Repeat("0x90 900x30", 10));
  const Analysis a = Judge(b.Build());
  EXPECT_EQ(Names(a), "checkpoint:synchronous-save ");
  EXPECT_LT(a.runs.at(0).features.Get(Feature::kDiskUtil), 10);
}

// A main process that sleeps as long as the card waits, waits for it; one that sleeps ten times as long just sleeps.
TEST(Waits, TheMainProcessSleepsAsLongAsTheCardWaits) {
  const auto blocked = [](double main) {
    const Analysis a = Judge(Recorded("0x20 70x1200", {}).Process({0}, Process(8, main + 7, main)).Build());
    return a.runs.at(0).features.Get(Feature::kMainBlocked);
  };
  const double wait = 0.263;  // at least: 1 - 70/95
  EXPECT_NEAR(blocked(1 - wait), 1.0, 0.05);
  EXPECT_NEAR(blocked(0.1), wait / 0.9, 0.05);
  EXPECT_NEAR(blocked(0.95), 0.05 / wait, 0.05);
  EXPECT_EQ(blocked(1.2), 0);
}

// 60 GB/s over NVLink in a step. At full power it goes on beside the computing; at two thirds of it the cards stand
// still for it.
TEST(Waits, TrafficBesideFullPowerIsHidden) {
  const auto found = [](double power_w) {
    RecordingBuilder b;
    for (int k = 0; k < 4; ++k) {
      b.Card("0x20 99x1200")
          .Constant(GpuMetric::kMemUsedMb, 60000)
          .Constant(GpuMetric::kMemUtil, 50)
          .Set(GpuMetric::kPowerW, "60x20 " + FormatShortest(power_w) + "x1200")
          .Constant(GpuMetric::kNvlinkRxMbS, 60'000)
          .Constant(GpuMetric::kNvlinkTxMbS, 60'000);
      RecordingBuilder::Job j = Process(4, 1.5, 1);
      j.pid = 100 + k;
      b.Process({static_cast<size_t>(k)}, j);
    }
    const Analysis a = Judge(b.Build());
    return Find(a, FindingId::kCommunication) != nullptr;
  };
  EXPECT_FALSE(found(385));
  EXPECT_FALSE(found(365));
  EXPECT_TRUE(found(280));
}

}  // namespace
}  // namespace sawbill::analysis
