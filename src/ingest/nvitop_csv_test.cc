// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::HostMetric;
using model::Odd;
using model::ProcessMetric;
using testing::HasSubstr;

TEST(NvitopCsv, TheLastValueIsTakenBeforeRunningMeans) {
  const auto r = ReadText(
      "time,resources/host/cpu_percent (%)/mean,resources/host/cpu_percent (%)/last,resources/host/memory_used "
      "(GiB)/last,resources/cuda:0 (gpu:3)/gpu_utilization (%)/mean,resources/cuda:0 (gpu:3)/gpu_utilization "
      "(%)/min,resources/cuda:0 (gpu:3)/gpu_utilization (%)/max,resources/cuda:0 (gpu:3)/gpu_utilization "
      "(%)/last,resources/cuda:0 (gpu:3)/memory_total (MiB)/last,resources/cuda:0 (gpu:3)/power_usage "
      "(W)/last,resources/pid:77/host/cpu_percent (%)/last,resources/pid:77/cuda:0 (gpu:3)/gpu_memory "
      "(MiB)/last,resources/duration (s),resources/timestamp,resources/last_timestamp\n"
      "2026-03-02 01:00:00.5,50,40,1.5,80,0,100,91,46068,290.5,151,1826,2,1772413200.5,1772413200.4\n"
      "2026-03-02 01:00:02.5,50,41,1.5,80,0,100,12,46068,100.5,,,4,1772413202.5,1772413202.4\n");
  EXPECT_EQ(r.format, "nvitop csv");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(r.gpus[0].card.gpu, "3");  // the physical card behind CUDA's number
  EXPECT_EQ(r.gpus[0].card.memory_total_mb.value_or(0), 46068);
  EXPECT_EQ(r.gpus[0].t_ms[0], 1772413200500);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "91 12");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "290.5 100.5");
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kSmUtilMax));  // since the start, not of the interval
  EXPECT_EQ(r.hosts[0].At(HostMetric::kCpuUtil, 1), 41);
  EXPECT_EQ(r.hosts[0].At(HostMetric::kMemUsedMb, 0), 1536);
  ASSERT_EQ(r.processes.size(), 2U);  // of the host and of the card
  for (const auto& p : r.processes) EXPECT_EQ(p.pid, 77);
}

TEST(NvitopCsv, MeansThatRunOnGiveTheMeanOfEachInterval) {
  const auto r = ReadText(
      "run/gpu:0/gpu_utilization (%)/mean,run/duration (s),run/timestamp\n"
      "100,10,1772413200\n50,20,1772413210\n60,30,1772413220\n"
      "7,5,1772413225\n");  // the collector was cleared
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "100 0 80 7");
  EXPECT_THAT(r.notes, testing::Contains(HasSubstr("run on from the start")));
}

TEST(NvitopCsv, AnEmptyCellIsNoReading) {
  const auto r = ReadText(
      "run/gpu:0/gpu_utilization (%)/last,run/gpu:1/gpu_utilization "
      "(%)/last,run/timestamp\n5,,1772413200\n,7,1772413201\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "5");
  EXPECT_EQ(Values(r, 1, GpuMetric::kSmUtil), "7");
}

TEST(NvitopCsv, MigDevicesStandBelowTheirCard) {
  const auto r = ReadText(
      "\"run/gpu:(0, 1)/memory_used (MiB)/last\",run/gpu:0/power_usage (W)/last,run/timestamp\n500,300,1772413200\n");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[1].card.gpu, "0.d1");
}

}  // namespace
}  // namespace sawbill::ingest
