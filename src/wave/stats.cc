// SPDX-License-Identifier: Apache-2.0
#include "wave/stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
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

/// Weight by key. Neighbours go to different halves: an addition to the same sum would wait for the one before it.
class KeyWeights {
 public:
  explicit KeyWeights(size_t keys) : keys_(keys), sums_(2 * keys, 0.0) {}
  void Clear() { std::fill(sums_.begin(), sums_.end(), 0.0); }
  void Add(size_t key, size_t i, float weight) { sums_[key + (i & 1) * keys_] += weight; }
  /// The key at which the running weight reaches `*target`, which becomes what is left of it there.
  size_t Find(double* target) const {
    size_t last = 0;
    double of_last = 0;
    for (size_t k = 0; k < keys_; ++k) {
      const double sum = sums_[k] + sums_[k + keys_];
      if (sum <= 0) continue;
      if (sum >= *target) return k;
      last = k;
      of_last = sum;
      *target -= sum;
    }
    *target = of_last;  // roundings of the sum
    return last;
  }

 private:
  size_t keys_;
  std::vector<double> sums_;
};

/// Percent and degrees are whole numbers or, as means of two, four or eight cards, eighths: then one pass is enough.
/// Nothing where a value is anything else.
std::optional<double> QuantileOfEighths(const std::vector<float>& v, const std::vector<float>& weight, double q) {
  constexpr float kSteps = 8;
  constexpr int kKeys = 1024;
  KeyWeights sums(kKeys);
  double total = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    if (IsMissing(v[i]) || weight[i] <= 0) continue;
    const float steps = v[i] * kSteps;
    if (!(steps >= 0 && steps < kKeys)) return std::nullopt;
    const auto key = static_cast<int>(steps);
    if (static_cast<float>(key) != steps) return std::nullopt;
    total += weight[i];
    sums.Add(static_cast<size_t>(key), i, weight[i]);
  }
  if (total <= 0) return kMissing;
  double target = q * total;
  return static_cast<float>(sums.Find(&target)) / kSteps;
}

/// A part of a float's bits in an order that is that of the values: each pass looks at one, the upper first.
struct Digit {
  static constexpr size_t kValues = 1 << 11;
  int shift;
  size_t Of(float v) const {
    const auto bits = std::bit_cast<uint32_t>(v);
    const uint32_t ordered = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
    return (ordered >> shift) & (kValues - 1);
  }
};
constexpr Digit kDigits[] = {{21}, {10}, {0}};
/// Below this the digits cost more than they save.
constexpr size_t kFewValues = 2000;

std::vector<Weighted> Counted(const std::vector<float>& v, const std::vector<float>& weight) {
  std::vector<Weighted> pairs;
  pairs.reserve(v.size());
  for (size_t i = 0; i < v.size(); ++i) {
    if (IsPresent(v[i]) && weight[i] > 0) pairs.emplace_back(v[i], weight[i]);
  }
  return pairs;
}

}  // namespace

double WeightedQuantile(const std::vector<float>& v, const std::vector<float>& weight, double q) {
  if (v.size() > kFewValues) {
    if (const std::optional<double> found = QuantileOfEighths(v, weight, q)) return *found;
  }
  std::vector<Weighted> pairs = Counted(v, weight);
  if (pairs.empty()) return kMissing;
  double target = 0;
  for (const Weighted& p : pairs) target += p.second;
  target *= q;
  if (pairs.size() <= kFewValues) return SelectByWeight(&pairs, target);
  KeyWeights sums(Digit::kValues);
  for (const Digit digit : kDigits) {
    sums.Clear();
    for (size_t i = 0; i < pairs.size(); ++i) sums.Add(digit.Of(pairs[i].first), i, pairs[i].second);
    const size_t wanted = sums.Find(&target);
    std::erase_if(pairs, [&](const Weighted& p) { return digit.Of(p.first) != wanted; });
    if (pairs.size() <= kFewValues) return SelectByWeight(&pairs, target);
  }
  return pairs.front().first;  // all alike
}

namespace {

/// Between the two values of `v` that stand around rank q.
template <typename T>
double RankOf(std::vector<T>* v, double q) {
  if (v->empty()) return kMissing;
  const double pos = q * static_cast<double>(v->size() - 1);
  const auto lo = static_cast<size_t>(std::floor(pos));
  const auto at = v->begin() + static_cast<std::ptrdiff_t>(lo);
  std::nth_element(v->begin(), at, v->end());
  const double a = *at;
  if (lo + 1 >= v->size()) return a;
  const double b = *std::min_element(at + 1, v->end());
  return a + (pos - static_cast<double>(lo)) * (b - a);
}

}  // namespace

double Quantile(std::vector<double> v, double q) { return RankOf(&v, q); }

double QuantileOfReadings(std::vector<float> v, double q) {
  if (v.size() <= kFewValues) return RankOf(&v, q);
  // Only what shares its upper digit with the wanted rank, and the least value above, need to be put in order.
  const double pos = q * static_cast<double>(v.size() - 1);
  auto rank = static_cast<size_t>(std::floor(pos));
  const double part = pos - static_cast<double>(rank);
  std::vector<size_t> counts(Digit::kValues, 0);
  for (const float x : v) ++counts[kDigits[0].Of(x)];
  size_t wanted = 0;
  for (; rank >= counts[wanted]; ++wanted) rank -= counts[wanted];
  std::optional<float> above;
  std::erase_if(v, [&](float x) {
    const size_t digit = kDigits[0].Of(x);
    if (digit > wanted) above = std::min(above.value_or(x), x);
    return digit != wanted;
  });
  const auto at = v.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(v.begin(), at, v.end());
  const double a = *at;
  const double b = at + 1 != v.end() ? *std::min_element(at + 1, v.end()) : above.value_or(*at);
  return a + part * (b - a);
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
