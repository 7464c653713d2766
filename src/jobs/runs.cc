// SPDX-License-Identifier: Apache-2.0
#include "jobs/runs.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace sawbill::jobs {
namespace {
constexpr double kSilentIntervals = 3.0;
/// Ranks of one job start within moments of each other; a later start under the same name is the next run (a restart).
constexpr double kSameStartS = 60.0;

using HoldKey = std::tuple<size_t, int64_t, uint32_t, uint32_t, uint32_t>;  // card, pid, user, name, job

std::vector<double> RowGaps(const model::Recording& r) {
  std::map<std::pair<int32_t, int64_t>, TimeMs> last;
  std::vector<double> gaps;
  for (const auto& p : r.processes) {
    auto [it, fresh] = last.try_emplace({p.card, p.pid}, p.t_ms);
    if (!fresh) {
      if (p.t_ms > it->second) gaps.push_back(Seconds(p.t_ms - it->second));
      it->second = p.t_ms;
    }
  }
  return gaps;
}

struct HoldWithNames {
  Hold hold;
  uint32_t user, name, job;
  double started_s;
};

std::vector<HoldWithNames> FindHolds(const model::Recording& r, double interval_s) {
  std::map<HoldKey, size_t> open;
  std::vector<HoldWithNames> holds;
  for (size_t i = 0; i < r.processes.size(); ++i) {
    const auto& p = r.processes[i];
    if (p.card < 0) continue;
    const HoldKey key{static_cast<size_t>(p.card), p.pid, p.user, p.name, p.job};
    const auto it = open.find(key);
    const bool goes_on =
        it != open.end() && Seconds(p.t_ms - holds[it->second].hold.seen.to) <= kSilentIntervals * interval_s;
    if (!goes_on) {
      HoldWithNames h{{static_cast<size_t>(p.card), p.pid, {p.t_ms, p.t_ms}, {}}, p.user, p.name, p.job, p.started_s};
      open[key] = holds.size();
      holds.push_back(std::move(h));
    }
    HoldWithNames& h = holds[open[key]];
    h.hold.seen.to = p.t_ms;
    h.hold.rows.push_back(i);
    if (IsMissing(h.started_s)) h.started_s = p.started_s;
  }
  std::stable_sort(holds.begin(), holds.end(),
                   [](const auto& a, const auto& b) { return a.hold.seen.from < b.hold.seen.from; });
  return holds;
}

}  // namespace

double ProcessInterval(const model::Recording& r) {
  std::vector<double> gaps = RowGaps(r);
  if (gaps.empty()) return 0;
  const auto mid = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), mid, gaps.end());
  return *mid;
}

std::vector<Run> FindRuns(const model::Recording& r) {
  const double interval_s = std::max(ProcessInterval(r), 1.0);
  TimeMs first = INT64_MAX, last = INT64_MIN;
  for (const auto& g : r.gpus) {
    if (g.t_ms.empty()) continue;
    first = std::min(first, g.t_ms.front());
    last = std::max(last, g.t_ms.back());
  }
  if (first > last && !r.processes.empty()) {  // cards without any reading: the processes alone tell of the time
    first = r.processes.front().t_ms - static_cast<TimeMs>(interval_s * 1000);
    last = r.processes.back().t_ms;
  }
  std::vector<Run> runs;
  for (auto& h : FindHolds(r, interval_s)) {
    const std::string& node = r.gpus[h.hold.card].card.node;
    const std::string& job = r.strings.Get(h.job);
    const std::string& user = r.strings.Get(h.user);
    const std::string& program = r.strings.Get(h.name);
    const TimeMs row_start = h.hold.seen.from - static_cast<TimeMs>(interval_s * 1000);
    TimeMs start = std::max(first, row_start);
    bool start_known = false;
    if (IsPresent(h.started_s)) {
      const auto started = static_cast<TimeMs>(h.started_s * 1000);
      start_known = started >= first - static_cast<TimeMs>(2 * interval_s * 1000);
      if (started <= h.hold.seen.from) start = std::max(first, started);
    }
    // The same job: a process on another card, or another process that began at the same time.
    Run* home = nullptr;
    for (auto it = runs.rbegin(); it != runs.rend() && home == nullptr; ++it) {
      const bool same_name =
          it->node == node && it->user == user && (job.empty() ? it->program == program : it->job == job);
      const bool overlaps = start <= it->range.to;
      const bool same_start = std::abs(Seconds(start - it->range.from)) <= kSameStartS;
      const bool same_pid = std::any_of(it->holds.begin(), it->holds.end(),
                                        [&](const Hold& o) { return o.pid == h.hold.pid && o.card != h.hold.card; });
      if (same_name && overlaps && (same_start || same_pid)) home = &*it;
    }
    if (home == nullptr) {
      runs.push_back({job, user, program, node, {}, {}, {start, h.hold.seen.to}, start_known, false});
      home = &runs.back();
    }
    home->range.from = std::min(home->range.from, start);
    home->range.to = std::max(home->range.to, h.hold.seen.to);
    if (std::find(home->cards.begin(), home->cards.end(), h.hold.card) == home->cards.end()) {
      home->cards.push_back(h.hold.card);
    }
    home->holds.push_back(std::move(h.hold));
  }
  for (Run& run : runs) {
    std::sort(run.cards.begin(), run.cards.end());
    const double slack_ms = 2 * interval_s * 1000;
    run.ends_after = static_cast<double>(last - run.range.to) <= slack_ms;
    // A process leaves between two looks: half an interval after it was last seen, on average.
    run.range.to = run.ends_after ? last : std::min(last, run.range.to + static_cast<TimeMs>(interval_s * 500));
  }
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.range.from < b.range.from; });
  return runs;
}

}  // namespace sawbill::jobs
