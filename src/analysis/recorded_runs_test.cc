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

/// Two cards of one job, the second of which does nothing for an hour.
RecordingBuilder OneOfTwoWorks() {
  return RecordingBuilder()
      .Card("97x3600")
      .Constant(model::GpuMetric::kMemUsedMb, 60000)
      .Card("0x3600")
      .Constant(model::GpuMetric::kMemUsedMb, 2000);
}

TEST(HeldCard, OfAProcessThatNeverUsesItIsHeldAndIdleAndNotUnused) {
  RecordingBuilder::Job first, second;  // equal names: two ranks of one job
  first.to_s = second.to_s = 3599;
  first.main_cores = second.main_cores = 1;
  first.tree_cores = second.tree_cores = 1;
  first.workers = second.workers = 0;
  second.pid = 101;
  const Analysis a = Judge(OneOfTwoWorks().Process({0}, first).Process({1}, second).Build());
  ASSERT_EQ(a.runs.size(), 1U);
  EXPECT_EQ(a.runs[0].cards, (std::vector<size_t>{0, 1}));
  const Finding* held = Find(a, model::FindingId::kIdleHeld);
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(held->cards, (std::vector<size_t>{1}));
  EXPECT_NEAR(held->wasted_s, 3599, 1);
  EXPECT_NEAR(a.Lines()[model::Index(model::Line::kIdleHeld)], 3599, 1);
  EXPECT_EQ(a.Lines()[model::Index(model::Line::kUnused)], 0);
  ASSERT_EQ(held->because.size(), 1U);
  EXPECT_THAT(held->because[0], testing::HasSubstr("A process of the job train held the card for 59 min 59 s"));
  EXPECT_EQ(Find(a, model::FindingId::kUnused), nullptr);
  // The idle card says nothing of how the job works on the other.
  EXPECT_EQ(a.findings.size(), 1U);
  EXPECT_NEAR(a.Lines()[model::Index(model::Line::kUseful)], 3599, 40);
}

TEST(HeldCard, WhereOnlyTheNoteOfTheJobNamesItItIsUnused) {
  const Analysis a = Judge(With(OneOfTwoWorks().Build(), {{"r1", "bert", "0|1", 0, 3599}}));
  const Finding* unused = Find(a, model::FindingId::kUnused);
  ASSERT_NE(unused, nullptr);
  EXPECT_EQ(unused->cause, model::Cause::kOverAllocated);
  EXPECT_EQ(unused->cards, (std::vector<size_t>{1}));
  EXPECT_NEAR(unused->wasted_s, 3599, 1);
  EXPECT_THAT(unused->because.front(), testing::HasSubstr("no process of it is on the card"));
  EXPECT_EQ(Find(a, model::FindingId::kIdleHeld), nullptr);
}

TEST(HeldCard, TheJobsOwnIdleTimeAndThatOfTheCardAreCountedOnce) {
  // The job works for half an hour and then sleeps on both cards; the second card never worked.
  RecordingBuilder::Job first, second;
  first.to_s = second.to_s = 3599;
  second.pid = 101;
  const Analysis a = Judge(RecordingBuilder()
                               .Card("97x1800 0x1800")
                               .Constant(model::GpuMetric::kMemUsedMb, 60000)
                               .Card("0x3600")
                               .Constant(model::GpuMetric::kMemUsedMb, 2000)
                               .Process({0}, first)
                               .Process({1}, second)
                               .Build());
  double claimed = 0;
  for (const Finding& f : a.findings) {
    if (f.id == model::FindingId::kIdleHeld) claimed += f.wasted_s;
  }
  EXPECT_NEAR(claimed, a.Lines()[model::Index(model::Line::kIdleHeld)], 1e-6);
  EXPECT_NEAR(claimed, 3599 + 1799, 15);
}

}  // namespace
}  // namespace sawbill::analysis
