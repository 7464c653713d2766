// SPDX-License-Identifier: Apache-2.0
#include "host/family.h"

#include <map>
#include <optional>
#include <string>

#include "host/process_stat.h"

namespace sawbill::host {
namespace {

std::optional<ProcessStat> ReadStat(sys::ProcFiles* files, int64_t pid, std::string* buffer) {
  ProcessStat stat;
  if (!files->Read("/proc/" + std::to_string(pid) + "/stat", buffer) || !ParseProcessStat(*buffer, &stat))
    return std::nullopt;
  return stat;
}

}  // namespace

ProcessKey FindProcess(sys::ProcFiles* files, int64_t pid) {
  std::string buffer;
  const auto stat = ReadStat(files, pid, &buffer);
  if (!stat) return {};
  return {!stat->defunct(), stat->defunct() ? 0 : stat->start_ticks};
}

std::vector<int64_t> Family(sys::ProcFiles* files, int64_t pid) {
  std::multimap<int64_t, int64_t> children;
  std::string buffer;
  for (const int64_t other : files->ListNumbers("/proc")) {
    if (const auto stat = ReadStat(files, other, &buffer)) children.emplace(stat->parent, other);
  }
  std::vector<int64_t> out = {pid};
  for (size_t i = 0; i < out.size() && out.size() < 100'000; ++i) {
    const auto [from, to] = children.equal_range(out[i]);
    for (auto it = from; it != to; ++it) out.push_back(it->second);
  }
  return out;
}

}  // namespace sawbill::host
