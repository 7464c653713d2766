// SPDX-License-Identifier: Apache-2.0
#include "collect/self_watch.h"

namespace sawbill::collect {
namespace {
constexpr int kMostStretch = 8;
constexpr int kCalmMinutes = 10;  // under half of the budget for so long before more is tried again
}  // namespace

bool SelfWatch::Observe(int64_t steady_us, const sys::SelfUsage& usage) {
  const std::optional<double> before = usage_.cpu_seconds;
  const double elapsed_s = static_cast<double>(steady_us - last_us_) / 1e6;
  usage_ = usage;
  last_us_ = steady_us;
  cpu_share_.reset();
  if (!before || !usage.cpu_seconds || elapsed_s <= 0) return false;
  cpu_share_ = (*usage.cpu_seconds - *before) / elapsed_s;
  if (over_budget()) {
    calm_ = 0;
    if (stretch_ == kMostStretch) return false;
    stretch_ *= 2;
    return true;
  }
  calm_ = *cpu_share_ < budget_.cpu_share / 2 ? calm_ + 1 : 0;
  if (stretch_ == 1 || calm_ < kCalmMinutes) return false;
  stretch_ /= 2;
  calm_ = 0;
  return true;
}

}  // namespace sawbill::collect
