// SPDX-License-Identifier: Apache-2.0
// Statistics, energy, waveform and idle pattern of each card over a piece.
#include <algorithm>

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
  const auto points = static_cast<size_t>(WavePoints(o));
  const auto dt = [&](size_t i) { return p.selected_s.empty() ? c.dt(i) : p.selected_s[k][i]; };
  std::vector<double> sum(points, 0), weight(points, 0);
  f.wave_low.assign(points, static_cast<float>(kMissing));
  const double step_ms = std::max(1.0, static_cast<double>(whole.to - whole.from) / static_cast<double>(points));
  const auto [first, last] = c.Range(p.range);
  for (const GpuMetric m : kStats) {
    const bool util = m == GpuMetric::kSmUtil;
    if (util ? !c.has_util : !c.track->Has(m)) continue;
    const std::vector<float>& column = util ? c.util : c.track->columns[static_cast<size_t>(m)];
    Distribution d = Empty(m);
    d.AddEach(first, last, [&](size_t i) { return static_cast<double>(column[i]); }, dt);
    if (d.weight_s > 0) f.stats.emplace_back(m, std::move(d));
  }
  double idle = 0;
  for (size_t i = first; i < last; ++i) {
    f.covered_s += dt(i);
    if (dt(i) <= 0) idle = c.dt(i) > 0 ? 0 : idle;
    if (dt(i) <= 0 || IsMissing(c.util[i])) continue;
    idle = c.util[i] <= 2 ? idle + c.dt(i) : 0;
    f.longest_idle_s = std::max(f.longest_idle_s, idle);
    // A sample speaks for its whole interval, which may be longer than a stretch of the picture.
    const double end = static_cast<double>(c.t(i) - whole.from) / step_ms;
    const auto stretch = [&](double x) {
      return static_cast<size_t>(std::clamp(x, 0.0, static_cast<double>(points - 1)));
    };
    for (size_t at = stretch(end - c.dt(i) * 1000 / step_ms + 1e-6); at <= stretch(end - 1e-6); ++at) {
      sum[at] += c.util[i] * dt(i);
      weight[at] += dt(i);
      if (IsMissing(f.wave_low[at]) || c.util[i] < f.wave_low[at]) f.wave_low[at] = c.util[i];
    }
  }
  IdlePattern(p, k, &f);
  Energy(p, k, first, last, &f);
  out->cards[k] = f.card;
  out->facts[k] = std::move(f);
  out->wave_sum[k] = std::move(sum);
  out->wave_weight[k] = std::move(weight);
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
