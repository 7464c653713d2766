// SPDX-License-Identifier: Apache-2.0
//
// An evaluation that shows in both utilisation and power counts once: with the edges of utilisation, unless that shows
// only a part of it (where steps beat with the polls it crosses the line here and there, and power does not).
#include "analysis/plateaus.h"

#include <algorithm>
#include <cmath>

#include "wave/stats.h"

namespace sawbill::analysis {
namespace {

/// A plateau, not a stretch of many dips: nearly all of its samples lie on the low side, in utilisation or in power.
bool IsPlateau(const wave::Series& s, double usual, const wave::LevelStretch& st) {
  if (IsMissing(usual)) return false;  // no such series
  double all = 0, sum = 0, low = 0;
  for (size_t i = st.first; i <= st.last; ++i) {
    if (IsMissing(s.v[i])) continue;
    all += s.dt_s[i];
    sum += static_cast<double>(s.v[i]) * s.dt_s[i];
  }
  if (all <= 0) return false;
  const double middle = 0.5 * (usual + sum / all);
  for (size_t i = st.first; i <= st.last; ++i) {
    if (s.v[i] < middle) low += s.dt_s[i];
  }
  return low >= 0.85 * all;
}

/// Whether power tells of the stretch what utilisation does: half as much above idle where half as much runs. Any
/// change of that size will do, since other work draws other power. Without a witness nothing is contradicted.
bool PowerFollows(const RunSeries& s, const wave::LevelStretch& st, double usual_util, double usual_power) {
  constexpr double kFollows = 0.4;  // of the change that the load would make
  if (s.covered || !(usual_power > 0.05) || !(usual_util > 0)) return true;
  const double power = MeanOf(s.power, st), expected = usual_power * (1 - st.level / usual_util);
  return IsMissing(power) || std::abs(usual_power - power) >= kFollows * expected;
}

}  // namespace

double Overlap(double a0, double a1, double b0, double b1) {
  return std::max(0.0, std::min(a1, b1) - std::max(a0, b0));
}

double MeanOf(const wave::Series& s, const wave::LevelStretch& st) {
  double w = 0, sum = 0;
  for (size_t i = st.first; i <= st.last; ++i) {
    if (IsMissing(s.v[i])) continue;
    w += s.dt_s[i];
    sum += static_cast<double>(s.v[i]) * s.dt_s[i];
  }
  return w > 0 ? sum / w : kMissing;
}

bool MostlyQuiet(const wave::Series& s, const wave::LevelStretch& st, double hi) {
  double w = 0, quiet = 0;
  for (size_t i = st.first; i <= st.last; ++i) {
    if (IsMissing(s.v[i])) continue;
    w += s.dt_s[i];
    if (s.v[i] <= kQuietLevel * hi) quiet += s.dt_s[i];
  }
  return quiet > 0.5 * w;
}

std::vector<wave::LevelStretch> FindPlateaus(const RunSeries& s, double block_s, double min_s) {
  constexpr double kWhole = 0.8, kFed = 0.5;
  const auto usual = [](const wave::Series& x) { return wave::WeightedQuantile(x.v, x.dt_s, 0.75); };
  const double usual_util = usual(s.util), usual_power = usual(s.power);
  const std::vector<wave::LevelStretch> low_util = wave::FindLowStretches(s.util, block_s, min_s, 8.0);
  std::vector<wave::LevelStretch> out, by_power;
  const auto overlaps = [](const auto& a, const auto& b) {
    return Overlap(a.start_s, a.end_s, b.start_s, b.end_s) > 0;
  };
  if (s.power.size() != 0) {
    for (const auto& st : wave::FindLowStretches(s.power, block_s, min_s, 0.08)) {
      // Where utilisation falls as well, mostly waiting is no other work.
      const bool waits = MeanOf(s.util, st) < kFed * usual_util &&
                         std::any_of(low_util.begin(), low_util.end(), [&](const auto& u) { return overlaps(u, st); });
      if (IsPlateau(s.power, usual_power, st) && !waits) by_power.push_back(st);
    }
  }
  for (const auto& st : low_util) {
    const bool plateau = IsPlateau(s.util, usual_util, st) && PowerFollows(s, st, usual_util, usual_power);
    const bool part = std::any_of(by_power.begin(), by_power.end(), [&](const auto& p) {
      return overlaps(p, st) && (!plateau || st.end_s - st.start_s < kWhole * (p.end_s - p.start_s));
    });
    if (plateau && !part) out.push_back(st);
  }
  const size_t by_util = out.size();
  for (const auto& st : by_power) {
    const auto end = out.begin() + static_cast<std::ptrdiff_t>(by_util);
    if (std::none_of(out.begin(), end, [&](const auto& o) { return overlaps(o, st); })) out.push_back(st);
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.start_s < b.start_s; });
  return out;
}

}  // namespace sawbill::analysis
