// SPDX-License-Identifier: Apache-2.0
// Whole-second stamps without a column for the card. The readings are made up here, the right answer with them.
#include "ingest/one_or_many.h"

#include <gmock/gmock.h>

#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using testing::HasSubstr;

/// A number from 0 to `below` that is the same in every run.
int Noise(int below) {
  static uint32_t state = 1;
  state = state * 1664525 + 1013904223;
  return static_cast<int>((state >> 8) % static_cast<uint32_t>(below));
}
std::string Stamp(int64_t ms) { return std::to_string(1'762'900'000 + ms / 1000); }

/// `n` readings of one card each `every_ms`, or of `k` cards that are alike.
std::string Log(int n, int every_ms, int k = 1, const char* index = "") {
  std::string text = *index != 0 ? "timestamp,index,utilization.gpu [%]\n" : "timestamp,utilization.gpu [%]\n";
  for (int i = 0; i < n; ++i) {
    for (int g = 0; g < k; ++g)
      text += Stamp(int64_t{i} * every_ms) + "," + index + std::to_string(70 + Noise(30)) + " %\n";
  }
  return text;
}

TEST(SharedSeconds, AVaryingNumberOfRowsIsOneCardAndNoRowIsLost) {
  for (const int every_ms : {300, 400, 450, 600, 700, 850}) {
    const auto r = ReadText(Log(300, every_ms));
    ASSERT_EQ(r.gpus.size(), 1U) << every_ms;
    EXPECT_EQ(r.gpus[0].size(), 300U) << every_ms;
    EXPECT_EQ(Odds(r, Odd::kIndexInferred), 0) << every_ms;
    EXPECT_EQ(Odds(r, Odd::kDuplicateSample), 0) << every_ms;
    EXPECT_THAT(r.notes, testing::Contains(HasSubstr("taken as readings of one card"))) << every_ms;
  }
  EXPECT_THAT(ExplainText(Log(300, 400), Lang::kZh), HasSubstr("一张显卡，每秒多次读数：每秒的行数不固定"));
}

TEST(SharedSeconds, RowsAreSpreadEvenlyOverTheirSecond) {
  std::vector<TimeMs> t = {1000, 2000, 2000, 3000, 3000, 3000, 3000, 9000};
  SpreadOverSeconds(&t);
  EXPECT_THAT(t, testing::ElementsAre(1000, 2000, 2500, 3000, 3250, 3500, 3750, 9000));
}

TEST(SharedSeconds, ATemperatureThatOnlyChangesBetweenSecondsIsOneCards) {
  std::string text = "timestamp,utilization.gpu [%],temperature.gpu\n";
  for (int i = 0; i < 200; ++i)
    text += Stamp(i * 500) + "," + std::to_string(70 + Noise(30)) + " %," + std::to_string(40 + i / 8 % 9) + "\n";
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(r.gpus[0].size(), 200U);
}

TEST(SharedSeconds, PowerAlikeToHalfAPercentIsOneCards) {
  std::string one = "timestamp,power.draw [W]\n", two = one;
  for (int i = 0; i < 4000; ++i) {
    const int watts = 290 + Noise(20);
    one += Stamp(i * 500) + "," + std::to_string(watts) + "\n";
    two += Stamp(i * 500) + "," + std::to_string(watts + (i % 2) * 6) + "\n";
  }
  EXPECT_EQ(ReadText(one).gpus.size(), 1U);
  EXPECT_THAT(Refusal(two), HasSubstr("2 rows share each whole second"));
}

TEST(SharedSeconds, AReadingThatStaysWithItsPlaceTellsSeveralCards) {
  std::string text = "timestamp,utilization.gpu [%],memory.used [MiB]\n";
  for (int i = 0; i < 100; ++i) {
    for (int g = 0; g < 3; ++g)
      text += Stamp(i * 1000) + "," + std::to_string(70 + Noise(30)) + " %," + std::to_string(20000 + 40 * g + i) +
              " MiB\n";
  }
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 3U);
  EXPECT_EQ(r.gpus[2].At(GpuMetric::kMemUsedMb, 99), 20179);
}

TEST(SharedSeconds, AConstantNumberWithSkippedSecondsIsSeveralCards) {
  const auto r = ReadText(Log(100, 1100, 2));
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[1].size(), 100U);
}

TEST(SharedSeconds, NobodyReadsTwiceAndThenWaits) { EXPECT_EQ(ReadText(Log(60, 5000, 2)).gpus.size(), 2U); }

TEST(SharedSeconds, WhatCannotBeToldIsRefused) {
  EXPECT_THAT(Refusal(Log(100, 1000, 2)), HasSubstr("2 cards from one card that was read 2 times a second"));
  EXPECT_THAT(ExplainText(Log(100, 1000, 2), Lang::kZh), HasSubstr("无法区分是 2 张显卡还是一张显卡每秒读数 2 次"));
}

TEST(SharedSeconds, AColumnThatNamesOneCardIsBelievedWhereNothingSpeaksAgainstIt) {
  for (const int every_ms : {400, 500}) {
    const auto r = ReadText(Log(200, every_ms, 1, "0,"));
    ASSERT_EQ(r.gpus.size(), 1U) << every_ms;
    EXPECT_EQ(r.gpus[0].size(), 200U) << every_ms;
    EXPECT_EQ(Odds(r, Odd::kIndexDisagrees), 0) << every_ms;
  }
}

}  // namespace
}  // namespace sawbill::ingest
