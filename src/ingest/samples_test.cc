// SPDX-License-Identifier: Apache-2.0
#include "ingest/samples.h"

#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;

class SamplesTest : public ::testing::Test {
 protected:
  SamplesTest() { context_.tz = &tz_, context_.file = "log"; }
  Status Finish() { return samples_.Finish(&explanation_); }
  static model::CardInfo Named(const std::string& gpu, const std::string& uuid = "", const std::string& node = "") {
    model::CardInfo card;
    card.gpu = gpu, card.uuid = uuid, card.node = node;
    return card;
  }
  TimeZone tz_ = TimeZone::Utc();
  ReadContext context_;
  model::Recording out_;
  Explanation explanation_;
  Samples samples_{context_, &out_};
};

TEST_F(SamplesTest, SeriesThatComeOneAfterTheOtherMakeOneTrack) {
  const int card = samples_.Card(Named("0"));
  for (TimeMs t = 1; t <= 3; ++t) samples_.Set(card, t * 1000, GpuMetric::kSmUtil, 10.0 * static_cast<double>(t));
  for (TimeMs t = 3; t >= 2; --t) samples_.Set(card, t * 1000, GpuMetric::kPowerW, 100.0 + static_cast<double>(t));
  ASSERT_TRUE(Finish().ok());
  EXPECT_EQ(Values(out_, 0, GpuMetric::kSmUtil), "10 20 30");
  EXPECT_EQ(Values(out_, 0, GpuMetric::kPowerW), "- 102 103");
  EXPECT_FALSE(out_.gpus[0].Has(GpuMetric::kTempC));
}

TEST_F(SamplesTest, SeriesWithTimesOfTheirOwnAreFittedIn) {
  const int card = samples_.Card(Named("0"));
  for (const TimeMs t : {1000, 3000, 5000}) samples_.Set(card, t, GpuMetric::kSmUtil, static_cast<double>(t) / 1000);
  for (const TimeMs t : {2000, 3000, 6000}) samples_.Set(card, t, GpuMetric::kPowerW, static_cast<double>(t) / 10);
  for (const TimeMs t : {500, 3000}) samples_.Set(card, t, GpuMetric::kEnergyJ, static_cast<double>(t) * 1e6);
  ASSERT_TRUE(Finish().ok());
  EXPECT_EQ(out_.gpus[0].t_ms, (std::vector<TimeMs>{500, 1000, 2000, 3000, 5000, 6000}));
  EXPECT_EQ(Values(out_, 0, GpuMetric::kSmUtil), "- 1 - 3 5 -");
  EXPECT_EQ(Values(out_, 0, GpuMetric::kPowerW), "- - 200 300 - 600");
  ASSERT_EQ(out_.gpus[0].energy_j.size(), 6U);
  EXPECT_EQ(out_.gpus[0].energy_j[3], 3e9);
  EXPECT_TRUE(IsMissing(out_.gpus[0].energy_j[5]));
  EXPECT_EQ(Odds(out_, Odd::kDuplicateSample), 0);
}

TEST_F(SamplesTest, WhatWasNotReadIsMissingAndWhatCannotBeIsLeftEmpty) {
  const int card = samples_.Card(Named("0"));
  samples_.Set(card, 1000, GpuMetric::kSmUtil, 7);
  samples_.Set(card, 2000, GpuMetric::kSmUtil, 4294967295.0);
  samples_.Set(card, 3000, GpuMetric::kSmUtil, kMissing);
  samples_.Touch(card, 4000);
  ASSERT_TRUE(Finish().ok());
  EXPECT_EQ(Values(out_, 0, GpuMetric::kSmUtil), "7") << "a sample of nothing is none";
  EXPECT_EQ(Odds(out_, Odd::kOutOfRange), 1);
}

TEST_F(SamplesTest, TheSameReadingTwiceCountsOnce) {
  const int card = samples_.Card(Named("0"));
  samples_.Set(card, 1000, GpuMetric::kSmUtil, 7);
  samples_.Set(card, 1000, GpuMetric::kSmUtil, 9);
  ASSERT_TRUE(Finish().ok());
  EXPECT_EQ(Values(out_, 0, GpuMetric::kSmUtil), "7");
  EXPECT_EQ(Odds(out_, Odd::kDuplicateSample), 1);
}

TEST_F(SamplesTest, CardsAreKnownByNodeAndUuidAndNeverByIndexAlone) {
  const int a = samples_.Card(Named("0", "GPU-a", "n1"));
  const int b = samples_.Card(Named("0", "GPU-b", "n2"));
  const int c = samples_.Card(Named("0", "GPU-c", "n1"));  // came back under the index of another
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(a, samples_.Card(Named("3", "GPU-a", "n1")));
  EXPECT_EQ(samples_.cards(), 3U);
}

TEST_F(SamplesTest, ACardWhoseUuidComesLaterIsOneCard) {
  const int a = samples_.Card(Named("0"));
  EXPECT_EQ(a, samples_.Card(Named("0", "GPU-a")));
  EXPECT_EQ(a, samples_.Card(Named("", "GPU-a")));
  EXPECT_EQ(a, samples_.Card(Named("0")));
}

TEST_F(SamplesTest, CardsStandInTheOrderOfTheirNumbersAndProcessesStayWithThem) {
  const int ten = samples_.Card(Named("10")), two = samples_.Card(Named("2"));
  samples_.Set(ten, 1000, GpuMetric::kSmUtil, 10);
  samples_.Set(two, 1000, GpuMetric::kSmUtil, 2);
  model::ProcessValues values;
  values.fill(kMissing);
  samples_.Process(1000, ten, "", 42, "python", "li", values);
  ASSERT_TRUE(Finish().ok());
  EXPECT_EQ(out_.gpus[0].card.gpu, "2");
  EXPECT_EQ(out_.gpus[1].card.gpu, "10");
  ASSERT_EQ(out_.processes.size(), 1U);
  EXPECT_EQ(out_.processes[0].card, 1);
  EXPECT_TRUE(IsMissing(out_.processes[0].Value(model::ProcessMetric::kGpuMemMb)));
}

TEST_F(SamplesTest, NothingAtAllIsRefused) { EXPECT_EQ(Finish().kind(), StatusKind::kUnsupported); }

}  // namespace
}  // namespace sawbill::ingest
