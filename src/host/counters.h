// SPDX-License-Identifier: Apache-2.0
// The counters of /proc/stat, /proc/diskstats and /proc/net/dev, as text gives them. Reading and judging are apart.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sawbill::host {

/// One "cpuN" line of /proc/stat, in ticks.
struct CpuTicks {
  int cpu = 0;
  uint64_t busy = 0;  // user nice system irq softirq steal; guest time is in user already
  uint64_t idle = 0, iowait = 0;
};
std::vector<CpuTicks> ParseCpuLines(std::string_view proc_stat);
/// Seconds since 1970 at boot, 0 = not there.
double ParseBootTime(std::string_view proc_stat);

struct DiskCounters {
  std::string name;
  uint64_t read_sectors = 0, written_sectors = 0;  // of 512 bytes, whatever the disk's own are
  uint64_t busy_ms = 0;                            // wraps at 2^32
};
/// Only the disks that `wanted` takes. 14, 18 and 20 columns, by kernel.
std::vector<DiskCounters> ParseDisks(std::string_view diskstats, const std::function<bool(std::string_view)>& wanted);
/// Which of /sys/block (or, where that is not there, of diskstats) are disks themselves: no partition, and nothing that
/// stands on another disk, whose traffic would count twice.
bool StandsOnOtherDisks(std::string_view name);
std::vector<std::string> WholeDisks(const std::vector<std::string>& sys_block, std::string_view diskstats);

struct NetCounters {
  std::string name;
  uint64_t rx_bytes = 0, tx_bytes = 0;
};
std::vector<NetCounters> ParseNet(std::string_view net_dev);
/// By name: loopback, and the near ends of containers' and virtual machines' cables.
bool IsVirtualInterface(std::string_view name);

/// `avg10` of the "some" line, percent; NaN when it is not there.
double ParsePressure(std::string_view text);

}  // namespace sawbill::host
