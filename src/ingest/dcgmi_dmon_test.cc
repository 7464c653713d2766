// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using testing::AllOf;
using testing::HasSubstr;

const std::string kStamp = "2026-01-02T03:04:05Z ";

TEST(DcgmiDmon, WithoutStampsIsRefusedAndSaysWhatToDo) {
  const std::string text =
      "#Entity         GPUTL       GRACT       \nID                                      \n"
      "GPU 0           91          0.156       \n";
  EXPECT_THAT(Refusal(text), AllOf(HasSubstr("no date"), HasSubstr("date +%FT%T%z")));
}

TEST(DcgmiDmon, StampedLinesAreReadInTheirUnits) {
  const auto r = ReadText(kStamp + "#Entity   GPUTL  FBUSD  FBTTL  POWER  GRACT  TENSO  PCITX  TOTEC\n" + kStamp +
                          "ID        %      MB     MB     W      \n" + kStamp +
                          "GPU 0     91     8000   81559  412.35 0.156  0.012  25000000  1500000\n");
  EXPECT_EQ(r.format, "dcgmi dmon");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "91");       // percent
  EXPECT_EQ(Values(r, 0, GpuMetric::kGrActive), "0.156");  // a ratio, and not 0.156 %
  EXPECT_EQ(Values(r, 0, GpuMetric::kTensorActive), "0.012");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "8000");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "412.35");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPcieTxMbS), "25");
  EXPECT_DOUBLE_EQ(r.gpus[0].energy_j[0], 1500);
  EXPECT_EQ(r.gpus[0].card.memory_total_mb.value_or(0), 81559);
}

TEST(DcgmiDmon, InstancesStandBelowTheirCardAndNothingBusyIsCalledIdle) {
  const auto r =
      ReadText(kStamp + "# Entity  GPUTL  GRACT\n" + kStamp + "      Id\n" + kStamp + "   GPU 0    N/A  0.845\n" +
               kStamp + " GPU-I 0    N/A  0.986\n" + kStamp + " GPU-I 1    N/A  0.985\n");
  ASSERT_EQ(r.gpus.size(), 3U);
  EXPECT_EQ(r.gpus[1].card.gpu, "0.i0");
  EXPECT_EQ(Values(r, 1, GpuMetric::kGrActive), "0.986");
  for (const auto& g : r.gpus) EXPECT_FALSE(g.Has(GpuMetric::kSmUtil));
  EXPECT_EQ(Odds(r, Odd::kNotSupported), 3);
}

TEST(DcgmiDmon, BlankMarksAreNoReadings) {
  const auto r = ReadText(kStamp + "#Entity GPUTL POWER FBUSD\n" + kStamp + "GPU 0 2147483632 140737488355328.0 500\n" +
                          kStamp + "GPU 1 9223372036854775794 300.0 501\n");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kSmUtil));
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kPowerW));
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "500");
  EXPECT_FALSE(r.gpus[1].Has(GpuMetric::kSmUtil));
  EXPECT_EQ(Values(r, 1, GpuMetric::kPowerW), "300");
  EXPECT_EQ(Odds(r, Odd::kNotSupported), 3);
}

TEST(DcgmiDmon, AFieldThatAnEntityLacksIsFoundByThePlaceOfTheOthers) {
  const auto r =
      ReadText(kStamp + "#Entity    GPUTL      GRACT      DRAMA   \n" + kStamp +
               "GPU 0      91         0.500      0.100   \n" + kStamp + "GPU-I 3               0.156      0.200   \n");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_FALSE(r.gpus[1].Has(GpuMetric::kSmUtil));
  EXPECT_EQ(Values(r, 1, GpuMetric::kGrActive), "0.156");
  EXPECT_EQ(Values(r, 1, GpuMetric::kDramActive), "0.2");
}

}  // namespace
}  // namespace sawbill::ingest
