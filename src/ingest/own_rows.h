// SPDX-License-Identifier: Apache-2.0
// Sawbill's own files without samples, when they are named by themselves ("report data/*.csv"): run and event day
// files and inventory.csv. In their folder the store reads them.
#pragma once

#include "ingest/format.h"

namespace sawbill::ingest {

const Format& RunDayFile();
const Format& EventDayFile();
const Format& InventoryFile();

}  // namespace sawbill::ingest
