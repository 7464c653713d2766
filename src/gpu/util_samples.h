// SPDX-License-Identifier: Apache-2.0
// The driver's own utilisation samples, taken 1 to 6 times a second and kept in a ring: what happened between two
// ticks. Our tick sees one of them; a pipeline that stalls for 0.3 s each second shows in the others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/attempt.h"
#include "gpu/nvml_api.h"

namespace sawbill::gpu {

class UtilSamples {
 public:
  /// Looks at what the ring holds, so that the first Read gives only what came after. Gives the time between samples,
  /// which is the window of "GPU utilisation" on this card, when it can be told; and NVML's code.
  std::optional<double> Prime(const NvmlApi& api, nvml::Device device, int* code);
  /// Lowest and highest since the last call.
  void Read(const NvmlApi& api, nvml::Device device, Attempt* attempt, CardReading* reading);

 private:
  int Fetch(const NvmlApi& api, nvml::Device device);

  std::vector<nvml::Sample> samples_;  // capacity kept; `count_` of them filled by the last Fetch
  nvml::u32 count_ = 0;
  nvml::ValueType type_ = nvml::kValueU32;
  nvml::u64 last_seen_us_ = 0;
  bool primed_ = false;
};

}  // namespace sawbill::gpu
