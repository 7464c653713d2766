// SPDX-License-Identifier: Apache-2.0
// What interrupts a run as a whole: saves, evaluations, logging, stalls, idle stretches, a hang. Found on the mean over
// the cards of the job, since an interruption stops them all.
#pragma once

#include <vector>

#include "analysis/prepare.h"
#include "wave/events.h"
#include "wave/periodicity.h"

namespace sawbill::analysis {

enum class State : unsigned char {
  kOutside,
  kStartup,
  kActive,
  kCheckpoint,
  kEvaluation,
  kLogging,
  kStall,
  kIdle,
  kHang
};

struct Interruption {
  State state = State::kStall;
  model::TimeRange range;
  double seconds = 0;  // of a card: width with sub-second edges
};

struct InterruptionClass {
  int count = 0;
  double seconds = 0;  // of one card
  double median_width_s = 0;
  wave::Periodicity spacing;
};

struct Interruptions {
  std::vector<Interruption> all;  // by time, disjoint
  InterruptionClass checkpoint, evaluation, logging, stall;
  double idle_s = 0, longest_idle_s = 0;
  double hang_s = 0;
  bool untold_idle = false;  // quiet looks of a coarse record that chance explains
  int aliased_dips = 0;      // quiet stretches that power contradicts: artefacts of sampling
};

/// The series of one run: the mean of its cards on the ticks of the first one.
struct RunSeries {
  TimeMs origin = 0;
  wave::Series util;         // percent
  wave::Series least_util;   // percent, of the card that does least: one that stops while others spin for it
  wave::Series power;        // share of the range, 0-1
  wave::Series mem_util;     // percent
  std::vector<TimeMs> t_ms;  // of each sample
};
RunSeries MakeRunSeries(const std::vector<const PreparedCard*>& cards, model::TimeRange active);

/// The longest intervals between samples at which saves, and the pauses of logging, can be seen.
inline constexpr double kCoarsestForSavesS = 10, kCoarsestForLoggingS = 2;

/// True where `looks` quiet ones in a row, among `all` of which `share` are quiet, are no accident (one in a hundred
/// such records). A card that nine looks in ten find idle is idle however that is spread.
bool LongerThanChance(size_t looks, double share, size_t all);

/// Quiet time from which a stretch counts as idle rather than as an interruption of a running job.
inline constexpr double kIdleStretchS = 60.0;

/// `writes`: disk writes in MB/s of the host (may be empty); `main_busy`: CPU cores of the main process (NaN =
/// unknown).
/// `preparing`: how busy loader workers are (0-1); a pause in which they work is a wait for them, however long.
Interruptions FindInterruptions(const RunSeries& s, const wave::Series& writes, const wave::Series& preparing,
                                double main_busy);

}  // namespace sawbill::analysis
