// SPDX-License-Identifier: Apache-2.0
#include "host/hogs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/numbers.h"

namespace sawbill::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class HogsTest : public testing::Test {
 protected:
  HogsTest() { Add(1, 0, 1, "systemd", 0); }
  /// Ascending pids. `group` 0 = the session's.
  void Add(int64_t pid, int64_t parent, int64_t session, const char* comm, double ticks, int64_t group = 0) {
    Process p;
    p.stat.pid = pid;
    p.stat.parent = parent;
    p.stat.session = session;
    p.stat.group = group == 0 ? session : group;
    p.stat.start_ticks = static_cast<uint64_t>(pid);
    p.stat.comm = comm;
    now_.processes.push_back(p);
    spent_.push_back({ticks, ticks, kMissing, kMissing});
  }
  /// (pid, ticks) of those with at least 100.
  std::vector<std::pair<int64_t, double>> Find(int64_t self = 0) {
    AssignOwners({}, &now_);
    std::vector<std::pair<int64_t, double>> found;
    for (const Hog& h : FindHogs(now_, spent_, 100, self)) {
      found.emplace_back(now_.processes[static_cast<size_t>(h.at)].stat.pid, h.ticks);
    }
    return found;
  }

  Snapshot now_;
  std::vector<Spent> spent_;
};

TEST_F(HogsTest, ABuildIsOneThoughEachCompilerHasAGroupOfItsOwn) {
  Add(10, 1, 10, "sshd", 0);
  Add(20, 10, 20, "bash", 1);
  Add(21, 20, 20, "cmake", 0, 21);
  Add(22, 21, 20, "ninja", 2, 21);
  for (int i = 0; i < 8; ++i) Add(30 + i, 22, 20, "cc1plus", 95, 30 + i);
  EXPECT_THAT(Find(), ElementsAre(Pair(22, 762)));
}

TEST_F(HogsTest, JobsOfAShellStandApart) {
  Add(20, 1, 20, "bash", 1);
  Add(21, 20, 20, "prep", 400, 21);
  Add(22, 20, 20, "zip", 300, 22);
  Add(23, 20, 20, "vim", 1, 23);
  EXPECT_THAT(Find(), ElementsAre(Pair(21, 400), Pair(22, 300)));
}

TEST_F(HogsTest, ManySmallJobsOfAScriptAreTheScripts) {
  Add(20, 1, 20, "bash", 1);
  for (int i = 0; i < 8; ++i) Add(30 + i, 20, 20, "prep", 100);
  EXPECT_THAT(Find(), ElementsAre(Pair(20, 801)));
}

TEST_F(HogsTest, WorkersLeftBehindAreTakenTogether) {
  for (int i = 0; i < 16; ++i) Add(30 + i, 1, 20, "python", 90 + i, 25);
  EXPECT_THAT(Find(), ElementsAre(Pair(45, 1560)));
}

TEST_F(HogsTest, SessionsAreNotAddedUpToInit) {
  for (int i = 0; i < 50; ++i) Add(30 + i, 1, 30 + i, "daemon", 50);
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(HogsTest, NeitherTheRecorderNorTheKernelNorCardTrees) {
  Add(20, 1, 20, "sawbill", 500);
  Add(21, 0, 0, "kswapd0", 500);
  now_.processes.back().stat.flags = 0x00200000;
  Add(22, 1, 22, "python", 500);
  now_.processes.back().holder = true;
  Add(23, 22, 22, "pt_data_worker", 500);
  EXPECT_THAT(Find(20), IsEmpty());
}

TEST_F(HogsTest, MissingNumbersAreNoLoad) {
  Add(20, 1, 20, "new", kMissing);
  EXPECT_THAT(Find(), IsEmpty());
}

}  // namespace
}  // namespace sawbill::host
