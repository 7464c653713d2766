// SPDX-License-Identifier: Apache-2.0
// What the recorder costs, and keeping it in a budget: a monitor that burns the cores it measures is worse than none.
#pragma once

#include <cstdint>
#include <optional>

#include "sys/self.h"

namespace sawbill::collect {

struct SelfBudget {
  double cpu_share = 0.02;  // of one core, over a minute
  double most_rss_mb = 64;
};

/// Shares of a tick, in microseconds of wall time.
struct TickCost {
  int64_t driver_us = 0, host_us = 0, processes_us = 0, writing_us = 0, ticks = 0;
};

class SelfWatch {
 public:
  explicit SelfWatch(const SelfBudget& budget) : budget_(budget) {}
  /// Once a minute. True when the stretch between rounds of process lists changed.
  bool Observe(int64_t steady_us, const sys::SelfUsage& usage);
  /// Process lists and slow readings are made that many times less often: 1, 2, 4 or 8.
  int stretch() const { return stretch_; }
  /// CPU share of one core over the last minute; nothing before the second look.
  std::optional<double> cpu_share() const { return cpu_share_; }
  const sys::SelfUsage& usage() const { return usage_; }
  bool over_budget() const { return cpu_share_ && *cpu_share_ > budget_.cpu_share; }

 private:
  SelfBudget budget_;
  sys::SelfUsage usage_;
  std::optional<double> cpu_share_;
  int64_t last_us_ = 0;
  int stretch_ = 1, calm_ = 0;
};

}  // namespace sawbill::collect
