// SPDX-License-Identifier: Apache-2.0
#include "whatif/changes.h"

#include <algorithm>
#include <cmath>

namespace sawbill::whatif {
namespace {
constexpr unsigned kSeed = 1;
constexpr int kSteps = 3000;
/// A save in the background holds the training up for its copy to host memory only: about 0.4 s, at most as long as
/// the save itself (as in Checkpoint()).
constexpr double kSnapshot_s = 0.4;

/// Whole stretches between stalls, in the warm-up (a fifth) and after it, so that the mean is not that of a part.
int StepsFor(int stall_every) {
  return stall_every <= 0 ? kSteps : 5 * stall_every * std::max(1, kSteps / (5 * stall_every));
}

/// Seconds that a step waits for its batch.
double WaitOfStep(const Pipeline& p) {
  const Throughput t = SimulatePipeline(p, StepsFor(p.stall_every), kSeed);
  return t.steps_per_s > 0 ? t.wait_share / t.steps_per_s : 0;
}

/// The time of a batch with which the loader of now leaves the card waiting as it was measured. The wait grows with it,
/// so it is found by halving.
double PrepThatWaits(Pipeline p, double wait_s) {
  const double workers = std::min<double>(p.workers, p.cores);
  double low = 0, high = 4 * workers * (p.gpu_s + wait_s) + wait_s;
  for (int i = 0; i < 40; ++i) {
    p.prep_s = (low + high) / 2;
    (WaitOfStep(p) < wait_s ? low : high) = p.prep_s;
  }
  return (low + high) / 2;
}

Range Spread(double saved_s, double removable_s, Evidence evidence) {
  if (saved_s <= 0) return {1.3 * saved_s, saved_s, 0.7 * saved_s, false};
  switch (evidence) {
    case Evidence::kSteps:
      return {0.9 * saved_s, saved_s, std::min(1.1 * saved_s, std::max(saved_s, removable_s)), false};
    case Evidence::kHost:
      return {0.7 * saved_s, saved_s, std::min(1.15 * saved_s, std::max(saved_s, removable_s)), false};
    case Evidence::kCounters:
      break;
  }
  return {0, saved_s, std::max(saved_s, removable_s), true};
}

template <typename T>
T Or(const std::optional<T>& then, const std::optional<T>& now, T otherwise) {
  return then ? *then : now.value_or(otherwise);
}

Unanswered WhatIsMissing(const RunShape& run, const Settings& now, const Settings& then) {
  if (!(run.work_s > 0)) return Unanswered::kNothingMeasured;
  if ((then.workers || then.prefetch) && run.loader_s > 0 && now.workers.value_or(0) < 1)
    return Unanswered::kWorkersUnknown;
  if ((then.save_every && run.save_s > 0 && !now.save_every) ||
      (then.evaluation_every && run.evaluation_s > 0 && !now.evaluation_every))
    return Unanswered::kIntervalUnknown;
  return Unanswered::kNone;
}

}  // namespace

Forecast Predict(const RunShape& run, const Settings& now, const Settings& then, Evidence evidence) {
  Forecast out;
  out.why_not = WhatIsMissing(run, now, then);
  if (out.why_not != Unanswered::kNone) return out;
  const bool saved = run.save_s > 0 && run.saves > 0;
  // In units of a step's work. Where nobody knows how many steps lie between two saves, many are assumed: the queue
  // then makes no difference to the save.
  const double every = now.save_every.value_or(1000), every_then = Or(then.save_every, now.save_every, every);
  const double step_s = saved ? run.work_s / (run.saves * every) : run.work_s;
  const double save_s = saved ? run.save_s / run.saves : 0;
  const bool becomes_async = Or(then.save_async, now.save_async, false) && !now.save_async.value_or(false);
  const double save_then_s = becomes_async ? std::min(save_s, kSnapshot_s) : save_s;

  double wait_s = run.loader_s;  // then, of the whole run
  if (run.loader_s > 0 && now.workers.value_or(0) >= 1) {
    Pipeline p{*now.workers, now.prefetch.value_or(2), 1, now.prep_cv, 1.0, now.cores};
    if (saved) {
      p.stall_every = static_cast<int>(std::lround(every));
      p.stall_s = save_s / step_s;
    }
    p.prep_s = PrepThatWaits(p, run.loader_s / run.work_s);
    p.workers = Or(then.workers, now.workers, 1);
    p.prefetch = Or(then.prefetch, now.prefetch, 2);
    p.cores = std::min(now.cores, then.cores);
    if (saved) {
      p.stall_every = static_cast<int>(std::lround(every_then));
      p.stall_s = save_then_s / step_s;
    }
    if (then.workers == 0) {
      // The training process prepares each batch itself, one after the other.
      wait_s = p.prep_s * run.work_s;
    } else {
      wait_s = WaitOfStep(p) * run.work_s;
    }
  }
  const double saves_then = run.saves * every / every_then;
  const double rarer = then.evaluation_every ? *now.evaluation_every / *then.evaluation_every : 1;
  const double evaluation_s = run.evaluation_s * (run.evaluation_s > 0 ? rarer : 1);
  out.run_s = run.work_s + wait_s + (saved ? saves_then * save_then_s : run.save_s) + evaluation_s + run.other_s;
  const double before_s = run.Seconds();
  out.speedup = before_s / out.run_s;
  // Evaluation is work of the card as well: what falls away with it was busy as the rest.
  const double idle_s = before_s * (1 - run.busy_share);
  const double busy_s = before_s - idle_s;
  const double busy_less_s = std::min(busy_s, (run.evaluation_s - evaluation_s) * run.busy_share);
  out.busy_share = std::clamp((busy_s - busy_less_s) / out.run_s, 0.0, 1.0);
  out.saved_s = Spread(before_s - out.run_s, run.loader_s + run.save_s + run.evaluation_s, evidence);
  return out;
}

}  // namespace sawbill::whatif
