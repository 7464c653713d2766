// SPDX-License-Identifier: Apache-2.0
// Who holds a card when. A run is a stretch of time in which one job (job name and user, else user and program) holds
// one or more cards without its processes being replaced. Pure: rows in, spans out.
#pragma once

#include <string>
#include <vector>

#include "model/recording.h"

namespace sawbill::jobs {

/// One process on one card, from its first row to its last.
struct Hold {
  size_t card = 0;
  int64_t pid = 0;
  model::TimeRange seen;     // first and last row
  std::vector<size_t> rows;  // indices into Recording::processes
};

struct Run {
  std::string job, user, program, node;
  std::vector<size_t> cards;  // sorted
  std::vector<Hold> holds;
  model::TimeRange range;    // from the earliest process start (not before the first row's interval) to the last row
  bool start_known = false;  // `started` was recorded and lies within the recording
  bool ends_after = false;   // still there in the last rows of the recording
};

/// Runs by time of start. Rows whose card is -1 hold none and belong to no run. `interval_s` is the median distance of
/// process rows; a hold that is silent for more than 3 intervals ends and a later one begins a new run.
std::vector<Run> FindRuns(const model::Recording& r);

/// Median seconds between the process rows of one (pid, card); 0 without rows.
double ProcessInterval(const model::Recording& r);

}  // namespace sawbill::jobs
