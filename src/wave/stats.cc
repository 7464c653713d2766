// SPDX-License-Identifier: Apache-2.0
#include "wave/stats.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers.h"

namespace sawbill::wave {

double WeightedMean(const std::vector<float>& v, const std::vector<float>& weight) {
  double sum = 0, w = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    if (IsMissing(v[i])) continue;
    sum += static_cast<double>(v[i]) * weight[i];
    w += weight[i];
  }
  return w > 0 ? sum / w : kMissing;
}

double WeightedQuantile(const std::vector<float>& v, const std::vector<float>& weight, double q) {
  std::vector<std::pair<float, float>> pairs;
  pairs.reserve(v.size());
  double total = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    if (IsMissing(v[i]) || weight[i] <= 0) continue;
    pairs.emplace_back(v[i], weight[i]);
    total += weight[i];
  }
  if (pairs.empty()) return kMissing;
  // Quickselect by weight: halves that cannot hold the quantile are set aside by their weight alone.
  double target = q * total;
  auto first = pairs.begin(), last = pairs.end();
  while (last - first > 1) {
    const auto mid = first + (last - first) / 2;
    std::nth_element(first, mid, last, [](const auto& a, const auto& b) { return a.first < b.first; });
    double left = 0;
    for (auto it = first; it != mid; ++it) left += it->second;
    if (left >= target && left > 0) {
      last = mid;
    } else {
      target -= left;
      first = mid;
      if (first->second >= target) return first->first;
    }
  }
  return first->first;
}

double Quantile(std::vector<double> v, double q) {
  if (v.empty()) return kMissing;
  const double pos = q * static_cast<double>(v.size() - 1);
  const auto lo = static_cast<size_t>(std::floor(pos));
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(lo), v.end());
  const double a = v[lo];
  if (lo + 1 >= v.size()) return a;
  const double b = *std::min_element(v.begin() + static_cast<std::ptrdiff_t>(lo) + 1, v.end());
  return a + (pos - static_cast<double>(lo)) * (b - a);
}

double Median(std::vector<double> v) { return Quantile(std::move(v), 0.5); }

double RobustSigma(const std::vector<double>& v) {
  if (v.empty()) return kMissing;
  const double m = Median(v);
  std::vector<double> d;
  d.reserve(v.size());
  for (const double x : v) d.push_back(std::abs(x - m));
  return 1.4826 * Median(std::move(d));
}

}  // namespace sawbill::wave
