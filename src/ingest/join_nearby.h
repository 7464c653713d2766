// SPDX-License-Identifier: Apache-2.0
// Readings of one card that were taken at different times of each interval, brought into one row.
#pragma once

#include "ingest/format.h"

namespace sawbill::ingest {

/// The longest way that a reading was moved, and the interval of the readings of utilisation. moved_ms 0 = none was.
struct Joined {
  TimeMs moved_ms = 0, interval_ms = 0;
};

/// Series that are scraped by themselves (utilisation at :00, power at :07) make rows in which half is missing. Each
/// reading of a column that hardly ever stands beside utilisation is put to the nearest row of utilisation, at most
/// half an interval away; what finds none, or a nearer one there, keeps its own row. REQUIRES: rows in order of time.
Joined JoinNearby(model::GpuTrack* track);

/// Says in a note what was joined, if anything was.
void NoteJoined(const Joined& joined, const ReadContext& context, model::Recording* out);

}  // namespace sawbill::ingest
