// SPDX-License-Identifier: Apache-2.0
// Cards that are there and tell nothing (A4): paid for, not measured, never idle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/recording_builder.h"
#include "ledger/apportion.h"

namespace sawbill::analysis {
namespace {

using model::Index;
using model::Line;
using testing::Contains;
using testing::HasSubstr;

/// A second card, of which there is no reading.
model::Recording WithSilentCard(model::Recording r) {
  model::GpuTrack silent;
  silent.card = r.gpus[0].card;
  silent.card.gpu = "9";
  silent.card.uuid = "GPU-silent";
  r.gpus.push_back(silent);
  return r;
}

Result<Analysis> TryJudge(model::Recording r, const std::vector<double>& cuts_s = {}) {
  return Analyze(FixedSource(std::move(r), cuts_s), {});
}

double OfCard(const Analysis& a, size_t card, Line line) {
  double sum = 0;
  for (const auto& [key, lines] : a.account) sum += key.card == card ? lines[Index(line)] : 0;
  return sum;
}

TEST(SilentCard, StandsOnTheLedgerAsUnmeasuredBesideASoundOne) {
  const Analysis a = *TryJudge(WithSilentCard(RecordingBuilder().Card("97x1200").Build()));
  ASSERT_EQ(a.cards.size(), 2U);
  EXPECT_EQ(a.cards[0].period_s, a.cards[1].period_s);
  EXPECT_EQ(OfCard(a, 1, Line::kUnmeasured), a.cards[0].period_s);
  EXPECT_EQ(a.cards[1].covered_s, 0);
  EXPECT_TRUE(a.findings.empty());
  EXPECT_THAT(a.limits, Contains(HasSubstr("Card 9 is there but gives no reading")));
}

TEST(SilentCard, ItsTimeAddsUpOverPieces) {
  const Analysis a = *TryJudge(WithSilentCard(RecordingBuilder().Card("97x1200").Build()), {300, 700});
  EXPECT_NEAR(OfCard(a, 1, Line::kUnmeasured), a.cards[0].period_s, 1e-6);
}

TEST(SilentCard, AloneItIsBilledAndNothingIsSaidOfIdleness) {
  model::Recording r = RecordingBuilder().Card("97x1200").Host(model::HostMetric::kCpuUtil, "5x1200").Build();
  r.gpus[0].t_ms.clear();
  for (auto& column : r.gpus[0].columns) column.clear();
  const Analysis a = *TryJudge(std::move(r));
  ASSERT_EQ(a.cards.size(), 1U);
  EXPECT_NEAR(a.cards[0].period_s, 1200, 2);
  EXPECT_EQ(OfCard(a, 0, Line::kUnmeasured), a.cards[0].period_s);
  EXPECT_TRUE(a.findings.empty());
  EXPECT_THAT(a.cannot_judge, Contains(HasSubstr("no card gave a reading")));
}

TEST(SilentCard, TheJobThatHoldsItPaysForIt) {
  RecordingBuilder::Job job;
  job.to_s = 600;
  model::Recording r = WithSilentCard(RecordingBuilder().Card("97x600 0x600").Process({0}, job).Build());
  std::vector<model::ProcessRow> rows = r.processes;
  for (model::ProcessRow& p : rows) {
    r.processes.push_back(p);
    p.card = 1;
    r.processes.push_back(p);
  }
  std::stable_sort(r.processes.begin(), r.processes.end(),
                   [](const auto& x, const auto& y) { return x.t_ms < y.t_ms; });
  const Analysis a = *TryJudge(std::move(r));
  ASSERT_EQ(a.runs.size(), 1U);
  EXPECT_EQ(a.runs[0].cards, (std::vector<size_t>{0, 1}));
  double of_run = 0;
  for (const auto& [key, lines] : a.account) {
    if (key.card == 1 && key.run == 0) of_run += lines[Index(Line::kUnmeasured)];
  }
  EXPECT_NEAR(of_run, 600, 15);
  EXPECT_NEAR(OfCard(a, 1, Line::kUnmeasured), a.cards[0].period_s, 1e-6);
}

TEST(SilentCard, AJobOnSilentCardsAloneIsNoIdleJob) {
  RecordingBuilder::Job job;
  job.to_s = 1200;
  model::Recording r =
      RecordingBuilder().Card("97x1200").Process({0}, job).Host(model::HostMetric::kCpuUtil, "5x1200").Build();
  r.gpus[0].t_ms.clear();
  for (auto& column : r.gpus[0].columns) column.clear();
  const Analysis a = *TryJudge(std::move(r));
  ASSERT_EQ(a.runs.size(), 1U);
  EXPECT_TRUE(a.findings.empty());
  EXPECT_NEAR(OfCard(a, 0, Line::kUnmeasured), 1200, 15);
  EXPECT_EQ(OfCard(a, 0, Line::kIdleHeld), 0);
}

TEST(SilentCard, ACardAndItsInstancesAreNotPaidForTwice) {
  model::Recording r = WithSilentCard(RecordingBuilder().Card("97x600").Build());
  r.gpus[0].card.gpu = "9.1.0";
  r.gpus[0].card.parent_uuid = "GPU-silent";
  const Analysis a = *TryJudge(std::move(r));
  EXPECT_EQ(OfCard(a, 1, Line::kUnmeasured), 0);
}

}  // namespace
}  // namespace sawbill::analysis
