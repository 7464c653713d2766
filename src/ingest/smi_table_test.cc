// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/text.h"
#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using model::ProcessMetric;
using testing::HasSubstr;

constexpr char kHead[] =
    "+-----------------------------------------------------------------------------------------+\n"
    "| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |\n"
    "+-----------------------------------------+------------------------+----------------------+\n"
    "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
    "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
    "|                                         |                        |               MIG M. |\n"
    "|=========================================+========================+======================|\n";
constexpr char kEnd[] =
    "+-----------------------------------------+------------------------+----------------------+\n\n";

/// Two lines of a card, and the third.
std::string Card(const std::string& name, const std::string& bus, const std::string& readings) {
  return "| " + name + " | " + bus + " |                    0 |\n" + readings +
         "|                                         |                        |                  N/A |\n";
}
std::string A40(const char* temp, const char* power, const char* used, const char* util, const char* bus = "31") {
  return Card("  0  NVIDIA A40                     On ", "  00000000:" + std::string(bus) + ":00.0 Off",
              fmt::format("|  0%   {}    P0            {} /  300W |    {} /  46068MiB |     {}      Default |\n", temp,
                          power, used, util));
}
std::string Table(const std::string& time, const std::string& cards, const std::string& rest = "") {
  return time + "\n" + kHead + cards + kEnd + rest;
}

TEST(SmiTable, GivesReadingsFactsAndProcesses) {
  const std::string processes =
      "+-----------------------------------------------------------------------------------------+\n"
      "| Processes:                                                                              |\n"
      "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n"
      "|        ID   ID                                                               Usage      |\n"
      "|=========================================================================================|\n"
      "|    0   N/A  N/A          851083      C   /opt/conda/envs/a/bin/python           1826MiB |\n"
      "|    0   N/A  N/A            2140    C+G   C:\\Program Files\\dwm.exe               N/A      |\n"
      "+-----------------------------------------------------------------------------------------+\n";
  const auto r = ReadText(Table("Sat Jan 24 21:52:14 2026       ", A40("27C", "24W", "0MiB", "0%")) +
                          Table("Sat Jan 24 21:53:15 2026       ", A40("38C", "97W", "1835MiB", "29%"), processes));
  EXPECT_EQ(r.format, "nvidia-smi table");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(FormatRfc3339(r.gpus[0].t_ms[1]), "2026-01-24T21:53:15.000Z");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "0 29");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "0 1835");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "24 97");
  EXPECT_EQ(Values(r, 0, GpuMetric::kTempC), "27 38");
  const auto& card = r.gpus[0].card;
  EXPECT_EQ(card.gpu + "/" + card.name + "/" + card.driver, "0/NVIDIA A40/580.95.05");
  EXPECT_EQ(card.memory_total_mb.value_or(0), 46068);
  EXPECT_EQ(card.power_limit_w.value_or(0), 300);
  ASSERT_EQ(r.processes.size(), 2U);
  EXPECT_EQ(r.processes[0].pid, 851083);
  EXPECT_EQ(r.strings.Get(r.processes[0].name), "python");
  EXPECT_EQ(r.processes[0].Value(ProcessMetric::kGpuMemMb), 1826);
  EXPECT_EQ(r.strings.Get(r.processes[1].name), "dwm.exe");
  EXPECT_TRUE(IsMissing(r.processes[1].Value(ProcessMetric::kGpuMemMb)));
  EXPECT_EQ(Odds(r, Odd::kZoneAssumed), 2);
}

TEST(SmiTable, LocalTimesAreTakenInTheGivenZone) {
  const auto r = ReadText(Table("Sat Jan 24 21:52:14 2026", A40("27C", "24W", "0MiB", "0%")), "Asia/Shanghai");
  EXPECT_EQ(FormatRfc3339(r.gpus[0].t_ms[0]), "2026-01-24T13:52:14.000Z");
}

TEST(SmiTable, OfOldDriversIsReadAsWell) {
  const auto r = ReadText(
      "Mon Oct 23 17:49:19 2017\n"
      "+-----------------------------------------------------------------------------+\n"
      "| NVIDIA-SMI 384.47                 Driver Version: 384.47                    |\n"
      "|-------------------------------+----------------------+----------------------+\n"
      "| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
      "| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |\n"
      "|===============================+======================+======================|\n"
      "|   0  GeForce GTX 108...  Off  | 0000:01:00.0      On |                  N/A |\n"
      "| 38%   64C    P2    68W / 250W |    665MiB / 11171MiB |      5%      Default |\n"
      "+-------------------------------+----------------------+----------------------+\n"
      "|  10  Tesla K80           On   | 0000:05:00.0     Off |                    0 |\n"
      "| N/A   67C    P2    67W / 149W |    350MiB / 11172MiB |     98%   E. Process |\n"
      "+-------------------------------+----------------------+----------------------+\n"
      "\n"
      "+-----------------------------------------------------------------------------+\n"
      "| Processes:                                                       GPU Memory |\n"
      "|  GPU       PID  Type  Process name                               Usage      |\n"
      "|=============================================================================|\n"
      "|   10     24133     C   python3                                       339MiB |\n"
      "+-----------------------------------------------------------------------------+\n");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[0].card.name, "GeForce GTX 108...");
  EXPECT_EQ(r.gpus[1].card.gpu, "10");
  EXPECT_EQ(r.gpus[1].card.name, "Tesla K80");
  EXPECT_EQ(Values(r, 1, GpuMetric::kSmUtil), "98");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "68");
  ASSERT_EQ(r.processes.size(), 1U);
  EXPECT_EQ(r.processes[0].card, 1);
  EXPECT_EQ(r.processes[0].pid, 24133);
}

TEST(SmiTable, AtWindowsTheLastWordOfTheNameIsTheDriverModel) {
  std::string head = kHead;
  head.replace(head.find("Driver Version: 580.95.05      CUDA"), 35, "KMD Version: 610.62       CUDA UMD ");
  const auto r = ReadText("Wed Jun 24 10:17:41 2026\n" + head +
                          Card("  0  NVIDIA GeForce RTX 2080 ...  WDDM ", "  00000000:0C:00.0  On",
                               "| 38%   39C    P8             37W /  250W |     797MiB /   8192MiB |      7%      "
                               "Default |\n") +
                          kEnd);
  EXPECT_EQ(r.gpus[0].card.name, "NVIDIA GeForce RTX 2080 ...");
  EXPECT_EQ(r.gpus[0].card.driver, "610.62");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "7");
}

TEST(SmiTable, UnderMigUtilisationIsUnknownAndInstancesHaveMemory) {
  const std::string rest =
      "+-----------------------------------------------------------------------------------------+\n"
      "| MIG devices:                                                                            |\n"
      "+------------------+----------------------------------+-----------+-----------------------+\n"
      "| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|        Shared         |\n"
      "|      ID  ID  Dev |                Shared BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |\n"
      "|                  |                                  |        ECC|                       |\n"
      "|==================+==================================+===========+=======================|\n"
      "|  0    2   0   0  |           11091MiB / 40448MiB    | 60      0 |  3   0    3    0    3 |\n"
      "|                  |               0MiB / 24739MiB    |           |                       |\n"
      "+------------------+----------------------------------+-----------+-----------------------+\n"
      "|  0   10   0   3  |               9MiB /  9984MiB    | 16      0 |  1   0    1    0    1 |\n"
      "|                  |               0MiB /  6184MiB    |           |                       |\n"
      "+------------------+----------------------------------+-----------+-----------------------+\n"
      "| Processes:                                                                              |\n"
      "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n"
      "|        ID   ID                                                               Usage      |\n"
      "|=========================================================================================|\n"
      "|    0    2    0            21198      C   ./gpu_burn                             7484MiB |\n";
  const auto r = ReadText(Table("Tue Jul 14 09:00:43 2026", A40("52C", "432W", "11125MiB", "N/A"), rest));
  ASSERT_EQ(r.gpus.size(), 3U);
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kSmUtil));  // busy or idle: it is not known
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "432");
  EXPECT_EQ(r.gpus[1].card.gpu, "0.10.0");
  EXPECT_EQ(r.gpus[2].card.gpu, "0.2.0");
  EXPECT_EQ(Values(r, 2, GpuMetric::kMemUsedMb), "11091");
  EXPECT_EQ(r.gpus[2].card.memory_total_mb.value_or(0), 40448);
  EXPECT_EQ(r.processes[0].card, 2);
  EXPECT_EQ(Odds(r, Odd::kNotSupported), 1);
}

TEST(SmiTable, AnErrorInOneCellCostsThatCellAlone) {
  const auto r = ReadText(Table("Sat Jan 24 21:52:14 2026", A40("38C", "ERR!", "1835MiB", "29%")) +
                          Table("Sat Jan 24 21:53:14 2026", A40("38C", "97W", "1835MiB", "ERR!")));
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "- 97");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "29 -");
  EXPECT_EQ(Odds(r, Odd::kErrorCell), 2);
}

TEST(SmiTable, GarbageIsNoReading) {
  const auto r = ReadText(Table("Sat Jan 24 21:52:14 2026", A40("38C", "97W", "1835MiB", "2287971552%")));
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kSmUtil));
  EXPECT_EQ(Odds(r, Odd::kOutOfRange), 1);
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "97");
}

TEST(SmiTable, AnotherBusAddressIsAnotherCard) {
  const auto r = ReadText(Table("Sat Jan 24 21:52:14 2026", A40("27C", "24W", "0MiB", "0%", "CA")) +
                          Table("Sat Jan 24 21:53:14 2026", A40("28C", "25W", "1MiB", "1%", "B1")) +
                          Table("Sat Jan 24 21:54:14 2026", A40("29C", "26W", "2MiB", "2%", "CA")));
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[0].card.gpu, "0");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "0 2");
  EXPECT_EQ(r.gpus[1].card.gpu, "00000000:B1:00");  // no point in it: that would be a MIG instance
  EXPECT_EQ(Values(r, 1, GpuMetric::kSmUtil), "1");
}

TEST(SmiTable, OfTwoTimesBeforeATableTheLaterCounts) {
  const auto r =
      ReadText("Sat Jan 24 21:52:13 UTC 2026\n" + Table("Sat Jan 24 21:52:14 2026", A40("27C", "24W", "0MiB", "0%")));
  EXPECT_EQ(FormatRfc3339(r.gpus[0].t_ms[0]), "2026-01-24T21:52:14.000Z");
}

TEST(SmiTable, ATornTableLosesWhatIsTorn) {
  const std::string whole = Table("Sat Jan 24 21:52:14 2026", A40("27C", "24W", "0MiB", "0%"));
  const auto cut = ReadText(whole + Table("Sat Jan 24 21:53:14 2026", A40("27C", "24W", "0MiB", "9%")).substr(0, 840));
  EXPECT_EQ(Values(cut, 0, GpuMetric::kSmUtil), "0");
  EXPECT_EQ(Odds(cut, Odd::kTornLine), 1);
  // The log of a loop that was cut at its front begins in the middle of a table.
  const auto begun = ReadText(whole.substr(600) + Table("Sat Jan 24 21:53:14 2026", A40("27C", "24W", "0MiB", "9%")));
  EXPECT_EQ(Values(begun, 0, GpuMetric::kSmUtil), "9");
}

TEST(SmiTable, WithoutAnyTimeIsRefusedAndSaysWhatToDo) {
  const std::string text = kHead + A40("27C", "24W", "0MiB", "0%") + kEnd;
  EXPECT_THAT(Refusal(text + text), testing::AllOf(HasSubstr("no date"), HasSubstr("--query-gpu=timestamp")));
}

TEST(SmiTable, BeforeACsvLogLeavesTheFileToTheCsvReader) {
  std::string csv = "timestamp, index, utilization.gpu [%]\n";
  for (int i = 0; i < 10; ++i) csv += fmt::format("2026/01/24 21:52:{:02}.000, 0, {} %\n", i, i);
  const auto r = ReadText(Table("Sat Jan 24 21:52:14 2026", A40("27C", "24W", "0MiB", "0%")) + csv);
  EXPECT_EQ(r.format, "nvidia-smi csv");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "0 1 2 3 4 5 6 7 8 9");
}

TEST(SmiTable, IsExplained) {
  const std::string e = ExplainText(Table("Sat Jan 24 21:52:14 2026", A40("27C", "24W", "0MiB", "0%")));
  EXPECT_THAT(e, HasSubstr("nvidia-smi table (certainty 0.9"));
  EXPECT_THAT(e, HasSubstr("GPU-Util -> sm_util [%]"));
  EXPECT_THAT(e, HasSubstr("UTC (assumed: the times carry none)"));
}

TEST(SmiTable, PublicLogsAreReadAsTheyWereByEye) {
  const auto fs = sys::MakeRealFileSystem();
  const std::string root = std::string(SAWBILL_SOURCE_DIR) + "/../shared/data/smi_text/aucurriculum_box/";
  if (!fs->Stat(root).ok()) GTEST_SKIP() << "no public logs beside the checkout (../shared/data)";
  const auto first = OpenFile(fs.get(), root + "gpu_monitor.log", {});
  ASSERT_TRUE(first.ok()) << first.status().message();
  const auto r = *(*first)->Read(0);
  ASSERT_EQ(r.gpus.size(), 1U);
  ASSERT_EQ(r.gpus[0].size(), 134U);
  EXPECT_EQ(FormatRfc3339(r.gpus[0].t_ms[0]), "2026-01-24T21:52:14.000Z");
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmUtil, 1), 29);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kPowerW, 2), 103);
  EXPECT_EQ(Odds(r, Odd::kTornLine) + Odds(r, Odd::kForeignText) + Odds(r, Odd::kBadCell), 0);
  const auto second = OpenFile(fs.get(), root + "gpu_monitor_G_-5dB.log", {});
  ASSERT_TRUE(second.ok()) << second.status().message();
  // The container moved: its card 0 was three cards.
  const auto moved = *(*second)->Read(0);
  ASSERT_EQ(moved.gpus.size(), 3U);
  size_t samples = 0;
  for (const auto& g : moved.gpus) samples += g.size();
  EXPECT_EQ(samples, 207U);
  EXPECT_EQ(moved.gpus[0].size(), 165U);
}

TEST(SmiTable, PublicCapturesOfSeveralDriversAndCardsAreReadWhole) {
  const auto fs = sys::MakeRealFileSystem();
  const std::string dir = std::string(SAWBILL_SOURCE_DIR) + "/../shared/data/nvidia_gpu_exporter";
  const auto files = fs->List(dir);
  if (!files.ok()) GTEST_SKIP() << "no public captures beside the checkout (../shared/data)";
  int tables = 0;
  for (const auto& file : *files) {
    if (!EndsWith(file.name, ".txt") || file.name.find("x86_64") == std::string::npos) continue;
    const auto bytes = fs->Map(sys::JoinPath(dir, file.name));
    ASSERT_TRUE(bytes.ok());
    const std::string_view all = (*bytes)->bytes();
    const bool mig = file.name.find("-mig") != std::string::npos;
    for (size_t at = all.find(":: nvidia-smi (default table)"); at != std::string_view::npos;
         at = all.find(":: nvidia-smi (default table)", at + 1)) {
      const size_t from = all.find('\n', all.find("####", at)) + 1;
      const auto r = ReadText(std::string(all.substr(from, all.find("####", from) - from)));
      ASSERT_GE(r.gpus.size(), 1U) << file.name;
      EXPECT_EQ(r.gpus[0].Has(GpuMetric::kSmUtil), !mig) << file.name;
      EXPECT_EQ(r.gpus.size() > 1, mig) << file.name;
      EXPECT_GT(r.gpus[0].At(GpuMetric::kTempC, 0), 20) << file.name;
      EXPECT_GT(r.gpus[0].At(GpuMetric::kPowerW, 0), 5) << file.name;
      EXPECT_GT(r.gpus[0].card.memory_total_mb.value_or(0), 7000) << file.name;
      EXPECT_EQ(Odds(r, Odd::kTornLine) + Odds(r, Odd::kBadRow) + Odds(r, Odd::kForeignText) + Odds(r, Odd::kBadCell),
                0)
          << file.name;
      ++tables;
    }
  }
  EXPECT_GE(tables, 18);
}

}  // namespace
}  // namespace sawbill::ingest
