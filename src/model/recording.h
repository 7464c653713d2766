// SPDX-License-Identifier: Apache-2.0
// Telemetry in memory: columns by metric, a track for each card and each host. A missing reading is NaN, never zero.
//
// A sample speaks for the time before it, (previous sample of that card, this one], at most 2.5 times the median
// interval; what is longer is unmeasured. Where the interval changes on the way, that of the stretch counts
// (stretches.cc). `Coverage` is the one place that applies this rule.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/numbers.h"
#include "base/status.h"
#include "base/time.h"
#include "model/data_quality.h"
#include "model/metrics.h"

namespace sawbill::model {

struct TimeRange {
  TimeMs from = 0, to = 0;  // (from, to]
  double seconds() const { return Seconds(to - from); }
  bool empty() const { return to <= from; }
};

/// One row of inventory.csv. Cards are identified by (node, uuid); `gpu` ("0", or "0.GI.CI" under MIG) is a label of
/// the day. Where no uuid is known (foreign logs) it is "".
struct CardInfo {
  std::string node, gpu, uuid, name, driver, label, parent_uuid;
  std::optional<double> memory_total_mb, power_limit_w, sm_clock_max_mhz, util_window_s, share;
  TimeMs from = 0;  // 0 = always
  /// The key for grouping across indices and days: node + uuid, or node + gpu where the uuid is unknown.
  std::string key() const { return node + "/" + (uuid.empty() ? "gpu" + gpu : uuid); }
};

/// All samples of one card, ordered by time, without duplicates.
struct GpuTrack {
  CardInfo card;
  std::vector<TimeMs> t_ms;
  std::array<std::vector<float>, kGpuMetrics> columns;  // empty = the column was never there; kThrottle holds the mask
  std::vector<double> energy_j;  // kEnergyJ: a counter needs a double; its float column stays empty

  size_t size() const { return t_ms.size(); }
  bool Has(GpuMetric m) const { return !columns[static_cast<size_t>(m)].empty(); }
  /// NaN where not read.
  float At(GpuMetric m, size_t i) const {
    const auto& c = columns[static_cast<size_t>(m)];
    return c.empty() ? static_cast<float>(kMissing) : c[i];
  }
};

struct HostTrack {
  std::string node;
  std::vector<TimeMs> t_ms;
  std::array<std::vector<float>, kHostMetrics> columns;

  size_t size() const { return t_ms.size(); }
  float At(HostMetric m, size_t i) const {
    const auto& c = columns[static_cast<size_t>(m)];
    return c.empty() ? static_cast<float>(kMissing) : c[i];
  }
};

/// Strings that repeat in every process row, kept once. Id 0 is "".
class StringPool {
 public:
  StringPool() { Intern(""); }
  uint32_t Intern(std::string_view s);
  const std::string& Get(uint32_t id) const { return strings_[id]; }

 private:
  std::vector<std::string> strings_;
  std::unordered_map<std::string, uint32_t> ids_;
};

struct ProcessRow {
  TimeMs t_ms = 0;
  int32_t card = -1;  // index into Recording::gpus, -1 = holds no card but matters
  int32_t host = 0;   // index into Recording::hosts, -1 = node unknown
  int64_t pid = 0;
  uint32_t user = 0, name = 0, job = 0;       // StringPool ids
  double started_s = kMissing;                // Unix seconds
  std::array<float, kProcessMetrics> values;  // NaN where empty; kStarted is in started_s
  float Value(ProcessMetric m) const { return values[static_cast<size_t>(m)]; }
};

struct RunRow {
  TimeMs t_ms = 0;
  std::string run, job, user, project, node, gpus, state, exit_status, program, batch_size, precision, seq_len,
      num_workers, prefetch_factor, ckpt_every, git_sha;
};

struct EventRow {
  TimeMs t_ms = 0;
  std::string node, kind, gpu, detail;
};

struct Recording {
  std::string source;  // path that the user gave
  std::string format;  // "sawbill day files", "nvidia-smi csv", ...
  bool simulated =
      false;  // a folder that holds a truth.json or a README that says so is a simulation, and is said to be
  std::vector<GpuTrack> gpus;
  std::vector<HostTrack> hosts;
  std::vector<ProcessRow> processes;  // by time
  std::vector<RunRow> runs;
  std::vector<EventRow> events;
  StringPool strings;
  DataQuality quality;
  std::vector<std::string> notes;  // what a reader of the report must know about this source, ready to print
};

/// Where recordings come from. Pieces are stretches of time small enough to hold in memory, in order of time.
class TelemetrySource {
 public:
  virtual ~TelemetrySource() = default;
  /// All cards that any piece can hold, and the whole period (first to last sample).
  virtual const std::vector<CardInfo>& cards() const = 0;
  virtual TimeRange period() const = 0;
  virtual const std::vector<TimeRange>& pieces() const = 0;
  /// THREAD: may be called from several threads at once, for different pieces.
  virtual Result<Recording> Read(size_t piece) const = 0;
  virtual std::string description() const = 0;
};

/// The time that each sample speaks for.
struct Coverage {
  std::vector<float> dt_s;       // seconds before sample i that it speaks for; 0 for the first
  double median_interval_s = 0;  // 0 with fewer than two samples; where it changes, that of half of the time
  double other_interval_s = 0;   // where it changes, the interval that lasted longest beside that one; else 0
  double covered_s = 0;          // sum of dt_s
  double hole_s = 0;             // time between first and last sample that no sample speaks for
  int64_t holes = 0;
};
inline constexpr double kMaxIntervalFactor = 2.5;
Coverage Cover(const std::vector<TimeMs>& t_ms);

/// Sorts by time and drops samples with a time already seen, column by column; counts what it dropped.
void SortAndDeduplicate(GpuTrack* track, DataQuality* quality);
void SortAndDeduplicate(HostTrack* track, DataQuality* quality);

}  // namespace sawbill::model
