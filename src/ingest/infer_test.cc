// SPDX-License-Identifier: Apache-2.0
#include "ingest/infer.h"

#include <gmock/gmock.h>

#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using testing::HasSubstr;

std::string Row(int i, const std::string& cells) {
  return FormatRfc3339(1'762'900'000'000LL + i * 1000) + ", " + cells + "\n";
}

TEST(NoHeadings, UnitsInCellsTellTheColumns) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += Row(i, std::to_string(i * 5) + " %, " + std::to_string(i) + " %, " + std::to_string(2 + i * 100) +
                       " MiB, " + std::to_string(20146 - i * 100) + " MiB, " + std::to_string(27 + i) + ", 1" +
                       std::to_string(i % 10) + ".64 W");
  }
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmUtil, 19), 95);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kMemUtil, 19), 19);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kMemUsedMb, 19), 1902);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kTempC, 19), 46);
  EXPECT_NEAR(r.gpus[0].At(GpuMetric::kPowerW, 9), 19.64, 0.01);
  EXPECT_THAT(r.notes[0], HasSubstr("no headings"));
}

TEST(NoHeadings, TheControllerIsNeverBusyAlone) {  // memory first, gpu second: zeros tell
  std::string text;
  for (int i = 0; i < 20; ++i) text += Row(i, (i % 2 == 0 ? "0 %, " : "12 %, ") + std::to_string(60 + i) + " %");
  const auto r = ReadText(text);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmUtil, 0), 60);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kMemUtil, 1), 12);
}

TEST(NoHeadings, TheTotalIsTheConstantOne) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += Row(i, "32768 MiB, " + std::to_string(100 + i) + " MiB, 40 %");
  const auto r = ReadText(text);
  EXPECT_EQ(r.gpus[0].card.memory_total_mb, 32768);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kMemUsedMb, 5), 105);
}

/// Load 95 for 20 rows of 24, then 3.
int Load(int i) { return i % 24 < 20 ? 95 : 3; }

TEST(NoHeadings, ConstantsDoNotMakeMemoryOfAClock) {
  for (const bool units : {false, true}) {
    std::string text;
    for (int i = 0; i < 96; ++i) {
      const std::string percent = units ? " %" : "";
      text += Row(i, "0, " + std::to_string(Load(i)) + percent + ", " + std::to_string(Load(i) / 3) + percent +
                         ", 40123, 81920, 1410");
    }
    const auto r = ReadText(text);
    EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmUtil, 0), 95) << units;
    EXPECT_EQ(r.gpus[0].At(GpuMetric::kMemUtil, 0), 31) << units;
    EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kMemUsedMb)) << units;
  }
}

TEST(NoHeadings, TheSmallerOfTwoThatRiseTogetherIsTheController) {
  std::string text;
  for (int i = 0; i < 96; ++i)
    text += Row(i, std::to_string(Load(i) / 3) + " %, " + std::to_string(Load(i)) + " %, 40123 MiB");
  const auto r = ReadText(text);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmUtil, 0), 95);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kMemUtil, 0), 31);
}

TEST(NoHeadings, AnIdleCardHasBothItsUtilisations) {
  std::string text;
  for (int i = 0; i < 96; ++i)
    text += Row(i, i % 40 == 39 ? "2 %, 1 %, 900 MiB, 30.5 W" : "0 %, 0 %, 2 MiB, 11." + std::to_string(i % 10) + " W");
  const auto r = ReadText(text);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmUtil, 39), 2);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kMemUtil, 39), 1);
}

TEST(NoHeadings, AFanIsNoLoad) {
  std::string still, moving, alone;
  for (int i = 0; i < 96; ++i) {
    const std::string fan = std::to_string(30 + i % 3) + " %, ", load = std::to_string(Load(i)) + " %, ";
    still += Row(i, fan + load + "40123 MiB, 300 W");
    moving += Row(i, fan + load + "40123 MiB, " + std::to_string(90 + 3 * Load(i)) + " W");
    alone += Row(i, fan + load + std::to_string(100 + i) + " MiB");
  }
  EXPECT_EQ(ReadText(moving).gpus[0].At(GpuMetric::kSmUtil, 0), 95);
  EXPECT_FALSE(ReadText(moving).gpus[0].Has(GpuMetric::kMemUtil));
  for (const std::string& text : {still, alone}) {
    const auto r = TryRead(text);
    EXPECT_FALSE(r.ok() && r->gpus[0].Has(GpuMetric::kSmUtil));
  }
}

TEST(NoHeadings, CardNumbersCountUp) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    for (int g = 0; g < 4; ++g)
      text += Row(i, std::to_string(g) + ", NVIDIA A100, " + std::to_string(g * 10 + i) + " %");
  }
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 4U);
  EXPECT_EQ(r.gpus[3].card.name, "NVIDIA A100");
  EXPECT_EQ(r.gpus[3].At(GpuMetric::kSmUtil, 1), 31);
  EXPECT_EQ(Odds(r, Odd::kIndexInferred), 0);
}

TEST(NoHeadings, WhatCannotBeToldIsLeftOutAndSaid) {  // three percentages: one may be the fan
  std::string text;
  for (int i = 0; i < 20; ++i)
    text += Row(i, "30 %, " + std::to_string(i) + " %, 5 %, " + std::to_string(100 + i) + " MiB");
  const auto r = ReadText(text);
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kSmUtil));
  EXPECT_TRUE(r.gpus[0].Has(GpuMetric::kMemUsedMb));
  EXPECT_EQ(Odds(r, Odd::kUnknownColumn), 3);
  EXPECT_THAT(r.notes, testing::Contains(HasSubstr("column 2, 3, 4")));
}

TEST(NoHeadings, NorUnitsLeavesWhatOnlyItsRangeTells) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += Row(i, "0, " + std::to_string(i % 3 == 0 ? 0 : 60 + i) + ", " +
                       std::to_string(i % 4 == 0 || i % 3 == 0 ? 0 : 20) + ", 46068, " + std::to_string(3000 + i) +
                       ", 55, 210.50");
  }
  const auto r = ReadText(text);
  EXPECT_EQ(r.gpus[0].card.memory_total_mb, 46068);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kMemUsedMb, 1), 3001);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kTempC, 1), 55);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kPowerW, 1), 210.5F);
}

TEST(NoHeadings, NorUnitsAndOnePercentageIsUtilisation) {
  std::string text;
  for (int i = 0; i < 20; ++i)
    text += Row(i, "0, " + std::to_string(i % 5 * 20) + ", " + std::to_string(3000 + i) + ", 81559");
  const auto r = ReadText(text);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmUtil, 3), 60);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kMemUsedMb, 3), 3003);
  EXPECT_EQ(Odds(r, Odd::kUnknownColumn), 1);  // a zero could be anything
}

TEST(NoHeadings, ASingleBareRowIsRefusedNotGuessed) {
  EXPECT_THAT(Refusal("1762903990,1, 24564, 0\n"), HasSubstr("put a heading line first"));
}

TEST(NoHeadings, RowsBeforeAHeadingAreReadByTheirOwnColumns) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += Row(i, std::to_string(i) + " %");
  text += "timestamp,temperature.gpu,utilization.gpu\n" + Row(10, "50, 10");
  const auto r = ReadText(text);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "0 1 2 3 4 5 6 7 8 9 10");
}

TEST(Explain, SaysWhatWasTakenForWhat) {
  const std::string text =
      ExplainText("timestamp, index, utilization.gpu [%], mystery\n2025/06/13 00:27:52.195, 0, 40 %, 7\n");
  EXPECT_THAT(text, HasSubstr("nvidia-smi csv (certainty 0."));
  EXPECT_THAT(text, HasSubstr("utilization.gpu [%] -> sm_util [%]"));
  EXPECT_THAT(text, HasSubstr("mystery -> left out"));
  EXPECT_THAT(text, HasSubstr("zone: UTC (assumed"));
  EXPECT_THAT(text, HasSubstr("column index (1 cards)"));
}

TEST(Explain, WorksForWhatIsNotRecognisedAndWhatIsRefused) {
  EXPECT_THAT(ExplainText("hello\n"), HasSubstr("not recognised"));
  const std::string refused = ExplainText("time,utilization.gpu\n0.0,40\n");
  EXPECT_THAT(refused, HasSubstr("Refused:"));
  EXPECT_THAT(refused, HasSubstr("utilization.gpu -> sm_util"));
}

TEST(Explain, SpeaksChinese) {
  EXPECT_THAT(ExplainText("timestamp,gpu,sm_util\n1762903990,0,40\n", Lang::kZh), HasSubstr("格式："));
}

}  // namespace
}  // namespace sawbill::ingest
