// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "analysis/analysis.h"

namespace sawbill::analysis {

void Distribution::Merge(const Distribution& o) {
  if (o.weight_s <= 0) return;
  if (histogram_s.empty()) {
    *this = o;
    return;
  }
  weight_s += o.weight_s;
  sum += o.sum;
  low_s += o.low_s;
  for (size_t i = 0; i < histogram_s.size() && i < o.histogram_s.size(); ++i) histogram_s[i] += o.histogram_s[i];
}

double Distribution::Mean() const { return weight_s > 0 ? sum / weight_s : kMissing; }

double Distribution::Quantile(double q) const {
  if (weight_s <= 0) return kMissing;
  double total = 0;
  for (const float s : histogram_s) total += s;
  double running = 0;
  for (size_t i = 0; i < histogram_s.size(); ++i) {
    if (running + histogram_s[i] >= q * total && histogram_s[i] > 0) {
      // Readings are whole percents more often than not: the bin's lower edge is the reading itself.
      const double width = (hi - lo) / kBins;
      const double inside = std::clamp((q * total - running) / histogram_s[i], 0.0, 1.0);
      return lo + width * (static_cast<double>(i) + (width > 0.5 ? inside : 0.0));
    }
    running += histogram_s[i];
  }
  return hi;
}

model::LineSeconds Analysis::Lines() const {
  model::LineSeconds sum{};
  for (const auto& [key, lines] : account) {
    for (size_t i = 0; i < model::kLines; ++i) sum[i] += lines[i];
  }
  return sum;
}

}  // namespace sawbill::analysis
