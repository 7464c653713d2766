// SPDX-License-Identifier: Apache-2.0
// Minute rollups: minute-YYYY-MM-DD.csv from the samples of a card, weighted by the time that each sample speaks for.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/recording.h"
#include "store/csv_line.h"

namespace sawbill::store {

/// One minute of one card: (t_ms - 60 s, t_ms]. NaN where nothing was read.
struct MinuteRow {
  TimeMs t_ms = 0;
  std::string gpu;
  double covered_s = 0;  // of the 60 seconds, spoken for by some sample
  struct Summary {
    double mean = kMissing, min = kMissing, max = kMissing;
  };
  /// By metric. Throttle: no mean; min = reasons set all the time, max = reasons set at any time.
  std::array<Summary, model::kGpuMetrics> metrics;
  double sm_util_p50 = kMissing, sm_util_p95 = kMissing;
  double low_s = kMissing;  // seconds with sm_util below 20; missing when sm_util was never read
};

/// Minutes of `track` in which some time is covered, those in (from, to] of the days' own clock only.
std::vector<MinuteRow> MinuteRows(const model::GpuTrack& track, TimeMs from, TimeMs to);
/// Cells after the timestamp, in the order of MinuteColumns().
void MakeMinuteRow(const MinuteRow& minute, RowText* row);

}  // namespace sawbill::store
