// SPDX-License-Identifier: Apache-2.0
// Utilisation that was logged as a ratio from 0 to 1 under a heading that does not say so.
#pragma once

#include <string>
#include <vector>

#include "ingest/format.h"
#include "ingest/table.h"

namespace sawbill::ingest {

/// Brings a column of utilisation to percent; counts and notes what was assumed. Where it cannot be told whether 1.0 is
/// 1 % or 100 % the column is left out, and the note says so.
void RatiosToPercent(Table* table, NumberSlot slot, const ReadContext& context, model::DataQuality* quality,
                     std::vector<std::string>* notes);

}  // namespace sawbill::ingest
