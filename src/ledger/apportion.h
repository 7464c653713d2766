// SPDX-License-Identifier: Apache-2.0
// The account's one rule: the seconds that a sample speaks for are divided among the lines, each second once.
//
// Precedence, first claim first; what a claim takes is gone for those after it:
//   1 fixed    what the phase of the run says: unused, startup, idle-held, checkpoint, evaluation, logging, unexplained
//   stalls 2 wait     of the rest, the part in which no kernel ran                       -> `wait_line` 3 losses   of
//   the busy part, in the order given: throttling, imbalance (spinning), communication, unsaturated (empty SMs) 4
//   useful   what is left
// Utilisation that was not read leaves the rest on `unexplained`; time without a sample is `unmeasured` and is not
// here.
#pragma once

#include <vector>

#include "model/ids.h"

namespace sawbill::ledger {

struct Share {
  model::Line line = model::Line::kUseful;
  double amount = 0;  // fixed: seconds; losses: share of the busy part that is still there, 0-1
};

struct Interval {
  double seconds = 0;
  double busy = 0;           // share of the whole interval in which a kernel ran, 0-1; NaN = not known
  std::vector<Share> fixed;  // seconds; more than the interval holds is cut, first come first served
  model::Line wait_line = model::Line::kUnexplained;
  std::vector<Share> losses;
};

/// Adds the interval's seconds to `lines`: never negative, and they add up to `seconds`.
void Apportion(const Interval& i, model::LineSeconds* lines);

double Sum(const model::LineSeconds& lines);

}  // namespace sawbill::ledger
