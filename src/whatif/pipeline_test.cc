// SPDX-License-Identifier: Apache-2.0
// The simulated loader against the reference table of its semantics, the laws it must keep, and what is built on it.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "whatif/savings.h"

namespace sawbill::whatif {
namespace {

double Law(const Pipeline& p) { return std::min(std::min<double>(p.workers, p.cores) / p.prep_s, 1 / p.gpu_s); }

struct Efficiency {
  double mean = 0, low = 9, high = 0;
};
/// Throughput relative to the law min(W/p, 1/G), for rho = (W/p)/G, over `seeds` runs of 3,000 steps as in the table.
Efficiency Measure(int workers, int prefetch, double cv, double rho, unsigned seeds = 40) {
  const Pipeline p{workers, prefetch, workers * 0.2 / rho, cv, 0.2};
  Efficiency e;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const double x = SimulatePipeline(p, 3000, seed).steps_per_s / Law(p);
    e.mean += x / seeds;
    e.low = std::min(e.low, x);
    e.high = std::max(e.high, x);
  }
  return e;
}

TEST(Pipeline, WithoutVarianceTheLawHolds) {
  for (const int workers : {1, 3, 8, 32}) {
    for (const double rho : {0.5, 0.8, 1.0, 1.25, 2.0}) {
      EXPECT_NEAR(Measure(workers, 2, 0, rho, 1).mean, 1.0, 0.004) << workers << " " << rho;
    }
  }
}

TEST(Pipeline, VarianceCostsWhatTheReferenceTableSays) {
  // Each cell of the table is one run of 3,000 steps with one seed, so a cell carries that run's own luck: it falls and
  // rises with rho (0.92 0.97 0.96 0.89) where the law of large numbers gives a smooth line (0.94 0.94 0.93 0.93).
  // `bound` is the largest distance of our mean of 40 seeds from a cell of the row: 0.02 where that holds for all of
  // them. Where it does not, the cell still lies within what single seeds give (checked with 0.02 to spare).
  constexpr double kRho[] = {0.5, 0.8, 0.95, 1.0, 1.05, 1.25, 2.0};
  struct Row {
    double cv;
    int prefetch;
    double bound;
    double cell[7];
  };
  constexpr Row kRows[] = {
      {0.1, 2, 0.02, {.99, .99, .99, .99, 1.0, 1.0, 1.0}},  {0.3, 2, 0.025, {.91, .91, .91, .88, .94, 1.0, 1.0}},
      {0.3, 4, 0.02, {.96, .96, .97, .97, .99, 1.0, 1.0}},  {0.6, 2, 0.02, {.76, .74, .73, .72, .77, .87, .99}},
      {0.6, 8, 0.045, {.92, .97, .96, .89, .96, 1.0, 1.0}}, {1.0, 2, 0.035, {.61, .58, .54, .58, .59, .65, .89}},
      {1.0, 8, 0.065, {.87, .78, .79, .84, .85, .96, 1.0}}};
  int within = 0;
  for (const Row& row : kRows) {
    for (size_t i = 0; i < 7; ++i) {
      const Efficiency e = Measure(8, row.prefetch, row.cv, kRho[i]);
      EXPECT_NEAR(e.mean, row.cell[i], row.bound) << row.cv << " " << row.prefetch << " " << kRho[i];
      EXPECT_GE(row.cell[i], e.low - 0.02) << row.cv << " " << row.prefetch << " " << kRho[i];
      EXPECT_LE(row.cell[i], e.high + 0.02) << row.cv << " " << row.prefetch << " " << kRho[i];
      within += std::abs(e.mean - row.cell[i]) <= 0.02 ? 1 : 0;
    }
  }
  EXPECT_GE(within, 37);  // of 49
}

TEST(Pipeline, MoreWorkersNeedMoreSlack) {
  const std::pair<int, double> reference[] = {{1, 0.97}, {4, 0.93}, {8, 0.89}, {32, 0.86}};
  for (const auto& [workers, efficiency] : reference) {
    EXPECT_NEAR(Measure(workers, 2, 0.3, 1.0).mean, efficiency, 0.02) << workers;
  }
}

TEST(Pipeline, MoreWorkersGainWhatTheReferenceSays) {
  // p = 1.6 s, G = 0.2 s, CV 0.3, prefetch 2: the law says 2, 4 and 4 times; the simulation a little less or more.
  const auto speed = [](int workers) {
    double sum = 0;
    for (unsigned seed = 1; seed <= 10; ++seed)
      sum += SimulatePipeline({workers, 2, 1.6, 0.3, 0.2}, 6000, seed).steps_per_s;
    return sum / 10;
  };
  const double two = speed(2);
  EXPECT_NEAR(speed(4) / two, 1.95, 0.05);
  EXPECT_NEAR(speed(8) / two, 3.72, 0.08);
  EXPECT_NEAR(speed(16) / two, 4.15, 0.08);
}

TEST(Pipeline, MoreWorkersThanCoresDoNotHelp) {
  const double at_8 = SimulatePipeline({8, 2, 1.6, 0, 0.2, 4}, 4000, 1).steps_per_s;
  EXPECT_NEAR(at_8, SimulatePipeline({4, 2, 1.6, 0, 0.2, 4}, 4000, 1).steps_per_s, 0.02);
}

Pipeline AnyPipeline() {
  Pipeline p;
  p.workers = *rc::gen::inRange(1, 17);
  p.prefetch = *rc::gen::inRange(1, 6);
  p.cv = *rc::gen::inRange(0, 100) / 100.0;
  p.gpu_s = *rc::gen::inRange(20, 500) / 1000.0;
  p.prep_s = *rc::gen::inRange(20, 8000) / 1000.0;
  p.cores = *rc::gen::inRange(1, 25);
  return p;
}
double Speed(const Pipeline& p) {
  double sum = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) sum += SimulatePipeline(p, 2000, seed).steps_per_s;
  return sum / 4;
}
// A finite run of noisy times: its mean is off by cv/sqrt(steps), and the queue may have been filled before it.
double Noise(const Pipeline& p) { return 0.01 + 0.06 * p.cv; }

TEST(PipelineProperty, NeverFasterThanTheLaw) {
  EXPECT_TRUE(rc::check([] {
    const Pipeline p = AnyPipeline();
    RC_ASSERT(Speed(p) <= Law(p) * (1 + Noise(p)));
  }));
}

TEST(PipelineProperty, WaitAndWorkAreAllOfTheTime) {
  EXPECT_TRUE(rc::check([] {
    const Pipeline p = AnyPipeline();
    const Throughput t = SimulatePipeline(p, 2000, 3);
    RC_ASSERT(t.wait_share >= 0 && t.wait_share <= 1);
    // Utilisation is what is left: 1 - d, and it is the steps' share of the time.
    RC_ASSERT(std::abs((1 - t.wait_share) - t.steps_per_s * p.gpu_s) < 1e-9);
  }));
}

TEST(PipelineProperty, MorePrefetchNeverCosts) {
  EXPECT_TRUE(rc::check([] {
    Pipeline p = AnyPipeline();
    const double before = Speed(p);
    p.prefetch += *rc::gen::inRange(1, 5);
    RC_ASSERT(Speed(p) >= before * (1 - Noise(p)));
  }));
}

TEST(PipelineProperty, MoreWorkersWithinTheCoresNeverCost) {
  EXPECT_TRUE(rc::check([] {
    Pipeline p = AnyPipeline();
    p.cores = 40;
    const double before = Speed(p);
    p.workers += *rc::gen::inRange(1, 9);
    RC_ASSERT(Speed(p) >= before * (1 - Noise(p)));
  }));
}

TEST(WorkersToFeed, ASteadyLoaderNeedsTheRatioAndAnUnevenOneMore) {
  // Four workers feed half of the steps: eight would do if every batch took the same time.
  const int even = WorkersToFeed(4, 0.5, 0, 1e9), usual = WorkersToFeed(4, 0.5, 0.3, 1e9),
            uneven = WorkersToFeed(4, 0.5, 0.8, 1e9);
  EXPECT_EQ(even, 8);
  EXPECT_GT(usual, even);
  EXPECT_LE(usual, 11);  // rho 1.25 to 1.35
  EXPECT_GT(uneven, usual);
}

TEST(WorkersToFeed, CoresAreTheLimitAndNoWaitNeedsNothing) {
  EXPECT_EQ(WorkersToFeed(4, 0.8, 0.3, 12), 12);
  EXPECT_EQ(WorkersToFeed(4, 0, 0.3, 64), 4);
  EXPECT_EQ(WorkersToFeed(6, 0.5, 0.3, 4), 6);  // more workers than cores already: no advice to have fewer from here
}

TEST(WorkersToFeed, WhatIsRecommendedFeedsTheCard) {
  // Up to four times as many workers: of 11,880 such loaders half are left waiting for 0.1 % of the time, one in a
  // hundred for 2.2 %, the worst for 4.2 %. Beyond that (a hundred workers and more) up to 7 % stays.
  EXPECT_TRUE(rc::check([] {
    const int workers = *rc::gen::inRange(1, 13);
    const double cv = *rc::gen::inRange(0, 60) / 100.0, rho = *rc::gen::inRange(25, 90) / 100.0;
    const Pipeline now{workers, 2, workers * 0.1 / rho, cv, 0.1};
    Pipeline then = now;
    then.workers = WorkersToFeed(workers, SimulatePipeline(now, 4000, 9).wait_share, cv, 1e9);
    RC_ASSERT(SimulatePipeline(then, 4000, 10).wait_share <= 0.05);
  }));
}

TEST(CheckpointInterval, YoungDalyOptimumAndItsWaste) {
  // 60 s saves, a failure every 6 h, 300 s to come back; 300 s, 8 h, 900 s.
  EXPECT_NEAR(CheckpointInterval(60, 21600), 1610, 1);
  EXPECT_NEAR(CheckpointWaste(CheckpointInterval(60, 21600), 60, 21600, 300), 0.088, 0.0006);
  EXPECT_NEAR(CheckpointWaste(CheckpointInterval(300, 28800), 300, 28800, 900), 0.176, 0.0006);
}

TEST(CheckpointInterval, TheFormulaIsWithinATenthOfASimulation) {
  // Work of `tau` s, a save of C, failures at exponential times: what is not saved is lost, and R goes by until the
  // next second of work. 9.4 % and 19.3 % by the reference's own simulation.
  const auto simulate = [](double c, double m, double r) {
    const double tau = CheckpointInterval(c, m);
    uint64_t state = 88172645463325252ULL;
    const auto exponential = [&] {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      return -m * std::log((static_cast<double>(state >> 11) + 0.5) * 0x1.0p-53);
    };
    double time = 0, saved = 0, fails_in = exponential();
    while (saved < 20000 * tau) {
      if (fails_in > tau + c) {
        time += tau + c;
        fails_in -= tau + c;
        saved += tau;
      } else {
        time += fails_in + r;
        fails_in = exponential();
      }
    }
    return 1 - saved / time;
  };
  EXPECT_NEAR(simulate(60, 21600, 300), 0.088, 0.0088);
  EXPECT_NEAR(simulate(300, 28800, 900), 0.176, 0.0176);
}

TEST(CheckpointInterval, OffTheOptimumCostsMore) {
  const double best = CheckpointInterval(60, 21600), least = CheckpointWaste(best, 60, 21600, 300);
  for (const double factor : {0.25, 0.5, 2.0, 4.0}) EXPECT_GT(CheckpointWaste(factor * best, 60, 21600, 300), least);
  EXPECT_TRUE(std::isnan(CheckpointInterval(0, 100)));
  EXPECT_TRUE(std::isnan(CheckpointInterval(60, std::nan(""))));
}

}  // namespace
}  // namespace sawbill::whatif
