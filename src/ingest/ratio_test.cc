// SPDX-License-Identifier: Apache-2.0
// A column of utilisation that holds nothing but zeros and ones: 1 % or 100 %?
#include "ingest/ratio.h"

#include <gmock/gmock.h>

#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Ten rows: the first of `zeros`, then as many of `ones` as there is room for.
std::string Log(const std::string& heading, int zeros, const std::string& zero, const std::string& one) {
  std::string text = heading + "\n";
  for (int i = 0; i < 10; ++i) text += std::to_string(1'762'900'000 + i) + ",0," + (i < zeros ? zero : one) + "\n";
  return text;
}
std::string Last(const model::Recording& r) {
  const std::string values = Values(r, 0, GpuMetric::kSmUtil);
  return values.substr(values.rfind(' ') + 1);
}

TEST(ZerosAndOnes, PowerFarAboveThatOfTheZerosMakesThemRatios) {
  for (const char* one : {"1.0,300.5", "1,300.5"}) {
    const auto r = ReadText(Log("timestamp,index,gpu_util,power", 5, "0.0,70.2", one));
    EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "0 0 0 0 0 100 100 100 100 100") << one;
    EXPECT_EQ(Odds(r, Odd::kRatioAsPercent), 10) << one;
    EXPECT_THAT(r.notes, Contains(HasSubstr("gpu_util holds nothing but 0 and 1; it was taken for ratios (1 = 100 %), "
                                            "because of the power")))
        << one;
  }
  EXPECT_THAT(ExplainText(Log("timestamp,index,gpu_util,power", 5, "0.0,70.2", "1.0,300.5"), Lang::kZh),
              HasSubstr("按比值理解（1 = 100 %），依据是这些行中的功率"));
}

TEST(GpuUtil, ItsNamesAreReadWhereTheyStandTogether) {
  std::string text = "time,id,load,memoryUtil,memoryUsed,temperature\n";
  for (int i = 0; i < 10; ++i)
    text += std::to_string(1'762'900'000 + i) + ",1,0.9" + std::to_string(i) + ",0.49,40123,55\n";
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(r.gpus[0].card.gpu, "1");
  EXPECT_EQ(Last(r), "99");
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kMemUsedMb, 0), 40123);
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kMemUtil));  // a share of memory in use is not the controller
  EXPECT_FALSE(TryRead("time,id,load\n1762900000,0,0.9\n1762900001,0,0.9\n").ok());
}

TEST(FractionsOfPercent, ArePercentsOnlyWherePowerDoesNotSpeakAgainstIt) {
  for (const char* heading : {"gpu_util_percent", "utilization.gpu [%]", "gpu_util%"}) {
    const std::string head = std::string("timestamp,index,") + heading;
    const auto r = ReadText(Log(head + ",power", 5, "0.03,99", "0.95,375"));
    EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "3 3 3 3 3 95 95 95 95 95") << heading;
    EXPECT_EQ(Odds(r, Odd::kRatioAsPercent), 10) << heading;
    EXPECT_THAT(r.notes, Contains(HasSubstr("only does under load"))) << heading;
    const auto idle = ReadText(Log(head + ",power", 5, "0.03,60", "0.95,61"));
    EXPECT_EQ(Last(idle), "0.95") << heading;
    EXPECT_THAT(idle.notes, Contains(HasSubstr("never exceeds 1 %"))) << heading;
    EXPECT_EQ(Last(ReadText(Log(head, 5, "0.03", "0.95"))), "0.95") << heading;
  }
  EXPECT_EQ(Last(ReadText(Log("timestamp,index,utilization.gpu [%],power", 5, "0.03 %,99", "0.95 %,375"))), "0.95");
}

TEST(ZerosAndOnes, PowerNearThatOfTheZerosMakesThemPercent) {
  const auto r = ReadText(Log("timestamp,index,gpu_util,power", 5, "0.0,70.2", "1.0,71"));
  EXPECT_EQ(Last(r), "1");
  EXPECT_THAT(r.notes, Contains(HasSubstr("taken for percent (1 = 1 %), because of the power")));
}

TEST(ZerosAndOnes, HalfOfThePowerLimitIsNoOnePercent) {
  EXPECT_EQ(Last(ReadText(Log("timestamp,index,gpu_util,power,power.limit", 0, "", "1.0,180,300"))), "100");
  EXPECT_EQ(Last(ReadText(Log("timestamp,index,gpu_util,power,power.limit", 0, "", "1.0,60,300"))), "1");
}

TEST(ZerosAndOnes, TheOtherColumnOfUtilisationDecides) {
  EXPECT_EQ(Last(ReadText(Log("timestamp,index,gpu_util,mem_util", 5, "0.0,0.1", "1.0,0.7"))), "100");
  EXPECT_EQ(Last(ReadText(Log("timestamp,index,gpu_util,mem_util", 5, "0.0,0.0", "1.0,7.0"))), "1");
}

TEST(ZerosAndOnes, WholeOnesAloneArePercentAsADriverPrintsThem) {
  const auto r = ReadText(Log("timestamp,index,gpu_util", 2, "0", "1"));
  EXPECT_EQ(Last(r), "1");
  EXPECT_EQ(Odds(r, Odd::kRatioAsPercent), 0);
  EXPECT_THAT(r.notes, IsEmpty());
}

TEST(ZerosAndOnes, MostlyOnePointZeroIsARatio) {
  const auto r = ReadText(Log("timestamp,index,gpu_util", 2, "0.0", "1.0"));
  EXPECT_EQ(Last(r), "100");
  EXPECT_THAT(r.notes, Contains(HasSubstr("its cells are written 1.0")));
}

TEST(ZerosAndOnes, WhatCannotBeToldIsLeftOutAndSaid) {
  const auto r = ReadText(Log("timestamp,index,gpu_util,memory.used", 8, "0.0,5", "1.0,5"));
  EXPECT_TRUE(r.gpus[0].columns[static_cast<size_t>(GpuMetric::kSmUtil)].empty());
  EXPECT_THAT(r.notes, ElementsAre(HasSubstr("nothing beside it tells whether that is 1 % or 100 %")));
}

TEST(ZerosAndOnes, AUnitInTheHeadingIsBelieved) {
  EXPECT_EQ(Last(ReadText(Log("timestamp,index,gpu_util [%],power", 5, "0.0,70", "1.0,300"))), "1");
  EXPECT_EQ(Last(ReadText(Log("timestamp,index,gpu_util [ratio],power", 5, "0.0,70", "1.0,71"))), "100");
}

}  // namespace
}  // namespace sawbill::ingest
