// SPDX-License-Identifier: Apache-2.0
#include "store/day_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "store/test_util.h"

namespace sawbill::store {
namespace {
using model::GpuMetric;
using model::Odd;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kFile = "d/gpu-2026-01-01.csv";

TEST(DayReader, AMissingOrEmptyFolderSaysWhatToDo) {
  sys::MemFileSystem fs;
  EXPECT_EQ(OpenDataFolder(&fs, "nowhere", {}).status().kind(), StatusKind::kNotFound);
  fs.Put("d/notes.txt", "x");
  const Status status = OpenDataFolder(&fs, "d", {}).status();
  EXPECT_EQ(status.kind(), StatusKind::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("sawbill record"));
  EXPECT_FALSE(IsDataFolder(&fs, "d"));
}

TEST(DayReader, ColumnsAreReadByName) {
  sys::MemFileSystem fs;
  fs.Put(kFile,
         "power_w,shoe_size,gpu,timestamp,sm_util\n"
         "250.5,43,0,1767268800.000,98\n"
         "251,44,0,1767268801.000,\n");
  const model::Recording r = ReadOnePiece(&fs, "d");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(r.format, "sawbill day files");
  EXPECT_THAT(r.gpus[0].t_ms, ElementsAre(kNoon, kNoon + 1000));
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kPowerW, 0), 250.5F);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kPowerW, 1), 251.0F);
  EXPECT_TRUE(std::isnan(r.gpus[0].At(GpuMetric::kSmUtil, 1)));
  EXPECT_EQ(r.quality.count(Odd::kUnknownColumn), 1);
  EXPECT_THAT(r.quality.detail(Odd::kUnknownColumn), HasSubstr("gpu-2026-01-01.csv:1 shoe_size"));
}

TEST(DayReader, ReadingsThatNobodyAsksForAreCountedAsAllAreAndNotKept) {
  sys::MemFileSystem fs;
  fs.Put(kFile,
         "timestamp,gpu,sm_util,power_w,pcie_rx_mb_s,pcie_tx_mb_s,energy_j\n"
         "1767268800.000,0,98,250.5,100.5,7,299907165.9\n"
         "1767268801.000,0,97,250.0,rubbish,-4,299907415.9\n"
         "1767268802.000,0,,,12.5,,\n"
         "1767268803.000,0,,,,,\n");
  DataFolderOptions options;
  options.unread = model::Bit(GpuMetric::kPcieRxMbS) | model::Bit(GpuMetric::kPcieTxMbS);
  const model::Recording all = ReadOnePiece(&fs, "d"), some = ReadOnePiece(&fs, "d", options);
  ASSERT_EQ(some.gpus.size(), 1U);
  EXPECT_TRUE(all.gpus[0].Has(GpuMetric::kPcieRxMbS));
  EXPECT_FALSE(some.gpus[0].Has(GpuMetric::kPcieRxMbS));
  EXPECT_FALSE(some.gpus[0].Has(GpuMetric::kPcieTxMbS));
  EXPECT_THAT(some.gpus[0].t_ms, ElementsAre(kNoon, kNoon + 1000, kNoon + 2000));
  EXPECT_EQ(some.gpus[0].t_ms, all.gpus[0].t_ms);
  EXPECT_EQ(some.gpus[0].At(GpuMetric::kPowerW, 0), 250.5F);
  EXPECT_EQ(some.gpus[0].At(GpuMetric::kSmUtil, 1), 97.0F);
  EXPECT_EQ(some.gpus[0].energy_j[0], 299907165.9);
  for (const Odd odd : {Odd::kBadCell, Odd::kOutOfRange, Odd::kNoValues}) {
    EXPECT_EQ(some.quality.count(odd), 1);
    EXPECT_EQ(some.quality.count(odd), all.quality.count(odd));
    EXPECT_EQ(some.quality.detail(odd), all.quality.detail(odd));
  }
}

TEST(DayReader, OddLinesAreCountedWithTheirPlaceAndLeftOut) {
  sys::MemFileSystem fs;
  fs.Put(kFile,
         "timestamp,gpu,sm_util,power_w\n"
         "1767268800.000,0,98,250.5\n"
         "1767268801.000,0,98\n"
         "1767268802.000,0,98,250.5,7\n"
         "yesterday,0,98,250.5\n"
         "1767268803.000,,98,250.5\n"
         "1767268804.000,0,250,250.5\n"
         "1767268805.000,0,9x,N/A\n"
         "1767268806.000,0,,\n"
         "\n"
         "1767268807.000,0,1e1,-0.0\n"
         "1767268808.000,0,9");
  const model::Recording r = ReadOnePiece(&fs, "d");
  ASSERT_EQ(r.gpus.size(), 1U);
  const model::GpuTrack& g = r.gpus[0];
  EXPECT_THAT(g.t_ms, ElementsAre(kNoon, kNoon + 4000, kNoon + 7000));
  EXPECT_TRUE(std::isnan(g.At(GpuMetric::kSmUtil, 1)));  // 250 percent
  EXPECT_EQ(g.At(GpuMetric::kPowerW, 1), 250.5F);
  EXPECT_EQ(g.At(GpuMetric::kSmUtil, 2), 10);
  const auto& q = r.quality;
  EXPECT_EQ(q.count(Odd::kMissingCells), 1);
  EXPECT_EQ(q.detail(Odd::kMissingCells), "gpu-2026-01-01.csv:3");
  EXPECT_EQ(q.detail(Odd::kExtraCells), "gpu-2026-01-01.csv:4");
  EXPECT_EQ(q.count(Odd::kBadRow), 2);
  EXPECT_EQ(q.detail(Odd::kBadRow), "gpu-2026-01-01.csv:5");
  EXPECT_EQ(q.detail(Odd::kOutOfRange), "gpu-2026-01-01.csv:7");
  EXPECT_EQ(q.count(Odd::kBadCell), 1);
  EXPECT_EQ(q.count(Odd::kNotSupported), 1);
  EXPECT_EQ(q.count(Odd::kNoValues), 2);  // lines 8 and 9
  EXPECT_EQ(q.count(Odd::kTornLine), 1);
}

TEST(DayReader, ALaterHeaderMapsTheColumnsAnew) {
  sys::MemFileSystem fs;
  fs.Put(kFile,
         "timestamp,gpu,sm_util,power_w\n1767268800.000,0,98,250.5\n"
         "timestamp,gpu,power_w,sm_active,sm_util\n1767268801.000,0,260.5,0.25,97\n");
  const model::Recording r = ReadOnePiece(&fs, "d");
  const model::GpuTrack& g = r.gpus[0];
  EXPECT_EQ(g.At(GpuMetric::kSmUtil, 1), 97);
  EXPECT_EQ(g.At(GpuMetric::kPowerW, 1), 260.5F);
  EXPECT_TRUE(std::isnan(g.At(GpuMetric::kSmActive, 0)));
  EXPECT_EQ(g.At(GpuMetric::kSmActive, 1), 0.25F);
  EXPECT_EQ(r.quality.count(Odd::kRepeatedHeader), 1);
  EXPECT_EQ(r.quality.detail(Odd::kRepeatedHeader), "gpu-2026-01-01.csv:3");
}

TEST(DayReader, WindowsLineEndsNulBytesAndAByteOrderMarkDoNoHarm) {
  sys::MemFileSystem fs;
  fs.Put(kFile, std::string("\xef\xbb\xbftimestamp,gpu,sm_util\r\n1767268800.000,0,98\r\n") + std::string(7, '\0') +
                    "1767268801.000,0,97\r\n1767268802.000,0,9" + std::string(2, '\0') + "6\r\n");
  const model::Recording r = ReadOnePiece(&fs, "d");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(r.gpus[0].columns[0], (std::vector<float>{98, 97, 96}));
  EXPECT_EQ(r.quality.count(Odd::kNulBytes), 9);
  EXPECT_EQ(r.quality.count(Odd::kBadRow), 0);
}

TEST(DayReader, ThrottleWordsBecomeAMaskAndNothingReadStaysMissing) {
  sys::MemFileSystem fs;
  fs.Put(kFile,
         "timestamp,gpu,sm_util,throttle\n1767268800.000,0,1,none\n1767268801.000,0,1,sw_power_cap|hw_thermal\n"
         "1767268802.000,0,1,\n1767268803.000,0,1,gremlins\n1767268804.000,0,1,gpu_idle\n");
  const model::Recording r = ReadOnePiece(&fs, "d");
  const model::GpuTrack& g = r.gpus[0];
  EXPECT_EQ(g.At(GpuMetric::kThrottle, 0), 0);
  EXPECT_EQ(g.At(GpuMetric::kThrottle, 1), 2 + 8);
  EXPECT_TRUE(std::isnan(g.At(GpuMetric::kThrottle, 2)));
  EXPECT_TRUE(std::isnan(g.At(GpuMetric::kThrottle, 3)));
  EXPECT_EQ(g.At(GpuMetric::kThrottle, 4), 1);
  EXPECT_EQ(r.quality.count(Odd::kBadCell), 1);
}

TEST(DayReader, ARatioIsNeverTakenForAPercentage) {
  sys::MemFileSystem fs;
  fs.Put(kFile, "timestamp,gpu,sm_util,gr_active\n1767268800.000,0.1.0,,0.91\n1767268801.000,0.1.0,,91\n");
  const model::Recording r = ReadOnePiece(&fs, "d");
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kSmUtil));  // MIG has none
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kGrActive, 0), 0.91F);
  EXPECT_EQ(r.quality.count(Odd::kOutOfRange), 1);
  EXPECT_EQ(r.gpus[0].size(), 1U);  // the row of 91 holds no sound reading
}

TEST(DayReader, EnergyIsADoubleOfItsOwn) {
  sys::MemFileSystem fs;
  fs.Put(kFile, "timestamp,gpu,energy_j\n1767268800.000,0,123456789012.3\n1767268801.000,0,123456789012.4\n");
  const model::Recording r = ReadOnePiece(&fs, "d");
  EXPECT_THAT(r.gpus[0].energy_j, ElementsAre(123456789012.3, 123456789012.4));
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kEnergyJ));
}

TEST(DayReader, ACardStaysOneTrackWhenItsIndexChanges) {
  sys::MemFileSystem fs;
  fs.Put("d/inventory.csv",
         "gpu,uuid,name,from\n0,GPU-a,A,\n1,GPU-b,B,\n0,GPU-b,B,1767268802.000\n1,GPU-a,A,1767268802.000\n");
  std::string text = "timestamp,gpu,sm_util\n";
  for (int s = 0; s < 4; ++s) {
    // Card a always shows 10, card b 20.
    text += Seconds3(kNoon + s * 1000) + ",0," + (s < 2 ? "10" : "20") + "\n";
    text += Seconds3(kNoon + s * 1000) + ",1," + (s < 2 ? "20" : "10") + "\n";
  }
  fs.Put(kFile, text);
  const auto source = MustOpen(&fs, "d");
  EXPECT_EQ(source->cards().size(), 2U);
  const model::Recording r = MustRead(*source);
  ASSERT_EQ(r.gpus.size(), 2U);
  for (const model::GpuTrack& g : r.gpus) {
    ASSERT_EQ(g.size(), 4U);
    const float want = g.card.uuid == "GPU-a" ? 10 : 20;
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(g.At(GpuMetric::kSmUtil, i), want);
  }
}

TEST(DayReader, NodesAreToldApartByTheirFolders) {
  sys::MemFileSystem fs;
  for (const char* node : {"alpha", "beta"}) {
    fs.Put(std::string("d/") + node + "/gpu-2026-01-01.csv", ShortGpuFile(kNoon, 5, 2));
    fs.Put(std::string("d/") + node + "/host-2026-01-01.csv", "timestamp,cpu_util\n1767268801.000,12.5\n");
    fs.Put(std::string("d/") + node + "/inventory.csv", "gpu,uuid\n0,GPU-0\n1,GPU-1\n");
    fs.Put(std::string("d/") + node + "/process-2026-01-01.csv",
           "timestamp,gpu,pid,user,name,job,gpu_mem_mb,started\n1767268801.000,1,7,u,python,j,100,1767268000\n");
  }
  const auto source = MustOpen(&fs, "d");
  EXPECT_EQ(source->cards().size(), 4U);
  EXPECT_THAT(source->description(), HasSubstr("2 nodes"));
  const model::Recording r = MustRead(*source);
  ASSERT_EQ(r.gpus.size(), 4U);
  EXPECT_EQ(r.gpus[0].card.key(), "alpha/GPU-0");
  EXPECT_EQ(r.gpus[3].card.key(), "beta/GPU-1");
  ASSERT_EQ(r.hosts.size(), 2U);
  EXPECT_EQ(r.hosts[1].node, "beta");
  EXPECT_EQ(r.hosts[1].At(model::HostMetric::kCpuUtil, 0), 12.5F);
  ASSERT_EQ(r.processes.size(), 2U);
  EXPECT_EQ(r.processes[0].card, 1);
  EXPECT_EQ(r.processes[1].card, 3);
  EXPECT_EQ(r.processes[1].host, 1);
  EXPECT_EQ(r.processes[0].started_s, 1767268000.0);
  EXPECT_TRUE(std::isnan(r.processes[0].Value(model::ProcessMetric::kCpuCores)));
  EXPECT_EQ(r.quality.count(Odd::kUnknownCard), 0);
}

TEST(DayReader, SimulationsSayThatTheyAre) {
  sys::MemFileSystem fs;
  fs.Put(kFile, ShortGpuFile(kNoon, 3));
  EXPECT_FALSE(ReadOnePiece(&fs, "d").simulated);
  fs.Put("d/SIMULATED", "");
  EXPECT_TRUE(ReadOnePiece(&fs, "d").simulated);
  ASSERT_TRUE(fs.Remove("d/SIMULATED").ok());
  fs.Put("d/truth.json", "{}");
  EXPECT_TRUE(ReadOnePiece(&fs, "d").simulated);
}

TEST(DayReader, ADayThatIsThereTwiceIsReadOnce) {
  sys::MemFileSystem fs;
  const std::string text = ShortGpuFile(kNoon, 50);
  fs.Put(kFile, text);
  fs.Put(std::string(kFile) + ".zst", *sys::CompressZstd(text));
  const model::Recording r = ReadOnePiece(&fs, "d");
  EXPECT_EQ(r.gpus[0].size(), 50U);
  EXPECT_EQ(r.quality.count(Odd::kSecondCopy), 1);
  EXPECT_EQ(r.quality.count(Odd::kDuplicateSample), 0);
}

TEST(DayReader, TwoFilesOfADayWithDifferentRowsAreBothRead) {
  sys::MemFileSystem fs;
  fs.Put(kFile, ShortGpuFile(kNoon + 50'000, 50));
  fs.Put(std::string(kFile) + ".gz", *sys::CompressGzip(ShortGpuFile(kNoon, 50)));
  const model::Recording r = ReadOnePiece(&fs, "d");
  EXPECT_EQ(r.gpus[0].size(), 100U);
  EXPECT_EQ(r.quality.count(Odd::kSecondCopy), 0);
}

TEST(DayReader, ADamagedCompressedFileGivesWhatCanBeRead) {
  sys::MemFileSystem fs;
  std::string packed = *sys::CompressGzip(ShortGpuFile(kNoon, 5000));
  packed.resize(packed.size() / 2);
  fs.Put(std::string(kFile) + ".gz", packed);
  const model::Recording r = ReadOnePiece(&fs, "d");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_GT(r.gpus[0].size(), 1000U);
  EXPECT_EQ(r.quality.count(Odd::kDamagedFile), 1);
}

TEST(DayReader, OnlySamplesWithinTheLimitsAreReadAndTheOneBefore) {
  sys::MemFileSystem fs;
  fs.Put(kFile, ShortGpuFile(kNoon, 100));
  DataFolderOptions o;
  o.from = kNoon + 10'500;
  o.to = kNoon + 20'000;
  const auto source = MustOpen(&fs, "d", o);
  EXPECT_EQ(source->period().from, kNoon + 10'500);
  EXPECT_EQ(source->period().to, kNoon + 20'000);
  const model::Recording r = MustRead(*source);
  EXPECT_EQ(r.gpus[0].t_ms.front(), kNoon + 10'000);
  EXPECT_EQ(r.gpus[0].t_ms.back(), kNoon + 20'000);
  o.from = kNoon + 200'000;
  o.to = std::nullopt;
  EXPECT_TRUE(MustOpen(&fs, "d", o)->pieces().empty());
  o.to = kNoon;
  EXPECT_EQ(OpenDataFolder(&fs, "d", o).status().kind(), StatusKind::kInvalid);
}

TEST(DayReader, TheSampleBeforeIsFoundBehindALongHole) {
  sys::MemFileSystem fs;
  fs.Put(kFile, ShortGpuFile(kNoon, 100));
  fs.Put("d/gpu-2026-01-02.csv", ShortGpuFile(kMidnight, 100));  // half a day later
  DataFolderOptions o;
  o.max_piece_bytes = 2000;
  const auto source = MustOpen(&fs, "d", o);
  for (size_t i = 0; i < source->pieces().size(); ++i) {
    const model::Recording r = MustRead(*source, i);
    if (source->pieces()[i].from >= kMidnight - 1 && source->pieces()[i].from < kMidnight + 1000) {
      EXPECT_EQ(r.gpus.at(0).t_ms.front(), kNoon + 99'000);
    }
  }
}

TEST(DayReader, ARecordingOverMidnightIsOnePieceAndAMonthIsMany) {
  sys::MemFileSystem fs;
  fs.Put(kFile, ShortGpuFile(kMidnight - 100'000, 100));
  fs.Put("d/gpu-2026-01-02.csv", ShortGpuFile(kMidnight, 100));
  EXPECT_EQ(MustOpen(&fs, "d")->pieces().size(), 1U);
  EXPECT_EQ(ReadOnePiece(&fs, "d").gpus[0].size(), 200U);
  DataFolderOptions o;
  o.max_piece_bytes = 5000;
  const auto source = MustOpen(&fs, "d", o);
  ASSERT_EQ(source->pieces().size(), 2U);
  EXPECT_EQ(source->pieces()[0].to, kMidnight - 1);
  EXPECT_EQ(MustRead(*source, 1).gpus[0].t_ms.front(), kMidnight - 1000);
}

TEST(DayReader, OddLinesAreCountedOnceHoweverManyPiecesThereAre) {
  sys::MemFileSystem fs;
  std::string text = "timestamp,gpu,sm_util,hat_size\n";
  for (int s = 0; s < 20'000; ++s) {
    text += Seconds3(kNoon + s * 1000) + ",0," + (s % 1000 == 7 ? "700" : "70") + ",8\n";
    if (s % 1000 == 500) text += "garbage\n";
    if (s % 5000 == 900) text += "timestamp,gpu,sm_util,hat_size\n";
  }
  text += "17672";
  fs.Put(kFile, text);
  for (const int64_t limit : {10'000'000, 100'000, 40'000}) {
    DataFolderOptions o;
    o.max_piece_bytes = limit;
    const auto source = MustOpen(&fs, "d", o);
    model::DataQuality q;
    for (size_t i = 0; i < source->pieces().size(); ++i) q.Merge(MustRead(*source, i).quality);
    EXPECT_EQ(q.count(Odd::kNoValues) + q.count(Odd::kOutOfRange), 40) << limit;
    EXPECT_EQ(q.count(Odd::kBadRow) + q.count(Odd::kMissingCells), 20) << limit;
    EXPECT_EQ(q.count(Odd::kRepeatedHeader), 4) << limit;
    EXPECT_EQ(q.count(Odd::kUnknownColumn), 1) << limit;
    EXPECT_EQ(q.count(Odd::kTornLine), 1) << limit;
  }
}

TEST(DayReader, RunsThatEndedBeforeAPieceAreLeftOutOfIt) {
  sys::MemFileSystem fs;
  fs.Put(kFile, ShortGpuFile(kNoon, 100));
  fs.Put("d/run-2026-01-01.csv",
         "timestamp,run,state,program,gpus\n1767268801.000,r1,start,a.py,0\n1767268805.000,r1,end,a.py,0\n"
         "1767268810.000,r2,start,b.py,0\n1767268890.000,r2,end,b.py,0\n1767268895.000,r3,start,c.py,0\n,bad,,,\n");
  fs.Put("d/event-2026-01-01.csv", "timestamp,kind,gpu,detail\n1767268820.000,xid,0,code=79\n");
  DataFolderOptions o;
  o.from = kNoon + 15'000;
  o.to = kNoon + 50'000;
  const model::Recording r = MustRead(*MustOpen(&fs, "d", o));
  ASSERT_EQ(r.runs.size(), 2U);  // r2 began before and ended behind: both its rows
  EXPECT_EQ(r.runs[0].run, "r2");
  EXPECT_EQ(r.runs[0].program, "b.py");
  EXPECT_EQ(r.runs[1].state, "end");
  ASSERT_EQ(r.events.size(), 1U);
  EXPECT_EQ(r.events[0].detail, "code=79");
  EXPECT_EQ(r.quality.count(Odd::kBadRow), 1);
}

TEST(DayReader, UnknownKindsAndOtherFilesAreIgnored) {
  sys::MemFileSystem fs;
  fs.Put(kFile, ShortGpuFile(kNoon, 3));
  for (const char* other :
       {"d/weather-2026-01-01.csv", "d/gpu-2026-01-01.csv.bak", "d/gpu.csv", "d/.gpu-2026-01-01.csv.tmp",
        "d/runs/17/gpu-2026-01-01.csv", "d/.cache/gpu-2026-01-01.csv"}) {
    fs.Put(other, "nonsense");
  }
  const model::Recording r = ReadOnePiece(&fs, "d");
  EXPECT_EQ(r.gpus.size(), 1U);
  EXPECT_TRUE(r.quality.count(Odd::kBadRow) == 0);
}

TEST(DayReader, AProcessOfACardWithoutSamplesIsLeftOutAndCounted) {
  sys::MemFileSystem fs;
  fs.Put(kFile, ShortGpuFile(kNoon, 3));
  fs.Put("d/process-2026-01-01.csv",
         "timestamp,gpu,pid,user,name,job\n1767268801.000,5,7,u,python,\n1767268801.000,0,x,u,p,\n");
  const model::Recording r = ReadOnePiece(&fs, "d");
  EXPECT_TRUE(r.processes.empty());
  EXPECT_EQ(r.quality.count(Odd::kProcessWithoutCard), 1);
  EXPECT_EQ(r.quality.count(Odd::kBadRow), 1);
}

TEST(DayReader, ACardWhoseRowsAreAllEmptyIsThereWithoutSamples) {  // A4: a Jetson answers, and tells nothing
  sys::MemFileSystem fs;
  fs.Put(kFile,
         "timestamp,gpu,sm_util,power_w\n1767268801.000,0,90,250\n1767268801.000,1,,\n"
         "1767268802.000,0,90,250\n1767268802.000,1,,\n");
  fs.Put("d/inventory.csv", "gpu,uuid,name\n0,GPU-a,NVIDIA A100\n1,GPU-b,Orin\n");
  fs.Put("d/process-2026-01-01.csv", "timestamp,gpu,pid,user,name,job\n1767268802.000,1,7,u,python,bert\n");
  const model::Recording r = ReadOnePiece(&fs, "d");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[0].size(), 2U);
  EXPECT_EQ(r.gpus[1].card.name, "Orin");
  EXPECT_EQ(r.gpus[1].size(), 0U);
  EXPECT_EQ(r.quality.count(Odd::kNoValues), 2);
  ASSERT_EQ(r.processes.size(), 1U);  // and who holds it is known
  EXPECT_EQ(r.processes[0].card, 1);
}

TEST(DayReader, ACardThatFellSilentIsThereInTheNextPieceToo) {
  sys::MemFileSystem fs;
  fs.Put(kFile, "timestamp,gpu,sm_util\n1767268801.000,0,90\n1767268802.000,0,90\n1767268820.000,0,\n");
  DataFolderOptions o;
  o.from = kNoon + 10'000;
  const model::Recording r = MustRead(*MustOpen(&fs, "d", o));
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(r.gpus[0].size(), 0U);
}

TEST(DayReader, RowsOutOfOrderAreSortedAndCounted) {
  sys::MemFileSystem fs;
  fs.Put(kFile,
         "timestamp,gpu,sm_util\n1767268802.000,0,2\n1767268800.000,0,0\n1767268801.000,0,1\n1767268801.000,0,9\n");
  const model::Recording r = ReadOnePiece(&fs, "d");
  EXPECT_EQ(r.gpus[0].columns[0], (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(r.quality.count(Odd::kTimeBackwards), 1);
  EXPECT_EQ(r.quality.count(Odd::kDuplicateSample), 1);
}

// The same recording in every shape that a day file can have.
enum class Shape { kEmptyFile, kTornTail, kOlderHeader, kMidnight, kDstDay, kClockBack, kGz, kZst };

class EveryShape : public ::testing::TestWithParam<Shape> {};

TEST_P(EveryShape, CoversTheSameTime) {
  sys::MemFileSystem fs;
  const std::string text = ShortGpuFile(kNoon, 60);
  DataFolderOptions o;
  switch (GetParam()) {
    case Shape::kEmptyFile:
      fs.Put("d/gpu-2025-12-31.csv", "");
      fs.Put(kFile, text);
      fs.Put("d/gpu-2026-01-02.csv", "timestamp,gpu,sm_util\n");
      break;
    case Shape::kTornTail:
      fs.Put(kFile, text + "1767268860.000,0,4");
      break;
    case Shape::kOlderHeader:
      fs.Put(kFile, "timestamp,sm_util,gpu\n1767268799.000,3,0\n" + text);
      o.from = kNoon - 500;
      break;
    case Shape::kMidnight:
      fs.Put("d/gpu-2025-12-31.csv", text.substr(0, text.find("1767268830")));
      fs.Put(kFile, text.substr(0, text.find('\n') + 1) + text.substr(text.find("1767268830")));
      break;
    case Shape::kDstDay: {
      // A file that a clock change made 25 hours long: its first row a day and more before the last.
      std::string early = ShortGpuFile(kNoon - 25 * 3'600'000LL, 1);
      fs.Put(kFile, early + text.substr(text.find('\n') + 1));
      o.from = kNoon - 500;
      break;
    }
    case Shape::kClockBack: {
      std::string stepped = text.substr(0, text.find("1767268830"));
      const std::string rest = text.substr(text.find("1767268830"));
      std::string moved = ShortGpuFile(kNoon + 30'000 - 3'600'000, 30);
      moved.erase(0, moved.find('\n') + 1);
      fs.Put(kFile, stepped + moved);
      fs.Put("d/event-2026-01-01.csv",
             "timestamp,kind,gpu,detail\n" + Seconds3(kNoon + 30'000 - 3'600'000) + ",clock_step,,offset_s=-3600.0\n");
      break;
    }
    case Shape::kGz:
      fs.Put(std::string(kFile) + ".gz", *sys::CompressGzip(text));
      break;
    case Shape::kZst:
      fs.Put(std::string(kFile) + ".zst", *sys::CompressZstd(text));
      break;
  }
  const auto source = MustOpen(&fs, "d", o);
  double covered = 0, rows = 0;
  for (size_t i = 0; i < source->pieces().size(); ++i) {
    const model::Recording r = MustRead(*source, i);
    for (const model::GpuTrack& g : r.gpus) {
      covered += model::Cover(g.t_ms).covered_s;
      rows += static_cast<double>(g.size());
      EXPECT_TRUE(std::is_sorted(g.t_ms.begin(), g.t_ms.end()));
    }
    EXPECT_EQ(r.quality.count(Odd::kDuplicateSample), 0);
    EXPECT_EQ(r.quality.count(Odd::kTornLine), GetParam() == Shape::kTornTail ? 1 : 0);
  }
  const bool one_before = GetParam() == Shape::kOlderHeader || GetParam() == Shape::kDstDay;
  EXPECT_DOUBLE_EQ(covered, GetParam() == Shape::kDstDay ? 59.0 + 2.5 : one_before ? 60.0 : 59.0);
  EXPECT_EQ(rows, one_before ? 61 : 60);
}

INSTANTIATE_TEST_SUITE_P(DayReader, EveryShape,
                         ::testing::Values(Shape::kEmptyFile, Shape::kTornTail, Shape::kOlderHeader, Shape::kMidnight,
                                           Shape::kDstDay, Shape::kClockBack, Shape::kGz, Shape::kZst));

}  // namespace
}  // namespace sawbill::store
