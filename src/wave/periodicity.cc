// SPDX-License-Identifier: Apache-2.0
#include "wave/periodicity.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "wave/stats.h"

namespace sawbill::wave {
namespace {

// A memoryless load (exponential gaps) has a robust cv of 1.03; a dead time as long as its random part brings it down
// to 0.42. 0.28 leaves both far away and keeps a beat that jitters by 20 % (periodicity_property_test.cc has the
// rates).
constexpr double kPeriodicCv = 0.28, kLikelyCv = 0.30;
constexpr double kTightCv = 0.10;
constexpr int kPeriodicEvents = 8, kLikelyEvents = 6;
// Folding pulls any gap to within a quarter of a multiple of the median, so folded gaps of a random load look regular
// by construction: it was the source of nearly all false alarms (5 % of Poisson dips and of on/off load). A beat with
// up to 30 % missed has an unfolded cv of at most 1.6 times its own, a random load keeps 0.4 to 0.7.
constexpr double kUnfoldedCv = 0.40;
constexpr double kFoldShare = 0.7;
// Pairwise differences cost n^2/2; from here on the plain MAD is just as sure (its standard error is 6 % of sigma).
constexpr size_t kFewGaps = 200;

double Spread(const std::vector<double>& gaps) {
  return gaps.size() <= kFewGaps ? PairwiseSigma(gaps) : RobustSigma(gaps);
}

std::vector<double> Fold(std::vector<double> gaps, double median) {
  size_t single = 0;
  for (const double g : gaps) single += std::lround(g / median) <= 1 ? 1 : 0;
  if (static_cast<double>(single) < kFoldShare * static_cast<double>(gaps.size())) return gaps;
  for (double& g : gaps) {
    const double k = std::round(g / median);
    if (k >= 2 && k <= 3) g /= k;
  }
  return gaps;
}

/// Mean of what lies within half of the median: for a jittered beat a quarter more precise than the median, and as
/// blind to pauses. A tight beat needs no help, and there the median ignores the few gaps that are not of it.
double TrimmedMean(const std::vector<double>& gaps, double median) {
  double sum = 0, n = 0;
  for (const double g : gaps) {
    if (std::abs(g / median - 1) > 0.5) continue;
    sum += g;
    n += 1;
  }
  return n > 0 ? sum / n : median;
}

}  // namespace

Periodicity TestSpacing(const std::vector<double>& times_s, double min_period_s) {
  Periodicity p;
  p.events = static_cast<int>(times_s.size());
  if (times_s.size() < 4) return p;
  std::vector<double> gaps;
  for (size_t i = 1; i < times_s.size(); ++i) gaps.push_back(times_s[i] - times_s[i - 1]);
  const double raw_median = Median(gaps);
  if (!(raw_median > 0)) return p;
  const std::vector<double> folded = Fold(gaps, raw_median);
  const double median = Median(folded);
  p.cv = Spread(folded) / median;
  p.period_s = p.cv < kTightCv ? median : TrimmedMean(folded, median);
  const bool beat = RobustSigma(gaps) < kUnfoldedCv * raw_median;
  if (beat && p.events >= kLikelyEvents && p.cv < kLikelyCv && p.period_s < min_period_s) {
    p.verdict = Periodicity::Verdict::kTooShort;
  } else if (beat && p.events >= kPeriodicEvents && p.cv < kPeriodicCv) {
    p.verdict = Periodicity::Verdict::kPeriodic;
  } else if (beat && p.events >= kLikelyEvents && p.cv < kLikelyCv) {
    p.verdict = Periodicity::Verdict::kLikely;
  } else if (p.events >= kLikelyEvents || p.period_s < min_period_s) {
    p.verdict = Periodicity::Verdict::kRandom;
  }
  return p;
}

std::vector<double> DipTimes(const std::vector<Event>& dips) {
  std::vector<double> out;
  out.reserve(dips.size());
  for (const Event& e : dips) out.push_back(e.centroid_s);
  return out;
}

std::vector<double> BurstTimes(const std::vector<Event>& bursts) {
  std::vector<double> out;
  out.reserve(bursts.size());
  for (const Event& e : bursts) out.push_back(e.onset_s);
  return out;
}

std::optional<WidthClasses> SplitByWidth(const std::vector<Event>& events) {
  constexpr size_t kFewest = 4;
  constexpr double kTwice = 2;
  if (events.size() < 2 * kFewest) return std::nullopt;
  std::vector<double> widths;
  for (const Event& e : events) widths.push_back(e.width_s);
  const double cut = std::sqrt(Median(widths) * Quantile(widths, 0.99));
  WidthClasses out;
  std::vector<double> narrow, wide;
  for (const Event& e : events) {
    (e.width_s > cut ? out.wide : out.narrow).push_back(e);
    (e.width_s > cut ? wide : narrow).push_back(e.width_s);
  }
  if (narrow.size() < kFewest || wide.size() < kFewest || Median(wide) < kTwice * Median(narrow)) return std::nullopt;
  return out;
}

double Spread(const Series& s) {
  const double mean = WeightedMean(s.v, s.dt_s);
  if (IsMissing(mean)) return kMissing;
  double sum = 0, w = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    if (IsMissing(s.v[i])) continue;
    sum += (s.v[i] - mean) * (s.v[i] - mean) * s.dt_s[i];
    w += s.dt_s[i];
  }
  return w > 0 ? std::sqrt(sum / w) : kMissing;
}

namespace {

/// Polls at uneven times cannot keep step with the job: an alias turns into noise, which has no period.
bool PollsJitter(const Series& s, double interval_s) {
  constexpr double kJitter = 0.1;  // of the interval, standard deviation of the time between polls
  double sum = 0;
  size_t n = 0;
  for (size_t i = 1; i < s.size(); ++i) {
    const double off = (s.t_s[i] - s.t_s[i - 1]) / interval_s - 1;
    if (std::abs(off) > 0.9) continue;  // a missing or doubled tick says nothing about the others
    sum += off * off;
    ++n;
  }
  return n > 10 && std::sqrt(sum / static_cast<double>(n)) >= kJitter;
}

}  // namespace

Swings JudgeSwings(const Series& util, const Series& power, const Instrument& instrument) {
  // A window shorter than the interval looks at a part of each second only: a steady step of 0.97 s at 70 % duty reads
  // as 0-100 % with a period of 32 s (1/|1/T - round(1/T)|). A window as long as the interval misses nothing.
  constexpr double kRipple = 4;         // points; a covered sub-second step ripples by 2
  constexpr double kSwing = 12;         // points, from which on it is worth being called an artefact
  constexpr double kStillPower = 0.45;  // of the swing that the load would make: below it power did not follow
  const bool covered = IsPresent(instrument.window_s) && instrument.window_s >= 0.9 * instrument.interval_s;
  Swings out;
  out.util = Spread(util);
  out.power = kMissing;
  const double mean = WeightedMean(util.v, util.dt_s), usual = WeightedMean(power.v, power.dt_s);
  if (IsPresent(usual) && usual > 0.05 && mean > 5 && out.util > 0) {
    // What the power of a card would do if utilisation really swung like this: swing x power per point of utilisation.
    out.power = Spread(power) / (out.util * usual / mean);
  }
  if (covered || !(out.util >= kRipple)) return out;
  if (IsPresent(out.power) && out.power >= kStillPower) return out;
  if (IsPresent(out.power) && out.util >= kSwing) {
    out.visibility = Visibility::kAliased;
  } else if (!PollsJitter(util, instrument.interval_s)) {
    out.visibility = Visibility::kNotTold;
  }
  return out;
}

double ShortestPeriod(Visibility visibility, const Instrument& instrument) {
  // Below 3 s, or three samples, a period cannot be told from polls. Where they may alias and nothing else was read,
  // only slow beats are claimed: one of 60 polls or more is an alias only for a step within 1/60 of the poll rate of
  // one of its multiples, which 3 % of steps are (log-uniform between 0.03 s and 2 s).
  const double polls = visibility == Visibility::kNotTold ? 60 : 3;
  return std::max(3.0, polls * instrument.interval_s);
}

}  // namespace sawbill::wave
