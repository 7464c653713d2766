// SPDX-License-Identifier: Apache-2.0
#include "store/minute.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers.h"
#include "model/metrics.h"
#include "store/day_rows.h"

namespace sawbill::store {
namespace {
using model::GpuMetric;

constexpr TimeMs kMinuteMs = 60'000;
constexpr float kLowUtil = 20;

/// Sample `i` speaks for `seconds` of the minute at hand.
struct Share {
  size_t i;
  double seconds;
};

double ValueAt(const model::GpuTrack& track, GpuMetric m, size_t i) {
  if (m == GpuMetric::kEnergyJ) return track.energy_j.empty() ? kMissing : track.energy_j[i];
  return track.At(m, i);
}

MinuteRow::Summary SummariseThrottle(const model::GpuTrack& track, const std::vector<Share>& shares) {
  unsigned all = ~0U, any = 0;
  bool read = false;
  for (const Share& s : shares) {
    const float v = track.At(GpuMetric::kThrottle, s.i);
    if (std::isnan(v)) continue;
    all &= static_cast<unsigned>(v);
    any |= static_cast<unsigned>(v);
    read = true;
  }
  if (!read) return {};
  return {kMissing, static_cast<double>(all), static_cast<double>(any)};
}

MinuteRow::Summary Summarise(const model::GpuTrack& track, GpuMetric m, const std::vector<Share>& shares) {
  if (m == GpuMetric::kThrottle) return SummariseThrottle(track, shares);
  MinuteRow::Summary out;
  double sum = 0, seconds = 0;
  for (const Share& s : shares) {
    const double v = ValueAt(track, m, s.i);
    if (IsMissing(v)) continue;
    sum += v * s.seconds;
    seconds += s.seconds;
    out.min = IsMissing(out.min) ? v : std::min(out.min, v);
    out.max = IsMissing(out.max) ? v : std::max(out.max, v);
  }
  if (seconds > 0) out.mean = sum / seconds;
  return out;
}

/// The smallest value that at least `q` of the time lies at or below.
double Quantile(const std::vector<std::pair<float, double>>& sorted, double total, double q) {
  double below = 0;
  for (const auto& [v, seconds] : sorted) {
    below += seconds;
    if (below >= q * total - 1e-9) return v;
  }
  return sorted.empty() ? kMissing : sorted.back().first;
}

MinuteRow MakeMinute(const model::GpuTrack& track, TimeMs end, const std::vector<Share>& shares) {
  MinuteRow row;
  row.t_ms = end;
  row.gpu = track.card.gpu;
  for (const Share& s : shares) row.covered_s += s.seconds;
  for (size_t m = 0; m < model::kGpuMetrics; ++m) row.metrics[m] = Summarise(track, static_cast<GpuMetric>(m), shares);
  std::vector<std::pair<float, double>> util;
  double total = 0, low = 0;
  for (const Share& s : shares) {
    const float v = track.At(GpuMetric::kSmUtil, s.i);
    if (std::isnan(v)) continue;
    util.emplace_back(v, s.seconds);
    total += s.seconds;
    if (v < kLowUtil) low += s.seconds;
  }
  if (util.empty()) return row;
  std::sort(util.begin(), util.end());
  row.sm_util_p50 = Quantile(util, total, 0.50);
  row.sm_util_p95 = Quantile(util, total, 0.95);
  row.low_s = low;
  return row;
}

TimeMs MinuteEnd(TimeMs t) { return (t + kMinuteMs - 1) / kMinuteMs * kMinuteMs; }

}  // namespace

std::vector<MinuteRow> MinuteRows(const model::GpuTrack& track, TimeMs from, TimeMs to) {
  const model::Coverage coverage = model::Cover(track.t_ms);
  std::vector<MinuteRow> out;
  std::vector<Share> shares;
  TimeMs minute = 0;
  const auto finish = [&] {
    if (!shares.empty() && minute > from && minute <= to) out.push_back(MakeMinute(track, minute, shares));
    shares.clear();
  };
  for (size_t i = 1; i < track.size(); ++i) {
    const TimeMs end = track.t_ms[i];
    // What a sample speaks for may begin in an earlier minute, or several.
    for (TimeMs begin = end - std::llround(static_cast<double>(coverage.dt_s[i]) * 1000.0); begin < end;) {
      const TimeMs this_minute = MinuteEnd(begin + 1);
      if (this_minute != minute) {
        finish();
        minute = this_minute;
      }
      const TimeMs stop = std::min(end, this_minute);
      shares.push_back({i, Seconds(stop - begin)});
      begin = stop;
    }
  }
  finish();
  return out;
}

void MakeMinuteRow(const MinuteRow& minute, RowText* row) {
  row->Clear();
  row->AddText(minute.gpu);
  row->AddNumber(minute.covered_s, 3);
  for (size_t m = 0; m < model::kGpuMetrics; ++m) {
    const MinuteRow::Summary& s = minute.metrics[m];
    const auto metric = static_cast<GpuMetric>(m);
    const int decimals = model::Info(metric).decimals;
    if (metric == GpuMetric::kThrottle) {
      row->AddEmpty();
      for (const double mask : {s.min, s.max}) {
        row->AddText(IsMissing(mask) ? "" : FormatThrottle(static_cast<unsigned>(mask)));
      }
      continue;
    }
    row->AddNumber(s.mean, decimals + 2);
    row->AddNumber(s.min, decimals);
    row->AddNumber(s.max, decimals);
  }
  row->AddNumber(minute.sm_util_p50, 0);
  row->AddNumber(minute.sm_util_p95, 0);
  row->AddNumber(minute.low_s, 3);
}

}  // namespace sawbill::store
