// SPDX-License-Identifier: Apache-2.0
// The machine around the cards: processor, memory, disk, network, pressure. Cores are those that this process may use
// (cgroup v1/v2 quota of any level, cpuset, affinity), and percentages are of those: in a container of 2 cores on a
// host of 64 a full load is 100 %, not 3 %.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/metrics.h"
#include "sys/proc_files.h"

namespace sawbill::host {

/// Cores that a process may use, and why not more.
struct Allowance {
  double cores = 0;        // 0 = cannot be told; a quota gives fractions
  double host_cores = 0;   // online on the machine
  int physical_cores = 0;  // distinct (package, core) among the allowed, 0 = cannot be told
  enum class Limit { kNone, kAffinity, kCpuset, kQuota } limit = Limit::kNone;
};
/// `pid`: "self" or a number.
Allowance ReadAllowance(sys::ProcFiles* files, const std::string& pid);

/// THREAD: one at a time.
class HostReader {
 public:
  explicit HostReader(sys::ProcFiles* files);
  ~HostReader();
  /// NaN where the system does not tell; rates from the second call on. `steady_us` of CLOCK_MONOTONIC.
  model::HostValues Read(int64_t steady_us);

 private:
  struct Last;
  sys::ProcFiles* files_;
  std::unique_ptr<Last> last_;
};

}  // namespace sawbill::host
