// SPDX-License-Identifier: Apache-2.0
// `nvidia-smi dmon` (a row for each card) and `nvidia-smi pmon` (a row for each process), with any choice of columns.
#pragma once

#include "ingest/format.h"

namespace sawbill::ingest {

const Format& SmiDmon();
const Format& SmiPmon();

}  // namespace sawbill::ingest
