// SPDX-License-Identifier: Apache-2.0
// SageMaker Debugger's system metrics (JSON lines, system/incremental/*.json), and timelines of profiler events, which
// stand beside them and are refused by name.
#pragma once

#include "ingest/format.h"

namespace sawbill::ingest {

const Format& SageMakerMetrics();
const Format& EventTimeline();

}  // namespace sawbill::ingest
