// SPDX-License-Identifier: Apache-2.0
// Rows of run-*.csv from process rows: a run begins when a job's first process holds a card, changes when its cards
// change, and ends when none of its processes was seen for three rounds. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/process_table.h"
#include "model/recording.h"

namespace sawbill::collect {

class RunTracker {
 public:
  explicit RunTracker(std::string node) : node_(std::move(node)) {}
  /// Rows of one round of process lists, with `t` in the rows' own time. Returns rows to write.
  std::vector<model::RunRow> Observe(TimeMs t, const std::vector<host::ProcessRow>& rows);
  /// The recorder stops: the runs go on without it, so nothing is ended.
  size_t open_runs() const { return runs_.size(); }

 private:
  struct Run {
    model::RunRow row;
    std::set<std::string> gpus;
    TimeMs seen = 0;
    int silent = 0;
  };
  std::string node_;
  std::map<std::string, Run> runs_;
};

}  // namespace sawbill::collect
