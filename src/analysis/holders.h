// SPDX-License-Identifier: Apache-2.0
// Whose second it is. Most of the time one run holds a card. Where process rows show several at once, the second is
// divided by the SM share that the driver gives for their processes; without that figure nobody can tell, and each gets
// an equal part.
#pragma once

#include <vector>

#include "analysis/piece.h"

namespace sawbill::analysis {

struct Holder {
  enum class Basis { kAlone, kMeasured, kEqual };
  size_t plan = 0;   // index into the runs handed in
  double share = 1;  // of the second; those of one instant add up to 1
};

/// The runs among `runs` (of this card, by start) that hold it at `t`; none = nobody.
Holder::Basis FindHolders(const Piece& p, const std::vector<int>& runs, size_t card, TimeMs t,
                          std::vector<Holder>* holders);

}  // namespace sawbill::analysis
