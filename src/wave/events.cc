// SPDX-License-Identifier: Apache-2.0
#include "wave/events.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "wave/stats.h"

namespace sawbill::wave {
namespace {

/// True where sample i does not touch sample i-1: a hole of the recording lies between.
bool HoleBefore(const Series& s, size_t i) { return i == 0 || s.t_s[i] - s.t_s[i - 1] > s.dt_s[i] + 1e-3; }

/// When an event of `depth` began: its first sample is covered by it in part, and the one before may be as well.
double Onset(const Series& s, size_t first, double base, double depth) {
  const auto covered = [&](size_t i) { return std::clamp(std::abs(base - s.v[i]) / depth, 0.0, 1.0) * s.dt_s[i]; };
  const double in_first = covered(first);
  if (in_first < 0.999 * s.dt_s[first] || HoleBefore(s, first) || IsMissing(s.v[first - 1])) {
    return s.t_s[first] - in_first;
  }
  return s.t_s[first] - in_first - covered(first - 1);
}

/// Closes the event [first,last] of a signal's distance from `base` and adds it.
void Close(const Series& s, size_t first, size_t last, double base, std::vector<Event>* out) {
  Event e;
  e.first = first;
  e.last = last;
  e.start_s = s.t_s[first] - s.dt_s[first];
  e.end_s = s.t_s[last];
  double mass = 0, moment = 0;
  for (size_t i = first; i <= last; ++i) {
    const double d = std::abs(base - s.v[i]);
    const double m = d * s.dt_s[i];
    mass += m;
    moment += m * (s.t_s[i] - 0.5 * s.dt_s[i]);
    e.depth = std::max(e.depth, d);
  }
  e.centroid_s = mass > 0 ? moment / mass : 0.5 * (e.start_s + e.end_s);
  e.width_s = e.depth > 0 ? mass / e.depth : 0;
  e.onset_s = e.depth > 0 ? Onset(s, first, base, e.depth) : e.start_s;
  out->push_back(e);
}

}  // namespace

std::vector<Event> FindDips(const Series& s, double hi, const DipOptions& options) {
  std::vector<Event> out;
  if (IsMissing(hi) || hi <= 0) return out;
  bool open = false;
  size_t first = 0;
  const auto close = [&](size_t last) {
    Close(s, first, last, hi, &out);
    if (out.back().depth < options.min_depth) out.pop_back();
    open = false;
  };
  for (size_t i = 0; i < s.size(); ++i) {
    const bool missing = IsMissing(s.v[i]);
    if (open && (missing || HoleBefore(s, i))) close(i - 1);
    if (missing) continue;
    if (!open && s.v[i] < options.enter * hi) {
      open = true;
      first = i;
    } else if (open && s.v[i] >= options.leave * hi) {
      close(i - 1);
    }
  }
  if (open) close(s.size() - 1);
  return out;
}

std::vector<Event> FindBursts(const Series& s, double threshold) {
  std::vector<Event> out;
  bool open = false;
  size_t first = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    const bool above = IsPresent(s.v[i]) && s.v[i] > threshold;
    if (open && (!above || HoleBefore(s, i))) {
      Close(s, first, i - 1, 0, &out);
      open = false;
    }
    if (!open && above) {
      open = true;
      first = i;
    }
  }
  if (open) Close(s, first, s.size() - 1, 0, &out);
  return out;
}

namespace {

struct Block {
  size_t first = 0, last = 0;
  double mean = 0;
};

std::vector<Block> Blocks(const Series& s, double block_s) {
  std::vector<Block> blocks;
  double w = 0, sum = 0;
  size_t first = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    const bool hole = i > first && HoleBefore(s, i);
    if (hole || w >= block_s) {
      if (w >= 0.5 * block_s) blocks.push_back({first, i - 1, sum / w});
      first = i;
      w = sum = 0;
    }
    if (IsMissing(s.v[i])) continue;
    w += s.dt_s[i];
    sum += static_cast<double>(s.v[i]) * s.dt_s[i];
  }
  if (w >= 0.5 * block_s) blocks.push_back({first, s.size() - 1, sum / w});
  return blocks;
}

}  // namespace

std::vector<LevelStretch> FindLowStretches(const Series& s, double block_s, double min_s, double min_drop) {
  std::vector<LevelStretch> out;
  const std::vector<Block> blocks = Blocks(s, block_s);
  if (blocks.size() < 8) return out;
  std::vector<double> means, steps;
  for (const Block& b : blocks) means.push_back(b.mean);
  for (size_t i = 1; i < means.size(); ++i) steps.push_back(means[i] - means[i - 1]);
  // The usual level is the upper mode: the median of the blocks above the median's half-way mark is robust while the
  // other level takes less than half of the time. Differences of neighbours measure the noise without the level
  // changes.
  const double usual = Quantile(means, 0.65);
  const double sigma = RobustSigma(steps) / std::sqrt(2.0);
  const double limit = usual - std::max(min_drop, 4.0 * sigma);
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].mean >= limit) continue;
    size_t j = i;
    while (j + 1 < blocks.size() && blocks[j + 1].mean < limit && blocks[j + 1].first == blocks[j].last + 1) ++j;
    // Edges to the sample: half way between the two levels, within the neighbouring blocks.
    double low = 0;
    for (size_t k = i; k <= j; ++k) low = k == i ? blocks[k].mean : std::min(low, blocks[k].mean);
    const double half = 0.5 * (usual + low);
    size_t first = i > 0 && blocks[i - 1].last + 1 == blocks[i].first ? blocks[i - 1].first : blocks[i].first;
    size_t last =
        j + 1 < blocks.size() && blocks[j].last + 1 == blocks[j + 1].first ? blocks[j + 1].last : blocks[j].last;
    while (first < blocks[i].last && !(s.v[first] < half)) ++first;
    while (last > blocks[j].first && !(s.v[last] < half)) --last;
    LevelStretch st;
    st.first = first;
    st.last = std::max(first, last);
    st.start_s = s.t_s[st.first] - s.dt_s[st.first];
    st.end_s = s.t_s[st.last];
    double w = 0, sum = 0;
    for (size_t k = st.first; k <= st.last; ++k) {
      if (IsMissing(s.v[k])) continue;
      w += s.dt_s[k];
      sum += static_cast<double>(s.v[k]) * s.dt_s[k];
    }
    st.level = w > 0 ? sum / w : kMissing;
    if (st.end_s - st.start_s >= min_s && (out.empty() || st.first > out.back().last)) out.push_back(st);
    i = j;
  }
  return out;
}

MeanShift FindMeanShift(const std::vector<double>& v, size_t min_side) {
  MeanShift best;
  const size_t n = v.size();
  if (n < 2 * min_side || min_side == 0) return best;
  std::vector<double> sum(n + 1, 0);
  for (size_t i = 0; i < n; ++i) sum[i + 1] = sum[i] + v[i];
  double gain = -1;
  for (size_t k = min_side; k + min_side <= n; ++k) {
    const double a = sum[k] / static_cast<double>(k);
    const double b = (sum[n] - sum[k]) / static_cast<double>(n - k);
    const double g = (a - b) * (a - b) * static_cast<double>(k) * static_cast<double>(n - k) / static_cast<double>(n);
    if (g > gain) {
      gain = g;
      best.at = k;
      best.before = a;
      best.after = b;
    }
  }
  std::vector<double> steps;
  for (size_t i = 1; i < n; ++i) steps.push_back(v[i] - v[i - 1]);
  const double sigma = std::max(RobustSigma(steps) / std::sqrt(2.0), 1e-6);
  const double k = static_cast<double>(best.at), m = static_cast<double>(n) - k;
  best.t_value = std::abs(best.before - best.after) / (sigma * std::sqrt(1 / k + 1 / m));
  best.found = true;
  return best;
}

}  // namespace sawbill::wave
