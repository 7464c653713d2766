// SPDX-License-Identifier: Apache-2.0
//
// A collective that waits for a rank that never comes: kernels spin on all cards, so they read 100 %, draw little and
// even power, and hardly touch memory.
//
// To the end of the record a fall to flat, low power is enough: whoever looks wants to know now. What the job came back
// from may as well have been a long validation or a compilation, and is named only with all its marks: every sample
// full, power low and flat, memory still where it was busy before, for five minutes, on all of several cards, after as
// long a time of work.
#include <algorithm>
#include <cmath>

#include "analysis/interruptions.h"
#include "wave/stats.h"

namespace sawbill::analysis {
namespace {

constexpr double kMinHangS = 300.0, kBlockS = 20.0;
constexpr double kLowPower = 0.75;  // of what the job draws at work
constexpr double kFlat = 0.06;      // of the range: a job that works, however slowly, moves by more than that

struct Blocks {
  std::vector<double> power, util, memory, start_s, end_s;
  size_t size() const { return power.size(); }
};

Blocks MakeBlocks(const RunSeries& s) {
  Blocks b;
  double w = 0, wm = 0, p = 0, u = 0, m = 0;
  size_t start = 0;
  for (size_t i = 0; i < s.util.size(); ++i) {
    if (IsPresent(s.power.v[i]) && IsPresent(s.util.v[i])) {
      const double dt = s.util.dt_s[i];
      w += dt;
      p += s.power.v[i] * dt;
      u += s.util.v[i] * dt;
      if (IsPresent(s.mem_util.v[i])) {
        m += s.mem_util.v[i] * dt;
        wm += dt;
      }
    }
    if (w >= kBlockS) {
      b.power.push_back(p / w);
      b.util.push_back(u / w);
      b.memory.push_back(wm > 0 ? m / wm : kMissing);
      b.start_s.push_back(s.util.t_s[start] - s.util.dt_s[start]);
      b.end_s.push_back(s.util.t_s[i]);
      start = i + 1;
      w = wm = p = u = m = 0;
    }
  }
  return b;
}

std::vector<double> Part(const std::vector<double>& v, size_t from, size_t to) {
  return {v.begin() + static_cast<std::ptrdiff_t>(from), v.begin() + static_cast<std::ptrdiff_t>(to)};
}

/// Median of what is known; NaN where nothing is.
double Known(std::vector<double> v) {
  v.erase(std::remove_if(v.begin(), v.end(), [](double x) { return IsMissing(x); }), v.end());
  return wave::Median(std::move(v));
}

double Spread(const std::vector<double>& v) { return wave::Quantile(v, 0.95) - wave::Quantile(v, 0.05); }

/// The block from which on the job hangs to the end of the record; the number of blocks where it does not.
size_t FindTail(const Blocks& b) {
  const auto min_side = static_cast<size_t>(kMinHangS / kBlockS);
  const wave::MeanShift shift = wave::FindMeanShift(b.power, min_side);
  if (!shift.found || shift.after > kLowPower * shift.before || shift.t_value < 8) return b.size();
  const double before = Known(Part(b.memory, 0, shift.at)), after = Known(Part(b.memory, shift.at, b.size()));
  if (wave::Median(Part(b.util, shift.at, b.size())) < 90) return b.size();
  if (Spread(Part(b.power, shift.at, b.size())) > kFlat || (before > 5 && after > 0.5 * before)) return b.size();
  return shift.at;
}

/// Stretches before block `end` that the job came back from.
std::vector<std::pair<size_t, size_t>> FindPast(const Blocks& b, size_t end) {
  constexpr double kFull = 97, kStillMemory = 0.1, kBusyMemory = 8;  // percent; share of the usual; percent
  std::vector<std::pair<size_t, size_t>> out;
  const double power = Known(Part(b.power, 0, end)), memory = Known(Part(b.memory, 0, end));
  if (!(memory >= kBusyMemory) || !(power > 0)) return out;
  const auto spins = [&](size_t i) {
    return b.util[i] >= kFull && b.power[i] <= kLowPower * power && b.memory[i] <= std::max(1.0, kStillMemory * memory);
  };
  for (size_t i = 0; i < end; ++i) {
    if (!spins(i)) continue;
    size_t j = i + 1;
    while (j < end && spins(j)) ++j;
    const bool long_enough = b.end_s[j - 1] - b.start_s[i] >= kMinHangS && b.start_s[i] - b.start_s[0] >= kMinHangS;
    if (long_enough && Spread(Part(b.power, i, j)) <= kFlat) out.emplace_back(i, j);
    i = j;
  }
  return out;
}

}  // namespace

std::vector<std::pair<double, double>> FindHangs(const RunSeries& s) {
  if (s.power.size() == 0 || s.util.size() < 60) return {};
  const Blocks b = MakeBlocks(s);
  const size_t tail = FindTail(b);
  std::vector<std::pair<double, double>> out;
  if (s.cards >= 2) {
    for (const auto& [from, to] : FindPast(b, tail)) out.emplace_back(b.start_s[from], b.end_s[to - 1]);
  }
  if (tail < b.size() && s.util.t_s.back() - b.start_s[tail] >= kMinHangS) {
    out.emplace_back(b.start_s[tail], s.util.t_s.back());
  }
  return out;
}

}  // namespace sawbill::analysis
