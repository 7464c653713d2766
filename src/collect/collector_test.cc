// SPDX-License-Identifier: Apache-2.0
// Whole ticks into a disk in memory, under a clock of the test's own.
#include "collect/collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "collect/fake_source.h"
#include "collect/status_file.h"
#include "store/day_reader.h"
#include "sys/mem_fs.h"

namespace sawbill::collect {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr TimeMs kStart = 1'772'400'000'000;  // 2026-03-01T21:20:00Z

class CollectorTest : public testing::Test {
 protected:
  void Make(int cards, const store::FolderWriterOptions& days = {}) {
    source_ = std::make_shared<FakeSource>(cards);
    files_ = std::make_shared<sys::MemProcFiles>();
    auto writer = store::FolderWriter::Open(&fs_, "/data", days);
    ASSERT_TRUE(writer.ok());
    writer_ = std::move(writer).value();
    CollectorOptions o;
    o.node = "n1";
    o.watch.open_wait = std::chrono::milliseconds(2000);
    o.watch.wait_for_all = true;
    o.watch.patience = std::chrono::milliseconds(20);
    o.labels["GPU-a"] = "team-a";
    collector_ =
        std::make_unique<Collector>(o, Collector::Seams{source_, files_, writer_.get(), [this] { return usage_; },
                                                        [this](const std::string& text) { notes_.push_back(text); }});
  }
  void TearDown() override {
    if (source_) source_->LetGo();
  }
  /// Ticks at seconds [from, to).
  void Ticks(int from, int to) {
    for (int s = from; s < to; ++s) collector_->Tick({kStart + 1000LL * s + shift_ms_, 1000LL * s, 1'000'000LL * s});
  }
  std::vector<std::string> Lines(const std::string& kind) const {
    const std::string path = "/data/" + kind + "-2026-03-01.csv";
    std::vector<std::string> out;
    if (!fs_.Exists(path)) return out;
    for (const std::string_view line : Split(fs_.Get(path), '\n')) {
      if (!line.empty() && line.find("timestamp") != 0) out.emplace_back(line);
    }
    return out;
  }
  /// "kind gpu detail" of each event.
  std::vector<std::string> Events() const {
    std::vector<std::string> out;
    for (const std::string& line : Lines("event")) out.push_back(line.substr(line.find(',') + 1));
    return out;
  }

  sys::MemFileSystem fs_;
  std::shared_ptr<FakeSource> source_;
  std::shared_ptr<sys::MemProcFiles> files_;
  std::unique_ptr<store::FolderWriter> writer_;
  std::unique_ptr<Collector> collector_;
  sys::SelfUsage usage_;
  std::vector<std::string> notes_;
  int64_t shift_ms_ = 0;
};

TEST_F(CollectorTest, WritesARowForEachCardAndTick) {
  Make(2);
  Ticks(0, 11);
  EXPECT_EQ(Lines("gpu").size(), 20U);
  EXPECT_THAT(Lines("gpu").front(), HasSubstr("1772400001.000,0,90"));
  EXPECT_EQ(Lines("host").size(), 11U);
  EXPECT_THAT(fs_.Get("/data/inventory.csv"), HasSubstr("0,GPU-a,NVIDIA H100 80GB HBM3"));
  EXPECT_THAT(fs_.Get("/data/inventory.csv"), HasSubstr("n1,team-a"));
  EXPECT_THAT(Events(), ElementsAre("collector_start,,"));
}

TEST_F(CollectorTest, ALostCardLeavesNoRowsWhileItIsLost) {  // unmeasured, not idle
  Make(4);
  Ticks(0, 30);
  source_->answer["GPU-d"] = {gpu::Outcome::kLost, 15};
  Ticks(30, 34);
  const auto lines = Lines("gpu");
  ASSERT_EQ(lines.size(), 4U * 29 + 3 * 4);
  for (size_t i = 4 * 29; i < lines.size(); ++i) EXPECT_THAT(lines[i], Not(HasSubstr(",3,")));
  EXPECT_THAT(Events(), ElementsAre("collector_start,,", "gpu_lost,3,code=15"));
}

TEST_F(CollectorTest, TicksThatNeverCameAreCounted) {
  Make(1);
  Ticks(0, 5);
  Ticks(9, 12);  // the machine was busy for four seconds
  EXPECT_EQ(collector_->state().lost_ticks, 4);
  EXPECT_THAT(Events(), ElementsAre("collector_start,,", "late_tick,,lost=4"));
}

TEST_F(CollectorTest, AClockSetBackIsAnEventAndNoLostTick) {
  Make(1);
  Ticks(0, 5);
  shift_ms_ = -7'200'000;
  Ticks(5, 8);
  EXPECT_EQ(collector_->state().lost_ticks, 0);
  EXPECT_THAT(Events(), ElementsAre("collector_start,,", "clock_step,,offset_s=-7200.0"));
}

TEST_F(CollectorTest, WithoutADriverTheHostIsRecordedAllTheSame) {  // B3
  Make(1);
  source_->trouble = {gpu::Trouble::kMismatch, 18, "library 550.1, module 535.2"};
  Ticks(0, 60);
  EXPECT_EQ(Lines("host").size(), 60U);
  EXPECT_THAT(Lines("gpu"), IsEmpty());
  EXPECT_THAT(Events(), ElementsAre("collector_start,,", "driver_lost,,trouble=mismatch code=18"));
}

TEST_F(CollectorTest, AFullDiskPausesTheHistoryAndIsSaidOnce) {
  Make(1);
  Ticks(0, 5);
  fs_.SetSpaceLeft(0);
  Ticks(5, 10);
  EXPECT_TRUE(collector_->state().history_paused);
  fs_.SetSpaceLeft(std::nullopt);
  Ticks(10, 12);
  EXPECT_FALSE(collector_->state().history_paused);
  EXPECT_EQ(Lines("gpu").size(), 11U);
  ASSERT_EQ(notes_.size(), 2U);
  EXPECT_THAT(notes_[0], AllOf(HasSubstr("nothing can be written into /data"), HasSubstr("free some space")));
  EXPECT_THAT(notes_[1], HasSubstr("/data can be written again"));
  EXPECT_EQ(Events().back(), "disk_full,,paused_s=5.0 dropped_rows=0");
}

TEST_F(CollectorTest, WhatCouldNotBeWrittenAtTheEndIsAnError) {
  Make(1);
  Ticks(0, 3);
  EXPECT_TRUE(collector_->Stop({kStart + 3000, 3000, 3'000'000}).ok());
  fs_.SetSpaceLeft(0);
  Ticks(3, 5);
  EXPECT_FALSE(collector_->Stop({kStart + 5000, 5000, 5'000'000}).ok());
}

TEST_F(CollectorTest, AtMidnightANewDayFileBegins) {
  store::FolderWriterOptions days;
  days.days.tz = *TimeZone::Load("+08:00");
  Make(1, days);
  // 2026-03-01T15:59:55Z is 23:59:55 there.
  shift_ms_ = 1'772'380'795'000 - kStart;
  Ticks(0, 11);
  ASSERT_TRUE(collector_->Stop({kStart + shift_ms_ + 10'500, 10'500, 10'500'000}).ok());
  const auto rows = [&](const std::string& name) {
    std::vector<std::string> out;
    for (const std::string_view line : Split(fs_.Get("/data/" + name), '\n'))
      if (!line.empty()) out.emplace_back(line.substr(0, line.find(",0,")));
    return out;
  };
  const auto before = rows("gpu-2026-03-01.csv"), after = rows("gpu-2026-03-02.csv");
  EXPECT_EQ(before.size(), 1U + 4);  // the header; the first tick opens the cards and reads none
  ASSERT_EQ(after.size(), 1U + 6);
  EXPECT_THAT(after[0], HasSubstr("timestamp,gpu,sm_util"));
  EXPECT_EQ(before.back(), "1772380799.000");
  EXPECT_EQ(after[1], "1772380800.000");  // midnight itself is of the new day
  EXPECT_EQ(rows("host-2026-03-01.csv").size(), 1U + 5);
  EXPECT_EQ(rows("host-2026-03-02.csv").size(), 1U + 6);
  // A reader sees one recording: the second at midnight is measured like any other.
  store::DataFolderOptions o;
  o.tz = days.days.tz;
  const auto source = store::OpenDataFolder(&fs_, "/data", o);
  ASSERT_TRUE(source.ok());
  const auto recording = (*source)->Read(0);
  ASSERT_TRUE(recording.ok());
  ASSERT_EQ(recording->gpus.size(), 1U);
  const model::Coverage cover = model::Cover(recording->gpus[0].t_ms);
  EXPECT_EQ(cover.covered_s, 9);
  EXPECT_EQ(cover.holes, 0);
}

TEST_F(CollectorTest, OverBudgetItLooksAtProcessesLessOften) {
  Make(1);
  for (int minute = 0; minute < 3; ++minute) {
    usage_.cpu_seconds = 6.0 * minute;  // 10 % of a core
    Ticks(60 * minute, 60 * minute + 60);
  }
  EXPECT_EQ(collector_->state().stretch, 4);
  EXPECT_EQ(collector_->state().process_every_ms, 40'000);
  EXPECT_EQ(Events().back(), "over_budget,,cpu_share=0.1000 process_every_s=40");
}

TEST_F(CollectorTest, PausedItLetsGoOfTheCardsAndGoesOnWithTheHost) {
  Make(1);
  Ticks(0, 3);
  collector_->SetPaused(true, {kStart + 3000, 3000, 3'000'000});
  EXPECT_FALSE(source_->is_open);
  Ticks(3, 6);
  collector_->SetPaused(false, {kStart + 6000, 6000, 6'000'000});
  Ticks(6, 9);
  EXPECT_EQ(Lines("gpu").size(), 2U + 2U);
  EXPECT_EQ(Lines("host").size(), 9U);
  EXPECT_THAT(Events(), ElementsAre("collector_start,,", "paused,,", "resumed,,"));
}

TEST_F(CollectorTest, ADayOfCardsThatFallAndComeBackKeepsThreadsFlat) {
  Make(4);
  for (int s = 0; s < 3000; ++s) {
    if (s % 100 == 50) source_->answer["GPU-b"] = {gpu::Outcome::kLost, 15};
    if (s % 100 == 60) source_->answer.clear();
    Ticks(s, s + 1);
  }
  EXPECT_LE(collector_->state().threads, 6U);
}

TEST(StatusFile, SaysWhatItWasTold) {
  CollectorState s;
  s.ticks = 100;
  s.lost_ticks = 2;
  s.open = true;
  s.source = "nvml";
  s.status = {gpu::Trouble::kNone, 0, ""};
  s.cards = {{"0", "GPU-a", "NVIDIA \"X\" \xff", "lost"}};
  s.cost.ticks = 100;
  s.cost.driver_us = 50'000;
  s.cpu_share = 0.004;
  StatusFacts f;
  f.pid = 77;
  f.started = kStart;
  f.updated = kStart + 5000;
  const auto seen = ParseStatus(StatusJson(f, s));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->facts.pid, 77);
  EXPECT_EQ(seen->facts.updated, kStart + 5000);
  EXPECT_EQ(seen->ticks, 100);
  EXPECT_EQ(seen->lost_ticks, 2);
  EXPECT_EQ(seen->tick.driver_us, 500);
  EXPECT_EQ(*seen->cpu_share, 0.004);
  EXPECT_FALSE(seen->rss_mb);  // not read is not zero
  EXPECT_EQ(seen->cards.at(0).trouble, "lost");
}

TEST(StatusFile, AnythingElseIsNone) {
  for (const char* text : {"", "{", "[]", "{\"schema\":\"other/1\"}", "{\"schema\":7}"})
    EXPECT_FALSE(ParseStatus(text)) << text;
}

}  // namespace
}  // namespace sawbill::collect
