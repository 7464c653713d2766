// SPDX-License-Identifier: Apache-2.0
// Rows that share a whole second: several cards of one sample, or one card that was read several times a second?
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
  size_t k = 1;     // rows in most seconds
  size_t most = 1;  // in any
  bool one() const { return sharing == Sharing::kOneVaries || sharing == Sharing::kOneAlike; }
};

/// Judges rows in file order. Nothing is asked of times that run back.
OneOrMany JudgeSharedSeconds(const Table& table);

/// Rows of one card that share a whole second, spread evenly over it. REQUIRES: ascending whole seconds.
void SpreadOverSeconds(std::vector<TimeMs>* t_ms);

}  // namespace sawbill::ingest
