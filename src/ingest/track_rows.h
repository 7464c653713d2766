// SPDX-License-Identifier: Apache-2.0
// Rows of a card's track: which of them hold a reading, and taking others out of all columns at once.
#pragma once

#include <vector>

#include "model/recording.h"

namespace sawbill::ingest {

/// Sets keep[i] for each row i with at least one reading; what is set stays. REQUIRES: keep has a place for each row.
void MarkRowsWithReading(const model::GpuTrack& track, std::vector<char>* keep);
/// Takes out the rows whose keep[i] is 0.
void KeepRows(const std::vector<char>& keep, model::GpuTrack* track);

}  // namespace sawbill::ingest
