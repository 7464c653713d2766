// SPDX-License-Identifier: Apache-2.0
// The ONE table of what series of other exporters mean: name -> metric, factor, kind. A new exporter is rows here and
// nothing else. Units are decided by the name and checked by the range of the values, never by HELP texts: those of
// nvidia_gpu_exporter say "[%]" of ratios, and DCGM 4.6 calls a percentage GPU_UTIL_RATIO.
#pragma once

#include <cstddef>
#include <string_view>

#include "model/metrics.h"

namespace sawbill::prom {

enum class Target { kCard, kFact, kHost, kNode, kProcess };

/// What is known of a card beside its metrics, in the catalogue's units.
enum class Fact {
  kMemoryTotalMb,
  kMemoryFreeMb,
  kMemoryReservedMb,
  kPowerLimitW,
  kSmClockMaxMhz,
  kXid,          // the last one, not a count
  kUncorrected,  // ECC errors, a counter
  kIndex,        // the card's number, where it is no label
  kInfo,         // says something by its labels only
  kCount
};
inline constexpr size_t kFacts = static_cast<size_t>(Fact::kCount);

/// What node_exporter counts: several series together make one of our host metrics.
enum class NodeSeries {
  kCpuSeconds,  // by cpu and mode
  kMemTotal,
  kMemAvailable,
  kDiskRead,
  kDiskWritten,
  kDiskBusySeconds,
  kNetReceived,
  kNetSent,
  kCpuWaiting,
  kIoWaiting,
  kMemWaiting,
  kCount
};

/// How the unit of the values follows from name and range.
enum class Range {
  kAsNamed,
  kRatioIfSmall,    // named a ratio, known to be a percentage; fractions that never exceed 1 would be a ratio after all
  kPercentIfLarge,  // a ratio, unless its values exceed 1
};

struct Meaning {
  std::string_view name;  // without the family's prefix
  Target target;
  int what;           // GpuMetric, Fact, HostMetric, NodeSeries or ProcessMetric, as the target says
  double factor = 1;  // to the catalogue's unit
  Range range = Range::kAsNamed;
  bool whole_card = false;    // says nothing of a MIG instance, though it is printed for each
  bool second = false;        // taken where the first choice is missing
  bool counter = false;       // of the host: means something only as a difference
  std::string_view family{};  // "dcgm-exporter"; filled by FindSeries
};

/// Null for what is not known. The result lives as long as the program.
const Meaning* FindSeries(std::string_view name);
/// The heading that DCGM's own tools give a field: "GRACT" for GR_ENGINE_ACTIVE.
const Meaning* FindDcgmColumn(std::string_view heading);
/// Whether the name belongs to an exporter that is known, be the series itself known or not.
bool IsKnownFamily(std::string_view name);

/// The mask of model::ThrottleBit of NVML's clocks-event reasons; NaN for what is no mask.
double ThrottleOf(double nvml_reasons);

/// DCGM's "blank, not found, not supported, no permission", of its three types of numbers, and NaN.
inline bool IsDcgmBlank(double v) {
  constexpr double kInt32 = 2147483632, kInt64 = 9223372036854775000.0, kFp64 = 140737488355328;
  if (v < kInt32) return false;
  return !(v > kInt32 + 15 && v < kInt64) || (v >= kFp64 && v <= kFp64 + 15);
}

}  // namespace sawbill::prom
