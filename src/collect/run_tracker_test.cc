// SPDX-License-Identifier: Apache-2.0
#include "collect/run_tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sawbill::collect {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

host::ProcessRow Row(const std::string& gpu, int64_t pid, const std::string& name, const std::string& job = "") {
  host::ProcessRow r;
  r.gpu = gpu;
  r.pid = pid;
  r.user = "alice";
  r.name = name;
  r.identity.job = job;
  return r;
}

std::vector<std::string> Told(const std::vector<model::RunRow>& rows) {
  std::vector<std::string> out;
  for (const model::RunRow& r : rows)
    out.push_back(r.state + " " + (r.job.empty() ? r.program : r.job) + " on " + r.gpus + " at " +
                  std::to_string(r.t_ms / 1000));
  return out;
}

TEST(RunTracker, BeginsChangesAndEnds) {
  RunTracker t("n1");
  EXPECT_THAT(Told(t.Observe(10'000, {Row("0", 41, "train.py")})), ElementsAre("start train.py on 0 at 10"));
  EXPECT_THAT(t.Observe(20'000, {Row("0", 41, "train.py")}), IsEmpty());
  EXPECT_THAT(Told(t.Observe(30'000, {Row("0", 41, "train.py"), Row("1", 42, "train.py")})),
              ElementsAre("update train.py on 0|1 at 30"));
  EXPECT_THAT(t.Observe(40'000, {}), IsEmpty());  // a process list that came late is no end
  EXPECT_THAT(t.Observe(50'000, {}), IsEmpty());
  EXPECT_THAT(Told(t.Observe(60'000, {})), ElementsAre("end train.py on 0|1 at 30"));  // when it was last seen
  EXPECT_EQ(t.open_runs(), 0U);
}

TEST(RunTracker, TheRanksOfOneJobAreOneRun) {
  RunTracker t("n1");
  EXPECT_THAT(Told(t.Observe(1'000, {Row("0", 41, "a.py", "j7"), Row("1", 42, "b.py", "j7")})),
              ElementsAre("start j7 on 0|1 at 1"));
}

TEST(RunTracker, AProcessWithoutACardIsNoRun) {
  RunTracker t("n1");
  EXPECT_THAT(t.Observe(1'000, {Row("", 9, "stress")}), IsEmpty());
}

}  // namespace
}  // namespace sawbill::collect
