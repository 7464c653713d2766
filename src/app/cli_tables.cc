// SPDX-License-Identifier: Apache-2.0
#include "app/cli.h"

namespace sawbill::app {
namespace {

constexpr unsigned kShown = kReport | kDiagnose | kDemo;
constexpr unsigned kReads = kShown | kRulesExplain;
constexpr unsigned kEverywhere = kReads | kRoot | kRules | kRulesList | kRulesCheck | kPrices | kDoctor | kCompletion |
                                 kVersion | kRecord | kRun | kPause | kReplay | kConvert;
constexpr unsigned kRecords = kRecord | kRun;

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
           kReport | kDiagnose | kRulesExplain | kPrices | kDoctor | kRecords | kPause | kReplay, &Options::data),
      Switch("--explain-format", Msg::kAppFlagExplainFormat, Msg::kAppGroupSource, kDiagnose, &Options::explain_format),
      Text("--tz", "ZONE", Msg::kAppFlagTz, Msg::kAppGroupSource, kReads | kPrices | kRecords | kReplay | kConvert,
           &Options::tz),

      Text("--from", "TIME", Msg::kAppFlagFrom, Msg::kAppGroupPeriod, kReads | kReplay | kConvert, &Options::from),
      Text("--to", "TIME", Msg::kAppFlagTo, Msg::kAppGroupPeriod, kReads | kReplay | kConvert, &Options::to),
      Text("--last", "DURATION", Msg::kAppFlagLast, Msg::kAppGroupPeriod, kReads | kReplay | kConvert, &Options::last),
      List("--gpu", "GPU", Msg::kAppFlagGpu, Msg::kAppGroupPeriod, kReads, &Options::gpus),
      List("--label", "LABEL", Msg::kAppFlagLabel, Msg::kAppGroupPeriod, kReads, &Options::labels),
      List("--job", "JOB", Msg::kAppFlagJob, Msg::kAppGroupPeriod, kReads, &Options::jobs),
      List("--user", "USER", Msg::kAppFlagUser, Msg::kAppGroupPeriod, kReads, &Options::users),
      List("--project", "PROJECT", Msg::kAppFlagProject, Msg::kAppGroupPeriod, kReads, &Options::projects),

      List("--price", "[CARD=]AMOUNT", Msg::kAppFlagPrice, Msg::kAppGroupMoney, kShown | kPrices | kRun,
           &Options::price),
      List("--prices", "FILE", Msg::kAppFlagPrices, Msg::kAppGroupMoney, kShown | kPrices | kRun, &Options::prices),
      Text("--currency", "CODE", Msg::kAppFlagCurrency, Msg::kAppGroupMoney, kShown | kPrices | kRun,
           &Options::currency),
      Text("--min-saving", "2%|5", Msg::kAppFlagMinSaving, Msg::kAppGroupMoney, kShown | kRun, &Options::min_saving),
      Text("--fail-on-waste", "20%", Msg::kAppFlagFailOnWaste, Msg::kAppGroupMoney, kReport, &Options::fail_on_waste),

      Text("--by", "run|user|job|project|label|gpu|node|day|month", Msg::kAppFlagBy, Msg::kAppGroupOutput, kShown,
           &Options::by),
      Text("--format", "text|md|html|json|csv", Msg::kAppFlagFormat, Msg::kAppGroupOutput, kShown | kRun,
           &Options::format),
      Text("--format", "text|json", Msg::kAppFlagFormat, Msg::kAppGroupOutput, kRulesExplain | kDoctor,
           &Options::format),
      Text("-o,--output", "FILE", Msg::kAppFlagOutput, Msg::kAppGroupOutput,
           kReads | kPrices | kDoctor | kRulesList | kRun, &Options::output),
      Text("-o,--output", "DIR", Msg::kAppFlagConvertOutput, Msg::kAppGroupOutput, kConvert, &Options::output),
      Switch("--all", Msg::kAppFlagAll, Msg::kAppGroupOutput, kShown | kRun, &Options::all),
      Text("--color", "auto|always|never", Msg::kAppFlagColor, Msg::kAppGroupOutput, kShown | kRun, &Options::color),
      Switch("--ascii", Msg::kAppFlagAscii, Msg::kAppGroupOutput, kShown | kRun, &Options::ascii),

      Text("--job", "NAME", Msg::kRecFlagJob, Msg::kRecGroupJob, kRun, &Options::job),
      Text("--project", "NAME", Msg::kRecFlagProject, Msg::kRecGroupJob, kRun, &Options::project),
      Text("--attach", "PID", Msg::kRecFlagAttach, Msg::kRecGroupJob, kRun, &Options::attach),
      Text("--bill", "used|visible|all", Msg::kRecFlagBill, Msg::kAppGroupMoney, kRun, &Options::bill),
      Text("--budget", "AMOUNT", Msg::kRecFlagBudget, Msg::kAppGroupMoney, kRun, &Options::budget),

      Text("--interval", "1s", Msg::kRecFlagInterval, Msg::kRecGroupRecord, kRecords, &Options::interval),
      Text("--process-interval", "10s", Msg::kRecFlagProcesses, Msg::kRecGroupRecord, kRecords,
           &Options::process_interval),
      Text("--dcgm", "URL", Msg::kRecFlagDcgm, Msg::kRecGroupRecord, kRecords | kDoctor, &Options::dcgm),
      Text("--nvml", "LIBRARY", Msg::kRecFlagNvml, Msg::kRecGroupRecord, kRecords | kDoctor, &Options::nvml),
      Text("--keep-days", "N", Msg::kRecFlagKeep, Msg::kRecGroupRecord, kRecord, &Options::keep_days),
      Text("--for", "DURATION", Msg::kRecFlagFor, Msg::kRecGroupRecord, kRecord, &Options::duration),
      Text("--for", "DURATION", Msg::kRecFlagPauseFor, Msg::kRecGroupRecord, kPause, &Options::duration),
      Text("--speed", "FACTOR", Msg::kRecFlagSpeed, Msg::kRecGroupRecord, kReplay, &Options::speed),
      Switch("--resume", Msg::kRecFlagResume, Msg::kRecGroupRecord, kPause, &Options::resume),
      Switch("-q,--quiet", Msg::kRecFlagQuiet, Msg::kAppGroupOutput, kRecords | kReplay, &Options::quiet),

      List("--require", "CHECK", Msg::kAppFlagRequire, Msg::kAppGroupOutput, kDoctor, &Options::require),

      Text("--lang", "en|zh", Msg::kAppFlagLang, Msg::kAppGroupGeneral, kEverywhere, &Options::lang),
      Text("--config", "FILE", Msg::kAppFlagConfig, Msg::kAppGroupGeneral, kEverywhere, &Options::config),
      Switch("--version", Msg::kAppFlagVersion, Msg::kAppGroupGeneral, kRoot, &Options::version),
  };
  return rows;
}

const std::vector<CommandRow>& CommandRows() {
  static const std::vector<CommandRow> rows = {
      {"run", kRun, Msg::kRecCmdRun, "", false, ""},
      {"record", kRecord, Msg::kRecCmdRecord, "", false, ""},
      {"pause", kPause, Msg::kRecCmdPause, "", false, ""},
      {"replay", kReplay, Msg::kRecCmdReplay, "", false, "FILE"},
      {"report", kReport, Msg::kAppCmdReport, "", false, "FILE"},
      {"diagnose", kDiagnose, Msg::kAppCmdDiagnose, "", false, "FILE"},
      {"convert", kConvert, Msg::kAppCmdConvert, "", false, "FILE"},
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
      {"live", Msg::kAppInsteadReport},  {"serve", Msg::kAppInsteadHtml},    {"trace", Msg::kAppInsteadNone},
      {"probe", Msg::kAppInsteadNone},   {"advise", Msg::kAppInsteadAdvise}, {"whatif", Msg::kAppInsteadAdvise},
      {"verify", Msg::kAppInsteadTwice}, {"savings", Msg::kAppInsteadTwice}, {"compare", Msg::kAppInsteadTwice},
      {"alert", Msg::kAppInsteadFail},   {"sync", Msg::kAppInsteadNone},
  };
  return rows;
}

}  // namespace sawbill::app
