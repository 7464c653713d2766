// SPDX-License-Identifier: Apache-2.0
// The queue against published values: throughput relative to min(workers / preparation time, 1 / step time) with eight
// workers. The values come from single runs of 3,000 steps; where preparation times vary much such a run is off by more
// than 0.02 by chance (the published row for CV 1.0, prefetch 8 falls and rises again), so those rows must lie within
// what runs of that length give, and the others within 0.02 of the long-run mean.
#include "simulator/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sawbill::simulator {
namespace {

constexpr double kStepS = 0.2;
constexpr double kRhos[] = {0.5, 0.8, 0.95, 1.0, 1.05, 1.25, 2.0};

HostSpec Cores(int cores) {
  HostSpec host;
  host.cores = cores;
  return host;
}

LoaderSpec Spec(int workers, int prefetch, double prep_s, double cv) {
  LoaderSpec spec;
  spec.workers = workers;
  spec.prefetch_factor = prefetch;
  spec.prep_s = prep_s;
  spec.prep_cv = cv;
  spec.read_mb = 0;
  return spec;
}

/// Steps a second after the first fifth.
double Throughput(const LoaderSpec& spec, int steps, uint64_t seed, const HostSpec& host) {
  Loader loader(spec, host, spec.workers, 0, Rng(seed), nullptr);
  double t = 0, from = 0;
  const int skip = steps / 5;
  for (int i = 0; i < steps; ++i) {
    if (i == skip) from = t;
    const double start = std::max(t, loader.ReadyAt(t));
    loader.Consume(start);
    t = start + kStepS;
  }
  return (steps - skip) / (t - from);
}

double Efficiency(double cv, int prefetch, double rho, int steps, uint64_t seed) {
  const LoaderSpec spec = Spec(8, prefetch, 8 * kStepS / rho, cv);
  return Throughput(spec, steps, seed, Cores(256)) / std::min(8 / spec.prep_s, 1 / kStepS);
}

TEST(Loader, LongRunsReproduceTheTableWhereTheTableIsQuiet) {
  struct Row {
    double cv;
    int prefetch;
    double efficiency[7];
  };
  const Row rows[] = {{0.1, 2, {.99, .99, .99, .99, 1.0, 1.0, 1.0}},
                      {0.3, 2, {.91, .91, .91, .88, .94, 1.0, 1.0}},
                      {0.3, 4, {.96, .96, .97, .97, .99, 1.0, 1.0}},
                      {0.6, 2, {.76, .74, .73, .72, .77, .87, .99}}};
  for (const Row& row : rows) {
    for (size_t i = 0; i < 7; ++i) {
      double mean = 0;
      for (uint64_t seed = 0; seed < 6; ++seed) mean += Efficiency(row.cv, row.prefetch, kRhos[i], 12000, seed) / 6;
      EXPECT_NEAR(mean, row.efficiency[i], 0.02 + 0.002)
          << "cv " << row.cv << " prefetch " << row.prefetch << " rho " << kRhos[i];
    }
  }
}

TEST(Loader, ShortRunsScatterAroundTheNoisyRowsOfTheTable) {
  struct Row {
    double cv;
    int prefetch;
    double efficiency[7];
  };
  const Row rows[] = {{0.6, 8, {.92, .97, .96, .89, .96, 1.0, 1.0}},
                      {1.0, 2, {.61, .58, .54, .58, .59, .65, .89}},
                      {1.0, 8, {.87, .78, .79, .84, .85, .96, 1.0}}};
  for (const Row& row : rows) {
    for (size_t i = 0; i < 7; ++i) {
      std::vector<double> runs;
      for (uint64_t seed = 0; seed < 60; ++seed) runs.push_back(Efficiency(row.cv, row.prefetch, kRhos[i], 3000, seed));
      const auto [low, high] = std::minmax_element(runs.begin(), runs.end());
      EXPECT_GE(row.efficiency[i], *low - 0.005) << row.cv << " " << row.prefetch << " " << kRhos[i];
      EXPECT_LE(row.efficiency[i], *high + 0.005) << row.cv << " " << row.prefetch << " " << kRhos[i];
    }
  }
}

TEST(Loader, WithoutVariationTheLawHolds) {
  for (double rho : kRhos) EXPECT_NEAR(Efficiency(0, 2, rho, 4000, 1), 1.0, 0.004) << rho;
}

TEST(Loader, NeverBeatsTheLawAndGainsFromPrefetch) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    double before = 0;
    for (int prefetch : {1, 2, 4, 8}) {
      const double now = Efficiency(0.6, prefetch, 1.0, 20000, seed);
      EXPECT_LE(now, 1.02);
      EXPECT_GE(now, before - 0.01);
      before = now;
    }
  }
}

TEST(Loader, MoreWorkersThanCoresGainNothing) {
  const double eight = Throughput(Spec(8, 2, 4.0, 0.1), 4000, 3, Cores(8));
  const double sixteen = Throughput(Spec(16, 2, 4.0, 0.1), 4000, 3, Cores(8));
  EXPECT_NEAR(sixteen / eight, 1.0, 0.03);
  EXPECT_GT(Throughput(Spec(16, 2, 4.0, 0.1), 4000, 3, Cores(16)) / eight, 1.9);
}

TEST(Loader, StorageSharedByAllWorkersIsThePlateau) {
  LoaderSpec spec = Spec(8, 2, 0.01, 0);
  spec.read_mb = 100;
  HostSpec host = Cores(64);
  host.storage_mb_s = 200;  // two batches a second, and the cards could take five
  EXPECT_NEAR(Throughput(spec, 4000, 5, host), 2.0, 0.1);
}

TEST(Loader, WithoutWorkersPreparationIsAddedToEachStep) {
  EXPECT_NEAR(Throughput(Spec(0, 2, 0.3, 0), 1000, 1, Cores(8)), 1 / (0.3 + kStepS), 0.01);
}

}  // namespace
}  // namespace sawbill::simulator
