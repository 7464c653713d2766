// SPDX-License-Identifier: Apache-2.0
// `rules explain`: a rule in words; with a recording, how it was judged there, step by step, with the samples to check.
#include <algorithm>

#include "app/commands.h"
#include "app/json_text.h"
#include "app/pipeline.h"
#include "app/sources.h"
#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::app {
namespace {

constexpr size_t kMaxEvidence = 20;

std::string Say(Lang lang, Msg id) { return std::string(Text(lang, id)); }

/// "  wait_share >= 8%   share of time lost to waits", with its weight where it has one.
std::string ConditionLine(const rules::Condition& c, const std::string& weight, Lang lang) {
  const wave::FeatureInfo& info = wave::Info(c.feature);
  return "  " + Pad(weight, weight.empty() ? 0 : 6) + Pad(c.text, 28) + "  " + (lang == Lang::kZh ? info.zh : info.en) +
         "\n";
}

void AddConditions(const std::vector<rules::Condition>& list, Msg heading, Lang lang, std::string* out) {
  if (list.empty()) return;
  *out += Say(lang, heading) + "\n";
  for (const rules::Condition& c : list) *out += ConditionLine(c, "", lang);
}

void AddWeighted(const std::vector<rules::Evidence>& list, const char* sign, Lang lang, std::string* out) {
  for (const rules::Evidence& e : list) *out += ConditionLine(e.condition, sign + FormatFixed(e.weight, 2), lang);
}

void AddCauses(const rules::Rule& r, Lang lang, std::string* out) {
  if (r.causes.empty()) return;
  *out += "\n" + Tr(lang, Msg::kAppExplainCauses, FormatShortest(r.margin)) + "\n";
  for (const rules::CauseRule& c : r.causes) {
    *out += "\n" + std::string(model::Name(c.cause)) + ": " + std::string(model::Title(c.cause, lang)) + "\n";
    AddConditions(c.require, Msg::kAppExplainRequire, lang, out);
    AddConditions(c.exclude, Msg::kAppExplainExclude, lang, out);
    *out += Tr(lang, Msg::kAppExplainBase, FormatFixed(c.base, 2)) + "\n";
    AddWeighted(c.support, "+", lang, out);
    AddWeighted(c.contra, "-", lang, out);
  }
}

std::string InWords(const rules::Rule& r, Lang lang) {
  std::string out = Tr(lang, Msg::kAppExplainHead, r.name, model::Title(r.finding, lang)) + "\n";
  out += Tr(lang, Msg::kAppExplainWhere, r.built_in ? Say(lang, Msg::kAppExplainShipped) : r.where, r.line) + "\n";
  if (!r.enabled) out += Say(lang, Msg::kAppExplainOff) + "\n";
  const std::string& note = lang == Lang::kZh && !r.note_zh.empty() ? r.note_zh : r.note_en;
  for (const std::string& line : Wrap(note, 96)) out += line + "\n";
  out += "\n";
  if (r.test) {
    const bool trend = r.layer == rules::Layer::kTrend;
    out += (trend ? Tr(lang, Msg::kAppExplainTrend, r.test->text, FormatDuration(r.test->window_s),
                       FormatDuration(r.test->against_s))
                  : Tr(lang, Msg::kAppExplainThreshold, r.test->text, FormatDuration(r.test->for_s))) +
           "\n";
  }
  AddConditions(r.require, Msg::kAppExplainRequire, lang, &out);
  AddConditions(r.exclude, Msg::kAppExplainExclude, lang, &out);
  out += Tr(lang, Msg::kAppExplainScore, FormatFixed(r.base, 2), FormatFixed(r.score_min, 2)) + "\n";
  AddWeighted(r.support, "+", lang, &out);
  AddWeighted(r.contra, "-", lang, &out);
  AddCauses(r, lang, &out);
  return out;
}

/// Rules of that name or finding; an unknown word gets the nearest.
Result<std::vector<const rules::Rule*>> RulesOf(const std::string& word, const rules::RuleSet& set, Lang lang) {
  std::vector<const rules::Rule*> out;
  std::vector<std::string> known;
  for (const rules::Rule& r : set.rules) {
    if (r.name == word || model::Name(r.finding) == word) out.push_back(&r);
    known.push_back(r.name);
    if (model::Name(r.finding) != r.name) known.emplace_back(model::Name(r.finding));
  }
  if (!out.empty()) return out;
  const std::string near = Nearest(word, known);
  return Status::NotFound(Tr(lang, Msg::kAppExplainUnknown, word) +
                          (near.empty() ? "" : Tr(lang, Msg::kAppDidYouMean, near)));
}

bool Among(const rules::Rule* rule, const std::vector<const rules::Rule*>& wanted) {
  return rule != nullptr &&
         std::any_of(wanted.begin(), wanted.end(), [&](const rules::Rule* r) { return r->name == rule->name; });
}

std::string CardNames(const analysis::Analysis& a, const std::vector<size_t>& cards) {
  std::vector<std::string> names;
  for (const size_t i : cards) {
    const model::CardInfo& c = a.cards[i].card;
    names.push_back(Sanitize(c.node.empty() ? c.gpu : c.node + "/" + c.gpu));
  }
  return Join(names, ", ");
}

std::string RunName(const analysis::Analysis& a, int run) {
  if (run < 0) return "";
  const analysis::RunFacts& r = a.runs[static_cast<size_t>(run)];
  for (const std::string* s : {&r.job, &r.run, &r.program}) {
    if (!s->empty()) return Sanitize(*s);
  }
  return "#" + std::to_string(run + 1);
}

std::string Clock(TimeMs t, const TimeZone& tz) {
  const CivilTime c = tz.ToLocal(t);
  return fmt::format("{}-{:02}-{:02} {:02}:{:02}:{:02}", c.year, c.month, c.day, c.hour, c.minute, c.second);
}

/// The samples behind a finding of this rule on this run, the first ones of each kind of evidence.
std::string EvidenceLines(const analysis::Analysis& a, const analysis::Analysis::Trial& t, const Settings& s) {
  std::string out;
  for (const analysis::Finding& f : a.findings) {
    if (f.run != t.run || f.id != t.verdict.rule->finding || (f.run < 0 && f.cards != t.cards)) continue;
    size_t shown = 0;
    for (const analysis::EvidenceItem& e : f.evidence) {
      if (shown++ == kMaxEvidence) break;
      out += "  " +
             (e.range.empty() ? std::string()
                              : Clock(e.range.from, s.tz) + " - " + Clock(e.range.to, s.tz).substr(11) + "  ") +
             e.statement + "\n";
    }
    if (f.evidence.size() > kMaxEvidence)
      out += "  " + Tr(s.lang, Msg::kAppExplainMoreEvidence, f.evidence.size() - kMaxEvidence) + "\n";
  }
  return out.empty() ? out : Say(s.lang, Msg::kAppExplainSamples) + "\n" + out;
}

std::string TrialText(const analysis::Analysis& a, const analysis::Analysis::Trial& t, const Settings& s) {
  const std::string run = RunName(a, t.run);
  std::string out = run.empty() ? Tr(s.lang, Msg::kAppExplainOnCards, CardNames(a, t.cards))
                                : Tr(s.lang, Msg::kAppExplainOnRun, run, CardNames(a, t.cards));
  return out + "\n" + rules::Explain(t.verdict, s.lang) + EvidenceLines(a, t, s) + "\n";
}

bool SeesNothing(const rules::Verdict& v) {
  return !v.test && std::all_of(v.checks.begin(), v.checks.end(),
                                [](const rules::Checked& c) { return c.truth == rules::Truth::kUnknown; });
}

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

std::string TrialJson(const analysis::Analysis& a, const analysis::Analysis::Trial& t) {
  std::vector<std::string> cards;
  for (const size_t i : t.cards) cards.push_back(JsonString(a.cards[i].card.key()));
  JsonObject o;
  o.AddText("rule", t.verdict.rule->name).Add("run", t.run < 0 ? "null" : JsonString(RunName(a, t.run)));
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

/// A word for a shell: quoted where it must be.
std::string ShellWord(const std::string& s) {
  const bool plain =
      !s.empty() && s.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%") ==
                        std::string::npos;
  if (plain) return s;
  std::string out = "'";
  for (char c : s) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

int CmdRulesExplain(const Options& options, const Settings& settings, Environment* env) {
  const auto set = LoadRules(settings, env);
  if (!set.ok()) return Fail(env, set.status());
  const auto wanted = RulesOf(options.subject, *set, settings.lang);
  if (!wanted.ok()) return Fail(env, wanted.status());
  const bool json = settings.format == "json";
  std::string text;
  std::vector<std::string> rules_json, trials_json;
  for (const rules::Rule* r : *wanted) {
    text += (text.empty() ? "" : "\n") + InWords(*r, settings.lang);
    rules_json.push_back(RuleJson(*r, settings.lang));
  }
  std::vector<std::string> paths = options.files;
  if (paths.empty() && options.data) paths = {*options.data};
  if (!paths.empty()) text.clear();
  Inputs gathered = GatherInputs(paths, settings, env);
  if (!gathered.failures.empty()) return Fail(env, gathered.failures.front());
  for (Input& input : gathered.inputs) {
    const std::string& path = input.name;
    const auto analysis = AnalyzeInput(&input, options, settings, *set, true, env);
    if (!analysis.ok()) return Fail(env, analysis.status());
    size_t tried = 0;
    std::vector<std::string> blind;  // cards of which it sees nothing: one line for all
    for (const auto& trial : analysis->trials) {
      if (!Among(trial.verdict.rule, *wanted)) continue;
      trials_json.push_back(TrialJson(*analysis, trial));
      if (trial.run < 0 && SeesNothing(trial.verdict)) {
        blind.push_back(CardNames(*analysis, trial.cards));
        continue;
      }
      ++tried;
      text += TrialText(*analysis, trial, settings);
    }
    if (tried > 0 && !blind.empty()) text += Tr(settings.lang, Msg::kAppExplainBlind, Join(blind, ", ")) + "\n\n";
    if (tried == 0) text += Tr(settings.lang, Msg::kAppExplainNotTried, options.subject, path) + "\n\n";
    text += Tr(settings.lang, Msg::kAppExplainMore, "sawbill diagnose --all " + ShellWord(path)) + "\n";
  }
  if (paths.empty()) {
    text += "\n" + Tr(settings.lang, Msg::kAppExplainTry, "sawbill rules explain " + options.subject + " FILE") + "\n";
  }
  if (json) {
    JsonObject o;
    o.AddText("schema", "sawbill.rules-explain/1").AddText("lang", LangCode(settings.lang));
    text = o.Add("rules", JsonArray(rules_json)).Add("trials", JsonArray(trials_json)).Print() + "\n";
  }
  const Status delivered = Deliver(options, settings, text, env);
  return delivered.ok() ? 0 : Fail(env, delivered);
}

}  // namespace sawbill::app
