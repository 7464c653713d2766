// SPDX-License-Identifier: Apache-2.0
// Steps of the wall clock: noticed against the steady clock by the writer, taken back by the reader, so that hours
// follow the steady clock. The rules stand at the head of clock_fix.cc and in docs/formats/day-files.md.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/recording.h"

namespace sawbill::store {

/// One reading of both clocks. The steady one should count suspended time (CLOCK_BOOTTIME), or each sleep of the
/// machine looks like a step.
struct Tick {
  TimeMs wall = 0;
  int64_t steady_ms = 0;
};

/// The wall clock moved by `offset_ms` against the steady one before `at` (`at` is on the new clock).
struct ClockStep {
  TimeMs at = 0;
  int64_t offset_ms = 0;
  std::string detail() const;  // "offset_s=-7200.0"
};
/// Reads `offset_s=` from an event's detail.
std::optional<int64_t> ParseOffsetMs(std::string_view detail);

inline constexpr int64_t kClockStepThresholdMs = 1000;

/// Compares the two clocks from tick to tick. Slow drift and slewing stay under the threshold and are no step.
class ClockWatch {
 public:
  explicit ClockWatch(int64_t threshold_ms = kClockStepThresholdMs) : threshold_ms_(threshold_ms) {}
  std::optional<ClockStep> Observe(Tick tick);

 private:
  int64_t threshold_ms_;
  std::optional<Tick> last_;
};

/// What the events of one node say about its clock. Built once, read by many threads.
class ClockFix {
 public:
  ClockFix() = default;
  /// `events` in the order of their rows.
  explicit ClockFix(const std::vector<model::EventRow>& events);
  bool empty() const { return steps_ == 0; }
  int64_t steps() const { return steps_; }

 private:
  friend class ClockCursor;
  // A stretch between two borders (a step, or the start of a collector), in the file's own times.
  struct Segment {
    bool step = false;  // what it begins with
    TimeMs from = std::numeric_limits<TimeMs>::min();
    TimeMs end = std::numeric_limits<TimeMs>::max();  // the old clock when the next segment began
    int64_t offset_ms = 0;                            // of the step that it begins with
    int64_t shift_ms = 0;                             // to add to its times
  };
  std::vector<Segment> segments_;
  int64_t steps_ = 0;
};

/// Walks through one file's rows in their order and gives their times on the clock as it was after the last step.
class ClockCursor {
 public:
  explicit ClockCursor(const ClockFix* fix) : fix_(fix) {}
  /// A header line stands before the next row: writers put one after each step.
  void OnHeader() { header_ = true; }
  TimeMs Fix(TimeMs raw);

 private:
  bool Advances(TimeMs raw) const;
  const ClockFix* fix_;
  size_t at_ = 0;
  std::optional<TimeMs> last_raw_;
  bool header_ = false;
};

}  // namespace sawbill::store
