// SPDX-License-Identifier: Apache-2.0
#include "gpu/util_samples.h"

#include <algorithm>

#include "gpu/nvml_calls.h"

namespace sawbill::gpu {
namespace {

constexpr nvml::u32 kMostSamples = 4096;  // rings hold about 100 to 120; more would be a wrong count

}  // namespace

int UtilSamples::Fetch(const NvmlApi& api, nvml::Device device) {
  // The ring's size is asked for once, without a buffer; a ring that turns out larger says 7 and how much it needs.
  for (int round = 0; round < 3; ++round) {
    count_ = static_cast<nvml::u32>(samples_.size());
    for (nvml::Sample& s : samples_) s = {0, kUntouchedValue};
    const int code = Call(api.nvmlDeviceGetSamples, device, static_cast<int>(nvml::kSamplesGpuUtil), last_seen_us_,
                          &type_, &count_, samples_.empty() ? nullptr : samples_.data());
    const bool asked_size = samples_.empty() && code == nvml::kSuccess;
    if (code != nvml::kInsufficientSize && !asked_size) {
      count_ = code == nvml::kSuccess ? std::min(count_, static_cast<nvml::u32>(samples_.size())) : 0;
      return code;
    }
    if (count_ == 0) return nvml::kNotFound;
    samples_.resize(std::min(std::max(count_ + 8, 2 * static_cast<nvml::u32>(samples_.size())), kMostSamples));
  }
  count_ = 0;
  return nvml::kInsufficientSize;
}

std::optional<double> UtilSamples::Prime(const NvmlApi& api, nvml::Device device, int* code) {
  *code = Fetch(api, device);
  primed_ = *code == nvml::kSuccess || *code == nvml::kNotFound;
  std::vector<nvml::u64> times;
  for (nvml::u32 i = 0; i < count_; ++i) {
    if (samples_[i].timeStamp > 0) times.push_back(samples_[i].timeStamp);
  }
  std::sort(times.begin(), times.end());
  if (!times.empty()) last_seen_us_ = times.back();
  std::vector<nvml::u64> gaps;
  for (size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
  if (gaps.size() < 4) return std::nullopt;
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
  const double window_s = static_cast<double>(gaps[gaps.size() / 2]) * 1e-6;
  return window_s >= 0.01 && window_s <= 5 ? std::optional<double>(window_s) : std::nullopt;
}

void UtilSamples::Read(const NvmlApi& api, nvml::Device device, Attempt* attempt, CardReading* reading) {
  if (!attempt->Wants(Ask::kSamples)) return;
  if (!primed_) {
    int code = 0;
    (void)Prime(api, device, &code);
    attempt->Took(Ask::kSamples, code);
    return;
  }
  const int code = Fetch(api, device);
  if (!attempt->Took(Ask::kSamples, code)) return;
  double lowest = kMissing, highest = kMissing;
  nvml::u64 newest = last_seen_us_;
  for (nvml::u32 i = 0; i < count_; ++i) {
    // Rings were seen with entries older than asked for, and of no time at all.
    if (samples_[i].timeStamp <= last_seen_us_) continue;
    const std::optional<double> n = Number(type_, samples_[i].sampleValue);
    const std::optional<double> percent = n ? Sound(model::GpuMetric::kSmUtil, *n) : n;
    if (!percent) continue;
    newest = std::max(newest, samples_[i].timeStamp);
    lowest = IsMissing(lowest) ? *percent : std::min(lowest, *percent);
    highest = IsMissing(highest) ? *percent : std::max(highest, *percent);
  }
  last_seen_us_ = newest;
  reading->values[static_cast<size_t>(model::GpuMetric::kSmUtilMin)] = lowest;
  reading->values[static_cast<size_t>(model::GpuMetric::kSmUtilMax)] = highest;
}

}  // namespace sawbill::gpu
