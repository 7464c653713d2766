// SPDX-License-Identifier: Apache-2.0
// From findings to graded actions. Level 1: safe configuration that does not change what is learned. Level 2: changes
// semantics or risk: told, with what to check first. Level 3: structural: told, with the place. Numbers come from the
// run.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace sawbill::advise {

struct Recommendation {
  std::string id;  // "more-workers"
  int level = 1;
  std::string action;       // one sentence
  std::string key;          // configuration key, "" where there is none
  std::string from, to;     // present and proposed value, "" = unknown
  std::string check_first;  // "" = nothing
};

/// `gpus`: the labels of the cards that the finding is about.
std::vector<Recommendation> Recommend(const analysis::Finding& f, const std::vector<std::string>& gpus, Lang lang);

}  // namespace sawbill::advise
