// SPDX-License-Identifier: Apache-2.0
// One small file for each quirk of public GPU logs: the right value, and a count, never a crash or a shifted column.
#include <gmock/gmock.h>

#include "ingest/test_util.h"
#include "sys/decompress.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using testing::HasSubstr;

constexpr char kHead[] = "timestamp, index, utilization.gpu [%], memory.used [MiB]\n";

TEST(Units, InHeadingsAndCells) {
  const auto r = ReadText(
      "timestamp, index, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W], clocks.sm [MHz]\n"
      "2025/06/13 00:27:52.195, 0, 40 %, 1200 MiB, 32768 MiB, 120.50 W, 1380 MHz\n");
  EXPECT_EQ(r.format, "nvidia-smi csv");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "40");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "1200");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "120.5");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmClockMhz), "1380");
  EXPECT_EQ(r.gpus[0].card.memory_total_mb, 32768);
  EXPECT_EQ(Odds(r, Odd::kUnitAssumed), 0);
}

TEST(Units, InHeadingsOnly) {
  const auto r = ReadText("timestamp, utilization.gpu [%], power.draw [W]\n2025-01-01T00:00:00Z, 40, 99.5\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "99.5");
  EXPECT_EQ(Odds(r, Odd::kUnitAssumed), 0);
}

TEST(Units, InNeitherAreAssumedAndCounted) {
  const auto r = ReadText("timestamp,memory.used,power.draw\n1762903990,594, 74.01\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "594");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "74.01");
  EXPECT_EQ(Odds(r, Odd::kUnitAssumed), 2);
}

TEST(Units, OfMemoryAreConverted) {
  const auto r = ReadText(
      "timestamp,memory.used,memory_total_GB\n1762903990,1.5 GiB,80\n1762903991,2048 KiB,80\n1762903992,7 MB,80\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "1536 2 7");
  EXPECT_EQ(r.gpus[0].card.memory_total_mb, 80 * 1024);
}

TEST(Units, BytesWithoutUnitAreSeenByTheirSize) {
  const auto r = ReadText("timestamp,memory_used\n1762903990,8589934592\n1762903991,17179869184\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "8192 16384");
  EXPECT_EQ(r.notes.size(), 1U);
}

TEST(Units, MilliwattsByHeading) {
  EXPECT_EQ(Values(ReadText("timestamp,gpu,power_mW\n1762903990,0,74010\n"), 0, GpuMetric::kPowerW), "74.01");
}

TEST(Units, AWrongUnitIsABadCell) {
  const auto r = ReadText("timestamp,utilization.gpu,memory.used\n1762903990,40 MHz,5 MiB\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "-");
  EXPECT_EQ(Odds(r, Odd::kBadCell), 1);
}

TEST(Ratio, FractionsUpToOneArePercentTimesHundred) {
  const auto r = ReadText("timestamp,gpu,sm_util\n1762903990,0,0.91\n1762903991,0,1.0\n1762903992,0,0\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "91 100 0");
  EXPECT_EQ(Odds(r, Odd::kRatioAsPercent), 3);
}

TEST(Ratio, WholeZerosAndOnesArePercents) {
  const auto r = ReadText("timestamp,utilization.gpu\n1762903990,0\n1762903991,1\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "0 1");
  EXPECT_EQ(Odds(r, Odd::kRatioAsPercent), 0);
}

TEST(Ratio, APercentSignInTheCellIsBelieved) {
  EXPECT_EQ(Values(ReadText("timestamp,utilization.gpu\n1762903990,0.5 %\n1762903991,0.25 %\n"), 0, GpuMetric::kSmUtil),
            "0.5 0.25");
}

TEST(Ratio, DecimalPercentsStayPercents) {
  EXPECT_EQ(Values(ReadText("timestamp,gpu_util\n1762903990,0.5\n1762903991,45.5\n"), 0, GpuMetric::kSmUtil),
            "0.5 45.5");
}

TEST(Ratio, AHeadingThatSaysPercentIsBelieved) {  // an idle card at 0.3 %
  for (const char* heading : {"utilization.gpu [%]", "gpu_util%", "utilization_gpu_percent"})
    EXPECT_EQ(Values(ReadText("timestamp," + std::string(heading) + "\n1762903990,0.3\n1762903991,0.8\n"), 0,
                     GpuMetric::kSmUtil),
              "0.3 0.8")
        << heading;
}

TEST(Ratio, MergedWithPercentsGivesOneUnit) {  // the mean of 0.91 and 91 is 91
  EXPECT_EQ(Values(ReadText("timestamp,sm_util\n1762903990,0.91\n1762903991,91\n"), 0, GpuMetric::kSmUtil), "91 91");
}

TEST(Ratio, IsDecidedForEachHeadingByItself) {
  const auto r =
      ReadText("timestamp,sm_util\n1762903990,0.91\n1762903991,0.5\ntimestamp,utilization.gpu [%]\n1762903992,91\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "91 50 91");
}

TEST(Missing, EveryMarkerIsMissingAndCounted) {
  for (const char* cell :
       {"[N/A]", "N/A", "-", "[Not Supported]", "[Function Not Found]", "",
        "[Requested functionality has been deprecated]", "Requested functionality has been deprecated"}) {
    const auto r = ReadText(std::string("timestamp,utilization.gpu,memory.used\n1762903990,40,") + cell + "\n");
    EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "-") << cell;
    EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "40") << cell;
    EXPECT_EQ(Odds(r, Odd::kNotSupported), 1) << cell;
  }
  for (const char* cell : {"ERR!", "[Unknown Error]", "[GPU is lost]", "Unknown Error", "[Insufficient Permissions]"}) {
    const auto r = ReadText(std::string("timestamp,utilization.gpu,memory.used\n1762903990,") + cell + ",7\n");
    EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "-") << cell;
    EXPECT_EQ(Odds(r, Odd::kErrorCell), 1) << cell;
  }
}

TEST(Missing, AnUnreadableMemoryDoesNotHideTheCard) {
  const auto r = ReadText(std::string(kHead) + "2025/06/13 00:27:52.195, 0, 40 %, [N/A]\n");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "40");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "-");
}

TEST(Missing, AnAbsentEnergyCounterIsNotZero) {
  const auto r = ReadText(
      "timestamp,index,power.draw,total_energy_consumption [mJ]\n1762903990,0,250,[N/A]\n1762903991,0,250,[N/A]\n");
  ASSERT_EQ(r.gpus[0].energy_j.size(), 2U);
  EXPECT_TRUE(IsMissing(r.gpus[0].energy_j[0]));
  const auto with = ReadText("timestamp,index,power.draw,total_energy_consumption [mJ]\n1762903990,0,250,9000000123\n");
  EXPECT_DOUBLE_EQ(with.gpus[0].energy_j[0], 9000000.123);
}

TEST(Missing, ASampleWithoutAnyReadingIsCounted) {
  const auto r = ReadText("timestamp,index,utilization.gpu,memory.used\n1762903990,0,[N/A],[N/A]\n1762903991,0,40,7\n");
  EXPECT_EQ(Odds(r, Odd::kNoValues), 1);
  EXPECT_EQ(r.gpus[0].size(), 1U) << "nothing was measured there";
}

TEST(Range, ImpossibleReadingsAreLeftEmpty) {
  const auto r = ReadText("timestamp,utilization.gpu,temperature.gpu\n1762903990,2287971552,40\n1762903991,50,-273\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "- 50");
  EXPECT_EQ(Values(r, 0, GpuMetric::kTempC), "40 -");
  EXPECT_EQ(Odds(r, Odd::kOutOfRange), 2);
}

TEST(Reserved, IsTakenOffWhereUsedHoldsIt) {  // 912 MB "used" and no process: the driver's own 904
  const auto r = ReadText("timestamp,index,memory.used [MiB],memory.reserved [MiB]\n1762903990,0,912 MiB,904 MiB\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "8");
  EXPECT_EQ(r.notes.size(), 1U);
}

TEST(Reserved, IsLeftWhereItStandsApart) {
  const auto r = ReadText(
      "timestamp,index,memory.total [MiB],memory.reserved [MiB],memory.used [MiB],memory.free [MiB]\n"
      "1762903990,0,81559 MiB,479 MiB,600 MiB,80480 MiB\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "600");
}

TEST(MemoryShare, UnderTheNameOfTheControllerIsLeftOut) {
  std::string text = "timestamp,gpu_util,mem_util,memory.used,memory.total\n";
  for (int i = 0; i < 20; ++i)
    text += std::to_string(1762903990 + i) + ",90," + std::to_string(20 + i) + "," + std::to_string((20 + i) * 100) +
            ",10000\n";
  const auto r = ReadText(text);
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kMemUtil));
  EXPECT_EQ(r.notes.size(), 1U);
}

TEST(Time, WithoutZoneIsTakenInTheGivenOneAndSaidSo) {
  const auto r = ReadText(std::string(kHead) + "2025/06/13 08:00:00.250, 0, 1 %, 1 MiB\n", "Asia/Shanghai");
  EXPECT_EQ(FormatRfc3339(r.gpus[0].t_ms[0]), "2025-06-13T00:00:00.250Z");
  EXPECT_EQ(Odds(r, Odd::kZoneAssumed), 1);
  ASSERT_FALSE(r.notes.empty());
  EXPECT_THAT(r.notes[0], HasSubstr("Asia/Shanghai"));
}

TEST(Time, InEveryNotationIsTheSameInstant) {
  for (const char* t :
       {"2025-09-24T03:41:43.487Z", "2025-09-24T11:41:43.487+08:00", "2025-09-24 03:41:43.487+00:00", "1758685303.487",
        "1758685303487", "1758685303487000", "2025-09-23T22:41:43.487-0500", "\"2025-09-24T03:41:43.487Z\""}) {
    const auto r = ReadText(std::string("timestamp,utilization.gpu\n") + t + ",40\n", "Asia/Tokyo");
    ASSERT_EQ(r.gpus.size(), 1U) << t;
    EXPECT_EQ(FormatRfc3339(r.gpus[0].t_ms[0]), "2025-09-24T03:41:43.487Z") << t;
    EXPECT_EQ(Odds(r, Odd::kZoneAssumed), 0) << t;
  }
}

TEST(Time, TheHourThatComesTwiceIsCountedTwice) {  // Berlin, 2025-10-26: 03:00 becomes 02:00
  const auto r = ReadText(
      "timestamp,utilization.gpu\n2025-10-26 02:20:00,1\n2025-10-26 02:50:00,2\n2025-10-26 02:20:00,3\n2025-10-26 "
      "02:50:00,4\n2025-10-26 03:20:00,5\n",
      "Europe/Berlin");
  ASSERT_EQ(r.gpus[0].size(), 5U);
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(r.gpus[0].t_ms[i] - r.gpus[0].t_ms[i - 1], 30 * 60'000);
  EXPECT_EQ(Odds(r, Odd::kTimeBackwards), 0);
}

TEST(Time, RunningBackIsMergedAndSaid) {
  std::string text = "timestamp,utilization.gpu\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(1762903990 + i * 10) + ",50\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(1762903993 + 900 + i * 10) + ",60\n";  // set back by 90 s
  const auto r = ReadText(text);
  EXPECT_EQ(Odds(r, Odd::kTimeBackwards), 1);
  EXPECT_EQ(Odds(r, Odd::kTwoWriters), 0);
  EXPECT_EQ(r.gpus[0].size(), 200U);
  const auto& t = r.gpus[0].t_ms;
  EXPECT_TRUE(std::is_sorted(t.begin(), t.end()));
  EXPECT_NEAR(model::Cover(t).covered_s, 1893, 1);  // no hours invented
  ASSERT_EQ(r.notes.size(), 1U);
  EXPECT_THAT(r.notes[0], HasSubstr("1 min 2"));
}

TEST(Time, HolesOfHoursAreCounted) {
  const auto r =
      ReadText("timestamp,utilization.gpu\n1762900000,1\n1762900060,1\n1762900120,1\n1762930000,1\n1762930060,1\n");
  EXPECT_EQ(Odds(r, Odd::kGap), 1);
}

TEST(Time, IntervalsFromATenthOfASecondToAThousand) {
  const auto fast =
      ReadText("timestamp,utilization.gpu\n1762900000.1,1\n1762900000.2,2\n1762900000.3,3\n1762900000.4,4\n");
  EXPECT_EQ(fast.gpus.size(), 1U);
  EXPECT_EQ(fast.gpus[0].size(), 4U);
  const auto slow = ReadText("timestamp,utilization.gpu\n1762900000,1\n1762901000,2\n1762902000,3\n");
  EXPECT_EQ(slow.gpus[0].size(), 3U);
}

TEST(Bytes, BomAndCrlf) {
  const auto r = ReadText("\xEF\xBB\xBFtimestamp,gpu_util%,temp_C\r\n2025/10/27 18:26:56.675,7,27\r\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "7");
  EXPECT_EQ(Values(r, 0, GpuMetric::kTempC), "27");
}

TEST(Bytes, ANulHolePartsTwoLines) {
  const std::string nul(500, '\0');
  const auto r = ReadText("timestamp,utilization.gpu,memory.used\n1762900000,1,10\n" + nul +
                          "1762900005,2,20\n1762900010,3" + nul + "1762900015,4,40\n1762900020,5,50\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "1 2 4 5");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "10 20 40 50");
  EXPECT_EQ(Odds(r, Odd::kNulBytes), 1000);
  EXPECT_EQ(Odds(r, Odd::kTornLine), 1);
}

TEST(Bytes, Utf16OfPowershellIsRead) {
  std::string wide = "\xFF\xFE";
  for (const char c : std::string("timestamp, utilization.gpu [%]\r\n2025/06/13 00:27:52.195, 40 %\r\n")) {
    wide += c;
    wide += '\0';
  }
  EXPECT_EQ(Values(ReadText(wide), 0, GpuMetric::kSmUtil), "40");
}

TEST(Bytes, GzipAndZstdAreReadByContent) {
  const std::string text = std::string(kHead) + "2025/06/13 00:27:52.195, 0, 40 %, 1 MiB\n";
  EXPECT_EQ(Values(ReadText(*sys::CompressGzip(text)), 0, GpuMetric::kSmUtil), "40");
  EXPECT_EQ(Values(ReadText(*sys::CompressZstd(text)), 0, GpuMetric::kSmUtil), "40");
}

TEST(Bytes, ADamagedTailIsCountedAndTheRestKept) {
  std::string text = kHead;
  for (int i = 0; i < 3000; ++i)
    text += "2025/06/13 00:27:52." + std::to_string(100 + i % 900) + ", " + std::to_string(i % 8) + ", " +
            std::to_string(i * 37 % 101) + " %, " + std::to_string(i * i % 9973) + " MiB\n";
  std::string packed = *sys::CompressGzip(text);
  packed.resize(packed.size() * 3 / 4);
  const auto r = ReadText(packed);
  EXPECT_EQ(Odds(r, Odd::kDamagedFile), 1);
  EXPECT_EQ(r.gpus.size(), 8U);
}

TEST(Lines, ATableBeforeTheCsvIsPassedOver) {
  const auto r = ReadText(
      "Fri Jun 13 00:27:51 2025\n+-----------------+\n| NVIDIA-SMI 550.54  Driver, Version: 550.54 |\n| 0  Tesla V100 "
      "| 27C  P0 | 0% |\n+-----------------+\n\n" +
      std::string(kHead) +
      "2025/06/13 00:27:52.195, 0, 40 %, 1 MiB\nNo devices were found\n2025/06/13 00:27:53.195, 0, 41 %, 1 MiB\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "40 41");
  EXPECT_EQ(Odds(r, Odd::kForeignText), 6);
}

TEST(Lines, ASecondHeadingMapsTheColumnsAnew) {
  const auto r = ReadText(
      "timestamp,utilization.gpu,memory.used\n1762900000,1,10\ntimestamp,memory.used,temperature.gpu,utilization."
      "gpu\n1762900001,20,55,2\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "1 2");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "10 20");
  EXPECT_EQ(Values(r, 0, GpuMetric::kTempC), "- 55");
  EXPECT_EQ(Odds(r, Odd::kRepeatedHeader), 1);
}

TEST(Lines, AHeadingAboveEveryRow) {
  const auto r = ReadText(
      "timestamp,utilization.gpu\n1762900000,1\ntimestamp,utilization.gpu\n1762900001,2\ntimestamp,utilization."
      "gpu\n1762900002,3\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "1 2 3");
  EXPECT_EQ(Odds(r, Odd::kRepeatedHeader), 2);
}

TEST(Lines, RowsWithMoreOrFewerCellsAreLeftOutNotShifted) {
  const auto r = ReadText(
      "timestamp,name,utilization.gpu,memory.used\n1762900000,A,1,10\n1762900001,A, "
      "B,2,20\n1762900002,A,3\n1762900003,A,4,40\n1762900004,A,5,50,\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "1 4 5");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "10 40 50");
  EXPECT_EQ(Odds(r, Odd::kExtraCells), 1);
  EXPECT_EQ(Odds(r, Odd::kMissingCells), 1);
}

TEST(Lines, ALastRowCutMidCellLosesThatCell) {
  const auto r = ReadText("timestamp,utilization.gpu,memory.used\n1762900000,40,13504\n1762900001,41,135");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "40 41");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "13504 -");
  EXPECT_EQ(Odds(r, Odd::kTornLine), 1);
}

TEST(Lines, ALastRowCutBetweenCellsIsLeftOut) {
  const auto r = ReadText("timestamp,utilization.gpu,memory.used\n1762900000,40,13504\n1762900001,4");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "40");
  EXPECT_EQ(Odds(r, Odd::kTornLine), 1);
}

TEST(Lines, ALastRowWithItsUnitIsWhole) {
  const auto r = ReadText("timestamp,utilization.gpu,power.draw\n1762900000,40 %,11.30 W\n1762900001,41 %,11.28 W");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "11.3 11.28");
  EXPECT_EQ(Odds(r, Odd::kTornLine), 0);
}

TEST(Lines, HalfAUuidIsNoCard) {
  const auto r =
      ReadText("timestamp,utilization.gpu,uuid\n1762900000,40,GPU-aaaa\n1762900001,41,GPU-aaaa\n1762900002,42,GPU-a");
  EXPECT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "40 41");
}

TEST(Lines, AQuotedCellMayHoldCommasAndNewlines) {
  const auto r = ReadText(
      "timestamp,name,utilization.gpu\n1762900000,\"NVIDIA A40, 48\nGB\",40\n1762900001,\"NVIDIA A40, 48\nGB\",41\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "40 41");
  EXPECT_EQ(r.gpus[0].card.name, "NVIDIA A40, 48 GB");
}

TEST(Lines, AQuoteThatNeverClosesCostsOneRow) {
  const auto r = ReadText(
      "timestamp,name,utilization.gpu\n1762900000,A,40\n1762900001,\"A,41\n1762900002,A,42\n1762900003,A,43\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "40 42 43");
  EXPECT_EQ(Odds(r, Odd::kBadRow), 1);
}

TEST(Lines, ABadTimeIsABadRow) {
  const auto r = ReadText("timestamp,utilization.gpu,memory.used\n1762900000,40,1\nyesterday,41,1\n1762900002,42,1\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "40 42");
  EXPECT_EQ(Odds(r, Odd::kBadRow), 1);
}

TEST(TwoWriters, TornAndMergedRowsAreLeftOut) {
  const auto r = ReadText(
      std::string(kHead) +
      "2025/06/13 00:27:52.000, 0, 40 %, 10 MiB\n2025/06/13 00:27:2025/06/13 00:27:53.000, 0, 41 %, 11 MiB\n"
      "53.000, 0, 42 %, 12 MiB\n2025/06/13 00:27:54.000, 0, 43 %, 13 MiB2025/06/13 00:27:54.100, 0, 44 %, 14 MiB\n"
      "2025/06/13 00:27:55.000, 0, 45 %, 15 MiB\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "40 45");
  EXPECT_EQ(Odds(r, Odd::kBadRow) + Odds(r, Odd::kExtraCells), 3);
}

TEST(TwoWriters, WithDifferentColumnsAreTakenApart) {
  const auto r = ReadText(
      "timestamp,index,utilization.gpu,memory.used\n1762900000,0,1,10\ntimestamp,index,temperature.gpu\n1762900000.5,0,"
      "50\n"
      "1762900001,0,2,20\n1762900001.5,0,51\n1762900002,0,3,30\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "1 2 3");
  EXPECT_EQ(Values(r, 0, GpuMetric::kTempC), "50 51 -");  // half an interval later, and of the same card
  EXPECT_EQ(Odds(r, Odd::kTwoWriters), 1);
}

TEST(TwoWriters, OfOneCardAreCountedOnce) {  // the second began a second later and wrote over the same ten minutes
  std::string text = "timestamp,gpu_name,gpu_util%\n";
  for (int i = 0; i < 130; ++i) text += std::to_string(1762900000 + i * 5) + ",NVIDIA A40,7\n";
  text += std::string(800, '\0');
  for (int i = 0; i < 130; ++i) text += std::to_string(1762900001 + i * 5) + ",NVIDIA A40,7\n";
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(Odds(r, Odd::kTwoWriters), 1);
  EXPECT_EQ(Odds(r, Odd::kGap), 0);
  const auto cover = model::Cover(r.gpus[0].t_ms);
  EXPECT_NEAR(cover.covered_s, 645, 2);
  EXPECT_EQ(cover.holes, 0);
}

TEST(TwoWriters, OfSeveralCardsWithoutAnIndexAreRefused) {
  std::string text = "timestamp,utilization.gpu\n";
  for (int i = 0; i < 60; ++i) {
    for (const int back : {0, 7200}) {
      for (int g = 0; g < 4; ++g) text += std::to_string(1762900000 + i - back) + "," + std::to_string(g) + "\n";
    }
  }
  EXPECT_THAT(Refusal(text), HasSubstr("two writers"));
}

TEST(Throttle, MaskFlagsAndDeprecated) {
  const auto r = ReadText(
      "timestamp,index,utilization.gpu,clocks_event_reasons.active\n1762900000,0,1,0x0000000000000004\n1762900001,0,1,"
      "0x0000000000000000\n"
      "1762900002,0,1,0x0000000000000041\n1762900003,0,1,[Requested functionality has been deprecated]\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kThrottle), "2 0 9 -");  // sw_power_cap; none; gpu_idle|hw_thermal
  const auto flags = ReadText(
      "timestamp,index,utilization.gpu,clocks_throttle_reasons.sw_power_cap,clocks_throttle_reasons.hw_thermal_"
      "slowdown\n"
      "1762900000,0,1,Active,Not Active\n1762900001,0,1,Not Active,Active\n1762900002,0,1,Not "
      "Active,[N/A]\n1762900003,0,1,[N/A],[N/A]\n");
  EXPECT_EQ(Values(flags, 0, GpuMetric::kThrottle), "2 8 0 -");
}

TEST(Columns, TheBestOfRivalsIsTaken) {
  const auto r = ReadText(
      "timestamp,index,power.draw.instant [W],power.draw [W],clocks.gr,clocks.sm\n1762900000,0,99 W,88 W,700,800\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "88");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmClockMhz), "800");
}

TEST(Columns, WhichPowerWasReadIsNoted) {
  const auto r = ReadText("timestamp,index,power.draw.instant [W]\n1762900000,0,99 W\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "99");
  EXPECT_THAT(r.notes, testing::Contains(HasSubstr("power.draw.instant")));
}

TEST(Columns, FactsOfTheCard) {
  const auto r = ReadText(
      "timestamp,index,uuid,name,driver_version,utilization.gpu,enforced.power.limit [W],clocks.max.sm "
      "[MHz],memory.total [MiB]\n"
      "1762900000,3,GPU-1234,NVIDIA H100,550.54,5,700.00 W,1980 MHz,81559 MiB\n");
  const auto& c = r.gpus[0].card;
  EXPECT_EQ(c.gpu, "3");
  EXPECT_EQ(c.uuid, "GPU-1234");
  EXPECT_EQ(c.name, "NVIDIA H100");
  EXPECT_EQ(c.driver, "550.54");
  EXPECT_EQ(c.power_limit_w, 700);
  EXPECT_EQ(c.sm_clock_max_mhz, 1980);
  EXPECT_EQ(c.memory_total_mb, 81559);
}

TEST(Columns, UnknownOnesAreCountedKnownOnesAreNot) {
  const auto r = ReadText(
      "timestamp,utilization.gpu,utilization.encoder,pcie.link.gen.current,serial,loss,note\n1762900000,5,0,4,1,0.5,"
      "x\n");
  EXPECT_EQ(Odds(r, Odd::kUnknownColumn), 2);
}

TEST(Refuses, WhatHasNoTime) {
  EXPECT_THAT(Refusal("index, utilization.gpu [%], memory.used [MiB]\n0, 40 %, 5 MiB\n"), HasSubstr("time column"));
}

TEST(Refuses, ElapsedSecondsWithoutADate) {
  EXPECT_THAT(Refusal("time,utilization.gpu\n0.0,40\n1.0,41\n"),
              HasSubstr("the time in column 1 cannot be read: '0.0'"));
}

TEST(Refuses, OtherFilesWithWhatWasSeenAndWhatToDo) {
  EXPECT_THAT(Refusal("hello, world\n"), HasSubstr("it begins with \"hello, world\""));
  EXPECT_THAT(Refusal(""), HasSubstr("empty"));
  EXPECT_THAT(Refusal(std::string("\x00\x01\x02\x03\x04\x05", 6)), HasSubstr("binary"));
  EXPECT_THAT(Refusal("{\"traceEvents\": []}\n"), HasSubstr("Accepted: logs of nvidia-smi"));
  EXPECT_THAT(Refusal("timestamp, gpu_name, pid, process_name, used_gpu_memory [MiB]\n2025/06/13 00:27:52.195, A, 7, "
                      "python, 10 MiB\n"),
              HasSubstr("not a telemetry file"));
}

TEST(Refuses, AMissingFile) {
  sys::MemFileSystem fs;
  EXPECT_EQ(OpenFile(&fs, "/none.csv", {}).status().kind(), StatusKind::kNotFound);
}

TEST(Single, RowGivesACardAndNoTime) {
  const auto r = ReadText("timestamp,index,utilization.gpu\n1762900000,0,40\n");
  EXPECT_EQ(r.gpus[0].size(), 1U);
  EXPECT_EQ(Odds(r, Odd::kSingleSample), 1);
  EXPECT_EQ(model::Cover(r.gpus[0].t_ms).covered_s, 0);
}

TEST(Duplicate, SamplesCountOnce) {
  const auto r = ReadText("timestamp,index,utilization.gpu\n1762900000,0,40\n1762900000,0,40\n1762900001,0,41\n");
  EXPECT_EQ(r.gpus[0].size(), 2U);
  EXPECT_EQ(Odds(r, Odd::kDuplicateSample), 1);
}

}  // namespace
}  // namespace sawbill::ingest
