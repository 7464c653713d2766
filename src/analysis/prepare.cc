// SPDX-License-Identifier: Apache-2.0
#include "analysis/prepare.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "analysis/analysis.h"
#include "model/card_specs.h"
#include "wave/stats.h"

namespace sawbill::analysis {

using model::GpuMetric;

size_t PreparedCard::UpperBound(TimeMs t) const {
  return static_cast<size_t>(std::upper_bound(track->t_ms.begin(), track->t_ms.end(), t) - track->t_ms.begin());
}

std::pair<size_t, size_t> PreparedCard::Range(model::TimeRange range) const {
  return {UpperBound(range.from), UpperBound(range.to)};
}

bool IsInstance(const model::CardInfo& card) {
  if (!card.parent_uuid.empty()) return true;
  // "0.2.0"; the point of a bus address ("00000000:1B:00.0") is another.
  const size_t point = card.gpu.find_first_not_of("0123456789");
  return point != std::string::npos && point > 0 && card.gpu[point] == '.';
}

bool IsParentOf(const model::CardInfo& card, const model::CardInfo& instance) {
  if (card.node != instance.node || IsInstance(card)) return false;
  if (!instance.parent_uuid.empty() && !card.uuid.empty()) return card.uuid == instance.parent_uuid;
  return instance.gpu.substr(0, instance.gpu.find('.')) == card.gpu;
}

namespace {

/// On GA100 and older the power reading is instantaneous and aliases with the step just as utilisation does; the energy
/// counter does not. It is used where it runs through; a driver reload (it falls) or a hole leaves the sample empty.
std::vector<float> MeanPower(const model::GpuTrack& track, const model::Coverage& coverage, bool* is_mean) {
  const auto& reading = track.columns[static_cast<size_t>(GpuMetric::kPowerW)];
  std::vector<float> out = reading.empty() ? std::vector<float>(track.size(), static_cast<float>(kMissing)) : reading;
  if (track.energy_j.size() != track.size()) return out;
  std::vector<float> from_energy(track.size(), static_cast<float>(kMissing));
  size_t good = 0;
  for (size_t i = 1; i < track.size(); ++i) {
    const double joules = track.energy_j[i] - track.energy_j[i - 1];
    const double seconds = Seconds(track.t_ms[i] - track.t_ms[i - 1]);
    if (IsMissing(joules) || joules < 0 || seconds <= 0 || coverage.dt_s[i] + 1e-3 < seconds) continue;
    from_energy[i] = static_cast<float>(joules / seconds);
    ++good;
  }
  *is_mean = good * 10 >= track.size() * 8;
  return *is_mean ? from_energy : out;
}

/// Power of long quiet stretches, without their first seconds (a 1 s mean still holds the end of the work). Single
/// quiet samples do not count: with a short utilisation window they are gaps within steps. The reading is paired with
/// the utilisation of the same moment; the energy counter's mean goes back over the whole interval, and stands in only
/// where nothing was read. Where samples are far apart even several in a row only happened to fall into gaps, and where
/// polls keep step with the job every one does: a reading that is a mean over a second then holds work. So where the
/// quiet looks do not agree on a level, the lowest tenth comes nearest to idle; and a card that draws half of its limit
/// runs something, whatever the looks at it found (with a context and full clocks, small cards come to 40 %). NaN
/// without such a stretch.
double IdlePower(const PreparedCard& c) {
  constexpr double kSettleS = 4, kFarApartS = 2.5, kAgree = 0.25, kMostIdle = 0.5;
  constexpr int kInARow = 3;
  const auto& reading = c.track->columns[static_cast<size_t>(GpuMetric::kPowerW)];
  std::vector<double> watts;
  double quiet_s = 0;
  int in_a_row = 0;
  for (size_t i = 0; i < c.size(); ++i) {
    const bool quiet = c.util[i] <= 1;
    quiet_s = quiet ? quiet_s + std::max(c.dt(i), 1e-3) : 0;
    in_a_row = quiet ? in_a_row + 1 : 0;
    const float now = reading.empty() || IsMissing(reading[i]) ? c.power_w[i] : reading[i];
    if (quiet_s < kSettleS || in_a_row < kInARow || IsMissing(now)) continue;
    watts.push_back(now);
  }
  if (watts.size() < 3) return kMissing;
  const double low = wave::Quantile(watts, 0.1);
  const double mean = std::accumulate(watts.begin(), watts.end(), 0.0) / static_cast<double>(watts.size());
  if (c.limit_w > 0 && low > kMostIdle * c.limit_w) return kMissing;
  return c.coverage.median_interval_s > kFarApartS || mean > (1 + kAgree) * low ? low : mean;
}

double PowerAtWork(const PreparedCard& c) {
  constexpr size_t kEnough = 10;
  std::vector<float> busy;
  busy.reserve(c.size());
  for (size_t i = 0; i < c.size(); ++i) {
    if (c.util[i] >= 50 && IsPresent(c.power_w[i])) busy.push_back(c.power_w[i]);
  }
  return busy.size() >= kEnough ? wave::QuantileOfReadings(std::move(busy), 0.5) : kMissing;
}

/// Over a longer time both are the same number: they were within 0.6 points of each other in every recording that has
/// both. A ratio that is zero throughout while the driver sees kernels is a counter that does not run (vGPU), no
/// idleness.
bool EngineContradicts(const model::GpuTrack& track, const model::Coverage& coverage) {
  constexpr double kMostPoints = 10;
  double sum_util = 0, sum_engine = 0, weight = 0;
  for (size_t i = 0; i < track.size(); ++i) {
    const double util = track.At(GpuMetric::kSmUtil, i), engine = 100.0 * track.At(GpuMetric::kGrActive, i);
    if (IsMissing(util) || IsMissing(engine)) continue;
    const double dt = coverage.dt_s[i];
    sum_util += dt * util;
    sum_engine += dt * engine;
    weight += dt;
  }
  return weight > 0 && sum_engine > 0 && std::fabs(sum_util - sum_engine) > kMostPoints * weight;
}

/// GPU-Util, sample by sample filled up with the engine's ratio; or the other way round where that is right.
void TakeUtilisation(const model::GpuTrack& track, bool has_util, bool has_engine, PreparedCard* c) {
  c->util.assign(track.size(), static_cast<float>(kMissing));
  c->util_contradicted = has_util && has_engine && EngineContradicts(track, c->coverage);
  c->util_from_engine = has_engine && (!has_util || c->util_contradicted);
  c->has_util = has_util || has_engine;
  for (size_t i = 0; i < track.size() && c->has_util; ++i) {
    const float util = track.At(GpuMetric::kSmUtil, i), engine = 100.0F * track.At(GpuMetric::kGrActive, i);
    const float first = c->util_from_engine ? engine : util, second = c->util_from_engine ? util : engine;
    c->util[i] = IsPresent(first) || c->util_contradicted ? first : second;
  }
}

unsigned CostlyPowerBits(const PreparedCard& c) {
  using model::Mask;
  using model::ThrottleBit;
  const auto spec = model::FindCardSpec(c.track->card.name);
  const bool lowered = spec && spec->power_w > 0 && c.limit_w < 0.98 * spec->power_w;
  return Mask(ThrottleBit::kHwPowerBrake) | (lowered ? Mask(ThrottleBit::kSwPowerCap) : 0U);
}

}  // namespace

PreparedCard Prepare(const model::GpuTrack& track) {
  PreparedCard c;
  c.track = &track;
  c.coverage = model::Cover(track.t_ms);
  const auto present = [&](GpuMetric m) {
    const auto& col = track.columns[static_cast<size_t>(m)];
    return std::any_of(col.begin(), col.end(), [](float v) { return IsPresent(v); });
  };
  TakeUtilisation(track, present(GpuMetric::kSmUtil), present(GpuMetric::kGrActive), &c);
  c.power_w = MeanPower(track, c.coverage, &c.power_is_mean);
  c.has_power = std::any_of(c.power_w.begin(), c.power_w.end(), [](float v) { return IsPresent(v); });
  c.has_memory = present(GpuMetric::kMemUsedMb);
  if (track.card.power_limit_w) c.limit_w = *track.card.power_limit_w;
  c.costly_power_bits = CostlyPowerBits(c);
  if (track.card.memory_total_mb) c.memory_total_mb = *track.card.memory_total_mb;
  c.idle_w = IdlePower(c);
  c.work_w = PowerAtWork(c);
  return c;
}

void ClipTo(model::TimeRange clip, model::GpuTrack* track, PreparedCard* card) {
  auto& t = track->t_ms;
  if (t.empty()) return;
  const std::vector<TimeMs> before = t;
  card->coverage.covered_s = 0;
  for (size_t i = 0; i < t.size(); ++i) {
    t[i] = std::clamp(before[i], clip.from, clip.to);
    float& dt = card->coverage.dt_s[i];
    const TimeMs speaks_from = std::max(clip.from, before[i] - static_cast<TimeMs>(std::llround(dt * 1000.0)));
    if (t[i] != before[i] || speaks_from == clip.from) {
      dt = std::min(dt, static_cast<float>(Seconds(std::max<TimeMs>(0, t[i] - speaks_from))));
    }
    card->coverage.covered_s += dt;
  }
  if (track->energy_j.size() != t.size()) return;
  const auto at = [&](size_t i, size_t other) {
    const double share = static_cast<double>(t[i] - before[other]) / static_cast<double>(before[i] - before[other]);
    return track->energy_j[other] + share * (track->energy_j[i] - track->energy_j[other]);
  };
  const size_t last = t.size() - 1;
  if (last == 0) return;
  const double first_j = t[0] != before[0] ? at(0, 1) : track->energy_j[0];
  if (t[last] != before[last]) track->energy_j[last] = at(last, last - 1);
  track->energy_j[0] = first_j;
}

wave::Series SeriesOf(const PreparedCard& c, const std::vector<float>& column, size_t first, size_t last,
                      TimeMs origin) {
  wave::Series s;
  s.Reserve(last - first);
  for (size_t i = first; i < last; ++i) {
    if (c.dt(i) <= 0) continue;
    s.t_s.push_back(Seconds(c.t(i) - origin));
    s.v.push_back(column.empty() ? static_cast<float>(kMissing) : column[i]);
    s.dt_s.push_back(static_cast<float>(c.dt(i)));
  }
  return s;
}

wave::Series SeriesOf(const model::HostTrack& h, model::HostMetric m, model::TimeRange range, TimeMs origin) {
  wave::Series s;
  const auto begin = std::upper_bound(h.t_ms.begin(), h.t_ms.end(), range.from);
  const auto end = std::upper_bound(begin, h.t_ms.end(), range.to);
  if (begin == end) return s;
  // One row more in front, so that the first row within speaks for its interval.
  const auto lead = begin == h.t_ms.begin() ? begin : begin - 1;
  const model::Coverage cover = model::Cover({lead, end});
  const auto first = static_cast<size_t>(lead - h.t_ms.begin());
  for (size_t k = 0; k < cover.dt_s.size(); ++k) {
    const size_t i = first + k;
    if (h.t_ms[i] <= range.from || cover.dt_s[k] <= 0) continue;
    s.t_s.push_back(Seconds(h.t_ms[i] - origin));
    s.v.push_back(h.At(m, i));
    s.dt_s.push_back(cover.dt_s[k]);
  }
  return s;
}

}  // namespace sawbill::analysis
