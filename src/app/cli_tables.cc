// SPDX-License-Identifier: Apache-2.0
#include "app/cli.h"

namespace sawbill::app {
namespace {

constexpr unsigned kShown = kReport | kDiagnose | kDemo;
constexpr unsigned kReads = kShown | kRulesExplain;
constexpr unsigned kEverywhere =
    kReads | kRoot | kRules | kRulesList | kRulesCheck | kPrices | kDoctor | kCompletion | kVersion;

FlagRow Text(const char* names, const char* value, Msg help, Msg group, unsigned commands,
             std::optional<std::string> Options::* to) {
  return {names, value, help, group, commands, to, nullptr, nullptr};
}
FlagRow List(const char* names, const char* value, Msg help, Msg group, unsigned commands,
             std::vector<std::string> Options::* to) {
  return {names, value, help, group, commands, nullptr, to, nullptr};
}
FlagRow Switch(const char* names, Msg help, Msg group, unsigned commands, bool Options::* to) {
  return {names, "", help, group, commands, nullptr, nullptr, to};
}

}  // namespace

const std::vector<FlagRow>& FlagRows() {
  static const std::vector<FlagRow> rows = {
      Text("--data", "DIR", Msg::kAppFlagData, Msg::kAppGroupSource,
           kReport | kDiagnose | kRulesExplain | kPrices | kDoctor, &Options::data),
      Switch("--explain-format", Msg::kAppFlagExplainFormat, Msg::kAppGroupSource, kDiagnose, &Options::explain_format),
      Text("--tz", "ZONE", Msg::kAppFlagTz, Msg::kAppGroupSource, kReads | kPrices, &Options::tz),

      Text("--from", "TIME", Msg::kAppFlagFrom, Msg::kAppGroupPeriod, kReads, &Options::from),
      Text("--to", "TIME", Msg::kAppFlagTo, Msg::kAppGroupPeriod, kReads, &Options::to),
      Text("--last", "DURATION", Msg::kAppFlagLast, Msg::kAppGroupPeriod, kReads, &Options::last),
      List("--gpu", "GPU", Msg::kAppFlagGpu, Msg::kAppGroupPeriod, kReads, &Options::gpus),
      List("--label", "LABEL", Msg::kAppFlagLabel, Msg::kAppGroupPeriod, kReads, &Options::labels),
      List("--job", "JOB", Msg::kAppFlagJob, Msg::kAppGroupPeriod, kReads, &Options::jobs),
      List("--user", "USER", Msg::kAppFlagUser, Msg::kAppGroupPeriod, kReads, &Options::users),
      List("--project", "PROJECT", Msg::kAppFlagProject, Msg::kAppGroupPeriod, kReads, &Options::projects),

      List("--price", "[CARD=]AMOUNT", Msg::kAppFlagPrice, Msg::kAppGroupMoney, kShown | kPrices, &Options::price),
      List("--prices", "FILE", Msg::kAppFlagPrices, Msg::kAppGroupMoney, kShown | kPrices, &Options::prices),
      Text("--currency", "CODE", Msg::kAppFlagCurrency, Msg::kAppGroupMoney, kShown | kPrices, &Options::currency),
      Text("--min-saving", "2%|5", Msg::kAppFlagMinSaving, Msg::kAppGroupMoney, kShown, &Options::min_saving),
      Text("--fail-on-waste", "20%", Msg::kAppFlagFailOnWaste, Msg::kAppGroupMoney, kReport, &Options::fail_on_waste),

      Text("--by", "run|user|job|project|label|gpu|node|day|month", Msg::kAppFlagBy, Msg::kAppGroupOutput, kShown,
           &Options::by),
      Text("--format", "text|md|html|json|csv", Msg::kAppFlagFormat, Msg::kAppGroupOutput, kShown, &Options::format),
      Text("--format", "text|json", Msg::kAppFlagFormat, Msg::kAppGroupOutput, kRulesExplain | kDoctor,
           &Options::format),
      Text("-o,--output", "FILE", Msg::kAppFlagOutput, Msg::kAppGroupOutput, kReads | kPrices | kDoctor | kRulesList,
           &Options::output),
      Switch("--all", Msg::kAppFlagAll, Msg::kAppGroupOutput, kShown, &Options::all),
      Text("--color", "auto|always|never", Msg::kAppFlagColor, Msg::kAppGroupOutput, kShown, &Options::color),
      Switch("--ascii", Msg::kAppFlagAscii, Msg::kAppGroupOutput, kShown, &Options::ascii),

      List("--require", "CHECK", Msg::kAppFlagRequire, Msg::kAppGroupOutput, kDoctor, &Options::require),

      Text("--lang", "en|zh", Msg::kAppFlagLang, Msg::kAppGroupGeneral, kEverywhere, &Options::lang),
      Text("--config", "FILE", Msg::kAppFlagConfig, Msg::kAppGroupGeneral, kEverywhere, &Options::config),
      Switch("--version", Msg::kAppFlagVersion, Msg::kAppGroupGeneral, kRoot, &Options::version),
  };
  return rows;
}

const std::vector<CommandRow>& CommandRows() {
  static const std::vector<CommandRow> rows = {
      {"report", kReport, Msg::kAppCmdReport, "", false, "FILE"},
      {"diagnose", kDiagnose, Msg::kAppCmdDiagnose, "", false, "FILE"},
      {"demo", kDemo, Msg::kAppCmdDemo, "", false, ""},
      {"prices", kPrices, Msg::kAppCmdPrices, "", false, "FILE"},
      {"rules", kRules, Msg::kAppCmdRules, "", false, ""},
      {"rules list", kRulesList, Msg::kAppCmdRulesList, "", false, ""},
      {"rules explain", kRulesExplain, Msg::kAppCmdRulesExplain, "FINDING", true, "FILE"},
      {"rules check", kRulesCheck, Msg::kAppCmdRulesCheck, "RULES", true, ""},
      {"doctor", kDoctor, Msg::kAppCmdDoctor, "", false, ""},
      {"completion", kCompletion, Msg::kAppCmdCompletion, "bash|zsh|fish", true, ""},
      {"version", kVersion, Msg::kAppCmdVersion, "", false, ""},
  };
  return rows;
}

const std::vector<PlannedCommand>& PlannedCommands() {
  static const std::vector<PlannedCommand> rows = {
      {"run", Msg::kAppInsteadRecord},    {"record", Msg::kAppInsteadRecord}, {"live", Msg::kAppInsteadReport},
      {"serve", Msg::kAppInsteadHtml},    {"trace", Msg::kAppInsteadNone},    {"probe", Msg::kAppInsteadNone},
      {"advise", Msg::kAppInsteadAdvise}, {"whatif", Msg::kAppInsteadAdvise}, {"verify", Msg::kAppInsteadTwice},
      {"savings", Msg::kAppInsteadTwice}, {"compare", Msg::kAppInsteadTwice}, {"alert", Msg::kAppInsteadFail},
      {"sync", Msg::kAppInsteadNone},     {"pause", Msg::kAppInsteadNone},    {"replay", Msg::kAppInsteadReport},
  };
  return rows;
}

}  // namespace sawbill::app
