// SPDX-License-Identifier: Apache-2.0
// Features of level, shape and trend, from the samples of the active time outside interruptions.
#include <algorithm>
#include <cmath>

#include "analysis/feature_parts.h"
#include "wave/periodicity.h"
#include "wave/stats.h"

namespace sawbill::analysis::parts {
namespace {

using model::GpuMetric;
using wave::Feature;

double PlainMean(const std::vector<PreparedCard>& cards, const RunAnalysis& a, GpuMetric m) {
  MeanOfReadings mean;
  for (const CardInRun& k : a.cards) {
    const PreparedCard& c = cards[k.card];
    if (!c.track->Has(m)) continue;
    const auto& column = c.track->columns[static_cast<size_t>(m)];
    ForPlain(k, [&](size_t i) { mean.Add(column[i], c.coverage.dt_s[i]); });
  }
  return mean.value();
}

/// The memory that was in use in all but the fullest 1 % of the samples [first, last), as a share of the card's; NaN
/// where it is not known.
double MemoryUsed(const PreparedCard& c, size_t first, size_t last) {
  if (!c.track->Has(GpuMetric::kMemUsedMb) || !(c.memory_total_mb > 0)) return kMissing;
  std::vector<float> used;
  used.reserve(last - first);
  for (size_t i = first; i < last; ++i) {
    const float mb = c.track->At(GpuMetric::kMemUsedMb, i);
    if (IsPresent(mb)) used.push_back(mb);
  }
  return wave::QuantileOfReadings(std::move(used), 0.99) / c.memory_total_mb;
}

/// The beat of the dips. Two causes that overlap hide each other's: then that of the short dips counts, which are the
/// loader's, else that of the long ones.
wave::Periodicity Spacing(const std::vector<wave::Event>& dips, double shortest_s) {
  const wave::Periodicity all = wave::TestSpacing(wave::DipTimes(dips), shortest_s);
  if (all.AtLeastLikely()) return all;
  const std::optional<wave::WidthClasses> classes = wave::SplitByWidth(dips);
  if (!classes) return all;
  for (const auto* part : {&classes->narrow, &classes->wide}) {
    const wave::Periodicity p = wave::TestSpacing(wave::DipTimes(*part), shortest_s);
    if (p.AtLeastLikely()) return p;
  }
  return all;
}

/// The series with the samples of interruptions taken out (missing).
wave::Series Plain(const wave::Series& s, const RunSeries& run, const RunAnalysis& a) {
  wave::Series out = s;
  for (size_t i = 0; i < s.size(); ++i) {
    const TimeMs t = run.t_ms[i];
    if (Interrupted(a, t - static_cast<TimeMs>(s.dt_s[i] * 1000), t)) out.v[i] = static_cast<float>(kMissing);
  }
  return out;
}

/// Whether what is a mean over the interval fell where utilisation did by `drop`. A beat of polls and steps can last
/// for minutes, and falls alone. Where nothing was read nothing is contradicted.
bool FellToo(const wave::Series& witness, double cut_s, double drop) {
  constexpr double kFollows = 0.4;  // of the fall that the load would make
  MeanOfReadings before, after;
  for (size_t i = 0; i < witness.size(); ++i)
    (witness.t_s[i] <= cut_s ? before : after).Add(witness.v[i], witness.dt_s[i]);
  return !(before.value() > 0) || (before.value() - after.value()) / before.value() >= kFollows * drop;
}

}  // namespace

bool Interrupted(const RunAnalysis& a, TimeMs t0, TimeMs t1) {
  const auto& all = a.interruptions.all;
  auto it =
      std::upper_bound(all.begin(), all.end(), t0, [](TimeMs t, const Interruption& i) { return t < i.range.to; });
  return it != all.end() && it->range.from < t1;
}

std::vector<CardInRun::Stretch> PlainStretches(const PreparedCard& c, const RunAnalysis& a) {
  std::vector<CardInRun::Stretch> out;
  const auto [first, last] = c.Range(a.active);
  for (size_t i = first; i < last; ++i) {
    if (c.dt(i) <= 0 || IsMissing(c.util[i])) continue;
    if (Interrupted(a, c.t(i) - static_cast<TimeMs>(c.dt(i) * 1000), c.t(i))) continue;
    if (out.empty() || out.back().last != i) out.push_back({i, i});
    out.back().last = i + 1;
  }
  return out;
}

void Level(const std::vector<PreparedCard>& cards, RunAnalysis* a) {
  wave::FeatureSet& f = a->features;
  std::vector<float> util, weight;
  MeanOfReadings power;
  double low = 0, all = 0, wait = 0, measured = 0, memory = kMissing, n = 0;
  size_t samples = 0;
  for (const CardInRun& k : a->cards) {
    for (const CardInRun::Stretch& s : k.plain) samples += s.last - s.first;
  }
  util.reserve(samples);
  weight.reserve(samples);
  for (const CardInRun& k : a->cards) {
    const PreparedCard& c = cards[k.card];
    if (k.never_works) continue;  // its time is a finding of its own, and says nothing of how the job works
    ++n;
    wait += IsPresent(k.wait_share) ? k.wait_share : 0;
    ForPlain(k, [&](size_t i) {
      const float w = c.coverage.dt_s[i];
      util.push_back(c.util[i]);
      weight.push_back(w);
      power.Add(static_cast<float>(c.PowerShare(c.power_w[i])), w);
      all += w;
      if (c.util[i] < 20) low += w;
    });
    const auto [first, last] = c.Range(a->active);
    for (size_t i = first; i < last; ++i) measured += c.dt(i);
    const double used = MemoryUsed(c, first, last);
    if (IsPresent(used)) memory = IsPresent(memory) ? std::max(memory, used) : used;
  }
  if (n == 0) return;
  f.Set(Feature::kMeasuredShare, measured / std::max(1e-9, n * a->active.seconds()));
  if (IsPresent(memory)) f.Set(Feature::kMemUsedShare, memory);
  if (all <= 0) return;
  const PreparedCard& lead = cards[a->run.cards.front()];
  if (lead.coarse() && static_cast<double>(util.size()) < n * kLeastLooks) return;
  const double mean = wave::WeightedMean(util, weight);
  f.Set(Feature::kUtilMean, mean);
  f.Set(Feature::kUtilP95, wave::WeightedQuantile(util, weight, 0.95));
  f.Set(Feature::kLowShare, low / all);
  f.Set(Feature::kWaitShare, wait / n);
  const double p = power.value();
  f.Set(Feature::kPowerShare, p);
  const bool idle_known = IsPresent(cards[a->cards.front().card].idle_w);
  // Linear in the duty: the part of the time without a kernel draws idle power.
  if (IsPresent(p) && mean > 5) f.Set(Feature::kBusyPowerShare, std::min(1.2, idle_known ? p / (mean / 100.0) : p));
  f.Set(Feature::kMemUtil, PlainMean(cards, *a, GpuMetric::kMemUtil));
  const std::pair<Feature, GpuMetric> ratios[] = {{Feature::kSmActive, GpuMetric::kSmActive},
                                                  {Feature::kSmOccupancy, GpuMetric::kSmOccupancy},
                                                  {Feature::kTensorActive, GpuMetric::kTensorActive},
                                                  {Feature::kDramActive, GpuMetric::kDramActive}};
  for (const auto& [feature, metric] : ratios) {
    const double v = PlainMean(cards, *a, metric);
    if (IsPresent(v) && mean > 5) f.Set(feature, std::min(1.0, v / (mean / 100.0)));
  }
  MainBlocked(a);
}

void MainBlocked(RunAnalysis* a) {
  // A main process that sleeps through the wait and no longer waits for batches; one that sleeps far longer sleeps
  // while the card computes as well, and says nothing.
  wave::FeatureSet& f = a->features;
  if (!f.Has(Feature::kMainBusy) || !(f.Get(Feature::kWaitShare) >= 0.02)) return;
  const double sleeps = std::max(0.0, 1.0 - f.Get(Feature::kMainBusy)), waits = f.Get(Feature::kWaitShare);
  f.Set(Feature::kMainBlocked, std::min(sleeps, waits) / std::max(sleeps, waits));
}

void Shape(const RunSeries& s, const std::vector<PreparedCard>& cards, RunAnalysis* a) {
  wave::FeatureSet& f = a->features;
  const wave::Series util = Plain(s.util, s, *a);
  const wave::Series power = Plain(s.power, s, *a);
  const PreparedCard& lead = cards[a->run.cards.front()];
  const double interval = lead.coverage.median_interval_s;
  const wave::Instrument polls{interval, lead.track->card.util_window_s.value_or(kMissing)};
  const wave::Swings swings = wave::JudgeSwings(util, power, polls);
  a->aliased = swings.visibility == wave::Visibility::kAliased;
  if (lead.coarse()) {  // what a look at the last moment of a minute cannot show is no artefact
    a->aliased = false;
    return;
  }
  f.Set(Feature::kAliased, a->aliased ? 1 : 0);
  f.Set(Feature::kSwing, swings.util);
  f.Set(Feature::kPowerSwing, wave::Spread(power));
  const double hi = wave::WeightedQuantile(util.v, util.dt_s, 0.9);
  const std::vector<wave::Event> dips = wave::FindDips(util, hi);
  f.Set(Feature::kDips, static_cast<double>(dips.size()));
  constexpr size_t kShownDips = 8;
  for (size_t i = 0; i < dips.size() && i < kShownDips; ++i) {
    const auto at = [&](double t_s) { return s.origin + static_cast<TimeMs>(t_s * 1000); };
    a->dip_samples.push_back({{at(dips[i].start_s), at(dips[i].end_s)}, hi - dips[i].depth, hi});
  }
  if (a->aliased) return;
  a->dip_spacing = Spacing(dips, wave::ShortestPeriod(swings.visibility, polls));
  if (a->dip_spacing.AtLeastLikely()) {
    f.Set(Feature::kDipPeriodS, a->dip_spacing.period_s);
    f.Set(Feature::kDipCv, a->dip_spacing.cv);
  }
}

void InterruptionFeatures(double interval_s, RunAnalysis* a) {
  wave::FeatureSet& f = a->features;
  const Interruptions& x = a->interruptions;
  const double active_s = a->active.seconds();
  const auto set = [&](const InterruptionClass& c, Feature share, Feature count, Feature period, Feature width) {
    f.Set(share, active_s > 0 ? c.seconds / active_s : kMissing);
    f.Set(count, c.count);
    if (c.count == 0) return;
    f.Set(width, c.median_width_s);
    if (c.spacing.period_s > 0 && c.spacing.MayBeat()) {
      f.Set(period, c.spacing.period_s);
    }
  };
  // What so coarse a record cannot show was not looked for, and is not "none".
  if (interval_s <= kCoarsestForSavesS)
    set(x.checkpoint, Feature::kCkptShare, Feature::kCkptCount, Feature::kCkptPeriodS, Feature::kCkptWidthS);
  if (interval_s <= kCoarsestForSavesS || x.evaluation.count > 0)
    set(x.evaluation, Feature::kEvalShare, Feature::kEvalCount, Feature::kEvalPeriodS, Feature::kEvalWidthS);
  if (interval_s <= kCoarsestForLoggingS)
    set(x.logging, Feature::kLogShare, Feature::kLogCount, Feature::kLogPeriodS, Feature::kLogWidthS);
  if (interval_s <= kFinestShapeS) f.Set(Feature::kStallShare, active_s > 0 ? x.stall.seconds / active_s : kMissing);
  f.Set(Feature::kHangS, x.hang_s);
  const double tail_s = Seconds(a->run.range.to - a->active.to);
  const double head_s = a->run.start_known && !a->quiet_start ? 0 : Seconds(a->active.from - a->run.range.from);
  if (!a->assumed) {
    f.Set(Feature::kIdleHeldS, std::max({x.longest_idle_s, tail_s, head_s}));
    const double idle_s = x.idle_s + (tail_s >= kIdleStretchS ? tail_s : 0) + (head_s >= kIdleStretchS ? head_s : 0);
    f.Set(Feature::kNotebookShare, idle_s / std::max(1.0, a->run.range.seconds()));
  }
}

void Trend(const RunSeries& s, const std::vector<PreparedCard>& cards, RunAnalysis* a) {
  wave::FeatureSet& f = a->features;
  const wave::Series util = Plain(s.util, s, *a);
  const double interval = f.Get(Feature::kIntervalS);
  const double block_s = std::max(30.0, 10 * interval);
  std::vector<double> blocks;
  std::vector<double> ends;
  double w = 0, sum = 0;
  for (size_t i = 0; i < util.size(); ++i) {
    if (IsPresent(util.v[i])) {
      w += util.dt_s[i];
      sum += static_cast<double>(util.v[i]) * util.dt_s[i];
    }
    if (w >= block_s) {
      blocks.push_back(sum / w);
      ends.push_back(util.t_s[i]);
      w = sum = 0;
    }
  }
  const size_t min_side = std::max<size_t>({3, static_cast<size_t>(std::ceil(300.0 / block_s)), blocks.size() / 8});
  const wave::MeanShift shift = wave::FindMeanShift(blocks, min_side);
  if (!shift.found || shift.before <= 5) return;
  // Differences of neighbours understate the noise of a slowly wandering load; 6 errors keep healthy runs quiet.
  double drop = (shift.before - shift.after) / shift.before;
  if (a->aliased && !FellToo(Plain(s.power, s, *a), ends[shift.at - 1], drop)) {
    // The engine's own counter runs through as well, and says what utilisation should.
    const PreparedCard& lead = cards[a->run.cards.front()];
    const auto [first, last] = lead.Range(a->active);
    const auto& engine = lead.track->columns[static_cast<size_t>(GpuMetric::kGrActive)];
    if (engine.empty() || !FellToo(SeriesOf(lead, engine, first, last, s.origin), ends[shift.at - 1], drop)) drop = 0;
  }
  f.Set(Feature::kTrendDrop, shift.t_value >= 6 ? drop : 0);
  f.Set(Feature::kTrendBefore, shift.before);
  f.Set(Feature::kTrendAtShare, static_cast<double>(shift.at) / static_cast<double>(blocks.size()));
  const TimeMs cut = s.origin + static_cast<TimeMs>(ends[shift.at - 1] * 1000);
  a->before_fall = {a->active.from, cut};
  a->after_fall = {cut, a->active.to};
  f.Set(Feature::kTrendAfterS, a->after_fall.seconds());
}

}  // namespace sawbill::analysis::parts
