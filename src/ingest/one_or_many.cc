// SPDX-License-Identifier: Apache-2.0
//
// Whole seconds
// -------------
// A script that reads one card every 0.4 s and stamps whole seconds writes two or three rows for each; a script that
// reads two cards a second writes two as well. Where samples are further apart than a second, rows that share one are
// several cards: nobody reads twice and then waits. Else, in this order:
// 1. A slow reading (memory, temperature) that changes from second to second, but never within one: one card.
// 2. A reading that changes within the second at least twice as much as from one second to the next at the same place:
//    several cards (one has more memory in use, another is warmer).
// 3. As many rows in every second there is, while single seconds are skipped: several cards, read a little slower than
//    once a second. A reader of one card that passed over a second would have split its rows over the neighbours.
// 4. Seconds with one row more or less that are not made good by the next: one card, whose reader runs freely. Several
//    cards whose sample straddles a second are back in step behind it.
// 5. Mean power that is the same at every place within 0.5 %: one card. No two cards draw the same.
// 6. What is left cannot be told.
// Stamps of whole minutes or tens of seconds (a spreadsheet that dropped the seconds, times that were rounded) are
// asked in the same way. Within so long a stamp the load itself comes and goes, perhaps in step with it, so that only
// slow readings can speak for several cards, or ones that never move at the places of a few rows. Samples of exactly so
// many seconds would look the same, but a timer that is aligned to whole tens of seconds is rare, and an answer that is
// wrong would multiply the bill.
#include "ingest/one_or_many.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sawbill::ingest {
namespace {
using model::GpuMetric;

constexpr size_t kMostRows = 100'000;  // looked at
constexpr size_t kLeastSeconds = 5;

/// Rows [from, from + rows) of one second.
struct Second {
  size_t from = 0, rows = 0;
  TimeMs t_ms = 0;
};

/// What all times are whole multiples of: a second, or tens of seconds. 0 when they are finer than a second or run
/// back.
TimeMs CommonUnit(const std::vector<TimeMs>& t) {
  constexpr TimeMs kTens = 10'000, kMost = 600'000;
  TimeMs unit = 0;
  for (size_t i = 0; i < std::min(t.size(), kMostRows); ++i) {
    if (t[i] % 1000 != 0 || (i > 0 && t[i] < t[i - 1])) return 0;
    unit = std::gcd(unit, i == 0 ? t[0] : t[i] - t[0]);
  }
  return unit % kTens == 0 && unit <= kMost ? unit : 1000;
}

/// One for each stamp.
std::vector<Second> SecondsOf(const std::vector<TimeMs>& t) {
  std::vector<Second> out;
  const size_t n = std::min(t.size(), kMostRows);
  for (size_t i = 0; i < n; ++i) {
    if (out.empty() || out.back().t_ms != t[i]) out.push_back({i, 0, t[i]});
    ++out.back().rows;
  }
  return out;
}

size_t UsualRows(const std::vector<Second>& seconds) {
  std::vector<size_t> rows;
  for (const Second& s : seconds) rows.push_back(s.rows);
  std::nth_element(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2), rows.end());
  return rows[rows.size() / 2];
}

/// How a reading changes between neighbours within a second, and at the same place from one second to the next.
struct Changes {
  double within = 0, across = 0;
  size_t n = 0, moves = 0;  // pairs of seconds; those with another value at the first place
};

Changes ChangesOf(const std::vector<float>& v, const std::vector<Second>& seconds, size_t k) {
  Changes c;
  for (size_t g = 1; g < seconds.size(); ++g) {
    if (seconds[g].rows != k || seconds[g - 1].rows != k) continue;
    const float* now = v.data() + seconds[g].from;
    const float* before = v.data() + seconds[g - 1].from;
    double within = 0, across = 0;
    for (size_t i = 0; i < k; ++i) {
      across += std::fabs(static_cast<double>(now[i]) - static_cast<double>(before[i]));
      if (i > 0) within += std::fabs(static_cast<double>(now[i]) - static_cast<double>(now[i - 1]));
    }
    if (std::isnan(within + across)) continue;
    c.within += within / static_cast<double>(k - 1);
    c.across += across / static_cast<double>(k);
    c.moves += now[0] != before[0] ? 1 : 0;
    ++c.n;
  }
  return c;
}

Sharing ByChanges(const Table& table, const std::vector<Second>& seconds, size_t k, bool long_stamp) {
  constexpr size_t kLeastMoves = 5, kFewRows = 4;
  bool many = false;
  for (NumberSlot slot = 0; slot < kCardCountSlot; ++slot) {
    if (slot == Slot(GpuMetric::kThrottle) || !table.has(slot)) continue;
    const Changes c = ChangesOf(table.number(slot), seconds, k);
    if (c.n + 1 < kLeastSeconds) continue;
    const bool slow = slot == Slot(GpuMetric::kMemUsedMb) || slot == Slot(GpuMetric::kTempC);
    if (slow && c.within == 0 && c.moves >= kLeastMoves) return Sharing::kOneAlike;
    const bool still = k <= kFewRows && c.across == 0;
    many = many || ((slow || still || !long_stamp) && c.within > 0 && c.across <= 0.5 * c.within);
  }
  return many ? Sharing::kMany : Sharing::kUntold;
}

/// What the numbers of rows tell; the first and the last second may be cut.
Sharing ByRows(const std::vector<Second>& seconds, size_t k, TimeMs unit) {
  size_t usual = 0, near = 0, in_step = 0, skips = 0, rows = 0, n = 0;
  for (size_t g = 1; g + 1 < seconds.size(); ++g) {
    ++n;
    usual += seconds[g].rows == k ? 1 : 0;
    near += seconds[g].rows + 1 >= k && seconds[g].rows <= k + 1 ? 1 : 0;
    in_step += rows % k == 0 ? 1 : 0;
    rows += seconds[g].rows;
    skips += seconds[g + 1].t_ms - seconds[g].t_ms == 2 * unit ? 1 : 0;
  }
  const auto nearly_all = [&](size_t of) { return of * 100 >= n * 95; };
  if (k > 1 && usual == n && skips >= 3) return Sharing::kMany;
  if (!nearly_all(usual) && nearly_all(near) && (k == 1 || !nearly_all(in_step))) return Sharing::kOneVaries;
  return Sharing::kUntold;
}

/// Is the mean power at every place within the second surely that of the first place, to 0.5 %?
bool PowerIsAlike(const Table& table, const std::vector<Second>& seconds, size_t k) {
  if (!table.has(Slot(GpuMetric::kPowerW))) return false;
  const std::vector<float>& v = table.number(Slot(GpuMetric::kPowerW));
  for (size_t place = 1; place < k; ++place) {
    double n = 0, sum = 0, squares = 0, level = 0;
    for (const Second& s : seconds) {
      if (s.rows != k) continue;
      const auto first = static_cast<double>(v[s.from]), d = static_cast<double>(v[s.from + place]) - first;
      if (std::isnan(d)) continue;
      ++n;
      sum += d;
      squares += d * d;
      level += first;
    }
    if (n < 30) return false;
    const double mean = sum / n, error = std::sqrt(std::max(0.0, squares / n - mean * mean) / n);
    if (std::fabs(mean) + 2 * error > 0.005 * level / n) return false;
  }
  return true;
}

}  // namespace

TimeMs StampUnit(const std::vector<TimeMs>& t_ms) {
  const TimeMs unit = CommonUnit(t_ms);
  if (unit == 0) return 0;
  const std::vector<Second> seconds = SecondsOf(t_ms);
  if (seconds.size() < kLeastSeconds) return 0;
  const size_t rows = seconds.back().from + seconds.back().rows;
  if ((rows - seconds.size()) * 20 < rows) return 0;
  size_t next_to = 0;
  for (size_t g = 1; g < seconds.size(); ++g) next_to += seconds[g].t_ms - seconds[g - 1].t_ms == unit ? 1 : 0;
  return 2 * next_to < seconds.size() ? 0 : unit;
}

OneOrMany JudgeSharedSeconds(const Table& table) {
  OneOrMany out;
  const TimeMs unit = StampUnit(table.t_ms);
  if (unit == 0) return out;
  out.unit_ms = unit;
  const std::vector<Second> seconds = SecondsOf(table.t_ms);
  out.k = UsualRows(seconds);
  for (const Second& s : seconds) out.most = std::max(out.most, s.rows);
  out.sharing = out.k > 1 ? ByChanges(table, seconds, out.k, unit > 1000) : Sharing::kUntold;
  if (out.sharing == Sharing::kUntold) out.sharing = ByRows(seconds, out.k, unit);
  if (out.sharing == Sharing::kUntold && out.k > 1 && PowerIsAlike(table, seconds, out.k))
    out.sharing = Sharing::kOneAlike;
  return out;
}

void SpreadOverStamps(TimeMs unit_ms, std::vector<TimeMs>* t_ms) {
  std::vector<TimeMs>& t = *t_ms;
  if (t.empty()) return;
  const auto usual = static_cast<TimeMs>(UsualRows(SecondsOf(t)));
  for (size_t from = 0; from < t.size();) {
    size_t to = from + 1;
    while (to < t.size() && t[to] == t[from]) ++to;
    const auto rows = static_cast<TimeMs>(to - from);
    const bool cut = unit_ms > 1000 && rows < usual && (from == 0 || to == t.size());
    const TimeMs parts = cut ? usual : rows, first = cut && from == 0 ? usual - rows : 0;
    const TimeMs stamp = t[from];
    for (TimeMs i = 0; i < rows; ++i) t[from + static_cast<size_t>(i)] = stamp + unit_ms * (first + i) / parts;
    from = to;
  }
}

}  // namespace sawbill::ingest
