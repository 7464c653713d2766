// SPDX-License-Identifier: Apache-2.0
// GPU performance monitoring (Hopper and newer): hardware counters of how much of a card worked, as means between two
// samples. Two sample objects a card, swapped at every reading; a tick costs one call into the driver and one that only
// computes. MIG instances are sampled one by one, by the id of their GPU instance.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "gpu/attempt.h"
#include "gpu/nvml_api.h"

namespace sawbill::gpu {

class GpmMeter {
 public:
  struct Target {
    nvml::Device device = nullptr;      // whose support is asked; with `instance` the whole card that holds it
    nvml::Device mig = nullptr;         // the instance's own handle: for drivers without nvmlGpmMigSampleGet
    std::optional<nvml::u32> instance;  // GPU instance id
  };
  GpmMeter(const NvmlApi* api, const Target& target) : api_(api), target_(target) {}
  GpmMeter(const GpmMeter&) = delete;
  GpmMeter& operator=(const GpmMeter&) = delete;
  ~GpmMeter();

  /// Fills ratios, and PCIe and NVLink rates that `reading` does not have yet. Nothing at the first call and after a
  /// failed sample. THREAD: one at a time.
  void Read(Attempt* attempt, CardReading* reading);
  bool supported() const { return supported_; }

 private:
  bool Ready(Attempt* attempt);
  int Sample();
  void Compute(Attempt* attempt, CardReading* reading);

  const NvmlApi* api_;
  Target target_;
  nvml::GpmSample older_ = nullptr, newer_ = nullptr;
  std::atomic<bool> supported_ = false;  // asked for while readings run
  std::optional<int64_t> older_us_;      // when older_ was taken; nothing = it holds no sample
};

}  // namespace sawbill::gpu
