// SPDX-License-Identifier: Apache-2.0
// Pieces on a few threads, results merged in order of time. Memory is that of the pieces in work, whatever their
// number.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "analysis/merge.h"
#include "wave/stats.h"

namespace sawbill::analysis {
namespace {

using model::GpuMetric;

constexpr GpuMetric kStats[] = {GpuMetric::kSmUtil,    GpuMetric::kPowerW,      GpuMetric::kMemUtil,
                                GpuMetric::kMemUsedMb, GpuMetric::kTempC,       GpuMetric::kSmClockMhz,
                                GpuMetric::kSmActive,  GpuMetric::kSmOccupancy, GpuMetric::kTensorActive,
                                GpuMetric::kDramActive};

Distribution Empty(GpuMetric m) {
  Distribution d;
  switch (m) {
    case GpuMetric::kPowerW:
      d.hi = 1500;
      break;
    case GpuMetric::kMemUsedMb:
      d.hi = 300000;
      break;
    case GpuMetric::kSmClockMhz:
      d.hi = 4000;
      break;
    case GpuMetric::kTempC:
      d.hi = 120;
      break;
    default:
      d.hi = model::Info(m).max;
  }
  return d;
}

/// Joules: differences of the counter where it runs through, else power times the time that the reading speaks for.
void Energy(const PreparedCard& c, size_t first, size_t last, CardFacts* f) {
  const auto& counter = c.track->energy_j;
  double counted_j = 0, counted_s = 0, integrated_j = 0, integrated_s = 0;
  for (size_t i = first; i < last; ++i) {
    if (i > 0 && counter.size() == c.size() && counter[i] >= counter[i - 1]) {
      counted_j += counter[i] - counter[i - 1];
      counted_s += Seconds(c.t(i) - c.t(i - 1));
    }
    const float w = c.track->At(GpuMetric::kPowerW, i);
    if (IsMissing(w)) continue;
    integrated_j += w * c.dt(i);
    integrated_s += c.dt(i);
  }
  f->energy_counted = counted_s >= integrated_s && counted_s > 0;
  f->energy_j = f->energy_counted ? counted_j : integrated_j;
  f->energy_s = f->energy_counted ? counted_s : integrated_s;
}

/// Statistics, waveform and idle pattern of one card over the piece.
void Facts(const Piece& p, size_t k, const Options& o, model::TimeRange whole, PieceResult* out) {
  const PreparedCard& c = p.cards[k];
  CardFacts f;
  f.card = c.track->card;
  const auto points = static_cast<size_t>(std::max(1, o.wave_points));
  std::vector<double> sum(points, 0), weight(points, 0);
  f.wave_low.assign(points, static_cast<float>(kMissing));
  const double step_ms = std::max(1.0, static_cast<double>(whole.to - whole.from) / static_cast<double>(points));
  const auto [first, last] = c.Range(p.range);
  for (const GpuMetric m : kStats) {
    const bool util = m == GpuMetric::kSmUtil;
    if (util ? !c.has_util : !c.track->Has(m)) continue;
    const std::vector<float>& column = util ? c.util : c.track->columns[static_cast<size_t>(m)];
    Distribution d = Empty(m);
    for (size_t i = first; i < last; ++i) d.Add(column[i], c.dt(i));
    if (d.weight_s > 0) f.stats.emplace_back(m, std::move(d));
  }
  double idle = 0;
  for (size_t i = first; i < last; ++i) {
    f.covered_s += c.dt(i);
    if (c.dt(i) <= 0 || IsMissing(c.util[i])) continue;
    idle = c.util[i] <= 2 ? idle + c.dt(i) : 0;
    f.longest_idle_s = std::max(f.longest_idle_s, idle);
    // A sample speaks for its whole interval, which may be longer than a stretch of the picture.
    const double end = static_cast<double>(c.t(i) - whole.from) / step_ms;
    const auto stretch = [&](double x) {
      return static_cast<size_t>(std::clamp(x, 0.0, static_cast<double>(points - 1)));
    };
    for (size_t at = stretch(end - c.dt(i) * 1000 / step_ms + 1e-6); at <= stretch(end - 1e-6); ++at) {
      sum[at] += c.util[i] * c.dt(i);
      weight[at] += c.dt(i);
      if (IsMissing(f.wave_low[at]) || c.util[i] < f.wave_low[at]) f.wave_low[at] = c.util[i];
    }
  }
  for (const RunAnalysis& r : p.runs) {
    if (std::find(r.run.cards.begin(), r.run.cards.end(), k) == r.run.cards.end() || r.active.empty()) continue;
    if (r.aliased) {
      f.idle_pattern = "aliased";
    } else if (r.dip_spacing.periodic()) {
      f.idle_pattern = "periodic";
      f.idle_period_s = r.dip_spacing.period_s;
    } else if (r.dip_spacing.events >= 6) {
      f.idle_pattern = "random";
    } else if (c.coverage.median_interval_s <= 5) {
      f.idle_pattern = "none";
    }
  }
  Energy(c, first, last, &f);
  out->cards.push_back(f.card);
  out->facts.push_back(std::move(f));
  out->wave_sum.push_back(std::move(sum));
  out->wave_weight.push_back(std::move(weight));
}

void Limits(const Piece& p, const Options& o, PieceResult* out) {
  const model::Recording& r = *p.recording;
  bool util = false, power = false, memory = false, time = false;
  double coarse = 0;
  for (const PreparedCard& c : p.cards) {
    util = util || c.has_util;
    power = power || c.has_power;
    memory = memory || c.has_memory;
    time = time || c.coverage.covered_s > 0;
    coarse = std::max(coarse, c.coverage.median_interval_s);
    if (!c.has_util && c.coverage.covered_s > 0)
      out->limits.push_back(Tr(o.lang, Msg::kLimitNoUtil, c.track->card.gpu));
    if (c.coverage.covered_s <= 0) {
      out->limits.push_back(Tr(o.lang, Msg::kLimitNoTime, c.track->card.gpu, std::to_string(c.size())));
    }
  }
  for (const RunAnalysis& run : p.runs) {
    out->work_s = std::max(out->work_s, run.active.seconds());
    if (run.aliased)
      out->limits.push_back(Tr(o.lang, Msg::kLimitAliased, p.cards[run.run.cards.front()].track->card.gpu));
  }
  if (p.cards.empty()) return;
  if (!time) {
    out->cannot_judge.push_back(Tr(o.lang, Msg::kCannotJudgeNoTime));
    return;
  }
  if (!util) {
    out->cannot_judge.push_back(Tr(o.lang, Msg::kCannotJudgeNoUtil));
    return;
  }
  if (coarse > 10) {
    const std::string interval = FormatFixed(coarse, 0), limit = FormatFixed(3 * coarse, 0);
    out->limits.push_back(Tr(o.lang, Msg::kLimitCoarse, interval, limit));
    out->cannot_judge.push_back(Tr(o.lang, Msg::kCannotJudgeCoarse, interval));
  }
  if (p.range.seconds() < 180) {
    out->cannot_judge.push_back(Tr(o.lang, Msg::kCannotJudgeShort, FormatDuration(p.range.seconds())));
  }
  if (!power) out->limits.push_back(Tr(o.lang, Msg::kLimitNoPower));
  if (!memory) out->limits.push_back(Tr(o.lang, Msg::kLimitNoMemory));
  if (r.processes.empty()) out->limits.push_back(Tr(o.lang, Msg::kLimitNoProcesses));
  if (r.hosts.empty()) out->limits.push_back(Tr(o.lang, Msg::kLimitNoHost));
}

void Runs(const Piece& p, PieceResult* out) {
  const TimeMs edge_ms = 60000;
  for (const RunAnalysis& a : p.runs) {
    RunFacts f;
    f.job = a.run.job;
    f.user = a.run.user;
    f.program = a.run.program;
    f.node = a.run.node;
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

/// First and last sign of each node, and the range that the piece accounts for.
void FindRanges(const model::TelemetrySource& source, size_t index, const model::Recording& recording, Piece* piece,
                PieceResult* result) {
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
    const bool before = index > 0 && t <= source.pieces()[index].from;
    const bool after = index + 1 < source.pieces().size() && t > source.pieces()[index].to;
    if (it == out.nodes.end() || before || after) return;
    it->second.from = std::min(it->second.from, t);
    it->second.to = std::max(it->second.to, t);
    seen.from = std::min(seen.from, t);
    seen.to = std::max(seen.to, t);
  };
  for (const model::HostTrack& h : recording.hosts) {
    for (const TimeMs t : h.t_ms) widen(h.node, t);
  }
  if (seen.from <= seen.to)
    p.range = {index > 0 ? std::max(p.range.from, seen.from) : seen.from,
               index + 1 < source.pieces().size() ? std::min(p.range.to, seen.to) : seen.to};
}

/// A card whose first or last sample lies inside the node's time was not measured there.
void AccountEdges(const Options& o, PieceResult* result, Piece* piece) {
  Piece& p = *piece;
  PieceResult& out = *result;
  for (size_t k = 0; k < p.cards.size(); ++k) {
    const PreparedCard& c = p.cards[k];
    if (c.size() == 0) continue;
    const model::TimeRange& node = out.nodes[c.track->card.node];
    const double head = Seconds(std::max<TimeMs>(0, c.t(0) - node.from));
    const double tail = Seconds(std::max<TimeMs>(0, node.to - std::min(p.range.to, c.t(c.size() - 1))));
    if (head + tail <= 0) continue;
    const auto day = static_cast<int32_t>((node.from + 1000LL * o.tz.OffsetSeconds(node.from)) / 86400000);
    p.account[{k, -1, day}][model::Index(model::Line::kUnmeasured)] += head + tail;
  }
}

Result<PieceResult> AnalyzeOne(const model::TelemetrySource& source, size_t index, const Options& o) {
  SAWBILL_ASSIGN_OR_RETURN(model::Recording recording, source.Read(index));
  Filter(&recording, o);
  PieceResult out;
  Piece p;
  p.recording = &recording;
  p.range = source.pieces()[index];
  for (const model::GpuTrack& t : recording.gpus) p.cards.push_back(Prepare(t));
  FindRanges(source, index, recording, &p, &out);
  FindPieceRuns(&p);
  if (o.run_filter) {
    p.runs.erase(std::remove_if(p.runs.begin(), p.runs.end(),
                                [&](const RunAnalysis& a) {
                                  RunFacts f;
                                  f.job = a.run.job;
                                  f.user = a.run.user;
                                  f.program = a.run.program;
                                  return !o.run_filter(f);
                                }),
                 p.runs.end());
  }
  JudgePiece(&p, o);
  AccountPiece(&p, o);
  AccountEdges(o, &out, &p);
  if (o.run_filter) {
    // The account of a selection is what its runs took, not the idle rest of the cards.
    for (auto it = p.account.begin(); it != p.account.end();)
      it = it->first.run < 0 ? p.account.erase(it) : std::next(it);
  } else {
    JudgeCards(&p, o);
  }
  out.findings = BuildFindings(p, o);
  SettleSavings(&out.findings);
  for (size_t k = 0; k < p.cards.size(); ++k) Facts(p, k, o, source.period(), &out);
  Limits(p, o, &out);
  Runs(p, &out);
  out.account = std::move(p.account);
  out.trials = std::move(p.trials);
  out.quality = std::move(recording.quality);
  out.notes = std::move(recording.notes);
  out.format = recording.format;
  out.simulated = recording.simulated;
  return out;
}

}  // namespace

Result<Analysis> Analyze(const model::TelemetrySource& source, const Options& o) {
  const size_t n = source.pieces().size();
  Merger merger(o);
  std::mutex mutex;
  std::condition_variable changed;
  std::map<size_t, PieceResult> done;
  std::optional<Status> error;
  size_t next = 0, merged = 0;
  const size_t threads = std::clamp<size_t>(static_cast<size_t>(std::max(1, o.threads)), 1, std::max<size_t>(1, n));
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
      Result<PieceResult> r = AnalyzeOne(source, mine, o);
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
