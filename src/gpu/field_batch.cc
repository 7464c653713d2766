// SPDX-License-Identifier: Apache-2.0
#include "gpu/field_batch.h"

#include "gpu/nvml_calls.h"

namespace sawbill::gpu {
namespace {

using model::GpuMetric;

struct Row {
  Ask ask;
  nvml::FieldId id;
  nvml::u32 scope;
};
constexpr Row kRows[] = {
    {Ask::kFieldPower, nvml::kFieldPowerInstantMw, nvml::kPowerGpu},
    {Ask::kFieldEnergy, nvml::kFieldEnergyMj, 0},
    {Ask::kFieldEcc, nvml::kFieldEccDbeVolatile, 0},
    {Ask::kFieldNvlinkTx, nvml::kFieldNvLinkDataTxKib, nvml::kAllLinks},
    {Ask::kFieldNvlinkRx, nvml::kFieldNvLinkDataRxKib, nvml::kAllLinks},
    {Ask::kFieldPcieTx, nvml::kFieldPcieTxBytes, 0},
    {Ask::kFieldPcieRx, nvml::kFieldPcieRxBytes, 0},
};
constexpr double kBits32 = 4294967296.0;

void Set(GpuMetric m, std::optional<double> value, CardReading* reading) {
  if (value) value = Sound(m, *value);
  if (value) reading->values[static_cast<size_t>(m)] = *value;
}

/// A field id that a driver does not know comes back as "invalid argument" on some: that is for good, too.
int EntryCode(int code) { return code == nvml::kInvalidArgument ? static_cast<int>(nvml::kNotSupported) : code; }

}  // namespace

void FieldBatch::Read(const NvmlApi& api, nvml::Device device, Attempt* attempt, CardReading* reading) {
  if (!attempt->Wants(Ask::kFieldValues)) return;
  const Row* rows[std::size(kRows)] = {};
  size_t count = 0;
  for (const Row& row : kRows) {
    if (!attempt->Wants(row.ask)) continue;
    rows[count] = &row;
    // The call succeeds even when every entry failed, and an entry may be left as it was: then it has no data.
    values_[count] = {row.id, row.scope, 0, 0, nvml::kValueU64, nvml::kNoData, kUntouchedValue};
    ++count;
  }
  if (count == 0) return;
  const int code = Call(api.nvmlDeviceGetFieldValues, device, static_cast<int>(count), values_.data());
  if (code != nvml::kSuccess) {
    attempt->Took(Ask::kFieldValues, code);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    const nvml::FieldValue& field = values_[i];
    if (!attempt->Took(rows[i]->ask, EntryCode(field.nvmlReturn))) continue;
    const std::optional<double> value = Number(field.valueType, field.value);
    if (value) Take(rows[i]->ask, *value, attempt->now_us(), field.valueType, reading);
  }
}

void FieldBatch::Take(Ask ask, double value, int64_t now_us, int value_type, CardReading* reading) {
  constexpr double kKibToMb = 1024 / 1e6, kMostErrors = 1e9;
  const auto rate = [&](CounterRate* counter) {
    std::optional<double> r = counter->Next(value, now_us);
    return r ? std::optional<double>(*r * kKibToMb) : r;
  };
  switch (ask) {
    case Ask::kFieldPower:
      if (const auto watts = Sound(GpuMetric::kPowerW, value * 1e-3)) Set(GpuMetric::kPowerW, *watts, reading);
      if (IsPresent(reading->values[static_cast<size_t>(GpuMetric::kPowerW)])) reading->power_from = "instant";
      return;
    case Ask::kFieldEnergy:
      return Set(GpuMetric::kEnergyJ, value * 1e-3, reading);
    case Ask::kFieldEcc:
      // Volatile: begins at 0 with the driver. A smaller number is a reset, not an error taken back.
      if (value > kMostErrors) return;  // garbage: nobody has seen so many
      if (errors_ && value > *errors_) new_errors_ += static_cast<uint64_t>(value - *errors_);
      errors_ = value;
      return;
    case Ask::kFieldNvlinkTx:
      return Set(GpuMetric::kNvlinkTxMbS, rate(&nvlink_tx_), reading);
    case Ask::kFieldNvlinkRx:
      return Set(GpuMetric::kNvlinkRxMbS, rate(&nvlink_rx_), reading);
    case Ask::kFieldPcieTx:
      return TakePcie(GpuMetric::kPcieTxMbS, &pcie_tx_, value, now_us, value_type, reading);
    case Ask::kFieldPcieRx:
      return TakePcie(GpuMetric::kPcieRxMbS, &pcie_rx_, value, now_us, value_type, reading);
    default:
      return;
  }
}

/// NVIDIA says of these counters that they may wrap, and not where. One of 32 bits wraps several times a second on a
/// busy link and would make a small rate of a large one, so they are believed once one has been seen beyond 32 bits.
void FieldBatch::TakePcie(GpuMetric m, CounterRate* counter, double value, int64_t now_us, int value_type,
                          CardReading* reading) {
  if (value_type == nvml::kValueU32) return;
  if (value >= kBits32) pcie_is_64_bits_ = true;
  const std::optional<double> rate = counter->Next(value, now_us);
  if (pcie_is_64_bits_ && rate) Set(m, *rate * 1e-6, reading);
}

uint64_t FieldBatch::TakeNewErrors() {
  const uint64_t errors = new_errors_;
  new_errors_ = 0;
  return errors;
}

}  // namespace sawbill::gpu
