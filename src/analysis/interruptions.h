// SPDX-License-Identifier: Apache-2.0
// What interrupts a run as a whole: saves, evaluations, logging, stalls, idle stretches, a hang. Found on the mean over
// the cards of the job, since an interruption stops them all.
#pragma once

#include <utility>
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
  size_t cards = 1;
  bool covered = false;     // a reading of utilisation speaks for its whole interval: nothing can alias
  bool mean_power = false;  // so does one of power (an energy counter): it sees what polls miss
};
RunSeries MakeRunSeries(const std::vector<const PreparedCard*>& cards, model::TimeRange active);

/// The longest intervals between samples at which saves, and the pauses of logging, can be seen.
inline constexpr double kCoarsestForSavesS = 10, kCoarsestForLoggingS = 2;

/// True where `looks` quiet ones in a row, among `all` of which `share` are quiet, are no accident (one in a hundred
/// such records). A card that nine looks in ten find idle is idle however that is spread.
bool LongerThanChance(size_t looks, double share, size_t all);

/// What the host and the job's processes did meanwhile. Empty series and NaN = not known.
struct Witnesses {
  wave::Series disk_writes, net_writes;  // MB/s
  wave::Series preparing;                // how busy loader workers are (0-1)
  double main_busy = kMissing;           // CPU cores of the main process
};

/// Quiet time from which a stretch counts as idle rather than as an interruption of a running job.
inline constexpr double kIdleStretchS = 60.0;

Interruptions FindInterruptions(const RunSeries& s, const Witnesses& w);

/// Stretches in which all cards of the job spin (or, to the end of the record, do next to nothing that moves). By time.
std::vector<std::pair<double, double>> FindHangs(const RunSeries& s);

}  // namespace sawbill::analysis
