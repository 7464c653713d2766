// SPDX-License-Identifier: Apache-2.0
// Decisions about a whole column: a ratio under a percent heading, bytes under a bare "memory", a share of memory under
// the name of the memory controller, memory that the driver keeps for itself.
#pragma once

#include <string>
#include <vector>

#include "ingest/format.h"
#include "ingest/table.h"

namespace sawbill::ingest {

/// Brings the columns of a foreign table to the catalog's units; counts and notes every assumption.
void SettleUnits(Table* table, const ReadContext& context, model::DataQuality* quality,
                 std::vector<std::string>* notes);
/// Readings outside what is possible become missing.
void CheckRanges(Table* table, const ReadContext& context, model::DataQuality* quality);

}  // namespace sawbill::ingest
