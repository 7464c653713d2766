// SPDX-License-Identifier: Apache-2.0
// Is the process that /proc shows under a number the one that the driver means?
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "host/process_tree.h"
#include "sys/proc_files.h"

namespace sawbill::host {

class HolderCheck {
 public:
  explicit HolderCheck(sys::ProcFiles* files) : files_(files) {}
  /// Those of `pids` (as the driver gives them now) that are the processes of `now` with these numbers, beyond doubt.
  std::set<int64_t> Confirm(const Snapshot& before, const Snapshot& now, const std::set<int64_t>& pids,
                            int64_t steady_us);

 private:
  enum class Evidence { kUnread, kNone, kHoldsDevice };
  struct Known {
    std::optional<uint64_t> start;  // of the process under the number; nothing = there was none
    bool confirmed = false;
    Evidence evidence = Evidence::kUnread;
    int64_t looked_us = 0;
    bool stale = false;  // the driver named the number before this process had it
  };
  bool InFirstNamespace();
  Evidence Look(int64_t pid);

  sys::ProcFiles* files_;
  std::optional<bool> first_namespace_;
  std::map<int64_t, Known> known_;  // what the driver named at the last call
};

}  // namespace sawbill::host
