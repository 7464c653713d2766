// SPDX-License-Identifier: Apache-2.0
// Which limits a control group puts on a process: processor quota and memory, of any level. Version 1, version 2, and
// both at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sys/proc_files.h"

namespace sawbill::host {

struct CpuQuota {
  double cores = 0;      // quota / period of the tightest group, 0 = no limit in sight
  std::string usage;     // the file that counts that group's processor time, "" = none
  std::string pressure;  // its cpu.pressure; "" under version 1
  std::string io_pressure;
  bool v2 = false;
};
struct MemoryLimit {
  double bytes = 0;  // of the tightest group, 0 = no limit in sight
  std::string used, stat, pressure;
  bool v2 = false;
};

class Cgroups {
 public:
  /// Reads what is mounted where: /proc/self/mountinfo.
  explicit Cgroups(sys::ProcFiles* files);

  /// `membership`: the text of a /proc/PID/cgroup.
  CpuQuota Quota(std::string_view membership) const;
  MemoryLimit Memory(std::string_view membership) const;
  /// The processors that the group's cpuset holds, as text; "" = no cpuset in sight.
  std::string Cpuset(std::string_view membership) const;

 private:
  struct Mount {
    bool v2 = false;
    std::string controllers;  // ",cpu,cpuacct," of version 1
    std::string root, dir;    // the group that the folder `dir` shows
  };
  struct Chain {
    bool v2 = false;
    std::vector<std::string> dirs;  // the process's own group first, then those above it
  };
  Chain Find(std::string_view membership, std::string_view controller) const;
  void Append(const Mount& mount, std::string_view group, Chain* chain) const;
  std::string Usage(std::string_view membership, const Chain& chain, size_t level) const;
  std::string Text(const std::string& path) const;

  sys::ProcFiles* files_;
  std::vector<Mount> mounts_;
};

}  // namespace sawbill::host
