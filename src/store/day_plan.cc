// SPDX-License-Identifier: Apache-2.0
#include "store/day_plan.h"

#include <algorithm>
#include <string>

namespace sawbill::store {
namespace {

/// Files that begin in the same local day, of all nodes.
struct Day {
  std::string day;
  TimeMs first = 0, last = 0;
  int64_t bytes = 0;
  const DayFile* largest = nullptr;
};

std::vector<Day> GroupByDay(std::vector<const DayFile*> files, const TimeZone& tz) {
  std::sort(files.begin(), files.end(), [](const DayFile* a, const DayFile* b) { return a->first < b->first; });
  std::vector<Day> days;
  for (const DayFile* f : files) {
    const std::string day = tz.LocalDay(f->first);
    if (days.empty() || days.back().day != day) days.push_back({day, f->first, f->last, 0, nullptr});
    Day& d = days.back();
    d.last = std::max(d.last, f->last);
    d.bytes += f->text_bytes;
    if (d.largest == nullptr || f->text_bytes > d.largest->text_bytes) d.largest = f;
  }
  return days;
}

std::vector<TimeMs> CutTimes(const std::vector<Day>& days, int64_t limit,
                             const std::function<std::optional<TimeMs>(const DayFile&, double)>& time_at) {
  std::vector<TimeMs> cuts;
  int64_t held = 0;
  for (const Day& d : days) {
    if (held > 0 && held + d.bytes > limit) {
      cuts.push_back(d.first - 1);
      held = 0;
    }
    const int64_t parts = (d.bytes + limit - 1) / limit;
    for (int64_t k = 1; k < parts; ++k) {
      const double fraction = static_cast<double>(k) / static_cast<double>(parts);
      const std::optional<TimeMs> t = time_at(*d.largest, fraction);
      cuts.push_back(t.value_or(d.first + static_cast<TimeMs>(fraction * static_cast<double>(d.last - d.first))));
    }
    held = parts > 1 ? limit : held + d.bytes;
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

}  // namespace

PiecePlan PlanPieces(const std::vector<DayFile>& files, const PlanLimits& limits, const TimeZone& tz,
                     const std::function<std::optional<TimeMs>(const DayFile&, double)>& time_at) {
  const bool any_gpu =
      std::any_of(files.begin(), files.end(), [](const DayFile& f) { return f.kind == DayKind::kGpu && f.has_rows; });
  PiecePlan plan;
  std::vector<const DayFile*> sized;
  bool found = false;
  for (const DayFile& f : files) {
    if (!f.has_rows || (limits.from && f.last <= *limits.from) || (limits.to && f.first > *limits.to)) continue;
    if (f.kind != DayKind::kHost || !any_gpu) sized.push_back(&f);
    // A folder without cards still has a host to show.
    if (any_gpu ? f.kind != DayKind::kGpu : f.kind == DayKind::kProcess) continue;
    plan.period.from = found ? std::min(plan.period.from, f.first) : f.first;
    if (!f.last_assumed) plan.period.to = found ? std::max(plan.period.to, f.last) : f.last;
    found = true;
  }
  if (!found) return plan;
  plan.period.to = std::max(plan.period.to, plan.period.from);
  if (limits.from) plan.period.from = std::max(plan.period.from, *limits.from);
  if (limits.to) plan.period.to = std::min(plan.period.to, *limits.to);
  TimeMs from = plan.period.from;
  for (const TimeMs cut : CutTimes(GroupByDay(sized, tz), std::max<int64_t>(limits.max_piece_bytes, 1), time_at)) {
    if (cut <= from || cut >= plan.period.to) continue;
    plan.pieces.push_back({from, cut});
    from = cut;
  }
  plan.pieces.push_back({from, plan.period.to});
  return plan;
}

}  // namespace sawbill::store
