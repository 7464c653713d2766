// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_calls.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/text.h"

namespace sawbill::gpu {
namespace {

using model::GpuMetric;
using nvml::Device;
using nvml::u32;
using nvml::u64;

constexpr u32 kUntouched32 = std::numeric_limits<u32>::max();
constexpr u64 kUntouched64 = std::numeric_limits<u64>::max();
constexpr double kMib = 1024.0 * 1024.0;

Answer<double> Answered(int code, GpuMetric m, double value) {
  if (code != nvml::kSuccess) return {code, std::nullopt};
  return {code, Sound(m, value)};
}

/// `scale` turns NVML's unit into the column's.
template <typename Function, typename... Args>
Answer<double> ReadU32(GpuMetric m, double scale, Function* function, Device device, Args... args) {
  u32 raw = kUntouched32;
  const int code = Call(function, device, args..., &raw);
  return raw == kUntouched32 ? Answer<double>{code, std::nullopt} : Answered(code, m, raw * scale);
}

template <typename Function, typename... Args>
Answer<std::string> ReadText(Function* function, Device device) {
  char text[nvml::kNameSize] = "";
  const int code = Call(function, device, text, static_cast<u32>(sizeof(text) - 1));
  text[sizeof(text) - 1] = '\0';  // a driver that does not terminate what it fills
  if (code != nvml::kSuccess || text[0] == '\0') return {code, std::nullopt};
  return {code, Sanitize(text)};
}

/// Used and total in bytes, when they can be true.
Answer<MemoryReading> Memory(int code, u64 used, u64 total) {
  if (code != nvml::kSuccess || total == 0 || total == kUntouched64 || used > total) return {code, std::nullopt};
  const MemoryReading m{static_cast<double>(used) / kMib, static_cast<double>(total) / kMib};
  if (!Sound(GpuMetric::kMemUsedMb, m.total_mb)) return {code, std::nullopt};
  return {code, m};
}

}  // namespace

std::optional<double> Sound(GpuMetric m, double v) {
  const model::MetricInfo& info = model::Info(m);
  if (!(v >= info.min && v <= info.max)) return std::nullopt;  // NaN as well
  return v;
}

Answer<UtilizationReading> ReadUtilization(const NvmlApi& api, Device device) {
  nvml::Utilization raw = {kUntouched32, kUntouched32};
  const int code = Call(api.nvmlDeviceGetUtilizationRates, device, &raw);
  if (code != nvml::kSuccess) return {code, std::nullopt};
  return {code, UtilizationReading{Sound(GpuMetric::kSmUtil, raw.gpu), Sound(GpuMetric::kMemUtil, raw.memory)}};
}

Answer<MemoryReading> ReadMemoryV2(const NvmlApi& api, Device device) {
  nvml::MemoryV2 raw = {nvml::kMemoryV2Version, kUntouched64, kUntouched64, kUntouched64, kUntouched64};
  const int code = Call(api.nvmlDeviceGetMemoryInfo_v2, device, &raw);
  return Memory(code, raw.used, raw.total);
}

Answer<MemoryReading> ReadMemoryV1(const NvmlApi& api, Device device) {
  nvml::Memory raw = {kUntouched64, kUntouched64, kUntouched64};
  const int code = Call(api.nvmlDeviceGetMemoryInfo, device, &raw);
  return Memory(code, raw.used, raw.total);
}

Answer<double> ReadTemperatureC(const NvmlApi& api, Device device) {
  return ReadU32(GpuMetric::kTempC, 1, api.nvmlDeviceGetTemperature, device, static_cast<int>(nvml::kTemperatureGpu));
}

Answer<double> ReadPowerUsageW(const NvmlApi& api, Device device) {
  return ReadU32(GpuMetric::kPowerW, 1e-3, api.nvmlDeviceGetPowerUsage, device);
}

Answer<double> ReadEnergyJ(const NvmlApi& api, Device device) {
  u64 raw = kUntouched64;
  const int code = Call(api.nvmlDeviceGetTotalEnergyConsumption, device, &raw);
  return Answered(code, GpuMetric::kEnergyJ, static_cast<double>(raw) * 1e-3);  // untouched = 1.8e16 J: out of range
}

Answer<double> ReadClockMhz(const NvmlApi& api, Device device, nvml::ClockType type) {
  const GpuMetric m = type == nvml::kClockMem ? GpuMetric::kMemClockMhz : GpuMetric::kSmClockMhz;
  return ReadU32(m, 1, api.nvmlDeviceGetClockInfo, device, static_cast<int>(type));
}

Answer<double> ReadThrottle(const NvmlApi& api, Device device) {
  u64 raw = kUntouched64;
  const int code = CallEither(api.nvmlDeviceGetCurrentClocksEventReasons, api.nvmlDeviceGetCurrentClocksThrottleReasons,
                              device, &raw);
  // Reasons use the low bits (0x1ff so far); a word full of others is garbage, not a card in distress.
  if (code != nvml::kSuccess || raw == kUntouched64 || (raw >> 16) != 0) return {code, std::nullopt};
  return {code, ThrottleMask(raw)};
}

Answer<double> ReadPcieMbS(const NvmlApi& api, Device device, nvml::PcieCounter counter) {
  const GpuMetric m = counter == nvml::kPcieTx ? GpuMetric::kPcieTxMbS : GpuMetric::kPcieRxMbS;
  return ReadU32(m, 1e-3, api.nvmlDeviceGetPcieThroughput, device, static_cast<int>(counter));  // KB/s
}

Answer<std::string> ReadName(const NvmlApi& api, Device device) { return ReadText(api.nvmlDeviceGetName, device); }
Answer<std::string> ReadUuid(const NvmlApi& api, Device device) { return ReadText(api.nvmlDeviceGetUUID, device); }

Answer<std::string> ReadPciAddress(const NvmlApi& api, Device device) {
  nvml::PciInfo pci = {};
  int code = CallEither(api.nvmlDeviceGetPciInfo_v3, api.nvmlDeviceGetPciInfo_v2, device, &pci);
  if (code == nvml::kFunctionNotFound) code = Call(api.nvmlDeviceGetPciInfo, device, &pci);
  // v1 fills only the legacy text, "0000:3B:00.0"; the longer one has a domain of 8 digits.
  pci.busId[sizeof(pci.busId) - 1] = pci.busIdLegacy[sizeof(pci.busIdLegacy) - 1] = '\0';
  std::string text = pci.busId[0] != '\0' ? pci.busId : pci.busIdLegacy;
  const size_t colon = text.find(':');
  if (code != nvml::kSuccess || colon == std::string::npos) return {code, std::nullopt};
  if (colon > 4) text.erase(0, colon - 4);
  return {code, ToLower(text)};
}

Answer<double> ReadPowerLimitW(const NvmlApi& api, Device device) {
  // The enforced limit is the least of all limiters; the other is what was asked for.
  Answer<double> limit = ReadU32(GpuMetric::kPowerW, 1e-3, api.nvmlDeviceGetEnforcedPowerLimit, device);
  if (!limit.value) limit = ReadU32(GpuMetric::kPowerW, 1e-3, api.nvmlDeviceGetPowerManagementLimit, device);
  return limit;
}

Answer<double> ReadMaxSmClockMhz(const NvmlApi& api, Device device) {
  return ReadU32(GpuMetric::kSmClockMhz, 1, api.nvmlDeviceGetMaxClockInfo, device, static_cast<int>(nvml::kClockSm));
}

unsigned ThrottleMask(uint64_t nvml_reasons) {
  using model::ThrottleBit;
  static constexpr struct {
    u64 reason;
    ThrottleBit bit;
  } kBits[] = {{nvml::kReasonGpuIdle, ThrottleBit::kGpuIdle},
               {nvml::kReasonAppClocks, ThrottleBit::kAppClocks},
               {nvml::kReasonSwPowerCap, ThrottleBit::kSwPowerCap},
               {nvml::kReasonHwSlowdown, ThrottleBit::kHwSlowdown},
               {nvml::kReasonSyncBoost, ThrottleBit::kSyncBoost},
               {nvml::kReasonSwThermal, ThrottleBit::kSwThermal},
               {nvml::kReasonHwThermal, ThrottleBit::kHwThermal},
               {nvml::kReasonHwPowerBrake, ThrottleBit::kHwPowerBrake},
               {nvml::kReasonDisplayClocks, ThrottleBit::kDisplayClocks}};
  unsigned mask = 0;
  for (const auto& [reason, bit] : kBits) {
    if ((nvml_reasons & reason) != 0) mask |= model::Mask(bit);
  }
  return mask;
}

std::optional<double> Number(int value_type, const nvml::Value& value) {
  if (value.sllVal == kUntouchedValue.sllVal) return std::nullopt;
  switch (value_type) {
    case nvml::kValueDouble:
      return std::isfinite(value.dVal) ? std::optional<double>(value.dVal) : std::nullopt;
    case nvml::kValueU32:
      return value.uiVal;
    case nvml::kValueUlong:
      return static_cast<double>(value.ulVal);
    case nvml::kValueU64:
      return static_cast<double>(value.ullVal);
    case nvml::kValueI64:
      return static_cast<double>(value.sllVal);
    case nvml::kValueI32:
      return value.siVal;
    case nvml::kValueU16:
      return value.usVal;
    default:
      return std::nullopt;
  }
}

}  // namespace sawbill::gpu
