// SPDX-License-Identifier: Apache-2.0
#include "store/maintain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "store/test_util.h"

namespace sawbill::store {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TimeMs kDayMs = 86'400'000;

std::string DayPath(DayKind kind, TimeMs t, const std::string& suffix = "") {
  return "d/" + MakeDayFileName(kind, TimeZone::Utc().LocalDay(t), suffix);
}

/// `days` days of an hour each; returns a moment on the last of them.
TimeMs PutDays(sys::MemFileSystem* fs, int days) {
  for (int d = 0; d < days; ++d) {
    const TimeMs noon = kNoon + d * kDayMs;
    fs->SetNow(noon);
    fs->Put(DayPath(DayKind::kGpu, noon), ShortGpuFile(noon, 600, 2));
    fs->Put(DayPath(DayKind::kHost, noon), "timestamp,cpu_util\n" + Seconds3(noon) + ",5\n");
    fs->Put(DayPath(DayKind::kRun, noon), "timestamp,run,state\n" + Seconds3(noon) + ",r,start\n");
  }
  const TimeMs now = kNoon + (days - 1) * kDayMs + 3'600'000;
  fs->SetNow(now);
  return now;
}

MaintainReport MustMaintain(sys::FileSystem* fs, TimeMs now, const MaintainOptions& options = {}) {
  Result<MaintainReport> r = Maintain(fs, "d", now, options);
  EXPECT_TRUE(r.ok()) << r.status().message();
  return r.ok() ? *r : MaintainReport{};
}

TEST(Maintain, ClosedDaysAreRolledUpAndCompressedAndTheCurrentOneIsLeft) {
  sys::MemFileSystem fs;
  const TimeMs now = PutDays(&fs, 3);
  const auto before = CoveredSeconds(*MustOpen(&fs, "d"));
  const MaintainReport r = MustMaintain(&fs, now);
  EXPECT_THAT(r.problems, IsEmpty());
  EXPECT_THAT(r.minutes_written, ElementsAre("minute-2026-01-01.csv", "minute-2026-01-02.csv"));
  EXPECT_EQ(r.compressed.size(), 4U);
  EXPECT_TRUE(fs.Exists(DayPath(DayKind::kGpu, kNoon, ".zst")));
  EXPECT_FALSE(fs.Exists(DayPath(DayKind::kGpu, kNoon)));
  EXPECT_TRUE(fs.Exists(DayPath(DayKind::kRun, kNoon)));
  EXPECT_TRUE(fs.Exists(DayPath(DayKind::kGpu, now)));
  EXPECT_EQ(CoveredSeconds(*MustOpen(&fs, "d")), before);
  for (const std::string& path : fs.Paths()) EXPECT_EQ(path.find("tmp"), std::string::npos) << path;
}

TEST(Maintain, ASecondTimeThereIsNothingToDo) {
  sys::MemFileSystem fs;
  const TimeMs now = PutDays(&fs, 3);
  MustMaintain(&fs, now);
  const std::vector<std::string> paths = fs.Paths();
  fs.SetNow(now + 1000);
  const MaintainReport again = MustMaintain(&fs, now + 1000);
  EXPECT_THAT(again.minutes_written, IsEmpty());
  EXPECT_THAT(again.compressed, IsEmpty());
  EXPECT_EQ(fs.Paths(), paths);
}

TEST(Maintain, MinutesOfADayAddUpToItsCoveredTime) {
  sys::MemFileSystem fs;
  const TimeMs now = PutDays(&fs, 2);
  MustMaintain(&fs, now);
  const std::string text = fs.Get(DayPath(DayKind::kMinute, kNoon));
  double covered = 0;
  size_t rows = 0;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.empty() || line[0] == 't') continue;
    const std::vector<std::string_view> cells = Split(line, ',');
    ASSERT_EQ(cells.size(), MinuteColumns().size());
    covered += *ParseDouble(cells[2]);
    ++rows;
  }
  EXPECT_EQ(rows, 20U);  // ten minutes of two cards
  EXPECT_NEAR(covered, 2 * 599.0, 0.01);
  EXPECT_EQ(text.substr(0, text.find('\n')), Join(MinuteColumns(), ","));
}

TEST(Maintain, ADayIsClosedSomeTimeAfterItsEnd) {
  sys::MemFileSystem fs;
  PutDays(&fs, 1);
  EXPECT_THAT(MustMaintain(&fs, kMidnight + 3'600'000).compressed, IsEmpty());
  EXPECT_EQ(MustMaintain(&fs, kMidnight + 2 * 3'600'000).compressed.size(), 2U);
}

TEST(Maintain, ACrashBeforeRemovingLeavesNoSecondCopy) {
  sys::MemFileSystem fs;
  const TimeMs now = PutDays(&fs, 2);
  const std::string text = fs.Get(DayPath(DayKind::kGpu, kNoon));
  fs.Put(DayPath(DayKind::kGpu, kNoon, ".zst"), *sys::CompressZstd(text));
  fs.Put("d/.gpu-2026-01-01.csv.zst.tmp", "left by a crash");
  MustMaintain(&fs, now);
  EXPECT_FALSE(fs.Exists(DayPath(DayKind::kGpu, kNoon)));
  EXPECT_EQ(ReadOnePiece(&fs, "d").gpus[0].size(), 1200U);
}

TEST(Maintain, RowsWrittenAfterADayWasCompressedAreAdded) {
  sys::MemFileSystem fs;
  const TimeMs now = PutDays(&fs, 2);
  MustMaintain(&fs, now);
  fs.SetNow(now + 1000);
  fs.Put(DayPath(DayKind::kGpu, kNoon), ShortGpuFile(kNoon + 600'000, 300, 2));  // the clock went back a day
  const MaintainReport r = MustMaintain(&fs, now + 1000);
  EXPECT_THAT(r.compressed, ElementsAre("gpu-2026-01-01.csv"));
  EXPECT_THAT(r.minutes_written, ElementsAre("minute-2026-01-01.csv"));
  EXPECT_FALSE(fs.Exists(DayPath(DayKind::kGpu, kNoon)));
  const model::Recording rec = ReadOnePiece(&fs, "d");
  EXPECT_EQ(rec.gpus[0].size(), 1500U);
  EXPECT_EQ(rec.quality.count(model::Odd::kDuplicateSample), 0);
}

TEST(Maintain, OldDaysGoByAgeAndSummariesByTheirs) {
  sys::MemFileSystem fs;
  const TimeMs now = PutDays(&fs, 5);
  MaintainOptions o;
  o.keep_days = 2;
  o.keep_summary_days = 4;
  const MaintainReport r = MustMaintain(&fs, now, o);
  EXPECT_FALSE(fs.Exists(DayPath(DayKind::kGpu, kNoon + 2 * kDayMs, ".zst")));
  EXPECT_TRUE(fs.Exists(DayPath(DayKind::kGpu, kNoon + 3 * kDayMs, ".zst")));
  EXPECT_TRUE(fs.Exists(DayPath(DayKind::kGpu, kNoon + 4 * kDayMs)));
  EXPECT_FALSE(fs.Exists(DayPath(DayKind::kMinute, kNoon)));
  EXPECT_TRUE(fs.Exists(DayPath(DayKind::kMinute, kNoon + kDayMs)));
  EXPECT_TRUE(fs.Exists(DayPath(DayKind::kRun, kNoon + kDayMs)));
  int64_t bytes = 0;
  for (const std::string& path : fs.Paths()) bytes += static_cast<int64_t>(fs.Get(path).size());
  EXPECT_EQ(r.total_bytes, bytes);
}

TEST(Maintain, TooManyBytesTakeTheOldestDaysButNeverTheCurrentOne) {
  sys::MemFileSystem fs;
  const TimeMs now = PutDays(&fs, 4);
  MaintainOptions o;
  o.compress = o.minutes = false;
  const auto size = static_cast<int64_t>(fs.Get(DayPath(DayKind::kGpu, kNoon)).size());
  o.max_total_bytes = 2 * size + 1000;
  MustMaintain(&fs, now, o);
  EXPECT_FALSE(fs.Exists(DayPath(DayKind::kGpu, kNoon + kDayMs)));
  EXPECT_TRUE(fs.Exists(DayPath(DayKind::kGpu, kNoon + 2 * kDayMs)));
  o.max_total_bytes = 1;
  MustMaintain(&fs, now, o);
  EXPECT_THAT(fs.Paths(),
              ElementsAre(DayPath(DayKind::kGpu, now), DayPath(DayKind::kHost, now), DayPath(DayKind::kRun, now)));
}

TEST(Maintain, AFullDiskKeepsThePlainFile) {
  sys::MemFileSystem fs;
  const TimeMs now = PutDays(&fs, 2);
  fs.SetSpaceLeft(500);
  const MaintainReport r = MustMaintain(&fs, now);
  EXPECT_FALSE(r.problems.empty());
  EXPECT_TRUE(fs.Exists(DayPath(DayKind::kGpu, kNoon)));
  EXPECT_FALSE(fs.Exists(DayPath(DayKind::kGpu, kNoon, ".zst")));
  fs.SetSpaceLeft(std::nullopt);
  EXPECT_THAT(MustMaintain(&fs, now).problems, IsEmpty());
  EXPECT_TRUE(fs.Exists(DayPath(DayKind::kGpu, kNoon, ".zst")));
}

TEST(Maintain, ANetworkFileSystemIsSaid) {
  sys::MemFileSystem fs;
  const TimeMs now = PutDays(&fs, 1);
  fs.SetNetwork("nfs");
  EXPECT_EQ(MustMaintain(&fs, now).network_file_system, "nfs");
}

TEST(Maintain, NodeFoldersAreKeptAsWell) {
  sys::MemFileSystem fs;
  fs.Put("d/alpha/gpu-2026-01-01.csv", ShortGpuFile(kNoon, 100));
  fs.Put("d/gpu-2026-01-01.csv", ShortGpuFile(kNoon, 50));
  const MaintainReport r = MustMaintain(&fs, kNoon + 2 * kDayMs);
  EXPECT_THAT(r.compressed, ElementsAre("gpu-2026-01-01.csv", "alpha/gpu-2026-01-01.csv"));
  // Each folder's minutes are of its own cards only.
  EXPECT_EQ(Split(fs.Get("d/minute-2026-01-01.csv"), '\n').size(), 1U + 1U + 1U);
  EXPECT_EQ(Split(fs.Get("d/alpha/minute-2026-01-01.csv"), '\n').size(), 1U + 2U + 1U);
}

}  // namespace
}  // namespace sawbill::store
