// SPDX-License-Identifier: Apache-2.0
#include "analysis/holders.h"

#include <algorithm>

namespace sawbill::analysis {
namespace {

using model::ProcessMetric;

/// Rows show a process of the run on the card before and at `t`. The time from a start to the first row and from the
/// last row to an end is an estimate: there the run that began first keeps the card, as a restart is no sharing.
/// A run that only its note tells of is there from start to end.
bool Seen(const jobs::Run& run, size_t card, TimeMs t) {
  if (run.holds.empty()) return true;
  return std::any_of(run.holds.begin(), run.holds.end(),
                     [&](const jobs::Hold& h) { return h.card == card && h.seen.from < t && t <= h.seen.to; });
}

/// Percent of the card's SMs that the run's processes used, by the rows that speak for `t`; NaN where not read.
double SmUtil(const model::Recording& r, const jobs::Run& run, size_t card, TimeMs t) {
  double sum = 0;
  for (const jobs::Hold& h : run.holds) {
    if (h.card != card || h.seen.from >= t || t > h.seen.to) continue;
    // A row speaks for the time before it.
    const auto row = std::lower_bound(h.rows.begin(), h.rows.end(), t,
                                      [&](size_t i, TimeMs at) { return r.processes[i].t_ms < at; });
    if (row == h.rows.end()) continue;
    sum += r.processes[*row].Value(ProcessMetric::kSmUtil);
  }
  return sum;
}

}  // namespace

Holder::Basis FindHolders(const Piece& p, const std::vector<int>& runs, size_t card, TimeMs t,
                          std::vector<Holder>* holders) {
  holders->clear();
  const auto run = [&](size_t k) -> const jobs::Run& { return p.runs[static_cast<size_t>(runs[k])].run; };
  size_t within = 0, first = 0;
  for (size_t k = 0; k < runs.size(); ++k) {
    const model::TimeRange& range = run(k).range;
    if (t <= range.from || t > range.to) continue;
    if (within++ == 0) first = k;
    if (Seen(run(k), card, t)) holders->push_back({k, 1});
  }
  if (holders->size() < 2) {
    holders->clear();
    if (within > 0) holders->push_back({first, 1});
    return Holder::Basis::kAlone;
  }
  double sum = 0;
  for (Holder& h : *holders) sum += h.share = SmUtil(*p.recording, run(h.plan), card, t);
  const bool measured = IsPresent(sum);
  for (Holder& h : *holders) {
    // Nothing ran at all: the idle second belongs to all alike.
    h.share = measured && sum > 0 ? h.share / sum : 1.0 / static_cast<double>(holders->size());
  }
  return measured ? Holder::Basis::kMeasured : Holder::Basis::kEqual;
}

}  // namespace sawbill::analysis
