// SPDX-License-Identifier: Apache-2.0
// The table that `nvidia-smi` prints for people, again and again: `nvidia-smi -l`, or a loop in a script.
#pragma once

#include "ingest/format.h"

namespace sawbill::ingest {

const Format& SmiTable();

}  // namespace sawbill::ingest
