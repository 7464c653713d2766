// SPDX-License-Identifier: Apache-2.0
// The causal chain of a finding in words, first what is seen, then what is behind it, with the run's own numbers.
#pragma once

#include <string>
#include <vector>

#include "analysis/piece.h"

namespace sawbill::analysis {

std::vector<std::string> CausalChain(const Piece& p, const Fired& f, const Finding& finding, Lang lang);

}  // namespace sawbill::analysis
