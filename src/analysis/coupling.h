// SPDX-License-Identifier: Apache-2.0
// Which cards go step by step together, as their waves tell. Ranks of one job begin and end each step together, however
// they spend it: where one waits while another works, both show it in the same samples. Jobs that merely run at the
// same time do not. That user, program and start are the same says nothing: a sweep has all that too.
#pragma once

#include <vector>

#include "analysis/prepare.h"
#include "jobs/runs.h"

namespace sawbill::analysis {

enum class Together : unsigned char {
  kUntold,  // both steady, or too few samples: ranks in step and strangers look the same
  kYes,     // what the two do changes in the same samples
  kNo       // it changes, and not together
};
/// In `range`, by memory activity, power and utilisation, whichever shows it. Two cards of which only one varies are
/// kNo as a pair: the slowest rank of a job never waits and looks like that as well, so a pair alone proves no
/// strangers.
Together WorkTogether(const PreparedCard& a, const PreparedCard& b, model::TimeRange range);

/// All pairs of `cards`, and the groups that they form.
struct Coupling {
  std::vector<std::vector<Together>> pair;  // by position in `cards`, symmetric
  std::vector<std::vector<size_t>> groups;  // positions of cards that go together, two or more each, largest first
  bool Seen(size_t cards) const;            // at least half of the cards go together
  bool AllApart(const std::vector<size_t>& positions) const;  // every pair of them is kNo
};
Coupling FindCoupling(const std::vector<PreparedCard>& cards, const std::vector<size_t>& which, model::TimeRange range);

/// Parts of `run` whose processes are seen to be jobs of their own: one that left while the others went on, a wait that
/// nobody shares, groups that go together only among themselves. What a job name or one process holds together stays
/// together, and so does what the waves cannot tell apart.
std::vector<jobs::Run> SplitUncoupled(const model::Recording& r, const std::vector<PreparedCard>& cards, jobs::Run run);

}  // namespace sawbill::analysis
