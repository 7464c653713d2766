// SPDX-License-Identifier: Apache-2.0
// gpustat: `gpustat --json` documents one after another (or a line each), and its text table in a loop.
#pragma once

#include "ingest/format.h"

namespace sawbill::ingest {

const Format& GpustatJson();
const Format& GpustatText();

}  // namespace sawbill::ingest
