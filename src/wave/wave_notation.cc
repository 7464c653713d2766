// SPDX-License-Identifier: Apache-2.0
#include "wave/wave_notation.h"

#include "base/numbers.h"
#include "base/status.h"
#include "base/text.h"

namespace sawbill::wave {

std::vector<WaveSample> ParseWave(const std::string& text, double interval_s) {
  std::vector<WaveSample> out;
  double t = 0;
  for (const std::string_view word : Split(text, ' ')) {
    if (word.empty()) continue;
    const size_t x = word.find('x');
    SAWBILL_CHECK(x != std::string_view::npos);
    const auto count = ParseInt(word.substr(x + 1));
    SAWBILL_CHECK(count.has_value());
    const bool hole = word.substr(0, x) == "_";
    const auto value = hole ? std::optional<double>(0) : ParseDouble(word.substr(0, x));
    SAWBILL_CHECK(value.has_value());
    for (int64_t k = 0; k < *count; ++k) {
      t += interval_s;
      if (!hole) out.push_back({t, static_cast<float>(*value)});
    }
  }
  return out;
}

Series Wave(const std::string& text, double interval_s) {
  Series s;
  for (const WaveSample& w : ParseWave(text, interval_s)) {
    s.t_s.push_back(w.t_s);
    s.v.push_back(w.value);
    s.dt_s.push_back(static_cast<float>(interval_s));
  }
  return s;
}

Series FromSamples(const std::vector<float>& values, double interval_s) {
  Series s;
  for (size_t i = 0; i < values.size(); ++i) {
    s.t_s.push_back(static_cast<double>(i + 1) * interval_s);
    s.v.push_back(values[i]);
    s.dt_s.push_back(static_cast<float>(interval_s));
  }
  return s;
}

}  // namespace sawbill::wave
