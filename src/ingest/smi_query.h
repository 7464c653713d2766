// SPDX-License-Identifier: Apache-2.0
// What `nvidia-smi -q` prints, once or in a loop (`-l 5`, also with `-d UTILIZATION,MEMORY`).
#pragma once

#include "ingest/format.h"

namespace sawbill::ingest {

const Format& SmiQuery();

}  // namespace sawbill::ingest
