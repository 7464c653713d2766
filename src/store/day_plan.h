// SPDX-License-Identifier: Apache-2.0
// Cuts the time of a folder into pieces of bounded size. Pure, but for looking up times inside a large day.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "model/recording.h"
#include "store/day_file.h"

namespace sawbill::store {

struct PlanLimits {
  std::optional<TimeMs> from, to;
  int64_t max_piece_bytes = 0;
};
struct PiecePlan {
  model::TimeRange period;               // of the samples within the limits
  std::vector<model::TimeRange> pieces;  // consecutive, together the period
};
/// `time_at(file, fraction)`: the time at a fraction of a file's bytes, where that can be told.
PiecePlan PlanPieces(const std::vector<DayFile>& files, const PlanLimits& limits, const TimeZone& tz,
                     const std::function<std::optional<TimeMs>(const DayFile&, double)>& time_at);

}  // namespace sawbill::store
