// SPDX-License-Identifier: Apache-2.0
// The ONE metric catalog. It drives the CSV header, the readers, Prometheus names and help, JSON keys, labels and the
// docs (docs/metrics.md is printed from it). Adding a metric: one row in metrics.cc and one id here, at the end of its
// block.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace sawbill::model {

enum class Scope { kGpu, kHost, kProcess };
enum class Kind { kGauge, kCounter, kState };

enum class GpuMetric {
  kSmUtil,
  kMemUtil,
  kMemUsedMb,
  kTempC,
  kPowerW,
  kSmClockMhz,
  kMemClockMhz,
  kThrottle,
  kPcieRxMbS,
  kPcieTxMbS,
  kNvlinkRxMbS,
  kNvlinkTxMbS,
  kSmActive,
  kSmOccupancy,
  kTensorActive,
  kDramActive,
  kGrActive,
  kEnergyJ,
  kSmUtilMin,
  kSmUtilMax,
  kCount
};
/// A set of them, a bit each.
using GpuMetricSet = uint32_t;
static_assert(static_cast<int>(GpuMetric::kCount) <= 32);
constexpr GpuMetricSet Bit(GpuMetric m) { return GpuMetricSet{1} << static_cast<unsigned>(m); }
enum class HostMetric {
  kCpuCount,
  kCpuUtil,
  kCpuIowait,
  kLoad1,
  kMemUsedMb,
  kMemTotalMb,
  kDiskReadMbS,
  kDiskWriteMbS,
  kDiskUtil,
  kNetRxMbS,
  kNetTxMbS,
  kCpuPhysical,
  kPsiCpuSome,
  kPsiIoSome,
  kPsiMemSome,
  kCount
};
enum class ProcessMetric {
  kGpuMemMb,
  kSmUtil,
  kCpuCores,
  kReadMbS,
  kWriteMbS,
  kStarted,
  kWorkers,
  kMainCpuCores,
  kCoresAllowed,
  kCount
};
inline constexpr size_t kGpuMetrics = static_cast<size_t>(GpuMetric::kCount);
inline constexpr size_t kHostMetrics = static_cast<size_t>(HostMetric::kCount);
inline constexpr size_t kProcessMetrics = static_cast<size_t>(ProcessMetric::kCount);

/// One reading of everything of a scope, by metric; NaN = not read. kThrottle holds the mask.
using GpuValues = std::array<double, kGpuMetrics>;
using HostValues = std::array<double, kHostMetrics>;
using ProcessValues = std::array<double, kProcessMetrics>;

struct MetricInfo {
  const char* name;  // column and JSON key, unit last
  const char* unit;  // "percent", "ratio", "MiB", "W", ... of the column
  Kind kind;
  int decimals;             // written to day files
  double min, max;          // what a sound reading can be; outside is odd data, not a value
  const char* prometheus;   // base-unit name, "" = not exported
  double prometheus_scale;  // column value * scale = base unit
  const char* label_en;
  const char* label_zh;
  const char* help;  // one sentence: what it is and where it is read
};

const MetricInfo& Info(GpuMetric m);
const MetricInfo& Info(HostMetric m);
const MetricInfo& Info(ProcessMetric m);
std::optional<GpuMetric> FindGpuMetric(std::string_view name);
std::optional<HostMetric> FindHostMetric(std::string_view name);
std::optional<ProcessMetric> FindProcessMetric(std::string_view name);

/// Throttle reasons: bit i of a mask is name i, as in the day file's `throttle` column and NVML's clocks-event reasons.
enum class ThrottleBit {
  kGpuIdle,
  kSwPowerCap,
  kHwSlowdown,
  kHwThermal,
  kHwPowerBrake,
  kSwThermal,
  kAppClocks,
  kSyncBoost,
  kDisplayClocks,
  kCount
};
inline constexpr unsigned Mask(ThrottleBit b) { return 1U << static_cast<unsigned>(b); }
const char* Name(ThrottleBit b);
/// "none" -> 0, "sw_power_cap|hw_thermal" -> mask; nothing for an empty cell or an unknown name.
std::optional<unsigned> ParseThrottle(std::string_view cell);

}  // namespace sawbill::model
