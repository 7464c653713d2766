// SPDX-License-Identifier: Apache-2.0
// Every second of every card onto the account (ledger/apportion.h has the precedence). The phase of the run decides
// first, what fired decides where waits and losses go, and where nothing fired the time is named unsaturated when it is
// the small change of a healthy step and unexplained when it is not.
#include <algorithm>
#include <cmath>

#include "analysis/calendar.h"
#include "analysis/feature_parts.h"
#include "analysis/holders.h"
#include "analysis/parallel.h"
#include "analysis/piece.h"
#include "ledger/apportion.h"

namespace sawbill::analysis {
namespace {

using model::FindingId;
using model::GpuMetric;
using model::Index;
using model::Line;
using wave::Feature;

// Below this share of a run, gaps between kernels are the small change of any step.
constexpr double kSmallGaps = 0.06;

Line LineOf(State s) {
  switch (s) {
    case State::kCheckpoint:
      return Line::kCheckpoint;
    case State::kEvaluation:
      return Line::kEvaluation;
    case State::kLogging:
      return Line::kLogging;
    case State::kIdle:
    case State::kHang:
      return Line::kIdleHeld;
    case State::kStartup:
      return Line::kStartup;
    default:
      return Line::kUnexplained;
  }
}

/// What the ledger needs of one card in one run, settled before the samples are walked.
struct Plan {
  const RunAnalysis* run = nullptr;
  const CardInRun* facts = nullptr;
  const CardInRun* waits_for = nullptr;  // the card whose held down clock this one's steps wait for
  Line wait_line = Line::kUnexplained;
  bool throttled = false;
  std::optional<Line> never_works;  // where the time of a card goes that the job has and never uses
  double spin = 0, communication = 0, empty = 0;
};

Plan MakePlan(const Piece& p, int index, size_t card) {
  Plan plan;
  plan.run = &p.runs[static_cast<size_t>(index)];
  for (const CardInRun& c : plan.run->cards) {
    if (c.card == card) plan.facts = &c;
  }
  for (const CardInRun& c : plan.run->cards) {
    if (plan.facts != nullptr && c.card == plan.facts->waits_for) plan.waits_for = &c;
  }
  const auto fired = [&](FindingId id) { return FiredOn(p, index, id); };
  const wave::FeatureSet& f = plan.run->features;
  const double wait = plan.facts != nullptr ? plan.facts->wait_share : kMissing;
  if (fired(FindingId::kDataLoading) != nullptr) {
    plan.wait_line = Line::kDataLoading;
  } else if (const Fired* u = fired(FindingId::kUnsaturated); u != nullptr) {
    // Gaps within steps can be told; a wait whose cause nobody knows is unexplained.
    plan.wait_line = u->verdict.cause ? Line::kUnsaturated : Line::kUnexplained;
  } else if (!(wait > kSmallGaps)) {
    plan.wait_line = Line::kUnsaturated;
  }
  if (const Fired* i = fired(FindingId::kImbalance); i != nullptr) {
    if (i->verdict.cause == model::Cause::kDataParallel) {
      if (card != plan.run->run.cards.front()) plan.wait_line = Line::kImbalance;
    } else if (plan.facts != nullptr) {
      plan.spin = plan.facts->spin_share;
      if (plan.run->others_rest && card != plan.run->slow_card) plan.wait_line = Line::kImbalance;
    }
  } else if (WaitsForLate(p, index) && plan.facts != nullptr) {
    plan.spin = plan.facts->spin_share;
  }
  if (fired(FindingId::kCommunication) != nullptr) plan.communication = f.Get(Feature::kCommShare);
  if (fired(FindingId::kKernelInefficiency) != nullptr) {
    // An estimate: the emptier of what the counters or the power of a running kernel leave.
    const double full = f.Has(Feature::kSmActive) ? f.Get(Feature::kSmActive) : f.Get(Feature::kBusyPowerShare);
    plan.empty = IsPresent(full) ? std::clamp(1.0 - full, 0.0, 1.0) : 0;
  }
  plan.throttled = fired(FindingId::kThrottling) != nullptr;
  if (!plan.run->active.empty()) {
    // A process that holds its memory and does nothing. The context of one that works on other cards is no use of it.
    if (plan.facts != nullptr && plan.facts->never_works)
      plan.never_works = plan.facts->own_process ? Line::kIdleHeld : Line::kUnused;
  }
  return plan;
}

}  // namespace

double parts::ThrottleLoss(const PreparedCard& c, const CardInRun& facts, size_t i) {
  const float mask = c.track->At(GpuMetric::kThrottle, i), mhz = c.track->At(GpuMetric::kSmClockMhz, i);
  if (IsMissing(mask) || IsMissing(mhz) || IsMissing(facts.clock_ref_mhz)) return 0;
  using model::Mask;
  using model::ThrottleBit;
  const unsigned held = Mask(ThrottleBit::kHwThermal) | Mask(ThrottleBit::kSwThermal) | Mask(ThrottleBit::kHwSlowdown) |
                        c.costly_power_bits;
  if ((static_cast<unsigned>(mask) & held) == 0) return 0;
  return std::clamp(1.0 - mhz / facts.clock_ref_mhz, 0.0, 1.0);
}

namespace {

/// Walks the samples of one card in order, keeping the place in its runs, their interruptions and the account.
class CardWalk {
 public:
  CardWalk(Piece* p, const Options& o, size_t card)
      : p_(p), calendar_(o.tz, o.cuts), card_(card), c_(p->cards[card]), select_(!p->selected_s.empty()) {
    for (size_t r = 0; r < p->runs.size(); ++r) {
      const auto& cards = p->runs[r].run.cards;
      if (std::find(cards.begin(), cards.end(), card) != cards.end()) {
        runs_.push_back(static_cast<int>(r));
        plans_.push_back(MakePlan(*p, static_cast<int>(r), card));
      }
    }
    for (const int r : runs_) NoteEdges(p->runs[static_cast<size_t>(r)].run);
    std::sort(edges_.begin(), edges_.end());
    for (const auto& row : p->recording->processes) {
      if (row.card >= 0 && p->recording->gpus[static_cast<size_t>(row.card)].card.node == c_.track->card.node) {
        processes_known_ = true;
        break;
      }
    }
  }

  struct Entries {
    std::map<AccountKey, model::LineSeconds> account;
    std::map<AccountKey, double> hang_s;
  };
  Entries Walk() {
    const model::TimeRange& split = p_->split[card_];
    for (size_t i = 0; i < c_.size(); ++i) {
      if (c_.t(i) <= p_->range.from || c_.t(i) > p_->range.to) continue;
      // While a card is cut into MIG instances, they are billed and it is not.
      if (!split.empty() && c_.t(i) > split.from && c_.t(i) <= split.to) continue;
      // To the millisecond: coverage is kept in single precision, and a sum of its roundings would be time that nobody
      // measured.
      dt_ms_ = RoundMs(c_.dt(i));
      dt_ = Seconds(dt_ms_);
      if (i > 0) Unmeasured(c_.t(i - 1), c_.t(i));
      if (dt_ms_ > 0) Sample(i);
    }
    return {std::move(account_), std::move(hang_s_)};
  }

 private:
  /// As std::llround(seconds * 1000), which is a call. REQUIRES: not negative.
  static TimeMs RoundMs(double seconds) {
    const double ms = seconds * 1000.0;
    const auto whole = static_cast<TimeMs>(ms);
    return whole + (ms - static_cast<double>(whole) >= 0.5 ? 1 : 0);
  }

  /// Who holds the card may change only where a run or what was seen of it begins or ends.
  void NoteEdges(const jobs::Run& run) {
    for (const TimeMs t : {run.range.from, run.range.to}) edges_.push_back(t);
    for (const jobs::Hold& h : run.holds) {
      if (h.card == card_) edges_.insert(edges_.end(), {h.seen.from, h.seen.to});
    }
  }

  /// Fills `holders_` with who holds the card at `t`. Between two edges one holder stays the same.
  Holder::Basis Hold(TimeMs t) {
    if (t > alone_from_ && t <= alone_until_) return Holder::Basis::kAlone;
    const Holder::Basis basis = FindHolders(*p_, runs_, card_, t, &holders_);
    alone_from_ = alone_until_ = 0;
    if (basis != Holder::Basis::kAlone) return basis;
    const auto next = std::lower_bound(edges_.begin(), edges_.end(), t);
    alone_from_ = next == edges_.begin() ? INT64_MIN : *(next - 1);
    alone_until_ = next == edges_.end() ? INT64_MAX : *next;
    return basis;
  }

  /// Puts what happened in (from, to] on the account, by day and by span between price changes.
  void Post(int run, TimeMs from, TimeMs to, const model::LineSeconds& lines, double hang_s = 0) {
    calendar_.Spread(from, to, [&](const Calendar::Part& part, double share) {
      const AccountKey key{card_, run, part.day, part.span};
      if (entry_ == nullptr || key != entry_key_) {
        entry_key_ = key;
        entry_ = &account_[key];
      }
      for (size_t l = 0; l < model::kLines; ++l) (*entry_)[l] += share * lines[l];
      if (hang_s > 0) hang_s_[key] += share * hang_s;
    });
  }

  void Unmeasured(TimeMs previous, TimeMs t) {
    if (t - previous <= dt_ms_) return;
    const double hole = Seconds(t - previous) - dt_;
    if (hole <= 1e-9) return;
    Hold(previous + (t - previous) / 2);
    const TimeMs end = t - dt_ms_;
    model::LineSeconds lines{};
    if (holders_.empty()) {
      lines[Index(Line::kUnmeasured)] = hole;
      Post(-1, previous, end, lines);
    }
    for (const Holder& h : holders_) {
      lines[Index(Line::kUnmeasured)] = hole * h.share;
      Post(runs_[h.plan], previous, end, lines);
    }
  }

  void Sample(size_t i) {
    const TimeMs t = c_.t(i), from = t - dt_ms_;
    const Holder::Basis basis = Hold(t);
    if (basis != Holder::Basis::kAlone) {
      p_->shared[card_].s += dt_;
      if (basis == Holder::Basis::kMeasured) p_->shared[card_].measured_s += dt_;
    }
    if (holders_.empty()) {
      Begin(i);
      Outside(i);
      model::LineSeconds lines{};
      ledger::Apportion(interval_, &lines);
      Post(-1, from, t, lines);
    }
    for (const Holder& h : holders_) {
      Begin(i);
      const double hang = Inside(plans_[h.plan], i);
      model::LineSeconds lines{};
      ledger::Apportion(interval_, &lines);
      if (h.share < 1) {
        for (double& s : lines) s *= h.share;
      }
      Post(runs_[h.plan], from, t, lines, hang * h.share);
      if (select_ && (p_->wanted.empty() || p_->wanted[static_cast<size_t>(runs_[h.plan])] != 0))
        p_->selected_s[card_][i] += static_cast<float>(c_.dt(i) * h.share);
    }
    if (select_ && holders_.empty() && p_->wanted.empty()) p_->selected_s[card_][i] = static_cast<float>(c_.dt(i));
  }

  void Begin(size_t i) {
    interval_.seconds = dt_;
    interval_.fixed.clear();
    interval_.losses.clear();
    interval_.wait_line = Line::kUnexplained;
    interval_.busy = IsMissing(c_.util[i]) ? kMissing : c_.util[i] / 100.0;
  }

  void Outside(size_t i) {
    const double dt = dt_;
    if (IsMissing(c_.util[i]) || c_.util[i] > 5)
      return;  // a load that nobody answers for: useful, its gaps unexplained
    const auto unheld = LooksUnheld(c_, i);
    if (processes_known_ || (unheld && *unheld)) {
      interval_.fixed.push_back({Line::kUnused, dt});
    } else if (unheld) {
      // Memory is held, no process is known: before a load begins it is a start, else it is held and idle.
      interval_.fixed.push_back({StartsSoon(c_.t(i)) ? Line::kStartup : Line::kIdleHeld, dt});
    } else {
      interval_.fixed.push_back({Line::kUnexplained, dt});
    }
  }

  bool StartsSoon(TimeMs t) const {
    return std::any_of(plans_.begin(), plans_.end(), [&](const Plan& plan) {
      const TimeMs wait = plan.run->run.range.from - t;
      return wait >= 0 && wait <= 600000;
    });
  }

  size_t Looks(model::TimeRange range) const {
    const auto [first, last] = c_.Range(range);
    return last - first;
  }

  /// Phases and losses of a sample within a run; returns seconds of a hang.
  double Inside(const Plan& plan, size_t i) {
    const TimeMs t1 = c_.t(i), t0 = t1 - static_cast<TimeMs>(c_.dt(i) * 1000);
    const RunAnalysis& r = *plan.run;
    const double dt = dt_;
    if (plan.never_works) {
      interval_.fixed.push_back({*plan.never_works, dt});
      return 0;
    }
    if (r.active.empty() || t1 <= r.active.from) {
      const bool held_for_long =
          r.features.Get(Feature::kNotebookShare) >= 0.5 ||
          ((!r.run.start_known || r.quiet_start) && r.features.Get(Feature::kIdleHeldS) >= kIdleStretchS);
      // So few looks miss a short job's work; or power shows work that they missed.
      if (r.active.empty() && (r.unseen_work || (c_.coarse() && Looks(r.run.range) < kLeastLooks))) {
        interval_.fixed.push_back({Line::kUnexplained, dt});
        return 0;
      }
      const bool never = r.active.empty() && r.run.range.seconds() >= kIdleStretchS;
      if (!c_.has_util) return 0;
      interval_.fixed.push_back({held_for_long || never ? Line::kIdleHeld : Line::kStartup, dt});
      return 0;
    }
    if (t0 >= r.active.to) {
      interval_.fixed.push_back({Line::kIdleHeld, dt});
      return 0;
    }
    double hang = 0;
    const auto& all = r.interruptions.all;
    auto it =
        std::upper_bound(all.begin(), all.end(), t0, [](TimeMs t, const Interruption& x) { return t < x.range.to; });
    for (; it != all.end() && it->range.from < t1; ++it) {
      const double overlap = Seconds(std::min(t1, it->range.to) - std::max(t0, it->range.from));
      interval_.fixed.push_back({LineOf(it->state), overlap});
      if (it->state == State::kHang) hang += overlap;
    }
    if (plan.facts == nullptr || IsMissing(interval_.busy)) return hang;
    interval_.busy = std::min(1.0, c_.util[i] / plan.facts->util_ref);
    interval_.wait_line = plan.wait_line;
    if (plan.throttled) AddThrottling(plan, i);
    if (plan.spin > 0) interval_.losses.push_back({Line::kImbalance, plan.spin});
    if (plan.communication > 0) interval_.losses.push_back({Line::kCommunication, plan.communication});
    if (plan.empty > 0) interval_.losses.push_back({Line::kUnsaturated, plan.empty});
    return hang;
  }

  /// What a lower clock takes of a sample: this card's own, or that of the card whose steps it waits for.
  void AddThrottling(const Plan& plan, size_t i) {
    const double own = parts::ThrottleLoss(c_, *plan.facts, i);
    interval_.losses.push_back({Line::kThrottling, own});
    if (plan.waits_for == nullptr) return;
    const PreparedCard& slow = p_->cards[plan.waits_for->card];
    const auto half_ms = static_cast<TimeMs>(500 * c_.dt(i));
    const size_t j = slow.UpperBound(c_.t(i) - half_ms);
    if (j >= slow.size() || slow.t(j) - c_.t(i) > half_ms) return;
    interval_.losses.push_back({Line::kImbalance, std::max(0.0, parts::ThrottleLoss(slow, *plan.waits_for, j) - own)});
  }

  Piece* p_;
  Calendar calendar_;
  size_t card_;
  const PreparedCard& c_;
  bool select_;
  std::vector<int> runs_;
  std::vector<Plan> plans_;
  bool processes_known_ = false;
  std::vector<TimeMs> edges_;
  TimeMs alone_from_ = 0, alone_until_ = 0;  // `holders_` is that of (from, until]
  TimeMs dt_ms_ = 0;                         // of the sample that is looked at
  double dt_ = 0;
  ledger::Interval interval_;
  std::vector<Holder> holders_;
  AccountKey entry_key_;
  model::LineSeconds* entry_ = nullptr;
  std::map<AccountKey, model::LineSeconds> account_;
  std::map<AccountKey, double> hang_s_;
};

}  // namespace

const Fired* FiredOn(const Piece& p, int run, FindingId id) {
  for (const Fired& f : p.fired) {
    if (f.run == run && f.verdict.rule->finding == id) return &f;
  }
  return nullptr;
}

void AccountPiece(Piece* p, const Options& o) {
  // Each card writes to its own account and its own rows of the piece.
  std::vector<CardWalk::Entries> entries(p->cards.size());
  ParallelFor(p->cards.size(), p->threads, [&](size_t card) { entries[card] = CardWalk(p, o, card).Walk(); });
  for (CardWalk::Entries& e : entries) {
    p->account.merge(e.account);
    p->hang_s.merge(e.hang_s);
  }
}

}  // namespace sawbill::analysis
