// SPDX-License-Identifier: Apache-2.0
// A waveform in one line of text. What was not measured is a gap in it, never a zero.
#pragma once

#include <string>
#include <vector>

namespace sawbill::report {

inline constexpr float kLowUtil = 20;  // percent: below it a card counts as low, as in `low_share`

enum class Pool { kMean, kMin };
/// `values` over `width` equal stretches: the mean or the lowest of those present in each, NaN where there is none.
std::vector<float> Resample(const std::vector<float>& values, int width, Pool pool);
/// One character for each value of 0-100; a missing one is '·' (a blank in ASCII).
std::string Sparkline(const std::vector<float>& values, bool unicode);
/// A mark under each stretch that fell below kLowUtil although its mean did not; "" when there is none.
std::string LowMarks(const std::vector<float>& mean, const std::vector<float>& low, bool unicode);

/// Cells of a bar of `width` for each share, adding up to `width` (largest remainder); shares need not add up to 1.
std::vector<int> BarCells(const std::vector<double>& shares, int width);

}  // namespace sawbill::report
