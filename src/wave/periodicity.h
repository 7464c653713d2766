// SPDX-License-Identifier: Apache-2.0
// The interval test for periodicity, two overlapping periods, and whether polls can show what they seem to show. Pure.
//
// Why spacing and not a spectrum: on labelled 1 Hz series a Fisher g-test calls 63-99 % of random dips or on/off
// idleness periodic (its null is white noise, theirs is coloured); the spread of the time between onsets does not.
#pragma once

#include <optional>
#include <vector>

#include "wave/events.h"

namespace sawbill::wave {

struct Periodicity {
  /// kTooShort: they beat, but faster than may be claimed from these polls; neither a period nor randomness is said.
  enum class Verdict { kPeriodic, kLikely, kRandom, kTooShort, kTooFew } verdict = Verdict::kTooFew;
  double period_s = 0, cv = 0;  // cv: robust sigma / median of the (folded) gaps
  int events = 0;
  bool periodic() const { return verdict == Verdict::kPeriodic; }
  /// Nothing speaks against a beat, though there may be too few events to claim it.
  bool MayBeat() const { return AtLeastLikely() || verdict == Verdict::kTooFew; }
  bool AtLeastLikely() const { return verdict == Verdict::kPeriodic || verdict == Verdict::kLikely; }
};
/// Spacing of events: periodic if >= 8 events and cv < 0.28, likely if >= 6 and cv < 0.30. A missed beat (gap near 2 or
/// 3 times the median) is folded while at least 70 % of the gaps are single. `min_period_s`: no period below it is
/// claimed. `times_s` in seconds, increasing; fewer than 4 give no verdict.
Periodicity TestSpacing(const std::vector<double>& times_s, double min_period_s);

/// Sub-second times of dips (of the deficit's centre) and of bursts (of their onset: how long a burst lasts is no part
/// of its beat, and centres of long bursts are moving averages of the gaps, which look more regular than they are).
std::vector<double> DipTimes(const std::vector<Event>& dips);
std::vector<double> BurstTimes(const std::vector<Event>& bursts);

/// Two causes in one series, told apart by how long their events are: loader stalls of 2 s and saves of 20 s.
struct WidthClasses {
  std::vector<Event> narrow, wide;
};
/// Cuts at the geometric mean of median and P99 width. Nothing where one width is all there is: the wide ones must be
/// at least twice as long as the narrow ones (by their medians), and each class have 4 events.
std::optional<WidthClasses> SplitByWidth(const std::vector<Event>& events);

/// What can be claimed from swings of polled utilisation.
enum class Visibility {
  kVisible,  // what is polled is what happened
  kAliased,  // a witness contradicts the swings: they are an artefact of sampling
  kNotTold,  // polls may miss most of a step and no witness was read: a short period must not be claimed
};
struct Instrument {
  double interval_s = 1;  // between polls
  double window_s = 0;    // of the driver, over which one reading speaks; NaN = not known
};
struct Swings {
  Visibility visibility = Visibility::kVisible;
  double util = 0;   // standard deviation, points; NaN without samples
  double power = 0;  // standard deviation of power over what it would be if the card really swung; NaN = unknown
};
/// Standard deviation of the readings, weighted by the seconds that each speaks for; NaN without readings.
double Spread(const Series& s);
/// REQUIRES: `power` (share of its range, any unit) on the ticks of `util`, or empty.
Swings JudgeSwings(const Series& util, const Series& power, const Instrument& instrument);

/// The shortest period that may be claimed from polls, seconds.
double ShortestPeriod(Visibility visibility, const Instrument& instrument);

}  // namespace sawbill::wave
