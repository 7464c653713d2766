// SPDX-License-Identifier: Apache-2.0
// One card, or one MIG instance of a card, as NVML shows it: all that has to be remembered between two readings of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/attempt.h"
#include "gpu/field_batch.h"
#include "gpu/gpm_meter.h"
#include "gpu/holder_reader.h"
#include "gpu/nvml_api.h"
#include "gpu/util_samples.h"
#include "sys/proc_files.h"

namespace sawbill::gpu {

/// Where a card is, and what is different about it.
struct CardPlace {
  nvml::Device device = nullptr;          // nullptr = no handle could be had
  nvml::Device physical = nullptr;        // of an instance: the card that holds it; else `device`
  std::optional<nvml::u32> gpu_instance;  // an instance's
  bool mig = false;                       // MIG mode is on: a whole card whose work is done by instances
  bool unified_memory = false;
  int lost_code = 0;
  bool suspended = false;
  std::string gpu;
  std::string power_dir;  // sysfs folder of a card that the kernel may suspend at run time, "" = never
};

/// THREAD: the three Read calls may overlap, each with itself never.
class NvmlCard {
 public:
  NvmlCard(const NvmlApi* api, sys::ProcFiles* files, const CardPlace& place);
  /// The driver's window for "GPU utilisation"; asked once after opening, and first of all.
  std::optional<double> UtilWindowS();
  CardReading ReadQuick(int64_t steady_us);
  CardReading ReadSlow(int64_t steady_us);
  CardReading ReadHolders(int64_t steady_us);
  uint64_t TakeNewErrors() { return fields_.TakeNewErrors(); }
  bool gpm() const { return gpm_.supported(); }
  const CardPlace& place() const { return place_; }

 private:
  std::optional<CardReading> NotReadable();
  void ReadUtilizationInto(Attempt* attempt, CardReading* reading);
  void ReadMemoryInto(Attempt* attempt, CardReading* reading);
  void ReadPowerInto(Attempt* attempt, CardReading* reading);
  void ReadStateInto(Attempt* attempt, CardReading* reading);

  const NvmlApi* api_;
  sys::ProcFiles* files_;
  CardPlace place_;
  AskLog log_;
  UtilSamples samples_;
  FieldBatch fields_;
  GpmMeter gpm_;
  HolderReader holders_;
  std::atomic<bool> quick_has_pcie_ = false;
};

/// Whether the kernel has put the PCI device of this sysfs folder to sleep. Reading these files does not wake it.
bool IsSuspended(sys::ProcFiles* files, const std::string& device_dir);

}  // namespace sawbill::gpu
