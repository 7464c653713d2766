// SPDX-License-Identifier: Apache-2.0
// Rows that share a whole second (or a coarser stamp): several cards of one sample, or one card that was read several
// times in it?
#pragma once

#include <vector>

#include "base/time.h"
#include "ingest/table.h"

namespace sawbill::ingest {

enum class Sharing {
  kNotAsked,   // times are finer than a second, samples lie further apart, or hardly any row shares its time
  kMany,       // several cards
  kOneVaries,  // one card: the number of rows in a second varies as that of a free-running reader does
  kOneAlike,   // one card: the readings are alike at every place within the second
  kUntold
};

struct OneOrMany {
  Sharing sharing = Sharing::kNotAsked;
  size_t k = 1;           // rows in most seconds
  size_t most = 1;        // in any
  TimeMs unit_ms = 1000;  // what stamps are whole multiples of
  bool one() const { return sharing == Sharing::kOneVaries || sharing == Sharing::kOneAlike; }
};

/// Judges rows in file order. Nothing is asked of times that run back.
OneOrMany JudgeSharedSeconds(const Table& table);

/// What stamps are whole multiples of where they are coarser than the reading: a second, or tens of seconds (a
/// spreadsheet that keeps no seconds, times that were rounded). 0 when times are finer, run back, or hardly any row
/// shares its stamp.
TimeMs StampUnit(const std::vector<TimeMs>& t_ms);

/// Rows of one card that share a stamp, spread evenly over the time up to the next one. The first and the last stamp
/// may be cut: their rows keep the usual distance. REQUIRES: ascending multiples of the unit.
void SpreadOverStamps(TimeMs unit_ms, std::vector<TimeMs>* t_ms);

}  // namespace sawbill::ingest
