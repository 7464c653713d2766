// SPDX-License-Identifier: Apache-2.0
// What the interval test must never do and must not miss, on a thousand seeds each, with ranges drawn anew for each
// seed. The loads are of wave/test_loads.h; nothing here knows how the test works.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/numbers.h"
#include "wave/periodicity.h"
#include "wave/stats.h"
#include "wave/test_loads.h"

namespace sawbill::wave {
namespace {

constexpr int kSeconds = 1800, kSeeds = 1000;
constexpr double kShortest = 3;

std::vector<Event> Dips(const Series& s) { return FindDips(s, WeightedQuantile(s.v, s.dt_s, 0.9)); }
Periodicity OfDips(const Series& s) { return TestSpacing(DipTimes(Dips(s)), kShortest); }
Periodicity OfBursts(const Series& s) {
  return TestSpacing(BurstTimes(FindBursts(s, 0.5 * WeightedQuantile(s.v, s.dt_s, 0.9))), kShortest);
}

/// Half of the cards have a driver window of a second, half one of a sixth.
Poll AnyCard(TestRandom* random) {
  Poll p;
  p.window_s = random->Uniform() < 0.5 ? 1 : 1.0 / 6;
  p.phase_s = random->Uniform(0, p.window_s);
  return p;
}

/// Stalls of one width whose ends and next beginnings know nothing of each other.
Series PoissonDips(TestRandom* random) {
  const double gap = random->LogUniform(6, 150), width = random->LogUniform(1, 6);
  Load load;
  for (double t = random->Exponential(gap); t < kSeconds; t += width + random->Exponential(gap)) load.Stall(t, width);
  return Measure(load, kSeconds, AnyCard(random), random);
}

Series Telegraph(TestRandom* random) {
  const double on = random->LogUniform(4, 60), off = random->LogUniform(2, 30);
  Load load;
  for (double t = random->Exponential(on); t < kSeconds;) {
    const double width = random->Exponential(off);
    load.Stall(t, width);
    t += width + random->Exponential(on);
  }
  return Measure(load, kSeconds, AnyCard(random), random);
}

Series Autoregressive(TestRandom* random) {
  const double phi = random->Uniform(0, 0.98), sigma = random->Uniform(10, 35), mean = random->Uniform(40, 85);
  Series s;
  double x = 0;
  for (int k = 1; k <= kSeconds; ++k) {
    x = phi * x + sigma * std::sqrt(1 - phi * phi) * random->Normal();
    s.t_s.push_back(k);
    s.dt_s.push_back(1);
    s.v.push_back(static_cast<float>(std::clamp(std::round(mean + x), 0.0, 100.0)));
  }
  return s;
}

/// False alarms, "likely" included: findings print a period for either.
void ExpectFewAlarms(const std::function<Series(TestRandom*)>& load) {
  int dips = 0, bursts = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    TestRandom random(static_cast<uint64_t>(seed) + 40000);
    const Series s = load(&random);
    dips += OfDips(s).AtLeastLikely() ? 1 : 0;
    bursts += OfBursts(s).AtLeastLikely() ? 1 : 0;
  }
  EXPECT_LE(dips, kSeeds * 2 / 100);
  EXPECT_LE(bursts, kSeeds * 2 / 100);
}

TEST(PeriodicityProperty, PoissonDipsHaveNoPeriod) { ExpectFewAlarms(PoissonDips); }
TEST(PeriodicityProperty, OnOffLoadHasNoPeriod) { ExpectFewAlarms(Telegraph); }
TEST(PeriodicityProperty, AutoregressiveLoadHasNoPeriod) { ExpectFewAlarms(Autoregressive); }

struct Beat {
  double period = 0;
  Series clean, torn;
};

/// A beat that jitters by up to 20 % and comes at least ten times; the same with 3 % of the ticks lost and 3 % doubled.
Beat AnyBeat(uint64_t seed) {
  TestRandom random(seed);
  Beat b;
  b.period = kSeconds / random.LogUniform(11, 150);
  const double cv = random.Uniform(0, 0.2), width = std::min(random.Uniform(1.5, 4), 0.3 * b.period);
  const Load load = Beats(b.period, cv, width, kSeconds, &random);
  Poll poll = AnyCard(&random);
  b.clean = Measure(load, kSeconds, poll, &random);
  poll.dropped = poll.doubled = 0.03;
  b.torn = Measure(load, kSeconds, poll, &random);
  return b;
}

TEST(PeriodicityProperty, JitteredBeatsAreFoundWithTheirPeriod) {
  int all = 0, found = 0, right = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const Beat b = AnyBeat(static_cast<uint64_t>(seed) + 7);
    const Periodicity p = OfDips(b.clean);
    if (p.events < 10) continue;
    ++all;
    found += p.periodic() ? 1 : 0;
    right += p.periodic() && std::abs(p.period_s / b.period - 1) < 0.1 ? 1 : 0;
  }
  ASSERT_GT(all, kSeeds * 9 / 10);
  EXPECT_GE(found, all * 95 / 100);
  EXPECT_GE(right, all * 95 / 100);
}

TEST(PeriodicityProperty, LostAndDoubledTicksDoNotChangeTheVerdict) {
  int all = 0, same = 0;
  for (int seed = 1; seed <= kSeeds / 2; ++seed) {
    const Beat b = AnyBeat(static_cast<uint64_t>(seed) + 7000);
    const Periodicity clean = OfDips(b.clean), torn = OfDips(b.torn);
    if (!clean.periodic() || clean.cv > 0.2) continue;  // at the limit itself anything tips a verdict
    ++all;
    same += torn.periodic() && std::abs(torn.period_s / clean.period_s - 1) < 0.05 ? 1 : 0;
  }
  ASSERT_GT(all, kSeeds / 3);
  EXPECT_GE(same, all * 99 / 100);
}

TEST(PeriodicityProperty, LostAndDoubledTicksDoNotMakeAPeriod) {
  int alarms = 0;
  for (int seed = 1; seed <= kSeeds / 2; ++seed) {
    TestRandom random(static_cast<uint64_t>(seed) + 17000);
    const double on = random.LogUniform(4, 60), off = random.LogUniform(2, 30);
    Load load;
    for (double t = random.Exponential(on); t < kSeconds;) {
      const double width = random.Exponential(off);
      load.Stall(t, width);
      t += width + random.Exponential(on);
    }
    Poll poll = AnyCard(&random);
    poll.dropped = poll.doubled = 0.03;
    alarms += OfDips(Measure(load, kSeconds, poll, &random)).AtLeastLikely() ? 1 : 0;
  }
  EXPECT_LE(alarms, kSeeds / 2 * 2 / 100);
}

TEST(PeriodicityProperty, NoPeriodBelowThreeSecondsIsClaimed) {
  for (int seed = 1; seed <= 200; ++seed) {
    TestRandom random(static_cast<uint64_t>(seed) + 300);
    const Load load = Steps(random.Uniform(0.1, 2.95), random.Uniform(0.3, 0.9), random.Uniform(0, 0.05), 600, &random);
    const Periodicity p = OfDips(Measure(load, 600, AnyCard(&random), &random));
    EXPECT_TRUE(!p.AtLeastLikely() || p.period_s >= 3) << seed << " " << p.period_s;
  }
}

/// Power as a mean over the second, which is what the driver gives on most cards, for a card that draws 60 W idle.
Series MeanPower(const Load& load, const Series& util) {
  Series p = util;
  for (size_t i = 0; i < p.size(); ++i) {
    const double busy = 1 - (load.IdleUntil(p.t_s[i]) - load.IdleUntil(p.t_s[i] - 1));
    p.v[i] = static_cast<float>(busy);
  }
  return p;
}

constexpr double kAliasing[] = {0.26, 0.51, 0.97, 1.96};

TEST(PeriodicityProperty, AliasedStepsAreNotTakenForStalls) {
  // Steady steps through a window of 1/6 s: unjittered polls draw periods of 6 to 51 s that are not there.
  int apparent = 0, aliased = 0;
  for (const double period : kAliasing) {
    for (const double cv : {0.0, 0.03}) {
      for (int seed = 1; seed <= 10; ++seed) {
        TestRandom random(static_cast<uint64_t>(seed) + 11);
        const Load load = Steps(period, random.Uniform(0.6, 0.9), cv, kSeconds, &random);
        const Poll poll{1.0 / 6, random.Uniform(0, 1.0 / 6)};
        const Series util = Measure(load, kSeconds, poll, &random);
        const Instrument card{1, poll.window_s}, unknown{1, kMissing};
        apparent += OfDips(util).AtLeastLikely() ? 1 : 0;
        const Visibility alone = JudgeSwings(util, {}, card).visibility;
        EXPECT_EQ(alone, Visibility::kNotTold) << period << " " << cv;
        EXPECT_FALSE(TestSpacing(DipTimes(Dips(util)), ShortestPeriod(alone, card)).AtLeastLikely()) << period;
        // At 1.96 s every other second is a different one, so power moves as well; it says "real", and no period shows.
        const Visibility with_power = JudgeSwings(util, MeanPower(load, util), unknown).visibility;
        EXPECT_TRUE(with_power != Visibility::kVisible || period > 1) << period << " " << cv;
        aliased += with_power == Visibility::kAliased ? 1 : 0;
        EXPECT_TRUE(period < 1 || !OfDips(util).AtLeastLikely()) << period << " " << cv;
      }
    }
  }
  EXPECT_GT(apparent, 30);  // the trap is really there
  EXPECT_GT(aliased, 40);   // of 60 that are below a second
}

TEST(PeriodicityProperty, AWindowAsLongAsTheIntervalShowsNoSwing) {
  for (const double period : {0.26, 0.51, 0.97}) {
    TestRandom random(5);
    const Load load = Steps(period, 0.7, 0.03, kSeconds, &random);
    const Series util = Measure(load, kSeconds, {1, 0.37}, &random);
    EXPECT_TRUE(Dips(util).empty()) << period;
    EXPECT_EQ(JudgeSwings(util, {}, Instrument{1, 1}).visibility, Visibility::kVisible);
  }
}

TEST(PeriodicityProperty, RealDipsMoveThePowerAndStayVisible) {
  for (int seed = 1; seed <= 50; ++seed) {
    TestRandom random(static_cast<uint64_t>(seed) + 900);
    const Load load = Beats(random.Uniform(8, 60), 0.05, random.Uniform(2, 4), kSeconds, &random);
    const Series util = Measure(load, kSeconds, {1.0 / 6, 0.1}, &random);
    EXPECT_EQ(JudgeSwings(util, MeanPower(load, util), Instrument{1, kMissing}).visibility, Visibility::kVisible)
        << seed;
  }
}

TEST(PeriodicityProperty, TheMeanHoldsUnderJitteredPolls) {
  for (const double period : {0.26, 0.51, 0.97, 1.96, 5.0}) {
    for (const double window : {1.0 / 6, 1.0}) {
      double sum = 0;
      constexpr int kRuns = 10;
      for (int seed = 1; seed <= kRuns; ++seed) {
        TestRandom random(static_cast<uint64_t>(seed) + 60);
        const Load load = Steps(period, 0.7, 0.01, kSeconds, &random);
        const Series util = Measure(load, kSeconds, {window, random.Uniform(0, window), 0.3}, &random);
        const double mean = WeightedMean(util.v, util.dt_s);
        EXPECT_NEAR(mean, 70, 4) << period << " " << window;  // one run: four standard errors of 1,800 polls
        sum += mean;
      }
      EXPECT_NEAR(sum / kRuns, 70, 2) << period << " " << window;
    }
  }
}

struct Overlapping {
  double short_s = 0, long_s = 0;
  Series series;
};

/// An hour of loader dips every 12 to 40 s and saves every 240 to 600 s. A save also stops the loader's beat: its queue
/// is full when training goes on.
Overlapping LoaderAndSaves(uint64_t seed) {
  constexpr int kHour = 3600;
  TestRandom random(seed);
  Overlapping o;
  o.short_s = random.Uniform(12, 40);
  o.long_s = random.Uniform(240, 600);
  const double dip = random.Uniform(1.5, 4), save = random.LogUniform(10, 40);
  Load load;
  double next_dip = random.Uniform(0, o.short_s), next_save = random.Uniform(0.3, 0.6) * o.long_s;
  while (std::min(next_dip, next_save) < kHour) {
    if (next_dip + 2 * dip < next_save) {
      load.Stall(next_dip, dip * (1 + 0.1 * random.Normal()));
      next_dip += o.short_s * (1 + 0.08 * random.Normal());
    } else {
      load.Stall(next_save, save * (1 + 0.05 * random.Normal()));
      next_dip = next_save + save + o.short_s;
      next_save += o.long_s * (1 + 0.02 * random.Normal());
    }
  }
  o.series = Measure(load, kHour, AnyCard(&random), &random);
  return o;
}

TEST(PeriodicityProperty, TwoOverlappingPeriodsAreBothFound) {
  constexpr int kCases = 200;
  int split = 0, narrow = 0, wide = 0;
  for (int seed = 1; seed <= kCases; ++seed) {
    const Overlapping o = LoaderAndSaves(static_cast<uint64_t>(seed) + 500);
    const auto classes = SplitByWidth(Dips(o.series));
    if (!classes) continue;
    ++split;
    const Periodicity a = TestSpacing(DipTimes(classes->narrow), kShortest);
    const Periodicity b = TestSpacing(DipTimes(classes->wide), kShortest);
    narrow += a.periodic() && std::abs(a.period_s / o.short_s - 1) < 0.05 ? 1 : 0;
    // Six saves in an hour are too few to be called periodic, and enough to be called likely.
    wide += b.AtLeastLikely() && std::abs(b.period_s / o.long_s - 1) < 0.05 ? 1 : 0;
  }
  EXPECT_EQ(split, kCases);
  EXPECT_GE(narrow, kCases * 99 / 100);
  EXPECT_GE(wide, kCases * 95 / 100);
}

TEST(SplitByWidth, OneWidthIsNotTornInTwo) {
  for (int seed = 1; seed <= 200; ++seed) {
    TestRandom random(static_cast<uint64_t>(seed) + 77);
    Load load;
    for (double t = 5; t < 1790; t += 12) load.Stall(t, 3 * (1 + 0.1 * random.Normal()));
    EXPECT_FALSE(SplitByWidth(Dips(Measure(load, 1800, {}, &random)))) << seed;
  }
}

}  // namespace
}  // namespace sawbill::wave
