// SPDX-License-Identifier: Apache-2.0
// `rules explain --format json`: the rules as they are written, and each verdict with all its checks.
#pragma once

#include <string>

#include "analysis/analysis.h"
#include "base/messages.h"
#include "rules/rules.h"

namespace sawbill::app {

/// What the run is called where it was tried: its job, id or program, else its number. REQUIRES: run >= 0.
std::string TriedRunName(const analysis::Analysis& a, int run);
std::string RuleJson(const rules::Rule& r, Lang lang);
std::string TrialJson(const analysis::Analysis& a, const analysis::Analysis::Trial& t);

}  // namespace sawbill::app
