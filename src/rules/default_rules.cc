// SPDX-License-Identifier: Apache-2.0
// The rules of this build. A mistake in them is a mistake of the build: it ends the program, and a test finds it first.
#include "rules/rules.h"

extern "C" {
extern const char sawbill_default_rules_begin[];  // default_rules.S
extern const char sawbill_default_rules_end[];
}

namespace sawbill::rules {

std::string_view DefaultRulesText() {
  return {sawbill_default_rules_begin,
          static_cast<size_t>(sawbill_default_rules_end - static_cast<const char*>(sawbill_default_rules_begin))};
}

const RuleSet& DefaultRules() {
  static const RuleSet* const kRules = [] {
    Result<RuleSet> parsed = ParseRules(DefaultRulesText(), "default rules", {}, true);
    if (!parsed.ok()) CheckFailed(parsed.status().message().c_str(), __FILE__, __LINE__);
    return new RuleSet(std::move(parsed).value());
  }();
  return *kRules;
}

}  // namespace sawbill::rules
