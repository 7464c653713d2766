// SPDX-License-Identifier: Apache-2.0
// Which causes a finding may name (product.md's table): a rule that pairs others is refused when it is read.
#pragma once

#include <vector>

#include "model/ids.h"

namespace sawbill::rules {

/// In the order in which documents list them; empty for a finding that is its own cause.
const std::vector<model::Cause>& CausesOf(model::FindingId id);

}  // namespace sawbill::rules
