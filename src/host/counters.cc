// SPDX-License-Identifier: Apache-2.0
#include "host/counters.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "host/scan.h"

namespace sawbill::host {
namespace {

bool AllDigits(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// sda -> sda1, nvme0n1 -> nvme0n1p2.
bool IsPartitionOf(std::string_view name, std::string_view disk) {
  if (disk.empty() || !StartsWith(name, disk) || name.size() == disk.size()) return false;
  std::string_view rest = name.substr(disk.size());
  if (!AllDigits(disk.substr(disk.size() - 1))) return AllDigits(rest);
  return rest[0] == 'p' && AllDigits(rest.substr(1));
}

template <size_t N>
bool StartsWithAny(std::string_view name, const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return StartsWith(name, p); });
}

}  // namespace

std::vector<CpuTicks> ParseCpuLines(std::string_view proc_stat) {
  std::vector<CpuTicks> cpus;
  while (auto line = TakeLine(&proc_stat)) {
    if (!StartsWith(*line, "cpu")) break;  // they come first; the interrupt line behind them may have 10,000 words
    const auto id = ToU64(TakeWord(&*line).substr(3));
    if (!id) continue;  // the sum of all
    std::array<uint64_t, 8> ticks{};
    size_t n = 0;
    for (; n < ticks.size(); ++n) {
      const auto v = TakeU64(&*line);
      if (!v) break;
      ticks[n] = *v;
    }
    if (n < 4) continue;  // kernels before 2.6 had four fields; iowait is then unknown, and 0 in every difference
    cpus.push_back(
        {static_cast<int>(*id), ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7], ticks[3], ticks[4]});
  }
  return cpus;
}

double ParseBootTime(std::string_view proc_stat) {
  const auto boot = ToU64(ValueOf(proc_stat, "btime"));
  return boot ? static_cast<double>(*boot) : 0;
}

std::vector<DiskCounters> ParseDisks(std::string_view diskstats, const std::function<bool(std::string_view)>& wanted) {
  std::vector<DiskCounters> disks;
  while (auto line = TakeLine(&diskstats)) {
    TakeWord(&*line);  // major, minor
    TakeWord(&*line);
    const std::string_view name = TakeWord(&*line);
    if (name.empty() || !wanted(name)) continue;
    // reads merged sectors ms | writes merged sectors ms | in-flight busy-ms weighted-ms | discards, flushes
    std::array<uint64_t, 10> v{};
    size_t n = 0;
    for (; n < v.size(); ++n) {
      const auto word = TakeU64(&*line);
      if (!word) break;
      v[n] = *word;
    }
    if (n == v.size()) disks.push_back({std::string(name), v[2], v[6], v[9]});
  }
  return disks;
}

bool StandsOnOtherDisks(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kPrefixes = {"loop", "ram", "zram", "dm-",  "md",
                                                                 "sr",   "fd",  "zd",   "drbd", "bcache"};
  return StartsWithAny(name, kPrefixes);
}

std::vector<std::string> WholeDisks(const std::vector<std::string>& sys_block, std::string_view diskstats) {
  std::vector<std::string> names;
  if (!sys_block.empty()) {
    for (std::string name : sys_block) {
      std::replace(name.begin(), name.end(), '!', '/');  // sysfs cannot hold the slash of cciss/c0d0
      if (!StandsOnOtherDisks(name)) names.push_back(std::move(name));
    }
    return names;
  }
  ParseDisks(diskstats, [&](std::string_view name) {
    if (!StandsOnOtherDisks(name)) names.emplace_back(name);
    return false;
  });
  const std::vector<std::string> all = names;
  std::erase_if(names, [&](const std::string& name) {
    return std::any_of(all.begin(), all.end(), [&](const std::string& disk) { return IsPartitionOf(name, disk); });
  });
  return names;
}

std::vector<NetCounters> ParseNet(std::string_view net_dev) {
  std::vector<NetCounters> interfaces;
  while (const auto line = TakeLine(&net_dev)) {
    const size_t colon = line->rfind(':');  // an alias is eth0:1; old kernels leave no blank behind the colon
    if (colon == std::string_view::npos) continue;
    std::string_view rest = line->substr(colon + 1);
    const auto rx = TakeU64(&rest);
    for (int skipped = 0; skipped < 7; ++skipped) TakeWord(&rest);
    const auto tx = TakeU64(&rest);
    if (rx && tx) interfaces.push_back({std::string(Trim(line->substr(0, colon))), *rx, *tx});
  }
  return interfaces;
}

bool IsVirtualInterface(std::string_view name) {
  static constexpr std::array<std::string_view, 17> kPrefixes = {
      "veth", "docker", "br-",   "virbr", "cni",   "flannel", "cali",   "tunl",        "tap",
      "tun",  "ifb",    "dummy", "vxlan", "kube-", "lxc",     "cilium", "nodelocaldns"};
  return name == "lo" || StartsWithAny(name, kPrefixes);
}

double ParsePressure(std::string_view text) {
  while (const auto line = TakeLine(&text)) {
    const size_t at = line->find("avg10=");
    if (!StartsWith(*line, "some") || at == std::string_view::npos) continue;
    std::string_view rest = line->substr(at + 6);
    return ParseDouble(TakeWord(&rest)).value_or(kMissing);
  }
  return kMissing;
}

}  // namespace sawbill::host
