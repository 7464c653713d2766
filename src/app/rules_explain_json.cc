// SPDX-License-Identifier: Apache-2.0
#include "app/rules_explain_json.h"

#include <algorithm>

#include "app/json_text.h"
#include "base/text.h"

namespace sawbill::app {
namespace {

std::string ChecksJson(const std::vector<rules::Checked>& checks) {
  using Role = rules::Checked::Role;
  std::vector<std::string> rows;
  for (const rules::Checked& c : checks) {
    const char* role = c.role == Role::kRequire   ? "require"
                       : c.role == Role::kExclude ? "exclude"
                       : c.role == Role::kSupport ? "support"
                                                  : "contra";
    const char* truth = c.truth == rules::Truth::kTrue ? "true" : c.truth == rules::Truth::kFalse ? "false" : "unknown";
    JsonObject o;
    o.AddText("role", role)
        .AddText("condition", c.condition.text)
        .AddText("feature", wave::Info(c.condition.feature).name);
    o.Add("value", JsonNumber(c.value)).AddText("truth", truth).Add("weight", JsonNumber(c.weight));
    rows.push_back(o.Print());
  }
  return JsonArray(rows);
}

}  // namespace

std::string TriedRunName(const analysis::Analysis& a, int run) {
  const analysis::RunFacts& r = a.runs[static_cast<size_t>(run)];
  for (const std::string* s : {&r.job, &r.run, &r.program}) {
    if (!s->empty()) return Sanitize(*s);
  }
  return "#" + std::to_string(run + 1);
}

std::string TrialJson(const analysis::Analysis& a, const analysis::Analysis::Trial& t) {
  std::vector<std::string> cards;
  for (const size_t i : t.cards) cards.push_back(JsonString(a.cards[i].card.key()));
  JsonObject o;
  o.AddText("rule", t.verdict.rule->name).Add("run", t.run < 0 ? "null" : JsonString(TriedRunName(a, t.run)));
  o.Add("gpus", JsonArray(cards)).Add("fired", JsonBool(t.verdict.fired)).Add("score", JsonNumber(t.verdict.score));
  o.Add("confidence", JsonNumber(t.verdict.confidence));
  if (t.verdict.cause) o.AddText("cause", model::Name(*t.verdict.cause));
  o.Add("checks", ChecksJson(t.verdict.checks));
  std::vector<std::string> causes;
  for (const auto& c : t.verdict.causes) {
    JsonObject cause;
    cause.AddText("id", model::Name(c.cause)).Add("possible", JsonBool(c.possible)).Add("score", JsonNumber(c.score));
    causes.push_back(cause.Add("checks", ChecksJson(c.checks)).Print());
  }
  return o.Add("causes", JsonArray(causes)).Print();
}

std::string RuleJson(const rules::Rule& r, Lang lang) {
  const auto conditions = [](const auto& list, const auto& text) {
    std::vector<std::string> rows;
    for (const auto& item : list) rows.push_back(text(item));
    return JsonArray(rows);
  };
  const auto plain = [](const rules::Condition& c) { return JsonString(c.text); };
  const auto weighted = [](const rules::Evidence& e) {
    return JsonObject().AddText("if", e.condition.text).Add("weight", JsonNumber(e.weight)).Print();
  };
  JsonObject o;
  o.AddText("name", r.name).AddText("finding", model::Name(r.finding)).AddText("title", model::Title(r.finding, lang));
  o.Add("enabled", JsonBool(r.enabled)).AddText("where", r.where).Add("line", std::to_string(r.line));
  o.Add("require", conditions(r.require, plain)).Add("exclude", conditions(r.exclude, plain));
  o.Add("base", JsonNumber(r.base)).Add("score_min", JsonNumber(r.score_min));
  o.Add("support", conditions(r.support, weighted)).Add("contra", conditions(r.contra, weighted));
  return o.AddText("note", lang == Lang::kZh ? r.note_zh : r.note_en).Print();
}

}  // namespace sawbill::app
