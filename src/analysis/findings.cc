// SPDX-License-Identifier: Apache-2.0
// From what fired to findings: the seconds that each takes, taken from the account itself (so that they can never
// exceed it), what a fix would bring back, the evidence and the chain of causes.
#include <algorithm>
#include <cmath>

#include "analysis/chain.h"
#include "analysis/piece.h"
#include "ledger/apportion.h"
#include "whatif/savings.h"

namespace sawbill::analysis {
namespace {

using model::Cause;
using model::FindingId;
using model::Index;
using model::Line;
using wave::Feature;

double RunSeconds(const Piece& p, int run, Line except = Line::kUnmeasured) {
  double s = 0;
  for (const auto& [key, lines] : p.account) {
    if (key.run == run) s += ledger::Sum(lines) - lines[Index(except)];
  }
  return s;
}

double LineOfRun(const Piece& p, int run, Line line) {
  double s = 0;
  for (const auto& [key, lines] : p.account) {
    if (key.run == run) s += lines[Index(line)];
  }
  return s;
}

void Take(const Piece& p, int run, Line line, double share, Finding* x) {
  for (const auto& [key, lines] : p.account) {
    if (key.run == run && lines[Index(line)] > 0) x->wasted_by[key] += share * lines[Index(line)];
  }
}

/// What the other cards of the run lose to those that this finding is about: it is on the line of imbalance, and no
/// finding of that kind claims it.
void TakeVictims(const Piece& p, const Fired& f, Finding* x) {
  if (f.run < 0 || FiredOn(p, f.run, FindingId::kImbalance) != nullptr) return;
  const RunAnalysis& r = p.runs[static_cast<size_t>(f.run)];
  const bool clock = x->id == FindingId::kThrottling && r.late.empty();
  if (clock || WaitsForLate(p, f.run)) Take(p, f.run, Line::kImbalance, 1, x);
}

void TakeCard(const Piece& p, size_t card, Line line, Finding* x) {
  for (const auto& [key, lines] : p.account) {
    if (key.card != card || lines[Index(line)] <= 0) continue;
    if (key.run < 0 || line == Line::kUnused || NeverWorksIn(p, key.run, card)) x->wasted_by[key] += lines[Index(line)];
  }
}

/// A short life that died, and whose processes are known to have saved nothing: what it computed is lost as well.
bool NothingKept(const Piece& p, int run) {
  constexpr double kShortLifeS = 300, kLeastSaveMb = 30;
  const RunAnalysis& r = p.runs[static_cast<size_t>(run)];
  if (r.run.ends_after || r.run.range.seconds() > kShortLifeS || r.interruptions.checkpoint.count > 0) return false;
  const double interval_s = std::max(1.0, jobs::ProcessInterval(*p.recording));
  size_t told = 0;
  for (const jobs::Hold& h : r.run.holds) {
    for (const size_t i : h.rows) {
      const float rate = p.recording->processes[i].Value(model::ProcessMetric::kWriteMbS);
      if (IsMissing(rate)) continue;
      ++told;
      if (rate * interval_s >= kLeastSaveMb) return false;
    }
  }
  return told > 0;
}

/// The lives of a restart loop, and what nobody held between them.
void TakeRestarts(const Piece& p, const Fired& f, Finding* x) {
  for (const int run : f.group) {
    if (!NothingKept(p, run)) {
      Take(p, run, Line::kStartup, 1, x);
      continue;
    }
    for (const auto& [key, lines] : p.account) {
      if (key.run == run) x->wasted_by[key] += ledger::Sum(lines) - lines[Index(Line::kUnmeasured)];
    }
  }
  for (const size_t k : f.cards) {
    // The gaps between the lives: what nobody held, as far as this chain lasted.
    double gaps = 0;
    for (size_t i = 1; i < f.group.size(); ++i) {
      gaps += Seconds(p.runs[static_cast<size_t>(f.group[i])].run.range.from -
                      p.runs[static_cast<size_t>(f.group[i - 1])].run.range.to);
    }
    double unused = 0;
    for (const auto& [key, lines] : p.account) {
      if (key.card == k && key.run < 0) unused += lines[Index(Line::kUnused)];
    }
    if (unused <= 0) continue;
    for (const auto& [key, lines] : p.account) {
      if (key.card == k && key.run < 0) {
        x->wasted_by[key] += lines[Index(Line::kUnused)] * std::min(1.0, std::max(0.0, gaps) / unused);
      }
    }
  }
}

/// Where the seconds of a finding stand in the account.
void TakeSeconds(const Piece& p, const Fired& f, Finding* x) {
  switch (x->id) {
    case FindingId::kUnsaturated:
      Take(p, f.run, x->cause ? Line::kUnsaturated : Line::kUnexplained, 1, x);
      if (x->cause == Cause::kHostBound) TakeVictims(p, f, x);
      break;
    case FindingId::kDataLoading:
    case FindingId::kThrottling:
      Take(p, f.run, model::Info(x->id).line, 1, x);
      TakeVictims(p, f, x);
      break;
    case FindingId::kDegradation: {
      const RunAnalysis& r = p.runs[static_cast<size_t>(f.run)];
      const double excess = x->features.Get(Feature::kTrendBefore) / 100 * x->features.Get(Feature::kTrendDrop) *
                            r.after_fall.seconds() * static_cast<double>(r.run.cards.size());
      for (const Line line : {Line::kDataLoading, Line::kUnsaturated, Line::kUnexplained, Line::kThrottling}) {
        const double there = LineOfRun(p, f.run, line);
        if (there <= 0.3 * excess) continue;
        Take(p, f.run, line, std::min(1.0, excess / there), x);
        break;
      }
      break;
    }
    case FindingId::kRestartLoop:
      TakeRestarts(p, f, x);
      break;
    case FindingId::kHang:
      for (const auto& [key, s] : p.hang_s) {
        if (key.run == f.run) x->wasted_by[key] += s;
      }
      break;
    case FindingId::kUnused:
    case FindingId::kIdleHeld:
      if (f.run < 0) {
        for (const size_t k : f.cards) TakeCard(p, k, model::Info(x->id).line, x);
      } else {
        // A card that the job never uses is a finding of its own.
        for (const auto& [key, lines] : p.account) {
          const double s = lines[Index(model::Info(x->id).line)];
          if (key.run == f.run && s > 0 && !NeverWorksIn(p, f.run, key.card)) x->wasted_by[key] += s;
        }
      }
      break;
    case FindingId::kSharedGpu:
      break;  // the neighbour's time is no line of ours: how much it cost cannot be told
    default:
      Take(p, f.run, model::Info(x->id).line, 1, x);
  }
  for (const auto& [key, s] : x->wasted_by) x->wasted_s += s;
}

whatif::Range Estimate(const Piece& p, const Fired& f, const Finding& x, bool* known) {
  const wave::FeatureSet& v = x.features;
  const double run_s = RunSeconds(p, f.run);
  const bool host = v.Has(Feature::kMainBusy) || v.Has(Feature::kCpuUtil);
  *known = true;
  switch (x.id) {
    case FindingId::kDataLoading: {
      double needed = kMissing;
      if (x.cause == Cause::kFewWorkers && v.Get(Feature::kWorkers) >= 1 && v.Get(Feature::kWaitShare) < 0.99) {
        needed = v.Get(Feature::kWorkers) / (1 - v.Get(Feature::kWaitShare));
      }
      return whatif::DataLoading(x.wasted_s, needed, v.Get(Feature::kCoresAllowed), host);
    }
    case FindingId::kUnsaturated:
      if (x.cause == Cause::kHostBound) return whatif::HostBound(x.wasted_s, run_s);
      if (x.cause == Cause::kSmallBatch) return whatif::DoubleBatch(run_s);
      if (x.cause == Cause::kFullPrecision) return whatif::MixedPrecision(run_s);
      break;
    case FindingId::kCheckpoint:
      return whatif::Checkpoint(x.wasted_s, v.Get(Feature::kCkptWidthS));
    case FindingId::kEvaluation:
      return whatif::Rarer(x.wasted_s, 4);
    case FindingId::kLogging:
      return whatif::Rarer(x.wasted_s, 10);
    case FindingId::kImbalance:
      if (x.cause == Cause::kDataParallel) {
        const double n = v.Get(Feature::kCards), mean = v.Get(Feature::kUtilMean), spread = v.Get(Feature::kUtilSpread);
        const double others = mean - spread / n;
        return whatif::DataParallel(run_s, others + spread, others, n);
      }
      return whatif::Straggler(run_s, v.Get(Feature::kSpinShare));
    case FindingId::kCommunication: {
      const RunAnalysis& r = p.runs[static_cast<size_t>(f.run)];
      return whatif::Communication(run_s, v.Get(Feature::kCommShare), r.comm_share_low, r.comm_share_high);
    }
    case FindingId::kThrottling:
      return whatif::Throttling(x.wasted_s);
    case FindingId::kStartup:
      return {0.3 * x.wasted_s, 0.7 * x.wasted_s, x.wasted_s, false};
    case FindingId::kRestartLoop:
      return {0.7 * x.wasted_s, 0.95 * x.wasted_s, x.wasted_s, false};
    case FindingId::kHang: {
      // Somebody must notice first: an alert after ten minutes is what monitoring can promise.
      const double noticed = std::max(0.0, x.wasted_s - 600.0 * v.Get(Feature::kCards));
      return {0.8 * noticed, noticed, x.wasted_s, false};
    }
    case FindingId::kIdleHeld:
    case FindingId::kUnused:
      return {0.7 * x.wasted_s, x.wasted_s, x.wasted_s, false};
    case FindingId::kDegradation:
      return {0.5 * x.wasted_s, 0.9 * x.wasted_s, x.wasted_s, false};
    default:
      break;
  }
  *known = false;
  return {};
}

/// A fix that shortens useful work itself may win more than was lost; any other brings back at most what stands on the
/// lines that it touches: its own, and with what slows every step also the small gaps within steps.
SavingEstimate Capped(const Piece& p, const whatif::Range& r, const Finding& x) {
  SavingEstimate s{r.low, r.expected, r.high, r.expected, x.run >= 0 ? RunSeconds(p, x.run) : 0, r.upper_only, false};
  s.speedup = x.id == FindingId::kImbalance || x.cause == Cause::kSmallBatch || x.cause == Cause::kFullPrecision;
  if (s.speedup) return s;
  double touched_s = x.wasted_s;
  if (x.id == FindingId::kDataLoading || x.id == FindingId::kThrottling)
    touched_s += LineOfRun(p, x.run, Line::kUnsaturated);
  s.high_s = std::min(s.high_s, touched_s);
  s.expected_s = s.alone_s = std::min(s.expected_s, s.high_s);
  s.low_s = std::min(s.low_s, s.expected_s);
  return s;
}

/// The time in which a reader finds what the finding stands on.
model::TimeRange WhenSeen(const Piece& p, const Fired& f, FindingId id) {
  if (f.run < 0) return p.range;
  const RunAnalysis& r = p.runs[static_cast<size_t>(f.run)];
  if (id == FindingId::kRestartLoop && !f.group.empty()) {
    const RunAnalysis& last = p.runs[static_cast<size_t>(f.group.back())];
    return {p.runs[static_cast<size_t>(f.group.front())].run.range.from, last.run.range.to};
  }
  if (id == FindingId::kIdleHeld) return r.run.range;
  if (id == FindingId::kStartup) return {r.run.range.from, r.active.from};
  for (const Interruption& i : r.interruptions.all) {
    if (id == FindingId::kHang && i.state == State::kHang) return i.range;
  }
  return r.active;
}

void AddEvidence(const rules::Verdict& v, const Piece& p, const Fired& f, Lang lang, Finding* x) {
  const model::TimeRange when = WhenSeen(p, f, x->id);
  const auto add = [&](const std::vector<rules::Checked>& checks) {
    for (const rules::Checked& c : checks) {
      const bool speaks = c.role == rules::Checked::Role::kRequire || c.role == rules::Checked::Role::kSupport;
      if (!speaks || c.truth != rules::Truth::kTrue) continue;
      if (c.condition.feature == Feature::kActiveS || c.condition.feature == Feature::kMeasuredShare ||
          c.condition.feature == Feature::kCards) {
        continue;
      }
      const std::string name = wave::Info(c.condition.feature).name;
      if (std::any_of(x->evidence.begin(), x->evidence.end(), [&](const auto& e) { return e.metric == name; }))
        continue;
      x->evidence.push_back({name, rules::Describe(c, lang), c.value, c.condition.value, when});
    }
  };
  add(v.checks);
  for (const auto& c : v.causes) {
    if (v.cause && c.cause == *v.cause) add(c.checks);
  }
  // What is only the setting of the case comes last: the first line is the one that a receipt shows.
  const auto setting = [](const EvidenceItem& e) {
    constexpr Feature kSettings[] = {Feature::kHasTensorCores, Feature::kMemUsedShare, Feature::kOneProcess,
                                     Feature::kLifeS,          Feature::kIntervalS,    Feature::kUtilMean};
    return std::any_of(std::begin(kSettings), std::end(kSettings),
                       [&](Feature s) { return e.metric == wave::Info(s).name; });
  };
  std::stable_partition(x->evidence.begin(), x->evidence.end(), [&](const auto& e) { return !setting(e); });
}

/// The first cases themselves, with their times: whoever doubts looks them up in the recording.
void AddCases(const Piece& p, const Fired& f, Lang lang, Finding* x) {
  constexpr size_t kShown = 8;
  if (f.run < 0) return;
  const RunAnalysis& r = p.runs[static_cast<size_t>(f.run)];
  if (x->id == FindingId::kDataLoading || x->id == FindingId::kUnsaturated) {
    for (const auto& d : r.dip_samples) {
      x->evidence.push_back({"sm_util",
                             Tr(lang, Msg::kEvidenceDip, FormatFixed(d.usual, 0), FormatFixed(d.low, 0),
                                FormatFixed(d.range.seconds(), 1)),
                             d.low, std::nullopt, d.range});
    }
    return;
  }
  const State state = x->id == FindingId::kCheckpoint   ? State::kCheckpoint
                      : x->id == FindingId::kEvaluation ? State::kEvaluation
                      : x->id == FindingId::kLogging    ? State::kLogging
                      : x->id == FindingId::kIdleHeld   ? State::kIdle
                                                        : State::kOutside;
  size_t shown = 0;
  for (const Interruption& i : r.interruptions.all) {
    if (i.state != state || state == State::kOutside || shown++ >= kShown) continue;
    const Msg said = state == State::kEvaluation ? Msg::kEvidenceStretch
                     : state == State::kIdle     ? Msg::kEvidenceIdle
                                                 : Msg::kEvidenceStop;
    x->evidence.push_back({"duration_s", Tr(lang, said, FormatFixed(i.seconds, 1)), i.seconds, std::nullopt, i.range});
  }
}

/// Of a run on several cards, those that the finding is about.
void NameCards(const RunAnalysis& r, Finding* x) {
  if (x->id == FindingId::kImbalance && x->cause == Cause::kStraggler && r.slow_card != SIZE_MAX) {
    x->cards = {r.slow_card};
  } else if (x->id == FindingId::kThrottling && !r.held_down.empty()) {
    x->cards = r.held_down;
  } else if ((x->id == FindingId::kDataLoading || x->cause == Cause::kHostBound) && !r.late.empty()) {
    x->cards = r.late;
  }
}

}  // namespace

bool WaitsForLate(const Piece& p, int run) {
  if (p.runs[static_cast<size_t>(run)].late.empty()) return false;
  if (FiredOn(p, run, FindingId::kDataLoading) != nullptr) return true;
  const Fired* u = FiredOn(p, run, FindingId::kUnsaturated);
  return u != nullptr && u->verdict.cause == Cause::kHostBound;
}

std::vector<Finding> BuildFindings(const Piece& p, const Options& o) {
  std::vector<Finding> out;
  for (const Fired& f : p.fired) {
    Finding x;
    x.id = f.verdict.rule->finding;
    x.cause = f.verdict.cause;
    x.run = f.run;
    x.cards = f.cards;
    x.confidence = f.verdict.confidence;
    x.verdict = f.verdict;
    x.features = f.features;
    x.tier = f.features.Has(Feature::kMainBusy) || f.features.Has(Feature::kCpuUtil) ? "host" : "nvml";
    if (f.run >= 0) NameCards(p.runs[static_cast<size_t>(f.run)], &x);
    TakeSeconds(p, f, &x);
    bool known = false;
    const whatif::Range r = Estimate(p, f, x, &known);
    if (known && IsPresent(r.expected)) x.saving = Capped(p, r, x);
    const auto period = [&](Feature share, Feature width) {
      if (f.features.Has(share)) x.period_s = f.features.Get(share);
      if (f.features.Has(width)) x.width_s = f.features.Get(width);
    };
    if (x.id == FindingId::kCheckpoint) period(Feature::kCkptPeriodS, Feature::kCkptWidthS);
    if (x.id == FindingId::kEvaluation) period(Feature::kEvalPeriodS, Feature::kEvalWidthS);
    if (x.id == FindingId::kLogging) period(Feature::kLogPeriodS, Feature::kLogWidthS);
    if (x.id == FindingId::kDataLoading && f.features.Has(Feature::kDipPeriodS))
      x.period_s = f.features.Get(Feature::kDipPeriodS);
    AddEvidence(f.verdict, p, f, o.lang, &x);
    AddCases(p, f, o.lang, &x);
    x.because = CausalChain(p, f, x, o.lang);
    out.push_back(std::move(x));
  }
  return out;
}

}  // namespace sawbill::analysis
