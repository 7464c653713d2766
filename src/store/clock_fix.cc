// SPDX-License-Identifier: Apache-2.0
// Taking clock steps back.
//
// Rows carry wall times. When the wall clock is set by `o` at a moment, the writer notes `clock_step` with the first
// wall time `s` on the new clock; the old clock would have shown s - o. Rows keep the order in which they were written,
// so in a file all rows before the step have t < s - o and all rows after it have t >= s, but after a step back the two
// ranges overlap and only the order tells them apart:
//   - o > 0: the first row with t >= s is after the step;
//   - o < 0: so is a row with t >= s - o, a row that runs back, and a row behind a header line (our writer repeats the
//     header after a step for this very purpose).
// The time after the last step of a collector's life is taken as right (a step is a correction), so rows before a step
// are moved by the sum of the steps that follow in that life; `collector_start` events bound lives, because the steady
// clock does not reach across them. Differences of the moved times are those of the steady clock, which is what hours
// are made of.
#include "store/clock_fix.h"

#include <cmath>
#include <cstdlib>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::store {

std::string ClockStep::detail() const {
  std::string s = FormatShortest(Seconds(offset_ms));
  if (s.find('.') == std::string::npos) s += ".0";
  return "offset_s=" + s;
}

std::optional<int64_t> ParseOffsetMs(std::string_view detail) {
  constexpr std::string_view kKey = "offset_s=";
  const size_t at = detail.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest;
  const std::optional<double> seconds = ParseDoublePrefix(detail.substr(at + kKey.size()), &rest);
  if (!seconds || std::fabs(*seconds) > 1e11) return std::nullopt;
  return std::llround(*seconds * 1000.0);
}

std::optional<ClockStep> ClockWatch::Observe(Tick tick) {
  const std::optional<Tick> last = last_;
  last_ = tick;
  if (!last) return std::nullopt;
  const int64_t offset = (tick.wall - last->wall) - (tick.steady_ms - last->steady_ms);
  if (std::llabs(offset) <= threshold_ms_) return std::nullopt;
  return ClockStep{tick.wall, offset};
}

ClockFix::ClockFix(const std::vector<model::EventRow>& events) {
  segments_.emplace_back();
  for (const model::EventRow& e : events) {
    Segment next;
    if (e.kind == "clock_step") {
      const std::optional<int64_t> offset = ParseOffsetMs(e.detail);
      if (!offset || *offset == 0) continue;
      next.step = true;
      next.offset_ms = *offset;
      ++steps_;
    } else if (e.kind != "collector_start") {
      continue;
    }
    next.from = e.t_ms;
    Segment& before = segments_.back();
    if (next.step) {
      before.end = e.t_ms - next.offset_ms;
    } else if (e.t_ms > before.from) {
      before.end = e.t_ms;
    }
    segments_.push_back(next);
  }
  for (size_t i = segments_.size() - 1; i > 0; --i) {
    if (segments_[i].step) segments_[i - 1].shift_ms = segments_[i].shift_ms + segments_[i].offset_ms;
  }
}

bool ClockCursor::Advances(TimeMs raw) const {
  const std::vector<ClockFix::Segment>& all = fix_->segments_;
  if (at_ + 1 >= all.size()) return false;
  const ClockFix::Segment& here = all[at_];
  const ClockFix::Segment& next = all[at_ + 1];
  if (raw < next.from) return false;
  if (!last_raw_) return raw >= here.end;
  if (!next.step) return raw < *last_raw_ || *last_raw_ < next.from;
  if (*last_raw_ >= here.end) return false;
  if (next.offset_ms > 0) return true;
  return raw >= here.end || raw < *last_raw_ || header_;
}

TimeMs ClockCursor::Fix(TimeMs raw) {
  if (fix_ == nullptr || fix_->empty()) return raw;
  if (!last_raw_) {  // a file may begin in any segment: the first that its first row fits
    const std::vector<ClockFix::Segment>& all = fix_->segments_;
    size_t k = 0;
    while (k < all.size() && (raw < all[k].from || raw >= all[k].end)) ++k;
    if (k < all.size()) at_ = k;
  }
  while (Advances(raw)) {
    ++at_;
    // Within the new segment nothing has been seen yet; further borders are judged by where `raw` lies in it.
    last_raw_.reset();
  }
  last_raw_ = raw;
  header_ = false;
  return raw + fix_->segments_[at_].shift_ms;
}

}  // namespace sawbill::store
