// SPDX-License-Identifier: Apache-2.0
// One card made ready for analysis: the time that each sample speaks for, and a utilisation that says whether it can be
// judged. NVML's GPU-Util is preferred; where it is absent (under MIG) the engine-active ratio stands in, and where the
// two contradict each other that ratio is right: it is counted by the hardware over the whole interval, while GPU-Util
// is a look at its last moment (of a page that is scraped every 30 s the last second at most).
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "model/recording.h"
#include "wave/events.h"

namespace sawbill::analysis {

/// A record with more seconds between its samples cannot show the shape of the load: each sample looks at its last
/// second or less. What stands next to one another is then no stretch, and only means and shares are judged.
inline constexpr double kFinestShapeS = 5;
/// The fewest looks of a coarse record from which the level of a run is told.
inline constexpr size_t kLeastLooks = 10;

struct PreparedCard {
  const model::GpuTrack* track = nullptr;
  model::Coverage coverage;
  std::vector<float> util;  // percent; NaN = cannot be told
  std::vector<float>
      power_w;  // mean over the interval: from the energy counter where there is one, else the power reading
  bool power_is_mean = false;      // from the energy counter: it sees what polls miss
  bool util_from_engine = false;   // all of it
  bool util_contradicted = false;  // GPU-Util was there, and was not taken
  bool has_util = false, has_power = false, has_memory = false;
  double idle_w = kMissing;  // mean power of samples without a kernel; NaN when there are too few
  double work_w = kMissing;  // median power of samples at half load or more; NaN when there are fewer than ten
  double limit_w = kMissing;
  double memory_total_mb = kMissing;
  /// The throttle bits of power that cost something: an external brake, and the cap where the limit was set below the
  /// card's own. At that (or where the card's own is not known) lower clocks under full load are no loss that can be
  /// had back.
  unsigned costly_power_bits = 0;

  size_t size() const { return track->size(); }
  double dt(size_t i) const { return coverage.dt_s[i]; }
  TimeMs t(size_t i) const { return track->t_ms[i]; }
  bool coarse() const { return coverage.median_interval_s > kFinestShapeS; }
  /// First sample after `t`.
  size_t UpperBound(TimeMs t) const;
  /// Samples in (range.from, range.to].
  std::pair<size_t, size_t> Range(model::TimeRange range) const;
  /// Power above idle as a share of what lies between idle and the limit; NaN when unknown.
  double PowerShare(double watts) const {
    if (IsMissing(limit_w) || limit_w <= 0) return kMissing;
    if (IsMissing(idle_w) || idle_w >= limit_w) return watts / limit_w;
    return std::max(0.0, (watts - idle_w) / (limit_w - idle_w));
  }
};

PreparedCard Prepare(const model::GpuTrack& track);
/// Cuts what the samples speak for to `clip`: a sample before it moves to its beginning, one behind it to its end, and
/// so do counters. REQUIRES: `card` prepared from `track`, at most one sample beyond each end.
void ClipTo(model::TimeRange clip, model::GpuTrack* track, PreparedCard* card);

/// A metric of a card in [first,last) as a series with the card's own coverage; seconds from `origin`.
wave::Series SeriesOf(const PreparedCard& c, const std::vector<float>& column, size_t first, size_t last,
                      TimeMs origin);
/// The same for a host metric.
wave::Series SeriesOf(const model::HostTrack& h, model::HostMetric m, model::TimeRange range, TimeMs origin);

}  // namespace sawbill::analysis
