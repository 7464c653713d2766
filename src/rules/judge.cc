// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a verdict. It is kept to sums of weights so that a person can redo it on paper; what the data does
// not carry counts for nothing, in either direction, and never fulfils a requirement.
#include <algorithm>

#include "rules/condition.h"
#include "rules/rules.h"

namespace sawbill::rules {
namespace {

// Weights are decimal fractions: 0.6 - 0.5 is a hair under 0.1 in binary, and must still count as a lead of 0.1.
constexpr double kRounding = 1e-9;

bool Reaches(double sum, double threshold) { return sum >= threshold - kRounding; }

struct Tally {
  bool required = true;   // all of require true
  bool excluded = false;  // any of exclude true
  double score = 0;
  std::vector<Checked> checks;
};

void Check(const std::vector<Condition>& conditions, Checked::Role role, const wave::FeatureSet& f, Tally* tally) {
  for (const Condition& c : conditions) {
    const Truth truth = Evaluate(c, f);
    if (role == Checked::Role::kRequire) tally->required &= truth == Truth::kTrue;
    if (role == Checked::Role::kExclude) tally->excluded |= truth == Truth::kTrue;
    tally->checks.push_back({c, f.Get(c.feature), truth, 0, role});
  }
}

void Weigh(const std::vector<Evidence>& evidence, Checked::Role role, const wave::FeatureSet& f, Tally* tally) {
  for (const Evidence& e : evidence) {
    const Truth truth = Evaluate(e.condition, f);
    if (truth == Truth::kTrue) tally->score += role == Checked::Role::kSupport ? e.weight : -e.weight;
    tally->checks.push_back({e.condition, f.Get(e.condition.feature), truth, e.weight, role});
  }
}

/// A rule and a cause have the same four lists.
template <typename Weighted>
Tally Count(const Weighted& rule, const wave::FeatureSet& f) {
  Tally tally;
  tally.score = rule.base;
  Check(rule.require, Checked::Role::kRequire, f, &tally);
  Check(rule.exclude, Checked::Role::kExclude, f, &tally);
  Weigh(rule.support, Checked::Role::kSupport, f, &tally);
  Weigh(rule.contra, Checked::Role::kContra, f, &tally);
  return tally;
}

std::vector<Verdict::CauseVerdict> JudgeCauses(const Rule& rule, const wave::FeatureSet& f) {
  std::vector<Verdict::CauseVerdict> causes;
  for (const CauseRule& c : rule.causes) {
    Tally tally = Count(c, f);
    causes.push_back({c.cause, tally.required && !tally.excluded, tally.score, std::move(tally.checks)});
  }
  std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) {
    return a.possible != b.possible ? a.possible : a.score > b.score;
  });
  return causes;
}

/// The first of `causes` (best first) if it is likely by itself and clearly ahead, else none: a guess costs more trust
/// than it saves work.
std::optional<model::Cause> Leading(const Rule& rule, const std::vector<Verdict::CauseVerdict>& causes) {
  if (causes.empty() || !causes[0].possible || !Reaches(causes[0].score, rule.score_min)) return std::nullopt;
  const bool rival = causes.size() > 1 && causes[1].possible;
  if (rival && !Reaches(causes[0].score - causes[1].score, rule.margin)) return std::nullopt;
  return causes[0].cause;
}

Verdict JudgeWith(const Rule& rule, const wave::FeatureSet& features, std::optional<TestResult> test) {
  Verdict v;
  v.rule = &rule;
  v.test = test;
  Tally tally = Count(rule, features);
  v.score = tally.score;
  v.checks = std::move(tally.checks);
  v.causes = JudgeCauses(rule, features);
  // A test of a series that the caller did not run must stand among the requirements; with neither, nothing was seen.
  const bool seen = test ? test->truth == Truth::kTrue : !rule.require.empty();
  v.fired = rule.enabled && seen && tally.required && !tally.excluded && Reaches(tally.score, rule.score_min);
  if (!v.fired) return v;
  v.confidence = std::clamp(v.score, 0.0, 0.99);
  v.cause = Leading(rule, v.causes);
  return v;
}

}  // namespace

const Rule* RuleSet::Find(std::string_view name) const {
  for (const Rule& r : rules) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

Truth Evaluate(const Condition& c, const wave::FeatureSet& f) {
  if (!f.Has(c.feature)) return Truth::kUnknown;
  return Compare(f.Get(c.feature), c.op, c.value) ? Truth::kTrue : Truth::kFalse;
}

Verdict Judge(const Rule& rule, const wave::FeatureSet& features) { return JudgeWith(rule, features, std::nullopt); }

Verdict Judge(const Rule& rule, const wave::FeatureSet& features, const TestResult& test) {
  return JudgeWith(rule, features, test);
}

}  // namespace sawbill::rules
