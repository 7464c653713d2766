// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_card.h"

#include "base/text.h"
#include "gpu/nvml_calls.h"

namespace sawbill::gpu {
namespace {

using model::GpuMetric;

double& At(CardReading* reading, GpuMetric m) { return reading->values[static_cast<size_t>(m)]; }

/// One question with one number for an answer.
template <typename Read>
void Put(Ask ask, GpuMetric m, Attempt* attempt, CardReading* reading, const Read& read) {
  if (!attempt->Wants(ask)) return;
  const Answer<double> answer = read();
  if (attempt->Took(ask, answer.code) && answer.value) At(reading, m) = *answer.value;
}

GpmMeter::Target GpmTarget(const CardPlace& place) { return {place.physical, place.device, place.gpu_instance}; }

}  // namespace

bool IsSuspended(sys::ProcFiles* files, const std::string& device_dir) {
  std::string text;
  if (files->Read(device_dir + "/power_state", &text)) return Trim(text) == "D3cold";  // Linux 5.11 and newer
  return files->Read(device_dir + "/power/runtime_status", &text) && Trim(text) == "suspended";
}

NvmlCard::NvmlCard(const NvmlApi* api, sys::ProcFiles* files, const CardPlace& place)
    : api_(api), files_(files), place_(place), gpm_(api, GpmTarget(place)) {
  // Utilisation is defined for whole cards. With MIG some drivers refuse it and some say 0, which would pass for idle.
  if (place.mig || place.gpu_instance) {
    for (Ask ask : {Ask::kUtilization, Ask::kSamples, Ask::kProcessesUtil, Ask::kProcessUtil}) log_.Exclude(ask);
  }
  if (place.gpu_instance) {
    // Of the whole card, and not to be told apart: its parent's slot has them.
    for (Ask ask : {Ask::kFieldValues, Ask::kFieldPower, Ask::kPowerUsage, Ask::kFieldEnergy, Ask::kEnergy,
                    Ask::kFieldEcc, Ask::kFieldNvlinkTx, Ask::kFieldNvlinkRx, Ask::kFieldPcieTx, Ask::kFieldPcieRx,
                    Ask::kPcieTxSlow, Ask::kPcieRxSlow}) {
      log_.Exclude(ask);
    }
  }
  if (place.unified_memory) {
    log_.NoteAbsentAtOpening(Ask::kMemoryV2);
    log_.NoteAbsentAtOpening(Ask::kMemoryV1);
  }
}

/// Why nothing may be asked now, as a reading.
std::optional<CardReading> NvmlCard::NotReadable() {
  CardReading reading;
  if (!place_.power_dir.empty()) {
    // A question would wake the card, and a card that is asked each second never sleeps again.
    const bool asleep = IsSuspended(files_, place_.power_dir);
    reading.outcome = asleep ? Outcome::kSuspended : Outcome::kReopen;
    if (asleep || place_.suspended) return reading;
  }
  if (place_.device != nullptr) return std::nullopt;
  reading.outcome = Outcome::kLost;
  reading.code = place_.lost_code;
  return reading;
}

std::optional<double> NvmlCard::UtilWindowS() {
  if (place_.mig || place_.gpu_instance) return std::nullopt;
  int code = 0;
  const std::optional<double> window_s = samples_.Prime(*api_, place_.device, &code);
  if (Classify(code) == CodeClass::kAbsent) log_.NoteAbsentAtOpening(Ask::kSamples);
  return window_s;
}

CardReading NvmlCard::ReadQuick(int64_t steady_us) {
  if (std::optional<CardReading> no = NotReadable()) return *no;
  CardReading reading;
  Attempt attempt(&log_, steady_us);
  ReadUtilizationInto(&attempt, &reading);
  ReadMemoryInto(&attempt, &reading);
  fields_.Read(*api_, place_.device, &attempt, &reading);
  ReadPowerInto(&attempt, &reading);
  ReadStateInto(&attempt, &reading);
  gpm_.Read(&attempt, &reading);
  quick_has_pcie_ = IsPresent(At(&reading, GpuMetric::kPcieRxMbS)) && IsPresent(At(&reading, GpuMetric::kPcieTxMbS));
  attempt.Finish(true, &reading);
  return reading;
}

void NvmlCard::ReadUtilizationInto(Attempt* attempt, CardReading* reading) {
  if (attempt->Wants(Ask::kUtilization)) {
    const Answer<UtilizationReading> answer = ReadUtilization(*api_, place_.device);
    if (attempt->Took(Ask::kUtilization, answer.code) && answer.value) {
      At(reading, GpuMetric::kSmUtil) = answer.value->sm.value_or(kMissing);
      At(reading, GpuMetric::kMemUtil) = answer.value->memory.value_or(kMissing);
    }
  }
  samples_.Read(*api_, place_.device, attempt, reading);
}

void NvmlCard::ReadMemoryInto(Attempt* attempt, CardReading* reading) {
  Answer<MemoryReading> answer;
  const char* from = "used";
  if (attempt->Wants(Ask::kMemoryV2)) {
    answer = ReadMemoryV2(*api_, place_.device);
    attempt->Took(Ask::kMemoryV2, answer.code);
  }
  // Not for want of rights: the two mean different things, and a series must not change from one to the other.
  if (attempt->Absent(Ask::kMemoryV2) && attempt->Wants(Ask::kMemoryV1)) {
    answer = ReadMemoryV1(*api_, place_.device);
    attempt->Took(Ask::kMemoryV1, answer.code);
    from = "used+reserved";
  }
  if (!answer.value) return;
  At(reading, GpuMetric::kMemUsedMb) = answer.value->used_mb;
  reading->memory_from = from;
}

/// What the fields did not give.
void NvmlCard::ReadPowerInto(Attempt* attempt, CardReading* reading) {
  if (IsMissing(At(reading, GpuMetric::kPowerW))) {
    Put(Ask::kPowerUsage, GpuMetric::kPowerW, attempt, reading, [&] { return ReadPowerUsageW(*api_, place_.device); });
    if (IsPresent(At(reading, GpuMetric::kPowerW))) reading->power_from = "usage";
  }
  if (IsMissing(At(reading, GpuMetric::kEnergyJ))) {
    Put(Ask::kEnergy, GpuMetric::kEnergyJ, attempt, reading, [&] { return ReadEnergyJ(*api_, place_.device); });
  }
}

/// What holds for the whole chip, and so for each of its instances.
void NvmlCard::ReadStateInto(Attempt* attempt, CardReading* reading) {
  const nvml::Device chip = place_.physical;
  Put(Ask::kTemperature, GpuMetric::kTempC, attempt, reading, [&] { return ReadTemperatureC(*api_, chip); });
  Put(Ask::kSmClock, GpuMetric::kSmClockMhz, attempt, reading,
      [&] { return ReadClockMhz(*api_, chip, nvml::kClockSm); });
  Put(Ask::kMemClock, GpuMetric::kMemClockMhz, attempt, reading,
      [&] { return ReadClockMhz(*api_, chip, nvml::kClockMem); });
  Put(Ask::kThrottle, GpuMetric::kThrottle, attempt, reading, [&] { return ReadThrottle(*api_, chip); });
}

CardReading NvmlCard::ReadSlow(int64_t steady_us) {
  if (std::optional<CardReading> no = NotReadable()) return *no;
  CardReading reading;
  Attempt attempt(&log_, steady_us);
  if (!quick_has_pcie_) {
    Put(Ask::kPcieRxSlow, GpuMetric::kPcieRxMbS, &attempt, &reading,
        [&] { return ReadPcieMbS(*api_, place_.device, nvml::kPcieRx); });
    Put(Ask::kPcieTxSlow, GpuMetric::kPcieTxMbS, &attempt, &reading,
        [&] { return ReadPcieMbS(*api_, place_.device, nvml::kPcieTx); });
  }
  attempt.Finish(false, &reading);
  return reading;
}

CardReading NvmlCard::ReadHolders(int64_t steady_us) {
  if (std::optional<CardReading> no = NotReadable()) return *no;
  CardReading reading;
  Attempt attempt(&log_, steady_us);
  // The instances' slots list their own; the parent's list would name each a second time.
  if (!place_.mig) holders_.Read(*api_, place_.device, place_.gpu, &attempt, &reading);
  attempt.Finish(false, &reading);
  return reading;
}

}  // namespace sawbill::gpu
