// SPDX-License-Identifier: Apache-2.0
#include "simulator/measure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numbers.h"

namespace sawbill::simulator {
namespace {
using model::GpuMetric;

/// One card that computes for `duty` of each period.
World Wave(double period_s, double duty, double duration_s, Load load = {}) {
  World world(duration_s, 1);
  load.busy = 1;
  for (double t = 0; t < duration_s; t += period_s) {
    world.cards[0].push_back({t, t + duty * period_s, Activity::kStep, load});
    world.cards[0].push_back({t + duty * period_s, t + period_s, Activity::kSync, {}});
  }
  world.Close();
  return world;
}

double MeanUtil(const Readings& readings) {
  double sum = 0;
  for (const GpuReading& r : readings.gpu) sum += r.value[static_cast<size_t>(GpuMetric::kSmUtil)];
  return sum / static_cast<double>(readings.gpu.size());
}

MeasureSpec Exact(double window_s, double jitter_s) {
  MeasureSpec spec;
  spec.window_s = window_s;
  spec.jitter_s = jitter_s;
  spec.drop_share = 0;
  return spec;
}

TEST(Measure, JitteredPollsGiveTheTrueMeanWhateverTheStep) {
  for (double period : {0.26, 0.51, 0.97, 1.0, 1.96, 5.0}) {
    for (double window : {1.0 / 6, 0.25, 1.0}) {
      const World world = Wave(period, 0.7, 7200);
      const Readings readings = Measure(world, *FindCard("a100"), Exact(window, 0.5), Rng(11));
      EXPECT_NEAR(MeanUtil(readings), 70, 2) << "period " << period << " window " << window;
    }
  }
}

TEST(Measure, PollsInStepWithTheWorkAreBiased) {
  const World world = Wave(1.0, 0.7, 3600);
  EXPECT_GT(std::abs(MeanUtil(Measure(world, *FindCard("a100"), Exact(1.0 / 6, 0), Rng(11))) - 70), 10);
}

TEST(Measure, ASubsecondStepSwingsInASixthAndIsFlatInASecond) {
  const World world = Wave(0.97, 0.7, 900);
  const auto spread = [&](double window) {
    double low = 100, high = 0;
    for (const GpuReading& r : Measure(world, *FindCard("h100"), Exact(window, 0), Rng(3)).gpu) {
      if (r.t < 3) continue;
      low = std::min(low, r.value[static_cast<size_t>(GpuMetric::kSmUtil)]);
      high = std::max(high, r.value[static_cast<size_t>(GpuMetric::kSmUtil)]);
    }
    return high - low;
  };
  EXPECT_GT(spread(1.0 / 6), 90);
  EXPECT_LT(spread(1.0), 8);
}

TEST(Measure, EnergyIsTheIntegralOfPower) {
  Load load;
  load.intensity = 0.6F;
  const World world = Wave(3, 0.6, 1800, load);
  const Readings readings = Measure(world, *FindCard("h100"), Exact(1, 0), Rng(3));
  double joules = 0;
  for (size_t i = 1; i < readings.gpu.size(); ++i)
    joules += readings.gpu[i].value[static_cast<size_t>(GpuMetric::kPowerW)];
  const auto energy = [&](const GpuReading& r) { return r.value[static_cast<size_t>(GpuMetric::kEnergyJ)]; };
  EXPECT_NEAR(joules / (energy(readings.gpu.back()) - energy(readings.gpu.front())), 1, 0.01);
}

TEST(Measure, PowerStaysWithinTheLimitAndTheClockPaysForIt) {
  Load dense;
  dense.intensity = 1;
  const World world = Wave(100, 1, 600, dense);
  const GpuReading last = Measure(world, *FindCard("a100"), Exact(1, 0), Rng(3)).gpu.back();
  EXPECT_LE(last.value[static_cast<size_t>(GpuMetric::kPowerW)], 404.1);
  EXPECT_LT(last.value[static_cast<size_t>(GpuMetric::kSmClockMhz)], 1410);
  EXPECT_EQ(last.value[static_cast<size_t>(GpuMetric::kThrottle)], Mask(model::ThrottleBit::kSwPowerCap));
}

TEST(Measure, WaitingInACollectiveLooksBusyAtLittlePower) {
  Load spin;
  spin.intensity = 0.06F;
  const World world = Wave(100, 1, 600, spin);
  const GpuReading last = Measure(world, *FindCard("a100"), Exact(1, 0), Rng(3)).gpu.back();
  EXPECT_EQ(last.value[static_cast<size_t>(GpuMetric::kSmUtil)], 100);
  EXPECT_LT(last.value[static_cast<size_t>(GpuMetric::kPowerW)], 0.55 * 400);
}

TEST(Measure, OnlyCardsWithGpmHaveActivityColumns) {
  const World world = Wave(1, 0.7, 60);
  for (const CardModel& card : Cards()) {
    const GpuReading last = Measure(world, card, Exact(1, 0), Rng(3)).gpu.back();
    EXPECT_EQ(IsPresent(last.value[static_cast<size_t>(GpuMetric::kSmActive)]), card.gpm) << card.name;
  }
}

TEST(Measure, TheRingBufferEnclosesThePolledValue) {
  const World world = Wave(2.3, 0.5, 600);
  for (const GpuReading& r : Measure(world, *FindCard("v100"), Exact(1.0 / 6, 0.2), Rng(3)).gpu) {
    const double u = r.value[static_cast<size_t>(GpuMetric::kSmUtil)];
    EXPECT_LE(r.value[static_cast<size_t>(GpuMetric::kSmUtilMin)], u);
    EXPECT_GE(r.value[static_cast<size_t>(GpuMetric::kSmUtilMax)], u);
  }
}

TEST(Measure, AnOutageLeavesNoRowsOfAnyKind) {
  const World world = Wave(1, 0.7, 600);
  MeasureSpec spec = Exact(1, 0);
  spec.outage_from_s = 100;
  spec.outage_to_s = 400;
  const Readings readings = Measure(world, *FindCard("a100"), spec, Rng(3));
  EXPECT_EQ(readings.gpu.size(), 601u - 299u);
  for (const GpuReading& r : readings.gpu) EXPECT_FALSE(r.t > 100 && r.t < 400);
  for (const HostReading& r : readings.host) EXPECT_FALSE(r.t > 100 && r.t < 400);
}

}  // namespace
}  // namespace sawbill::simulator
