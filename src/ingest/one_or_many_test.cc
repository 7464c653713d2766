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
  SpreadOverStamps(1000, &t);
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

/// `n` rows each 5 s, stamped with the whole minute, `k` cards; `card` is put before the reading, '#' the number in it.
std::string Minutes(int n, int k, const char* heading, const std::string& card) {
  std::string text = std::string("timestamp,") + heading + "utilization.gpu [%],memory.used [MiB]\n";
  for (int i = 0; i < n; ++i) {
    for (int g = 0; g < k; ++g) {
      std::string named = card;
      if (const size_t at = named.find('#'); at != std::string::npos) named[at] = static_cast<char>('0' + g);
      const std::string minute = std::to_string(i / 12 + 10);
      text += "2026-11-03 09:" + minute + "," + named + std::to_string(g == 0 ? (i % 6 < 5 ? 95 : 5) : 60) +
              " %,40000 MiB\n";
    }
  }
  return text;
}

TEST(CoarseStamps, OneCardThatAColumnNamesStaysOneCard) {
  for (const auto& [heading, card] : {std::pair<const char*, const char*>{"index,", "0,"},
                                      {"uuid,", "GPU-12-ab,"},
                                      {"gpu,", "0,"},
                                      {"pci.bus_id,", "00000000:17:00.0,"}}) {
    const auto r = ReadText(Minutes(480, 1, heading, card));
    ASSERT_EQ(r.gpus.size(), 1U) << heading;
    ASSERT_EQ(r.gpus[0].size(), 480U) << heading;
    EXPECT_EQ(r.gpus[0].t_ms.back() - r.gpus[0].t_ms.front(), 479 * 5000) << heading;
    EXPECT_EQ(Odds(r, Odd::kIndexInferred) + Odds(r, Odd::kIndexDisagrees), 0) << heading;
  }
}

TEST(CoarseStamps, EachOfSeveralNamedCardsKeepsAllItsRows) {
  const auto r = ReadText(Minutes(480, 2, "index,", "#,"));
  ASSERT_EQ(r.gpus.size(), 2U);
  for (const auto& g : r.gpus) {
    EXPECT_EQ(g.size(), 480U);
    EXPECT_EQ(g.t_ms[1] - g.t_ms[0], 5000);
  }
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil).substr(0, 20), "95 95 95 95 95 5 95 ");
  EXPECT_EQ(Odds(r, Odd::kDuplicateSample), 0);
  EXPECT_THAT(r.notes, testing::Contains(HasSubstr("spread evenly")));
}

TEST(CoarseStamps, WithoutAColumnForTheCardAreRefused) {
  EXPECT_THAT(Refusal(Minutes(480, 1, "", "")), HasSubstr("12 rows share each stamp of 60 s"));
  EXPECT_THAT(ExplainText(Minutes(480, 1, "", ""), Lang::kZh), HasSubstr("每个 60 秒的时间戳有 12 行"));
}

TEST(CoarseStamps, TensOfSecondsAreStampsToo) {
  std::string text = "timestamp,index,util\n";
  for (int i = 0; i < 300; ++i)
    text += std::to_string(1'762'900'000 + i / 10 * 10) + ",0," + std::to_string(i % 30) + "\n";
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(r.gpus[0].size(), 300U);
}

TEST(CoarseStamps, MemoryThatStaysWithItsPlaceTellsSeveralCards) {
  std::string text = "timestamp,utilization.gpu [%],memory.used [MiB]\n";
  for (int i = 0; i < 60; ++i) {
    for (int g = 0; g < 3; ++g)
      text += "2026-11-03 09:" + std::to_string(i / 10) + std::to_string(i % 10) + "," + std::to_string(Noise(100)) +
              " %," + std::to_string(20000 + 40 * g + i) + " MiB\n";
  }
  EXPECT_EQ(ReadText(text).gpus.size(), 3U);
}

TEST(CoarseStamps, ACutFirstAndLastStampKeepTheUsualDistance) {
  std::vector<TimeMs> t = {0, 0, 60'000, 60'000, 60'000, 60'000, 120'000, 120'000, 120'000, 120'000, 180'000};
  SpreadOverStamps(60'000, &t);
  EXPECT_THAT(t, testing::ElementsAre(30'000, 45'000, 60'000, 75'000, 90'000, 105'000, 120'000, 135'000, 150'000,
                                      165'000, 180'000));
}

TEST(Pairs, ACardThatIsLoggedTwiceAtAnotherPhaseHasNoHoles) {
  for (const auto& [every_s, apart_s] : {std::pair{5, 1}, {15, 3}, {60, 10}}) {
    std::string text = "timestamp,index,utilization.gpu [%]\n";
    for (int i = 0; i < 200; ++i) {
      for (const int s : {i * every_s, i * every_s + apart_s})
        text += Stamp(int64_t{s} * 1000) + ",0," + std::to_string(i % 6 * 10) + " %\n";
    }
    const auto r = ReadText(text);
    ASSERT_EQ(r.gpus.size(), 1U);
    EXPECT_EQ(r.gpus[0].size(), 200U) << every_s;
    EXPECT_EQ(Odds(r, Odd::kDuplicateSample), 200) << every_s;
    EXPECT_EQ(Odds(r, Odd::kGap), 0) << every_s;
  }
}

}  // namespace
}  // namespace sawbill::ingest
