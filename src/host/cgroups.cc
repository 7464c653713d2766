// SPDX-License-Identifier: Apache-2.0
// /proc/PID/cgroup names the group of a process in each hierarchy:
//   0::/kubepods.slice/pod1          version 2
//   4:cpu,cpuacct:/docker/3f2a       version 1, one line for each set of controllers
// On a hybrid host both kinds are there and a controller is bound to one of them: to version 1 when it has a line.
//
// The path is as seen from the reader's cgroup namespace, the folder under /sys/fs/cgroup shows the group that field 4
// of /proc/self/mountinfo names. Under Docker with version 1 the file says /docker/3f2a while the folder *is* that
// group, so its own path must be taken off first. A path that begins with "/.." lies outside of the namespace: another
// container's process, whose limits cannot be seen from here.
//
// A limit may stand on any level, and the tightest counts: Kubernetes limits the pod, Slurm the job, systemd the slice.
// Limits above the namespace's root are invisible; a fully used quota then shows only as pressure.
#include "host/cgroups.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "host/scan.h"

namespace sawbill::host {
namespace {

constexpr double kNoLimitV1 = 1e18;  // "no limit" is PAGE_COUNTER_MAX, a little below 2^63

bool HasController(std::string_view list, std::string_view controller) {
  const auto names = Split(list, ',');
  return std::find(names.begin(), names.end(), controller) != names.end();
}

/// "200000 100000" -> 2; "max 100000" -> 0.
double QuotaV2(std::string_view text) {
  const auto quota = TakeU64(&text), period = TakeU64(&text);
  return quota && period && *quota > 0 && *period > 0 ? static_cast<double>(*quota) / static_cast<double>(*period) : 0;
}

/// -1 = none.
double QuotaV1(std::string_view quota_text, std::string_view period_text) {
  const auto quota = ToU64(Trim(quota_text)), period = ToU64(Trim(period_text));
  return quota && period && *quota > 0 && *period > 0 ? static_cast<double>(*quota) / static_cast<double>(*period) : 0;
}

bool Tighter(double candidate, double so_far) { return candidate > 0 && (so_far == 0 || candidate < so_far); }

}  // namespace

Cgroups::Cgroups(sys::ProcFiles* files) : files_(files) {
  const std::string text = Text("/proc/self/mountinfo");
  std::string_view rest = text;
  while (auto line = TakeLine(&rest)) {
    // 41 31 0:37 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate
    const size_t dash = line->find(" - cgroup");
    if (dash == std::string_view::npos) continue;
    std::string_view left = line->substr(0, dash), right = line->substr(dash + 3);
    for (int skipped = 0; skipped < 3; ++skipped) TakeWord(&left);
    Mount mount;
    mount.root = TakeWord(&left);
    mount.dir = TakeWord(&left);
    mount.v2 = TakeWord(&right) == "cgroup2";
    TakeWord(&right);
    mount.controllers = TakeWord(&right);
    mounts_.push_back(std::move(mount));
  }
}

std::string Cgroups::Text(const std::string& path) const {
  std::string text;
  files_->Read(path, &text);
  return text;
}

void Cgroups::Append(const Mount& mount, std::string_view group, Chain* chain) const {
  if (StartsWith(group, "/..")) return;
  if (mount.root != "/") {
    const bool below = group == mount.root || StartsWith(group, mount.root + "/");
    group = below ? group.substr(mount.root.size()) : std::string_view();
  }
  while (!group.empty() && group != "/") {
    chain->dirs.push_back(mount.dir + std::string(group));
    group = group.substr(0, group.rfind('/'));
  }
  chain->dirs.push_back(mount.dir);
}

Cgroups::Chain Cgroups::Find(std::string_view membership, std::string_view controller) const {
  std::string_view v1_group, v2_group;
  bool in_v1 = false, in_v2 = false;
  while (const auto line = TakeLine(&membership)) {
    const size_t first = line->find(':'), second = line->find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line->substr(first + 1, second - first - 1);
    if (controllers.empty()) {
      in_v2 = true;
      v2_group = line->substr(second + 1);
    } else if (HasController(controllers, controller)) {
      in_v1 = true;
      v1_group = line->substr(second + 1);
    }
  }
  Chain chain;
  if (!in_v1 && !in_v2) return chain;
  chain.v2 = !in_v1;
  for (const Mount& mount : mounts_) {
    if (mount.v2 == chain.v2 && (mount.v2 || HasController(mount.controllers, controller))) {
      Append(mount, in_v1 ? v1_group : v2_group, &chain);
      return chain;
    }
  }
  // No mountinfo (gVisor, a masked /proc): where every distribution puts it.
  const std::string usual = in_v1 ? "/sys/fs/cgroup/" + std::string(controller) : "/sys/fs/cgroup";
  Append({chain.v2, "", "/", usual}, in_v1 ? v1_group : v2_group, &chain);
  return chain;
}

/// Version 1 counts processor time under another controller, cpuacct, which is most often mounted with cpu. When it is
/// not, a group of the same depth need not be the same group: its path must be.
std::string Cgroups::Usage(std::string_view membership, const Chain& chain, size_t level) const {
  if (chain.v2) return chain.dirs[level] + "/cpu.stat";
  const Chain account = Find(membership, "cpuacct");
  if (account.v2 || account.dirs.size() != chain.dirs.size()) return "";
  const auto below = [](const Chain& c, size_t i) { return c.dirs[i].substr(c.dirs.back().size()); };
  return below(account, level) == below(chain, level) ? account.dirs[level] + "/cpuacct.usage" : "";
}

CpuQuota Cgroups::Quota(std::string_view membership) const {
  const Chain chain = Find(membership, "cpu");
  CpuQuota least;
  least.v2 = chain.v2;
  for (size_t level = 0; level < chain.dirs.size(); ++level) {
    const std::string& dir = chain.dirs[level];
    const double cores = chain.v2 ? QuotaV2(Text(dir + "/cpu.max"))
                                  : QuotaV1(Text(dir + "/cpu.cfs_quota_us"), Text(dir + "/cpu.cfs_period_us"));
    if (!Tighter(cores, least.cores)) continue;
    least.cores = cores;
    least.usage = Usage(membership, chain, level);
    if (chain.v2) {
      least.pressure = dir + "/cpu.pressure";
      least.io_pressure = dir + "/io.pressure";
    }
  }
  return least;
}

MemoryLimit Cgroups::Memory(std::string_view membership) const {
  const Chain chain = Find(membership, "memory");
  MemoryLimit least;
  least.v2 = chain.v2;
  for (const std::string& dir : chain.dirs) {
    const auto limit = ToU64(Trim(Text(dir + (chain.v2 ? "/memory.max" : "/memory.limit_in_bytes"))));
    const double bytes = limit && static_cast<double>(*limit) < kNoLimitV1 ? static_cast<double>(*limit) : 0;
    if (!Tighter(bytes, least.bytes)) continue;
    least.bytes = bytes;
    least.used = dir + (chain.v2 ? "/memory.current" : "/memory.usage_in_bytes");
    least.stat = dir + "/memory.stat";
    least.pressure = chain.v2 ? dir + "/memory.pressure" : "";
  }
  return least;
}

std::string Cgroups::Cpuset(std::string_view membership) const {
  const Chain chain = Find(membership, "cpuset");
  for (const std::string& dir : chain.dirs) {
    for (const char* file : {"/cpuset.cpus.effective", "/cpuset.effective_cpus", "/cpuset.cpus"}) {
      const std::string text = Text(dir + file);
      if (!Trim(text).empty()) return text;
    }
  }
  return "";
}

}  // namespace sawbill::host
