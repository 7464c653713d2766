// SPDX-License-Identifier: Apache-2.0
// Runs of a piece. Without process rows the load itself is taken as a job, and is said to be: an episode of work on a
// card, joined with the episodes of other cards of the node that begin and end with it.
#include <algorithm>

#include "analysis/coupling.h"
#include "analysis/parallel.h"
#include "analysis/piece.h"
#include "analysis/recorded_runs.h"
#include "analysis/silent.h"

namespace sawbill::analysis {
namespace {

constexpr double kEpisodeGapS = 600;  // quiet that separates two episodes of work

struct Episode {
  size_t card;
  model::TimeRange range;
};

std::vector<Episode> Episodes(const PreparedCard& c, size_t card) {
  std::vector<Episode> out;
  size_t i = 0;
  const size_t n = c.size();
  while (i < n) {
    const auto begin = FirstWork(c, i, n);
    if (!begin) break;
    size_t last = *begin;
    for (size_t k = *begin; k < n; ++k) {
      if (Seconds(c.t(k) - c.t(last)) > kEpisodeGapS) break;
      if (c.util[k] >= 5) last = k;
    }
    out.push_back({card, {c.t(*begin) - static_cast<TimeMs>(c.dt(*begin) * 1000), c.t(last)}});
    i = last + 1;
  }
  return out;
}

/// Of episodes on one card, what runs that are known do not answer for. A load that goes on for a moment behind a run's
/// end is no job of its own.
std::vector<Episode> Unanswered(std::vector<Episode> episodes, const Piece& p) {
  constexpr double kLeastS = 30;
  for (const RunAnalysis& a : p.runs) {
    std::vector<Episode> left;
    for (const Episode& e : episodes) {
      const auto& cards = a.run.cards;
      const model::TimeRange& r = a.run.range;
      if (std::find(cards.begin(), cards.end(), e.card) == cards.end() || r.to <= e.range.from ||
          r.from >= e.range.to) {
        left.push_back(e);
        continue;
      }
      if (Seconds(r.from - e.range.from) >= kLeastS) left.push_back({e.card, {e.range.from, r.from}});
      if (Seconds(e.range.to - r.to) >= kLeastS) left.push_back({e.card, {r.to, e.range.to}});
    }
    episodes = std::move(left);
  }
  return episodes;
}

bool SameJob(const model::TimeRange& a, const model::TimeRange& b) {
  const double both = Seconds(std::min(a.to, b.to) - std::max(a.from, b.from));
  const double either = Seconds(std::max(a.to, b.to) - std::min(a.from, b.from));
  return both >= 0.8 * either;
}

/// In a container the driver's processes may have no names, or none be seen at all. Where a record (`sawbill run`)
/// tells of one run in that time and of no other, it is that one.
void NameByRecord(const model::Recording& r, jobs::Run* run) {
  const model::RunRow* only = nullptr;
  for (const model::RunRow& row : r.runs) {
    if (row.t_ms > run->range.to || (!run->node.empty() && !row.node.empty() && row.node != run->node)) continue;
    if (row.state == "end" && row.t_ms < run->range.from) continue;
    if (row.user.empty() && row.job.empty() && row.program.empty()) continue;
    if (!row.gpus.empty()) continue;  // it says where it was, and stands for itself (UnseenRuns)
    if (only != nullptr && only->run != row.run) return;
    only = &row;
  }
  if (only == nullptr) return;
  run->job = only->job;
  run->user = only->user;
  run->program = only->program;
}

/// The runs, those cut up whose processes are seen to be jobs of their own.
std::vector<jobs::Run> Apart(std::vector<jobs::Run> runs, const Piece& p) {
  std::vector<std::vector<jobs::Run>> parts(runs.size());
  ParallelFor(runs.size(), p.threads,
              [&](size_t i) { parts[i] = SplitUncoupled(*p.recording, p.cards, std::move(runs[i])); });
  std::vector<jobs::Run> out;
  for (auto& some : parts) out.insert(out.end(), some.begin(), some.end());
  return out;
}

/// Looks at each run, several at once, and appends them in their order.
void AddRuns(std::vector<jobs::Run> runs, bool assumed, Piece* p) {
  std::vector<RunAnalysis> done(runs.size());
  ParallelFor(runs.size(), p->threads, [&](size_t i) {
    const std::vector<size_t> silent = assumed ? std::vector<size_t>() : TakeSilent(p->cards, &runs[i]);
    done[i] = AnalyzeRun(*p->recording, p->cards, std::move(runs[i]), assumed);
    done[i].run.cards.insert(done[i].run.cards.end(), silent.begin(), silent.end());
  });
  for (RunAnalysis& a : done) p->runs.push_back(std::move(a));
}

}  // namespace

std::optional<bool> LooksUnheld(const PreparedCard& c, size_t i) {
  const float used = c.track->At(model::GpuMetric::kMemUsedMb, i);
  if (IsMissing(used)) return std::nullopt;
  // Drivers that count their own reserve as "used" show 300 to 900 MiB on a card that nobody holds.
  return used <= 950;
}

void FindPieceRuns(Piece* p) {
  const model::Recording& r = *p->recording;
  std::set<std::string> nodes_with_processes;
  for (const auto& row : r.processes) {
    if (row.card >= 0) nodes_with_processes.insert(r.gpus[static_cast<size_t>(row.card)].card.node);
  }
  std::vector<jobs::Run> seen = jobs::FindRuns(r);
  for (jobs::Run& run : seen) {
    if (run.job.empty() && run.user.empty() && run.program.empty()) NameByRecord(r, &run);
    NameJob(r, &run);
  }
  AddRuns(Apart(std::move(seen), *p), false, p);
  AddRuns(UnseenRuns(*p), false, p);
  std::vector<jobs::Run> assumed;
  for (size_t k = 0; k < p->cards.size(); ++k) {
    const std::string& node = r.gpus[k].card.node;
    if (nodes_with_processes.count(node) != 0) continue;
    for (const Episode& e : Unanswered(Episodes(p->cards[k], k), *p)) {
      const auto it = std::find_if(assumed.begin(), assumed.end(), [&](const jobs::Run& x) {
        return x.node == node && SameJob(x.range, e.range) &&
               std::find(x.cards.begin(), x.cards.end(), k) == x.cards.end();
      });
      if (it == assumed.end()) {
        assumed.push_back({"", "", "", node, {k}, {}, e.range, false, false});
      } else {
        it->cards.push_back(k);
        it->range.from = std::min(it->range.from, e.range.from);
        it->range.to = std::max(it->range.to, e.range.to);
      }
    }
  }
  for (jobs::Run& run : assumed) NameByRecord(r, &run);
  AddRuns(Apart(std::move(assumed), *p), true, p);
  std::stable_sort(p->runs.begin(), p->runs.end(),
                   [](const RunAnalysis& a, const RunAnalysis& b) { return a.run.range.from < b.run.range.from; });
}

}  // namespace sawbill::analysis
