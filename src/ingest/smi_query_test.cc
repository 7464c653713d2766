// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using model::ProcessMetric;
using testing::HasSubstr;

std::string Leaf(int level, const std::string& key, const std::string& value) {
  std::string line = std::string(static_cast<size_t>(level) * 4, ' ') + key;
  line.resize(55, ' ');
  return line + ": " + value + "\n";
}
std::string Section(int level, const std::string& name) {
  return std::string(static_cast<size_t>(level) * 4, ' ') + name + "\n";
}
std::string Head(const std::string& time) {
  return "\n==============NVSMI LOG==============\n\n" + Leaf(0, "Timestamp", time) +
         Leaf(0, "Driver Version", "590.48.01") + Leaf(0, "CUDA Version", "13.1") + "\n" +
         Leaf(0, "Attached GPUs", "1");
}
std::string Card(const std::string& util, const std::string& average, const std::string& instant) {
  return Section(0, "GPU 00000000:00:09.0") + Leaf(1, "Product Name", "NVIDIA H100 80GB HBM3") +
         Leaf(1, "GPU UUID", "GPU-11112222-3333-4444-5555-666677778888") + Section(1, "PCI") +
         Section(2, "GPU Link Info") + Leaf(2, "Tx Throughput", "9139 KB/s") + Leaf(2, "Rx Throughput", "19191 KB/s") +
         Section(1, "Clocks Event Reasons") + Leaf(2, "Idle", "Not Active") + Leaf(2, "SW Power Cap", "Active") +
         Leaf(2, "HW Slowdown", "Not Active") + Leaf(3, "HW Thermal Slowdown", "Active") +
         Section(1, "FB Memory Usage") + Leaf(2, "Total", "81559 MiB") + Leaf(2, "Reserved", "479 MiB") +
         Leaf(2, "Used", "11125 MiB") + Section(1, "BAR1 Memory Usage") + Leaf(2, "Used", "81081 MiB") +
         Section(1, "Utilization") + Leaf(2, "GPU", util) + Leaf(2, "Memory", util) + Section(1, "Temperature") +
         Leaf(2, "GPU Current Temp", "53 C") + Leaf(2, "Memory Current Temp", "58 C") +
         Section(1, "GPU Power Readings") + Leaf(2, "Average Power Draw", average) +
         Leaf(2, "Instantaneous Power Draw", instant) + Leaf(2, "Current Power Limit", "700.00 W") +
         Section(1, "GPU Memory Power Readings") + Leaf(2, "Average Power Draw", "93.98 W") + Section(1, "Clocks") +
         Leaf(2, "SM", "1980 MHz") + Leaf(2, "Memory", "2619 MHz") + Section(1, "Max Clocks") +
         Leaf(2, "SM", "1990 MHz");
}

TEST(SmiQuery, ReadingsAreFoundByTheirSections) {
  const auto r = ReadText(Head("Tue Jul 14 09:00:44 2026") + Card("91 %", "432.21 W", "444.72 W") +
                          Head("Tue Jul 14 09:00:49 2026") + Card("12 %", "N/A", "100.50 W"));
  EXPECT_EQ(r.format, "nvidia-smi -q");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(FormatRfc3339(r.gpus[0].t_ms[1]), "2026-07-14T09:00:49.000Z");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "91 12");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "11125 11125");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "432.21 100.5");
  EXPECT_EQ(Values(r, 0, GpuMetric::kTempC), "53 53");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmClockMhz), "1980 1980");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemClockMhz), "2619 2619");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPcieRxMbS), "19.191 19.191");
  EXPECT_EQ(Values(r, 0, GpuMetric::kThrottle), "10 10");  // sw_power_cap and hw_thermal
  const auto& card = r.gpus[0].card;
  EXPECT_EQ(card.gpu + "/" + card.name + "/" + card.driver, "0/NVIDIA H100 80GB HBM3/590.48.01");
  EXPECT_EQ(card.uuid, "GPU-11112222-3333-4444-5555-666677778888");
  EXPECT_EQ(card.memory_total_mb.value_or(0), 81559);
  EXPECT_EQ(card.power_limit_w.value_or(0), 700);
  EXPECT_EQ(card.sm_clock_max_mhz.value_or(0), 1990);
}

TEST(SmiQuery, UnderMigInstancesHaveMemoryAndTheirProcesses) {
  std::string text = Head("Tue Jul 14 09:00:44 2026") + Card("N/A", "432.21 W", "N/A");
  const std::string instance = Section(1, "MIG Device") + Leaf(2, "Index", "0") + Leaf(2, "GPU Instance ID", "2") +
                               Leaf(2, "Compute Instance ID", "0") + Section(2, "Shared FB Memory Usage") +
                               Leaf(3, "Total", "40448 MiB") + Leaf(3, "Used", "26 MiB") +
                               Section(2, "Shared BAR1 Memory") + Leaf(3, "Used", "0 MiB");
  text += instance + Section(1, "Processes") + Leaf(2, "GPU instance ID", "2") + Leaf(2, "Compute instance ID", "0") +
          Leaf(2, "Process ID", "21180") + Leaf(3, "Type", "C") + Leaf(3, "Name", "/opt/tools/memhog") +
          Leaf(3, "Used GPU Memory", "2296 MiB") + Leaf(2, "GPU instance ID", "2") +
          Leaf(2, "Compute instance ID", "0") + Leaf(2, "Process ID", "21198") + Leaf(3, "Name", "./gpu_burn") +
          Leaf(3, "Used GPU Memory", "7484 MiB") + Section(1, "Capabilities") + Leaf(2, "EGM", "disabled");
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kSmUtil));
  EXPECT_EQ(r.gpus[1].card.gpu, "0.2.0");
  EXPECT_EQ(r.gpus[1].card.parent_uuid, r.gpus[0].card.uuid);
  EXPECT_EQ(Values(r, 1, GpuMetric::kMemUsedMb), "26");
  ASSERT_EQ(r.processes.size(), 2U);
  EXPECT_EQ(r.processes[1].card, 1);
  EXPECT_EQ(r.strings.Get(r.processes[1].name), "gpu_burn");
  EXPECT_EQ(r.processes[1].Value(ProcessMetric::kGpuMemMb), 7484);
}

TEST(SmiQuery, WithoutATimeIsRefused) {
  std::string text = Head("Tue Jul 14 09:00:44 2026") + Card("91 %", "432.21 W", "444.72 W");
  text.erase(text.find("Timestamp"), text.find("Driver Version") - text.find("Timestamp"));
  EXPECT_THAT(Refusal(text), HasSubstr("no date"));
}

/// The capture of a card under load and its CSV of the same moment agree.
TEST(SmiQuery, PublicCapturesAreReadAsTheyWereByEye) {
  const auto fs = sys::MakeRealFileSystem();
  const auto bytes = fs->Map(std::string(SAWBILL_SOURCE_DIR) +
                             "/../shared/data/nvidia_gpu_exporter/linux-x86_64__nvidia-h100-mig__590.48.01.txt");
  if (!bytes.ok()) GTEST_SKIP() << "no public captures beside the checkout (../shared/data)";
  const std::string_view all = (*bytes)->bytes();
  const size_t from = all.find("==============NVSMI LOG", all.find("load :: query (-q)"));
  ASSERT_NE(from, std::string_view::npos);
  const auto r = ReadText(std::string(all.substr(from, all.find("####", from) - from)));
  ASSERT_EQ(r.gpus.size(), 5U);
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kSmUtil));
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "432.21");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "11125");
  EXPECT_EQ(Values(r, 0, GpuMetric::kTempC), "53");
  EXPECT_EQ(r.gpus[0].card.uuid, "");  // masked
  EXPECT_EQ(r.processes.size(), 3U);
  EXPECT_EQ(Odds(r, Odd::kBadCell) + Odds(r, Odd::kErrorCell), 0);
}

}  // namespace
}  // namespace sawbill::ingest
