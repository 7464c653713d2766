// SPDX-License-Identifier: Apache-2.0
#include "model/recording.h"

#include <algorithm>
#include <numeric>

#include "model/stretches.h"

namespace sawbill::model {
namespace {

/// Order of rows by time with later duplicates removed; empty when nothing needs to change.
std::vector<size_t> KeptOrder(const std::vector<TimeMs>& t_ms) {
  bool sound = true;
  for (size_t i = 1; i < t_ms.size() && sound; ++i) sound = t_ms[i] > t_ms[i - 1];
  if (sound) return {};
  std::vector<size_t> order(t_ms.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return t_ms[a] < t_ms[b]; });
  order.erase(std::unique(order.begin(), order.end(), [&](size_t a, size_t b) { return t_ms[a] == t_ms[b]; }),
              order.end());
  return order;
}

template <typename T>
void Permute(std::vector<T>* v, const std::vector<size_t>& order) {
  if (v->empty()) return;
  std::vector<T> out;
  out.reserve(order.size());
  for (const size_t i : order) out.push_back((*v)[i]);
  *v = std::move(out);
}

template <typename Track>
bool SortColumns(Track* track, DataQuality* quality) {
  const std::vector<size_t> order = KeptOrder(track->t_ms);
  if (order.empty()) return false;
  if (order.size() < track->t_ms.size()) {
    quality->Count(Odd::kDuplicateSample, {}, static_cast<int64_t>(track->t_ms.size() - order.size()));
  }
  for (auto& column : track->columns) Permute(&column, order);
  if constexpr (requires { track->energy_j; }) Permute(&track->energy_j, order);
  Permute(&track->t_ms, order);
  return true;
}

/// The upper median of the distances. REQUIRES: two times or more.
TimeMs MedianGap(const std::vector<TimeMs>& t_ms) {
  constexpr TimeMs kShort = 4096;
  const size_t rank = (t_ms.size() - 1) / 2;
  // By far most are of a few seconds at most: counted, not sorted. Neighbours go to different halves: they are mostly
  // alike, and an addition to the same count would wait for the one before it.
  std::vector<uint32_t> counts(2 * kShort, 0);
  for (size_t i = 1; i < t_ms.size(); ++i) {
    const TimeMs gap = t_ms[i] - t_ms[i - 1];
    if (gap >= 0 && gap < kShort) ++counts[static_cast<size_t>(gap + (i & 1) * kShort)];
  }
  const bool ascending = std::is_sorted(t_ms.begin(), t_ms.end());
  size_t below = 0;
  for (size_t gap = 0; ascending && gap < kShort; ++gap) {
    below += counts[gap] + counts[gap + kShort];
    if (below > rank) return static_cast<TimeMs>(gap);
  }
  std::vector<TimeMs> gaps;
  gaps.reserve(t_ms.size() - 1);
  for (size_t i = 1; i < t_ms.size(); ++i) gaps.push_back(t_ms[i] - t_ms[i - 1]);
  const auto mid = gaps.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(gaps.begin(), mid, gaps.end());
  return *mid;
}

}  // namespace

uint32_t StringPool::Intern(std::string_view s) {
  const auto it = ids_.find(std::string(s));
  if (it != ids_.end()) return it->second;
  const auto id = static_cast<uint32_t>(strings_.size());
  strings_.emplace_back(s);
  ids_.emplace(std::string(s), id);
  return id;
}

Coverage Cover(const std::vector<TimeMs>& t_ms) {
  Coverage c;
  c.dt_s.assign(t_ms.size(), 0.0F);
  if (t_ms.size() < 2) return c;
  c.median_interval_s = static_cast<float>(Seconds(MedianGap(t_ms)));
  const double limit = kMaxIntervalFactor * c.median_interval_s;
  for (size_t i = 1; i < t_ms.size(); ++i) {
    const double gap = Seconds(t_ms[i] - t_ms[i - 1]);
    const double dt = std::min(gap, limit);
    c.dt_s[i] = static_cast<float>(dt);
    c.covered_s += dt;
    if (gap > limit) {
      c.hole_s += gap - dt;
      ++c.holes;
    }
  }
  FitToStretches(t_ms, &c);
  return c;
}

void SortAndDeduplicate(GpuTrack* track, DataQuality* quality) { SortColumns(track, quality); }
void SortAndDeduplicate(HostTrack* track, DataQuality* quality) { SortColumns(track, quality); }

}  // namespace sawbill::model
