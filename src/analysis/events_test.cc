// SPDX-License-Identifier: Apache-2.0
// What happens to a run over time, and what only seems to: each kind of event with its witnesses, and without them.
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/recording_builder.h"

namespace sawbill::analysis {
namespace {

using model::FindingId;
using model::GpuMetric;
using model::HostMetric;
using model::Index;
using model::Line;

constexpr double kIdleW = 60, kBusyW = 360, kWindowS = 1.0 / 6;

double Seconds(const Analysis& a, Line l) { return a.Lines()[Index(l)]; }

std::string At(double v, double s = 1) { return std::to_string(v) + "x" + std::to_string(std::lround(s)) + " "; }

RecordingBuilder::Job Job(double to_s, double main_cores = 1.0) {
  RecordingBuilder::Job j;
  j.to_s = to_s;
  j.workers = 4;
  j.tree_cores = main_cores + 0.4;
  j.main_cores = main_cores;
  return j;
}

/// Sets the energy counter of the last card to `watts`, a mean for each of its samples.
template <typename Fn>
void Count(model::Recording* r, Fn&& watts) {
  model::GpuTrack& t = r->gpus.back();
  t.energy_j.assign(t.size(), 0);
  for (size_t i = 1; i < t.size(); ++i) {
    t.energy_j[i] = t.energy_j[i - 1] + watts(i) * static_cast<double>(t.t_ms[i] - t.t_ms[i - 1]) / 1000;
  }
}

/// Where a steady step of `step_s` that is busy for `duty` of it stands at second `t`: busy seconds from 0 to t.
double BusyUntil(double t, double step_s, double duty) {
  const double n = std::floor(t / step_s);
  return n * step_s * duty + std::min(t - n * step_s, duty * step_s);
}

/// Such a step as polls of a short window see it, a second apart. `instant`: so does the power reading, as on an A100;
/// else it is the mean of a second. With `counter` the card's energy is read as well.
model::Recording Steady(double step_s, double duty, bool instant, bool counter, int seconds = 3000) {
  const auto busy = [&](double from, double to) {
    return (BusyUntil(to, step_s, duty) - BusyUntil(from, step_s, duty)) / (to - from);
  };
  std::string util = "0x30 ", power = At(kIdleW, 30);
  for (int t = 1; t <= seconds; ++t) {
    const double seen = busy(t - kWindowS, t);
    util += At(std::round(100 * seen));
    power += At(kIdleW + (kBusyW - kIdleW) * (instant ? seen : busy(t - 1, t)));
  }
  RecordingBuilder b;
  b.Card(util).Constant(GpuMetric::kMemUsedMb, 60000).Set(GpuMetric::kPowerW, power);
  b.Process({0}, Job(30 + seconds));
  model::Recording r = b.Build();
  r.gpus[0].card.util_window_s = kWindowS;
  if (counter) {
    Count(&r, [&](size_t i) {
      const double t = static_cast<double>(i) - 29;
      return i < 30 ? kIdleW : kIdleW + (kBusyW - kIdleW) * busy(t - 1, t);
    });
  }
  return r;
}

TEST(Events, ASteadyStepThatPollsShowAsStretchesIsNoEvent) {
  for (const double step : {0.97, 0.98, 1.02, 1.03, 1.96}) {
    for (const double duty : {0.6, 0.7, 0.85}) {
      for (const bool instant : {false, true}) {
        const Analysis a = Judge(Steady(step, duty, instant, instant));
        const std::string where = std::to_string(step) + " s, busy " + std::to_string(duty) + ": " + Names(a);
        for (const FindingId id : {FindingId::kEvaluation, FindingId::kLogging, FindingId::kIdleHeld,
                                   FindingId::kKernelInefficiency, FindingId::kDegradation, FindingId::kCheckpoint}) {
          EXPECT_EQ(Find(a, id), nullptr) << where;
        }
        EXPECT_NEAR(Seconds(a, Line::kUseful), 3000 * duty, 60) << where;  // the mean of polls is right
        EXPECT_LE(Seconds(a, Line::kEvaluation) + Seconds(a, Line::kLogging) + Seconds(a, Line::kIdleHeld), 2) << where;
      }
    }
  }
}

TEST(Events, WithoutAWitnessNoFastBeatOfPlateausIsClaimed) {
  // Utilisation and an instant reading of power alias alike, and there is nothing else.
  for (const double step : {0.97, 0.98, 1.02, 1.03}) {
    const Analysis a = Judge(Steady(step, 0.7, true, false));
    EXPECT_EQ(Find(a, FindingId::kEvaluation), nullptr) << step << ": " << Names(a);
  }
}

TEST(Events, ACardThatDrawsItsPowerIsNotIdleWhateverPollsFound) {
  // A step of exactly the interval: each poll falls into the same gap.
  const Analysis a = Judge(Steady(1.0, 0.6, true, true));
  EXPECT_EQ(Names(a), "");
  EXPECT_EQ(Seconds(a, Line::kIdleHeld) + Seconds(a, Line::kDataLoading), 0);
  EXPECT_FALSE(a.limits.empty());
  // Nor is it with a reading that is a mean, and no counter.
  EXPECT_EQ(Names(Judge(Steady(1.0, 0.8, false, false))), "");
  // A card that does rest is held and idle.
  RecordingBuilder b;
  b.Card("0x3000").Constant(GpuMetric::kMemUsedMb, 60000).Process({0}, Job(3000, 0.0));
  model::Recording idle = b.Build();
  Count(&idle, [](size_t) { return kIdleW; });
  EXPECT_EQ(Names(Judge(idle)), "idle-held ");
}

TEST(Events, AFullCardFarApartSamplesIsNotTakenForAnEmptyOne) {
  // Looks 30 s apart at a loader's sawtooth: the counter's mean of the interval belongs to no single look.
  std::string util;
  for (int i = 0; i < 300; ++i) util += At(i % 7 < 3 ? 0 : 98);
  RecordingBuilder b;
  b.Card(util, 30).Constant(GpuMetric::kMemUsedMb, 60000);
  model::Recording r = b.Build();
  Count(&r, [](size_t i) { return 250.0 + static_cast<double>(i % 5); });
  const Analysis a = Judge(r);
  EXPECT_EQ(Find(a, FindingId::kKernelInefficiency), nullptr) << Names(a);
}

/// Training at full load and an evaluation of 60 s at `util` percent and less power, every six minutes.
Analysis Evaluates(double util, double power_w) {
  std::string u = "0x20 ", p = At(kIdleW, 20);
  for (int i = 0; i < 12; ++i) {
    u += At(98, 300);
    // Steps beat with the polls: readings scatter around the level.
    for (int k = 0; k < 60; ++k) u += At(std::min(100.0, util + (k % 3 - 1) * 0.6 * (100 - util)));
    p += At(330, 300) + At(power_w, 60);
  }
  RecordingBuilder b;
  b.Card(u).Constant(GpuMetric::kMemUsedMb, 60000).Set(GpuMetric::kPowerW, p);
  model::Recording r = b.Build();
  r.gpus[0].card.util_window_s = kWindowS;
  Count(&r, [&](size_t i) { return r.gpus[0].columns[static_cast<size_t>(GpuMetric::kPowerW)][i]; });
  return Judge(r);
}

TEST(Events, AnEvaluationIsFoundAtAnyUtilisation) {
  for (const double util : {60, 70, 80, 86, 88, 89, 90, 91, 92, 93, 95, 98}) {
    const Analysis a = Evaluates(util, 215);
    ASSERT_NE(Find(a, FindingId::kEvaluation), nullptr) << util << ": " << Names(a);
    EXPECT_NEAR(Seconds(a, Line::kEvaluation), 720, 40) << util;
  }
}

/// 20 s without a kernel every five minutes, and `sent` MB/s sent meanwhile; `steps` MB/s while the steps run.
Analysis Saves(double sent, double steps, double shift_s = 0) {
  std::string u = "0x20 ", tx = At(steps, 20 + shift_s);
  for (int i = 0; i < 20; ++i) {
    u += At(98, 300) + At(0, 20);
    tx += At(steps, 300) + At(sent, 20);
  }
  u += At(98, 100);
  return Judge(RecordingBuilder()
                   .Card(u)
                   .Constant(GpuMetric::kMemUsedMb, 60000)
                   .Process({0}, Job(6520, 0.6))
                   .Host(HostMetric::kDiskWriteMbS, "1x6520")
                   .Host(HostMetric::kNetTxMbS, tx)
                   .Build());
}

TEST(Events, SavesOverTheNetworkAreCheckpoints) {
  const Analysis a = Saves(500, 2);
  ASSERT_NE(Find(a, FindingId::kCheckpoint), nullptr) << Names(a);
  EXPECT_NEAR(Seconds(a, Line::kCheckpoint), 400, 15);
  EXPECT_EQ(Find(Saves(2, 2), FindingId::kCheckpoint), nullptr);         // nothing is sent
  EXPECT_EQ(Find(Saves(2, 500), FindingId::kCheckpoint), nullptr);       // what the steps exchange
  EXPECT_EQ(Find(Saves(500, 2, 100), FindingId::kCheckpoint), nullptr);  // at another time
}

/// Pauses of 1.2 s every 13 s; `written` MB/s in them, or `later` seconds after.
Analysis Logs(double main_cores, double worker_cores, double written, int later = 0) {
  std::string u = "0x20 ", w = At(0.3, 20 + later);
  for (int i = 0; i < 200; ++i) {
    u += At(98, 12) + At(0, 1);
    w += At(0.3, 12) + At(written, 1);
  }
  RecordingBuilder::Job job = Job(2620, main_cores);
  job.tree_cores = main_cores + job.workers * worker_cores;
  return Judge(RecordingBuilder()
                   .Card(u)
                   .Constant(GpuMetric::kMemUsedMb, 60000)
                   .Process({0}, job)
                   .Host(HostMetric::kDiskWriteMbS, w)
                   .Build());
}

TEST(Events, LoggingIsToldByTheMainProcessOrByWhatItWrites) {
  for (const double main_cores : {0.4, 0.6, 0.85, 0.95}) {
    const Analysis a = Logs(main_cores, 0.05, 3);
    ASSERT_NE(Find(a, FindingId::kLogging), nullptr) << main_cores << ": " << Names(a);
    EXPECT_NEAR(Seconds(a, Line::kLogging), 200, 10) << main_cores;
  }
  EXPECT_NE(Find(Logs(0.95, 0.05, 0.3), FindingId::kLogging), nullptr);  // a busy main process is enough
  EXPECT_EQ(Find(Logs(0.5, 0.05, 0.3), FindingId::kLogging), nullptr);   // shape alone tells nobody
  EXPECT_EQ(Find(Logs(0.5, 0.05, 3, 6), FindingId::kLogging), nullptr);  // written, but not in the pauses
  EXPECT_EQ(Find(Logs(0.5, 0.95, 3), FindingId::kLogging), nullptr);     // workers at their limit: a wait for data
}

struct Stuck {
  double seconds = 1200, power_w = 150, mem_util = 1, util = 100;
  int cards = 4;
  bool goes_on = true;
};

Analysis Hangs(const Stuck& s) {
  RecordingBuilder b;
  const double end = 20 + 3000 + s.seconds + (s.goes_on ? 3000 : 0);
  for (int k = 0; k < s.cards; ++k) {
    const std::string after = s.goes_on ? "98x3000" : "";
    b.Card("0x20 98x3000 " + At(s.util, s.seconds) + after).Constant(GpuMetric::kMemUsedMb, 60000);
    b.Set(GpuMetric::kPowerW,
          At(kIdleW, 20) + At(330, 3000) + At(s.power_w, s.seconds) + (s.goes_on ? At(330, 3000) : ""));
    b.Set(GpuMetric::kMemUtil, "0x20 45x3000 " + At(s.mem_util, s.seconds) + (s.goes_on ? "45x3000" : ""));
    RecordingBuilder::Job job = Job(end);
    job.pid = 100 + k;
    b.Process({static_cast<size_t>(k)}, job);
  }
  return Judge(b.Build());
}

TEST(Events, AHangIsFoundWhereverItIsAndOnlyWithAllItsMarks) {
  for (const double seconds : {400, 600, 1800}) {
    for (const bool goes_on : {true, false}) {
      Stuck s;
      s.seconds = seconds, s.goes_on = goes_on;
      const Analysis a = Hangs(s);
      ASSERT_NE(Find(a, FindingId::kHang), nullptr) << seconds << ": " << Names(a);
      EXPECT_NEAR(Seconds(a, Line::kIdleHeld), 4 * seconds, 4 * 45) << seconds;
    }
  }
  // It came back, and something else may have kept it busy.
  const auto quiet = [](const Stuck& s) { return Find(Hangs(s), FindingId::kHang) == nullptr; };
  Stuck s;
  s.seconds = 240;
  EXPECT_TRUE(quiet(s));  // a save, a barrier
  s = {}, s.mem_util = 20;
  EXPECT_TRUE(quiet(s));  // a validation: memory is read
  s = {}, s.power_w = 300;
  EXPECT_TRUE(quiet(s));  // works from registers
  s = {}, s.util = 90;
  EXPECT_TRUE(quiet(s));  // has gaps
  s = {}, s.cards = 1;
  EXPECT_TRUE(quiet(s));  // nobody to wait for
}

/// A kernel of `kernel` percent of a second every `every` seconds for five minutes, then full load.
Analysis Compiles(int every, double kernel, double read_mb_s) {
  std::string u = "0x25 ";
  for (int t = 0; t < 300; ++t) u += At(t % every == 0 ? kernel : 0);
  u += "98x4800";
  RecordingBuilder::Job job = Job(5125);
  job.tree_cores = 10;
  job.read_mb_s = read_mb_s;
  return Judge(RecordingBuilder().Card(u).Constant(GpuMetric::kMemUsedMb, 60000).Process({0}, job).Build());
}

TEST(Events, CompilingWithAKernelNowAndThenIsAStart) {
  for (const int every : {3, 8, 15, 30}) {
    for (const double kernel : {15.0, 40.0}) {
      const Analysis a = Compiles(every, every == 3 ? kernel / 2 : kernel, 0.1);
      EXPECT_EQ(Names(a), "") << every;
      EXPECT_NEAR(Seconds(a, Line::kStartup), 325, 5) << every;
    }
  }
  // A first epoch from a cold cache looks alike, and reads.
  EXPECT_NEAR(Seconds(Compiles(8, 90, 200), Line::kStartup), 25, 5);
}

TEST(Events, WhatMemoryBoundsIsNoInefficientKernel) {
  const auto serves = [](double dram) {
    RecordingBuilder b("NVIDIA H100 80GB HBM3");
    b.Card("0x20 97x3000").Constant(GpuMetric::kMemUsedMb, 74000).Constant(GpuMetric::kPowerW, 200);
    b.Constant(GpuMetric::kSmActive, 0.3).Constant(GpuMetric::kSmOccupancy, 0.2).Constant(GpuMetric::kDramActive, dram);
    b.Constant(GpuMetric::kThrottle, 0).Constant(GpuMetric::kSmClockMhz, 1400);
    return Judge(b.Build());
  };
  EXPECT_EQ(Find(serves(0.72), FindingId::kKernelInefficiency), nullptr);
  EXPECT_NE(Find(serves(0.1), FindingId::kKernelInefficiency), nullptr);
}

}  // namespace
}  // namespace sawbill::analysis
