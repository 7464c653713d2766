// SPDX-License-Identifier: Apache-2.0
// In a container rented by the hour the host's core count says nothing: eight workers for "128 cores" starve on a quota
// of four. Three things limit a process, and the tightest counts:
//   affinity  Cpus_allowed_list of /proc/PID/status. The kernel keeps it inside the cpuset, so it stands for both. It
//             also names processors that could be plugged in (0-127 on a machine of two is common): only those online
//             are counted. lxcfs shows a container its own numbering in /sys/devices/system/cpu/online; where the two
//             have nothing in common, the affinity alone is right.
//   cpuset    looked at only to say which of the two it was.
//   quota     cpu.max (version 2) or cpu.cfs_quota_us (version 1) of the process's group or any above it.
#include "host/allowance.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"

namespace sawbill::host {
namespace {

std::string Text(sys::ProcFiles* files, const std::string& path) {
  std::string text;
  files->Read(path, &text);
  return text;
}

}  // namespace

AllowanceReader::AllowanceReader(sys::ProcFiles* files)
    : cgroups_(files), online_(ParseCpuList(Text(files, "/sys/devices/system/cpu/online"))) {}

CpuSet AllowanceReader::Cpus(std::string_view status) const {
  const CpuSet allowed = ParseCpuList(ValueOf(status, "Cpus_allowed_list:"));
  if (allowed.empty()) return {};
  CpuSet both = Intersection(allowed, online_);
  return both.empty() ? allowed : both;
}

const CpuQuota& AllowanceReader::Quota(const std::string& membership) {
  const auto it = quotas_.find(membership);
  if (it != quotas_.end()) return it->second;
  return quotas_.emplace(membership, cgroups_.Quota(membership)).first->second;
}

double AllowanceReader::Cores(const CpuSet& cpus, const std::string& membership) {
  const auto all = static_cast<double>(cpus.empty() ? online_.size() : cpus.size());
  const double quota = Quota(membership).cores;
  return quota > 0 && (all <= 0 || quota < all) ? quota : all;
}

Allowance AllowanceReader::Judge(const CpuSet& cpus, const std::string& membership) {
  Allowance a;
  a.host_cores = static_cast<double>(online_.size());
  a.cores = Cores(cpus, membership);
  if (!cpus.empty() && cpus.size() < online_.size()) {
    const CpuSet group = Intersection(ParseCpuList(cgroups_.Cpuset(membership)), online_);
    a.limit = group == cpus ? Allowance::Limit::kCpuset : Allowance::Limit::kAffinity;
  }
  const double quota = Quota(membership).cores;
  if (quota > 0 && a.cores == quota && (cpus.empty() || quota < static_cast<double>(cpus.size()))) {
    a.limit = Allowance::Limit::kQuota;
  }
  return a;
}

int CountPhysicalCores(sys::ProcFiles* files, const CpuSet& cpus, std::map<int, std::string>* known) {
  std::set<std::string> cores;
  for (const int cpu : cpus) {
    auto it = known->find(cpu);
    if (it == known->end()) {
      const std::string dir = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
      const std::string core = Text(files, dir + "core_id");
      if (Trim(core).empty()) return 0;
      // core_id counts anew in each package, and on some packages in each die (kernels before 5.2 know none).
      std::string key = Text(files, dir + "physical_package_id") + "/" + Text(files, dir + "die_id") + "/" + core;
      it = known->emplace(cpu, std::move(key)).first;
    }
    cores.insert(it->second);
  }
  return static_cast<int>(cores.size());
}

Allowance ReadAllowance(sys::ProcFiles* files, const std::string& pid) {
  AllowanceReader reader(files);
  const CpuSet cpus = reader.Cpus(Text(files, "/proc/" + pid + "/status"));
  Allowance a = reader.Judge(cpus, Text(files, "/proc/" + pid + "/cgroup"));
  std::map<int, std::string> known;
  a.physical_cores = CountPhysicalCores(files, cpus.empty() ? reader.online() : cpus, &known);
  // Two quota cores of a large machine run on two physical ones at most, whichever those are.
  a.physical_cores = std::min(a.physical_cores, static_cast<int>(std::ceil(a.cores)));
  return a;
}

}  // namespace sawbill::host
