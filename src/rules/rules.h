// SPDX-License-Identifier: Apache-2.0
// The rule file (TOML, docs/formats/rules.md) and its evaluation. Three layers: threshold (one metric over time),
// composite (several features of a run or card), trend (one window against an earlier one). Pure: text and features in,
// verdicts out.
//
// A condition is "FEATURE OP VALUE" ("wait_share >= 8%", "workers < 1"); OP is < <= > >= == !=; VALUE has a unit (%, s,
// m, h, none). It is true, false, or unknown (the feature is absent). A rule fires when all of `require` are true, its
// score reaches `score_min`, and nothing in `exclude` is true.
//   score = base + sum of weights of true `support` - sum of weights of true `contra`     (unknown adds nothing)
//   confidence = min(0.99, score), so weights are plain probabilities-like steps that a person can add up by hand.
// Causes of a finding are scored in the same way; the best one is named if it reaches the rule's `score_min` too and
// leads the next possible one by `margin`, else none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/messages.h"
#include "base/status.h"
#include "model/ids.h"
#include "model/metrics.h"
#include "wave/features.h"

namespace sawbill::rules {

enum class Layer { kThreshold, kComposite, kTrend };
enum class Op { kLt, kLe, kGt, kGe, kEq, kNe };
enum class Truth { kFalse, kTrue, kUnknown };

struct Condition {
  wave::Feature feature{};
  Op op = Op::kGt;
  double value = 0;  // in the feature's unit (ratio: 8 % is 0.08)
  std::string text;  // as written
  int line = 0;
};
Truth Evaluate(const Condition& c, const wave::FeatureSet& f);

struct Evidence {  // one weighted condition
  Condition condition;
  double weight = 0;
};

struct CauseRule {
  model::Cause cause{};
  std::vector<Condition> require, exclude;
  std::vector<Evidence> support, contra;
  double base = 0.5;
};

/// threshold: `metric` OP value for at least `for_s`; trend: mean of the last `window_s` against the `against_s` before
/// it.
struct MetricTest {
  model::GpuMetric metric{};
  Op op = Op::kLt;
  double value = 0;                    // threshold: level; trend: relative fall (0.15 = 15 %) for <, rise for >
  double for_s = 0;                    // threshold
  double window_s = 0, against_s = 0;  // trend
  std::string text;
};

struct Rule {
  std::string name;  // unique; the default rules are named after their finding
  model::FindingId finding{};
  Layer layer = Layer::kComposite;
  bool enabled = true;
  bool built_in = true;  // false: from a user's file
  std::string where;     // "default rules" or the file's path
  int line = 0;
  std::vector<Condition> require, exclude;
  std::vector<Evidence> support, contra;
  double base = 0.6, score_min = 0.5, margin = 0.1;
  std::optional<MetricTest> test;  // threshold and trend layers
  std::vector<CauseRule> causes;
  std::string note_en, note_zh;  // why this rule is as it is: printed by `rules explain`
};

struct RuleSet {
  std::vector<Rule> rules;
  const Rule* Find(std::string_view name) const;
};

/// Parses a rule file on top of `base` (may be empty): a rule of the same name is replaced key by key, a new one is
/// added, `enabled = false` turns one off. Errors name where:line:column, say what is wrong and, for a misspelt word,
/// the nearest.
Result<RuleSet> ParseRules(std::string_view toml, const std::string& where, RuleSet base, bool built_in);
/// The rules shipped with this build (rules/default.toml, embedded).
const RuleSet& DefaultRules();
std::string_view DefaultRulesText();

struct Checked {  // one condition with what it was tested on
  Condition condition;
  double value = kMissing;
  Truth truth = Truth::kUnknown;
  double weight = 0;  // 0 for require/exclude
  enum class Role { kRequire, kExclude, kSupport, kContra } role = Role::kRequire;
};

/// What the test of a threshold or trend rule found in a series (rules/series_check.h computes it).
struct TestResult {
  Truth truth = Truth::kUnknown;
  double value = kMissing;  // threshold: longest time in which it held, seconds; trend: relative change, a fall
                            // positive for "falls"
};

struct Verdict {
  const Rule* rule = nullptr;  // into the RuleSet that was judged by
  bool fired = false;
  double score = 0, confidence = 0;
  std::vector<Checked> checks;
  std::optional<TestResult> test;  // threshold and trend layers, where the caller ran it
  std::optional<model::Cause> cause;
  struct CauseVerdict {
    model::Cause cause{};
    bool possible = false;  // all of require true, none of exclude
    double score = 0;
    std::vector<Checked> checks;
  };
  std::vector<CauseVerdict> causes;  // best first
};
/// REQUIRES: rule.layer == kComposite, or the caller has set the features that a threshold or trend test yields.
Verdict Judge(const Rule& rule, const wave::FeatureSet& features);
/// For threshold and trend rules: fires only if `test` is true as well.
Verdict Judge(const Rule& rule, const wave::FeatureSet& features, const TestResult& test);

/// The features that conditions may name, as a Markdown table: docs/formats/rules.md holds it, and a test compares.
std::string FeatureTableMarkdown();
/// The verdict step by step, checkable by hand: conditions, values, weights, sum, result.
std::string Explain(const Verdict& v, Lang lang);
/// Not found, and only what the data lacks stands in the way.
bool CannotBeTold(const Verdict& v);
/// "share of time in which no kernel ran: 43.2 % (threshold ≥ 8 %)": a condition with its value, for evidence lists.
std::string Describe(const Checked& c, Lang lang);

}  // namespace sawbill::rules
