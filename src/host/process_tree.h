// SPDX-License-Identifier: Apache-2.0
// All processes at one moment, whose tree each belongs to, and what was spent from one moment to the next. Pure:
// numbers in, numbers out.
#pragma once

#include <cstdint>
#include <vector>

#include "host/process_stat.h"

namespace sawbill::host {

struct Process {
  ProcessStat stat;
  ProcessIo io;
  bool holder = false;    // holds a card
  int parent = -1;        // its place in the snapshot, -1 = not there
  int owner = -1;         // place of the card holder in whose tree it is; a holder owns itself
  int64_t owner_pid = 0;  // the same for the next look: places change, pid and start do not
  uint64_t owner_start = 0;
};

/// Ascending by pid.
struct Snapshot {
  std::vector<Process> processes;
  uint64_t newest_start = 0;  // of all of them
  /// -1 = not there.
  int Find(int64_t pid) const;
  int Find(int64_t pid, uint64_t start_ticks) const;
};

/// Fills `parent`, `owner` and what follows from them; `holder` must be set. `before` may be empty.
void AssignOwners(const Snapshot& before, Snapshot* now);

/// Since the look before; NaN = cannot be told.
struct Spent {
  double alone_ticks, ticks;         // by itself; with children that came and went
  double read_bytes, written_bytes;  // with those
};
/// One for each process of `now`.
std::vector<Spent> Differences(const Snapshot& before, const Snapshot& now);

}  // namespace sawbill::host
