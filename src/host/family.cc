// SPDX-License-Identifier: Apache-2.0
#include "host/family.h"

#include <map>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::host {
namespace {

struct Stat {
  char state = '?';
  int64_t parent = 0;
  uint64_t started = 0;
};

/// The second field is the program's name and may hold anything: what counts stands behind the last ')'.
std::optional<Stat> ParseStat(std::string_view text) {
  const size_t end = text.rfind(')');
  if (end == std::string_view::npos || end + 2 >= text.size()) return std::nullopt;
  const auto fields = Split(text.substr(end + 2), ' ');
  if (fields.size() < 20 || fields[0].empty()) return std::nullopt;
  const auto parent = ParseInt(fields[1]), started = ParseInt(fields[19]);
  if (!parent || !started) return std::nullopt;
  return Stat{fields[0][0], *parent, static_cast<uint64_t>(*started)};
}

std::optional<Stat> ReadStat(sys::ProcFiles* files, int64_t pid, std::string* buffer) {
  if (!files->Read("/proc/" + std::to_string(pid) + "/stat", buffer)) return std::nullopt;
  return ParseStat(*buffer);
}

}  // namespace

ProcessKey FindProcess(sys::ProcFiles* files, int64_t pid) {
  std::string buffer;
  const auto stat = ReadStat(files, pid, &buffer);
  if (!stat) return {};
  return {stat->state != 'Z' && stat->state != 'X', stat->state == 'Z' ? 0 : stat->started};
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
