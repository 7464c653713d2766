// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpm_meter.h"

#include <cmath>
#include <iterator>
#include <utility>

#include "gpu/nvml_calls.h"

namespace sawbill::gpu {
namespace {

using model::GpuMetric;

struct Row {
  nvml::GpmMetricId id;
  GpuMetric metric;
  double scale;  // to the column's unit
  Ask ask;       // whose place the value takes where it is empty
};
constexpr double kPercent = 0.01, kMibToMb = 1048576 / 1e6;
constexpr Row kRows[] = {
    {nvml::kGpmSmUtil, GpuMetric::kSmActive, kPercent, Ask::kGpm},
    {nvml::kGpmSmOccupancy, GpuMetric::kSmOccupancy, kPercent, Ask::kGpm},
    {nvml::kGpmAnyTensorUtil, GpuMetric::kTensorActive, kPercent, Ask::kGpm},
    {nvml::kGpmDramBwUtil, GpuMetric::kDramActive, kPercent, Ask::kGpm},
    {nvml::kGpmGraphicsUtil, GpuMetric::kGrActive, kPercent, Ask::kGpm},
    {nvml::kGpmPcieTxMibPerS, GpuMetric::kPcieTxMbS, kMibToMb, Ask::kGpmPcie},
    {nvml::kGpmPcieRxMibPerS, GpuMetric::kPcieRxMbS, kMibToMb, Ask::kGpmPcie},
    {nvml::kGpmNvLinkTotalTxMibPerS, GpuMetric::kNvlinkTxMbS, kMibToMb, Ask::kGpmNvlink},
    {nvml::kGpmNvLinkTotalRxMibPerS, GpuMetric::kNvlinkRxMbS, kMibToMb, Ask::kGpmNvlink},
};
constexpr size_t kMost = std::size(kRows);
constexpr int64_t kShortestUs = 100'000;  // below that NVIDIA promises nothing

/// The front of nvml::GpmMetricsGet. Its array grew from 98 to 333 entries (13 KB) under one version number, and the
/// library looks only at the first numMetrics.
struct ShortGet {
  nvml::u32 version = nvml::kGpmVersion;
  nvml::u32 numMetrics = 0;
  nvml::GpmSample sample1 = nullptr, sample2 = nullptr;
  nvml::GpmMetric metrics[kMost] = {};
};
static_assert(offsetof(ShortGet, metrics) == offsetof(nvml::GpmMetricsGet, metrics));

/// Counters of a window are rounded: 100.2 % was seen, and is full. More is no reading.
std::optional<double> Value(const Row& row, double raw) {
  double value = raw * row.scale;
  if (row.scale == kPercent && value > 1 && value <= 1.01) value = 1;
  return Sound(row.metric, value);
}

}  // namespace

GpmMeter::~GpmMeter() {
  if (older_ != nullptr) Call(api_->nvmlGpmSampleFree, older_);
  if (newer_ != nullptr) Call(api_->nvmlGpmSampleFree, newer_);
}

bool GpmMeter::Ready(Attempt* attempt) {
  if (supported_) return true;
  nvml::GpmSupport support = {nvml::kGpmVersion, 0};
  int code = Call(api_->nvmlGpmQueryDeviceSupport, target_.device, &support);
  if (code == nvml::kSuccess && support.isSupportedDevice != 1) code = nvml::kNotSupported;
  if (code == nvml::kSuccess && older_ == nullptr) code = Call(api_->nvmlGpmSampleAlloc, &older_);
  if (code == nvml::kSuccess && newer_ == nullptr) code = Call(api_->nvmlGpmSampleAlloc, &newer_);
  if (code == nvml::kSuccess && (older_ == nullptr || newer_ == nullptr)) code = nvml::kNotSupported;
  if (code != nvml::kSuccess) {
    attempt->Took(Ask::kGpm, code);
    return false;
  }
  supported_ = true;
  return true;
}

int GpmMeter::Sample() {
  if (!target_.instance) return Call(api_->nvmlGpmSampleGet, target_.device, newer_);
  const int code = Call(api_->nvmlGpmMigSampleGet, target_.device, *target_.instance, newer_);
  return code == nvml::kFunctionNotFound ? Call(api_->nvmlGpmSampleGet, target_.mig, newer_) : code;
}

void GpmMeter::Read(Attempt* attempt, CardReading* reading) {
  if (!attempt->Wants(Ask::kGpm) || !Ready(attempt)) return;
  const int64_t now_us = attempt->now_us();
  if (older_us_ && now_us - *older_us_ < kShortestUs) return;
  if (!attempt->Took(Ask::kGpm, Sample())) {
    // Somebody else profiles, or rights were taken away. What was sampled before is no start for a mean any more: it
    // would reach over the time in which nothing was seen.
    older_us_.reset();
    return;
  }
  if (older_us_) Compute(attempt, reading);
  std::swap(older_, newer_);
  older_us_ = now_us;
}

void GpmMeter::Compute(Attempt* attempt, CardReading* reading) {
  ShortGet get;
  get.sample1 = older_;
  get.sample2 = newer_;
  const Row* rows[kMost] = {};
  for (const Row& row : kRows) {
    if (!attempt->Wants(row.ask) || IsPresent(reading->values[static_cast<size_t>(row.metric)])) continue;
    get.metrics[get.numMetrics] = {row.id, nvml::kNoData, kMissing, {}};
    rows[get.numMetrics++] = &row;
  }
  const int code = Call(api_->nvmlGpmMetricsGet, reinterpret_cast<nvml::GpmMetricsGet*>(&get));
  if (code != nvml::kSuccess) {
    attempt->Took(Ask::kGpm, code);
    return;
  }
  for (nvml::u32 i = 0; i < get.numMetrics; ++i) {
    const nvml::GpmMetric& m = get.metrics[i];
    if (rows[i]->ask != Ask::kGpm && !attempt->Took(rows[i]->ask, m.nvmlReturn)) continue;
    if (m.nvmlReturn != nvml::kSuccess || !std::isfinite(m.value)) continue;
    if (const std::optional<double> value = Value(*rows[i], m.value)) {
      reading->values[static_cast<size_t>(rows[i]->metric)] = *value;
    }
  }
}

}  // namespace sawbill::gpu
