// SPDX-License-Identifier: Apache-2.0
// One question stands behind the processor columns: *are the cores that this job may use saturated?* A container of two
// cores on a host of 64 that runs flat out shows 3 % in the host's own numbers, and its owner is told to start 64
// loader workers. So:
//   no limit, or fewer processors (cpuset, affinity): the busy share of exactly those processors, from their own lines
//       in /proc/stat. Whoever runs on them counts: they are as full for us. Time that the hypervisor gave to others
//       (steal) counts as busy: somebody was ready to run and could not.
//   a quota: no processor is ours, only time is. The limiting group's own time over quota x wall time. The group may
//       be an ancestor that is shared with others; they draw on the same quota. (A host that is too full to give the
//       quota shows in psi_cpu_some.)
// I/O wait belongs to the processor on which a task fell asleep. Under a quota those are shared with strangers, so what
// the allowed processors waited, in seconds over quota x wall time, is an upper bound; the share of time in which any
// task of the group waited (its own io.pressure) is another one, and what the group used is no wait. The least of the
// three is given; without a pressure file (version 1) nothing is. It can run backwards: such a difference is 0.
//
// lxcfs gives a container its own /proc/stat, /proc/meminfo and list of processors, numbered from 0, while
// Cpus_allowed_list keeps the host's numbers: when lines are missing for allowed processors and no more lines are there
// than allowed ones, all lines are ours.
//
// Memory: total minus available, which leaves out what the kernel would give back. Under a limit the same by the
// limiting group: usage less file cache and reclaimable slab; with the cache counted, every job that reads a large data
// set would seem to be out of memory. psi: of the limiting group where it is limited, else the machine's.
//
// What is read at each call: /proc/stat, loadavg, meminfo, diskstats, net/dev, pressure/{cpu,io,memory}, with limits
// also the group's cpu.stat, memory.current and memory.stat. All else (limits, mounts, topology, which disks and
// interfaces there are) is read anew each minute.
#include "host/host_reader.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/text.h"
#include "host/allowance.h"
#include "host/counters.h"
#include "host/scan.h"

namespace sawbill::host {
namespace {

using model::HostMetric;

constexpr int64_t kStaticUs = 60'000'000;
constexpr double kMiB = 1048576.0;
constexpr double kMb = 1e6;
constexpr double kSectorBytes = 512;
constexpr double kWrapMs = 4294967296.0;  // the kernel prints milliseconds of disks as 32-bit numbers

double& At(model::HostValues* v, HostMetric m) { return (*v)[static_cast<size_t>(m)]; }

double Percent(double part, double whole) {
  return whole > 0 ? std::clamp(100.0 * part / whole, 0.0, 100.0) : kMissing;
}

double Less(uint64_t now, uint64_t before) { return now >= before ? static_cast<double>(now - before) : 0; }

/// Growth from one look to the next of the things that are in both; NaN when there is none, or one of them went back (a
/// device that was unplugged and came again counts from zero).
template <typename Item, typename Value>
double Growth(const std::vector<Item>& before, const std::vector<Item>& now, Value value) {
  double sum = kMissing;
  for (const Item& n : now) {
    const auto b = std::find_if(before.begin(), before.end(), [&](const Item& i) { return i.name == n.name; });
    if (b == before.end()) continue;
    if (value(n) < value(*b)) return kMissing;
    sum = (IsMissing(sum) ? 0 : sum) + static_cast<double>(value(n) - value(*b));
  }
  return sum;
}

struct Busy {
  double used = kMissing, iowait = kMissing, total = kMissing;  // ticks
};

}  // namespace

struct HostReader::Last {
  explicit Last(sys::ProcFiles* f) : files(f) {}

  sys::ProcFiles* files;
  // Read each minute.
  std::optional<int64_t> static_us;
  CpuSet cpus;
  Allowance allowance;
  CpuQuota quota;
  MemoryLimit memory;
  std::set<std::string, std::less<>> disk_names, net_names;
  std::map<int, std::string> topology;
  // The counters of the last call.
  std::optional<int64_t> steady_us;
  std::vector<CpuTicks> ticks;
  std::vector<DiskCounters> disks;
  std::vector<NetCounters> nets;
  std::optional<double> group_cpu_s;
  std::string text;  // one buffer for all files

  const std::string& Text(const std::string& path) {
    files->Read(path, &text);
    return text;
  }
  void ReadStatic(int64_t now_us);
  void ChooseInterfaces();
  Busy Difference(const std::vector<CpuTicks>& now) const;
  std::optional<double> GroupCpuSeconds();
  void Pressure(model::HostValues* v);
  void Cpu(double wall_s, model::HostValues* v);
  void Memory(model::HostValues* v);
  void Disks(double wall_s, model::HostValues* v);
  void Net(double wall_s, model::HostValues* v);
};

void HostReader::Last::ReadStatic(int64_t now_us) {
  if (static_us && now_us >= *static_us && now_us - *static_us < kStaticUs) return;
  static_us = now_us;
  AllowanceReader reader(files);
  const std::string membership = Text("/proc/self/cgroup");
  cpus = reader.Cpus(Text("/proc/self/status"));
  if (cpus.empty()) cpus = reader.online();
  allowance = reader.Judge(cpus, membership);
  allowance.physical_cores =
      std::min(CountPhysicalCores(files, cpus, &topology), static_cast<int>(std::ceil(allowance.cores)));
  CpuQuota limiting = reader.Quota(membership);
  if (allowance.limit != Allowance::Limit::kQuota) limiting = {};
  if (limiting.usage != quota.usage) group_cpu_s.reset();
  quota = limiting;
  memory = reader.cgroups().Memory(membership);
  const std::vector<std::string> disks_now = WholeDisks(files->List("/sys/block"), Text("/proc/diskstats"));
  disk_names = {disks_now.begin(), disks_now.end()};
  ChooseInterfaces();
}

/// Interfaces with hardware behind them, so that a bridge, a bond or a tunnel does not count the same bytes again. A
/// container has only the far end of a cable, with no hardware: then all that are not of a kind known to be virtual.
void HostReader::Last::ChooseInterfaces() {
  net_names.clear();
  const std::vector<NetCounters> all = ParseNet(Text("/proc/net/dev"));
  for (const NetCounters& n : all) {
    if (files->ReadLink("/sys/class/net/" + n.name + "/device")) net_names.insert(n.name);
  }
  if (!net_names.empty()) return;
  for (const NetCounters& n : all) {
    if (!IsVirtualInterface(n.name)) net_names.insert(n.name);
  }
}

/// What the allowed processors did since the last call. Ids, not positions: lines come and go with hot-plugging.
Busy HostReader::Last::Difference(const std::vector<CpuTicks>& now) const {
  const auto allowed = [&](int cpu) { return std::binary_search(cpus.begin(), cpus.end(), cpu); };
  const auto found =
      static_cast<size_t>(std::count_if(now.begin(), now.end(), [&](const CpuTicks& t) { return allowed(t.cpu); }));
  const bool all = cpus.empty() || (found < cpus.size() && now.size() <= cpus.size());  // lxcfs, see above
  Busy sum;
  for (size_t i = 0; i < now.size(); ++i) {
    const CpuTicks& n = now[i];
    if (!all && !allowed(n.cpu)) continue;
    auto b = ticks.begin() + static_cast<std::ptrdiff_t>(std::min(i, ticks.size()));  // where it was, as a rule
    if (b == ticks.end() || b->cpu != n.cpu) {
      b = std::find_if(ticks.begin(), ticks.end(), [&](const CpuTicks& t) { return t.cpu == n.cpu; });
    }
    if (b == ticks.end() || n.busy < b->busy) continue;
    const double used = Less(n.busy, b->busy), wait = Less(n.iowait, b->iowait), idle = Less(n.idle, b->idle);
    if (used + wait + idle <= 0) continue;
    sum.used = (IsMissing(sum.used) ? 0 : sum.used) + used;
    sum.iowait = (IsMissing(sum.iowait) ? 0 : sum.iowait) + wait;
    sum.total = (IsMissing(sum.total) ? 0 : sum.total) + used + wait + idle;
  }
  return sum;
}

std::optional<double> HostReader::Last::GroupCpuSeconds() {
  if (quota.usage.empty()) return std::nullopt;
  const std::string& stat = Text(quota.usage);
  const auto count = ToU64(quota.v2 ? ValueOf(stat, "usage_usec") : Trim(stat));
  if (!count) return std::nullopt;
  return static_cast<double>(*count) / (quota.v2 ? 1e6 : 1e9);
}

void HostReader::Last::Pressure(model::HostValues* v) {
  const auto read = [&](const std::string& own, const char* machine) {
    const double of_group = own.empty() ? kMissing : ParsePressure(Text(own));
    return IsPresent(of_group) ? of_group : ParsePressure(Text(machine));
  };
  At(v, HostMetric::kPsiCpuSome) = read(quota.pressure, "/proc/pressure/cpu");
  At(v, HostMetric::kPsiIoSome) = read(quota.io_pressure, "/proc/pressure/io");
  At(v, HostMetric::kPsiMemSome) = read(memory.pressure, "/proc/pressure/memory");
}

void HostReader::Last::Cpu(double wall_s, model::HostValues* v) {
  std::vector<CpuTicks> now = ParseCpuLines(Text("/proc/stat"));
  const Busy busy = Difference(now);
  ticks = std::move(now);
  const double host_wait = Percent(busy.iowait, busy.total);
  if (quota.cores <= 0) {
    At(v, HostMetric::kCpuUtil) = Percent(busy.used, busy.total);
    At(v, HostMetric::kCpuIowait) = host_wait;
    return;
  }
  const std::optional<double> used_s = GroupCpuSeconds();
  if (used_s && group_cpu_s && *used_s >= *group_cpu_s && wall_s > 0) {
    const double util = Percent(*used_s - *group_cpu_s, quota.cores * wall_s);
    At(v, HostMetric::kCpuUtil) = util;
    const double own_wait = quota.io_pressure.empty() ? kMissing : ParsePressure(Text(quota.io_pressure));
    if (IsPresent(own_wait) && IsPresent(host_wait)) {
      const double scaled = host_wait * static_cast<double>(cpus.size()) / quota.cores;
      At(v, HostMetric::kCpuIowait) = std::min({scaled, own_wait, 100.0 - util});
    }
  }
  group_cpu_s = used_s;
}

void HostReader::Last::Memory(model::HostValues* v) {
  const std::string& info = Text("/proc/meminfo");
  const auto kb = [&](const char* key) -> double {
    std::string_view value = ValueOf(info, key);
    const auto n = TakeU64(&value);
    return n ? static_cast<double>(*n) * 1024 : kMissing;
  };
  double total = kb("MemTotal:"), available = kb("MemAvailable:");
  if (IsMissing(available)) available = kb("MemFree:") + kb("Buffers:") + kb("Cached:");  // before Linux 3.14
  double used = total - available;
  if (memory.bytes > 0 && !(memory.bytes >= total)) {
    total = memory.bytes;
    const auto current = ToU64(Trim(Text(memory.used)));
    const std::string& stat = Text(memory.stat);
    const auto part = [&](const char* v2, const char* v1) {
      return static_cast<double>(ToU64(ValueOf(stat, memory.v2 ? v2 : v1)).value_or(0));
    };
    const double given_back = part("active_file", "total_active_file") + part("inactive_file", "total_inactive_file") +
                              part("slab_reclaimable", "slab_reclaimable");
    used = current ? std::max(0.0, static_cast<double>(*current) - given_back) : kMissing;
  }
  At(v, HostMetric::kMemTotalMb) = total / kMiB;
  At(v, HostMetric::kMemUsedMb) = used / kMiB;
}

void HostReader::Last::Disks(double wall_s, model::HostValues* v) {
  std::vector<DiskCounters> now =
      ParseDisks(Text("/proc/diskstats"), [&](std::string_view name) { return disk_names.contains(name); });
  if (wall_s > 0) {
    const auto rate = [&](auto value) { return Growth(disks, now, value) * kSectorBytes / kMb / wall_s; };
    At(v, HostMetric::kDiskReadMbS) = rate([](const DiskCounters& d) { return d.read_sectors; });
    At(v, HostMetric::kDiskWriteMbS) = rate([](const DiskCounters& d) { return d.written_sectors; });
    double busiest = kMissing;
    for (const DiskCounters& n : now) {
      const auto b = std::find_if(disks.begin(), disks.end(), [&](const DiskCounters& d) { return d.name == n.name; });
      if (b == disks.end()) continue;
      double ms = static_cast<double>(n.busy_ms) - static_cast<double>(b->busy_ms);
      if (ms < 0) ms += kWrapMs;
      if (ms > 2000 * wall_s + 1000) continue;  // not wrapped: it began anew
      busiest = std::fmax(busiest, Percent(ms, 1000 * wall_s));
    }
    At(v, HostMetric::kDiskUtil) = busiest;
  }
  disks = std::move(now);
}

void HostReader::Last::Net(double wall_s, model::HostValues* v) {
  std::vector<NetCounters> now = ParseNet(Text("/proc/net/dev"));
  std::erase_if(now, [&](const NetCounters& n) { return !net_names.contains(n.name); });
  if (wall_s > 0) {
    const auto rate = [&](auto value) { return Growth(nets, now, value) / kMb / wall_s; };
    At(v, HostMetric::kNetRxMbS) = rate([](const NetCounters& n) { return n.rx_bytes; });
    At(v, HostMetric::kNetTxMbS) = rate([](const NetCounters& n) { return n.tx_bytes; });
  }
  nets = std::move(now);
}

HostReader::HostReader(sys::ProcFiles* files) : files_(files), last_(std::make_unique<Last>(files)) {}
HostReader::~HostReader() = default;

model::HostValues HostReader::Read(int64_t steady_us) {
  model::HostValues v;
  v.fill(kMissing);
  Last& last = *last_;
  last.ReadStatic(steady_us);
  const double wall_s = last.steady_us ? static_cast<double>(steady_us - *last.steady_us) / 1e6 : 0;
  last.steady_us = steady_us;
  if (last.allowance.cores > 0) At(&v, HostMetric::kCpuCount) = last.allowance.cores;
  if (last.allowance.physical_cores > 0) At(&v, HostMetric::kCpuPhysical) = last.allowance.physical_cores;
  last.Pressure(&v);
  last.Cpu(wall_s, &v);
  last.Memory(&v);
  last.Disks(wall_s, &v);
  last.Net(wall_s, &v);
  std::string_view load = last.Text("/proc/loadavg");
  At(&v, HostMetric::kLoad1) = ParseDouble(TakeWord(&load)).value_or(kMissing);
  return v;
}

}  // namespace sawbill::host
