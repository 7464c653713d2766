// SPDX-License-Identifier: Apache-2.0
// Cards that are there and tell nothing: integrated GPUs (Jetson) and some virtual ones answer every question with "not
// supported". Their hours are paid for like any other card's, and nobody knows what was done with them.
#pragma once

#include <map>
#include <string>

#include "analysis/piece.h"

namespace sawbill::analysis {

/// A track without samples: rows of the card stood there, none with a reading.
inline bool IsSilent(const PreparedCard& c) { return c.size() == 0; }

/// Takes the silent cards out of a run that has others, so that they do not dilute its features; gives them back.
std::vector<size_t> TakeSilent(const std::vector<PreparedCard>& cards, jobs::Run* run);

/// The time of `nodes` in which a silent card was held by a run, and the rest, as unmeasured.
void AccountSilent(const Options& o, const std::map<std::string, model::TimeRange>& nodes, Piece* p);

}  // namespace sawbill::analysis
