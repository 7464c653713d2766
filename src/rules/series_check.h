// SPDX-License-Identifier: Apache-2.0
// The tests of threshold and trend rules on the samples of one card. Time that no sample speaks for ends a stretch:
// what was not measured did not hold.
#pragma once

#include "model/recording.h"
#include "rules/rules.h"

namespace sawbill::rules {

/// Threshold: true if `test` held for `for_s` without a break; value = the longest such time. Unknown without readings.
TestResult CheckThreshold(const MetricTest& test, const model::GpuTrack& track, const model::Coverage& coverage);
/// Trend: the mean of the last `window_s` of the track against the mean of the `against_s` before. Unknown unless at
/// least half of each window was measured, or where the earlier mean is zero.
TestResult CheckTrend(const MetricTest& test, const model::GpuTrack& track, const model::Coverage& coverage);

}  // namespace sawbill::rules
