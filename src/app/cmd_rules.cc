// SPDX-License-Identifier: Apache-2.0
// `rules list` and `rules check`.
#include "app/commands.h"
#include "app/pipeline.h"
#include "app/table.h"

namespace sawbill::app {
namespace {

const char* LayerName(rules::Layer layer) {
  return layer == rules::Layer::kThreshold ? "threshold" : layer == rules::Layer::kTrend ? "trend" : "composite";
}

}  // namespace

int CmdRulesList(const Options& options, const Settings& settings, Environment* env) {
  const auto rules = LoadRules(settings, env);
  if (!rules.ok()) return Fail(env, rules.status());
  const auto text = [&](Msg id) { return std::string(Text(settings.lang, id)); };
  Table table;
  table.Add({text(Msg::kAppRulesName), text(Msg::kAppRulesLayer), text(Msg::kAppRulesFinding), text(Msg::kAppRulesOn),
             text(Msg::kAppRulesFrom)});
  for (const rules::Rule& r : rules->rules) {
    table.Add({Sanitize(r.name), LayerName(r.layer), std::string(model::Title(r.finding, settings.lang)),
               text(r.enabled ? Msg::kAppYes : Msg::kAppNo),
               r.built_in ? text(Msg::kAppRulesShipped) : Sanitize(r.where) + ":" + std::to_string(r.line)});
  }
  const Status delivered = Deliver(options, settings, table.Print("") + "\n" + text(Msg::kAppRulesMore) + "\n", env);
  return delivered.ok() ? 0 : Fail(env, delivered);
}

int CmdRulesCheck(const Options& options, Lang lang, Environment* env) {
  const auto bytes = env->fs->Map(options.subject);
  if (!bytes.ok()) return Fail(env, bytes.status());
  const auto parsed = rules::ParseRules((*bytes)->bytes(), options.subject, rules::DefaultRules(), false);
  if (!parsed.ok()) {
    Fail(env, parsed.status());
    return 2;
  }
  size_t own = 0;
  for (const rules::Rule& r : parsed->rules) own += r.built_in ? 0 : 1;
  env->out->Write(Tr(lang, Msg::kAppRulesOk, options.subject, own) + "\n");
  return 0;
}

}  // namespace sawbill::app
