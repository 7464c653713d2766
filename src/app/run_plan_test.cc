// SPDX-License-Identifier: Apache-2.0
#include "app/run_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sys/child.h"

namespace sawbill::app {
namespace {

using testing::HasSubstr;

struct Planner {
  Options o;
  Settings s;
  Environment env;
  Planner() {
    s.data_dir = "/data";
    env.now = 1'772'400'000'000;  // 2026-03-01T21:20:00Z
    env.pid = 77;
    o.child = {"/usr/bin/python", "train.py"};
  }
  RunPlan Plan() {
    auto plan = MakeRunPlan(o, s, env);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return plan.ok() ? *plan : RunPlan{};
  }
  std::string Refusal() {
    const auto plan = MakeRunPlan(o, s, env);
    return plan.ok() ? "" : plan.status().message();
  }
};

TEST(RunPlan, EachRunHasAFolderOfItsOwn) {
  Planner p;
  EXPECT_EQ(p.Plan().dir, "/data/runs/20260301T212000-python-77");
  p.env.pid = 78;  // another that began in the same second
  EXPECT_EQ(p.Plan().dir, "/data/runs/20260301T212000-python-78");
  p.o.job = "a b/../c";
  EXPECT_EQ(p.Plan().id, "20260301T212000-a_b_.._c-78");
}

TEST(RunPlan, RanksOfOneJobShareAFolderAndOneOfThemPrints) {
  Planner p;
  p.env.vars = {{"WORLD_SIZE", "16"}, {"RANK", "9"}, {"LOCAL_RANK", "1"}, {"TORCHELASTIC_RUN_ID", "t7"}};
  EXPECT_FALSE(p.Plan().records);
  EXPECT_FALSE(p.Plan().receipt);
  p.env.vars["RANK"] = "8";
  p.env.vars["LOCAL_RANK"] = "0";
  EXPECT_TRUE(p.Plan().records);
  EXPECT_FALSE(p.Plan().receipt);
  p.env.vars["RANK"] = "0";
  EXPECT_TRUE(p.Plan().records);
  EXPECT_TRUE(p.Plan().receipt);
  EXPECT_EQ(p.Plan().dir, "/data/runs/job-t7/" + sys::HostName());
}

TEST(RunPlan, TwoJobsOfOneLauncherKindNeverShareAFolder) {
  Planner p;  // torchrun without --rdzv-id says "none" to all
  p.env.vars = {{"WORLD_SIZE", "2"},   {"RANK", "0"},           {"LOCAL_RANK", "0"}, {"TORCHELASTIC_RUN_ID", "none"},
                {"MASTER_ADDR", "n1"}, {"MASTER_PORT", "29500"}};
  const std::string one = p.Plan().id;
  p.env.vars["MASTER_PORT"] = "29501";
  EXPECT_NE(p.Plan().id, one);
  EXPECT_EQ(p.Plan().id, "job-n1-29501");
  // Steps of one Slurm job.
  p.env.vars = {{"SLURM_JOB_ID", "79"},
                {"SLURM_NTASKS", "8"},
                {"SLURM_PROCID", "0"},
                {"SLURM_LOCALID", "0"},
                {"SLURM_STEP_ID", "1"}};
  EXPECT_EQ(p.Plan().id, "job-79.1");
}

TEST(RunPlan, RanksWithoutAnyIdAreThoseOfOneParent) {
  Planner p;
  p.env.parent_pid = 4000;
  p.env.vars = {{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}};
  EXPECT_FALSE(p.Plan().records);
  EXPECT_FALSE(p.Plan().receipt);
  EXPECT_EQ(p.Plan().id, "job-parent-4000");
  EXPECT_TRUE(p.Plan().shared);
}

TEST(RunPlan, ABatchScriptOfSlurmIsNoRank) {
  Planner p;  // SLURM_NTASKS is set there, too, but no step
  p.env.vars = {{"SLURM_JOB_ID", "55"}, {"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}};
  EXPECT_EQ(p.Plan().ranks, 1);
  p.env.vars["SLURM_STEP_ID"] = "0";
  p.env.vars["SLURM_PROCID"] = p.env.vars["SLURM_LOCALID"] = "3";
  EXPECT_EQ(p.Plan().ranks, 8);
  EXPECT_FALSE(p.Plan().records);
}

TEST(RunPlan, TheSchedulersLimitIsKnown) {
  Planner p;
  EXPECT_FALSE(p.Plan().job_end);
  p.env.vars = {{"SLURM_JOB_END_TIME", "1772403600"}};
  EXPECT_EQ(p.Plan().job_end, 1'772'403'600'000);
}

TEST(RunPlan, SaysWhatIsMissingOrTooMuch) {
  Planner p;
  p.o.child.clear();
  EXPECT_THAT(p.Refusal(), HasSubstr("sawbill run -- python train.py"));
  p.o.attach = "12";
  EXPECT_EQ(*p.Plan().attach, 12);
  p.o.child = {"true"};
  EXPECT_THAT(p.Refusal(), HasSubstr("not both"));
  p.o.attach.reset();
  for (const char* bad : {"0", "-3", "x", "inf", "nan"}) {
    p.o.budget = bad;
    EXPECT_THAT(p.Refusal(), HasSubstr("--budget")) << bad;
  }
  p.o.budget = "500";
  EXPECT_EQ(*p.Plan().budget, 500);
  p.o.bill = "some";
  EXPECT_THAT(p.Refusal(), HasSubstr("used, visible, all"));
}

}  // namespace
}  // namespace sawbill::app
