// SPDX-License-Identifier: Apache-2.0
// Second ring: typed calls with checked results. NVML fills out-parameters, and sometimes returns success without
// having filled them (a percentage of 2287971552 reached the dashboards of another tool): each is set before the call
// to what no sound reading can be, and a value outside the range of its metric is no value.
#pragma once

#include <optional>
#include <string>

#include "gpu/nvml_api.h"
#include "model/metrics.h"

namespace sawbill::gpu {

/// How a call ended, and what it gave: a value only with code 0, and then only a sound one.
template <typename T>
struct Answer {
  int code = 0;
  std::optional<T> value;
};

/// `v`, or nothing when it is not what the metric can be.
std::optional<double> Sound(model::GpuMetric m, double v);

struct UtilizationReading {
  std::optional<double> sm, memory;  // percent
};
Answer<UtilizationReading> ReadUtilization(const NvmlApi& api, nvml::Device device);

struct MemoryReading {
  double used_mb = 0, total_mb = 0;  // MiB
};
/// V2 tells what the driver reserves apart from what is used; the old call counts it as used (0.3 to 0.9 GB on an empty
/// card since driver 510).
Answer<MemoryReading> ReadMemoryV2(const NvmlApi& api, nvml::Device device);
Answer<MemoryReading> ReadMemoryV1(const NvmlApi& api, nvml::Device device);

Answer<double> ReadTemperatureC(const NvmlApi& api, nvml::Device device);
Answer<double> ReadPowerUsageW(const NvmlApi& api, nvml::Device device);
Answer<double> ReadEnergyJ(const NvmlApi& api, nvml::Device device);
Answer<double> ReadClockMhz(const NvmlApi& api, nvml::Device device, nvml::ClockType type);
/// Bits of model::ThrottleBit. Renamed by driver 535 from "throttle" to "event" reasons; either name is tried.
Answer<double> ReadThrottle(const NvmlApi& api, nvml::Device device);
/// Blocks for about 20 ms: the driver counts bytes over that window. MB/s.
Answer<double> ReadPcieMbS(const NvmlApi& api, nvml::Device device, nvml::PcieCounter counter);

Answer<std::string> ReadName(const NvmlApi& api, nvml::Device device);
Answer<std::string> ReadUuid(const NvmlApi& api, nvml::Device device);
/// "0000:3b:00.0", as /sys/bus/pci/devices spells it.
Answer<std::string> ReadPciAddress(const NvmlApi& api, nvml::Device device);
Answer<double> ReadPowerLimitW(const NvmlApi& api, nvml::Device device);
Answer<double> ReadMaxSmClockMhz(const NvmlApi& api, nvml::Device device);

/// NVML's (and DCGM's) clocks-event mask by named bits: our bits stand in another order.
unsigned ThrottleMask(uint64_t nvml_reasons);
/// The number in a field or sample value, whatever its type; nothing when it was left untouched (all bits set before
/// the call), is no number, or is of a type that is not known.
std::optional<double> Number(int value_type, const nvml::Value& value);
inline constexpr nvml::Value kUntouchedValue = {.sllVal = -1};

}  // namespace sawbill::gpu
