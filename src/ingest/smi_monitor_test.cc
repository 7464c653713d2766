// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/text.h"
#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using model::ProcessMetric;
using testing::AllOf;
using testing::HasSubstr;

constexpr char kDmon[] =
    "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk     fb   bar1  rxpci  txpci \n"
    "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %    MHz    MHz     MB     MB   MB/s   MB/s \n";

TEST(Dmon, ColumnsAreTakenByTheirNames) {
  const auto r =
      ReadText(std::string(kDmon) +
               " 20240104   13:54:35      0    631     63     57    100     10   2619   1980   9000      4    "
               "120     80 \n"
               " 20240104   13:54:35      1     69     41      -      0      0   2619    345      7      2      "
               "0      3 \n");
  EXPECT_EQ(r.format, "nvidia-smi dmon");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(FormatRfc3339(r.gpus[0].t_ms[0]), "2024-01-04T13:54:35.000Z");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "100");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUtil), "10");  // the controller, not memory used
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "9000");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "631");
  EXPECT_EQ(Values(r, 0, GpuMetric::kTempC), "63");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmClockMhz), "1980");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemClockMhz), "2619");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPcieRxMbS), "120");
  EXPECT_EQ(Values(r, 1, GpuMetric::kPcieTxMbS), "3");
  EXPECT_EQ(Odds(r, Odd::kZoneAssumed), 2);
}

TEST(Dmon, ALaterHeadingMapsTheColumnsAnew) {
  const auto r = ReadText(
      "#Date       Time        gpu     sm    mem\n#YYYYMMDD   HH:MM:SS    Idx      %      %\n"
      " 20240104   13:54:35      0     40      9\n"
      "#Date       Time        gpu    pwr     sm\n#YYYYMMDD   HH:MM:SS    Idx      W      %\n"
      " 20240104   13:54:36      0    300     41\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "40 41");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "- 300");
  EXPECT_EQ(Odds(r, Odd::kRepeatedHeader), 1);
}

TEST(Dmon, UnderMigUtilisationIsUnknown) {
  const auto r =
      ReadText(std::string(kDmon) +
               " 20240104   13:54:35      0    438     55     61      -      -   2619   1980      -      -      "
               "-      - \n");
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kSmUtil));
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "438");
}

TEST(Dmon, WhatIsNoPercentageIsLeftEmpty) {
  const std::string head = "#Date Time gpu sm mem\n#YYYYMMDD HH:MM:SS Idx % %\n";
  const auto r = ReadText(head +
                          "20240104 13:54:35 0 4000 7\n"        // a stale entry of the driver's ring buffer
                          "20240104 13:54:36 0 2287971552 8\n"  // memory that nobody filled in
                          "20240104 13:54:37 0 140737488355328 9\n"
                          "20240104 13:54:38 0 4x 10\n");
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kSmUtil));
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUtil), "7 8 9 10");  // one odd cell never costs the row
  EXPECT_EQ(Odds(r, Odd::kOutOfRange), 3);
  EXPECT_EQ(Odds(r, Odd::kBadCell), 1);
}

TEST(Dmon, ATornRowIsLeftOut) {
  const auto r = ReadText("#Date Time gpu sm mem\n#YYYYMMDD HH:MM:SS Idx % %\n20240104 13:54:35 0 40 7\n20240104 13:5");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "40");
  EXPECT_EQ(Odds(r, Odd::kTornLine), 1);
  const auto merged = ReadText(
      "#Date Time gpu sm mem\n#YYYYMMDD HH:MM:SS Idx % %\n20240104 13:54:35 0 40 720240104 13:54:36 0 1 1\n"
      "20240104 13:54:37 0 41 7\n");
  EXPECT_EQ(Values(merged, 0, GpuMetric::kSmUtil), "41");
  EXPECT_EQ(Odds(merged, Odd::kExtraCells), 1);
}

TEST(Dmon, WithoutDatesIsRefusedAndSaysWhatToDo) {
  const std::string text = "# gpu    pwr     sm \n# Idx      W      % \n    0     69      0 \n    0     69      0 \n";
  EXPECT_THAT(Refusal(text), AllOf(HasSubstr("no date"), HasSubstr("-o DT")));
  EXPECT_THAT(Refusal("#Time        gpu     sm\n#HH:MM:SS    Idx      %\n 13:54:35      0     40\n"),
              HasSubstr("-o DT"));
}

TEST(Dmon, LinesThatWereStampedOnTheirWayAreRead) {
  const auto r = ReadText(
      "2026-01-02T03:04:05+0800 # gpu    pwr     sm \n2026-01-02T03:04:05+0800 # Idx      W      % \n"
      "2026-01-02T03:04:05+0800     0     69     12 \n2026-01-02T03:04:06+0800     0     70     13 \n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "12 13");
  EXPECT_EQ(FormatRfc3339(r.gpus[0].t_ms[0]), "2026-01-01T19:04:05.000Z");
  EXPECT_EQ(Odds(r, Odd::kZoneAssumed), 0);
}

TEST(Pmon, GivesProcessesAndNoReadingsOfCards) {
  const auto r = ReadText(
      "#Date       Time        gpu         pid   type     sm    mem    enc    dec     fb    command \n"
      "#YYYYMMDD   HH:MM:SS    Idx           #    C/G      %      %      %      %     MB    name \n"
      " 20240104   13:54:35      0      11345     C     99     10      -      -   7484    gpu_burn       \n"
      " 20240104   13:54:35      0      17648   C+G      -      -      -      -      5    NVIDIA Overlay.\n"
      " 20240104   13:54:35      1          -     -      -      -      -      -      -    -              \n");
  EXPECT_EQ(r.format, "nvidia-smi pmon");
  ASSERT_EQ(r.processes.size(), 2U);
  EXPECT_EQ(r.processes[0].pid, 11345);
  EXPECT_EQ(r.processes[0].Value(ProcessMetric::kSmUtil), 99);
  EXPECT_EQ(r.processes[0].Value(ProcessMetric::kGpuMemMb), 7484);
  EXPECT_EQ(r.strings.Get(r.processes[0].name), "gpu_burn");
  EXPECT_TRUE(IsMissing(r.processes[1].Value(ProcessMetric::kSmUtil)));
  EXPECT_EQ(r.strings.Get(r.processes[1].name), "NVIDIA");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[0].size(), 0U);
}

TEST(Pmon, NonsenseOfDeadProcessesIsLeftEmpty) {
  const std::string head =
      "#Date Time gpu pid type sm mem enc dec command\n#YYYYMMDD HH:MM:SS Idx # C/G % % % % name\n";
  const auto r = ReadText(head +
                          "20240104 13:54:35 0 1 C 4000 - - - zombie\n20240104 13:54:35 0 2 C 12 - - - a\n"
                          "20240104 13:54:35 0 3 C 7 - - - b\n20240104 13:54:35 0 4 C 2287971552 - - - c\n");
  ASSERT_EQ(r.processes.size(), 4U);
  EXPECT_TRUE(IsMissing(r.processes[0].Value(ProcessMetric::kSmUtil)));
  EXPECT_EQ(r.processes[1].Value(ProcessMetric::kSmUtil), 12);
  EXPECT_EQ(r.processes[2].Value(ProcessMetric::kSmUtil), 7);
  EXPECT_TRUE(IsMissing(r.processes[3].Value(ProcessMetric::kSmUtil)));
  EXPECT_EQ(Odds(r, Odd::kOutOfRange), 2);
}

TEST(Monitor, PublicCapturesAreRecognisedAndRefusedForWantOfTimes) {
  const auto fs = sys::MakeRealFileSystem();
  const std::string dir = std::string(SAWBILL_SOURCE_DIR) + "/../shared/data/nvidia_gpu_exporter/extracted";
  const auto files = fs->List(dir);
  if (!files.ok()) GTEST_SKIP() << "no public captures beside the checkout (../shared/data)";
  int seen = 0;
  for (const auto& file : *files) {
    if (!EndsWith(file.name, "mon.txt")) continue;
    const auto s = OpenFile(fs.get(), sys::JoinPath(dir, file.name), {});
    ASSERT_FALSE(s.ok()) << file.name;
    EXPECT_THAT(s.status().message(), HasSubstr("-o DT")) << file.name;
    ++seen;
  }
  EXPECT_GE(seen, 20);
}

/// The same captures with a stamp before each line, as `ts` would have put it there: every row is read.
TEST(Monitor, PublicCapturesWithStampsGiveEveryRow) {
  const auto fs = sys::MakeRealFileSystem();
  const std::string file = std::string(SAWBILL_SOURCE_DIR) +
                           "/../shared/data/nvidia_gpu_exporter/extracted/"
                           "linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01__load__dmon.txt";
  const auto bytes = fs->Map(file);
  if (!bytes.ok()) GTEST_SKIP() << "no public captures beside the checkout (../shared/data)";
  std::string stamped;
  int second = 0;
  for (const std::string_view line : Split((*bytes)->bytes(), '\n')) {
    if (!line.empty()) stamped += fmt::format("17700000{:02} {}\n", second++ % 60, line);
    if (second == 7) break;
  }
  const auto r = ReadText(stamped);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "100 100 100 100 100");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "631 634 633 634 636");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmClockMhz), "1980 1980 1980 1980 1980");
}

TEST(SmiDmon, WithoutUnitsIsToldByItsNames) {
  std::string text = "#Date, Time, gpu, pwr, gtemp, mtemp, sm, mem, mclk, pclk\n";
  for (int i = 0; i < 10; ++i)
    text += "20261103, 09:00:0" + std::to_string(i) + ", 0, 375, 55, 50, 95, 31, 1593, 1410\n";
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(r.gpus[0].size(), 10U);
  EXPECT_EQ(r.gpus[0].At(model::GpuMetric::kSmUtil, 9), 95);
}

constexpr char kTimeOnly[] = "#Time        gpu    pwr     sm\n#HH:MM:SS    Idx      W      %\n";

/// The times of the rows of a log with `-o T`, in milliseconds behind the first, and the first itself.
std::string TimesOf(const std::string& above, const std::vector<std::string>& times, const std::string& zone = "UTC") {
  std::string text = above + "\n" + kTimeOnly;
  for (const std::string& t : times) text += " " + t + "     0    300     95\n";
  const auto r = TryRead(text, zone);
  if (!r.ok()) return r.status().message();
  std::string out = FormatRfc3339(r->gpus[0].t_ms[0]);
  for (const TimeMs t : r->gpus[0].t_ms) out += " " + std::to_string((t - r->gpus[0].t_ms[0]) / 1000);
  return out;
}

TEST(DmonTimeOnly, ADateAboveSaysOfWhichDay) {
  EXPECT_EQ(TimesOf("Tue Nov  3 23:50:00 UTC 2026", {"23:50:01", "23:50:02"}), "2026-11-03T23:50:01.000Z 0 1");
  EXPECT_EQ(TimesOf("=== 2026-11-03 17:00:00 ===", {"17:00:01"}, "Asia/Shanghai"), "2026-11-03T09:00:01.000Z 0");
}

TEST(DmonTimeOnly, MidnightsArePassed) {
  EXPECT_EQ(TimesOf("Tue Nov  3 23:59:58 UTC 2026", {"23:59:59", "00:00:01", "12:00:00", "23:59:59", "00:00:00"}),
            "2026-11-03T23:59:59.000Z 0 2 43201 86400 86401");
  EXPECT_EQ(TimesOf("Tue Nov  3 23:59:59 UTC 2026", {"00:00:00"}), "2026-11-04T00:00:00.000Z 0");
}

TEST(DmonTimeOnly, ADateInAnotherZoneThanTheRows) {
  // `date -u` above rows of a machine in Shanghai; across midnight too.
  EXPECT_EQ(TimesOf("2026-11-03T09:00:00Z", {"17:00:01", "17:00:02"}), "2026-11-03T09:00:01.000Z 0 1");
  EXPECT_EQ(TimesOf("2026-11-03T17:00:00Z", {"01:00:01", "01:00:02"}), "2026-11-03T17:00:01.000Z 0 1");
  EXPECT_EQ(TimesOf("2026-11-03T09:00:00Z", {"09:07:00"}), "2026-11-03T09:07:00.000Z 0");  // started later
}

TEST(DmonTimeOnly, EachDateLineCounts) {
  const auto r =
      ReadText("Tue Nov  3 09:00:00 UTC 2026\n" + std::string(kTimeOnly) + " 09:00:01     0    300     95\n" +
               "Thu Nov  5 09:00:00 UTC 2026\n" + kTimeOnly + " 09:00:01     0    300     96\n");
  EXPECT_EQ(r.gpus[0].t_ms[1] - r.gpus[0].t_ms[0], 2 * 86'400'000);
}

TEST(DmonTimeOnly, WithoutADateIsRefused) {
  EXPECT_THAT(TimesOf("some words", {"23:50:01"}), HasSubstr("no date stands with any of them"));
}

}  // namespace
}  // namespace sawbill::ingest
