// SPDX-License-Identifier: Apache-2.0
// `dcgmi dmon`: DCGM fields of cards and MIG instances, a row for each.
#pragma once

#include "ingest/format.h"

namespace sawbill::ingest {

const Format& DcgmiDmon();

}  // namespace sawbill::ingest
