// SPDX-License-Identifier: Apache-2.0
// Runs by what `sawbill run` noted of them. Where the processes are not seen (a container, a job that never touched its
// cards) or not their job (another user's environment cannot be read), these rows alone tell who had the cards.
#pragma once

#include "analysis/piece.h"

namespace sawbill::analysis {

/// A run that processes showed gets its job where exactly one note fits it: the same user, all of its cards, all of its
/// time.
void NameJob(const model::Recording& r, jobs::Run* run);

/// The runs that are noted from start to end with their cards, and that none of p->runs (those that processes showed)
/// is: on the cards that no other run held in that time.
std::vector<jobs::Run> UnseenRuns(const Piece& p);

}  // namespace sawbill::analysis
