// SPDX-License-Identifier: Apache-2.0
// Utilisation, memory, temperature, power and clocks.
#include <algorithm>
#include <cmath>

#include "simulator/nvml/api.h"

namespace sawbill::nvml {
namespace {
using nvmlsim::Field;
using nvmlsim::Give;
using nvmlsim::OnCard;
using nvmlsim::OnPlace;
using nvmlsim::View;

constexpr double kMib = 1048576;

Return Engine(const char* name, Device device, Field field, u32* percent, u32* period_us) {
  return OnCard(name, device, [&](const View& v) {
    if (period_us == nullptr) return kInvalidArgument;
    if (v.facts().mig) return kNotSupported;
    *period_us = static_cast<u32>(v.facts().util_window_s * 1e6 + 0.5);
    return Give(v.LastWindow(field, v.facts().util_window_s), percent);
  });
}

/// Of the card or the instance, in MiB; `used` without what is reserved.
struct MemoryNow {
  double total = 0, reserved = 0, used = 0;
};
MemoryNow MemoryOf(const View& v) {
  MemoryNow m;
  m.total = v.instance() != nullptr ? v.instance()->memory_mib : v.facts().memory_mib;
  m.reserved = v.instance() != nullptr ? 0 : v.facts().reserved_mib;
  m.used = v.Now(Field::kMemUsed);
  return m;
}
u64 Bytes(double mib) { return static_cast<u64>(std::max(mib, 0.0) * kMib + 0.5); }

Return MaxClock(const View& v, int type, u32* mhz) {
  switch (type) {
    case kClockGraphics:
    case kClockSm:
      return Give(v.model().sm_max_mhz, mhz);
    case kClockMem:
      return Give(v.model().mem_max_mhz, mhz);
    case kClockVideo:
      return Give(std::round(v.model().sm_max_mhz * 0.85), mhz);
    default:
      return kInvalidArgument;
  }
}
Return ClockNow(const View& v, int type, u32* mhz) {
  switch (type) {
    case kClockGraphics:
    case kClockSm:
      return Give(v.Now(Field::kSmClock), mhz);
    case kClockMem:
      return Give(v.Now(Field::kMemClock), mhz);
    case kClockVideo:
      return Give(v.Now(Field::kVideoClock), mhz);
    default:
      return kInvalidArgument;
  }
}

Return Reasons(const char* name, Device device, u64* reasons) {
  return OnCard(name, device, [&](const View& v) { return Give(v.Now(Field::kThrottle), reasons); });
}
Return SupportedReasons(const char* name, Device device, u64* reasons) {
  return OnCard(name, device, [&](const View&) { return Give(0x1FF, reasons); });
}

Return OneClock(u32 clock, u32* count, u32* mhz) {
  if (count == nullptr) return kInvalidArgument;
  const bool fits = mhz != nullptr && *count >= 1;
  *count = 1;
  if (!fits) return kInsufficientSize;
  mhz[0] = clock;
  return kSuccess;
}

}  // namespace

extern "C" {

// Withdrawn under MIG: the counter is of the whole chip, and instances are isolated from each other.
Return nvmlDeviceGetUtilizationRates(Device device, Utilization* utilization) {
  return OnCard(__func__, device, [&](const View& v) {
    if (utilization == nullptr) return kInvalidArgument;
    if (v.facts().mig) return kNotSupported;
    const double window_s = v.facts().util_window_s;
    const double memory = v.LastWindow(Field::kMemUtil, window_s);
    const Return r = Give(v.LastWindow(Field::kSmUtil, window_s), &utilization->gpu);
    // A replayed log may have the one and not the other; the call has no way to say so but a value that cannot be.
    if (r == kSuccess && IsMissing(memory)) {
      utilization->memory = 0xFFFFFFFFu;
      return r;
    }
    return r != kSuccess ? r : Give(memory, &utilization->memory);
  });
}
Return nvmlDeviceGetEncoderUtilization(Device device, u32* percent, u32* period_us) {
  return Engine(__func__, device, Field::kEncUtil, percent, period_us);
}
Return nvmlDeviceGetDecoderUtilization(Device device, u32* percent, u32* period_us) {
  return Engine(__func__, device, Field::kDecUtil, percent, period_us);
}
Return nvmlDeviceGetJpgUtilization(Device device, u32* percent, u32* period_us) {
  return Engine(__func__, device, Field::kJpgUtil, percent, period_us);
}
Return nvmlDeviceGetOfaUtilization(Device device, u32* percent, u32* period_us) {
  return Engine(__func__, device, Field::kOfaUtil, percent, period_us);
}

Return nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  return OnPlace(__func__, device, [&](const View& v) {
    if (memory == nullptr) return kInvalidArgument;
    if (v.facts().unified_memory) return kNotSupported;
    const MemoryNow m = MemoryOf(v);
    if (IsMissing(m.used)) return kNoData;
    memory->total = Bytes(m.total);
    memory->used = Bytes(m.used + m.reserved);  // version 1 counts the driver's own as used (gpustat #141)
    memory->free = memory->total - std::min(memory->total, memory->used);
    return kSuccess;
  });
}
Return nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* memory) {
  return OnPlace(__func__, device, [&](const View& v) {
    if (memory == nullptr) return kInvalidArgument;
    if (memory->version != kMemoryV2Version) return kArgumentVersionMismatch;
    if (v.facts().unified_memory) return kNotSupported;
    const MemoryNow m = MemoryOf(v);
    if (IsMissing(m.used)) return kNoData;
    memory->total = Bytes(m.total);
    memory->reserved = Bytes(m.reserved);
    memory->used = Bytes(m.used);
    memory->free = memory->total - std::min(memory->total, memory->used + memory->reserved);
    return kSuccess;
  });
}
Return nvmlDeviceGetBAR1MemoryInfo(Device device, Bar1Memory* memory) {
  return OnPlace(__func__, device, [&](const View& v) {
    if (memory == nullptr) return kInvalidArgument;
    if (v.facts().unified_memory) return kNotSupported;
    memory->bar1Total = Bytes(v.facts().ecc ? v.facts().memory_mib * 1.6 : 256);
    memory->bar1Used = Bytes(2);
    memory->bar1Free = memory->bar1Total - memory->bar1Used;
    return kSuccess;
  });
}
Return nvmlDeviceGetMemoryBusWidth(Device device, u32* bits) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.model().bus_bits, bits); });
}

Return nvmlDeviceGetTemperature(Device device, int sensor, u32* celsius) {
  return OnCard(__func__, device, [&](const View& v) {
    if (sensor != kTemperatureGpu) return kInvalidArgument;
    return Give(v.Now(Field::kTemp), celsius);
  });
}
Return nvmlDeviceGetTemperatureThreshold(Device device, int threshold, u32* celsius) {
  return OnCard(__func__, device, [&](const View& v) {
    switch (threshold) {
      case kThresholdShutdown:
        return Give(92, celsius);
      case kThresholdSlowdown:
        return Give(89, celsius);
      case kThresholdMemMax:
        return v.model().memory_temp ? Give(95, celsius) : kNotSupported;
      case kThresholdGpuMax:
        return Give(87, celsius);
      default:
        return kNotSupported;
    }
  });
}
Return nvmlDeviceGetFanSpeed(Device device, u32* percent) {
  return OnCard(__func__, device,
                [&](const View& v) { return v.model().fans > 0 ? Give(v.Now(Field::kFan), percent) : kNotSupported; });
}
Return nvmlDeviceGetFanSpeed_v2(Device device, u32 fan, u32* percent) {
  return OnCard(__func__, device, [&](const View& v) {
    if (v.model().fans == 0) return kNotSupported;
    return fan < static_cast<u32>(v.model().fans) ? Give(v.Now(Field::kFan), percent) : kInvalidArgument;
  });
}
Return nvmlDeviceGetNumFans(Device device, u32* fans) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.model().fans, fans); });
}

// The same call has two meanings: the instant up to Turing and on GA100, else the mean of a second (zeus #45).
Return nvmlDeviceGetPowerUsage(Device device, u32* milliwatts) {
  return OnCard(__func__, device, [&](const View& v) {
    const double watts = v.model().instant_power ? v.Now(Field::kPower) : v.Mean(Field::kPower, v.t_s() - 1, v.t_s());
    return Give(watts * 1000, milliwatts);
  });
}
Return nvmlDeviceGetEnforcedPowerLimit(Device device, u32* milliwatts) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.Now(Field::kPowerLimit) * 1000, milliwatts); });
}
Return nvmlDeviceGetPowerManagementLimit(Device device, u32* milliwatts) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.Now(Field::kPowerLimit) * 1000, milliwatts); });
}
Return nvmlDeviceGetPowerManagementMode(Device device, int* mode) {
  return OnCard(__func__, device, [&](const View&) { return Give(kEnabled, mode); });
}
Return nvmlDeviceGetPowerManagementLimitConstraints(Device device, u32* min_mw, u32* max_mw) {
  return OnCard(__func__, device, [&](const View& v) {
    if (min_mw == nullptr) return kInvalidArgument;
    *min_mw = static_cast<u32>(v.model().min_limit_w * 1000);
    return Give(v.model().limit_w * 1000, max_mw);
  });
}
Return nvmlDeviceGetPowerManagementDefaultLimit(Device device, u32* milliwatts) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.facts().default_limit_w * 1000, milliwatts); });
}
Return nvmlDeviceGetTotalEnergyConsumption(Device device, u64* millijoules) {
  return OnCard(__func__, device, [&](const View& v) {
    if (v.model().architecture < kArchVolta) return kNotSupported;
    const bool reset = v.facts().counters_reset_at_s >= 0 && v.t_s() >= v.facts().counters_reset_at_s;
    return Give((v.Counter(Field::kPower) + (reset ? 0 : v.facts().energy_base_j)) * 1000, millijoules);
  });
}

Return nvmlDeviceGetPerformanceState(Device device, int* pstate) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.Now(Field::kPstate), pstate); });
}
Return nvmlDeviceGetPowerState(Device device, int* pstate) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.Now(Field::kPstate), pstate); });
}
Return nvmlDeviceGetClockInfo(Device device, int type, u32* mhz) {
  return OnCard(__func__, device, [&](const View& v) { return ClockNow(v, type, mhz); });
}
Return nvmlDeviceGetMaxClockInfo(Device device, int type, u32* mhz) {
  return OnCard(__func__, device, [&](const View& v) { return MaxClock(v, type, mhz); });
}
Return nvmlDeviceGetClock(Device device, int type, int id, u32* mhz) {
  return OnCard(__func__, device, [&](const View& v) {
    if (id == kClockCurrent) return ClockNow(v, type, mhz);
    if (id < 0 || id > kClockCustomerBoostMax) return kInvalidArgument;
    return v.facts().ecc ? MaxClock(v, type, mhz) : kNotSupported;
  });
}
Return nvmlDeviceGetApplicationsClock(Device device, int type, u32* mhz) {
  return OnCard(__func__, device,
                [&](const View& v) { return v.facts().ecc ? MaxClock(v, type, mhz) : kNotSupported; });
}
Return nvmlDeviceGetDefaultApplicationsClock(Device device, int type, u32* mhz) {
  return OnCard(__func__, device,
                [&](const View& v) { return v.facts().ecc ? MaxClock(v, type, mhz) : kNotSupported; });
}
Return nvmlDeviceGetMaxCustomerBoostClock(Device device, int type, u32* mhz) {
  return OnCard(__func__, device,
                [&](const View& v) { return v.facts().ecc ? MaxClock(v, type, mhz) : kNotSupported; });
}
Return nvmlDeviceGetAutoBoostedClocksEnabled(Device device, int*, int*) {
  return OnCard(__func__, device, [](const View&) { return kNotSupported; });
}
Return nvmlDeviceGetSupportedMemoryClocks(Device device, u32* count, u32* mhz) {
  return OnCard(__func__, device,
                [&](const View& v) { return OneClock(static_cast<u32>(v.model().mem_max_mhz), count, mhz); });
}
Return nvmlDeviceGetSupportedGraphicsClocks(Device device, u32 memory_mhz, u32* count, u32* mhz) {
  return OnCard(__func__, device, [&](const View& v) {
    if (memory_mhz != static_cast<u32>(v.model().mem_max_mhz)) return kNotFound;
    return OneClock(static_cast<u32>(v.model().sm_max_mhz), count, mhz);
  });
}

Return nvmlDeviceGetCurrentClocksEventReasons(Device device, u64* reasons) {
  return Reasons(__func__, device, reasons);
}
Return nvmlDeviceGetCurrentClocksThrottleReasons(Device device, u64* reasons) {
  return Reasons(__func__, device, reasons);
}
Return nvmlDeviceGetSupportedClocksEventReasons(Device device, u64* reasons) {
  return SupportedReasons(__func__, device, reasons);
}
Return nvmlDeviceGetSupportedClocksThrottleReasons(Device device, u64* reasons) {
  return SupportedReasons(__func__, device, reasons);
}

}  // extern "C"
}  // namespace sawbill::nvml
