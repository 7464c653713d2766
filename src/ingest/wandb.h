// SPDX-License-Identifier: Apache-2.0
// System metrics of Weights & Biases: CSV (history(stream="events").to_csv, or a chart's export) and JSON
// (wandb-events.jsonl, rows of history()).
#pragma once

#include "ingest/format.h"

namespace sawbill::ingest {

const Format& WandbCsv();
const Format& WandbJson();

}  // namespace sawbill::ingest
