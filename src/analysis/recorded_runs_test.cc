// SPDX-License-Identifier: Apache-2.0
// Who had the cards, by the rows of `sawbill run` in a recorder's folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/recording_builder.h"
#include "ledger/apportion.h"

namespace sawbill::analysis {
namespace {

struct Noted {
  std::string run, job, gpus;
  double from_s, to_s;
  std::string user = "alice";
};

model::Recording With(model::Recording r, const std::vector<Noted>& notes) {
  const TimeMs origin = r.gpus[0].t_ms.front();
  for (const Noted& n : notes) {
    model::RunRow row;
    row.run = n.run;
    row.job = n.job;
    row.user = n.user;
    row.program = "torchrun";
    row.node = r.gpus[0].card.node;
    row.gpus = n.gpus;
    row.state = "start";
    row.t_ms = origin + static_cast<TimeMs>(n.from_s * 1000);
    r.runs.push_back(row);
    if (n.to_s <= 0) continue;
    row.state = "end";
    row.exit_status = "0";
    row.t_ms = origin + static_cast<TimeMs>(n.to_s * 1000);
    r.runs.push_back(row);
  }
  std::stable_sort(r.runs.begin(), r.runs.end(), [](const auto& a, const auto& b) { return a.t_ms < b.t_ms; });
  return r;
}

double OfRun(const Analysis& a, int run) {
  double sum = 0;
  for (const auto& [key, lines] : a.account) sum += key.run == run ? ledger::Sum(lines) : 0;
  return sum;
}

TEST(RecordedRun, WithoutProcessesTheNoteSaysWhichCardsAndWhen) {
  const Analysis a =
      Judge(With(RecordingBuilder().Card("95x1200").Card("95x1200").Build(), {{"r1", "bert", "1", 300, 900}}));
  ASSERT_GE(a.runs.size(), 1U);
  int bert = -1;
  for (size_t i = 0; i < a.runs.size(); ++i) bert = a.runs[i].job == "bert" ? static_cast<int>(i) : bert;
  ASSERT_GE(bert, 0);
  EXPECT_EQ(a.runs[static_cast<size_t>(bert)].cards, (std::vector<size_t>{1}));
  EXPECT_NEAR(OfRun(a, bert), 600, 1);
  EXPECT_EQ(a.runs[static_cast<size_t>(bert)].exit_status, "0");
}

TEST(RecordedRun, AJobThatNeverUsedItsCardIsKnownToo) {
  const Analysis a = Judge(With(RecordingBuilder().Card("0x1200").Build(), {{"r1", "bert", "0", 300, 900}}));
  ASSERT_EQ(a.runs.size(), 1U);
  EXPECT_EQ(a.runs[0].job, "bert");
  EXPECT_NEAR(OfRun(a, 0), 600, 1);
}

TEST(RecordedRun, ProcessesThatWereSeenComeFirst) {
  RecordingBuilder::Job job;
  job.from_s = 300;
  job.to_s = 900;
  const auto jobs = [&](const std::string& name, const std::vector<Noted>& notes) {
    job.name = name;
    std::string out;
    const Analysis a = Judge(With(RecordingBuilder().Card("95x1200").Process({0}, job).Build(), notes));
    for (const RunFacts& r : a.runs) out += (r.job.empty() ? "-" : r.job) + " ";
    return out;
  };
  EXPECT_EQ(jobs("bert", {{"r1", "bert", "0", 295, 905}}), "bert ");  // the note makes no second run
  // Another user's environment cannot be read: the one note that fits says the job.
  EXPECT_EQ(jobs("", {{"r1", "bert", "0", 295, 905}}), "bert ");
  EXPECT_EQ(jobs("", {{"r1", "bert", "0", 295, 905}, {"r2", "gpt", "0", 290, 910}}), "- ");  // which of them?
  EXPECT_EQ(jobs("", {{"r1", "bert", "1", 295, 905}}), "- ");                                // not its card
  EXPECT_EQ(jobs("", {{"r1", "bert", "0", 295, 600}}), "- ");                                // not its time
  EXPECT_EQ(jobs("", {{"r1", "bert", "0", 295, 905, "bob"}}), "- ");                         // not its user
}

TEST(RecordedRun, AStartWithoutAnEndTellsNothing) {  // it may be of a crash months ago
  const Analysis a = Judge(With(RecordingBuilder().Card("0x1200").Build(), {{"r1", "bert", "0", 300, 0}}));
  EXPECT_TRUE(a.runs.empty());
}

TEST(RecordedRun, TwoAtOnceShareTheCard) {
  const Analysis a =
      Judge(With(RecordingBuilder().Card("95x1200").Build(), {{"r1", "a", "0", 0, 600}, {"r2", "b", "0", 0, 600}}));
  ASSERT_GE(a.runs.size(), 2U);
  EXPECT_NEAR(OfRun(a, 0), 300, 5);
  EXPECT_NEAR(OfRun(a, 1), 300, 5);
}

}  // namespace
}  // namespace sawbill::analysis
