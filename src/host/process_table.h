// SPDX-License-Identifier: Apache-2.0
// Processes that hold a card, with their trees: loader workers, siblings, what they read and burn. And those that hold
// none but take the cores that a loader needs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/job_identity.h"
#include "model/holder.h"
#include "model/metrics.h"
#include "sys/proc_files.h"

namespace sawbill::host {

struct ProcessRow {
  std::string gpu;  // "" = holds no card but matters
  int64_t pid = 0;
  std::string user, name;
  JobIdentity identity;
  model::ProcessValues values;
};

struct TableOptions {
  double hog_cores = 1.0;  // a process tree without a card is worth a row from this many cores
  size_t most_hogs = 5;
  uint32_t clock_ticks = 100;  // sysconf(_SC_CLK_TCK)
  int64_t page_bytes = 4096;
};

/// THREAD: one at a time.
class ProcessTable {
 public:
  ProcessTable(sys::ProcFiles* files, const TableOptions& options);
  ~ProcessTable();
  /// One row for each (pid, card), then the hogs. Rates are since the last call for that process (NaN at first sight).
  /// A pid that the system does not know, or that is another process than the driver means (PID namespaces), gets no
  /// name, user or tree: see the head of process_table.cc. `wall_ms` turns start ticks into Unix seconds.
  std::vector<ProcessRow> Read(int64_t steady_us, int64_t wall_ms, const std::vector<model::CardHolder>& holders);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sawbill::host
