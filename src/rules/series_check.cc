// SPDX-License-Identifier: Apache-2.0
#include "rules/series_check.h"

#include <algorithm>

#include "rules/condition.h"

namespace sawbill::rules {
namespace {

/// Mean over (from, to], weighted by the time that samples speak for within it.
struct Mean {
  double sum = 0, seconds = 0;
};
Mean MeanOf(model::GpuMetric metric, const model::GpuTrack& track, const model::Coverage& coverage,
            model::TimeRange range) {
  Mean mean;
  if (!track.Has(metric)) return mean;
  // A sample speaks for the time before it: none up to the window's beginning counts, and none long behind its end.
  const double reach_s = range.seconds() + model::kMaxIntervalFactor * coverage.median_interval_s + 1;
  const auto first = std::upper_bound(track.t_ms.begin(), track.t_ms.end(), range.from) - track.t_ms.begin();
  for (auto i = static_cast<size_t>(first); i < track.size(); ++i) {
    if (Seconds(track.t_ms[i] - range.from) > reach_s) break;
    const double v = track.At(metric, i);
    if (IsMissing(v)) continue;
    // The sample covers (t - dt, t]; only the part inside the window counts.
    const double end_s = Seconds(track.t_ms[i] - range.from), begin_s = end_s - coverage.dt_s[i];
    const double dt = std::min(end_s, range.seconds()) - std::max(begin_s, 0.0);
    if (dt <= 0) continue;
    mean.sum += v * dt;
    mean.seconds += dt;
  }
  return mean;
}

}  // namespace

TestResult CheckThreshold(const MetricTest& test, const model::GpuTrack& track, const model::Coverage& coverage) {
  TestResult result;
  double held = 0;
  for (size_t i = 0; i < track.size() && i < coverage.dt_s.size(); ++i) {
    const double v = track.At(test.metric, i);
    // A break: no reading, a level on the other side, or a hole between this sample's time and the one before.
    const double before = i == 0 ? 0 : Seconds(track.t_ms[i] - track.t_ms[i - 1]);
    if (before > coverage.dt_s[i] + 0.001) held = 0;
    if (IsMissing(v)) {
      held = 0;
      continue;
    }
    if (IsMissing(result.value)) result.value = 0;
    held = Compare(v, test.op, test.value) ? held + coverage.dt_s[i] : 0;
    result.value = std::max(result.value, held);
  }
  if (IsPresent(result.value)) result.truth = result.value >= test.for_s ? Truth::kTrue : Truth::kFalse;
  return result;
}

TestResult CheckTrend(const MetricTest& test, const model::GpuTrack& track, const model::Coverage& coverage) {
  if (track.size() == 0 || coverage.dt_s.size() != track.size()) return {};
  const auto ms = [](double s) { return static_cast<TimeMs>(s * 1000); };
  const TimeMs end = track.t_ms.back(), middle = end - ms(test.window_s), begin = middle - ms(test.against_s);
  const Mean later = MeanOf(test.metric, track, coverage, {middle, end});
  const Mean earlier = MeanOf(test.metric, track, coverage, {begin, middle});
  if (later.seconds < test.window_s / 2 || earlier.seconds < test.against_s / 2 || earlier.sum <= 0) return {};
  const double ratio = (later.sum / later.seconds) / (earlier.sum / earlier.seconds);
  const double change = test.op == Op::kLt ? 1 - ratio : ratio - 1;
  return {change >= test.value - 1e-9 ? Truth::kTrue : Truth::kFalse, change};
}

}  // namespace sawbill::rules
