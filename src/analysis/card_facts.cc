// SPDX-License-Identifier: Apache-2.0
// Statistics, energy, waveform and idle pattern of each card over a piece.
#include <algorithm>
#include <array>

#include "analysis/merge.h"
#include "analysis/parallel.h"

namespace sawbill::analysis {
namespace {

using model::GpuMetric;

/// A selection of runs may be a small part of the period: its waves are drawn finely and cropped when all is known.
int WavePoints(const Options& o) { return std::max(1, o.wave_points) * (o.run_filter ? 20 : 1); }

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

/// One metric on its way into a distribution.
struct Filling {
  GpuMetric metric;
  Distribution out;
  const float* column;
  double scale;
  std::array<float, Distribution::kBins> histogram{};

  Filling(GpuMetric m, const std::vector<float>& values)
      : metric(m), out(Empty(m)), column(values.data()), scale(Distribution::kBins / (out.hi - out.lo)) {}
  void Add(size_t i, double dt) {
    const double v = column[i];
    if (IsMissing(v)) return;
    out.weight_s += dt;
    out.sum += v * dt;
    out.low_s += v < 20 ? dt : 0;
    const double bin = std::min(std::max((v - out.lo) * scale, 0.0), Distribution::kBins - 1.0);
    histogram[static_cast<size_t>(static_cast<int>(bin))] += static_cast<float>(dt);
  }
};

/// All metrics in one walk over the samples: each addition waits for the one before it to the same sum, and those of
/// the other metrics fill the wait.
template <typename Dt>
void Stats(const PreparedCard& c, size_t first, size_t last, const Dt& dt, CardFacts* f) {
  std::vector<Filling> all;
  all.reserve(std::size(kStats));
  for (const GpuMetric m : kStats) {
    const bool util = m == GpuMetric::kSmUtil;
    if (util ? !c.has_util : !c.track->Has(m)) continue;
    all.emplace_back(m, util ? c.util : c.track->columns[static_cast<size_t>(m)]);
  }
  for (size_t i = first; i < last; ++i) {
    const double seconds = dt(i);
    if (seconds <= 0) continue;
    for (Filling& x : all) x.Add(i, seconds);
  }
  for (Filling& x : all) {
    if (x.out.weight_s <= 0) continue;
    x.out.histogram_s.assign(x.histogram.begin(), x.histogram.end());
    f->stats.emplace_back(x.metric, std::move(x.out));
  }
}

/// Mean and lowest utilisation of equal stretches of the whole period, as it is drawn.
class Wave {
 public:
  Wave(model::TimeRange whole, size_t points)
      : sum(points, 0),
        weight(points, 0),
        low(points, static_cast<float>(kMissing)),
        from_(whole.from),
        step_ms_(std::max(1.0, static_cast<double>(whole.to - whole.from) / static_cast<double>(points))) {}

  /// A sample at `t` that speaks for `interval_s`, of which `dt` are in the report. The interval may be longer than a
  /// stretch of the picture.
  void Add(TimeMs t, double interval_s, double dt, float util) {
    const auto end_ms = static_cast<double>(t - from_), begin_ms = end_ms - interval_s * 1000;
    if (begin_ms >= inner_from_ms_ && end_ms <= inner_to_ms_) return AddTo(at_, dt, util);
    const double end = end_ms / step_ms_;
    const size_t last = StretchOf(end - kHair);
    for (size_t at = StretchOf(end - interval_s * 1000 / step_ms_ + kHair); at <= last; ++at) AddTo(at, dt, util);
    // Most samples lie well within the stretch of the one before: they need no division.
    at_ = last;
    const double margin_ms = 1 + 2 * kHair * step_ms_;
    inner_from_ms_ = static_cast<double>(last) * step_ms_ + margin_ms;
    inner_to_ms_ = static_cast<double>(last + 1) * step_ms_ - margin_ms;
  }

  std::vector<double> sum, weight;
  std::vector<float> low;

 private:
  static constexpr double kHair = 1e-6;  // of a stretch
  size_t StretchOf(double x) const {
    return static_cast<size_t>(std::clamp(x, 0.0, static_cast<double>(sum.size() - 1)));
  }
  void AddTo(size_t at, double dt, float util) {
    sum[at] += util * dt;
    weight[at] += dt;
    if (IsMissing(low[at]) || util < low[at]) low[at] = util;
  }

  TimeMs from_;
  double step_ms_;
  size_t at_ = 0;
  double inner_from_ms_ = 0, inner_to_ms_ = -1;  // none yet
};

/// Joules: differences of the counter where it runs through, else power times the time that the reading speaks for.
void Energy(const Piece& p, size_t k, size_t first, size_t last, CardFacts* f) {
  const PreparedCard& c = p.cards[k];
  // The part of the sample's time that is in the report.
  const auto part = [&](size_t i) { return p.selected_s.empty() || c.dt(i) <= 0 ? 1.0 : p.selected_s[k][i] / c.dt(i); };
  const auto& counter = c.track->energy_j;
  double counted_j = 0, counted_s = 0, integrated_j = 0, integrated_s = 0;
  for (size_t i = first; i < last; ++i) {
    if (i > 0 && counter.size() == c.size() && counter[i] >= counter[i - 1]) {
      counted_j += part(i) * (counter[i] - counter[i - 1]);
      counted_s += part(i) * Seconds(c.t(i) - c.t(i - 1));
    }
    const float w = c.track->At(GpuMetric::kPowerW, i);
    if (IsMissing(w)) continue;
    integrated_j += part(i) * w * c.dt(i);
    integrated_s += part(i) * c.dt(i);
  }
  // Coverage is kept in single precision: a hair less is as much.
  f->energy_counted = counted_s > 0 && counted_s * 1.000001 >= integrated_s;
  f->energy_j = f->energy_counted ? counted_j : integrated_j;
  f->energy_s = f->energy_counted ? counted_s : integrated_s;
}

/// The pattern of the last run on the card.
void IdlePattern(const Piece& p, size_t k, CardFacts* f) {
  for (size_t i = 0; i < p.runs.size(); ++i) {
    const RunAnalysis& r = p.runs[i];
    if (std::find(r.run.cards.begin(), r.run.cards.end(), k) == r.run.cards.end() || r.active.empty()) continue;
    if (!p.wanted.empty() && p.wanted[i] == 0) continue;
    if (r.aliased) {
      f->idle_pattern = "aliased";
    } else if (r.dip_spacing.periodic()) {
      f->idle_pattern = "periodic";
      f->idle_period_s = r.dip_spacing.period_s;
    } else if (r.dip_spacing.verdict == wave::Periodicity::Verdict::kTooShort) {
      f->idle_pattern = "unknown";
    } else if (r.dip_spacing.events >= 6) {
      f->idle_pattern = "random";
    } else if (p.cards[k].coverage.median_interval_s <= 5) {
      f->idle_pattern = "none";
    }
  }
}

/// Statistics, waveform and idle pattern of one card over the piece.
void Facts(const Piece& p, size_t k, const Options& o, model::TimeRange whole, PieceResult* out) {
  const PreparedCard& c = p.cards[k];
  CardFacts f;
  f.card = c.track->card;
  f.split = !p.split[k].empty();
  const auto dt = [&](size_t i) { return p.selected_s.empty() ? c.dt(i) : p.selected_s[k][i]; };
  Wave wave(whole, static_cast<size_t>(WavePoints(o)));
  const auto [first, last] = c.Range(p.range);
  Stats(c, first, last, dt, &f);
  // A first sample at the very beginning speaks for no time of the period, and yet the card was seen by it.
  const size_t seen = first > 0 && c.t(first - 1) == p.range.from ? first - 1 : first;
  f.samples = static_cast<int64_t>(last - seen);
  f.util_read = c.has_util;
  if (last > seen) f.seen = {c.t(seen), c.t(last - 1)};
  double idle = 0;
  for (size_t i = first; i < last; ++i) {
    f.covered_s += dt(i);
    if (dt(i) <= 0) idle = c.dt(i) > 0 ? 0 : idle;
    if (dt(i) <= 0 || IsMissing(c.util[i])) continue;
    idle = c.util[i] <= 2 ? idle + c.dt(i) : 0;
    f.longest_idle_s = std::max(f.longest_idle_s, idle);
    wave.Add(c.t(i), c.dt(i), dt(i), c.util[i]);
  }
  f.wave_low = std::move(wave.low);
  IdlePattern(p, k, &f);
  Energy(p, k, first, last, &f);
  out->cards[k] = f.card;
  out->facts[k] = std::move(f);
  out->wave_sum[k] = std::move(wave.sum);
  out->wave_weight[k] = std::move(wave.weight);
}

}  // namespace

void AllFacts(const Piece& p, const Options& o, model::TimeRange whole, PieceResult* out) {
  const size_t n = p.cards.size();
  out->cards.resize(n);
  out->facts.resize(n);
  out->wave_sum.resize(n);
  out->wave_weight.resize(n);
  ParallelFor(n, p.threads, [&](size_t k) { Facts(p, k, o, whole, out); });
}

}  // namespace sawbill::analysis
