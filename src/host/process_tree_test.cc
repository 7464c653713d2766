// SPDX-License-Identifier: Apache-2.0
#include "host/process_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/numbers.h"

namespace sawbill::host {
namespace {

Process Make(int64_t pid, int64_t parent, uint64_t start, uint64_t ticks) {
  Process p;
  p.stat.pid = pid;
  p.stat.parent = parent;
  p.stat.group = p.stat.session = pid;
  p.stat.start_ticks = start;
  p.stat.cpu_ticks = ticks;
  return p;
}

TEST(ProcessTree, ACircleOfParentsEnds) {
  Snapshot now;
  now.processes = {Make(5, 6, 1, 0), Make(6, 7, 1, 0), Make(7, 5, 1, 0), Make(8, 8, 1, 0)};
  AssignOwners({}, &now);
  for (const Process& p : now.processes) EXPECT_EQ(p.owner, -1);
}

TEST(ProcessTree, OrphansOfAGroupWithTwoHoldersAreNotGuessed) {
  Snapshot now;
  now.processes = {Make(1, 0, 1, 0), Make(10, 1, 2, 0), Make(11, 1, 2, 0), Make(12, 1, 3, 0)};
  for (size_t i : {1, 2, 3}) now.processes[i].stat.group = now.processes[i].stat.session = 10;
  now.processes[1].holder = true;
  AssignOwners({}, &now);
  EXPECT_EQ(now.processes[3].owner, 1) << "one holder: its own";
  now.processes[2].holder = true;
  AssignOwners({}, &now);
  EXPECT_EQ(now.processes[3].owner, -1);
}

/// A world of forks, work and deaths, in which every tick is known: what Differences says must never be negative, and
/// never more than was worked (children that were waited for included).
TEST(ProcessTree, ACircleOfParentsThatIsGoneEnds) {
  Snapshot before;
  before.processes = {Make(5, 6, 1, 0), Make(6, 7, 1, 0), Make(7, 5, 1, 0)};
  AssignOwners({}, &before);
  Snapshot now;
  now.processes = {Make(9, 0, 1, 0)};
  AssignOwners(before, &now);
  EXPECT_EQ(Differences(before, now).size(), 1U);
}

TEST(ProcessTree, AnOrphanThatInitReapsIsNotCountedTwice) {
  // 1 - 2 - 3 - 4: 3 dies, 4 goes to 1, dies there and is waited for. Its ticks were told before.
  Snapshot before;
  for (int64_t pid = 1; pid <= 4; ++pid) before.processes.push_back(Make(pid, pid - 1, static_cast<uint64_t>(pid), 0));
  before.processes[0].holder = true;
  before.processes[3].stat.cpu_ticks = 37;
  AssignOwners({}, &before);
  Snapshot now;
  now.processes = {before.processes[0], before.processes[1]};
  now.processes[0].stat.reaped_ticks = 37;
  AssignOwners(before, &now);
  for (const Spent& s : Differences(before, now)) EXPECT_EQ(s.ticks, 0);
}

RC_GTEST_PROP(ProcessTree, NeverNegativeAndNeverMoreThanWasWorked, ()) {
  Snapshot world;
  world.processes.push_back(Make(1, 0, 1, 0));
  world.processes[0].holder = true;
  int64_t next_pid = 2;
  uint64_t clock = 2;
  Snapshot before;
  for (int look = 0; look < 6; ++look) {
    double worked = 0;
    const int events = *rc::gen::inRange(0, 30);
    for (int e = 0; e < events; ++e) {
      const auto at = static_cast<size_t>(*rc::gen::inRange(0, static_cast<int>(world.processes.size())));
      const int what = *rc::gen::inRange(0, 4);
      ++clock;
      if (what == 0) {
        world.processes.push_back(Make(next_pid++, world.processes[at].stat.pid, clock, 0));
      } else if (what == 1 && world.processes[at].stat.pid != 1) {
        const ProcessStat dead = world.processes[at].stat;
        const bool waited = *rc::gen::arbitrary<bool>();
        world.processes.erase(world.processes.begin() + static_cast<std::ptrdiff_t>(at));
        for (Process& p : world.processes) {
          if (p.stat.pid == dead.parent && waited) p.stat.reaped_ticks += dead.cpu_ticks + dead.reaped_ticks;
          if (p.stat.parent == dead.pid) p.stat.parent = 1;
        }
      } else {
        const auto ticks = static_cast<uint64_t>(*rc::gen::inRange(0, 500));
        world.processes[at].stat.cpu_ticks += ticks;
        worked += static_cast<double>(ticks);
      }
    }
    Snapshot now = world;
    AssignOwners(before, &now);
    double told = 0;
    for (const Spent& s : Differences(before, now)) {
      if (IsMissing(s.ticks)) continue;
      RC_ASSERT(s.ticks >= s.alone_ticks);
      RC_ASSERT(s.alone_ticks >= 0);
      told += s.ticks;
    }
    if (look > 0) RC_ASSERT(told <= worked + 1e-6);
    before = now;
  }
}

}  // namespace
}  // namespace sawbill::host
