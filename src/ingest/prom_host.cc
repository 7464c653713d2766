// SPDX-License-Identifier: Apache-2.0
#include "ingest/prom_host.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <set>

#include "base/text.h"

namespace sawbill::ingest {
namespace {
using model::HostMetric;
using prom::NodeSeries;
using Series = std::vector<const PromOneSeries*>;

bool StartsWithAny(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return StartsWith(name, p); });
}

/// Devices that stand on others would count the same bytes twice.
bool Counts(const PromOneSeries& s) {
  switch (static_cast<NodeSeries>(s.meaning->what)) {
    case NodeSeries::kDiskRead:
    case NodeSeries::kDiskWritten:
    case NodeSeries::kDiskBusySeconds:
      return !StartsWithAny(s.part, {"dm-", "md", "loop", "ram", "zram", "sr", "fd", "zd", "drbd", "bcache"});
    case NodeSeries::kNetReceived:
    case NodeSeries::kNetSent:
      return s.part != "lo" && !StartsWithAny(s.part, {"veth", "docker", "br-", "virbr", "cni", "flannel", "cali",
                                                       "tunl", "tap", "tun", "ifb", "dummy", "vxlan", "kube-", "lxc",
                                                       "cilium", "nodelocaldns", "bond", "team"});
    default:
      return true;
  }
}

Series OfKind(const Series& all, NodeSeries kind) {
  Series out;
  for (const PromOneSeries* s : all) {
    if (static_cast<NodeSeries>(s->meaning->what) == kind && Counts(*s)) out.push_back(s);
  }
  return out;
}

/// Readings by time; files may hold pages in any order.
std::vector<std::pair<TimeMs, double>> ByTime(const PromOneSeries& s) {
  std::vector<std::pair<TimeMs, double>> out;
  out.reserve(s.t_ms.size());
  for (size_t i = 0; i < s.t_ms.size(); ++i) {
    if (IsPresent(s.values[i])) out.emplace_back(s.t_ms[i], s.values[i]);
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  out.erase(std::unique(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
            out.end());
  return out;
}

/// What all series of a kind rose by, at each time: only where none is missing, and none ran back.
struct Rise {
  TimeMs t = 0;
  double sum = 0, idle = 0, iowait = 0, seconds = 0, most = 0;
  size_t n = 0;
};
std::vector<Rise> Rises(const Series& series) {
  std::vector<TimeMs> times;
  for (const PromOneSeries* s : series) times.insert(times.end(), s->t_ms.begin(), s->t_ms.end());
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::vector<Rise> out(times.size());
  for (const PromOneSeries* s : series) {
    const auto points = ByTime(*s);
    size_t at = 0;
    for (size_t i = 1; i < points.size(); ++i) {
      while (times[at] < points[i].first) ++at;
      const double rise = points[i].second - points[i - 1].second;
      if (rise < 0) continue;  // the machine was restarted
      Rise& r = out[at];
      r.seconds = Seconds(points[i].first - points[i - 1].first);
      r.sum += rise;
      r.most = std::max(r.most, rise / r.seconds);
      if (s->mode == "idle") r.idle += rise;
      if (s->mode == "iowait") r.iowait += rise;
      ++r.n;
    }
  }
  for (size_t i = 0; i < times.size(); ++i) out[i].t = times[i];
  std::erase_if(out, [&](const Rise& r) { return r.n != series.size() || r.seconds <= 0; });
  return out;
}

void PutCpu(const Series& cpu, int host, Samples* samples) {
  std::set<std::string> cores;
  for (const PromOneSeries* s : cpu) cores.insert(s->part);
  for (const Rise& r : Rises(cpu)) {
    if (r.sum <= 0) continue;
    samples->SetHost(host, r.t, HostMetric::kCpuCount, static_cast<double>(cores.size()));
    samples->SetHost(host, r.t, HostMetric::kCpuUtil, 100 * (r.sum - r.idle - r.iowait) / r.sum);
    samples->SetHost(host, r.t, HostMetric::kCpuIowait, 100 * r.iowait / r.sum);
  }
}

void PutMemory(const Series& all, int host, Samples* samples) {
  constexpr double kMib = 1024 * 1024;
  const Series total = OfKind(all, NodeSeries::kMemTotal), available = OfKind(all, NodeSeries::kMemAvailable);
  if (total.empty()) return;
  const auto totals = ByTime(*total.front());
  const auto free = available.empty() ? totals : ByTime(*available.front());
  size_t k = 0;
  for (const auto& [t, bytes] : totals) {
    samples->SetHost(host, t, HostMetric::kMemTotalMb, bytes / kMib);
    while (k < free.size() && free[k].first < t) ++k;
    if (available.empty() || k == free.size() || free[k].first != t) continue;
    samples->SetHost(host, t, HostMetric::kMemUsedMb, (bytes - free[k].second) / kMib);
  }
}

}  // namespace

bool PutNodeSeries(const std::vector<const PromOneSeries*>& series, int host, Samples* samples) {
  static constexpr struct {
    NodeSeries kind;
    HostMetric metric;
    double factor;
  } kRates[] = {{NodeSeries::kDiskRead, HostMetric::kDiskReadMbS, 1e-6},
                {NodeSeries::kDiskWritten, HostMetric::kDiskWriteMbS, 1e-6},
                {NodeSeries::kNetReceived, HostMetric::kNetRxMbS, 1e-6},
                {NodeSeries::kNetSent, HostMetric::kNetTxMbS, 1e-6},
                {NodeSeries::kCpuWaiting, HostMetric::kPsiCpuSome, 100},
                {NodeSeries::kIoWaiting, HostMetric::kPsiIoSome, 100},
                {NodeSeries::kMemWaiting, HostMetric::kPsiMemSome, 100}};
  PutCpu(OfKind(series, NodeSeries::kCpuSeconds), host, samples);
  PutMemory(series, host, samples);
  for (const auto& rate : kRates) {
    for (const Rise& r : Rises(OfKind(series, rate.kind))) {
      // A stall counter is read a moment earlier or later than the clock: 100.01 % is 100 %.
      const double v = r.sum / r.seconds * rate.factor;
      samples->SetHost(host, r.t, rate.metric, rate.factor == 100 ? std::min(v, 100.0) : v);
    }
  }
  for (const Rise& r : Rises(OfKind(series, NodeSeries::kDiskBusySeconds)))
    samples->SetHost(host, r.t, HostMetric::kDiskUtil, std::min(100 * r.most, 100.0));
  return std::none_of(series.begin(), series.end(),
                      [](const PromOneSeries* s) { return s->meaning->counter && s->t_ms.size() < 2; });
}

}  // namespace sawbill::ingest
