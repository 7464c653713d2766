// SPDX-License-Identifier: Apache-2.0
// All rules on all subjects, and which of those that fired may stand together: two findings never claim the same
// seconds.
#include <algorithm>

#include "analysis/piece.h"
#include "model/card_specs.h"
#include "rules/series_check.h"
#include "wave/stats.h"

namespace sawbill::analysis {
namespace {

using model::FindingId;
using wave::Feature;

const rules::RuleSet& Rules(const Options& o) { return o.rules != nullptr ? *o.rules : rules::DefaultRules(); }

rules::Verdict JudgeOne(const rules::Rule& rule, const wave::FeatureSet& f, Piece* p,
                        const std::vector<size_t>& cards) {
  if (rule.layer == rules::Layer::kComposite || !rule.test) return rules::Judge(rule, f);
  rules::TestResult test;
  if (rule.layer == rules::Layer::kTrend && rule.test->metric == model::GpuMetric::kSmUtil &&
      f.Has(Feature::kTrendDrop)) {
    // The fall is looked for anywhere in the run, not only at its end.
    test.value = f.Get(Feature::kTrendDrop);
    test.truth = test.value >= rule.test->value ? rules::Truth::kTrue : rules::Truth::kFalse;
    return rules::Judge(rule, f, test);
  }
  for (const size_t k : cards) {
    // The test looks at the card's whole track, whatever the run: it is made once.
    const auto [it, fresh] = p->tests.try_emplace({&rule, k});
    const PreparedCard& c = p->cards[k];
    if (fresh) {
      it->second = rule.layer == rules::Layer::kThreshold ? rules::CheckThreshold(*rule.test, *c.track, c.coverage)
                                                          : rules::CheckTrend(*rule.test, *c.track, c.coverage);
    }
    const rules::TestResult& t = it->second;
    if (t.truth == rules::Truth::kTrue || test.truth == rules::Truth::kUnknown) test = t;
    if (test.truth == rules::Truth::kTrue) break;
  }
  return rules::Judge(rule, f, test);
}

void Try(Piece* p, const Options& o, int run, const std::vector<size_t>& cards, const wave::FeatureSet& f,
         std::vector<Fired>* fired) {
  for (const rules::Rule& rule : Rules(o).rules) {
    if (!rule.enabled) continue;
    rules::Verdict v = JudgeOne(rule, f, p, cards);
    if (o.keep_trials) p->trials.push_back({run, cards, v, f});
    if (v.fired) fired->push_back({run, cards, std::move(v), f});
  }
}

const Fired* Get(const std::vector<Fired>& v, FindingId id) {
  const auto it = std::find_if(v.begin(), v.end(), [&](const Fired& f) { return f.verdict.rule->finding == id; });
  return it == v.end() ? nullptr : &*it;
}

void Drop(std::vector<Fired>* v, FindingId id) {
  v->erase(std::remove_if(v->begin(), v->end(), [&](const Fired& f) { return f.verdict.rule->finding == id; }),
           v->end());
}

/// Of two findings that would claim the same seconds the better founded one stays.
void KeepBetter(std::vector<Fired>* v, FindingId a, FindingId b) {
  const Fired *x = Get(*v, a), *y = Get(*v, b);
  if (x == nullptr || y == nullptr) return;
  Drop(v, x->verdict.score >= y->verdict.score ? b : a);
}

/// Several rules may carry one finding id; of those that fired the best one speaks.
void KeepBestOfEach(std::vector<Fired>* v) {
  std::stable_sort(v->begin(), v->end(),
                   [](const Fired& a, const Fired& b) { return a.verdict.score > b.verdict.score; });
  std::vector<Fired> out;
  for (Fired& f : *v) {
    if (Get(out, f.verdict.rule->finding) == nullptr) out.push_back(std::move(f));
  }
  *v = std::move(out);
}

void Settle(const RunAnalysis& r, std::vector<Fired>* v) {
  KeepBestOfEach(v);
  if (Get(*v, FindingId::kThrottling) != nullptr)
    Drop(v, FindingId::kKernelInefficiency);  // low power, but because of the clock
  KeepBetter(v, FindingId::kDataLoading, FindingId::kUnsaturated);
  KeepBetter(v, FindingId::kKernelInefficiency, FindingId::kUnsaturated);
  KeepBetter(v, FindingId::kKernelInefficiency, FindingId::kDataLoading);
  KeepBetter(v, FindingId::kImbalance, FindingId::kCommunication);
  if (const Fired* i = Get(*v, FindingId::kImbalance);
      i != nullptr && i->verdict.cause == model::Cause::kDataParallel) {
    // The waits of the other cards are the imbalance; only the first card's own waits could be something else.
    if (!r.cards.empty() && !(r.cards.front().wait_share > 0.06)) {
      Drop(v, FindingId::kDataLoading);
      Drop(v, FindingId::kUnsaturated);
    }
  }
  if (const Fired* i = Get(*v, FindingId::kImbalance);
      i != nullptr && i->verdict.cause == model::Cause::kStraggler && r.others_rest) {
    // The same for a slow card: what the others do without a kernel is to wait for it.
    const auto slow =
        std::find_if(r.cards.begin(), r.cards.end(), [&](const auto& c) { return c.card == r.slow_card; });
    if (slow != r.cards.end() && !(slow->wait_share > 0.06)) {
      Drop(v, FindingId::kDataLoading);
      Drop(v, FindingId::kUnsaturated);
    }
  }
  // Another tenant on the host starves the loader from some moment on: the fall is that starvation, not a second loss.
  if (const Fired* d = Get(*v, FindingId::kDataLoading);
      d != nullptr && d->verdict.cause == model::Cause::kHostContention)
    Drop(v, FindingId::kDegradation);
  if (Get(*v, FindingId::kHang) != nullptr) Drop(v, FindingId::kIdleHeld);
}

/// Chains of short lives of one job: each started soon after the one before had ended.
void JudgeRestarts(Piece* p, const Options& o) {
  constexpr double kShortLifeS = 300, kSoonS = 180;
  std::vector<char> used(p->runs.size(), 0);
  for (size_t i = 0; i < p->runs.size(); ++i) {
    if (used[i] != 0) continue;
    std::vector<int> chain = {static_cast<int>(i)};
    for (size_t j = i + 1; j < p->runs.size(); ++j) {
      const jobs::Run& a = p->runs[static_cast<size_t>(chain.back())].run;
      const jobs::Run& b = p->runs[j].run;
      const bool same = !p->runs[j].assumed && a.node == b.node && a.user == b.user && a.job == b.job &&
                        a.program == b.program && a.cards == b.cards;
      if (!same) continue;
      if (a.range.seconds() > kShortLifeS || Seconds(b.range.from - a.range.to) > kSoonS) break;
      chain.push_back(static_cast<int>(j));
    }
    if (chain.size() < 2 || p->runs[i].assumed) continue;
    for (const int k : chain) used[static_cast<size_t>(k)] = 1;
    wave::FeatureSet f;
    f.Set(Feature::kRestarts, static_cast<double>(chain.size()) - 1);
    std::vector<double> lives;
    double memory = kMissing;
    for (const int k : chain) {
      const RunAnalysis& r = p->runs[static_cast<size_t>(k)];
      lives.push_back(r.run.range.seconds());
      const double m = r.features.Get(Feature::kMemUsedShare);
      if (IsPresent(m)) memory = IsPresent(memory) ? std::max(memory, m) : m;
    }
    f.Set(Feature::kLifeS, wave::Median(lives));
    f.Set(Feature::kMemUsedShare, memory);
    std::vector<Fired> fired;
    Try(p, o, static_cast<int>(i), p->runs[i].run.cards, f, &fired);
    for (Fired& x : fired) {
      x.group = chain;
      p->fired.push_back(std::move(x));
    }
  }
}

/// One run has both cards and uses neither.
bool SameJobNeverWorks(const Piece& p, size_t a, size_t b) {
  for (size_t r = 0; r < p.runs.size(); ++r) {
    if (NeverWorksIn(p, static_cast<int>(r), a) && NeverWorksIn(p, static_cast<int>(r), b)) return true;
  }
  return false;
}

bool NeverWorks(const Piece& p, size_t card) {
  for (size_t r = 0; r < p.runs.size(); ++r) {
    if (NeverWorksIn(p, static_cast<int>(r), card)) return true;
  }
  return false;
}

}  // namespace

bool NeverWorksIn(const Piece& p, int run, size_t card) {
  if (run < 0) return false;
  const auto& cards = p.runs[static_cast<size_t>(run)].cards;
  return std::any_of(cards.begin(), cards.end(), [&](const CardInRun& c) { return c.card == card && c.never_works; });
}

void JudgePiece(Piece* p, const Options& o) {
  for (size_t i = 0; i < p->runs.size(); ++i) {
    RunAnalysis& r = p->runs[i];
    std::vector<Fired> fired;
    for (const size_t k : r.run.cards) {
      const auto spec = model::FindCardSpec(p->cards[k].track->card.name);
      if (spec) r.features.Set(Feature::kHasTensorCores, spec->tensor_cores ? 1 : 0);
    }
    Try(p, o, static_cast<int>(i), r.run.cards, r.features, &fired);
    Settle(r, &fired);
    for (Fired& f : fired) p->fired.push_back(std::move(f));
  }
  JudgeRestarts(p, o);
}

void JudgeCards(Piece* p, const Options& o) {
  for (size_t k = 0; k < p->cards.size(); ++k) {
    wave::FeatureSet f;
    double unused = 0, all = 0, held_idle = 0;
    const bool never_works = NeverWorks(*p, k);
    for (const auto& [key, lines] : p->account) {
      if (key.card != k) continue;
      unused += lines[model::Index(model::Line::kUnused)];
      if (key.run < 0 || NeverWorksIn(*p, key.run, k)) held_idle += lines[model::Index(model::Line::kIdleHeld)];
      for (const double s : lines) all += s;
    }
    int gaps = 0;
    const RunAnalysis* before = nullptr;
    for (const RunAnalysis& r : p->runs) {
      if (std::find(r.run.cards.begin(), r.run.cards.end(), k) == r.run.cards.end()) continue;
      if (before != nullptr && Seconds(r.run.range.from - before->run.range.to) >= 30) ++gaps;
      before = &r;
    }
    f.Set(Feature::kUnusedS, unused);
    f.Set(Feature::kUnusedShare, all > 0 ? unused / all : kMissing);
    f.Set(Feature::kGapCount, gaps);
    f.Set(Feature::kIdleHeldS, held_idle);
    if (never_works) f.Set(Feature::kCards, static_cast<double>(before != nullptr ? before->run.cards.size() : 1));
    std::vector<Fired> fired;
    Try(p, o, -1, {k}, f, &fired);
    KeepBestOfEach(&fired);
    for (Fired& x : fired) {
      // Cards that one job has too many are one finding.
      const auto same = std::find_if(p->fired.begin(), p->fired.end(), [&](const Fired& y) {
        return never_works && y.run < 0 && y.verdict.rule == x.verdict.rule && y.verdict.cause == x.verdict.cause &&
               y.verdict.cause == model::Cause::kOverAllocated && SameJobNeverWorks(*p, y.cards.front(), k);
      });
      if (same == p->fired.end()) {
        p->fired.push_back(std::move(x));
      } else {
        same->cards.push_back(k);
      }
    }
  }
}

}  // namespace sawbill::analysis
