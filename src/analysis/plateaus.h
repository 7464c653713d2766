// SPDX-License-Identifier: Apache-2.0
// Stretches in which a run does other work: a level of its own, in utilisation or in power.
#pragma once

#include <vector>

#include "analysis/interruptions.h"

namespace sawbill::analysis {

inline constexpr double kQuietLevel = 0.15;  // of the usual level: the GPU does next to nothing

/// Plateaus of lower utilisation or of lower power, by time, of at least `min_s`; `block_s` as in FindLowStretches.
std::vector<wave::LevelStretch> FindPlateaus(const RunSeries& s, double block_s, double min_s);

/// Mean of what is known in the stretch; NaN without a reading.
double MeanOf(const wave::Series& s, const wave::LevelStretch& st);
/// Bursts between waits have a mean, and no level.
bool MostlyQuiet(const wave::Series& s, const wave::LevelStretch& st, double hi);

/// Seconds that [a0,a1] and [b0,b1] share; 0 where they do not meet.
double Overlap(double a0, double a1, double b0, double b1);

}  // namespace sawbill::analysis
