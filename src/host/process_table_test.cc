// SPDX-License-Identifier: Apache-2.0
#include "host/process_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/numbers.h"
#include "host/test_machine.h"

namespace sawbill::host {
namespace {

using model::ProcessMetric;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kWallMs = 1'700'009'000'000;

double Value(const ProcessRow& row, ProcessMetric m) { return row.values[static_cast<size_t>(m)]; }

class ProcessTableTest : public testing::Test {
 protected:
  ProcessTableTest() : table_(&machine_, {}) {}
  /// A trainer of one card, pid 100, and `n` workers 101, 102, ... of it.
  void AddTrainer(int n, double main_s, double each_s) {
    machine_.Add({.pid = 100, .session = 50, .cpu_s = main_s});
    for (int i = 1; i <= n; ++i) {
      machine_.Add({.pid = 100 + i, .parent = 100, .group = 100, .session = 50, .cpu_s = each_s, .start = 1100});
    }
  }
  std::vector<ProcessRow> Read(int s, const std::vector<model::CardHolder>& holders = {{"0", 100, 900, 80}}) {
    return table_.Read(s * kSecond, kWallMs + s * 1000, holders);
  }
  static void ExpectNameless(const ProcessRow& row) {
    EXPECT_EQ(row.name, "");
    EXPECT_EQ(row.user, "");
    EXPECT_EQ(row.identity.job, "");
    for (const ProcessMetric m : {ProcessMetric::kCpuCores, ProcessMetric::kStarted, ProcessMetric::kWorkers,
                                  ProcessMetric::kReadMbS, ProcessMetric::kCoresAllowed}) {
      EXPECT_TRUE(IsMissing(Value(row, m)));
    }
  }

  FakeMachine machine_;
  ProcessTable table_;
};

// Trees.

TEST_F(ProcessTableTest, WorkersCountThoughTheMainProcessIsIdle) {
  AddTrainer(8, 1.0, 5.0);
  Read(0);
  AddTrainer(8, 1.3, 14.5);  // ten seconds later: 3 % and eight times 95 %
  const auto rows = Read(10);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].name, "train.py");
  EXPECT_EQ(rows[0].gpu, "0");
  EXPECT_EQ(Value(rows[0], ProcessMetric::kWorkers), 8);
  EXPECT_NEAR(Value(rows[0], ProcessMetric::kMainCpuCores), 0.03, 1e-9);
  EXPECT_NEAR(Value(rows[0], ProcessMetric::kCpuCores), 0.03 + 8 * 0.95, 1e-9);
  EXPECT_EQ(Value(rows[0], ProcessMetric::kGpuMemMb), 900);
  EXPECT_EQ(Value(rows[0], ProcessMetric::kSmUtil), 80);
}

TEST_F(ProcessTableTest, RatesAreMissingAtFirstSight) {
  AddTrainer(1, 1, 1);
  const auto rows = Read(0);
  EXPECT_TRUE(IsMissing(Value(rows[0], ProcessMetric::kCpuCores)));
  EXPECT_TRUE(IsMissing(Value(rows[0], ProcessMetric::kMainCpuCores)));
  EXPECT_EQ(Value(rows[0], ProcessMetric::kStarted), 1'700'000'010) << "boot and 1000 ticks";
}

TEST_F(ProcessTableTest, AProcessOnTwoCardsHasARowForEach) {
  AddTrainer(0, 1, 0);
  Read(0, {{"0", 100, 1, 1}, {"1", 100, 2, 2}});
  AddTrainer(0, 6, 0);
  const auto rows = Read(10, {{"0", 100, 1, 1}, {"1", 100, 2, 2}});
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[1].gpu, "1");
  EXPECT_EQ(Value(rows[1], ProcessMetric::kGpuMemMb), 2);
  for (const auto& row : rows) EXPECT_EQ(Value(row, ProcessMetric::kCpuCores), 0.5);
}

TEST_F(ProcessTableTest, ATreeEndsWhereAnotherHolderBegins) {
  machine_.Add({.pid = 100});
  machine_.Add({.pid = 101, .parent = 100});
  machine_.Add({.pid = 102, .parent = 101, .comm = "pt_data_worker"});
  const std::vector<model::CardHolder> holders = {{"0", 100, 1, 1}, {"1", 101, 1, 1}};
  Read(0, holders);
  machine_.Add({.pid = 100, .cpu_s = 1});
  machine_.Add({.pid = 101, .parent = 100, .cpu_s = 20});
  machine_.Add({.pid = 102, .parent = 101, .comm = "pt_data_worker", .cpu_s = 10});
  const auto rows = Read(10, holders);
  EXPECT_NEAR(Value(rows[0], ProcessMetric::kCpuCores), 0.1, 1e-9);
  EXPECT_EQ(Value(rows[0], ProcessMetric::kWorkers), 0);
  EXPECT_NEAR(Value(rows[1], ProcessMetric::kCpuCores), 3, 1e-9);
  EXPECT_EQ(Value(rows[1], ProcessMetric::kWorkers), 1);
}

TEST_F(ProcessTableTest, ThePidsDecideTheCardNotAnybodysLabels) {
  // Sixteen replicas of two shared cards, all of them on card 0.
  std::vector<model::CardHolder> holders;
  for (int i = 0; i < 16; ++i) {
    machine_.Add({.pid = 200 + i, .group_text = "0::/kubepods/pod" + std::to_string(i) + "\n"});
    holders.push_back({"0", 200 + i, 100, 5});
  }
  const auto rows = Read(0, holders);
  ASSERT_THAT(rows, SizeIs(16));
  for (const auto& row : rows) EXPECT_EQ(row.gpu, "0");
}

TEST_F(ProcessTableTest, ChildrenThatEndedAreCountedOnce) {
  AddTrainer(2, 1, 100);
  Read(0);
  // Worker 102 worked one more second, ended and was waited for: 101 s arrive in the parent's account.
  machine_.End(102);
  machine_.Add({.pid = 100, .session = 50, .cpu_s = 1, .reaped_s = 101});
  EXPECT_NEAR(Value(Read(10)[0], ProcessMetric::kCpuCores), 0.1, 1e-9);
}

TEST_F(ProcessTableTest, ChildrenThatCameAndWentBetweenTwoLooksCount) {
  AddTrainer(0, 1, 0);
  Read(0);
  machine_.Add({.pid = 100, .session = 50, .cpu_s = 1, .reaped_s = 20});
  EXPECT_NEAR(Value(Read(10)[0], ProcessMetric::kCpuCores), 2, 1e-9);
}

TEST_F(ProcessTableTest, AChildThatNobodyWaitsForDoesNotMakeARateNegative) {
  AddTrainer(2, 1, 100);
  Read(0);
  machine_.End(101);
  machine_.End(102);
  EXPECT_EQ(Value(Read(10)[0], ProcessMetric::kCpuCores), 0);
}

TEST_F(ProcessTableTest, ARanksHoursDoNotFallOnItsLauncher) {
  machine_.Add({.pid = 100});
  machine_.Add({.pid = 101, .parent = 100, .cpu_s = 36000});
  Read(0, {{"0", 100, 1, 1}, {"1", 101, 1, 1}});
  machine_.End(101);
  machine_.Add({.pid = 100, .reaped_s = 36001});
  EXPECT_NEAR(Value(Read(10)[0], ProcessMetric::kCpuCores), 0.1, 1e-9);
}

TEST_F(ProcessTableTest, AWorkerBornSinceTheLastLookCountsWhole) {
  AddTrainer(0, 1, 0);
  Read(0);
  machine_.Add({.pid = 101, .parent = 100, .group = 100, .session = 50, .cpu_s = 4, .start = 2000});
  const auto rows = Read(10);
  EXPECT_NEAR(Value(rows[0], ProcessMetric::kCpuCores), 0.4, 1e-9);
}

TEST_F(ProcessTableTest, ANumberThatIsUsedAgainIsAnotherProcess) {
  AddTrainer(1, 1, 500);
  Read(0);
  machine_.Add({.pid = 101, .parent = 100, .group = 100, .session = 50, .cpu_s = 1, .start = 3000});
  EXPECT_NEAR(Value(Read(10)[0], ProcessMetric::kCpuCores), 0.1, 1e-9);
}

TEST_F(ProcessTableTest, AChildWhoseParentDiedStaysInItsTree) {
  machine_.Add({.pid = 100, .session = 50});
  machine_.Add({.pid = 110, .parent = 100, .comm = "sh", .args = {"sh", "-c", "x"}, .group = 100, .session = 50});
  machine_.Add({.pid = 111, .parent = 110, .comm = "convert", .args = {"convert"}, .group = 111, .session = 50});
  Read(0);
  machine_.End(110);
  machine_.Add(
      {.pid = 111, .parent = 1, .comm = "convert", .args = {"convert"}, .group = 111, .session = 50, .cpu_s = 20});
  EXPECT_NEAR(Value(Read(10)[0], ProcessMetric::kCpuCores), 2, 1e-9);
}

TEST_F(ProcessTableTest, AnOrphanNeverSeenBeforeBelongsToTheOneHolderOfItsGroup) {
  machine_.Add({.pid = 100, .session = 50});
  machine_.Add({.pid = 111, .parent = 1, .comm = "convert", .args = {"convert"}, .group = 100, .session = 50});
  Read(0);
  machine_.Add(
      {.pid = 111, .parent = 1, .comm = "convert", .args = {"convert"}, .group = 100, .session = 50, .cpu_s = 20});
  const auto rows = Read(10);
  ASSERT_THAT(rows, SizeIs(1)) << "and is no hog beside it";
  EXPECT_NEAR(Value(rows[0], ProcessMetric::kCpuCores), 2, 1e-9);
}

TEST_F(ProcessTableTest, WhatAScriptStartsBesideTheTrainerIsNotItsTree) {
  const auto put = [&](double s) {
    machine_.Add({.pid = 90, .comm = "bash", .args = {"bash", "run.sh"}, .session = 50});
    machine_.Add({.pid = 100, .parent = 90, .group = 90, .session = 50});
    machine_.Add({.pid = 120, .parent = 90, .comm = "prep", .args = {"prep"}, .group = 90, .session = 50, .cpu_s = s});
  };
  put(0);
  Read(0);
  put(20);
  const auto rows = Read(10);
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(Value(rows[0], ProcessMetric::kCpuCores), 0);
  EXPECT_EQ(rows[1].gpu, "");
  EXPECT_EQ(rows[1].name, "prep") << "not the script that waits for it";
}

TEST_F(ProcessTableTest, AScriptWhoseTerminalIsGoneIsNotItsTrainersChild) {
  const auto put = [&](double s) {
    machine_.Add({.pid = 90, .comm = "bash", .args = {"bash", "run.sh"}, .group = 90, .session = 50, .cpu_s = s});
    machine_.Add({.pid = 100, .parent = 90, .group = 90, .session = 50});
  };
  put(0);
  Read(0);
  put(5);
  EXPECT_EQ(Value(Read(10)[0], ProcessMetric::kCpuCores), 0);
}

// Bytes.

TEST_F(ProcessTableTest, BytesOfTheTreeInMegabytes) {
  machine_.Add({.pid = 100, .read_bytes = 0});
  machine_.Add({.pid = 101, .parent = 100, .read_bytes = 1'000'000, .written_bytes = 0});
  Read(0);
  machine_.Add({.pid = 100, .read_bytes = 10'000'000});
  machine_.Add({.pid = 101, .parent = 100, .read_bytes = 41'000'000, .written_bytes = 5'000'000});
  const auto rows = Read(10);
  EXPECT_NEAR(Value(rows[0], ProcessMetric::kReadMbS), 5, 1e-9);
  EXPECT_NEAR(Value(rows[0], ProcessMetric::kWriteMbS), 0.5, 1e-9);
}

TEST_F(ProcessTableTest, BytesOfAChildThatEndedAreNotCountedAgain) {
  machine_.Add({.pid = 100, .read_bytes = 0});
  machine_.Add({.pid = 101, .parent = 100, .cpu_s = 3, .read_bytes = 900'000'000});
  Read(0);
  machine_.End(101);
  machine_.Add({.pid = 100, .reaped_s = 3.5, .read_bytes = 910'000'000});
  EXPECT_NEAR(Value(Read(10)[0], ProcessMetric::kReadMbS), 1, 1e-9);
}

TEST_F(ProcessTableTest, UnreadableBytesAreMissingNotZero) {
  AddTrainer(1, 0, 0);
  Read(0);
  const auto rows = Read(10);
  EXPECT_TRUE(IsMissing(Value(rows[0], ProcessMetric::kReadMbS)));
  EXPECT_TRUE(IsMissing(Value(rows[0], ProcessMetric::kWriteMbS)));
  EXPECT_EQ(Value(rows[0], ProcessMetric::kCpuCores), 0) << "the rest is there";
}

// Workers and cores.

TEST_F(ProcessTableTest, WhenSomeCallThemselvesWorkersTheOthersAreNone) {
  AddTrainer(4, 0, 0);
  for (int i = 5; i <= 7; ++i) machine_.Add({.pid = 100 + i, .parent = 100, .comm = "pt_data_worker"});
  EXPECT_EQ(Value(Read(0)[0], ProcessMetric::kWorkers), 3);
}

TEST_F(ProcessTableTest, ADefunctWorkerIsNoWorker) {
  AddTrainer(2, 0, 0);
  machine_.Add({.pid = 102, .parent = 100, .state = 'Z'});
  EXPECT_EQ(Value(Read(0)[0], ProcessMetric::kWorkers), 1);
}

TEST_F(ProcessTableTest, AChildThatTurnsIntoAnotherProgramIsNoWorker) {
  AddTrainer(1, 0, 0);
  EXPECT_EQ(Value(Read(0)[0], ProcessMetric::kWorkers), 1) << "just forked: it still shows its parent's command line";
  machine_.Add({.pid = 101, .parent = 100, .args = {"python", "-m", "http.server"}, .start = 1100});
  EXPECT_EQ(Value(Read(10)[0], ProcessMetric::kWorkers), 0);
}

TEST_F(ProcessTableTest, CoresByOwnAffinityAndQuota) {
  machine_.Put("/proc/self/mountinfo", "31 23 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  machine_.Put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  machine_.Add({.pid = 100, .cpus = "0-7", .group_text = "0::/a\n"});
  machine_.Add({.pid = 200, .cpus = "0-7", .group_text = "0::/b\n"});
  const auto rows = Read(0, {{"0", 100, 1, 1}, {"1", 200, 1, 1}});
  EXPECT_EQ(Value(rows[0], ProcessMetric::kCoresAllowed), 1.5);
  EXPECT_EQ(Value(rows[1], ProcessMetric::kCoresAllowed), 8);
}

TEST_F(ProcessTableTest, WorkersPinnedToOneCoreHaveOneCore) {
  machine_.Add({.pid = 100});
  for (int i = 1; i <= 8; ++i) machine_.Add({.pid = 100 + i, .parent = 100, .cpus = "0"});
  EXPECT_EQ(Value(Read(0)[0], ProcessMetric::kCoresAllowed), 1);
}

TEST_F(ProcessTableTest, WorkersPinnedToOneCoreEachHaveThoseTogether) {
  machine_.Add({.pid = 100});
  for (int i = 1; i <= 8; ++i) machine_.Add({.pid = 100 + i, .parent = 100, .cpus = std::to_string(i)});
  EXPECT_EQ(Value(Read(0)[0], ProcessMetric::kCoresAllowed), 8);
}

TEST_F(ProcessTableTest, ARankThatMultiprocessingStartedIsCalledLikeItsProgram) {
  machine_.Add({.pid = 90, .args = {"python", "main_ddp.py"}});
  machine_.Add({.pid = 100, .parent = 90, .args = {"python", "-c", "from multiprocessing.spawn import spawn_main"}});
  EXPECT_EQ(Read(0)[0].name, "main_ddp.py");
}

// Whose number is it?

TEST_F(ProcessTableTest, AHostsNumberThatIsNotHereHasNoName) {
  machine_.SetFirstNamespace(false);
  const auto rows = Read(0, {{"0", 114687, 900, 80}});
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].pid, 114687);
  EXPECT_EQ(Value(rows[0], ProcessMetric::kGpuMemMb), 900);
  ExpectNameless(rows[0]);
}

TEST_F(ProcessTableTest, AHostsNumberThatIsSomebodyElseHereHasNoName) {
  machine_.SetFirstNamespace(false);
  machine_.OpenFile(1, 0, "/dev/null");
  ExpectNameless(Read(0, {{"0", 1, 900, 80}})[0]);
  machine_.Add({.pid = 57, .comm = "logger", .args = {"logger"}});  // whose open files cannot be read
  ExpectNameless(Read(10, {{"0", 57, 900, 80}})[0]);
}

TEST_F(ProcessTableTest, AnOpenDeviceProvesTheNumber) {
  machine_.SetFirstNamespace(false);
  AddTrainer(2, 0, 0);
  machine_.OpenFile(100, 3, "/dev/nvidia0");
  const auto rows = Read(0);
  EXPECT_EQ(rows[0].name, "train.py");
  EXPECT_EQ(Value(rows[0], ProcessMetric::kWorkers), 2);
}

TEST_F(ProcessTableTest, WhereOneNumberIsProvenAndNoneIsForeignTheDriverTranslates) {
  machine_.SetFirstNamespace(false);
  AddTrainer(0, 0, 0);
  machine_.Add({.pid = 300, .args = {"python", "other.py"}, .uid = 1234567});  // another user's: unreadable
  machine_.OpenFile(100, 3, "/dev/nvidiactl");
  EXPECT_EQ(Read(0, {{"0", 100, 1, 1}, {"1", 300, 1, 1}})[1].name, "other.py");
  const auto rows = Read(10, {{"0", 100, 1, 1}, {"1", 300, 1, 1}, {"1", 99999, 1, 1}});
  EXPECT_EQ(rows[1].name, "other.py") << "what was certain stays";
  ExpectNameless(rows[2]);
}

TEST_F(ProcessTableTest, OneForeignNumberMakesTheUnreadableOnesDoubtful) {
  machine_.SetFirstNamespace(false);
  AddTrainer(0, 0, 0);
  machine_.Add({.pid = 300, .args = {"python", "other.py"}});
  machine_.OpenFile(100, 3, "/dev/nvidiactl");
  const auto rows = Read(0, {{"0", 100, 1, 1}, {"1", 300, 1, 1}, {"1", 99999, 1, 1}});
  EXPECT_EQ(rows[0].name, "train.py");
  ExpectNameless(rows[1]);
}

TEST_F(ProcessTableTest, AnOuterNamespacesProcIsNotTrusted) {
  machine_.Put("/proc/self/status", "NSpid:\t4242\t7\n");
  AddTrainer(0, 0, 0);
  ExpectNameless(Read(0)[0]);
}

TEST_F(ProcessTableTest, HiddenProcessesHaveRowsWithoutNames) {
  AddTrainer(0, 0, 0);
  machine_.Remove("/proc/100/stat");  // hidepid=1: the folder is seen, its files are not
  ExpectNameless(Read(0)[0]);
  ExpectNameless(Read(10, {{"0", 777, 900, 80}})[0]);  // hidepid=2
}

TEST_F(ProcessTableTest, MemoryOfADeadProcessIsAnOrphanAlsoWhenItsNumberIsUsedAgain) {
  AddTrainer(0, 0, 0);
  EXPECT_EQ(Read(0)[0].name, "train.py");
  machine_.End(100);
  ExpectNameless(Read(10)[0]);
  machine_.Add({.pid = 100, .args = {"python", "next_job.py"}, .start = 9000});
  ExpectNameless(Read(20)[0]);
  machine_.OpenFile(100, 3, "/dev/nvidia0");
  EXPECT_EQ(Read(30)[0].name, "next_job.py") << "now it holds the card itself";
}

TEST_F(ProcessTableTest, AZombieThatHoldsMemoryIsCalledDefunct) {
  machine_.Add({.pid = 100, .state = 'Z', .uid = 0});
  const auto rows = Read(0, {{"0", 100, 946, kMissing}});
  EXPECT_EQ(rows[0].name, "(defunct)");
  EXPECT_EQ(Value(rows[0], ProcessMetric::kGpuMemMb), 946);
  EXPECT_TRUE(IsMissing(Value(rows[0], ProcessMetric::kWorkers)));
}

// Hogs.

TEST_F(ProcessTableTest, WhatTakesTheCoresHasARowWithoutACard) {
  const auto put = [&](double s) {
    machine_.Add({.pid = 300, .comm = "make", .args = {"make", "-j8"}, .session = 60, .uid = 0});
    for (int i = 1; i <= 4; ++i) {
      machine_.Add({.pid = 300 + i,
                    .parent = 300,
                    .comm = "cc1plus",
                    .args = {"cc1plus"},
                    .group = 300,
                    .session = 60,
                    .cpu_s = s});
    }
  };
  put(1);
  EXPECT_THAT(Read(0, {}), IsEmpty());
  put(9);
  const auto rows = Read(10, {});
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].gpu, "");
  EXPECT_EQ(rows[0].pid, 300);
  EXPECT_EQ(rows[0].name, "make");
  EXPECT_NEAR(Value(rows[0], ProcessMetric::kCpuCores), 3.2, 1e-9);
  EXPECT_TRUE(IsMissing(Value(rows[0], ProcessMetric::kGpuMemMb)));
}

TEST_F(ProcessTableTest, NeitherCardTreesNorKernelThreadsNorTheRecorderAreHogs) {
  const auto put = [&](double s) {
    AddTrainer(4, s, s);
    machine_.Add({.pid = 7, .parent = 2, .comm = "kswapd0", .args = {}, .cpu_s = s, .flags = 0x00200040});
    machine_.Add({.pid = 4242, .comm = "sawbill", .args = {"sawbill", "record"}, .cpu_s = s});
  };
  put(0);
  Read(0);
  put(90);
  EXPECT_THAT(Read(10), SizeIs(1));
}

TEST_F(ProcessTableTest, TheGreatestHogsAndNoMore) {
  const auto put = [&](double scale) {
    for (int i = 0; i < 9; ++i) machine_.Add({.pid = 500 + i, .args = {"burn"}, .cpu_s = scale * (i + 5)});
  };
  put(0);
  Read(0, {});
  put(2);
  const auto rows = Read(10, {});
  ASSERT_THAT(rows, SizeIs(5));
  EXPECT_EQ(rows[0].pid, 508);
  EXPECT_EQ(rows[4].pid, 504);
}

// Races.

/// Everything of some processes is gone after so many reads.
class Vanishing : public sys::ProcFiles {
 public:
  Vanishing(FakeMachine* machine, int64_t after) : machine_(machine), left_(after) {}
  bool Read(const std::string& path, std::string* text) override {
    if (Gone(path)) {
      text->clear();
      return false;
    }
    return machine_->Read(path, text);
  }
  std::vector<std::string> List(const std::string& dir) override {
    return Gone(dir) ? std::vector<std::string>() : machine_->List(dir);
  }
  std::optional<std::string> ReadLink(const std::string& path) override {
    return Gone(path) ? std::nullopt : machine_->ReadLink(path);
  }
  std::optional<uint32_t> Owner(const std::string& path) override {
    return Gone(path) ? std::nullopt : machine_->Owner(path);
  }

 private:
  bool Gone(const std::string& path) { return left_-- <= 0 && path.rfind("/proc/10", 0) == 0; }
  FakeMachine* machine_;
  int64_t left_;
};

TEST_F(ProcessTableTest, ProcessesMayVanishAtEveryStep) {
  for (int step = 0; step < 80; ++step) {
    AddTrainer(3, 5, 5);
    for (int64_t pid = 100; pid < 104; ++pid)
      machine_.Put("/proc/" + std::to_string(pid) + "/io", "read_bytes: 5\nwrite_bytes: 5\n");
    Vanishing files(&machine_, step);
    ProcessTable table(&files, {});
    for (int s = 0; s < 3; ++s) {
      const auto rows = table.Read(s * kSecond, kWallMs, {{"0", 100, 900, 80}});
      ASSERT_THAT(rows, SizeIs(1));
      EXPECT_EQ(Value(rows[0], ProcessMetric::kGpuMemMb), 900);
      for (const double v : rows[0].values) EXPECT_FALSE(v < 0);
    }
  }
}

TEST_F(ProcessTableTest, AnEmptyProcIsNoTrouble) {
  sys::MemProcFiles empty;
  ProcessTable table(&empty, {});
  for (int s = 0; s < 2; ++s) ExpectNameless(table.Read(s * kSecond, kWallMs, {{"0", 5, 1, 1}})[0]);
}

TEST_F(ProcessTableTest, StartTimesNeedAnHonestBootTime) {
  AddTrainer(0, 0, 0);
  machine_.Put("/proc/stat", "cpu  0 0 0 0\nbtime 1900000000\n");  // after now
  machine_.Put("/proc/uptime", "5.0 1.0\n");                       // lxcfs: the container's own
  EXPECT_TRUE(IsMissing(Value(Read(0)[0], ProcessMetric::kStarted)));
}

TEST_F(ProcessTableTest, WithoutABootTimeTheStartIsReckonedBackFromNow) {
  AddTrainer(0, 0, 0);
  machine_.Remove("/proc/stat");
  machine_.Put("/proc/uptime", "110.0 1.0\n");
  EXPECT_NEAR(Value(Read(0)[0], ProcessMetric::kStarted), 1'700'009'000 - 100, 0.01);
}

}  // namespace
}  // namespace sawbill::host
