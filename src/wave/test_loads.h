// SPDX-License-Identifier: Apache-2.0
// Loads with known structure and what NVML would say of them, for tests of this room: no simulator, no shared code with
// what they test.
//
// The measurement model (nvml.h: "percent of time over the past sample period during which one or more kernels was
// executing", sample period 1/6 s to 1 s):
//   u_k = round(100/w x integral of busy over the last whole driver window (e_k - w, e_k]),
//   e_k = w floor((t_k - phi)/w) + phi,   t_k = k + jitter
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "wave/events.h"

namespace sawbill::wave {

/// The same numbers with every compiler.
class TestRandom {
 public:
  explicit TestRandom(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {
    for (int i = 0; i < 4; ++i) Uniform();
  }
  double Uniform() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (static_cast<double>(state_ >> 11) + 0.5) * 0x1.0p-53;
  }
  double Uniform(double lo, double hi) { return lo + (hi - lo) * Uniform(); }
  double LogUniform(double lo, double hi) { return lo * std::pow(hi / lo, Uniform()); }
  double Exponential(double mean) { return -mean * std::log(Uniform()); }
  double Normal() { return std::sqrt(-2 * std::log(Uniform())) * std::cos(6.283185307179586 * Uniform()); }

 private:
  uint64_t state_;
};

/// A card that always runs a kernel but for stalls [start, start + width), which are sorted and disjoint.
class Load {
 public:
  void Stall(double start, double width) {
    if (!starts_.empty()) start = std::max(start, starts_.back() + widths_.back());
    starts_.push_back(start);
    widths_.push_back(width);
    before_.push_back(before_.empty() ? 0 : before_.back() + widths_[widths_.size() - 2]);
  }
  double IdleUntil(double t) const {
    const auto n = static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), t) - starts_.begin());
    return n == 0 ? 0 : before_[n - 1] + std::min(widths_[n - 1], t - starts_[n - 1]);
  }
  const std::vector<double>& starts() const { return starts_; }

 private:
  std::vector<double> starts_, widths_, before_;
};

struct Poll {
  double window_s = 1;    // of the driver
  double phase_s = 0.37;  // of the driver's windows against the polls
  double jitter_s = 0;    // each poll +- this
  double dropped = 0;     // share of the ticks that are missing
  double doubled = 0;     // share of the ticks that come twice
};

/// One poll a second. Where ticks are missing the next one speaks for up to 2.5 s, as in model::Cover.
inline Series Measure(const Load& load, int seconds, const Poll& poll, TestRandom* random) {
  Series s;
  double previous = 0;
  for (int k = 1; k <= seconds; ++k) {
    const double t = k + poll.jitter_s * random->Uniform(-1, 1), w = poll.window_s;
    if (random->Uniform() < poll.dropped) continue;
    const double end = w * std::floor((t - poll.phase_s) / w) + poll.phase_s;
    const double idle = load.IdleUntil(end) - load.IdleUntil(end - w);
    const auto add = [&](double at) {
      s.t_s.push_back(at);
      s.v.push_back(static_cast<float>(std::round(100 * (1 - idle / w))));
      s.dt_s.push_back(static_cast<float>(std::min(2.5, at - previous)));
      previous = at;
    };
    add(t);
    if (random->Uniform() < poll.doubled) add(t + 0.003);
  }
  return s;
}

/// Stalls of a fixed width whose starts are a renewal process of mean `period_s` and spread `cv`.
inline Load Beats(double period_s, double cv, double width_s, int seconds, TestRandom* random) {
  Load load;
  for (double t = period_s * random->Uniform(); t < seconds - width_s;
       t += std::max(width_s + 1.5, period_s * (1 + cv * random->Normal()))) {
    load.Stall(t, width_s);
  }
  return load;
}

/// A steady step of `period_s` that is busy for `duty` of it.
inline Load Steps(double period_s, double duty, double cv, int seconds, TestRandom* random) {
  Load load;
  for (double t = 0; t < seconds + 2;) {
    const double step = period_s * std::max(0.2, 1 + cv * random->Normal());
    load.Stall(t + duty * step, (1 - duty) * step);
    t += step;
  }
  return load;
}

}  // namespace sawbill::wave
