// SPDX-License-Identifier: Apache-2.0
// Several fixes of one run: what each saves on top of those before it. Savings by themselves are never added.
//
//   time = (R - stalls removed) x (1 - f1) x (1 - f2) ...
// Seconds in which a run stands still are different seconds for each cause, so stalls add up among themselves. What
// makes the steps themselves faster (a larger batch, a straggler mended) is a share of whatever time is left: of a run
// that is half as long it saves half as much. The product does not depend on the order; the order only tells whose
// share is whose, and is greedy: the fix first that saves most on top of those before it.
#include <algorithm>
#include <map>
#include <vector>

#include "analysis/merge.h"

namespace sawbill::analysis {
namespace {

using model::FindingId;

bool ComputeSide(FindingId id) {
  return id == FindingId::kThrottling || id == FindingId::kCommunication || id == FindingId::kUnsaturated ||
         id == FindingId::kKernelInefficiency || id == FindingId::kSharedGpu;
}

void SettlePair(const Finding& g, Finding* f) {
  // While batches come late, a faster card only waits longer.
  if (ComputeSide(f->id) && g.id == FindingId::kDataLoading) {
    f->saving->alone_s = std::max(0.0, f->saving->expected_s - g.wasted_s);
  }
  // The fall is made of waits that another finding already brings back: on top of it nothing is left.
  if (f->id == FindingId::kDegradation && g.id != f->id && g.saving &&
      (g.id == FindingId::kDataLoading || g.id == FindingId::kUnsaturated || g.id == FindingId::kThrottling)) {
    f->saving->expected_s = f->saving->low_s = f->saving->high_s = 0;
  }
}

/// Puts the fixes of one run on top of each other.
void Compose(std::vector<SavingEstimate*> open) {
  double stalls_s = 0, left = 1;
  const auto factor = [&](const SavingEstimate& s) {
    const double moving = s.speedup && s.of_s > 0 ? std::max(0.0, 1 - stalls_s / s.of_s) : 1;
    return left * moving;
  };
  while (!open.empty()) {
    const auto next = std::max_element(open.begin(), open.end(), [&](const auto* a, const auto* b) {
      return factor(*a) * a->expected_s < factor(*b) * b->expected_s;
    });
    SavingEstimate& s = **next;
    const double share = factor(s), alone_s = s.expected_s;
    s.low_s *= share;
    s.expected_s *= share;
    s.high_s *= share;
    if (s.speedup && s.of_s > 0) {
      left *= std::clamp(1 - alone_s / s.of_s, 0.0, 1.0);
    } else {
      stalls_s += alone_s;
    }
    open.erase(next);
  }
}

}  // namespace

void SettleSavings(std::vector<Finding>* findings) {
  std::map<int, std::vector<SavingEstimate*>> by_run;
  for (Finding& f : *findings) {
    if (!f.saving) continue;
    f.saving->alone_s = f.saving->expected_s;
    for (const Finding& g : *findings) {
      if (g.run == f.run && f.run >= 0) SettlePair(g, &f);
    }
    if (f.run >= 0) by_run[f.run].push_back(&*f.saving);
  }
  for (auto& [run, savings] : by_run) Compose(std::move(savings));
}

}  // namespace sawbill::analysis
