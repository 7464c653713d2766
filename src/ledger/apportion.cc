// SPDX-License-Identifier: Apache-2.0
#include "ledger/apportion.h"

#include <algorithm>
#include <cmath>

namespace sawbill::ledger {

using model::Index;
using model::Line;

void Apportion(const Interval& i, model::LineSeconds* lines) {
  double rest = std::max(0.0, i.seconds);
  for (const Share& f : i.fixed) {
    const double x = std::clamp(f.amount, 0.0, rest);
    (*lines)[Index(f.line)] += x;
    rest -= x;
  }
  if (rest <= 0) return;
  if (std::isnan(i.busy)) {
    (*lines)[Index(Line::kUnexplained)] += rest;
    return;
  }
  // Kernels do not run in the fixed part, so the busy seconds of the whole interval lie in the rest.
  double busy = std::clamp(i.busy, 0.0, 1.0) * i.seconds;
  busy = std::min(busy, rest);
  (*lines)[Index(i.wait_line)] += rest - busy;
  for (const Share& l : i.losses) {
    const double x = std::clamp(l.amount, 0.0, 1.0) * busy;
    (*lines)[Index(l.line)] += x;
    busy -= x;
  }
  (*lines)[Index(Line::kUseful)] += busy;
}

double Sum(const model::LineSeconds& lines) {
  double sum = 0;
  for (const double s : lines) sum += s;
  return sum;
}

}  // namespace sawbill::ledger
