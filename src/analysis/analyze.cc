// SPDX-License-Identifier: Apache-2.0
// Pieces on a few threads, results merged in order of time. Memory is that of the pieces in work, whatever their
// number.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "analysis/merge.h"
#include "analysis/parallel.h"
#include "analysis/silent.h"
#include "base/text.h"
#include "wave/stats.h"

namespace sawbill::analysis {
namespace {

/// Who the run is: the names that its processes carry, and what run records say of the same job at the same time.
RunFacts Named(const model::Recording& r, const RunAnalysis& a) {
  constexpr TimeMs kSlackMs = 120'000;  // a record is written when the job starts, its processes are seen later
  RunFacts f;
  f.job = a.run.job;
  f.user = a.run.user;
  f.program = a.run.program;
  f.node = a.run.node;
  for (const model::RunRow& row : r.runs) {
    const bool same_node = row.node.empty() || f.node.empty() || row.node == f.node;
    const bool same_job = f.job.empty() ? !row.user.empty() && row.user == f.user && row.program == f.program
                                        : row.job == f.job || row.run == f.job;
    const bool then = row.t_ms > a.run.range.from - kSlackMs && row.t_ms <= a.run.range.to + kSlackMs;
    if (!same_node || !same_job || (!row.user.empty() && !f.user.empty() && row.user != f.user) || !then) continue;
    if (!row.project.empty()) f.project = row.project;
    if (row.state == "end" && !row.exit_status.empty()) f.exit_status = row.exit_status;
  }
  return f;
}

void Runs(const Piece& p, PieceResult* out) {
  const TimeMs edge_ms = 60000;
  for (const RunAnalysis& a : p.runs) {
    RunFacts f = Named(*p.recording, a);
    f.cards = a.run.cards;
    f.range = a.run.range;
    f.active = a.active;
    f.assumed = a.assumed;
    f.begins_before = a.run.range.from <= p.range.from + edge_ms;
    f.ends_after = a.run.range.to >= p.range.to - edge_ms;
    f.features = a.features;
    out->runs.push_back(std::move(f));
  }
}

void Filter(model::Recording* r, const Options& o) {
  if (!o.card_filter) return;
  std::vector<int32_t> to(r->gpus.size(), -1);
  std::vector<model::GpuTrack> kept;
  for (size_t i = 0; i < r->gpus.size(); ++i) {
    if (!o.card_filter(r->gpus[i].card)) continue;
    to[i] = static_cast<int32_t>(kept.size());
    kept.push_back(std::move(r->gpus[i]));
  }
  r->gpus = std::move(kept);
  std::vector<model::ProcessRow> rows;
  for (model::ProcessRow& p : r->processes) {
    if (p.card >= 0 && to[static_cast<size_t>(p.card)] < 0) continue;
    if (p.card >= 0) p.card = to[static_cast<size_t>(p.card)];
    rows.push_back(p);
  }
  r->processes = std::move(rows);
}

bool OneNode(const model::TelemetrySource& source) {
  const auto& cards = source.cards();
  return std::all_of(cards.begin(), cards.end(), [&](const auto& c) { return c.node == cards.front().node; });
}

/// First and last sign of each node, and the range that the piece accounts for.
void FindRanges(const model::TelemetrySource& source, size_t index, const Options& o, const model::Recording& recording,
                Piece* piece, PieceResult* result) {
  Piece& p = *piece;
  PieceResult& out = *result;
  model::TimeRange seen{INT64_MAX, INT64_MIN};
  for (const PreparedCard& c : p.cards) {
    if (c.size() == 0) continue;
    // A first sample before the piece is the last of the piece before: the interval after it belongs here.
    const TimeMs from = c.t(0), to = std::min(p.range.to, c.t(c.size() - 1));
    const auto [it, fresh] = out.nodes.try_emplace(c.track->card.node, model::TimeRange{from, std::max(from, to)});
    if (!fresh) {
      it->second.from = std::min(it->second.from, from);
      it->second.to = std::max(it->second.to, to);
    }
    seen.from = std::min(seen.from, from);
    seen.to = std::max(seen.to, to);
  }
  // The recorder was there while it wrote anything of the node, so that time belongs to the account.
  const auto widen = [&](const std::string& node, TimeMs t) {
    const auto it = out.nodes.find(node);
    if (o.clip && (t < o.clip->from || t > o.clip->to)) return;
    const bool before = index > 0 && t <= source.pieces()[index].from;
    const bool after = index + 1 < source.pieces().size() && t > source.pieces()[index].to;
    if (it == out.nodes.end() || before || after) return;
    it->second.from = std::min(it->second.from, t);
    it->second.to = std::max(it->second.to, t);
    seen.from = std::min(seen.from, t);
    seen.to = std::max(seen.to, t);
  };
  constexpr model::TimeRange kNever{INT64_MAX, INT64_MIN};
  for (const PreparedCard& c : p.cards) out.nodes.try_emplace(c.track->card.node, kNever);
  for (const model::HostTrack& h : recording.hosts) {
    for (const TimeMs t : h.t_ms) widen(h.node, t);
  }
  // Cards of which nothing is known, and no host: they were there as long as their rows.
  for (auto& [node, range] : out.nodes) {
    if (range.from <= range.to) continue;
    range = p.range;
    seen = {std::min(seen.from, range.from), std::max(seen.to, range.to)};
  }
  // The period asked for lies within the recording: where there is one node, it was there all the time.
  if (o.clip && out.nodes.size() == 1 && OneNode(source)) {
    model::TimeRange& node = out.nodes.begin()->second;
    const model::TimeRange whole = source.period();
    const bool first = index == 0, last = index + 1 == source.pieces().size();
    // A side that is open is not cut: it ends where the recording does.
    if (first && o.clip->from >= whole.from) node.from = seen.from = std::min(node.from, o.clip->from);
    if (last && o.clip->to <= whole.to) node.to = seen.to = std::max(node.to, o.clip->to);
  }
  if (seen.from <= seen.to)
    p.range = {index > 0 ? std::max(p.range.from, seen.from) : seen.from,
               index + 1 < source.pieces().size() ? std::min(p.range.to, seen.to) : seen.to};
}

/// A card whose first or last sample lies inside the node's time was not measured there. MIG instances are there only
/// while they have samples, and their card only where they have none.
void AccountEdges(const Options& o, PieceResult* result, Piece* piece) {
  Piece& p = *piece;
  Calendar calendar(o.tz, o.cuts);
  for (size_t k = 0; k < p.cards.size(); ++k) {
    const PreparedCard& c = p.cards[k];
    if (c.size() == 0 || IsInstance(c.track->card) || !p.split[k].empty()) continue;
    const model::TimeRange& node = result->nodes[c.track->card.node];
    const auto add = [&](TimeMs from, TimeMs to) {
      if (to <= from) return;
      calendar.Spread(from, to, [&](const Calendar::Part& part, double share) {
        p.account[{k, -1, part.day, part.span}][model::Index(model::Line::kUnmeasured)] += share * Seconds(to - from);
      });
    };
    add(node.from, c.t(0));
    add(std::min(p.range.to, c.t(c.size() - 1)), node.to);
  }
}

/// When the instances of each card are billed in its place.
void FindSplits(Piece* p) {
  p->split.assign(p->cards.size(), {});
  for (const PreparedCard& instance : p->cards) {
    const model::CardInfo& i = instance.track->card;
    if (!IsInstance(i) || instance.size() == 0) continue;
    for (size_t k = 0; k < p->cards.size(); ++k) {
      if (!IsParentOf(p->cards[k].track->card, i)) continue;
      const double dt = instance.coverage.median_interval_s;
      const model::TimeRange there{instance.t(0) - static_cast<TimeMs>(dt * 1000), instance.t(instance.size() - 1)};
      model::TimeRange& split = p->split[k];
      split = split.empty() ? there : model::TimeRange{std::min(split.from, there.from), std::max(split.to, there.to)};
    }
  }
}

/// Cuts the piece to the period asked for, and makes room for what of each sample is in the report.
void Cut(const Options& o, model::Recording* recording, Piece* p) {
  for (size_t k = 0; o.clip && k < p->cards.size(); ++k) ClipTo(*o.clip, &recording->gpus[k], &p->cards[k]);
  FindSplits(p);
  p->shared.assign(p->cards.size(), {});
  const bool part_only =
      o.run_filter || std::any_of(p->split.begin(), p->split.end(), [](const auto& s) { return !s.empty(); });
  if (!part_only) return;
  for (const PreparedCard& c : p->cards) p->selected_s.emplace_back(c.size(), 0.0F);
}

/// Notes who was there, and which runs are wanted.
void Select(const Options& o, Piece* p, PieceResult* out) {
  for (const RunAnalysis& a : p->runs) {
    const RunFacts f = Named(*p->recording, a);
    if (!f.job.empty()) out->jobs.insert(f.job);
    if (!f.user.empty()) out->users.insert(f.user);
    if (!f.project.empty()) out->projects.insert(f.project);
    if (o.run_filter) p->wanted.push_back(o.run_filter(f) ? 1 : 0);
  }
  if (o.run_filter && p->wanted.empty()) p->wanted.push_back(0);
}

/// The account of a selection is what its runs took: not the rest of the cards, and not the share of others.
void DropUnwanted(Piece* p) {
  const auto unwanted = [&](int run) { return run < 0 || p->wanted[static_cast<size_t>(run)] == 0; };
  std::erase_if(p->account, [&](const auto& entry) { return unwanted(entry.first.run); });
  std::erase_if(p->fired, [&](const Fired& f) { return unwanted(f.run); });
  std::erase_if(p->trials, [&](const Analysis::Trial& t) { return unwanted(t.run); });
}

/// Leaves only the wanted runs, and renumbers what refers to them.
void Renumber(const std::vector<char>& wanted, PieceResult* out) {
  std::vector<int> to(wanted.size(), -1);
  std::vector<RunFacts> kept;
  for (size_t i = 0; i < out->runs.size(); ++i) {
    if (wanted[i] == 0) continue;
    to[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(out->runs[i]));
  }
  out->runs = std::move(kept);
  const auto renumber = [&](const auto& from) {
    std::decay_t<decltype(from)> fresh;
    for (const auto& [key, value] : from) {
      AccountKey k = key;
      if (k.run >= 0) k.run = to[static_cast<size_t>(k.run)];
      fresh.emplace(k, value);
    }
    return fresh;
  };
  out->account = renumber(out->account);
  for (Finding& f : out->findings) {
    f.run = f.run < 0 ? -1 : to[static_cast<size_t>(f.run)];
    f.wasted_by = renumber(f.wasted_by);
  }
  for (Analysis::Trial& t : out->trials) t.run = t.run < 0 ? -1 : to[static_cast<size_t>(t.run)];
}

/// Says where several jobs were on one card at once, and on what the division of its seconds stands.
void SharedCards(const Piece& p, Lang lang, PieceResult* out) {
  for (size_t k = 0; k < p.cards.size(); ++k) {
    const Piece::Shared& s = p.shared[k];
    if (s.s < 1) continue;
    const std::string& gpu = p.cards[k].track->card.gpu;
    const double measured = s.measured_s / s.s;
    out->limits.push_back(measured > 0 ? Tr(lang, Msg::kLimitSharedMeasured, gpu, FormatDuration(s.s, lang),
                                            FormatFixed(100 * measured, 0))
                                       : Tr(lang, Msg::kLimitSharedEqual, gpu, FormatDuration(s.s, lang)));
  }
}

/// `threads`: for work within the piece.
Result<PieceResult> AnalyzeOne(const model::TelemetrySource& source, size_t index, int threads, const Options& o) {
  SAWBILL_ASSIGN_OR_RETURN(model::Recording recording, source.Read(index));
  Filter(&recording, o);
  PieceResult out;
  Piece p;
  p.recording = &recording;
  p.range = source.pieces()[index];
  p.threads = threads;
  p.cards.resize(recording.gpus.size());
  ParallelFor(p.cards.size(), threads, [&](size_t k) { p.cards[k] = Prepare(recording.gpus[k]); });
  Cut(o, &recording, &p);
  FindRanges(source, index, o, recording, &p, &out);
  FindPieceRuns(&p);
  Select(o, &p, &out);
  JudgePiece(&p, o);
  AccountPiece(&p, o);
  AccountEdges(o, &out, &p);
  AccountSilent(o, out.nodes, &p);
  o.run_filter ? DropUnwanted(&p) : JudgeCards(&p, o);
  out.findings = BuildFindings(p, o);
  SettleSavings(&out.findings);
  AllFacts(p, o, source.period(), &out);
  SharedCards(p, o.lang, &out);
  Limits(p, o, &out);
  Runs(p, &out);
  out.account = std::move(p.account);
  out.trials = std::move(p.trials);
  if (o.run_filter) Renumber(p.wanted, &out);
  out.quality = std::move(recording.quality);
  out.notes = std::move(recording.notes);
  for (const PreparedCard& c : p.cards) {
    if (c.util_contradicted) out.notes.push_back(Tr(o.lang, Msg::kNoteEngineTaken, c.track->card.gpu));
  }
  out.format = recording.format;
  out.simulated = recording.simulated;
  return out;
}

}  // namespace

model::GpuMetricSet UnreadBy(const rules::RuleSet& rules) {
  model::GpuMetricSet unread = 0;
  for (const model::GpuMetric m :
       {model::GpuMetric::kMemClockMhz, model::GpuMetric::kPcieRxMbS, model::GpuMetric::kPcieTxMbS,
        model::GpuMetric::kSmUtilMin, model::GpuMetric::kSmUtilMax}) {
    unread |= model::Bit(m);
  }
  for (const rules::Rule& rule : rules.rules) {
    if (rule.test) unread &= ~model::Bit(rule.test->metric);
  }
  return unread;
}

Result<Analysis> Analyze(const model::TelemetrySource& source, const Options& o) {
  const size_t n = source.pieces().size();
  Merger merger(o);
  std::mutex mutex;
  std::condition_variable changed;
  std::map<size_t, PieceResult> done;
  std::optional<Status> error;
  size_t next = 0, merged = 0;
  const size_t threads = std::clamp<size_t>(static_cast<size_t>(std::max(1, o.threads)), 1, std::max<size_t>(1, n));
  const int inner = std::max(1, o.threads / static_cast<int>(threads));  // few pieces: threads within them
  const auto work = [&] {
    while (true) {
      size_t mine = 0;
      {
        std::unique_lock<std::mutex> lock(mutex);
        // No thread runs far ahead of the merge: waiting results are bounded too.
        changed.wait(lock, [&] { return error || next >= n || next < merged + 2 * threads; });
        if (error || next >= n) return;
        mine = next++;
      }
      Result<PieceResult> r = AnalyzeOne(source, mine, inner, o);
      if (o.after_piece) o.after_piece();
      const std::lock_guard<std::mutex> lock(mutex);
      if (!r.ok()) {
        if (!error) error = r.status();
      } else {
        done.emplace(mine, std::move(r).value());
        while (!done.empty() && done.begin()->first == merged) {
          merger.Add(std::move(done.begin()->second));
          done.erase(done.begin());
          ++merged;
          if (o.progress) o.progress(static_cast<double>(merged) / static_cast<double>(n));
        }
      }
      changed.notify_all();
    }
  };
  {
    std::vector<std::jthread> pool;
    for (size_t i = 1; i < threads; ++i) pool.emplace_back(work);
    work();
  }
  if (error) return *error;
  return merger.Finish(source);
}

}  // namespace sawbill::analysis
