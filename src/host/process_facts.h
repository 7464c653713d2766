// SPDX-License-Identifier: Apache-2.0
// What changes seldom about a process: its name, its part, its user, its job, the cores that it may use. Read when it
// is first seen, once more at the next look (a child that was just forked still shows its parent's command line), then
// each minute.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "host/allowance.h"
#include "host/job_identity.h"
#include "host/process_name.h"
#include "host/process_tree.h"
#include "sys/proc_files.h"

namespace sawbill::host {

struct Facts {
  uint64_t start_ticks = 0;
  int looks = 0;
  int64_t read_us = 0;
  std::string comm, cmdline;
  Role role = Role::kPlain;
  CpuSet cpus;  // empty = cannot be told
  std::optional<uint32_t> uid;
  // Only of those that get a row.
  bool row = false;
  std::string membership;  // /proc/PID/cgroup
  JobIdentity identity;
  double started_s = 0;  // 0 = not asked yet, NaN = cannot be told
};

class FactsCache {
 public:
  FactsCache(sys::ProcFiles* files, uint32_t clock_ticks) : files_(files), clock_ticks_(clock_ticks) {}

  /// Once for each look at the processes, before the others.
  void Begin(int64_t steady_us, int64_t wall_ms);
  const Facts& Get(const Process& p) { return Fresh(p); }
  /// With what a row needs besides.
  const Facts& GetForRow(const Process& p);
  /// A child that multiprocessing started afresh is called like the program that started it.
  std::string Name(const Snapshot& now, int at);
  std::string User(const Process& p);
  AllowanceReader& allowances() { return *allowances_; }
  /// Forgets those that are gone.
  void End(const Snapshot& now);

 private:
  Facts& Fresh(const Process& p);
  double Started(const Process& p);

  sys::ProcFiles* files_;
  uint32_t clock_ticks_;
  int64_t now_us_ = 0, wall_ms_ = 0;
  std::optional<int64_t> allowances_us_;
  std::unique_ptr<AllowanceReader> allowances_;
  std::optional<double> boot_s_;  // within one look
  std::unordered_map<int64_t, Facts> facts_;
  std::string text_;
};

}  // namespace sawbill::host
