// SPDX-License-Identifier: Apache-2.0
// <data>/runs/<id> of a run that was beside a recorder: rows of its own, the samples elsewhere.
#include "store/run_view.h"

#include <gmock/gmock.h>

#include "store/test_util.h"

namespace sawbill::store {
namespace {

constexpr const char* kRuns =
    "timestamp,run,job,node,gpus,state,exit_status,program\n"
    "1767268810.000,r7,bert,,1,start,,train.py\n1767268840.000,r7,bert,,1,end,0,train.py\n";

class RunViewTest : public testing::Test {
 protected:
  RunViewTest() {
    fs_.Put("d/gpu-2026-01-01.csv", ShortGpuFile(kNoon, 100, 2));
    fs_.Put("d/process-2026-01-01.csv",
            "timestamp,gpu,pid,user,name,job\n1767268820.000,0,7,u,python,other\n1767268820.000,1,8,u,python,bert\n");
    fs_.Put("d/run-2026-01-01.csv", "timestamp,run,state\n1767268800.000,another,start\n");
    fs_.Put("d/runs/r7/run-2026-01-01.csv", kRuns);
    fs_.Put("d/runs/r7/SAMPLES", "../..\n");
  }
  sys::MemFileSystem fs_;
};

TEST_F(RunViewTest, ShowsTheRunsTimeAndCards) {
  const auto source = MustOpen(&fs_, "d/runs/r7");
  ASSERT_EQ(source->cards().size(), 1U);
  EXPECT_EQ(source->cards()[0].gpu, "1");
  const model::Recording r = MustRead(*source);
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(r.gpus[0].card.gpu, "1");
  EXPECT_EQ(model::Cover(r.gpus[0].t_ms).covered_s, 30);
  ASSERT_EQ(r.processes.size(), 1U);
  EXPECT_EQ(r.processes[0].pid, 8);
  EXPECT_EQ(r.processes[0].card, 0);
  ASSERT_EQ(r.runs.size(), 2U);  // the run's own rows, whatever else the recorder noted
  EXPECT_EQ(r.runs[1].exit_status, "0");
}

TEST_F(RunViewTest, APartOfItsTime) {
  DataFolderOptions o;
  o.from = kNoon + 20'000;
  EXPECT_EQ(CoveredSeconds(*MustOpen(&fs_, "d/runs/r7", o)).begin()->second, 20);
  o.from = kNoon + 50'000;
  const auto nothing = OpenDataFolder(&fs_, "d/runs/r7", o);
  EXPECT_EQ(nothing.status().kind(), StatusKind::kNotFound);
  EXPECT_EQ(nothing.status().message(), "d/runs/r7 holds nothing in the period asked for");
  o.lang = Lang::kZh;
  EXPECT_EQ(OpenDataFolder(&fs_, "d/runs/r7", o).status().message(), "d/runs/r7 在所选时段内没有数据");
}

TEST_F(RunViewTest, WhenTheSamplesAreGoneItIsSaidWhereTheyWere) {
  ASSERT_TRUE(fs_.Remove("d/gpu-2026-01-01.csv").ok());
  ASSERT_TRUE(fs_.Remove("d/process-2026-01-01.csv").ok());
  const auto source = OpenDataFolder(&fs_, "d/runs/r7", {});
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.status().message(), "the samples of d/runs/r7 stood in d, which has none any more");
  DataFolderOptions zh;
  zh.lang = Lang::kZh;
  EXPECT_EQ(OpenDataFolder(&fs_, "d/runs/r7", zh).status().message(), "d/runs/r7 的采样原在 d，现已不在其中");
}

TEST_F(RunViewTest, AFolderThatNamesItselfEnds) {
  fs_.Put("d/runs/r7/gpu-2026-01-01.csv", "");
  fs_.Put("d/runs/r7/SAMPLES", ".\n");
  EXPECT_FALSE(OpenDataFolder(&fs_, "d/runs/r7", {}).ok());
}

TEST_F(RunViewTest, SamplesOfItsOwnComeFirst) {
  fs_.Put("d/runs/r7/gpu-2026-01-01.csv", ShortGpuFile(kNoon, 5));
  EXPECT_EQ(CoveredSeconds(*MustOpen(&fs_, "d/runs/r7")).begin()->second, 4);
}

}  // namespace
}  // namespace sawbill::store
