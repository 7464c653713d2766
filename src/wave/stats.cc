// SPDX-License-Identifier: Apache-2.0
#include "wave/stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
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

namespace {

using Weighted = std::pair<float, float>;  // value, weight

/// The value at which the running weight reaches `target`. REQUIRES: not empty. Quickselect by weight: halves that
/// cannot hold it are set aside by their weight alone.
float SelectByWeight(std::vector<Weighted>* pairs, double target) {
  auto first = pairs->begin(), last = pairs->end();
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

/// The upper bits of a float in an order that is that of the values.
constexpr int kBucketBits = 12;
size_t Bucket(float v) {
  const auto bits = std::bit_cast<uint32_t>(v);
  const uint32_t ordered = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
  return ordered >> (32 - kBucketBits);
}
/// Below this the buckets cost more than they save.
constexpr size_t kFewValues = 2000;

}  // namespace

double WeightedQuantile(const std::vector<float>& v, const std::vector<float>& weight, double q) {
  // Long series in two passes: weight by bucket, then only the values of the bucket that holds the quantile.
  const bool buckets = v.size() > kFewValues;
  std::vector<double> sums(buckets ? size_t{1} << kBucketBits : 0, 0.0);
  double total = 0;
  size_t n = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    if (IsMissing(v[i]) || weight[i] <= 0) continue;
    total += weight[i];
    ++n;
    if (buckets) sums[Bucket(v[i])] += weight[i];
  }
  if (n == 0) return kMissing;
  double target = q * total;
  size_t wanted = 0;
  if (buckets) {
    size_t last = 0;
    for (wanted = 0; wanted < sums.size(); ++wanted) {
      if (sums[wanted] <= 0) continue;
      last = wanted;
      if (sums[wanted] >= target) break;
      target -= sums[wanted];
    }
    if (wanted == sums.size()) {  // roundings of the sum
      wanted = last;
      target = sums[last];
    }
  }
  std::vector<Weighted> pairs;
  if (!buckets) pairs.reserve(n);
  for (size_t i = 0; i < v.size(); ++i) {
    if (IsMissing(v[i]) || weight[i] <= 0 || (buckets && Bucket(v[i]) != wanted)) continue;
    pairs.emplace_back(v[i], weight[i]);
  }
  return SelectByWeight(&pairs, target);
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

double PairwiseSigma(const std::vector<double>& v) {
  if (v.size() < 2) return kMissing;
  std::vector<double> d;
  d.reserve(v.size() * (v.size() - 1) / 2);
  for (size_t i = 0; i < v.size(); ++i) {
    for (size_t j = i + 1; j < v.size(); ++j) d.push_back(std::abs(v[i] - v[j]));
  }
  const size_t half = v.size() / 2 + 1, rank = half * (half - 1) / 2;
  std::nth_element(d.begin(), d.begin() + static_cast<std::ptrdiff_t>(rank) - 1, d.end());
  const double n = static_cast<double>(v.size());
  return 2.2219 * n / (n + (v.size() % 2 == 1 ? 1.4 : 3.8)) * d[rank - 1];
}

}  // namespace sawbill::wave
