// SPDX-License-Identifier: Apache-2.0
#include "store/run_spool.h"

#include <gmock/gmock.h>

#include <functional>

#include "store/test_util.h"

namespace sawbill::store {
namespace {

using testing::HasSubstr;
using testing::Not;

model::RunRow Row(TimeMs t, const std::string& state, const std::string& run = "r1") {
  model::RunRow row;
  row.t_ms = t;
  row.run = run;
  row.job = "bert";
  row.node = "n1";
  row.gpus = "0|1";
  row.state = state;
  return row;
}

class RunSpool : public testing::Test {
 protected:
  void Tick(TimeMs t) {
    writer_->BeginTick({t, t});
    inbox_.Take(t);
    (void)writer_->EndTick();
    inbox_.Settle();
  }
  std::string Runs() const {
    const std::string path = "d/run-2026-01-01.csv";
    return fs_.Exists(path) ? fs_.Get(path) : "";
  }
  size_t Waiting() { return SpooledRuns(&fs_, "d").size(); }

  sys::MemFileSystem fs_;
  std::unique_ptr<FolderWriter> writer_ = MustOpenWriter(&fs_, "d");
  RunInbox inbox_{&fs_, writer_.get()};
};

TEST_F(RunSpool, TheRecorderWritesWhatARunLeftForIt) {
  ASSERT_TRUE(SpoolRun(&fs_, "d", Row(kNoon, "start")).ok());
  Tick(kNoon + 400);
  EXPECT_EQ(Runs(), HeaderLine(DayKind::kRun) + "\n1767268800.000,r1,bert,,,n1,0|1,start,,,,,,,,,\n");
  EXPECT_EQ(Waiting(), 0U);
  Tick(kNoon + 1400);
  ASSERT_TRUE(SpoolRun(&fs_, "d", Row(kNoon + 2000, "end")).ok());
  Tick(kNoon + 2400);
  EXPECT_THAT(Runs(), HasSubstr("1767268802.000,r1,bert,,,n1,0|1,end,"));
}

TEST_F(RunSpool, OnAFullDiskTheRowWaitsAndIsWrittenOnce) {
  ASSERT_TRUE(SpoolRun(&fs_, "d", Row(kNoon, "start")).ok());
  fs_.SetSpaceLeft(0);
  Tick(kNoon + 400);
  EXPECT_EQ(Waiting(), 1U);
  fs_.SetSpaceLeft(std::nullopt);
  Tick(kNoon + 1400);
  EXPECT_EQ(Waiting(), 0U);
  EXPECT_EQ(Runs(), HeaderLine(DayKind::kRun) + "\n1767268800.000,r1,bert,,,n1,0|1,start,,,,,,,,,\n");
}

TEST_F(RunSpool, WhatNoRecorderTookIsReadFromThere) {
  fs_.Put("d/gpu-2026-01-01.csv", ShortGpuFile(kNoon, 10));
  ASSERT_TRUE(SpoolRun(&fs_, "d", Row(kNoon + 2000, "start")).ok());
  ASSERT_TRUE(SpoolRun(&fs_, "d", Row(kNoon + 5000, "end")).ok());
  const model::Recording r = ReadOnePiece(&fs_, "d");
  ASSERT_EQ(r.runs.size(), 2U);
  EXPECT_EQ(r.runs[1].state, "end");
}

/// A recorder works while the folder is read: its tick falls behind the n-th listing of the folder.
class TickingFileSystem : public sys::MemFileSystem {
 public:
  Result<std::vector<sys::FileInfo>> List(const std::string& dir) override {
    auto list = sys::MemFileSystem::List(dir);
    if (dir == "d" && --countdown == 0) tick();
    return list;
  }
  int countdown = 0;
  std::function<void()> tick;
};

TEST(RunSpoolRace, ARowThatIsWrittenDownMeanwhileIsSeenOnce) {
  for (int listing = 1; listing <= 5; ++listing) {
    TickingFileSystem fs;
    const auto writer = MustOpenWriter(&fs, "d");
    RunInbox inbox(&fs, writer.get());
    fs.Put("d/gpu-2026-01-01.csv", ShortGpuFile(kNoon, 10));
    ASSERT_TRUE(SpoolRun(&fs, "d", Row(kNoon + 2000, "start")).ok());
    ASSERT_TRUE(SpoolRun(&fs, "d", Row(kNoon + 5000, "end")).ok());
    fs.tick = [&] {
      writer->BeginTick({kNoon + 6000, kNoon + 6000});
      inbox.Take(kNoon + 6000);
      (void)writer->EndTick();
      inbox.Settle();
    };
    fs.countdown = listing;
    const model::Recording r = ReadOnePiece(&fs, "d");
    ASSERT_EQ(r.runs.size(), 2U) << "tick behind listing " << listing;
    EXPECT_EQ(r.runs[0].state, "start");
    EXPECT_EQ(r.runs[1].state, "end");
  }
}

TEST_F(RunSpool, WhatIsNoRowOfAboutNowIsNotWritten) {
  ASSERT_TRUE(SpoolRun(&fs_, "d", Row(1'000'000, "start", "1970")).ok());  // would make a day file of that year
  fs_.Put("d/runs/.spool/notes.txt", "hello\n");
  fs_.Put("d/runs/.spool/torn.csv", HeaderLine(DayKind::kRun) + "\n1767268800.000,r9,x");
  fs_.Put("d/runs/.spool/other.csv", "a,b\n1,2\n");
  fs_.Put("d/runs/.spool/long.csv", std::string(100'000, 'x') + "\n");
  Tick(kNoon);
  EXPECT_EQ(Runs(), "");
  EXPECT_FALSE(fs_.Exists("d/run-1970-01-01.csv"));
}

TEST_F(RunSpool, ANameCannotLeaveTheFolder) {
  ASSERT_TRUE(SpoolRun(&fs_, "d", Row(kNoon, "start", "../../etc/x")).ok());
  EXPECT_EQ(SpooledRuns(&fs_, "d").at(0).path, "d/runs/.spool/_.._.._etc_x.n1.start.csv");
}

}  // namespace
}  // namespace sawbill::store
