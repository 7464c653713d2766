// SPDX-License-Identifier: Apache-2.0
#include "host/scan.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace sawbill::host {
namespace {
constexpr uint64_t kMostCpus = 65536;  // beyond any kernel's NR_CPUS: a broken range must not fill the memory
}

std::string_view ValueOf(std::string_view text, std::string_view key) {
  while (const auto line = TakeLine(&text)) {
    if (!StartsWith(*line, key)) continue;
    const std::string_view rest = line->substr(key.size());
    if (rest.empty() || rest[0] == ' ' || rest[0] == '\t') return Trim(rest);
  }
  return {};
}

CpuSet ParseCpuList(std::string_view list) {
  CpuSet cpus;
  list = Trim(list);
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    const size_t dash = part.find('-');
    const auto first = ToU64(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : ToU64(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kMostCpus) return {};
    for (uint64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    list.remove_prefix(std::min(list.size(), part.size() + 1));
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

CpuSet Union(const CpuSet& a, const CpuSet& b) {
  CpuSet both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

CpuSet Intersection(const CpuSet& a, const CpuSet& b) {
  CpuSet both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

}  // namespace sawbill::host
