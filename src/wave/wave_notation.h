// SPDX-License-Identifier: Apache-2.0
// Waves as text, for tests: "95x58 8x2 _x3" is 58 s at 95, 2 s at 8, and a hole of 3 s. A domain expert can write one.
#pragma once

#include <string>
#include <vector>

#include "wave/events.h"

namespace sawbill::wave {

/// Samples of `text`, one a second by default; holes are left out (their time is in no sample).
struct WaveSample {
  double t_s = 0;
  float value = 0;
};
std::vector<WaveSample> ParseWave(const std::string& text, double interval_s = 1);
/// The same as a series, each sample speaking for the interval before it.
Series Wave(const std::string& text, double interval_s = 1);
Series FromSamples(const std::vector<float>& values, double interval_s = 1);

}  // namespace sawbill::wave
