// SPDX-License-Identifier: Apache-2.0
#include "analysis/recorded_runs.h"

#include <algorithm>

#include "base/text.h"

namespace sawbill::analysis {
namespace {

constexpr TimeMs kSlackMs = 30'000;  // a process is seen up to three looks, at 10 s each, after it began or ended

/// What the rows of one run on one node say together.
struct Noted {
  model::RunRow row;
  model::TimeRange range;
  bool whole = false;  // start and end are known; a start without an end may be of a crash long ago
  std::set<std::string> gpus;
};

/// Of the rows that `wanted` takes.
template <typename Wanted>
std::vector<Noted> Notes(const model::Recording& r, const Wanted& wanted) {
  std::map<std::pair<std::string, std::string>, Noted> by_run;
  for (const model::RunRow& row : r.runs) {  // by time
    if (!wanted(row)) continue;
    const auto [it, fresh] = by_run.try_emplace({row.run, row.node});
    Noted& n = it->second;
    if (fresh) {
      n.row = row;
      n.range = {row.t_ms, row.t_ms};
    }
    n.range.to = row.t_ms;
    n.whole = n.row.state == "start" && row.state == "end";
    if (row.gpus.empty()) continue;
    n.gpus.clear();
    for (const std::string_view gpu : Split(row.gpus, '|')) n.gpus.emplace(gpu);
  }
  std::vector<Noted> out;
  for (auto& [key, n] : by_run) out.push_back(std::move(n));
  return out;
}

bool SameNode(const std::string& a, const std::string& b) { return a.empty() || b.empty() || a == b; }

bool Overlap(const model::TimeRange& a, const model::TimeRange& b) { return a.from < b.to && b.from < a.to; }

bool Same(const Noted& n, const jobs::Run& run) {
  if (!SameNode(n.row.node, run.node) || !Overlap(n.range, run.range)) return false;
  if (!run.job.empty()) return run.job == n.row.job || run.job == n.row.run;
  return n.row.job.empty() && run.user == n.row.user && run.program == n.row.program;
}

}  // namespace

void NameJob(const model::Recording& r, jobs::Run* run) {
  if (!run->job.empty() || run->user.empty()) return;
  const std::vector<Noted> all = Notes(r, [&](const model::RunRow& row) {
    return !row.job.empty() && row.user == run->user && SameNode(row.node, run->node);
  });
  const Noted* only = nullptr;
  for (const Noted& n : all) {
    if (!n.whole) continue;
    if (n.range.from > run->range.from + kSlackMs || n.range.to < run->range.to - kSlackMs) continue;
    const bool all_cards = std::all_of(run->cards.begin(), run->cards.end(),
                                       [&](size_t k) { return n.gpus.contains(r.gpus[k].card.gpu); });
    if (!all_cards) continue;
    if (only != nullptr) return;
    only = &n;
  }
  if (only != nullptr) run->job = only->row.job;
}

std::vector<jobs::Run> UnseenRuns(const Piece& p) {
  const model::Recording& r = *p.recording;
  std::vector<jobs::Run> out;
  for (const Noted& n : Notes(r, [](const model::RunRow&) { return true; })) {
    const bool seen = std::any_of(p.runs.begin(), p.runs.end(), [&](const RunAnalysis& a) { return Same(n, a.run); });
    const model::TimeRange range{std::max(n.range.from, p.range.from), std::min(n.range.to, p.range.to)};
    if (seen || !n.whole || n.gpus.empty() || range.empty()) continue;
    jobs::Run run{n.row.job, n.row.user, n.row.program, n.row.node, {}, {}, range, n.range.from >= p.range.from, false};
    for (size_t k = 0; k < p.cards.size(); ++k) {
      const model::CardInfo& card = r.gpus[k].card;
      if (!n.gpus.contains(card.gpu) || !SameNode(n.row.node, card.node)) continue;
      const bool held = std::any_of(p.runs.begin(), p.runs.end(), [&](const RunAnalysis& a) {
        const auto& cards = a.run.cards;
        return std::find(cards.begin(), cards.end(), k) != cards.end() && Overlap(a.run.range, range);
      });
      if (held) continue;
      run.node = card.node;
      run.cards.push_back(k);
    }
    if (!run.cards.empty()) out.push_back(std::move(run));
  }
  return out;
}

}  // namespace sawbill::analysis
