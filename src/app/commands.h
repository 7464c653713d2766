// SPDX-License-Identifier: Apache-2.0
// One function a command, each in its own cmd_*.cc. To add a command: a row in CommandRows() (cli_tables.cc), its
// function here, and a row in kCommands (run.cc).
#pragma once

#include "app/environment.h"
#include "app/options.h"
#include "app/settings.h"

namespace sawbill::app {

using Command = int (*)(const Options&, const Settings&, Environment*);

int CmdRun(const Options& options, const Settings& settings, Environment* env);
int CmdRecord(const Options& options, const Settings& settings, Environment* env);
int CmdPause(const Options& options, const Settings& settings, Environment* env);
int CmdReplay(const Options& options, const Settings& settings, Environment* env);
int CmdConvert(const Options& options, const Settings& settings, Environment* env);
int CmdReport(const Options& options, const Settings& settings, Environment* env);
int CmdDiagnose(const Options& options, const Settings& settings, Environment* env);
int CmdDemo(const Options& options, const Settings& settings, Environment* env);
int CmdPrices(const Options& options, const Settings& settings, Environment* env);
int CmdRulesList(const Options& options, const Settings& settings, Environment* env);
int CmdRulesExplain(const Options& options, const Settings& settings, Environment* env);

// These work without sound settings: a broken configuration must not keep them from their work.
int CmdRulesCheck(const Options& options, Lang lang, Environment* env);
int CmdDoctor(const Options& options, Lang lang, Environment* env);
int CmdCompletion(const Options& options, Lang lang, Environment* env);
int CmdVersion(Environment* env);

/// `report` and `diagnose` over all inputs: one receipt each.
int ReportAll(const Options& options, const Settings& settings, bool diagnosis, Environment* env);

}  // namespace sawbill::app
