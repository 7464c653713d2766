// SPDX-License-Identifier: Apache-2.0
// Stretches of time cut where a local day ends and where a price may change, so that each entry of the account has one
// day and one price.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace sawbill::analysis {

class Calendar {
 public:
  struct Part {
    TimeMs from = 0, until = 0;  // the same day and span for all of (from, until]
    int32_t day = 0;             // days since epoch, local
    int32_t span = 0;            // how many of the cuts lie at or before it
  };

  /// REQUIRES: `tz` and `cuts` outlive this; `cuts` are sorted.
  Calendar(const TimeZone& tz, const std::vector<TimeMs>& cuts) : tz_(tz), cuts_(cuts) {}

  /// The part that the instants just after `t` belong to. Times mostly come in order: the last answer is kept.
  const Part& After(TimeMs t) {
    if (t >= part_.from && t < part_.until) return part_;
    const TimeMs local = t + Offset(t);
    part_.day = static_cast<int32_t>(local >= 0 ? local / kDayMs : -((-local + kDayMs - 1) / kDayMs));
    const TimeMs midnight = (static_cast<TimeMs>(part_.day) + 1) * kDayMs;
    // The offset at the day's end: in a day of a clock change it is not that of now.
    const TimeMs guess = midnight - Offset(t);
    part_.until = std::max(t + 1, midnight - Offset(guess));
    part_.from = t;
    const auto next = std::upper_bound(cuts_.begin(), cuts_.end(), t);
    part_.span = static_cast<int32_t>(next - cuts_.begin());
    if (next != cuts_.end()) part_.until = std::min(part_.until, *next);
    return part_;
  }

  /// Calls add(part, share of the stretch) for each part that (from, to] touches; the shares add up to 1.
  template <typename Add>
  void Spread(TimeMs from, TimeMs to, Add add) {
    if (to <= from) return add(After(to - 1), 1.0);
    const auto length = static_cast<double>(to - from);
    while (from < to) {
      const Part& part = After(from);
      const TimeMs end = std::min(to, part.until);
      add(part, static_cast<double>(end - from) / length);
      from = end;
    }
  }

 private:
  static constexpr TimeMs kDayMs = 86'400'000;
  TimeMs Offset(TimeMs t) const { return 1000LL * tz_.OffsetSeconds(t); }

  const TimeZone& tz_;
  const std::vector<TimeMs>& cuts_;
  Part part_;
};

}  // namespace sawbill::analysis
