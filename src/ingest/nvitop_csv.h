// SPDX-License-Identifier: Apache-2.0
// nvitop's ResourceMetricCollector, collected into a CSV file.
#pragma once

#include "ingest/format.h"

namespace sawbill::ingest {

const Format& NvitopCsv();

}  // namespace sawbill::ingest
