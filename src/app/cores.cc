// SPDX-License-Identifier: Apache-2.0
// In a container rented by the hour the host's core count says nothing: eight workers for "128 cores" starve on a quota
// of four. The quota stands in cpu.max (cgroup v2) of the process's group or any above it, or in cpu.cfs_quota_us (v1);
// the cpuset in Cpus_allowed_list of /proc/self/status.
#include <algorithm>

#include "app/doctor.h"
#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::app {
namespace {

std::string ReadSmall(Environment* env, const std::string& path) {
  const auto bytes = env->fs->Map(path);
  return bytes.ok() ? std::string((*bytes)->bytes()) : std::string();
}

/// "0-3,8,10-11" -> 7.
double CountList(std::string_view list) {
  double count = 0;
  for (std::string_view part : Split(Trim(list), ',')) {
    const size_t dash = part.find('-');
    const auto first = ParseInt(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : ParseInt(part.substr(dash + 1));
    if (!first || !last || *last < *first) return 0;
    count += static_cast<double>(*last - *first + 1);
  }
  return count;
}

double AllowedList(Environment* env) {
  const std::string status = ReadSmall(env, "/proc/self/status");
  for (std::string_view line : Split(status, '\n')) {
    if (StartsWith(line, "Cpus_allowed_list:")) return CountList(line.substr(line.find(':') + 1));
  }
  return 0;
}

/// "200000 100000" -> 2; "max 100000" -> none.
double QuotaV2(const std::string& text) {
  const auto parts = Split(Trim(text), ' ');
  if (parts.size() != 2) return 0;
  const auto quota = ParseDouble(parts[0]), period = ParseDouble(parts[1]);
  return quota && period && *quota > 0 && *period > 0 ? *quota / *period : 0;
}

/// The smallest quota of the process's group and all above it; 0 = none.
double Quota(Environment* env) {
  double least = 0;
  const auto take = [&](double q) {
    if (q > 0 && (least == 0 || q < least)) least = q;
  };
  std::string path = "/";
  const std::string groups = ReadSmall(env, "/proc/self/cgroup");
  for (std::string_view line : Split(groups, '\n')) {
    if (StartsWith(line, "0::")) path = std::string(line.substr(3));
  }
  for (;; path = sys::DirName(path)) {
    take(QuotaV2(ReadSmall(env, "/sys/fs/cgroup" + (path == "/" ? std::string() : path) + "/cpu.max")));
    if (path == "/" || path == "." || path.empty()) break;
  }
  const auto quota = ParseDouble(ReadSmall(env, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"));
  const auto period = ParseDouble(ReadSmall(env, "/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
  if (quota && period && *quota > 0 && *period > 0) take(*quota / *period);
  return least;
}

}  // namespace

Cores ReadCores(Environment* env) {
  Cores cores;
  cores.host = CountList(ReadSmall(env, "/sys/devices/system/cpu/online"));
  const double list = AllowedList(env), quota = Quota(env);
  cores.allowed = list > 0 ? list : cores.host;
  if (quota > 0) cores.allowed = cores.allowed > 0 ? std::min(cores.allowed, quota) : quota;
  return cores;
}

}  // namespace sawbill::app
