// SPDX-License-Identifier: Apache-2.0
//
// Order matters, each step takes its samples away from the next:
// - hang: flat, low power under full "utilisation" (hangs.cc)
// - checkpoint: quiet for 2 s or more together with a burst of writes, three times; to a disk (page cache: the
//   burst may lag by 30 s), or over the network while the card stands still
// - evaluation: stretches of 10 s or more at another, lower level that is not zero, three times (plateaus.cc)
// - logging: short quiet dips with regular spacing and a GPU that is fed in between, while the main process is busy or
//   something small is written in each of them
// - idle: quiet for a minute or more, unless loader workers are at it (then it is a wait for them, like any other dip)
// - stall: what is left of quiet stretches of several seconds in an otherwise well-fed run
//
// Evidence other than shape decides between them: writes, the level inside, the CPU of the main process. And where
// polls miss most of a step, power that is a mean over the interval decides whether there was an event at all: a steady
// step of 0.97 s reads as stretches of 100 and of 0 that come back every 32 s, and draws the same all the time.
//
// Readers check findings by hand: what counts as an event is told with the features (wave/features.inc) and changes
// there too.
#include "analysis/interruptions.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/plateaus.h"
#include "wave/stats.h"

namespace sawbill::analysis {
namespace {

constexpr double kMinCheckpointS = 1.5;
constexpr double kWriteLagS = 30.0;
constexpr double kMinEvaluationS = 10.0;
constexpr int kMinRecurrences = 3;

struct Quiet {  // a stretch in which the GPU does next to nothing
  wave::Event event;
  bool used = false;
};

TimeMs At(const RunSeries& s, double seconds) { return s.origin + static_cast<TimeMs>(std::llround(seconds * 1000)); }

void Add(const RunSeries& s, State state, double start_s, double end_s, Interruptions* out) {
  out->all.push_back({state, {At(s, start_s), At(s, end_s)}, end_s - start_s});
}

InterruptionClass Summarise(const std::vector<std::pair<double, double>>& spans) {
  InterruptionClass c;
  std::vector<double> starts, widths;
  for (const auto& [a, b] : spans) {
    starts.push_back(0.5 * (a + b));
    widths.push_back(b - a);
    c.seconds += b - a;
  }
  c.count = static_cast<int>(spans.size());
  c.median_width_s = spans.empty() ? 0 : wave::Median(widths);
  c.spacing = wave::TestSpacing(starts, 3.0);
  return c;
}

/// A quiet stretch with edges to a fraction of a sample: the deficit of the samples on its border counts as width. A
/// sample there that holds no reading adds nothing.
std::pair<double, double> FineSpan(const wave::Series& u, const wave::Event& e, double hi) {
  double before = 0, after = 0;
  if (e.first > 0 && IsPresent(u.v[e.first - 1]) && u.t_s[e.first] - u.t_s[e.first - 1] <= u.dt_s[e.first] + 1e-3) {
    before = std::clamp((hi - u.v[e.first - 1]) / hi, 0.0, 1.0) * u.dt_s[e.first - 1];
  }
  if (e.last + 1 < u.size() && IsPresent(u.v[e.last + 1]) &&
      u.t_s[e.last + 1] - u.t_s[e.last] <= u.dt_s[e.last + 1] + 1e-3) {
    after = std::clamp((hi - u.v[e.last + 1]) / hi, 0.0, 1.0) * u.dt_s[e.last + 1];
  }
  return {e.start_s - before, e.end_s + after};
}

/// Power is the witness against a sampling artefact: in a real stop it falls towards idle, in an aliased one it stays
/// where it is on average. Without power, or where it never moves, nothing is contradicted.
bool PowerContradicts(const RunSeries& s, const wave::Event& e, double usual_power) {
  if (s.covered) return false;
  double w = 0, sum = 0;
  for (size_t i = e.first; i <= e.last; ++i) {
    if (IsMissing(s.power.v[i])) continue;
    w += s.power.dt_s[i];
    sum += static_cast<double>(s.power.v[i]) * s.power.dt_s[i];
  }
  return w > 0 && usual_power > 0.05 && sum / w > 0.6 * usual_power;
}

struct Context {
  const RunSeries& s;
  double hi;
  double end_s;  // analysis stops here (start of a hang that lasts to the end)
  std::vector<Quiet> quiet;
};

/// Stretches in which clearly more is written than usual.
std::vector<wave::Event> WriteBursts(const wave::Series& writes) {
  constexpr double kLeastMbS = 10;
  std::vector<double> w;
  for (const float v : writes.v) {
    if (IsPresent(v)) w.push_back(v);
  }
  if (w.empty()) return {};
  const auto [least, most] = std::minmax_element(w.begin(), w.end());
  if (*most - *least < kLeastMbS) return {};  // none, without looking for the usual rate
  const double base = wave::Median(w), noise = wave::RobustSigma(w);
  return wave::FindBursts(writes, base + std::max(kLeastMbS, 8 * noise));
}

struct Match {
  size_t quiet = 0;
  double width_s = 0, volume_mb = 0;
};

/// The quiet stretch that a burst of writes belongs to: the one that it overlaps, else (page cache) the longest of the
/// half minute before it.
std::optional<size_t> QuietOf(const Context& c, const wave::Event& burst) {
  std::optional<size_t> overlapping, before;
  for (size_t q = 0; q < c.quiet.size(); ++q) {
    const wave::Event& e = c.quiet[q].event;
    const double width = e.end_s - e.start_s;
    if (c.quiet[q].used || width < kMinCheckpointS) continue;
    const auto longer = [&](const std::optional<size_t>& o) {
      return !o || width > c.quiet[*o].event.end_s - c.quiet[*o].event.start_s;
    };
    if (burst.start_s < e.end_s + 1 && burst.end_s > e.start_s - 1 && longer(overlapping)) overlapping = q;
    if (burst.start_s >= e.start_s - 2 && burst.start_s <= e.end_s + kWriteLagS && longer(before)) before = q;
  }
  return overlapping ? overlapping : before;
}

/// Saves write the same amount each time and come back regularly; the writes of others do neither.
bool LooksLikeSaves(const std::vector<Match>& matches, const InterruptionClass& summary) {
  constexpr double kMinSaveMb = 30;
  std::vector<double> volumes;
  for (const Match& m : matches) volumes.push_back(m.volume_mb);
  const double median = wave::Median(volumes);
  return median >= kMinSaveMb && wave::RobustSigma(volumes) <= 0.6 * median && summary.spacing.MayBeat();
}

/// Where writes may lag behind the stop that caused them: a page cache gathers them for a disk.
enum class Lag { kNone, kPageCache };

/// `edges`: the series that the quiet stretches were found in.
void FindCheckpoints(Context* c, const wave::Series& edges, const wave::Series& writes, Lag lag, double typical_dip_s,
                     Interruptions* out) {
  std::map<size_t, Match> by_quiet;
  for (const wave::Event& b : WriteBursts(writes)) {
    const std::optional<size_t> q = QuietOf(*c, b);
    if (!q) continue;
    // A link also carries what the steps exchange: only what is sent while the card stands still is a save.
    const wave::Event& stop = c->quiet[*q].event;
    if (lag == Lag::kNone &&
        Overlap(b.start_s, b.end_s, stop.start_s - 1, stop.end_s + 1) < 0.8 * (b.end_s - b.start_s))
      continue;
    Match& m = by_quiet[*q];
    m.quiet = *q;
    m.width_s = c->quiet[*q].event.end_s - c->quiet[*q].event.start_s;
    m.volume_mb += b.width_s * b.depth;
  }
  if (by_quiet.size() < kMinRecurrences) return;
  std::vector<double> widths, volumes;
  for (const auto& [q, m] : by_quiet) {
    widths.push_back(m.width_s);
    volumes.push_back(m.volume_mb);
  }
  const double width = wave::Median(widths), volume = wave::Median(volumes);
  // In a starved run every burst finds some dip: a save must stand out from the dips around it.
  if (typical_dip_s > 0 && width < 1.8 * typical_dip_s) return;
  std::vector<Match> matches;
  std::vector<std::pair<double, double>> spans;
  for (const auto& [q, m] : by_quiet) {
    if (m.width_s < 0.4 * width || m.volume_mb < 0.3 * volume) continue;
    matches.push_back(m);
    spans.push_back(FineSpan(edges, c->quiet[q].event, c->hi));
  }
  std::sort(spans.begin(), spans.end());
  if (spans.size() < kMinRecurrences) return;
  const InterruptionClass summary = Summarise(spans);
  if (!LooksLikeSaves(matches, summary)) return;
  for (const Match& m : matches) c->quiet[m.quiet].used = true;
  out->checkpoint = summary;
  for (const auto& [a, b] : spans) Add(c->s, State::kCheckpoint, a, b, out);
}

bool Taken(const Interruptions& done, const RunSeries& s, double a, double b) {
  return std::any_of(done.all.begin(), done.all.end(), [&](const Interruption& i) {
    return Overlap(Seconds(i.range.from - s.origin), Seconds(i.range.to - s.origin), a, b) > 0.5 * (b - a);
  });
}

/// True where stretches of another level fill one part of the run and are absent from the rest: the level drifts or has
/// shifted, and its noise crosses the line. What is scheduled comes back over the whole run.
bool Clustered(const std::vector<std::pair<double, double>>& spans, double from_s, double to_s) {
  const double empty = std::max(spans.front().first - from_s, to_s - spans.back().second);
  const double inner = spans.back().second - spans.front().first;
  const double period = inner / static_cast<double>(spans.size());
  return empty > 0.3 * (to_s - from_s) && empty > 3 * period;
}

void FindEvaluations(Context* c, double interval_s, Interruptions* out) {
  const double block_s = std::max(5.0, 5 * interval_s);
  const double min_s = std::max(kMinEvaluationS, 3 * interval_s);
  const std::vector<wave::LevelStretch> found = FindPlateaus(c->s, block_s, min_s);
  if (found.size() < kMinRecurrences) return;
  std::vector<std::pair<double, double>> spans;
  std::vector<double> levels, widths;
  for (const auto& st : found) {
    if (Taken(*out, c->s, st.start_s, st.end_s) || st.end_s > c->end_s) continue;
    const double level = MeanOf(c->s.util, st);
    if (!(level >= 8) || MostlyQuiet(c->s.util, st, c->hi)) continue;  // a stall, not a level
    spans.emplace_back(st.start_s, st.end_s);
    levels.push_back(level);
    widths.push_back(st.end_s - st.start_s);
  }
  if (spans.size() < kMinRecurrences) return;
  if (Clustered(spans, c->s.util.t_s.front(), std::min(c->end_s, c->s.util.t_s.back()))) return;
  // The same work comes back: similar level, similar length, and it leaves most of the time to training.
  const double level_spread = wave::RobustSigma(levels), width_cv = wave::RobustSigma(widths) / wave::Median(widths);
  double total = 0;
  for (const double x : widths) total += x;
  if (level_spread > 12 || width_cv > 0.3 || total > 0.5 * (c->end_s - c->s.util.t_s.front())) return;
  const InterruptionClass summary = Summarise(spans);
  if (!summary.spacing.MayBeat()) return;
  // Nothing saw what happened between the polls: then only beats so slow that a step hardly ever makes them are
  // claimed.
  const bool may_alias = !c->s.covered && !c->s.mean_power;
  const wave::Visibility seen = may_alias ? wave::Visibility::kNotTold : wave::Visibility::kVisible;
  if (summary.spacing.period_s > 0 && summary.spacing.period_s < wave::ShortestPeriod(seen, {interval_s, kMissing}))
    return;
  out->evaluation = summary;
  for (const auto& [a, b] : spans) Add(c->s, State::kEvaluation, a, b, out);
}

/// True where something is written in nearly each of the pauses (by time), and not in between: a log, an image. A write
/// that chance puts into a pause is one of few.
bool WrittenIn(const wave::Series& writes, const std::vector<std::pair<double, double>>& spans) {
  constexpr double kLeastMbS = 0.5, kMost = 0.8;
  std::vector<double> outside, most(spans.size(), kMissing);
  size_t k = 0;
  for (size_t i = 0; i < writes.size(); ++i) {
    if (IsMissing(writes.v[i])) continue;
    const double from = writes.t_s[i] - writes.dt_s[i], to = writes.t_s[i];
    while (k < spans.size() && spans[k].second + 1 <= from) ++k;
    if (k < spans.size() && spans[k].first < to) {
      most[k] = IsMissing(most[k]) ? writes.v[i] : std::max<double>(most[k], writes.v[i]);
    } else {
      outside.push_back(writes.v[i]);
    }
  }
  if (outside.size() < spans.size()) return false;
  const double usual = wave::Quantile(std::move(outside), 0.9);
  const auto written = std::count_if(most.begin(), most.end(), [&](double v) { return v > usual + kLeastMbS; });
  return static_cast<double>(written) >= kMost * static_cast<double>(spans.size());
}

/// Shape alone cannot tell who stops the steps. Whoever logs drives a core all along, or writes in the pauses while no
/// loader worker is at its limit; who waits for data has an idle main process, and busy workers.
bool LogsInThem(const Witnesses& w, const std::vector<std::pair<double, double>>& spans) {
  constexpr double kDrives = 0.9, kAtLimit = 0.75;  // of a core
  if (w.main_busy >= kDrives) return true;
  std::vector<float> busy = w.preparing.v;
  if (wave::WeightedMean(busy, w.preparing.dt_s) >= kAtLimit) return false;
  return WrittenIn(w.disk_writes, spans) || WrittenIn(w.net_writes, spans);
}

void FindLogging(Context* c, const Witnesses& w, double interval_s, Interruptions* out) {
  constexpr double kMaxLoggingS = 8.0;
  std::vector<std::pair<double, double>> spans;
  std::vector<size_t> members;
  for (size_t q = 0; q < c->quiet.size(); ++q) {
    const wave::Event& e = c->quiet[q].event;
    if (c->quiet[q].used || e.end_s > c->end_s) continue;
    const auto span = FineSpan(c->s.util, e, c->hi);
    if (span.second - span.first > kMaxLoggingS || Taken(*out, c->s, e.start_s, e.end_s)) continue;
    spans.push_back(span);
    members.push_back(q);
  }
  if (spans.size() < 8 || interval_s > kCoarsestForLoggingS) return;
  // Where power contradicts as many pauses as it lets pass, these are the tail of the same artefact.
  if (static_cast<size_t>(out->aliased_dips) >= spans.size()) return;
  const InterruptionClass summary = Summarise(spans);
  const bool regular = summary.spacing.periodic() && summary.spacing.period_s >= 4;
  if (!regular || summary.median_width_s > 0.5 * summary.spacing.period_s || !LogsInThem(w, spans)) return;
  out->logging = summary;
  for (const size_t q : members) c->quiet[q].used = true;
  for (const auto& [a, b] : spans) Add(c->s, State::kLogging, a, b, out);
}

/// True where one of the loader's workers was at it through [from_s, to_s]: the card waits for a batch. One of many
/// that is still busy holds up all others, since batches are delivered in order.
bool BatchIsInTheMaking(const wave::Series& preparing, double from_s, double to_s) {
  constexpr double kAtIt = 0.05;  // of a core a worker, on the mean over them
  double all = 0, busy = 0;
  const auto first = std::lower_bound(preparing.t_s.begin(), preparing.t_s.end(), from_s) - preparing.t_s.begin();
  for (auto i = static_cast<size_t>(first); i < preparing.size(); ++i) {
    if (preparing.t_s[i] - preparing.dt_s[i] >= to_s) break;
    const double part = Overlap(preparing.t_s[i] - preparing.dt_s[i], preparing.t_s[i], from_s, to_s);
    all += part;
    if (preparing.v[i] >= kAtIt) busy += part;
  }
  return all > 0 && busy >= 0.8 * all;
}

/// The share of the run's looks that found next to nothing.
double QuietShare(const Context& c) {
  size_t quiet = 0, all = 0;
  for (const float v : c.s.util.v) {
    if (IsMissing(v)) continue;
    ++all;
    if (v <= kQuietLevel * c.hi) ++quiet;
  }
  return all > 0 ? static_cast<double>(quiet) / static_cast<double>(all) : 0;
}

void FindIdleAndStalls(Context* c, const wave::Series& preparing, double typical_dip_s, double interval_s,
                       Interruptions* out) {
  std::vector<std::pair<double, double>> stalls;
  const bool coarse = interval_s > kFinestShapeS;
  const double quiet_share = coarse ? QuietShare(*c) : 0;
  for (Quiet& q : c->quiet) {
    const wave::Event& e = q.event;
    if (q.used || e.end_s > c->end_s || Taken(*out, c->s, e.start_s, e.end_s)) continue;
    const double length = e.end_s - e.start_s;
    const bool stands_out = length >= kIdleStretchS || length >= std::max(5.0, 5 * typical_dip_s);
    if (!stands_out || BatchIsInTheMaking(preparing, e.start_s, e.end_s)) continue;
    if (coarse && !LongerThanChance(e.last - e.first + 1, quiet_share, c->s.util.size())) {
      out->untold_idle = out->untold_idle || length >= kIdleStretchS;
      continue;
    }
    if (length >= kIdleStretchS) {
      q.used = true;
      out->idle_s += length;
      out->longest_idle_s = std::max(out->longest_idle_s, length);
      Add(c->s, State::kIdle, e.start_s, e.end_s, out);
    } else {
      q.used = true;
      stalls.push_back(FineSpan(c->s.util, e, c->hi));
      Add(c->s, State::kStall, stalls.back().first, stalls.back().second, out);
    }
  }
  out->stall = Summarise(stalls);
}

}  // namespace

bool LongerThanChance(size_t looks, double share, size_t all) {
  constexpr double kIdleAnyway = 0.9, kAccident = 0.01;
  return share >= kIdleAnyway || static_cast<double>(all) * std::pow(share, static_cast<double>(looks)) < kAccident;
}

RunSeries MakeRunSeries(const std::vector<const PreparedCard*>& cards, model::TimeRange active) {
  RunSeries r;
  r.origin = active.from;
  const PreparedCard& lead = *cards.front();
  r.cards = cards.size();
  r.covered =
      lead.track->card.util_window_s.value_or(0) >= 0.9 * lead.coverage.median_interval_s || lead.util_from_engine;
  r.mean_power = lead.power_is_mean;
  const auto [first, last] = lead.Range(active);
  const double reach_ms = std::max(50.0, 750.0 * lead.coverage.median_interval_s);
  std::vector<size_t> at(cards.size(), 0);
  for (size_t k = 0; k < cards.size(); ++k) at[k] = cards[k]->UpperBound(active.from);
  const auto nearest = [&](size_t k, TimeMs t) -> std::optional<size_t> {
    const PreparedCard& c = *cards[k];
    size_t& j = at[k];
    while (j + 1 < c.size() && std::llabs(c.t(j + 1) - t) <= std::llabs(c.t(j) - t)) ++j;
    if (j >= c.size() || static_cast<double>(std::llabs(c.t(j) - t)) > reach_ms) return std::nullopt;
    return j;
  };
  r.t_ms.reserve(last - first);
  for (wave::Series* s : {&r.util, &r.least_util, &r.power, &r.mem_util}) s->Reserve(last - first);
  for (size_t i = first; i < last; ++i) {
    if (lead.dt(i) <= 0) continue;
    double u = 0, least = 100, p = 0, m = 0;
    int nu = 0, np = 0, nm = 0;
    for (size_t k = 0; k < cards.size(); ++k) {
      const std::optional<size_t> j = k == 0 ? std::optional<size_t>(i) : nearest(k, lead.t(i));
      if (!j) continue;
      const PreparedCard& c = *cards[k];
      if (IsPresent(c.util[*j])) u += c.util[*j], least = std::min(least, static_cast<double>(c.util[*j])), ++nu;
      const double share = c.PowerShare(c.power_w[*j]);
      if (IsPresent(share)) p += share, ++np;
      const float mem = c.track->At(model::GpuMetric::kMemUtil, *j);
      if (IsPresent(mem)) m += mem, ++nm;
    }
    r.t_ms.push_back(lead.t(i));
    const double t_s = Seconds(lead.t(i) - r.origin);
    const auto add = [&](wave::Series* s, double sum, int n) {
      s->t_s.push_back(t_s);
      s->dt_s.push_back(static_cast<float>(lead.dt(i)));
      s->v.push_back(n > 0 ? static_cast<float>(sum / n) : static_cast<float>(kMissing));
    };
    add(&r.util, u, nu);
    add(&r.least_util, least, nu > 0 ? 1 : 0);
    add(&r.power, p, np);
    add(&r.mem_util, m, nm);
  }
  return r;
}

Interruptions FindInterruptions(const RunSeries& s, const Witnesses& w) {
  Interruptions out;
  if (s.util.size() < 10) return out;
  for (const auto& [from, to] : FindHangs(s)) {
    out.hang_s += to - from;
    Add(s, State::kHang, from, to, &out);
  }
  double hi = wave::WeightedQuantile(s.util.v, s.util.dt_s, 0.9);
  if (hi < 10) {
    // Mostly idle (a notebook): what counts as busy is the level of its bursts.
    std::vector<double> busy;
    for (const float v : s.util.v) {
      if (v >= 10) busy.push_back(v);
    }
    hi = wave::Quantile(std::move(busy), 0.9);
  }
  if (IsMissing(hi)) return out;
  const double interval_s = wave::QuantileOfReadings(s.util.dt_s, 0.5);
  Context c{s, hi, s.util.t_s.back() + 1, {}};
  if (!out.all.empty() && out.all.back().range.to >= s.t_ms.back()) {
    c.end_s = Seconds(out.all.back().range.from - s.origin);
  }

  wave::DipOptions quiet_options;
  quiet_options.enter = quiet_options.leave = kQuietLevel;
  const double usual_power = wave::WeightedQuantile(s.power.v, s.power.dt_s, 0.5);
  const double run_s = s.util.t_s.back() - s.util.t_s.front();
  // Quiet stretches of a series, and the usual one where they are the run's usual state (a starved loader):
  // interruptions must stand out from it.
  const auto find_quiet = [&](const wave::Series& u, std::vector<Quiet>* quiet) {
    std::vector<double> widths;
    for (const wave::Event& e : wave::FindDips(u, hi, quiet_options)) {
      if (PowerContradicts(s, e, usual_power)) {
        ++out.aliased_dips;
        continue;
      }
      quiet->push_back({e, false});
      widths.push_back(e.end_s - e.start_s);
    }
    return static_cast<double>(widths.size()) * 60 > run_s ? wave::Median(widths) : 0;
  };
  Context one = c;
  const double typical_dip_s = find_quiet(s.util, &c.quiet);
  double one_typical_s = 0;
  if (s.least_util.size() != 0) {
    const int aliased = out.aliased_dips;
    one_typical_s = find_quiet(s.least_util, &one.quiet);
    out.aliased_dips = aliased;
  }
  // A save takes seconds: one look a minute meets some of them and tells the width of none.
  const auto find_saves = [&](const wave::Series& writes, Lag lag) {
    if (interval_s > kCoarsestForSavesS || out.checkpoint.count > 0) return;
    FindCheckpoints(&c, s.util, writes, lag, typical_dip_s, &out);
    // One rank writes and stands still, the others spin in a barrier at full utilisation: their mean is no quiet dip.
    if (out.checkpoint.count == 0 && !one.quiet.empty())
      FindCheckpoints(&one, s.least_util, writes, lag, one_typical_s, &out);
  };
  find_saves(w.disk_writes, Lag::kPageCache);
  find_saves(w.net_writes, Lag::kNone);
  FindEvaluations(&c, interval_s, &out);
  FindLogging(&c, w, interval_s, &out);
  FindIdleAndStalls(&c, w.preparing, typical_dip_s, interval_s, &out);
  std::sort(out.all.begin(), out.all.end(), [](const auto& a, const auto& b) { return a.range.from < b.range.from; });
  return out;
}

}  // namespace sawbill::analysis
