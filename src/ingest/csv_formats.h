// SPDX-License-Identifier: Apache-2.0
// Comma-separated telemetry: nvidia-smi's --query-gpu logs, simple script logs, and single day files of our own.
#pragma once

#include "ingest/format.h"

namespace sawbill::ingest {

const Format& NvidiaSmiCsv();
const Format& ScriptLog();
const Format& GpuDayFile();
const Format& HostDayFile();
const Format& ProcessDayFile();

}  // namespace sawbill::ingest
