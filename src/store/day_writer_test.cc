// SPDX-License-Identifier: Apache-2.0
// The faults that comparable tools had in public, each as a test of its kind (C1, C2, C4, C5, C7, C8, C10).
#include "store/day_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <locale>

#include "base/text.h"
#include "store/test_util.h"

namespace sawbill::store {
namespace {
using model::GpuMetric;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kDay1 = "d/gpu-2026-01-01.csv";
constexpr const char* kDay2 = "d/gpu-2026-01-02.csv";

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> out;
  for (const std::string_view line : Split(text, '\n')) out.emplace_back(line);
  EXPECT_EQ(out.back(), "") << "no line end at the end";
  out.pop_back();
  return out;
}

/// One tick with one card; expects success unless `ok` is false.
void Tick1(FolderWriter* w, TimeMs t, double util, bool ok = true) {
  w->BeginTick({t, t});
  EXPECT_TRUE(w->Gpu(t, "0", Util(util)).ok());
  const Status status = w->EndTick();
  EXPECT_EQ(status.ok(), ok) << status.message();
}

FolderWriterOptions Quiet() {
  FolderWriterOptions o;
  o.start_and_stop_events = false;
  return o;
}

TEST(DayWriter, HeaderIsThatOfTheContract) {
  EXPECT_EQ(
      HeaderLine(DayKind::kGpu),
      "timestamp,gpu,sm_util,mem_util,mem_used_mb,temp_c,power_w,sm_clock_mhz,mem_clock_mhz,throttle,pcie_rx_mb_s,"
      "pcie_tx_mb_s,nvlink_rx_mb_s,nvlink_tx_mb_s,sm_active,sm_occupancy,tensor_active,dram_active,gr_active,energy_j,"
      "sm_util_min,sm_util_max");
  EXPECT_EQ(
      HeaderLine(DayKind::kHost),
      "timestamp,cpu_count,cpu_util,cpu_iowait,load1,mem_used_mb,mem_total_mb,disk_read_mb_s,disk_write_mb_s,disk_util,"
      "net_rx_mb_s,net_tx_mb_s,cpu_physical,psi_cpu_some,psi_io_some,psi_mem_some");
  EXPECT_EQ(HeaderLine(DayKind::kProcess),
            "timestamp,gpu,pid,user,name,job,gpu_mem_mb,sm_util,cpu_cores,read_mb_s,write_mb_s,started,workers,"
            "main_cpu_cores,cores_allowed");
  EXPECT_EQ(HeaderLine(DayKind::kStep),
            "timestamp,job,rank,step,data_wait_s,step_s,queue_depth,event,pid,gpu,event_s,loss");
  EXPECT_EQ(
      HeaderLine(DayKind::kRun),
      "timestamp,run,job,user,project,node,gpus,state,exit_status,program,batch_size,precision,seq_len,num_workers,"
      "prefetch_factor,ckpt_every,git_sha");
  EXPECT_EQ(HeaderLine(DayKind::kEvent), "timestamp,kind,gpu,detail");
}

// C1
TEST(DayWriter, CellsNeverReadKeepTheirPlaces) {
  sys::MemFileSystem fs;
  auto w = MustOpenWriter(&fs, "d", Quiet());
  GpuValues v = Util(40);
  v[static_cast<size_t>(GpuMetric::kTempC)] = 61;  // memory used, before it, is never read
  for (int i = 0; i < 3; ++i) {
    w->BeginTick({kNoon + i * 1000, i * 1000});
    ASSERT_TRUE(w->Gpu(kNoon + i * 1000, "0", v).ok());
    ASSERT_TRUE(w->EndTick().ok());
  }
  EXPECT_EQ(LinesOf(fs.Get(kDay1))[1], "1767268800.000,0,40,,,61,,,,,,,,,,,,,,,,");
  const model::Recording r = ReadOnePiece(&fs, "d");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kMemUsedMb));
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kTempC, 2), 61);
  EXPECT_TRUE(std::isnan(r.gpus[0].At(GpuMetric::kPowerW, 2)));
}

TEST(DayWriter, ARowWithAnotherNumberOfCellsIsRefused) {
  sys::MemFileSystem fs;
  DayWriter w(&fs, "d", DayKind::kEvent, {});
  RowText row;
  row.AddText("xid");
  row.AddText("0");
  const Status status = w.Append(kNoon, row);
  EXPECT_EQ(status.kind(), StatusKind::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("3 cells instead of 4"));
}

// C2
TEST(DayWriter, ATornRecordIsTakenAwayAndNeverGlued) {
  sys::MemFileSystem fs;
  fs.Put(kDay1, HeaderLine(DayKind::kGpu) + "\n1767268700.000,0,5,,,,,,,,,,,,,,,,,,,\n1767268701.000,0,4");
  auto w = MustOpenWriter(&fs, "d", Quiet());
  Tick1(w.get(), kNoon, 7);
  EXPECT_THAT(LinesOf(fs.Get(kDay1)), ElementsAre(HeaderLine(DayKind::kGpu), "1767268700.000,0,5,,,,,,,,,,,,,,,,,,,",
                                                  "1767268800.000,0,7,,,,,,,,,,,,,,,,,,,"));
  EXPECT_EQ(w->torn_records(), 1);
}

TEST(DayWriter, ATornHeaderIsWrittenAnew) {
  sys::MemFileSystem fs;
  for (const char* torn : {"times", "timestamp,gpu", "\n"}) {
    fs.Put(kDay1, torn);
    auto w = MustOpenWriter(&fs, "d", Quiet());
    Tick1(w.get(), kNoon, 7);
    const std::vector<std::string> lines = LinesOf(fs.Get(kDay1));
    EXPECT_EQ(lines[lines.size() - 2], HeaderLine(DayKind::kGpu)) << torn;
    EXPECT_EQ(ReadOnePiece(&fs, "d").gpus.size(), 1U) << torn;
  }
}

TEST(DayWriter, NulBytesBehindACrashAreTakenAway) {
  sys::MemFileSystem fs;
  fs.Put(kDay1, HeaderLine(DayKind::kGpu) + "\n" + std::string(4096, '\0'));
  auto w = MustOpenWriter(&fs, "d", Quiet());
  Tick1(w.get(), kNoon, 7);
  EXPECT_EQ(fs.Get(kDay1).find('\0'), std::string::npos);
}

// C4
TEST(DayWriter, AnotherHeaderGetsOursBehindItAndNoBackup) {
  sys::MemFileSystem fs;
  const std::string old = "timestamp,gpu,power_w,sm_util\n1767268799.000,0,300.5,55\n";
  fs.Put(kDay1, old);
  for (int restart = 0; restart < 3; ++restart) {
    auto w = MustOpenWriter(&fs, "d", Quiet());
    GpuValues v = Util(66);
    v[static_cast<size_t>(GpuMetric::kSmActive)] = 0.5;
    w->BeginTick({kNoon + restart * 1000, 0});
    ASSERT_TRUE(w->Gpu(kNoon + restart * 1000, "0", v).ok());
    ASSERT_TRUE(w->EndTick().ok());
  }
  EXPECT_EQ(fs.Get(kDay1).substr(0, old.size()), old);
  EXPECT_EQ(LinesOf(fs.Get(kDay1)).size(), 2U + 1U + 3U);  // one header for all restarts
  const model::Recording r = ReadOnePiece(&fs, "d");
  ASSERT_EQ(r.gpus[0].size(), 4U);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmUtil, 0), 55);
  EXPECT_FLOAT_EQ(r.gpus[0].At(GpuMetric::kPowerW, 0), 300.5F);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmUtil, 1), 66);
  EXPECT_TRUE(std::isnan(r.gpus[0].At(GpuMetric::kPowerW, 1)));
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmActive, 1), 0.5F);
  for (const std::string& path : fs.Paths()) EXPECT_EQ(path.find("bak"), std::string::npos) << path;
}

// C5
TEST(DayWriter, TheDayIsTheSamplesOwn) {
  sys::MemFileSystem fs;
  auto w = MustOpenWriter(&fs, "d", Quiet());
  Tick1(w.get(), kMidnight - 1000, 1);
  Tick1(w.get(), kMidnight + 1000, 2);  // nothing at 00:00:00
  EXPECT_EQ(LinesOf(fs.Get(kDay1)).size(), 2U);
  EXPECT_EQ(LinesOf(fs.Get(kDay2)).size(), 2U);
}

TEST(DayWriter, ARestartAtMidnightEmptiesNothing) {
  sys::MemFileSystem fs;
  Tick1(MustOpenWriter(&fs, "d", Quiet()).get(), kMidnight - 1000, 1);
  Tick1(MustOpenWriter(&fs, "d", Quiet()).get(), kMidnight, 2);
  Tick1(MustOpenWriter(&fs, "d", Quiet()).get(), kMidnight, 3);
  EXPECT_EQ(LinesOf(fs.Get(kDay1)).size(), 2U);
  EXPECT_EQ(LinesOf(fs.Get(kDay2)).size(), 3U);
}

TEST(DayWriter, AClockSetBackOverMidnightGoesOnInTheEarlierFile) {
  sys::MemFileSystem fs;
  auto w = MustOpenWriter(&fs, "d", Quiet());
  w->BeginTick({kMidnight - 1000, 0});
  ASSERT_TRUE(w->Gpu(kMidnight - 1000, "0", Util(1)).ok());
  w->BeginTick({kMidnight, 1000});
  ASSERT_TRUE(w->Gpu(kMidnight, "0", Util(2)).ok());
  w->BeginTick({kMidnight - 5000, 2000});
  ASSERT_TRUE(w->Gpu(kMidnight - 5000, "0", Util(3)).ok());
  ASSERT_TRUE(w->EndTick().ok());
  EXPECT_EQ(LinesOf(fs.Get(kDay1)).size(), 4U);  // header, row, header of the step, row
  EXPECT_EQ(LinesOf(fs.Get(kDay2)).size(), 2U);
}

TEST(DayWriter, LocalDaysFollowTheZoneThroughAChangeOfSummerTime) {
  const std::optional<TimeZone> berlin = TimeZone::Load("Europe/Berlin");
  if (!berlin) GTEST_SKIP() << "no time zone data on this machine";
  sys::MemFileSystem fs;
  FolderWriterOptions o = Quiet();
  o.days.tz = *berlin;
  auto w = MustOpenWriter(&fs, "d", o);
  // 2026-03-29 has 23 hours: from 2026-03-28T23:00Z to 2026-03-29T22:00Z.
  const TimeMs start = 1774738800000;
  for (int h = -1; h <= 23; ++h) Tick1(w.get(), start + h * 3'600'000LL, 1);
  EXPECT_EQ(LinesOf(fs.Get("d/gpu-2026-03-28.csv")).size(), 1U + 1U);
  EXPECT_EQ(LinesOf(fs.Get("d/gpu-2026-03-29.csv")).size(), 1U + 23U);
  EXPECT_EQ(LinesOf(fs.Get("d/gpu-2026-03-30.csv")).size(), 1U + 1U);
  EXPECT_EQ(ReadOnePiece(&fs, "d").gpus[0].size(), 25U);
}

TEST(FolderWriter, ASecondRecorderIsLockedOut) {
  sys::MemFileSystem fs;
  auto first = MustOpenWriter(&fs, "d", Quiet());
  const auto second = FolderWriter::Open(&fs, "d", Quiet());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().kind(), StatusKind::kUnavailable);
  EXPECT_THAT(second.status().message(), HasSubstr("another recorder writes to d"));
  EXPECT_THAT(second.status().message(), HasSubstr("--data"));
  first.reset();
  EXPECT_TRUE(FolderWriter::Open(&fs, "d", Quiet()).ok());
}

// C7
TEST(FolderWriter, AFullDiskPausesHistoryAndLosesNothingThatFitsInMemory) {
  // However many bytes fit: into the header, into a record, between records.
  for (int64_t space = 0; space < 600; space += 7) {
    sys::MemFileSystem fs;
    auto w = MustOpenWriter(&fs, "d", Quiet());
    Tick1(w.get(), kNoon, 0);
    fs.SetSpaceLeft(space);
    int failed = 0;
    for (int i = 1; i <= 30; ++i) {
      w->BeginTick({kNoon + i * 1000, kNoon + i * 1000});
      ASSERT_TRUE(w->Gpu(kNoon + i * 1000, "0", Util(i)).ok());
      failed += w->EndTick().ok() ? 0 : 1;
      const std::string& text = fs.Get(kDay1);
      ASSERT_EQ(text.back(), '\n') << space;  // never a torn record
    }
    ASSERT_GT(failed, 0) << space;
    EXPECT_TRUE(w->paused());
    fs.SetSpaceLeft(std::nullopt);
    Tick1(w.get(), kNoon + 31'000, 31);
    EXPECT_FALSE(w->paused());
    EXPECT_EQ(w->pending_rows(), 0U);
    EXPECT_EQ(w->dropped_rows(), 0);
    const model::Recording r = ReadOnePiece(&fs, "d");
    ASSERT_EQ(r.gpus[0].size(), 32U) << space;
    for (size_t i = 0; i < 32; ++i) EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmUtil, i), static_cast<float>(i));
    ASSERT_EQ(r.events.size(), 1U);
    EXPECT_EQ(r.events[0].kind, "disk_full");
    EXPECT_THAT(r.events[0].detail, HasSubstr("dropped_rows=0"));
  }
}

TEST(FolderWriter, ADiskFullBeforeTheFirstByteLeavesNoFileWithoutHeader) {
  sys::MemFileSystem fs;
  auto w = MustOpenWriter(&fs, "d", Quiet());
  fs.SetSpaceLeft(20);
  Tick1(w.get(), kNoon, 1, false);
  fs.SetSpaceLeft(std::nullopt);
  Tick1(w.get(), kNoon + 1000, 2);
  EXPECT_EQ(LinesOf(fs.Get(kDay1)).front(), HeaderLine(DayKind::kGpu));
  EXPECT_EQ(LinesOf(fs.Get(kDay1)).size(), 3U);
}

TEST(FolderWriter, WhatDoesNotFitInMemoryIsDroppedOldestFirstAndCounted) {
  sys::MemFileSystem fs;
  FolderWriterOptions o = Quiet();
  o.days.max_pending_bytes = 400;  // some ten rows
  auto w = MustOpenWriter(&fs, "d", o);
  Tick1(w.get(), kNoon, 0);
  fs.SetSpaceLeft(0);
  for (int i = 1; i <= 100; ++i) Tick1(w.get(), kNoon + i * 1000, i, false);
  fs.SetSpaceLeft(std::nullopt);
  Tick1(w.get(), kNoon + 101'000, 5);
  const auto dropped = static_cast<size_t>(w->dropped_rows());
  EXPECT_GT(dropped, 80U);
  const model::Recording r = ReadOnePiece(&fs, "d");
  EXPECT_EQ(r.gpus[0].size(), 102 - dropped);
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmUtil, 1), static_cast<float>(dropped + 1));
  EXPECT_THAT(r.events.at(0).detail, HasSubstr("dropped_rows=" + std::to_string(dropped)));
}

// C8, from the recorder's clocks to the hours of the report.
TEST(FolderWriter, HoursFollowTheSteadyClockThroughStepsOfTheWallClock) {
  sys::MemFileSystem fs;
  auto w = MustOpenWriter(&fs, "d");
  TimeMs wall = kNoon;
  int64_t steady = 0;
  int64_t ticks = 0;
  const auto run = [&](int n) {
    for (int i = 0; i < n; ++i, ++ticks) {
      w->BeginTick({wall, steady});
      ASSERT_TRUE(w->Gpu(wall, "0", Util(static_cast<double>(ticks))).ok());
      ASSERT_TRUE(w->Gpu(wall, "1", Util(50)).ok());
      ASSERT_TRUE(w->EndTick().ok());
      wall += 1000;
      steady += 1000;
    }
  };
  run(10);
  wall -= 7'200'000;
  run(10);
  wall += 3'600'000;
  run(10);
  ASSERT_TRUE(w->Close(wall).ok());
  const model::Recording r = ReadOnePiece(&fs, "d");
  ASSERT_EQ(r.gpus.size(), 2U);
  for (const model::GpuTrack& g : r.gpus) {
    EXPECT_EQ(g.size(), 30U);
    EXPECT_DOUBLE_EQ(model::Cover(g.t_ms).covered_s, 29.0);
  }
  for (size_t i = 0; i < 30; ++i) EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmUtil, i), static_cast<float>(i)) << "order kept";
  EXPECT_EQ(r.quality.count(model::Odd::kClockStep), 2);
  EXPECT_EQ(r.quality.count(model::Odd::kDuplicateSample), 0);
  EXPECT_EQ(r.quality.count(model::Odd::kTimeBackwards), 0);
  const std::string events = fs.Get("d/event-2026-01-01.csv");
  EXPECT_THAT(events, HasSubstr(",clock_step,,offset_s=-7200.0\n"));
  EXPECT_THAT(events, HasSubstr(",clock_step,,offset_s=3600.0\n"));
}

TEST(FolderWriter, AStepBackOverMidnightIsUndoneAcrossFiles) {
  sys::MemFileSystem fs;
  auto w = MustOpenWriter(&fs, "d");
  for (int i = 0; i < 60; ++i) {
    const TimeMs wall = kMidnight - 20'000 + i * 1000 - (i >= 40 ? 30'000 : 0);
    w->BeginTick({wall, i * 1000});
    ASSERT_TRUE(w->Gpu(wall, "0", Util(i)).ok());
    ASSERT_TRUE(w->EndTick().ok());
  }
  const model::Recording r = ReadOnePiece(&fs, "d");
  ASSERT_EQ(r.gpus[0].size(), 60U);
  EXPECT_DOUBLE_EQ(model::Cover(r.gpus[0].t_ms).covered_s, 59.0);
  for (size_t i = 0; i < 60; ++i) EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmUtil, i), static_cast<float>(i));
}

// C10
class CommaPoint : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(DayWriter, NumbersAreTheSameUnderEveryLocale) {
  const auto write = [] {
    sys::MemFileSystem fs;
    auto w = MustOpenWriter(&fs, "d", Quiet());
    GpuValues v = Util(7);
    v[static_cast<size_t>(GpuMetric::kPowerW)] = 1234.5;
    v[static_cast<size_t>(GpuMetric::kEnergyJ)] = 1234567.8;
    w->BeginTick({kNoon, 0});
    EXPECT_TRUE(w->Gpu(kNoon, "0", v).ok());
    EXPECT_TRUE(w->EndTick().ok());
    const model::Recording r = ReadOnePiece(&fs, "d");
    EXPECT_EQ(r.gpus[0].At(GpuMetric::kPowerW, 0), 1234.5F);
    EXPECT_EQ(r.gpus[0].energy_j.at(0), 1234567.8);
    return fs.Get(kDay1);
  };
  const std::string plain = write();
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new CommaPoint));
  const char* const c_locale = std::setlocale(LC_ALL, "de_DE.UTF-8");  // where the machine has it
  const std::string german = write();
  if (c_locale != nullptr) std::setlocale(LC_ALL, "C");
  std::locale::global(before);
  EXPECT_EQ(german, plain);
  EXPECT_THAT(plain, HasSubstr(",1234.5,"));
}

TEST(FolderWriter, NamesFromOutsideCannotBreakARow) {
  sys::MemFileSystem fs;
  auto w = MustOpenWriter(&fs, "d", Quiet());
  ProcessSample p;
  p.pid = 42;
  p.user = "o'neil, \"x\"";
  p.name = "evil\nname\x1b[31m";
  p.values.fill(kMissing);
  w->BeginTick({kNoon, 0});
  ASSERT_TRUE(w->Gpu(kNoon, "0", Util(1)).ok());
  ASSERT_TRUE(w->Process(kNoon, p).ok());
  ASSERT_TRUE(w->EndTick().ok());
  const model::Recording r = ReadOnePiece(&fs, "d");
  ASSERT_EQ(r.processes.size(), 1U);
  EXPECT_EQ(r.strings.Get(r.processes[0].user), "o'neil, \"x\"");
  EXPECT_EQ(r.strings.Get(r.processes[0].name), "evil?name?[31m");
  EXPECT_EQ(r.processes[0].card, -1);
}

}  // namespace
}  // namespace sawbill::store
