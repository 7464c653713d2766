// SPDX-License-Identifier: Apache-2.0
// Who takes the cores that a loader needs. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "host/process_tree.h"

namespace sawbill::host {

struct Hog {
  int at = -1;       // its place in the snapshot: the process that stands for the rest
  double ticks = 0;  // of its tree, since the look before
};
/// Trees without a card that spent at least `least_ticks`, the greatest first. `self` is none.
std::vector<Hog> FindHogs(const Snapshot& now, const std::vector<Spent>& spent, double least_ticks, int64_t self);

}  // namespace sawbill::host
