// SPDX-License-Identifier: Apache-2.0
// What a run becomes under other settings. All of them are put into one simulation of the loader's queue, with the
// saves in it: what one setting brings back is often what the next one then stands in front of, so savings are never
// added. Nothing is scaled by utilisation: work stays work, only the time around it changes.
#pragma once

#include <optional>

#include "whatif/savings.h"

namespace sawbill::whatif {

/// What a run is made of, as it was measured: seconds of one card, the mean over the cards of the job. They add up to
/// the run.
struct RunShape {
  double work_s = 0;    // no setting below changes it
  double loader_s = 0;  // the card waits for data
  double save_s = 0, evaluation_s = 0;
  double other_s = 0;     // start-up, held idle, unexplained: stays
  double saves = 0;       // how many there were
  double busy_share = 0;  // mean SM utilisation of all of it, 0-1
  double Seconds() const { return work_s + loader_s + save_s + evaluation_s + other_s; }
};

/// Settings of a run; what is not known is absent. `save_every` and `evaluation_every` in steps.
struct Settings {
  std::optional<int> workers, prefetch;
  std::optional<double> save_every, evaluation_every;
  std::optional<bool> save_async;
  double cores = 1e9;             // that the workers of one rank may use
  double prep_cv = kUsualPrepCv;  // how much the time of a batch varies
};

/// By what a forecast is backed (science: step timings +-10 %, host data +-30 % skewed low, counters of the card "up
/// to").
enum class Evidence { kSteps, kHost, kCounters };

enum class Unanswered { kNone, kWorkersUnknown, kIntervalUnknown, kNothingMeasured };

struct Forecast {
  Unanswered why_not = Unanswered::kNone;  // anything else: the rest is not filled in
  double run_s = 0;                        // of the same work
  double busy_share = 0;                   // mean SM utilisation
  double speedup = 1;                      // of steps a second, over the whole run
  Range saved_s;                           // of RunShape::Seconds(); negative where the change costs time
};

/// `then`: what is set otherwise; the rest stays as `now`. A setting of which `now` must be known and is not is
/// answered with the reason, never with an assumption.
Forecast Predict(const RunShape& run, const Settings& now, const Settings& then, Evidence evidence);

}  // namespace sawbill::whatif
