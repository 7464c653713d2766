// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::HostMetric;
using model::Odd;
using testing::AllOf;
using testing::HasSubstr;

TEST(WandbCsv, KeysAreReadAsWandbMeansThem) {
  const auto r = ReadText(
      ",system.gpu.0.gpu,system.gpu.0.memory,system.gpu.0.memoryAllocated,system.gpu.0.memoryAllocatedBytes,"
      "system.gpu.0.powerWatts,system.gpu.0.temp,system.gpu.0.smActive,system.gpu.process.0.gpu,system.gpu.1.gpu,"
      "system.cpu,_timestamp,_runtime,_wandb\n"
      "0,97.0,40.0,55.5,1048576000.0,290.5,63.0,55.5,97.0,12.0,40.5,1772413200.25,2.0,True\n"
      "1,98.0,41.0,55.5,1048576000.0,291.5,64.0,,98.0,,41.5,1772413215.25,17.0,True\n");
  EXPECT_EQ(r.format, "wandb csv");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[0].t_ms[0], 1772413200250);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "97 98");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUtil), "40 41");  // the controller; 55.5 % is memory used of an unknown total
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "1000 1000");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "290.5 291.5");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmActive), "0.555 -");  // percent there, a ratio here
  EXPECT_EQ(Values(r, 1, GpuMetric::kSmUtil), "12");
  ASSERT_EQ(r.hosts.size(), 1U);
  EXPECT_FLOAT_EQ(r.hosts[0].At(HostMetric::kCpuUtil, 0), 40.5F);
  EXPECT_THAT(r.notes, testing::Contains(HasSubstr("run's own processes")));
  EXPECT_EQ(Odds(r, Odd::kZoneAssumed), 0);
}

TEST(WandbCsv, OfAChartHoldsRunsWhoseCardsAreKeptApart) {
  const auto r = ReadText(
      "\"Wall Time\",\"lr 1e-3 - system/gpu.0.gpu\",\"lr 1e-3 - system/gpu.0.gpu__MIN\",\"lr 1e-3 - "
      "system/gpu.0.gpu__MAX\",\"base - system/gpu.0.gpu\",\"Group: all - system/gpu.0.gpu\"\n"
      "\"1772413200\",\"97\",\"1\",\"100\",\"\",\"50\"\n\"1772413215\",\"98\",\"1\",\"100\",\"40\",\"50\"\n");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[0].card.node, "base");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "40");
  EXPECT_EQ(r.gpus[1].card.node, "lr 1e-3");
  EXPECT_EQ(Values(r, 1, GpuMetric::kSmUtil), "97 98");
}

TEST(WandbCsv, WithRelativeTimesAloneIsRefusedAndSaysWhatToDo) {
  EXPECT_THAT(Refusal("\"Relative Time (Process)\",\"run - system/gpu.0.gpu\"\n\"2.0\",\"97\"\n\"17.0\",\"98\"\n"),
              AllOf(HasSubstr("no date"), HasSubstr("history(stream=\"events\")")));
}

TEST(WandbCsv, OneOddCellNeverCostsTheRow) {
  const auto r = ReadText(
      "_timestamp,system.gpu.0.gpu,system.gpu.0.powerWatts\n1772413200,2287971552,290\n1772413215,[N/A],291\n"
      "1772413230,NaN,292\n1772413245,98,293\n177241");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "290 291 292 293");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "- - - 98");
  EXPECT_EQ(Odds(r, Odd::kTornLine), 1);
}

TEST(WandbCsv, IsExplained) {
  const std::string e = ExplainText("_timestamp,system.gpu.0.gpu,system.gpu.0.memoryAllocated\n1772413200,97,55\n");
  EXPECT_THAT(e, HasSubstr("wandb csv (certainty 0.97)"));
  EXPECT_THAT(e, HasSubstr("system.gpu.0.gpu -> sm_util [%]"));
  EXPECT_THAT(e, HasSubstr("a share of a total that the file does not give"));
}

TEST(WandbJson, EventsALine) {
  const auto r = ReadText(
      "{\"system.gpu.0.gpu\": 97.0, \"system.gpu.0.powerWatts\": 290.5, \"system.cpu.0.cpu_percent\": 90, "
      "\"system.cpu.1.cpu_percent\": 10, \"system.cpu\": 12.5, \"_wandb\": true, \"_timestamp\": 1772413200.25, "
      "\"_runtime\": 2}\n"
      "{\"_timestamp\":1772413215.25,\"_wandb\":{\"runtime\":17},\"system.gpu.0.gpu\":98,\"system.gpu.0.memory\":null}"
      "\n");
  EXPECT_EQ(r.format, "wandb json");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "97 98");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "290.5 -");
  EXPECT_FLOAT_EQ(r.hosts[0].At(HostMetric::kCpuUtil, 0), 50);  // the mean of the host's cores
  EXPECT_EQ(r.hosts[0].At(HostMetric::kCpuCount, 0), 2);
}

TEST(WandbJson, AnArrayOfRows) {
  const auto r = ReadText(
      "[{\"_timestamp\": 1772413200, \"system.gpu.0.gpu\": 50.0}, {\"_timestamp\": 1772413215, \"system.gpu.0.gpu\": "
      "80.0}]\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "50 80");
  const auto lines = ReadText(
      "[\n{\"_timestamp\": 1772413200, \"system.gpu.0.gpu\": 50.0},\n{\"_timestamp\": 1772413215, "
      "\"system.gpu.0.gpu\": "
      "80.0}\n]\n");
  EXPECT_EQ(Values(lines, 0, GpuMetric::kSmUtil), "50 80");
  EXPECT_EQ(Odds(lines, Odd::kTornLine), 0);
}

TEST(WandbJson, ATornLineCostsNoOther) {
  const auto r = ReadText(
      "{\"_timestamp\": 1772413200, \"system.gpu.0.gpu\": 50.0}\n{\"_timestamp\": 1772413215, \"system.g\n"
      "{\"_timestamp\": 1772413230, \"system.gpu.0.gpu\": NaN, \"system.gpu.0.powerWatts\": 290}\n"
      "{\"_timestamp\": 1772413245, \"system.gpu.0.gpu\": 8");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "50 -");
  EXPECT_EQ(Odds(r, Odd::kTornLine), 2);
}

TEST(WandbJson, WithoutTimestampsIsRefused) {
  EXPECT_THAT(Refusal("{\"_runtime\": 2, \"system.gpu.0.gpu\": 50.0}\n"), HasSubstr("_timestamp"));
}

}  // namespace
}  // namespace sawbill::ingest
