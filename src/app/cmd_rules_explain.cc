// SPDX-License-Identifier: Apache-2.0
// `rules explain`: a rule in words; with a recording, how it was judged there, step by step, with the samples to check.
#include <algorithm>
#include <map>

#include "app/commands.h"
#include "app/json_text.h"
#include "app/pipeline.h"
#include "app/rules_explain_json.h"
#include "app/sources.h"
#include "base/numbers.h"
#include "base/text.h"
#include "rules/condition.h"

namespace sawbill::app {
namespace {

constexpr size_t kMaxEvidence = 20;
constexpr size_t kMaxUnfound = 3;  // trials of a rule that found nothing and are printed in full

std::string Say(Lang lang, Msg id) { return std::string(Text(lang, id)); }

/// "  wait_share >= 8%   share of time lost to waits", with its weight where it has one.
std::string ConditionLine(const rules::Condition& c, const std::string& weight, Lang lang) {
  const wave::FeatureInfo& info = wave::Info(c.feature);
  const std::string fact = rules::YesOrNo(c.feature, lang);
  return "  " + Pad(weight, weight.empty() ? 0 : 6) + Pad(c.text, 28) + "  " +
         (!fact.empty()       ? fact
          : lang == Lang::kZh ? info.zh
                              : info.en) +
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
  *out += "\n" + Tr(lang, Msg::kAppExplainCauses, FormatFixed(r.margin, 2), FormatFixed(r.score_min, 2)) + "\n";
  for (const rules::CauseRule& c : r.causes) {
    *out += "\n" + std::string(model::Name(c.cause)) + ": " + std::string(model::Title(c.cause, lang)) + "\n";
    AddConditions(c.require, Msg::kAppExplainRequire, lang, out);
    AddConditions(c.exclude, Msg::kAppExplainExclude, lang, out);
    *out += Tr(lang, Msg::kAppExplainBase, FormatFixed(c.base, 2)) + "\n";
    AddWeighted(c.support, "+", lang, out);
    AddWeighted(c.contra, "-", lang, out);
  }
}

/// The features that a rule looks at, in the order in which it does.
void AddFeatures(const rules::Rule& r, std::vector<wave::Feature>* out) {
  const auto add = [&](const rules::Condition& c) {
    if (std::find(out->begin(), out->end(), c.feature) == out->end()) out->push_back(c.feature);
  };
  const auto all = [&](const auto& part) {
    for (const rules::Condition& c : part.require) add(c);
    for (const rules::Condition& c : part.exclude) add(c);
    for (const rules::Evidence& e : part.support) add(e.condition);
    for (const rules::Evidence& e : part.contra) add(e.condition);
  };
  all(r);
  for (const rules::CauseRule& c : r.causes) all(c);
}

/// How each number is had from the columns of the recording.
std::string Numbers(const std::vector<const rules::Rule*>& list, Lang lang) {
  std::vector<wave::Feature> features;
  for (const rules::Rule* r : list) AddFeatures(*r, &features);
  int width = 0;
  for (const wave::Feature f : features) width = std::max(width, DisplayWidth(wave::Info(f).name));
  std::string out = Say(lang, Msg::kAppExplainNumbers) + "\n";
  const std::string margin(static_cast<size_t>(width) + 4, ' ');
  std::map<std::string_view, std::string_view> first;  // the same for several: told once
  for (const wave::Feature f : features) {
    const auto [at, is_new] = first.try_emplace(wave::Info(f).from, wave::Info(f).name);
    const std::string from = is_new ? std::string(at->first) : Tr(lang, Msg::kAppExplainSameAs, at->second);
    bool head = true;
    for (const std::string& line : Wrap(from, std::max(60, 110 - width - 4))) {
      out += (head ? "  " + Pad(wave::Info(f).name, width) + "  " : margin) + line + "\n";
      head = false;
    }
  }
  return out;
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
    out += (trend ? Tr(lang, Msg::kAppExplainTrend, r.test->text, FormatDuration(r.test->window_s, lang),
                       FormatDuration(r.test->against_s, lang))
                  : Tr(lang, Msg::kAppExplainThreshold, r.test->text, FormatDuration(r.test->for_s, lang))) +
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

std::string Clock(TimeMs t, const TimeZone& tz) {
  const CivilTime c = tz.ToLocal(t);
  return fmt::format("{}-{:02}-{:02} {:02}:{:02}:{:02}", c.year, c.month, c.day, c.hour, c.minute, c.second);
}

/// The samples behind a finding of this rule on this run, the first ones of each kind of evidence.
std::string EvidenceLines(const analysis::Analysis& a, const analysis::Analysis::Trial& t, const Settings& s) {
  std::string out;
  if (!t.verdict.fired) return out;
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
  return out.empty() ? out : Tr(s.lang, Msg::kAppExplainSamples, s.tz.name()) + "\n" + out;
}

std::string TrialText(const analysis::Analysis& a, const analysis::Analysis::Trial& t, const Settings& s) {
  std::string head = Tr(s.lang, Msg::kAppExplainOnCards, CardNames(a, t.cards));
  if (t.run >= 0) {
    const model::TimeRange when = a.runs[static_cast<size_t>(t.run)].range;
    head = Tr(s.lang, Msg::kAppExplainOnRun, TriedRunName(a, t.run), CardNames(a, t.cards),
              Clock(when.from, s.tz) + " - " + Clock(when.to, s.tz).substr(11));
  }
  return head + "\n" + rules::Explain(t.verdict, s.lang) + EvidenceLines(a, t, s) + "\n";
}

bool SeesNothing(const rules::Verdict& v) {
  return !v.test && std::all_of(v.checks.begin(), v.checks.end(),
                                [](const rules::Checked& c) { return c.truth == rules::Truth::kUnknown; });
}

/// Every trial of the rules on one recording: what was found first, then some of the rest, then how many more.
std::string Trials(const analysis::Analysis& a, const std::vector<const rules::Rule*>& wanted,
                   const std::string& subject, const std::string& path, const Settings& s) {
  std::string found, unfound;
  std::vector<std::string> blind;  // cards of which it sees nothing: one line for all
  size_t printed = 0, more_false = 0, more_untold = 0;
  const bool any_found = std::any_of(a.trials.begin(), a.trials.end(),
                                     [&](const auto& t) { return t.verdict.fired && Among(t.verdict.rule, wanted); });
  for (const auto& trial : a.trials) {
    if (!Among(trial.verdict.rule, wanted)) continue;
    const bool fired = trial.verdict.fired, untold = rules::CannotBeTold(trial.verdict);
    if (trial.run < 0 && SeesNothing(trial.verdict)) {
      const std::string names = CardNames(a, trial.cards);
      if (std::find(blind.begin(), blind.end(), names) == blind.end()) blind.push_back(names);
    } else if (fired || (!(untold && any_found) && ++printed <= kMaxUnfound * wanted.size())) {
      (fired ? found : unfound) += TrialText(a, trial, s);
    } else {
      ++(untold ? more_untold : more_false);
    }
  }
  std::string out = found + unfound;
  const bool tried = !out.empty();
  if (more_false > 0) out += Tr(s.lang, Msg::kAppExplainRestFalse, more_false) + "\n\n";
  if (more_untold > 0) out += Tr(s.lang, Msg::kAppExplainRestUntold, more_untold) + "\n\n";
  if (!tried) return Tr(s.lang, Msg::kAppExplainNotTried, subject, path) + "\n\n";
  if (!blind.empty()) out += Tr(s.lang, Msg::kAppExplainBlind, Join(blind, ", ")) + "\n\n";
  return out + Numbers(wanted, s.lang) + "\n";
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
    for (const auto& trial : analysis->trials) {
      if (Among(trial.verdict.rule, *wanted)) trials_json.push_back(TrialJson(*analysis, trial));
    }
    text += Trials(*analysis, *wanted, options.subject, path, settings);
    text += Tr(settings.lang, Msg::kAppExplainMore, "sawbill diagnose --all " + ShellWord(path)) + "\n";
  }
  if (paths.empty()) {
    text += "\n" + Numbers(*wanted, settings.lang) + "\n" +
            Tr(settings.lang, Msg::kAppExplainTry, "sawbill rules explain " + options.subject + " FILE") + "\n";
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
