// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "app/commands.h"
#include "app/pipeline.h"
#include "app/sources.h"
#include "base/numbers.h"
#include "base/text.h"
#include "report/render.h"

namespace sawbill::app {
namespace {

std::string Render(const report::Report& r, const Settings& s, bool diagnosis) {
  if (s.format == "json") return report::RenderJson(r);
  if (s.format == "md") return report::RenderMarkdown(r);
  if (s.format == "html") return report::RenderHtml(r);
  if (s.format == "csv") return report::RenderCsv(r);
  report::TextStyle style;
  style.columns = s.columns;
  style.color = s.color;
  style.unicode = s.unicode;
  style.all = s.all;
  return diagnosis ? report::RenderDiagnosis(r, style) : report::RenderText(r, style);
}

/// What the printed figures do not say: said on stderr, so that the result stays clean.
void Hints(const report::Report& r, const Settings& s, Environment* env) {
  std::set<std::string> said;
  for (const report::UnpricedCard& c : r.unpriced_cards) {
    const std::string name = Sanitize(c.name.empty() ? c.label : c.name);
    const std::string what = c.lacks_share ? Tr(s.lang, Msg::kAppNoShareFor, Sanitize(c.label))
                             : !r.cost     ? Tr(s.lang, Msg::kAppNoPriceFor, name)
                                           : Tr(s.lang, Msg::kAppNotInTotal, Sanitize(c.label), Sanitize(c.selector));
    if (s.format != "text" && said.insert(what).second) Note(env, what);
  }
}

}  // namespace

int ReportAll(const Options& options, const Settings& settings, bool diagnosis, Environment* env) {
  Inputs gathered = GatherInputs(InputPaths(options, settings), settings, env);
  std::vector<Input>& inputs = gathered.inputs;
  const bool readable = settings.format == "text" || settings.format == "md";
  if (inputs.size() > 1 && !readable) {
    return Fail(env, Status::Invalid(Tr(settings.lang, Msg::kAppOneInput, settings.format, inputs.size())));
  }
  const auto rules = LoadRules(settings, env);
  if (!rules.ok()) return Fail(env, rules.status());
  std::string text;
  int code = 0;
  for (const Status& failure : gathered.failures) code = std::max(code, Fail(env, failure));
  bool too_much_waste = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto report = ReportInput(&inputs[i], options, settings, *rules, env);
    if (!report.ok()) {
      // Of several recordings those in the period asked for are meant.
      const bool elsewhere = report.status().kind() == StatusKind::kNotFound && inputs.size() > 1;
      if (!elsewhere || (i + 1 == inputs.size() && text.empty())) code = std::max(code, Fail(env, report.status()));
      continue;
    }
    if (inputs.size() > 1) {
      const std::string heading =
          Tr(settings.lang, Msg::kAppRecordingOf, i + 1, inputs.size(), Sanitize(inputs[i].name));
      text += (text.empty() ? "" : "\n") + (settings.format == "md" ? "# " + heading : "=== " + heading) + "\n\n";
    }
    text += Render(*report, settings, diagnosis);
    Hints(*report, settings, env);
    const double waste = WasteShare(*report);
    if (settings.fail_on_waste && report->unjudged_share >= 0.10) {
      Note(env,
           Tr(settings.lang, Msg::kAppWasteUnjudged, FormatFixed(100 * report->unjudged_share, 0), inputs[i].name));
    }
    if (settings.fail_on_waste && waste > *settings.fail_on_waste) {
      too_much_waste = true;
      Note(env, Tr(settings.lang, Msg::kAppTooMuchWaste, FormatFixed(100 * waste, 1),
                   FormatShortest(100 * *settings.fail_on_waste), inputs[i].name));
    }
  }
  if (!text.empty()) {
    const Status delivered = Deliver(options, settings, text, env);
    if (!delivered.ok()) code = std::max(code, Fail(env, delivered));
  }
  return code != 0 ? code : too_much_waste ? 1 : 0;
}

int CmdReport(const Options& options, const Settings& settings, Environment* env) {
  return ReportAll(options, settings, false, env);
}

}  // namespace sawbill::app
