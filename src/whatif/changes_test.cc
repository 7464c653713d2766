// SPDX-License-Identifier: Apache-2.0
#include "whatif/changes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

namespace sawbill::whatif {
namespace {

constexpr double kHour = 3600;

/// A run whose loader and saves are simulated with known truth: `hours` long, batches of `prep_s`, steps of `gpu_s`,
/// of which the card is busy for `kernel_share`.
RunShape Simulated(const Pipeline& p, double hours, double kernel_share) {
  const Throughput t = SimulatePipeline(p, 50'000, 7);
  RunShape run;
  const double run_s = hours * kHour, steps = run_s * t.steps_per_s;
  run.work_s = steps * p.gpu_s;
  run.loader_s = run_s * t.wait_share;
  if (p.stall_every > 0) {
    run.saves = steps / p.stall_every;
    run.save_s = run.saves * p.stall_s;
  }
  run.busy_share = kernel_share * run.work_s / run_s;
  return run;
}

Settings Of(int workers, int prefetch, double save_every) {
  Settings s;
  s.workers = workers;
  s.prefetch = prefetch;
  s.save_every = save_every;
  return s;
}

// The worked case: one card at 10 an hour, 60 h, 16 cores, 4 workers, prefetch 2, heavy augmentation, a synchronous
// save every 100 steps, mean 55 %. The pipeline is set up so that this first half is true; the second is the
// forecast's.
TEST(Changes, TheReferenceRunComesOutOfTheModel) {
  const Pipeline truth{4, 2, 1.375, 0.3, 0.25, 16, 100, 3.0};
  const RunShape run = Simulated(truth, 60, 0.85);
  EXPECT_NEAR(run.busy_share, 0.55, 0.01);
  Settings now = Of(4, 2, 100), then = Of(12, 4, 500);
  now.cores = 16;
  then.save_async = true;
  const Forecast f = Predict(run, now, then, Evidence::kHost);
  ASSERT_EQ(f.why_not, Unanswered::kNone);
  EXPECT_NEAR(f.busy_share, 0.83, 0.02);
  EXPECT_NEAR(f.run_s / kHour, 39, 1);
  EXPECT_NEAR(f.saved_s.expected / run.Seconds(), 0.35, 0.015);
}

// Whatever the run: a forecast meets what the changed run really does.
TEST(Changes, AForecastIsWhatTheChangedRunDoes) {
  EXPECT_TRUE(rc::check([] {
    Pipeline p;
    p.workers = *rc::gen::inRange(1, 9);
    p.prefetch = *rc::gen::inRange(2, 5);
    p.gpu_s = 0.2;
    p.prep_s = p.workers * p.gpu_s * *rc::gen::inRange(12, 30) / 10.0;
    p.cores = 16;
    p.stall_every = *rc::gen::inRange(50, 400);
    p.stall_s = *rc::gen::inRange(1, 10);
    const RunShape run = Simulated(p, 10, 0.9);
    Pipeline better = p;
    better.workers = p.workers + *rc::gen::inRange(1, 9);
    better.prefetch = *rc::gen::inRange(2, 5);
    better.stall_every = p.stall_every * *rc::gen::inRange(1, 6);
    Settings now = Of(p.workers, p.prefetch, p.stall_every);
    now.cores = 16;
    const Forecast f = Predict(run, now, Of(better.workers, better.prefetch, better.stall_every), Evidence::kSteps);
    const double before = SimulatePipeline(p, 50'000, 7).steps_per_s;
    const double after = SimulatePipeline(better, 50'000, 8).steps_per_s;
    const double truth = 1 - before / after;
    RC_ASSERT(std::abs(f.saved_s.expected / run.Seconds() - truth) < 0.03);
  }));
}

TEST(Changes, NothingChangesNothing) {
  const RunShape run = Simulated({4, 2, 1.4, 0.3, 0.25, 16, 100, 3.0}, 10, 0.9);
  Settings now = Of(4, 2, 100);
  now.cores = 16;
  const Forecast f = Predict(run, now, {}, Evidence::kSteps);
  EXPECT_NEAR(f.run_s, run.Seconds(), 0.01 * run.Seconds());
  EXPECT_NEAR(f.busy_share, run.busy_share, 0.01);
}

TEST(Changes, AWorseSettingCostsTimeAndIsSaidSo) {
  const RunShape run = Simulated({8, 2, 1.6, 0.3, 0.2, 16, 0, 0}, 10, 0.9);
  Settings now = Of(8, 2, 100), then;
  then.workers = 4;
  const Forecast f = Predict(run, now, then, Evidence::kSteps);
  EXPECT_LT(f.saved_s.expected, -0.5 * run.Seconds());
  EXPECT_LE(f.saved_s.low, f.saved_s.expected);
  EXPECT_LE(f.saved_s.expected, f.saved_s.high);
  then.workers = 0;
  EXPECT_LT(Predict(run, now, then, Evidence::kSteps).saved_s.expected, f.saved_s.expected);
}

TEST(Changes, WorkersBeyondTheCoresBringNothing) {
  const RunShape run = Simulated({4, 2, 2.0, 0.1, 0.2, 4, 0, 0}, 10, 0.9);
  Settings now = Of(4, 2, 100), then;
  now.cores = 4;
  now.prep_cv = 0.1;
  then.workers = 16;
  EXPECT_LT(std::abs(Predict(run, now, then, Evidence::kSteps).saved_s.expected), 0.03 * run.Seconds());
}

TEST(Changes, WhatIsNotKnownIsAskedForAndNotAssumed) {
  RunShape run;
  Settings then;
  then.workers = 8;
  EXPECT_EQ(Predict(run, {}, then, Evidence::kHost).why_not, Unanswered::kNothingMeasured);
  run.work_s = 100;
  run.loader_s = 50;
  EXPECT_EQ(Predict(run, {}, then, Evidence::kHost).why_not, Unanswered::kWorkersUnknown);
  then = {};
  then.save_every = 500;
  EXPECT_EQ(Predict(run, {}, then, Evidence::kHost).why_not, Unanswered::kNone);  // there are no saves
  run.save_s = 10;
  run.saves = 5;
  EXPECT_EQ(Predict(run, {}, then, Evidence::kHost).why_not, Unanswered::kIntervalUnknown);
}

TEST(Changes, CountersAloneSayUpTo) {
  RunShape run;
  run.work_s = 100;
  run.loader_s = 50;
  Settings now = Of(4, 2, 100), then;
  then.workers = 12;
  const Range r = Predict(run, now, then, Evidence::kCounters).saved_s;
  EXPECT_TRUE(r.upper_only);
  EXPECT_EQ(r.low, 0);
}

TEST(Changes, RarerEvaluationTakesItsShareAndItsWorkAway) {
  RunShape run;
  run.work_s = 800;
  run.evaluation_s = 200;
  run.busy_share = 0.9;
  Settings now, then;
  now.evaluation_every = 100;
  then.evaluation_every = 400;
  const Forecast f = Predict(run, now, then, Evidence::kSteps);
  EXPECT_DOUBLE_EQ(f.run_s, 850);
  EXPECT_NEAR(f.busy_share, 0.9, 1e-9);
}

}  // namespace
}  // namespace sawbill::whatif
