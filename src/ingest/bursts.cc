// SPDX-License-Identifier: Apache-2.0
#include "ingest/bursts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

namespace sawbill::ingest {
namespace {

constexpr size_t kStructureRows = 100'000;  // rows looked at to find bursts
constexpr double kLeastShare = 0.8;
constexpr TimeMs kOneSampleMs = 110;  // the longest that rows of one sample were seen apart

/// The share of rows that stand in bursts of exactly k when gaps above the threshold part bursts.
double ShareInWhole(const std::vector<TimeMs>& gaps, size_t k, TimeMs threshold) {
  size_t in_whole = 0, run = 1;
  for (size_t i = 0; i <= gaps.size(); ++i) {
    if (i < gaps.size() && gaps[i] <= threshold) {
      ++run;
      continue;
    }
    if (run == k || (i == gaps.size() && run < k)) in_whole += run;
    run = 1;
  }
  return static_cast<double>(in_whole) / static_cast<double>(gaps.size() + 1);
}

}  // namespace

Bursts FindBursts(const std::vector<TimeMs>& t_ms, size_t known_k) {
  Bursts best;
  const size_t n = std::min(t_ms.size(), kStructureRows);
  if (n < 2 || known_k == 1) return best;
  std::vector<TimeMs> gaps(n - 1);
  for (size_t i = 1; i < n; ++i) gaps[i - 1] = std::llabs(t_ms[i] - t_ms[i - 1]);
  std::vector<TimeMs> sorted = gaps;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const TimeMs span = std::llabs(t_ms[n - 1] - t_ms[0]);
  if (sorted[0] <= kOneSampleMs && span <= kOneSampleMs && n <= kMostInferred) return {n, kOneSampleMs, 1};
  best.share = 0;
  const size_t least = known_k > 0 ? known_k : 2, most = known_k > 0 ? known_k : kMostInferred;
  for (size_t k = least; k <= most && 2 * k <= n + k / 2; ++k) {
    const double groups = static_cast<double>(n) / static_cast<double>(k);
    const auto hi = static_cast<size_t>(std::max(0.0, 0.9 * (groups - 1) - 1));
    const auto lo = std::min(gaps.size() - 1, static_cast<size_t>(std::ceil(1.1 * groups)));
    if (sorted[hi] < 2 * sorted[lo] + 2) continue;
    // Below the k-th largest share lie the gaps within samples; nvidia-smi's rows are never seconds apart.
    if (sorted[std::min(gaps.size() - 1, (lo + gaps.size()) / 2)] > kOneSampleMs) continue;
    const double cut = std::sqrt(static_cast<double>(sorted[hi]) * std::max(static_cast<double>(sorted[lo]), 0.5));
    const auto threshold = static_cast<TimeMs>(cut);
    const double share = ShareInWhole(gaps, k, threshold);
    if (share > best.share + 1e-9) best = {k, threshold, share};
  }
  if (best.share < kLeastShare) return {};
  // The cut lies between the typical gaps; one slow row within a sample is still far nearer than the next sample.
  const auto parting =
      std::partition_point(sorted.begin(), sorted.end(), [&](TimeMs g) { return g > best.threshold_ms; });
  const TimeMs wider = sorted[static_cast<size_t>(static_cast<double>(parting - sorted.begin()) * 0.9)] * 3 / 4;
  const double wider_share = ShareInWhole(gaps, best.k, wider);
  if (wider > best.threshold_ms && wider_share >= best.share) best = {best.k, wider, wider_share};
  return best;
}

namespace {

struct Burst {
  size_t from = 0, rows = 0;
};

std::vector<Burst> BurstsOf(const std::vector<TimeMs>& t, TimeMs threshold) {
  std::vector<Burst> out;
  for (size_t i = 0; i < t.size(); ++i) {
    if (i == 0 || std::llabs(t[i] - t[i - 1]) > threshold) out.push_back({i, 0});
    ++out.back().rows;
  }
  return out;
}

/// The gap that parts rows of one sample from the next, where all gaps lie in two clusters; 0 where they do not.
TimeMs ClearCut(std::vector<TimeMs> gaps) {
  constexpr double kApart = 5;
  std::sort(gaps.begin(), gaps.end());
  double best = kApart;
  TimeMs cut = 0;
  for (size_t i = 1; i < gaps.size() && gaps[i - 1] <= kOneSampleMs; ++i) {
    const double low = std::max(1.0, static_cast<double>(gaps[i - 1])), high = static_cast<double>(gaps[i]);
    if (high < best * low) continue;
    best = high / low;
    cut = static_cast<TimeMs>(std::sqrt(low * high));
  }
  return cut;
}

}  // namespace

Stretches FindStretches(const std::vector<TimeMs>& t_ms, const Bursts& usual) {
  constexpr size_t kLeastSamples = 3;  // in a row, before a number of rows is one of cards and not of lost rows
  constexpr TimeMs kNotAnewMs = 20;    // drivers renew no reading as often
  Stretches out;
  if (t_ms.size() < 2) return out;
  std::vector<TimeMs> gaps(t_ms.size() - 1);
  for (size_t i = 1; i < t_ms.size(); ++i) gaps[i - 1] = std::llabs(t_ms[i] - t_ms[i - 1]);
  out.threshold_ms = usual.k > 1 ? usual.threshold_ms : ClearCut(gaps);
  if (usual.k == 1 && out.threshold_ms == 0) return out;
  const std::vector<Burst> bursts = BurstsOf(t_ms, out.threshold_ms);
  size_t told = 0, small = 0;
  for (size_t i = 0; i < bursts.size();) {
    size_t j = i;
    while (j < bursts.size() && bursts[j].rows == bursts[i].rows) ++j;
    const size_t k = bursts[i].rows;
    if (k <= kMostInferred) small += k * (j - i);
    if (k <= kMostInferred && j - i >= kLeastSamples) {
      told += k * (j - i);
      const size_t end = j < bursts.size() ? bursts[j].from : t_ms.size();
      if (!out.list.empty() && out.list.back().k == k) {
        out.list.back().to = end;
      } else {
        out.list.push_back({bursts[i].from, end, k});
      }
    }
    i = j;
  }
  const auto share = [&](size_t rows) { return static_cast<double>(rows) / static_cast<double>(t_ms.size()); };
  if (out.list.size() < 2 || share(told) < kLeastShare) out.list.clear();
  if (usual.k == 1 && share(small) >= 0.95) {
    for (const TimeMs g : gaps) out.close_rows += g <= std::min(out.threshold_ms, kNotAnewMs) ? 1 : 0;
  }
  return out;
}

int64_t ByBursts(const std::vector<TimeMs>& t, const Bursts& b, std::vector<int16_t>* of_row) {
  of_row->resize(t.size(), int16_t{-1});
  int64_t lost = 0;
  for (size_t from = 0; from < t.size();) {
    size_t to = from + 1;
    while (to < t.size() && std::llabs(t[to] - t[to - 1]) <= b.threshold_ms) ++to;
    // A short burst at the very end was cut off behind its last row, so its first rows are in their places.
    const bool whole = to - from == b.k || (to == t.size() && to - from < b.k);
    for (size_t i = from; whole && i < to; ++i) (*of_row)[i] = static_cast<int16_t>(i - from);
    if (!whole) lost += static_cast<int64_t>(to - from);
    from = to;
  }
  return lost;
}

int64_t ByStretches(const std::vector<TimeMs>& t, const Stretches& s, std::vector<int16_t>* of_row) {
  of_row->assign(t.size(), int16_t{-1});
  for (const Stretch& stretch : s.list) {
    std::vector<int16_t> part;
    const auto at = [&](size_t i) { return t.begin() + static_cast<std::ptrdiff_t>(i); };
    ByBursts(std::vector<TimeMs>(at(stretch.from), at(stretch.to)), {stretch.k, s.threshold_ms, 1}, &part);
    std::copy(part.begin(), part.end(), of_row->begin() + static_cast<std::ptrdiff_t>(stretch.from));
  }
  return std::count(of_row->begin(), of_row->end(), int16_t{-1});
}

}  // namespace sawbill::ingest
