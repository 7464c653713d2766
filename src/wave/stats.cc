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

/// The bits of a float in an order that is that of the values.
uint32_t Ordered(float v) {
  const auto bits = std::bit_cast<uint32_t>(v);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
/// A digit of them: each pass looks at one, the upper first.
struct Digit {
  int shift;
  size_t Of(float v) const { return (Ordered(v) >> shift) & (kValues - 1); }
  static constexpr size_t kValues = 1 << 12;
};
constexpr Digit kDigits[] = {{20}, {8}, {0}};
/// Below this the digits cost more than they save.
constexpr size_t kFewValues = 2000;

using DigitWeights = std::vector<double>;

/// The digit at which the running weight reaches `*target`, which becomes what is left of it there.
size_t FindDigit(const DigitWeights& sums, double* target) {
  size_t last = 0;
  for (size_t d = 0; d < sums.size(); ++d) {
    if (sums[d] <= 0) continue;
    last = d;
    if (sums[d] >= *target) return d;
    *target -= sums[d];
  }
  *target = sums[last];  // roundings of the sum
  return last;
}

/// By the remaining digits of values that share the first one: a card that is well fed reads 98 or 99 all day, and a
/// selection by comparisons would shuffle all of them.
float SelectByDigits(std::vector<Weighted>* pairs, double target, DigitWeights* sums) {
  for (size_t k = 1; k < std::size(kDigits) && pairs->size() > kFewValues; ++k) {
    const Digit digit = kDigits[k];
    sums->assign(Digit::kValues, 0.0);
    for (const Weighted& p : *pairs) (*sums)[digit.Of(p.first)] += p.second;
    const size_t wanted = FindDigit(*sums, &target);
    std::erase_if(*pairs, [&](const Weighted& p) { return digit.Of(p.first) != wanted; });
  }
  return pairs->size() > kFewValues ? pairs->front().first : SelectByWeight(pairs, target);
}

}  // namespace

double WeightedQuantile(const std::vector<float>& v, const std::vector<float>& weight, double q) {
  const auto counts = [&](size_t i) { return IsPresent(v[i]) && weight[i] > 0; };
  std::vector<Weighted> pairs;
  double total = 0;
  if (v.size() <= kFewValues) {
    pairs.reserve(v.size());
    for (size_t i = 0; i < v.size(); ++i) {
      if (!counts(i)) continue;
      total += weight[i];
      pairs.emplace_back(v[i], weight[i]);
    }
    return pairs.empty() ? kMissing : SelectByWeight(&pairs, q * total);
  }
  DigitWeights sums(Digit::kValues, 0.0);
  size_t n = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    if (!counts(i)) continue;
    total += weight[i];
    ++n;
    sums[kDigits[0].Of(v[i])] += weight[i];
  }
  if (n == 0) return kMissing;
  double target = q * total;
  const size_t wanted = FindDigit(sums, &target);
  for (size_t i = 0; i < v.size(); ++i) {
    if (counts(i) && kDigits[0].Of(v[i]) == wanted) pairs.emplace_back(v[i], weight[i]);
  }
  return SelectByDigits(&pairs, target, &sums);
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

double QuantileOfReadings(std::vector<float> v, double q) { return RankOf(&v, q); }

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
