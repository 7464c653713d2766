// SPDX-License-Identifier: Apache-2.0
// Readings that NVML gives by field id, all fetched by one call: power, energy, uncorrected memory errors, and the byte
// counters of NVLink and PCIe. An entry that the card does not have leaves the list.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "gpu/attempt.h"
#include "gpu/counter_rate.h"
#include "gpu/nvml_api.h"
#include "model/metrics.h"

namespace sawbill::gpu {

class FieldBatch {
 public:
  /// Fills what it can of `reading`. THREAD: one at a time.
  void Read(const NvmlApi& api, nvml::Device device, Attempt* attempt, CardReading* reading);
  /// Uncorrected memory errors since the last call that found some; 0 = none.
  uint64_t TakeNewErrors();

 private:
  void Take(Ask ask, double value, int64_t now_us, int value_type, CardReading* reading);
  void TakePcie(model::GpuMetric m, CounterRate* rate, double value, int64_t now_us, int value_type,
                CardReading* reading);

  std::array<nvml::FieldValue, 7> values_ = {};
  CounterRate nvlink_tx_, nvlink_rx_, pcie_tx_, pcie_rx_;
  std::optional<double> errors_;
  uint64_t new_errors_ = 0;
  bool pcie_is_64_bits_ = false;
};

}  // namespace sawbill::gpu
