// SPDX-License-Identifier: Apache-2.0
// Dips, bursts and stretches of another level. Pure functions on one series.
#pragma once

#include <cstddef>
#include <vector>

namespace sawbill::wave {

/// A series with the time that each sample speaks for. Times in seconds from any origin, increasing; NaN = not read.
struct Series {
  std::vector<double> t_s;
  std::vector<float> v, dt_s;
  size_t size() const { return t_s.size(); }
  void Reserve(size_t n) {
    t_s.reserve(n);
    v.reserve(n);
    dt_s.reserve(n);
  }
};

struct Event {
  size_t first = 0, last = 0;  // samples, inclusive
  double start_s = 0, end_s = 0;
  double onset_s = 0;     // start to a fraction of a sample: how deep the first samples are tells when it began
  double centroid_s = 0;  // of the deficit: sub-second timing from 1 Hz samples
  double width_s = 0;     // deficit over full depth: the width of a rectangle of that depth
  double depth = 0;       // hi - lowest value
};

struct DipOptions {
  double enter = 0.75, leave = 0.85;  // of `hi`: hysteresis
  double min_depth = 10;              // points
};
/// Dips of `s` below `hi`. A missing sample or a hole (dt of the series' own coverage) ends a dip.
std::vector<Event> FindDips(const Series& s, double hi, const DipOptions& options = {});
/// Stretches above `threshold` (bursts of writes, of load).
std::vector<Event> FindBursts(const Series& s, double threshold);

/// A stretch in which the block means differ from the usual level.
struct LevelStretch {
  size_t first = 0, last = 0;
  double start_s = 0, end_s = 0;
  double level = 0;  // mean within
};
/// Recurring stretches below the usual level of `s` (evaluation), of at least `min_s`. Blocks of `block_s` are compared
/// with the usual level (upper mode); a stretch deviates by at least max(`min_drop`, 4 sigma of the blocks).
std::vector<LevelStretch> FindLowStretches(const Series& s, double block_s, double min_s, double min_drop);

/// One change of mean: the split that explains most, with the means on both sides.
struct MeanShift {
  bool found = false;
  size_t at = 0;
  double before = 0, after = 0;
  double t_value = 0;  // difference over its standard error (robust)
};
/// REQUIRES: values without NaN. Each side keeps at least `min_side` values.
MeanShift FindMeanShift(const std::vector<double>& v, size_t min_side);

}  // namespace sawbill::wave
