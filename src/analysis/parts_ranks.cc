// SPDX-License-Identifier: Apache-2.0
// What the cards of one job lose to each other. A step ends when its slowest rank does; what the others do until then
// is spinning in a collective (GPU-Util reads 100 %, memory and power hardly move) or waiting at rest. Three ways to be
// the slowest are told apart: more work or a slower card (it works while all others wait), its own wait (for data, for
// the host: it rests while the others spin), and a lower clock.
//
// All of it is said only of cards that work on the same steps: see analysis/coupling.h. That a job or a process holds
// them together is good for it, unless those who seem to wait do so at different times.
#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/analysis.h"
#include "analysis/coupling.h"
#include "analysis/feature_parts.h"
#include "wave/stats.h"

namespace sawbill::analysis::parts {
namespace {

using model::GpuMetric;
using wave::Feature;

constexpr double kMatters = 0.08;  // of the time: less is the unevenness of any step
// A kernel that spins draws about 30 % of the range of power, and hardly touches memory.
constexpr double kSpinPower = 0.3;

struct Rank {
  CardInRun* facts = nullptr;
  double util = kMissing, power = kMissing, memory = kMissing;
  double idle = 0;       // share of the time without a kernel
  double throttled = 0;  // share of busy time lost to a lower clock
};

Rank RankOf(const std::vector<PreparedCard>& cards, const model::TimeRange& active, CardInRun* k) {
  const PreparedCard& c = cards[k->card];
  MeanOfReadings util, power, memory;
  ForPlain(*k, [&](size_t i) {
    const float dt = c.coverage.dt_s[i];
    util.Add(c.util[i], dt);
    power.Add(static_cast<float>(c.PowerShare(c.power_w[i])), dt);
    memory.Add(c.track->At(GpuMetric::kMemUtil, i), dt);
  });
  Rank r{k, util.value(), power.value(), memory.value(), IsPresent(k->wait_share) ? k->wait_share : 0};
  double lost = 0, busy = 0;
  const auto [first, last] = c.Range(active);
  for (size_t i = first; i < last; ++i) {
    if (!(c.util[i] >= 50)) continue;
    busy += c.dt(i);
    lost += c.dt(i) * ThrottleLoss(c, *k, i);
  }
  r.throttled = busy > 0 ? lost / busy : 0;
  return r;
}

double MedianOf(const std::vector<Rank>& all, size_t skip, double Rank::* field) {
  std::vector<double> v;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i != skip && IsPresent(all[i].*field)) v.push_back(all[i].*field);
  }
  return wave::Median(std::move(v));
}

/// By what it is told who works: memory activity where all have it, else power, else nothing.
double Rank::* Witness(const std::vector<Rank>& all) {
  for (double Rank::* field : {&Rank::memory, &Rank::power}) {
    if (std::all_of(all.begin(), all.end(), [&](const Rank& r) { return IsPresent(r.*field); })) return field;
  }
  return nullptr;
}

/// The share of its busy time that `r` spins, where `full` is what a card shows per busy time that never does.
double SpinOf(const Rank& r, double Rank::* by, double full) {
  if (!(r.util > 0) || !(full > 0)) return 0;
  const double missing = 1.0 - r.*by / r.util / full;
  return std::clamp(by == &Rank::power ? missing / (1 - kSpinPower) : missing, 0.0, 0.95);
}

/// Whether the cards work on the same steps.
class Evidence {
 public:
  Evidence(const std::vector<PreparedCard>& cards, const std::vector<Rank>& ranks, const RunAnalysis& a) {
    std::set<int64_t> pids;
    for (const auto& h : a.run.holds) pids.insert(h.pid);
    one_process_ = pids.size() == 1;
    named_ = !a.assumed && !a.run.job.empty();
    std::vector<size_t> which;
    for (const Rank& r : ranks) {
      which.push_back(r.facts->card);
      instances_ = instances_ || IsInstance(cards[r.facts->card].track->card);
    }
    coupling_ = FindCoupling(cards, which, a.active);
    seen_ = coupling_.Seen(ranks.size());
  }
  bool seen() const { return seen_; }
  /// `waiting`: positions of those that seem to wait.
  std::optional<bool> Say(const std::vector<size_t>& waiting) const {
    if (one_process_) return true;
    if (instances_) return false;  // no collective spans MIG instances
    if (seen_) return true;
    if (coupling_.AllApart(waiting)) return false;
    return named_ ? std::optional<bool>(true) : std::nullopt;
  }

 private:
  bool one_process_ = false, named_ = false, instances_ = false, seen_ = false;
  Coupling coupling_;
};

void Note(const std::optional<bool>& together, RunAnalysis* a) {
  if (together) a->features.Set(Feature::kCoupled, *together ? 1 : 0);
}

/// A card that works all the time while the others wait for it.
struct Slow {
  size_t rank = 0;
  double share = 0;             // of the time that the others wait, on the mean over them
  std::vector<double> spin;     // of busy time, by rank
  std::vector<size_t> waiting;  // ranks that do
};

std::optional<Slow> FindSlow(const std::vector<Rank>& m, double Rank::* by) {
  Slow s;
  for (size_t i = 1; i < m.size(); ++i) {
    if (m[i].*by > m[s.rank].*by) s.rank = i;
  }
  const Rank& slow = m[s.rank];
  if (!(slow.*by > 0) || !(slow.util > 0)) return std::nullopt;
  double sum = 0;
  for (size_t i = 0; i < m.size(); ++i) {
    s.spin.push_back(i == s.rank ? 0 : SpinOf(m[i], by, slow.*by / slow.util));
    if (i == s.rank) continue;
    const double waits = std::clamp(1.0 - m[i].util * (1 - s.spin[i]) / slow.util, 0.0, 0.95);
    sum += waits;
    if (waits >= kMatters) s.waiting.push_back(i);
  }
  s.share = sum / static_cast<double>(m.size() - 1);
  return s;
}

/// Cards that rest while the others spin: the others lose what these wait for.
struct Late {
  std::vector<size_t> ranks, waiting;
  double wait = 0;
};

std::optional<Late> FindLate(const std::vector<Rank>& m, double Rank::* by) {
  Late l;
  double most = 0;
  for (const Rank& r : m) most = std::max(most, r.idle);
  if (most < kMatters) return std::nullopt;
  double full = 0;
  for (size_t i = 0; i < m.size(); ++i) {
    if (m[i].idle < 0.5 * most) continue;
    l.ranks.push_back(i);
    l.wait += m[i].idle;
    if (m[i].util > 0) full = std::max(full, m[i].*by / m[i].util);
  }
  l.wait /= static_cast<double>(l.ranks.size());
  size_t others = 0;
  for (size_t i = 0; i < m.size(); ++i) {
    if (m[i].idle >= 0.5 * most) continue;
    ++others;
    const double expected = (l.wait - m[i].idle) / (1 - m[i].idle);
    if (SpinOf(m[i], by, full) >= 0.5 * expected) l.waiting.push_back(i);
  }
  if (others == 0 || 2 * l.waiting.size() < others + 1) return std::nullopt;
  return l;
}

/// Cards whose clock is held down while that of others is not. Positions; empty where all are or none is.
std::vector<size_t> HeldDown(const std::vector<Rank>& m) {
  double most = 0;
  for (const Rank& r : m) most = std::max(most, r.throttled);
  std::vector<size_t> out;
  for (size_t i = 0; most >= 0.01 && i < m.size(); ++i) {
    if (m[i].throttled >= 0.5 * most) out.push_back(i);
  }
  if (out.size() == m.size()) out.clear();
  return out;
}

/// The others spin while the late ranks wait for their data.
void WaitForLate(const Late& late, std::vector<Rank>* m, RunAnalysis* a) {
  for (const size_t i : late.ranks) a->late.push_back((*m)[i].facts->card);
  for (const Rank& x : *m) {
    if (x.idle < late.wait) x.facts->spin_share = std::max(0.0, (late.wait - x.idle) / (1 - x.idle));
  }
  for (const size_t i : late.ranks) (*m)[i].facts->spin_share = 0;
  a->features.Set(Feature::kWaitShare, late.wait);
}

/// The others wait for the card whose clock is held down most, where they are seen to go step by step with it.
void WaitForHeldDown(const std::vector<size_t>& held, const Evidence& evidence, std::vector<Rank>* m, RunAnalysis* a) {
  std::vector<size_t> others;
  for (size_t i = 0; i < m->size(); ++i) {
    if (std::find(held.begin(), held.end(), i) == held.end()) others.push_back(i);
  }
  const std::optional<bool> together = evidence.Say(others);
  Note(together, a);
  if (together != true) return;
  size_t worst = held.front();
  for (const size_t i : held) worst = (*m)[i].throttled > (*m)[worst].throttled ? i : worst;
  for (const size_t i : others) (*m)[i].facts->waits_for = (*m)[worst].facts->card;
}

}  // namespace

void Ranks(const model::Recording& r, const std::vector<PreparedCard>& cards, RunAnalysis* a) {
  std::vector<Rank> m;
  for (CardInRun& k : a->cards) {
    if (!k.never_works) m.push_back(RankOf(cards, a->active, &k));
  }
  const bool told = std::all_of(m.begin(), m.end(), [](const Rank& x) { return IsPresent(x.util); });
  if (m.size() < 2 || !told) return;
  wave::FeatureSet& f = a->features;
  double lo = INFINITY, hi = -INFINITY;
  for (const Rank& x : m) {
    lo = std::min(lo, x.util);
    hi = std::max(hi, x.util);
  }
  double Rank::* by = Witness(m);
  const std::vector<size_t> held = HeldDown(m);
  for (const size_t i : held) a->held_down.push_back(m[i].facts->card);
  const bool spread = f.Get(Feature::kUtilSpread) >= 10;
  std::optional<Slow> slow = by != nullptr && held.empty() ? FindSlow(m, by) : std::nullopt;
  std::optional<Late> late = by != nullptr && f.Get(Feature::kOneProcess) != 1 ? FindLate(m, by) : std::nullopt;
  const bool all_busy = lo >= 80 && hi - lo <= 8;
  const bool compares = (slow && slow->share >= kMatters) || late || spread || !held.empty();
  if (!compares) {
    if (slow && all_busy) f.Set(Feature::kSpinShare, slow->share);
    return;
  }
  const Evidence evidence(cards, m, *a);
  if (late) {
    const std::optional<bool> together = evidence.Say(late->waiting);
    if (together == true) {
      Note(together, a);
      WaitForLate(*late, &m, a);
      HostOfLate(r, cards, a);
      return;
    }
  }
  if (!held.empty()) {
    WaitForHeldDown(held, evidence, &m, a);
    return;
  }
  Note(evidence.Say(slow ? slow->waiting : std::vector<size_t>()), a);
  if (!slow) return;
  // At rest a card may wait for anything: for the slowest only where their steps are seen to be the same.
  if (!all_busy && !(evidence.seen() && f.Get(Feature::kOneProcess) == 0)) return;
  if (by == &Rank::power || IsPresent(m[slow->rank].power))
    f.Set(Feature::kSlowCardGap, m[slow->rank].power / std::max(1e-6, MedianOf(m, slow->rank, &Rank::power)) - 1);
  f.Set(Feature::kSpinShare, slow->share);
  for (size_t i = 0; i < m.size(); ++i) m[i].facts->spin_share = slow->spin[i];
  a->slow_card = m[slow->rank].facts->card;
  a->others_rest = !all_busy;
}

}  // namespace sawbill::analysis::parts
