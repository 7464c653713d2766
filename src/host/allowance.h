// SPDX-License-Identifier: Apache-2.0
// How many cores a process may use, piece by piece: for the many processes of a table and for the machine's reader.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "host/cgroups.h"
#include "host/host_reader.h"
#include "host/scan.h"
#include "sys/proc_files.h"

namespace sawbill::host {

/// What is mounted and online is read once, quotas once for each group: make a new one each minute.
class AllowanceReader {
 public:
  explicit AllowanceReader(sys::ProcFiles* files);
  const Cgroups& cgroups() const { return cgroups_; }
  const CpuSet& online() const { return online_; }
  /// The processors that a /proc/PID/status allows and that are online; empty = cannot be told.
  CpuSet Cpus(std::string_view status) const;
  /// The tightest quota over a /proc/PID/cgroup, in cores; 0 = none.
  const CpuQuota& Quota(const std::string& membership);
  /// Processors or quota, whichever is less; 0 = cannot be told.
  double Cores(const CpuSet& cpus, const std::string& membership);
  /// All but physical_cores.
  Allowance Judge(const CpuSet& cpus, const std::string& membership);

 private:
  Cgroups cgroups_;
  CpuSet online_;
  std::map<std::string, CpuQuota> quotas_;
};

/// Distinct (package, die, core) among `cpus`; 0 when the system does not tell of one of them. `known` keeps what was
/// read: topology does not change while a machine is up.
int CountPhysicalCores(sys::ProcFiles* files, const CpuSet& cpus, std::map<int, std::string>* known);

}  // namespace sawbill::host
