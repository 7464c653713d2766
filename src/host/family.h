// SPDX-License-Identifier: Apache-2.0
// A process and all that it started, as far as the kernel still tells.
#pragma once

#include <cstdint>
#include <vector>

#include "sys/proc_files.h"

namespace sawbill::host {

/// A process is its number and its start: numbers are used again.
struct ProcessKey {
  bool alive = false;  // there, and no zombie
  uint64_t started_ticks = 0;
};
ProcessKey FindProcess(sys::ProcFiles* files, int64_t pid);

/// `pid` and its living descendants.
std::vector<int64_t> Family(sys::ProcFiles* files, int64_t pid);

}  // namespace sawbill::host
