// SPDX-License-Identifier: Apache-2.0
#include "ingest/join_nearby.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "ingest/track_rows.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::GpuTrack;

constexpr size_t kLeastRows = 3;

/// Rows that have a reading of utilisation, their median distance, and for every row the nearest of them.
struct Base {
  std::vector<TimeMs> t_ms;
  std::vector<size_t> rows;
  TimeMs interval_ms = 0;
};

Base BaseOf(const GpuTrack& g, const std::vector<float>& util) {
  Base b;
  for (size_t i = 0; i < util.size(); ++i) {
    if (IsMissing(util[i])) continue;
    b.rows.push_back(i);
    b.t_ms.push_back(g.t_ms[i]);
  }
  if (b.rows.size() < kLeastRows) return b;
  std::vector<TimeMs> gaps(b.rows.size() - 1);
  for (size_t i = 1; i < b.rows.size(); ++i) gaps[i - 1] = b.t_ms[i] - b.t_ms[i - 1];
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
  b.interval_ms = gaps[gaps.size() / 2];
  return b;
}

/// The place in `b` nearest to time t, the earlier of two. REQUIRES: b is not empty.
size_t Nearest(const Base& b, TimeMs t) {
  const auto after = std::lower_bound(b.t_ms.begin(), b.t_ms.end(), t);
  if (after == b.t_ms.begin()) return 0;
  const auto at = static_cast<size_t>(after - b.t_ms.begin());
  if (after == b.t_ms.end()) return at - 1;
  return t - b.t_ms[at - 1] <= *after - t ? at - 1 : at;
}

/// Moves one column's readings; returns the longest way. Rows that lost a reading are marked.
template <typename Value>
TimeMs MoveColumn(const GpuTrack& g, const Base& b, std::vector<Value>* column, std::vector<char>* left) {
  const auto missing = [](Value v) { return std::isnan(v); };
  const size_t there = column->size() - static_cast<size_t>(std::count_if(column->begin(), column->end(), missing));
  size_t beside = 0;
  for (const size_t row : b.rows) beside += missing((*column)[row]) ? 0 : 1;
  if (there == 0 || beside * 10 >= there) return 0;
  // The nearest reading of each row of utilisation that has none of its own.
  std::vector<size_t> chosen(b.rows.size(), SIZE_MAX);
  const auto way = [&](size_t place, size_t row) { return std::llabs(g.t_ms[row] - b.t_ms[place]); };
  for (size_t row = 0; row < column->size(); ++row) {
    if (missing((*column)[row])) continue;
    const size_t place = Nearest(b, g.t_ms[row]);
    if (2 * way(place, row) > b.interval_ms || !missing((*column)[b.rows[place]])) continue;
    if (chosen[place] == SIZE_MAX || way(place, row) < way(place, chosen[place])) chosen[place] = row;
  }
  TimeMs longest = 0;
  for (size_t place = 0; place < chosen.size(); ++place) {
    if (chosen[place] == SIZE_MAX) continue;
    std::swap((*column)[b.rows[place]], (*column)[chosen[place]]);
    (*left)[chosen[place]] = 1;
    longest = std::max<TimeMs>(longest, way(place, chosen[place]));
  }
  return longest;
}

/// Takes out the marked rows in which nothing is left.
void DropLeft(const std::vector<char>& left, GpuTrack* g) {
  std::vector<char> keep(left.size());
  for (size_t i = 0; i < keep.size(); ++i) keep[i] = left[i] == 0 ? 1 : 0;
  MarkRowsWithReading(*g, &keep);
  KeepRows(keep, g);
}

}  // namespace

Joined JoinNearby(GpuTrack* track) {
  GpuTrack& g = *track;
  const std::vector<float>& util = g.columns[static_cast<size_t>(GpuMetric::kSmUtil)];
  if (std::none_of(util.begin(), util.end(), [](float v) { return IsMissing(v); })) return {};
  const Base b = BaseOf(g, util);
  if (b.rows.size() < kLeastRows) return {};
  Joined joined{0, b.interval_ms};
  std::vector<char> left(g.size());
  for (size_t m = 0; m < model::kGpuMetrics; ++m) {
    if (m == static_cast<size_t>(GpuMetric::kSmUtil) || g.columns[m].empty()) continue;
    joined.moved_ms = std::max(joined.moved_ms, MoveColumn(g, b, &g.columns[m], &left));
  }
  if (!g.energy_j.empty()) joined.moved_ms = std::max(joined.moved_ms, MoveColumn(g, b, &g.energy_j, &left));
  if (joined.moved_ms > 0) DropLeft(left, &g);
  return joined;
}

void NoteJoined(const Joined& joined, const ReadContext& context, model::Recording* out) {
  if (joined.moved_ms == 0) return;
  const auto seconds = [](TimeMs ms) { return FormatShortest(static_cast<double>(ms) / 1000); };
  out->notes.push_back(Tr(context.lang, Msg::kIngestNoteJoined, seconds(joined.moved_ms), seconds(joined.interval_ms)));
}

}  // namespace sawbill::ingest
