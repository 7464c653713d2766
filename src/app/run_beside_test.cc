// SPDX-License-Identifier: Apache-2.0
// A run looks after the recorder beside which it is.
#include "app/run_beside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collect/collector.h"
#include "store/run_spool.h"
#include "sys/mem_fs.h"

namespace sawbill::app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr TimeMs kStart = 1'772'400'000'000;

class Beside : public testing::Test {
 protected:
  Beside() {
    settings_.data_dir = "/data";
    plan_.dir = "/data/runs/r1";
    env_.fs = &fs_;
    env_.err = &err_;
    EXPECT_TRUE(fs_.MakeDirs("/data/runs/r1").ok());
  }
  /// A recorder that is at work as long as its lock is held.
  void RecorderStarts(TimeMs at) {
    collect::StatusFacts facts;
    facts.started = at;
    fs_.Put("/data/collector.json", collect::StatusJson(facts, {}));
    auto lock = fs_.Lock("/data/.recorder.lock");
    ASSERT_TRUE(lock.ok());
    lock_ = std::move(*lock);
  }
  std::string SaidIn(BesideRecorder* b, int seconds) {
    err_.Clear();
    for (int s = 0; s < seconds; ++s) b->Look();
    return err_.text();
  }

  sys::MemFileSystem fs_;
  MemStream err_;
  Settings settings_;
  RunPlan plan_;
  Environment env_;
  std::unique_ptr<sys::FileLock> lock_;
};

TEST_F(Beside, WithoutARecorderThereIsNone) {
  EXPECT_FALSE(BesideRecorder(plan_, settings_, &env_).found());
  RecorderStarts(kStart);
  EXPECT_TRUE(BesideRecorder(plan_, settings_, &env_).found());
  lock_.reset();  // killed: what it left behind is no recorder
  EXPECT_FALSE(BesideRecorder(plan_, settings_, &env_).found());
}

TEST_F(Beside, ThatItEndedIsSaidOnceAndThatItIsBackToo) {
  RecorderStarts(kStart);
  BesideRecorder b(plan_, settings_, &env_);
  EXPECT_THAT(SaidIn(&b, 60), IsEmpty());
  lock_.reset();
  EXPECT_EQ(SaidIn(&b, 60), "sawbill: the recorder of /data ended while the command ran: the rest is not measured\n");
  RecorderStarts(kStart + 100'000);
  EXPECT_EQ(SaidIn(&b, 60), "sawbill: the recorder of /data is at work again: from here on it is measured\n");
  b.LastLook();
  EXPECT_THAT(err_.text(), Not(HasSubstr("ended")));
}

TEST_F(Beside, OneThatWasReplacedBetweenTwoLooksLeftAHole) {
  RecorderStarts(kStart);
  BesideRecorder b(plan_, settings_, &env_);
  lock_.reset();
  RecorderStarts(kStart + 2000);
  b.LastLook();
  EXPECT_THAT(err_.text(), testing::AllOf(HasSubstr("ended while"), HasSubstr("at work again")));
}

TEST_F(Beside, LeavesTheRunForTheRecorderAndASignForReaders) {
  RecorderStarts(kStart);
  BesideRecorder b(plan_, settings_, &env_);
  model::RunRow row;
  row.t_ms = kStart;
  row.run = "r1";
  row.state = "start";
  b.Tell(row);
  EXPECT_EQ(store::SpooledRuns(&fs_, "/data").size(), 1U);
  b.LeaveSign();
  EXPECT_EQ(fs_.Get("/data/runs/r1/SAMPLES"), "../..\n");
  fs_.SetSpaceLeft(0);
  b.Tell(row);
  EXPECT_THAT(err_.text(), HasSubstr("the run could not be noted in /data: "));
}

}  // namespace
}  // namespace sawbill::app
