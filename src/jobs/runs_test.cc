// SPDX-License-Identifier: Apache-2.0
#include "jobs/runs.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sawbill::jobs {
namespace {

constexpr TimeMs kStart = 1767225600000;

class Rows {
 public:
  explicit Rows(size_t cards) {
    for (size_t k = 0; k < cards; ++k) {
      model::GpuTrack t;
      t.card.gpu = std::to_string(k);
      t.t_ms = {kStart, kStart + 10000000};
      r_.gpus.push_back(std::move(t));
    }
  }
  Rows& Add(size_t card, int64_t pid, const std::string& job, double from_s, double to_s, double started_s = kMissing) {
    for (double t = from_s; t <= to_s; t += 10) {
      model::ProcessRow p;
      p.t_ms = kStart + static_cast<TimeMs>(t * 1000);
      p.card = static_cast<int32_t>(card);
      p.pid = pid;
      p.user = r_.strings.Intern("alice");
      p.name = r_.strings.Intern("python");
      p.job = r_.strings.Intern(job);
      p.started_s = IsMissing(started_s) ? kMissing : static_cast<double>(kStart) / 1000 + started_s;
      p.values.fill(static_cast<float>(kMissing));
      r_.processes.push_back(p);
    }
    return *this;
  }
  std::vector<Run> Find() {
    std::stable_sort(r_.processes.begin(), r_.processes.end(),
                     [](const auto& a, const auto& b) { return a.t_ms < b.t_ms; });
    return FindRuns(r_);
  }

 private:
  model::Recording r_;
};

TEST(FindRuns, RanksOfOneJobAreOneRun) {
  const auto runs = Rows(4)
                        .Add(0, 10, "train", 100, 900, 95)
                        .Add(1, 11, "train", 100, 900, 96)
                        .Add(2, 12, "train", 110, 900, 97)
                        .Find();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].cards, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(runs[0].range.from, kStart + 95000);
  EXPECT_TRUE(runs[0].start_known);
}

TEST(FindRuns, OneProcessOnAllCardsIsOneRun) {
  EXPECT_EQ(Rows(2).Add(0, 10, "dp", 0, 500).Add(1, 10, "dp", 0, 500).Find().size(), 1U);
}

TEST(FindRuns, ARestartUnderTheSameNameIsANewRun) {
  const auto runs = Rows(1).Add(0, 10, "train", 100, 200, 98).Add(0, 11, "train", 230, 330, 225).Find();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_LT(runs[0].range.to, runs[1].range.from);
}

TEST(FindRuns, TwoJobsOnOneCardAreTwoRuns) {
  EXPECT_EQ(Rows(1).Add(0, 10, "a", 0, 500).Add(0, 20, "b", 100, 400).Find().size(), 2U);
}

TEST(FindRuns, AProcessThatWasThereBeforeTheRecordingHasNoKnownStart) {
  const auto runs = Rows(1).Add(0, 10, "old", 10, 500, -86400).Find();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_FALSE(runs[0].start_known);
  EXPECT_EQ(runs[0].range.from, kStart);
}

TEST(FindRuns, RowsWithoutACardMakeNoRun) {
  model::Recording r;
  r.gpus.emplace_back();
  r.gpus[0].t_ms = {kStart, kStart + 1000};
  model::ProcessRow hog;
  hog.card = -1;
  r.processes = {hog};
  EXPECT_TRUE(FindRuns(r).empty());
}

}  // namespace
}  // namespace sawbill::jobs
