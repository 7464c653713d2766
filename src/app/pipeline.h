// SPDX-License-Identifier: Apache-2.0
// Telemetry -> analysis -> report, and where the result goes: what the commands share.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "app/environment.h"
#include "app/inputs.h"
#include "app/options.h"
#include "app/settings.h"
#include "report/report.h"
#include "rules/rules.h"

namespace sawbill::app {

/// Prints "sawbill: error: ..." and returns the exit status of the error's kind.
int Fail(Environment* env, const Status& status);
/// "sawbill: ..." on stderr: what is not the result.
void Note(Environment* env, const std::string& text);
/// The result: into the file of -o, else to stdout.
Status Deliver(const Options& options, const Settings& settings, const std::string& text, Environment* env);

/// The shipped rules and the files of the configuration on top.
Result<rules::RuleSet> LoadRules(const Settings& settings, Environment* env);
Result<analysis::Analysis> AnalyzeInput(Input* input, const Options& options, const Settings& settings,
                                        const rules::RuleSet& rules, bool keep_trials, Environment* env);
Result<report::Report> ReportInput(Input* input, const Options& options, const Settings& settings,
                                   const rules::RuleSet& rules, Environment* env);
/// Card time on the lines that are waste (all but useful, unmeasured and unexplained) as a share of the period.
double WasteShare(const report::Report& r);

}  // namespace sawbill::app
