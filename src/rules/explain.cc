// SPDX-License-Identifier: Apache-2.0
// A verdict for people, step by step and checkable by hand: what was required, what was read, what each piece of
// evidence added, and why a cause was named or why none was. It prints what Judge did and decides nothing.
#include <algorithm>

#include "base/text.h"
#include "base/time.h"
#include "rules/condition.h"
#include "rules/rules.h"

namespace sawbill::rules {
namespace {

using Role = Checked::Role;
constexpr int kWidth = 110;

std::string Points(double v) { return FormatFixed(v, 2); }
const char* Mark(Truth t) { return t == Truth::kTrue ? "✓" : t == Truth::kFalse ? "✗" : "?"; }
std::string_view LayerName(Layer l, Lang lang) {
  return Text(lang, l == Layer::kThreshold ? Msg::kRulesLayerThreshold
                    : l == Layer::kTrend   ? Msg::kRulesLayerTrend
                                           : Msg::kRulesLayerComposite);
}
const char* Description(wave::Feature f, Lang lang) { return lang == Lang::kZh ? wave::Info(f).zh : wave::Info(f).en; }
/// What the feature is, without the "1 where" of a fact that is printed as yes or no.
std::string Meaning(wave::Feature f, Lang lang) {
  std::string fact = YesOrNo(f, lang);
  return fact.empty() ? Description(f, lang) : fact;
}
/// The comparison as a reader of sentences knows it.
std::string_view Sign(Op op) { return op == Op::kGe ? "≥" : op == Op::kLe ? "≤" : op == Op::kEq ? "=" : OpText(op); }

/// Rows of cells, printed with as much room as each column needs.
class Table {
 public:
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string Print(std::string_view indent) const {
    std::vector<int> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
    std::string out;
    for (const auto& row : rows_) {
      std::string line(indent);
      for (size_t i = 0; i < row.size(); ++i) line += Pad(row[i], widths[i]) + (i + 1 < row.size() ? "  " : "");
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string Threshold(const Checked& c, Lang lang) {
  return fmt::format("{} {}", OpText(c.condition.op), FormatPair(c.condition, c.value, lang).threshold);
}

bool Has(const std::vector<Checked>& checks, Role role) {
  return std::any_of(checks.begin(), checks.end(), [role](const Checked& c) { return c.role == role; });
}

std::string PrintConditions(const std::vector<Checked>& checks, Role role, Lang lang, std::string_view indent) {
  Table table;
  for (const Checked& c : checks) {
    if (c.role != role) continue;
    const wave::Feature f = c.condition.feature;
    table.Add({Mark(c.truth), wave::Info(f).name, FormatPair(c.condition, c.value, lang).value, Threshold(c, lang),
               Meaning(f, lang)});
  }
  return table.Print(indent);
}

/// The sum, a line for each step: weight as it counted, and the total so far.
std::string PrintSum(const std::vector<Checked>& checks, double base, Lang lang, std::string_view indent) {
  Table table;
  double sum = base;
  table.Add({" ", Tr(lang, Msg::kRulesBase), "", "", "", Points(sum)});
  for (const Role role : {Role::kSupport, Role::kContra}) {
    for (const Checked& c : checks) {
      if (c.role != role) continue;
      const double step = c.truth != Truth::kTrue ? 0 : role == Role::kSupport ? c.weight : -c.weight;
      sum += step;
      const wave::Feature f = c.condition.feature;
      const std::string weight = (role == Role::kSupport ? "+" : "-") + Points(c.weight);
      table.Add({Mark(c.truth), wave::Info(f).name, FormatPair(c.condition, c.value, lang).value, Threshold(c, lang),
                 c.truth == Truth::kTrue ? weight : "(" + weight + ")", Points(sum), Meaning(f, lang)});
    }
  }
  return table.Print(indent);
}

std::string PrintLists(const std::vector<Checked>& checks, double base, Lang lang, const std::string& indent) {
  std::string out;
  const std::string inner = indent + "  ";
  if (Has(checks, Role::kRequire)) {
    out += indent + Tr(lang, Msg::kRulesRequire) + "\n" + PrintConditions(checks, Role::kRequire, lang, inner);
  }
  if (Has(checks, Role::kExclude)) {
    out += indent + Tr(lang, Msg::kRulesExclude) + "\n" + PrintConditions(checks, Role::kExclude, lang, inner);
  }
  out += indent + Tr(lang, Msg::kRulesEvidence) + "\n" + PrintSum(checks, base, lang, inner);
  return out;
}

std::string PrintTest(const Verdict& v, Lang lang) {
  if (!v.rule->test) return "";
  const MetricTest& t = *v.rule->test;
  const bool trend = v.rule->layer == Layer::kTrend;
  std::string line = trend ? Tr(lang, Msg::kRulesTestTrend, t.text, FormatDuration(t.window_s, lang),
                                FormatDuration(t.against_s, lang))
                           : Tr(lang, Msg::kRulesTestFor, t.text, FormatDuration(t.for_s, lang));
  if (!v.test) {
    line = "  " + line + "; " + Tr(lang, Msg::kRulesTestByFeatures);
  } else {
    line = fmt::format("  {} {}", Mark(v.test->truth), line);
    if (IsPresent(v.test->value)) {
      line += "; " + (trend ? Tr(lang, Msg::kRulesTestChange, FormatFixed(v.test->value * 100, 1) + " %")
                            : Tr(lang, Msg::kRulesTestHeld, FormatDuration(v.test->value, lang)));
    }
  }
  return Tr(lang, Msg::kRulesTest) + "\n" + line + "\n";
}

/// Names of the support that is not in the data, if it could lift the score to what is needed.
std::string CouldLift(const std::vector<Checked>& checks, double missing) {
  std::vector<std::string> names;
  double lift = 0;
  for (const Checked& c : checks) {
    if (c.role != Role::kSupport || c.truth != Truth::kUnknown) continue;
    lift += c.weight;
    names.emplace_back(wave::Info(c.condition.feature).name);
  }
  return lift >= missing - 1e-9 ? Join(names, ", ") : "";
}

/// Why the verdict is not "found". `told` becomes false if only missing data stands in the way.
std::vector<std::string> Reasons(const Verdict& v, Lang lang, bool* told) {
  std::vector<std::string> known, unknown;
  for (const Checked& c : v.checks) {
    const ValuePair pair = FormatPair(c.condition, c.value, lang);
    const std::string op(OpText(c.condition.op));
    const char* name = wave::Info(c.condition.feature).name;
    if (c.role == Role::kRequire && c.truth == Truth::kFalse) {
      known.push_back(Tr(lang, Msg::kRulesBecauseFalse, name, pair.value, op, pair.threshold));
    } else if (c.role == Role::kRequire && c.truth == Truth::kUnknown) {
      unknown.push_back(Tr(lang, Msg::kRulesBecauseUnknown, name, op, pair.threshold));
    } else if (c.role == Role::kExclude && c.truth == Truth::kTrue) {
      known.push_back(Tr(lang, Msg::kRulesBecauseExcluded, name, pair.value, op, pair.threshold));
    }
  }
  const Rule& rule = *v.rule;
  if (v.score < rule.score_min - 1e-9) {
    const std::string lift = CouldLift(v.checks, rule.score_min - v.score);
    if (lift.empty()) {
      known.push_back(Tr(lang, Msg::kRulesBecauseScore, Points(v.score), Points(rule.score_min)));
    } else {
      unknown.push_back(Tr(lang, Msg::kRulesBecauseScoreUnknown, Points(v.score), Points(rule.score_min), lift));
    }
  }
  if (!rule.enabled) known.push_back(Tr(lang, Msg::kRulesBecauseOff));
  if (v.test && v.test->truth == Truth::kFalse) known.push_back(Tr(lang, Msg::kRulesBecauseTest));
  if (v.test && v.test->truth == Truth::kUnknown) unknown.push_back(Tr(lang, Msg::kRulesBecauseTestUnknown));
  if (!v.test && rule.require.empty()) unknown.push_back(Tr(lang, Msg::kRulesBecauseNothing));
  *told = !known.empty();
  known.insert(known.end(), unknown.begin(), unknown.end());
  return known;
}

std::string PrintVerdict(const Verdict& v, Lang lang) {
  std::string out = Tr(lang, Msg::kRulesScore, Points(v.score), Points(v.rule->score_min)) + "\n";
  if (v.fired) return out + Tr(lang, Msg::kRulesFired, FormatFixed(v.confidence * 100, 0)) + "\n";
  bool told = true;
  const std::vector<std::string> reasons = Reasons(v, lang, &told);
  out += Tr(lang, told ? Msg::kRulesNotFired : Msg::kRulesAbstains) + "\n";
  for (const std::string& r : reasons) out += "  - " + r + "\n";
  return out;
}

std::string PrintCause(const Verdict& v, const Verdict::CauseVerdict& c, Lang lang) {
  bool ruled_out = false;
  for (const Checked& check : c.checks) {
    ruled_out |= check.role == Role::kRequire && check.truth == Truth::kFalse;
    ruled_out |= check.role == Role::kExclude && check.truth == Truth::kTrue;
  }
  double base = 0;
  for (const CauseRule& r : v.rule->causes) {
    if (r.cause == c.cause) base = r.base;
  }
  const std::string_view name = model::Name(c.cause), title = model::Title(c.cause, lang);
  const std::string head = c.possible  ? Tr(lang, Msg::kRulesCauseRow, name, title, Points(c.score))
                           : ruled_out ? Tr(lang, Msg::kRulesCauseImpossible, name, title)
                                       : Tr(lang, Msg::kRulesCauseUntold, name, title);
  return "  " + head + "\n" + PrintLists(c.checks, base, lang, "    ");
}

/// Why this cause, or why none. Mirrors the decision that Judge took.
std::string ChoiceOfCause(const Verdict& v, Lang lang) {
  const Rule& rule = *v.rule;
  if (v.causes.empty()) return Tr(lang, Msg::kRulesCauseNoRules);
  if (!v.fired) return Tr(lang, Msg::kRulesCauseNotFired);
  const Verdict::CauseVerdict& first = v.causes[0];
  if (!first.possible) return Tr(lang, Msg::kRulesCauseNone);
  const std::string_view name = model::Name(first.cause);
  const bool rival = v.causes.size() > 1 && v.causes[1].possible;
  const std::string_view next = rival ? model::Name(v.causes[1].cause) : "";
  const std::string lead = rival ? Points(first.score - v.causes[1].score) : "";
  if (v.cause && rival) return Tr(lang, Msg::kRulesCauseLeads, name, next, lead, Points(rule.margin));
  if (v.cause) return Tr(lang, Msg::kRulesCauseOnly, name, Points(first.score), Points(rule.score_min));
  if (first.score < rule.score_min - 1e-9) {
    return Tr(lang, Msg::kRulesCauseWeak, name, Points(first.score), Points(rule.score_min));
  }
  return Tr(lang, Msg::kRulesCauseClose, name, next, lead, Points(rule.margin));
}

}  // namespace

bool CannotBeTold(const Verdict& v) {
  bool told = true;
  if (v.rule != nullptr && !v.fired) (void)Reasons(v, Lang::kEn, &told);
  return !told;
}

std::string Describe(const Checked& c, Lang lang) {
  const ValuePair pair = FormatPair(c.condition, c.value, lang);
  const char* what = Description(c.condition.feature, lang);
  const std::string limit = std::string(Sign(c.condition.op)) + " " + pair.threshold;
  if (IsMissing(c.value)) return Tr(lang, Msg::kRulesDescribeUnknown, what, limit);
  if (const std::string fact = YesOrNo(c.condition.feature, lang); !fact.empty()) {
    return c.value != 0 ? fact : Tr(lang, Msg::kRulesDescribeNot, fact);
  }
  return Tr(lang, Msg::kRulesDescribe, what, pair.value, limit);
}

std::string Explain(const Verdict& v, Lang lang) {
  if (v.rule == nullptr) return "";
  const Rule& rule = *v.rule;
  std::string out = Tr(lang, Msg::kRulesHead, rule.name, model::Title(rule.finding, lang)) + "\n";
  out += "  " +
         Tr(lang, Msg::kRulesWhere, rule.built_in ? std::string(Text(lang, Msg::kRulesShipped)) : Sanitize(rule.where),
            rule.line, LayerName(rule.layer, lang)) +
         "\n";
  const std::string& note = lang == Lang::kZh && !rule.note_zh.empty() ? rule.note_zh : rule.note_en;
  if (!note.empty()) {
    for (const std::string& line : Wrap(Tr(lang, Msg::kRulesWhy, Sanitize(note)), kWidth - 2))
      out += "  " + line + "\n";
  }
  out += "  " + Tr(lang, Msg::kRulesLegend) + "\n\n";
  out += PrintTest(v, lang) + PrintLists(v.checks, rule.base, lang, "") + PrintVerdict(v, lang);
  if (!v.causes.empty()) {
    out += "\n" + Tr(lang, Msg::kRulesCauses) + "\n";
    for (const Verdict::CauseVerdict& c : v.causes) out += PrintCause(v, c, lang);
  }
  return out + ChoiceOfCause(v, lang) + "\n";
}

}  // namespace sawbill::rules
