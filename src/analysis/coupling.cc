// SPDX-License-Identifier: Apache-2.0
//
// The measure is the correlation of rank differences from one sample to the next: differences, so that what changes
// slowly (a shared host, heat, a schedule) does not count; ranks, so that a few stops that the machine imposes on all
// alike do not either. Steps are mostly shorter than the sampling interval, so each sample meets a step at some phase;
// ranks of a job are met at the same one, strangers are not. Two jobs that happen to have nearly the same step drift
// through all phases: they correlate in one stretch and not in the next, which is why several stretches must agree.
// Waiting for a rank can also be the mirror image of its stop (it waits for data while the others spin): a steady
// negative correlation is as good.
#include "analysis/coupling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "analysis/analysis.h"
#include "analysis/run_facts.h"
#include "model/recording.h"
#include "wave/stats.h"

namespace sawbill::analysis {
namespace {

using model::GpuMetric;

constexpr size_t kBlock = 128, kMostBlocks = 8, kLeastSamples = 40;
constexpr size_t kEnoughForNo = 200;  // an absence needs more samples than a presence: 3 standard errors are 0.2
constexpr double kTogether = 0.3, kApart = 0.15;
constexpr double kWaits = 0.06;  // of the time without a kernel: more than the small gaps of any step

enum Signal : unsigned char { kMemory, kPower, kUtil, kSignals };

float ValueOf(const PreparedCard& c, Signal s, size_t i) {
  if (s == kMemory) return c.track->At(GpuMetric::kMemUtil, i);
  return s == kPower ? c.power_w[i] : c.util[i];
}

std::vector<double> Ranks(const std::vector<float>& v) {
  std::vector<size_t> order(v.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t x, size_t y) { return v[x] < v[y]; });
  std::vector<double> rank(v.size());
  for (size_t i = 0, j = 0; i < order.size(); i = j) {
    while (j < order.size() && v[order[j]] == v[order[i]]) ++j;
    for (size_t k = i; k < j; ++k) rank[order[k]] = 0.5 * static_cast<double>(i + j - 1);
  }
  return rank;
}

/// Correlation of the rank differences of one block; NaN where one of them hardly ever changes.
double BlockCorrelation(const std::vector<float>& x, const std::vector<float>& y) {
  constexpr double kLeastActive = 0.03;  // of the samples: a few common stops are no steps
  if (x.size() < kLeastSamples) return kMissing;
  const std::vector<double> a = Ranks(x), b = Ranks(y);
  double xx = 0, yy = 0, xy = 0, x4 = 0, y4 = 0;
  for (size_t i = 1; i < a.size(); ++i) {
    const double dx = a[i] - a[i - 1], dy = b[i] - b[i - 1];
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
    x4 += dx * dx * dx * dx;
    y4 += dy * dy * dy * dy;
  }
  const auto n = static_cast<double>(a.size() - 1);
  if (!(xx * xx > kLeastActive * n * x4) || !(yy * yy > kLeastActive * n * y4)) return kMissing;
  return xy / std::sqrt(xx * yy);
}

/// Whether the signal changes from sample to sample by more than rounding and the sensor's own noise.
bool Varies(const std::vector<float>& v, Signal s) {
  double sum = 0, squares = 0;
  for (size_t i = 1; i < v.size(); ++i) {
    sum += v[i];
    squares += static_cast<double>(v[i] - v[i - 1]) * (v[i] - v[i - 1]);
  }
  const auto n = static_cast<double>(v.size() - 1);
  const double step = std::sqrt(squares / n), mean = sum / n;
  return s == kPower ? step >= 0.05 * mean : step >= std::max(2.0, 0.03 * mean);
}

/// What one signal says: how many samples, their mean correlation, and who varies.
struct Said {
  std::vector<double> blocks;
  size_t samples = 0, first_varies = 0, second_varies = 0, looked_at = 0;
};

Together Conclude(const std::array<Said, kSignals>& all) {
  bool no = false, between = false;
  for (const Said& s : all) {
    if (s.looked_at == 0) continue;
    double mean = 0;
    for (const double r : s.blocks) mean += r / static_cast<double>(s.blocks.size());
    const auto n = static_cast<double>(s.samples);
    const bool half = !s.blocks.empty() && 2 * s.blocks.size() >= s.looked_at;
    if (half && std::fabs(mean) >= std::max(kTogether, 4 / std::sqrt(n))) {
      const auto agree = std::count_if(s.blocks.begin(), s.blocks.end(),
                                       [&](double r) { return (mean > 0 ? r : -r) >= 0.5 * kTogether; });
      if (4 * static_cast<size_t>(agree) >= 3 * s.blocks.size()) return Together::kYes;
    }
    const bool first = 2 * s.first_varies > s.looked_at, second = 2 * s.second_varies > s.looked_at;
    if (!first && !second) continue;
    (half && std::fabs(mean) > kApart ? between : no) = true;
  }
  return no && !between ? Together::kNo : Together::kUntold;
}

bool OneProcessOnSeveral(const jobs::Run& run) {
  std::map<int64_t, size_t> card;
  return std::any_of(run.holds.begin(), run.holds.end(),
                     [&](const jobs::Hold& h) { return card.try_emplace(h.pid, h.card).first->second != h.card; });
}

/// The part of `run` that is on `cards` alone.
jobs::Run PartOf(const jobs::Run& run, std::vector<size_t> cards) {
  jobs::Run part = run;
  std::sort(cards.begin(), cards.end());
  part.cards = std::move(cards);
  std::erase_if(part.holds,
                [&](const jobs::Hold& h) { return !std::binary_search(part.cards.begin(), part.cards.end(), h.card); });
  if (part.holds.empty()) return part;
  const auto last = [](const jobs::Run& x) {
    TimeMs to = INT64_MIN;
    for (const jobs::Hold& h : x.holds) to = std::max(to, h.seen.to);
    return to;
  };
  const TimeMs earlier = last(run) - last(part);
  constexpr TimeMs kSameEndMs = 60'000;
  if (earlier > kSameEndMs) {
    part.ends_after = false;
    part.range.to = run.ends_after ? last(part) : run.range.to - earlier;
  }
  return part;
}

struct Levels {
  double idle = kMissing, power = kMissing, memory = kMissing, util = kMissing;
  std::optional<size_t> first;  // sample of the first work
  model::TimeRange work;
};

Levels LevelsOf(const PreparedCard& c, model::TimeRange range) {
  Levels out;
  const auto [first, last] = c.Range(range);
  out.first = FirstWork(c, first, last);
  const auto end = LastWork(c, first, last);
  if (!out.first || !end || *end <= *out.first) {
    out.first = std::nullopt;
    return out;
  }
  out.work = {c.t(*out.first), c.t(*end)};
  std::vector<float> util, weight;
  double p = 0, pw = 0, m = 0, mw = 0;
  for (size_t i = *out.first; i <= *end; ++i) {
    if (IsMissing(c.util[i]) || c.dt(i) <= 0) continue;
    util.push_back(c.util[i]);
    weight.push_back(static_cast<float>(c.dt(i)));
    if (IsPresent(c.power_w[i])) p += c.power_w[i] * c.dt(i), pw += c.dt(i);
    const float mem = c.track->At(GpuMetric::kMemUtil, i);
    if (IsPresent(mem)) m += mem * c.dt(i), mw += c.dt(i);
  }
  out.util = wave::WeightedMean(util, weight);
  out.idle = 1 - out.util / std::clamp(wave::WeightedQuantile(util, weight, 0.95), 95.0, 100.0);
  if (pw > 0) out.power = p / pw;
  if (mw > 0) out.memory = m / mw;
  return out;
}

/// Nothing is to be gained from telling apart what looks the same.
bool Alike(const std::vector<Levels>& all) {
  const auto within = [&](double Levels::* field, double share, double least) {
    double lo = INFINITY, hi = -INFINITY;
    for (const Levels& l : all) {
      if (IsMissing(l.*field)) return true;
      lo = std::min(lo, l.*field);
      hi = std::max(hi, l.*field);
    }
    return hi - lo <= std::max(least, share * hi);
  };
  return within(&Levels::util, 0, 3) && within(&Levels::power, 0.08, 0) && within(&Levels::memory, 0.08, 2);
}

/// Whether the others work on as before after `left`: ranks of a job whose peer died would hang.
bool OthersWorkOn(const std::vector<PreparedCard>& cards, const std::vector<size_t>& others, model::TimeRange run,
                  TimeMs left) {
  constexpr TimeMs kSettlesMs = 60'000;
  size_t go_on = 0;
  for (const size_t k : others) {
    const Levels before = LevelsOf(cards[k], {run.from, left});
    const Levels after = LevelsOf(cards[k], {left + kSettlesMs, run.to});
    if (!before.first || !after.first) continue;
    // Spinning in a collective is full utilisation at low power: without power nothing is told.
    if (after.power >= 0.8 * before.power && after.util >= 0.8 * before.util) ++go_on;
  }
  return !others.empty() && 2 * go_on > others.size();
}

/// Cards whose process left while the run's others went on, with when it left.
std::vector<std::pair<size_t, TimeMs>> Leavers(const model::Recording& r, const std::vector<PreparedCard>& cards,
                                               const jobs::Run& run) {
  constexpr TimeMs kSameEndMs = 60'000;
  std::map<size_t, TimeMs> last;
  for (const jobs::Hold& h : run.holds) {
    const auto [it, fresh] = last.try_emplace(h.card, h.seen.to);
    if (!fresh) it->second = std::max(it->second, h.seen.to);
  }
  TimeMs latest = INT64_MIN;
  for (const auto& [card, to] : last) latest = std::max(latest, to);
  std::vector<std::pair<size_t, TimeMs>> out;
  for (const auto& [card, to] : last) {
    if (latest - to <= kSameEndMs) continue;
    const auto later = [](TimeMs t, const model::ProcessRow& p) { return t < p.t_ms; };
    const auto begin = std::upper_bound(r.processes.begin(), r.processes.end(), to, later);
    const auto end = std::upper_bound(begin, r.processes.end(), latest, later);
    const bool replaced = std::any_of(
        begin, end, [&, card = card](const model::ProcessRow& p) { return p.card == static_cast<int32_t>(card); });
    std::vector<size_t> others;
    for (const auto& [k, until] : last) {
      if (until - to > kSameEndMs) others.push_back(k);
    }
    if (replaced || OthersWorkOn(cards, others, {run.range.from, latest}, to)) out.emplace_back(card, to);
  }
  return out;
}

/// Sets of positions that no pair of kNo alone divides: what cannot be told apart stays together.
std::vector<std::vector<size_t>> Inseparable(const Coupling& c, size_t n) {
  std::vector<std::vector<size_t>> out;
  std::vector<char> done(n, 0);
  for (size_t i = 0; i < n; ++i) {
    if (done[i] != 0) continue;
    std::vector<size_t> set = {i};
    done[i] = 1;
    for (size_t k = 0; k < set.size(); ++k) {
      for (size_t j = 0; j < n; ++j) {
        if (done[j] != 0 || c.pair[set[k]][j] == Together::kNo) continue;
        done[j] = 1;
        set.push_back(j);
      }
    }
    out.push_back(std::move(set));
  }
  return out;
}

/// Of cards that work at the same time: which stay together. Positions in `which`.
std::vector<std::vector<size_t>> Parts(const std::vector<PreparedCard>& cards, const std::vector<size_t>& which,
                                       const std::vector<Levels>& levels) {
  model::TimeRange common{INT64_MIN, INT64_MAX};
  for (const Levels& l : levels) {
    common.from = std::max(common.from, l.work.from);
    common.to = std::min(common.to, l.work.to);
  }
  const size_t n = which.size();
  const Coupling c = FindCoupling(cards, which, common);
  const auto coupled = [&](const std::vector<size_t>& set) {
    return std::any_of(c.groups.begin(), c.groups.end(), [&](const std::vector<size_t>& g) {
      return std::find(set.begin(), set.end(), g.front()) != set.end();
    });
  };
  const std::vector<std::vector<size_t>> sets = Inseparable(c, n);
  // Of three ranks at least two wait for the slowest, and these go together: three that all do not are three jobs.
  const bool strangers = n >= 3 && sets.size() == n;
  std::vector<std::vector<size_t>> parts;
  std::vector<size_t> rest;
  size_t jobs = 0;
  for (const std::vector<size_t>& set : sets) {
    const bool waits_alone =
        sets.size() > 1 && std::all_of(set.begin(), set.end(), [&](size_t i) { return levels[i].idle >= kWaits; });
    if (coupled(set)) {
      parts.insert(parts.begin(), set);
      ++jobs;
    } else if (strangers || waits_alone) {
      parts.push_back(set);
    } else {
      rest.insert(rest.end(), set.begin(), set.end());
    }
  }
  if (rest.empty()) return parts;
  // The slowest rank never waits, so it shows no steps: a few steady cards belong to the many that began with them.
  if (jobs == 1 && rest.size() < parts.front().size()) {
    const size_t lead = parts.front().front();
    const double reach_s = std::max(15.0, 3 * cards[which[lead]].coverage.median_interval_s);
    const bool with_them = std::all_of(rest.begin(), rest.end(), [&](size_t i) {
      return std::fabs(Seconds(levels[i].work.from - levels[lead].work.from)) <= reach_s;
    });
    if (with_them) {
      for (const size_t i : rest) parts.front().push_back(i);
      return parts;
    }
  }
  parts.push_back(rest);
  return parts;
}

}  // namespace

Together WorkTogether(const PreparedCard& a, const PreparedCard& b, model::TimeRange range) {
  const auto [first, last] = a.Range(range);
  if (last - first < kLeastSamples) return Together::kUntold;
  const size_t n = last - first, blocks = std::clamp<size_t>(n / kBlock, 1, kMostBlocks);
  const size_t length = std::min(n, std::max(kBlock, kLeastSamples));
  const double reach_ms = std::max(50.0, 750.0 * a.coverage.median_interval_s);
  std::array<Said, kSignals> said;
  size_t all = 0;
  for (size_t k = 0; k < blocks; ++k) {
    const size_t from = first + (blocks > 1 ? k * (n - length) / (blocks - 1) : 0);
    std::array<std::vector<float>, kSignals> x, y;
    size_t j = b.UpperBound(a.t(from) - static_cast<TimeMs>(reach_ms));
    for (size_t i = from; i < from + length && i < last; ++i) {
      while (j + 1 < b.size() && std::llabs(b.t(j + 1) - a.t(i)) <= std::llabs(b.t(j) - a.t(i))) ++j;
      if (j >= b.size() || static_cast<double>(std::llabs(b.t(j) - a.t(i))) > reach_ms) continue;
      ++all;
      for (const Signal s : {kMemory, kPower, kUtil}) {
        const float u = ValueOf(a, s, i), v = ValueOf(b, s, j);
        if (IsMissing(u) || IsMissing(v)) continue;
        x[s].push_back(u);
        y[s].push_back(v);
      }
    }
    for (const Signal s : {kMemory, kPower, kUtil}) {
      if (x[s].size() < kLeastSamples) continue;
      ++said[s].looked_at;
      said[s].first_varies += Varies(x[s], s) ? 1 : 0;
      said[s].second_varies += Varies(y[s], s) ? 1 : 0;
      const double r = BlockCorrelation(x[s], y[s]);
      if (IsMissing(r)) continue;
      said[s].blocks.push_back(r);
      said[s].samples += x[s].size();
    }
  }
  const Together t = Conclude(said);
  return t == Together::kNo && all < kEnoughForNo ? Together::kUntold : t;
}

bool Coupling::Seen(size_t cards) const {
  return !groups.empty() && groups.front().size() >= 2 && 2 * groups.front().size() >= cards;
}

bool Coupling::AllApart(const std::vector<size_t>& positions) const {
  for (const size_t i : positions) {
    for (const size_t j : positions) {
      if (i < j && pair[i][j] != Together::kNo) return false;
    }
  }
  return positions.size() >= 2;
}

Coupling FindCoupling(const std::vector<PreparedCard>& cards, const std::vector<size_t>& which,
                      model::TimeRange range) {
  Coupling c;
  const size_t n = which.size();
  c.pair.assign(n, std::vector<Together>(n, Together::kUntold));
  std::vector<size_t> group(n);
  std::iota(group.begin(), group.end(), size_t{0});
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j) {
      const Together t = WorkTogether(cards[which[i]], cards[which[j]], range);
      c.pair[i][j] = c.pair[j][i] = t;
      if (t != Together::kYes || group[i] == group[j]) continue;
      std::replace(group.begin(), group.end(), std::max(group[i], group[j]), std::min(group[i], group[j]));
    }
  }
  std::map<size_t, std::vector<size_t>> by_group;
  for (size_t i = 0; i < n; ++i) by_group[group[i]].push_back(i);
  for (auto& [id, members] : by_group) {
    if (members.size() >= 2) c.groups.push_back(std::move(members));
  }
  std::stable_sort(c.groups.begin(), c.groups.end(), [](const auto& x, const auto& y) { return x.size() > y.size(); });
  return c;
}

std::vector<jobs::Run> SplitUncoupled(const model::Recording& r, const std::vector<PreparedCard>& cards,
                                      jobs::Run run) {
  std::vector<jobs::Run> out;
  if (run.cards.size() < 2 || !run.job.empty()) {
    out.push_back(std::move(run));
    return out;
  }
  // Those that left early, by when they did.
  std::vector<std::pair<size_t, TimeMs>> leavers = Leavers(r, cards, run);
  std::sort(leavers.begin(), leavers.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (size_t i = 0, j = 0; i < leavers.size(); i = j) {
    std::vector<size_t> together;
    for (; j < leavers.size() && leavers[j].second - leavers[i].second <= 60'000; ++j) {
      together.push_back(leavers[j].first);
    }
    std::vector<size_t> others;
    for (const size_t k : run.cards) {
      if (std::find(together.begin(), together.end(), k) == together.end()) others.push_back(k);
    }
    if (others.empty()) break;
    for (jobs::Run& part : SplitUncoupled(r, cards, PartOf(run, together))) out.push_back(std::move(part));
    run = PartOf(run, others);
  }
  std::vector<size_t> which;
  std::vector<Levels> levels;
  for (const size_t k : run.cards) {
    Levels l = LevelsOf(cards[k], run.range);
    if (!l.first) continue;
    which.push_back(k);
    levels.push_back(l);
  }
  // A collective never spans MIG instances.
  const bool instances =
      std::any_of(which.begin(), which.end(), [&](size_t k) { return IsInstance(cards[k].track->card); });
  std::vector<std::vector<size_t>> parts;
  if (instances) {
    for (size_t i = 0; i < which.size(); ++i) parts.emplace_back(1, i);
  } else if (which.size() >= 2 && !OneProcessOnSeveral(run) && !Alike(levels)) {
    parts = Parts(cards, which, levels);
  }
  if (parts.size() < 2) {
    out.push_back(std::move(run));
    return out;
  }
  for (std::vector<size_t>& part : parts) {
    for (size_t& i : part) i = which[i];
  }
  // A card that the run holds and never uses stays with the largest part.
  const auto largest =
      std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  for (const size_t k : run.cards) {
    if (std::find(which.begin(), which.end(), k) == which.end()) largest->push_back(k);
  }
  for (std::vector<size_t>& part : parts) out.push_back(PartOf(run, std::move(part)));
  return out;
}

}  // namespace sawbill::analysis
