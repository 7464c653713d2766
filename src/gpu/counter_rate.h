// SPDX-License-Identifier: Apache-2.0
// A counter that only grows, as a rate.
#pragma once

#include <cstdint>
#include <optional>

namespace sawbill::gpu {

class CounterRate {
 public:
  /// Growth a second since the last call; nothing at the first, when the counter ran back (driver reload, wrap), and
  /// within 50 ms of the last call, which is then not remembered: a short window would make noise of update steps.
  std::optional<double> Next(double value, int64_t now_us) {
    if (last_us_ && now_us >= *last_us_ && now_us - *last_us_ < 50'000) return std::nullopt;
    const bool grows = last_us_ && now_us > *last_us_ && value >= last_;
    const double rate = grows ? (value - last_) * 1e6 / static_cast<double>(now_us - *last_us_) : 0;
    last_ = value;
    last_us_ = now_us;
    return grows ? std::optional<double>(rate) : std::nullopt;
  }

 private:
  double last_ = 0;
  std::optional<int64_t> last_us_;
};

}  // namespace sawbill::gpu
