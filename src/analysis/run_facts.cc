// SPDX-License-Identifier: Apache-2.0
#include "analysis/run_facts.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/feature_parts.h"
#include "wave/stats.h"

namespace sawbill::analysis {
namespace {

using wave::Feature;

constexpr double kWork = 10;  // percent: below it a card does not work for this job

double MeanOver(const PreparedCard& c, size_t i, size_t last, int n) {
  double w = 0, sum = 0;
  for (size_t k = i; k < last && n > 0; ++k, --n) {
    if (IsMissing(c.util[k]) || c.dt(k) <= 0) continue;
    w += c.dt(k);
    sum += static_cast<double>(c.util[k]) * c.dt(k);
  }
  return w > 0 ? sum / w : 0;
}

int Lookahead(const PreparedCard& c) { return c.coverage.median_interval_s >= 10 ? 1 : 5; }

/// The share of the looks in `range` that found nothing running.
double IdleShare(const PreparedCard& c, model::TimeRange range) {
  const auto [first, last] = c.Range(range);
  size_t idle = 0, all = 0;
  for (size_t i = first; i < last; ++i) {
    if (IsMissing(c.util[i])) continue;
    ++all;
    if (c.util[i] < 5) ++idle;
  }
  return all > 0 ? static_cast<double>(idle) / static_cast<double>(all) : 0;
}

/// In a coarse record the first and the last looks may find a working card at rest: then the work is taken to begin
/// with the run, and to end with it.
void WidenByChance(const std::vector<PreparedCard>& cards, RunAnalysis* a) {
  const PreparedCard& c = cards[a->run.cards.front()];
  if (!c.coarse() || a->assumed || a->active.empty()) return;
  const double idle = IdleShare(c, a->active);
  const auto looks = [&](model::TimeRange range) {
    const auto [first, last] = c.Range(range);
    return last - first;
  };
  const size_t head = looks({a->run.range.from, a->active.from}), tail = looks({a->active.to, a->run.range.to});
  const size_t all = looks(a->run.range);
  if (head > 0 && idle > 0 && !LongerThanChance(head, idle, all)) {
    a->active.from = a->run.range.from;
    a->untold_idle = true;
  }
  if (tail > 0 && idle > 0 && !LongerThanChance(tail, idle, all)) {
    a->active.to = a->run.range.to;
    a->untold_idle = true;
  }
}

/// Polls that keep step with the job fall into the same gap each time and find nothing, however hard the card works.
/// Power that is a mean over the interval, or over a second, tells.
bool WorksByPower(const PreparedCard& c, model::TimeRange range) {
  constexpr double kLeastS = 10;
  // Without a kernel, a context and full clocks hold a card above its deepest idle, by up to 0.3 of what the limit
  // leaves (small cards); half of what this card draws at work is more than that.
  constexpr double kOfRange = 0.35, kOfBusy = 0.5, kOfLimit = 0.5;
  const auto [first, last] = c.Range(range);
  double w = 0, sum = 0;
  for (size_t i = first; i < last; ++i) {
    if (IsMissing(c.power_w[i])) continue;
    w += c.dt(i);
    sum += c.power_w[i] * c.dt(i);
  }
  if (w < kLeastS || last - first < 3) return false;
  const double share = c.PowerShare(sum / w);
  if (IsMissing(c.idle_w)) return share > kOfLimit;
  const double usual = IsPresent(c.work_w) ? kOfBusy * c.PowerShare(c.work_w) : kOfRange;
  return share > std::max(0.1, usual);
}

/// What looks like a start, a rest or no work at all, and is not.
void WidenByPower(const std::vector<PreparedCard>& cards, RunAnalysis* a) {
  const auto works = [&](model::TimeRange range) {
    return std::any_of(a->run.cards.begin(), a->run.cards.end(),
                       [&](size_t k) { return WorksByPower(cards[k], range); });
  };
  if (a->active.empty()) {
    a->unseen_work = works(a->run.range);
    return;
  }
  if (works({a->run.range.from, a->active.from})) a->active.from = a->run.range.from;
  if (works({a->active.to, a->run.range.to})) a->active.to = a->run.range.to;
}

double MeanUtil(const PreparedCard& c, model::TimeRange range) {
  const auto [first, last] = c.Range(range);
  parts::MeanOfReadings mean;
  for (size_t i = first; i < last; ++i) mean.Add(c.util[i], c.coverage.dt_s[i]);
  return mean.value();
}

/// From when on the card works as it does later: a minute in which it comes to half of that.
std::optional<TimeMs> Settled(const PreparedCard& c, model::TimeRange active) {
  constexpr double kWindowS = 60;
  const double usual = MeanUtil(c, {active.from + (active.to - active.from) / 3, active.to});
  const auto [first, last] = c.Range(active);
  double w = 0, sum = 0;
  size_t end = first;
  for (size_t i = first; i < last; ++i) {
    for (; end < last && w < kWindowS; ++end) {
      if (IsMissing(c.util[end])) continue;
      w += c.dt(end);
      sum += c.util[end] * c.dt(end);
    }
    if (w < kWindowS) return std::nullopt;
    if (c.util[i] >= 0.5 * usual && sum >= 0.5 * usual * w && MeanOver(c, i, last, 5) >= 0.5 * usual)
      return c.t(i) - static_cast<TimeMs>(c.dt(i) * 1000);
    if (IsMissing(c.util[i])) continue;
    w -= c.dt(i);
    sum -= c.util[i] * c.dt(i);
  }
  return std::nullopt;
}

/// Compiling and tuning kernels runs one now and then, for minutes, and once: that is a start, not work with waits. A
/// first epoch from a cold cache looks alike, and reads.
void SkipWarmUp(const model::Recording& r, const std::vector<PreparedCard>& cards, RunAnalysis* a) {
  constexpr double kLeastS = 30, kMostS = 900, kMostShare = 0.25;
  constexpr double kHardly = 0.15;  // of the later load
  if (a->active.empty() || !(a->run.start_known || a->assumed)) return;
  std::optional<TimeMs> settled;
  for (const size_t k : a->run.cards) {
    if (cards[k].coarse()) return;
    const std::optional<TimeMs> t = Settled(cards[k], a->active);
    if (t) settled = settled ? std::min(*settled, *t) : *t;
  }
  if (!settled) return;
  const model::TimeRange head{a->active.from, *settled};
  if (head.seconds() < kLeastS || head.seconds() > std::min(kMostS, kMostShare * a->active.seconds())) return;
  for (const size_t k : a->run.cards) {
    const double later = MeanUtil(cards[k], {*settled, a->active.to});
    if (later >= kWork && !(MeanUtil(cards[k], head) <= kHardly * later)) return;
    if (WorksByPower(cards[k], head)) return;
  }
  if (parts::Reads(r, *a, head)) return;
  a->active.from = *settled;
  a->warm_up_s = head.seconds();
}

void FindActive(const std::vector<PreparedCard>& cards, RunAnalysis* a) {
  TimeMs from = INT64_MAX, to = INT64_MIN;
  for (const size_t k : a->run.cards) {
    const PreparedCard& c = cards[k];
    const auto [first, last] = c.Range(a->run.range);
    const auto begin = FirstWork(c, first, last), end = LastWork(c, first, last);
    if (!begin || !end) continue;
    // The sample speaks for the time before it.
    from = std::min(from, c.t(*begin) - static_cast<TimeMs>(c.dt(*begin) * 1000));
    to = std::max(to, c.t(*end));
  }
  if (from < to) a->active = {from, to};
  WidenByChance(cards, a);
  WidenByPower(cards, a);
}

/// Samples of a card inside the active time and outside interruptions.
std::vector<char> PlainMask(const PreparedCard& c, const RunAnalysis& a, size_t first, size_t last) {
  std::vector<char> plain(last - first, 1);
  size_t k = 0;
  const auto& all = a.interruptions.all;
  for (size_t i = first; i < last; ++i) {
    const TimeMs t0 = c.t(i) - static_cast<TimeMs>(c.dt(i) * 1000), t1 = c.t(i);
    while (k < all.size() && all[k].range.to <= t0) ++k;
    for (size_t m = k; m < all.size() && all[m].range.from < t1; ++m) plain[i - first] = 0;
    if (IsMissing(c.util[i]) || c.dt(i) <= 0) plain[i - first] = 0;
  }
  return plain;
}

void CardFacts(const std::vector<PreparedCard>& cards, RunAnalysis* a) {
  for (const size_t k : a->run.cards) {
    const PreparedCard& c = cards[k];
    CardInRun f;
    f.card = k;
    const auto [first, last] = c.Range(a->active);
    f.never_works = c.has_util && !FirstWork(c, first, last);
    const std::vector<char> plain = PlainMask(c, *a, first, last);
    std::vector<float> u, w, clock;
    for (auto* v : {&u, &w, &clock}) v->reserve(last - first);
    for (size_t i = first; i < last; ++i) {
      if (!plain[i - first]) continue;
      u.push_back(c.util[i]);
      w.push_back(static_cast<float>(c.dt(i)));
      const float mask = c.track->At(model::GpuMetric::kThrottle, i);
      const float mhz = c.track->At(model::GpuMetric::kSmClockMhz, i);
      const auto held = Mask(model::ThrottleBit::kHwSlowdown) | Mask(model::ThrottleBit::kHwThermal) |
                        Mask(model::ThrottleBit::kSwThermal) | Mask(model::ThrottleBit::kHwPowerBrake) |
                        Mask(model::ThrottleBit::kSwPowerCap) | Mask(model::ThrottleBit::kGpuIdle);
      if (IsPresent(mask) && (static_cast<unsigned>(mask) & held) == 0 && IsPresent(mhz) && c.util[i] >= 50) {
        clock.push_back(mhz);
      }
    }
    const double p95 = wave::WeightedQuantile(u, w, 0.95);
    // Below 95 no moment was seen in which the card was fed (steps shorter than the driver's window): what a fed card
    // reads is then not known, and 98 is the middle of what it can be.
    f.util_ref = IsMissing(p95) ? 100 : p95 < 95 ? 98 : std::min(p95, 100.0);
    const double mean = wave::WeightedMean(u, w);
    // Whether it waited at all is judged by the least that it can have waited.
    const double least_ref = IsMissing(p95) ? 100 : std::clamp(p95, 95.0, 100.0);
    f.wait_share = IsMissing(mean) ? kMissing : std::clamp(1.0 - mean / least_ref, 0.0, 1.0);
    if (clock.size() >= 5) {
      f.clock_ref_mhz = wave::QuantileOfReadings(std::move(clock), 0.9);
    } else if (c.track->card.sm_clock_max_mhz) {
      f.clock_ref_mhz = *c.track->card.sm_clock_max_mhz;
    }
    f.plain = parts::PlainStretches(c, *a);
    a->cards.push_back(std::move(f));
  }
  std::set<int64_t> working;
  const auto never_works = [&](size_t card) {
    return std::any_of(a->cards.begin(), a->cards.end(),
                       [&](const CardInRun& k) { return k.card == card && k.never_works; });
  };
  for (const jobs::Hold& h : a->run.holds) {
    if (!never_works(h.card)) working.insert(h.pid);
  }
  for (CardInRun& k : a->cards) {
    k.own_process = k.never_works && std::any_of(a->run.holds.begin(), a->run.holds.end(), [&](const jobs::Hold& h) {
                      return h.card == k.card && !working.contains(h.pid);
                    });
  }
}

}  // namespace

std::optional<size_t> FirstWork(const PreparedCard& c, size_t first, size_t last) {
  for (size_t i = first; i < last; ++i) {
    if (c.util[i] >= 5 && MeanOver(c, i, last, Lookahead(c)) >= kWork) return i;
  }
  return std::nullopt;
}

std::optional<size_t> LastWork(const PreparedCard& c, size_t first, size_t last) {
  for (size_t i = last; i > first; --i) {
    const size_t n = static_cast<size_t>(Lookahead(c));
    const size_t from = i - first >= n ? i - n : first;
    if (c.util[i - 1] >= 5 && MeanOver(c, from, i, static_cast<int>(n)) >= kWork) return i - 1;
  }
  return std::nullopt;
}

RunAnalysis AnalyzeRun(const model::Recording& r, const std::vector<PreparedCard>& cards, jobs::Run run, bool assumed) {
  RunAnalysis a;
  a.run = std::move(run);
  a.assumed = assumed;
  FindActive(cards, &a);
  SkipWarmUp(r, cards, &a);
  parts::QuietStart(r, &a);
  parts::States(r, cards, &a);
  if (a.active.empty()) {
    for (const size_t k : a.run.cards) a.cards.emplace_back().card = k;
    return a;
  }
  parts::Host(r, &a);
  std::vector<const PreparedCard*> mine;
  for (const size_t k : a.run.cards) mine.push_back(&cards[k]);
  // The lead card of the merged series is one that worked.
  const auto idle = std::stable_partition(mine.begin(), mine.end(), [&](const PreparedCard* c) {
    const auto [first, last] = c->Range(a.active);
    return FirstWork(*c, first, last).has_value();
  });
  // A card that the job never uses says nothing of what interrupts its work.
  if (idle != mine.begin()) mine.erase(idle, mine.end());
  const RunSeries series = MakeRunSeries(mine, a.active);
  a.interruptions = FindInterruptions(series, {parts::Written(r, a, model::HostMetric::kDiskWriteMbS),
                                               parts::Written(r, a, model::HostMetric::kNetTxMbS),
                                               parts::Preparing(r, a), a.features.Get(Feature::kLogMainBusy)});
  CardFacts(cards, &a);
  parts::Level(cards, &a);
  parts::Waits(r, cards, &a);
  parts::Shape(series, cards, &a);
  a.untold_idle = a.untold_idle || a.interruptions.untold_idle;
  parts::InterruptionFeatures(mine.front()->coverage.median_interval_s, &a);
  parts::SeveralCards(r, cards, &a);
  parts::Clocks(cards, &a);
  parts::Ranks(r, cards, &a);
  parts::Trend(series, cards, &a);
  parts::Neighbours(r, &a);
  return a;
}

}  // namespace sawbill::analysis
