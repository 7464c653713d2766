// SPDX-License-Identifier: Apache-2.0
#include "store/recording_writer.h"

#include <gtest/gtest.h>

#include "store/day_reader.h"
#include "sys/mem_fs.h"

namespace sawbill::store {
namespace {
using model::GpuMetric;
using model::Recording;

constexpr TimeMs kStart = 1'772'366'400'000;

Recording TwoCards() {
  Recording r;
  for (int k = 0; k < 2; ++k) {
    r.gpus.emplace_back();
    model::GpuTrack& g = r.gpus.back();
    g.card.gpu = "0";  // both logs counted from 0: two containers on one machine
    g.card.uuid = k == 0 ? "GPU-a" : "GPU-b";
    g.card.name = "NVIDIA L4";
    g.card.memory_total_mb = 23034;
    for (int i = 0; i < 5; ++i) {
      g.t_ms.push_back(kStart + i * 1000);
      g.columns[static_cast<size_t>(GpuMetric::kSmUtil)].push_back(static_cast<float>(10 * k + i));
      g.energy_j.push_back(i == 2 ? kMissing : 1000.0 * i);
    }
  }
  r.hosts.emplace_back();
  r.hosts[0].t_ms = {kStart + 500};
  r.hosts[0].columns[static_cast<size_t>(model::HostMetric::kCpuUtil)] = {42};
  model::ProcessRow p;
  p.t_ms = kStart + 3000;
  p.card = 1, p.pid = 77;
  p.name = r.strings.Intern("train.py"), p.user = r.strings.Intern("li");
  p.values.fill(static_cast<float>(kMissing));
  p.started_s = 1'772'366'000.0;
  r.processes.push_back(p);
  model::RunRow run;
  run.t_ms = kStart + 1000, run.run = "r1", run.job = "resnet", run.state = "start";
  r.runs.push_back(run);
  r.events.push_back({kStart + 2000, "", "xid", "0", "code=79"});
  return r;
}

Recording RoundTrip(sys::MemFileSystem* fs, const Recording& r) {
  std::vector<model::CardInfo> cards;
  for (const auto& g : r.gpus) cards.push_back(g.card);
  RecordingWriter writer(fs, "/d", TimeZone::Utc(), cards);
  EXPECT_TRUE(writer.Add(r, INT64_MIN).ok());
  EXPECT_TRUE(writer.Close().ok());
  const auto source = OpenDataFolder(fs, "/d", {});
  EXPECT_TRUE(source.ok());
  return *(*source)->Read(0);
}

TEST(RecordingWriter, EverythingComesBack) {
  sys::MemFileSystem fs;
  const Recording back = RoundTrip(&fs, TwoCards());
  ASSERT_EQ(back.gpus.size(), 2U);
  EXPECT_EQ(back.gpus[0].card.uuid, "GPU-a");
  EXPECT_EQ(back.gpus[1].card.uuid, "GPU-b");
  EXPECT_EQ(back.gpus[1].card.name, "NVIDIA L4");
  EXPECT_EQ(back.gpus[1].At(GpuMetric::kSmUtil, 4), 14.0F);
  EXPECT_TRUE(IsMissing(back.gpus[0].energy_j[2]));
  EXPECT_EQ(back.gpus[0].energy_j[3], 3000);
  EXPECT_TRUE(IsMissing(back.gpus[0].At(GpuMetric::kPowerW, 0)));
  ASSERT_EQ(back.hosts.size(), 1U);
  EXPECT_EQ(back.hosts[0].At(model::HostMetric::kCpuUtil, 0), 42.0F);
  ASSERT_EQ(back.processes.size(), 1U);
  EXPECT_EQ(back.gpus[static_cast<size_t>(back.processes[0].card)].card.uuid, "GPU-b");
  EXPECT_EQ(back.strings.Get(back.processes[0].name), "train.py");
  EXPECT_DOUBLE_EQ(back.processes[0].started_s, 1'772'366'000.0);
  ASSERT_EQ(back.runs.size(), 1U);
  EXPECT_EQ(back.runs[0].job, "resnet");
  ASSERT_EQ(back.events.size(), 1U);
  EXPECT_EQ(back.events[0].detail, "code=79");
}

TEST(RecordingWriter, ReadingsKeepEveryDigit) {
  sys::MemFileSystem fs;
  Recording r = TwoCards();
  r.gpus[0].columns[static_cast<size_t>(GpuMetric::kSmUtil)][1] = 0.368F;
  r.gpus[0].columns[static_cast<size_t>(GpuMetric::kPowerW)] = {400.25F, 61.7F, 80.0F, 80.0F, 0.0F};
  const Recording back = RoundTrip(&fs, r);
  EXPECT_EQ(back.gpus[0].At(GpuMetric::kSmUtil, 1), 0.368F);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(back.gpus[0].At(GpuMetric::kPowerW, i), r.gpus[0].At(GpuMetric::kPowerW, i));
}

TEST(RecordingWriter, TheSampleThatAPieceBeginsWithIsNotWrittenTwice) {
  sys::MemFileSystem fs;
  const Recording r = TwoCards();
  RecordingWriter writer(&fs, "/d", TimeZone::Utc(), {r.gpus[0].card, r.gpus[1].card});
  ASSERT_TRUE(writer.Add(r, INT64_MIN).ok());
  ASSERT_TRUE(writer.Add(r, kStart + 4000).ok());
  EXPECT_EQ(writer.rows().gpu, 10);
}

TEST(RecordingWriter, AHoleIsNoClockStep) {
  sys::MemFileSystem fs;
  Recording r = TwoCards();
  for (auto& g : r.gpus) g.t_ms[4] += 3'600'000;
  EXPECT_TRUE(RoundTrip(&fs, r).quality.count(model::Odd::kClockStep) == 0);
}

TEST(RecordingWriter, AFullDiskIsAnError) {
  sys::MemFileSystem fs;
  fs.SetSpaceLeft(600);
  const Recording r = TwoCards();
  RecordingWriter writer(&fs, "/d", TimeZone::Utc(), {r.gpus[0].card, r.gpus[1].card});
  EXPECT_FALSE(writer.Add(r, INT64_MIN).ok());
}

TEST(RecordingWriter, ACardWithoutAnyReadingStaysWithItsFactsAndItsSilence) {
  sys::MemFileSystem fs;
  Recording r = TwoCards();
  model::GpuTrack& silent = r.gpus[1];
  silent.card.gpu = "1";
  silent.t_ms.clear();
  for (auto& column : silent.columns) column.clear();
  silent.energy_j.clear();
  r.processes.clear();
  const Recording back = RoundTrip(&fs, r);
  ASSERT_EQ(back.gpus.size(), 2U);
  EXPECT_EQ(back.gpus[1].card.uuid, "GPU-b");
  EXPECT_EQ(back.gpus[1].card.name, "NVIDIA L4");
  EXPECT_EQ(back.gpus[1].card.memory_total_mb, 23034);
  EXPECT_EQ(back.gpus[1].size(), 0U);  // there, and nothing known of it
  EXPECT_EQ(back.gpus[0].size(), 5U);
  EXPECT_EQ(back.gpus[0].At(GpuMetric::kSmUtil, 4), 4.0F);
}

TEST(RecordingWriter, ASilentCardIsThereOnEachDay) {
  sys::MemFileSystem fs;
  Recording r;
  r.gpus.resize(2);
  r.gpus[0].card.gpu = "0";
  r.gpus[1].card.gpu = "1";
  r.gpus[1].card.uuid = "GPU-b";
  for (int i = 0; i < 36 * 60; ++i) {
    r.gpus[0].t_ms.push_back(kStart + i * 60'000LL);
    r.gpus[0].columns[static_cast<size_t>(GpuMetric::kSmUtil)].push_back(50);
  }
  const Recording back = RoundTrip(&fs, r);
  ASSERT_EQ(back.gpus.size(), 2U);
  for (const char* day : {"/d/gpu-2026-03-01.csv", "/d/gpu-2026-03-02.csv"}) {
    const auto file = fs.Map(day);
    ASSERT_TRUE(file.ok()) << day;
    EXPECT_NE((*file)->bytes().find(",1,,,"), std::string_view::npos) << day;
  }
}

}  // namespace
}  // namespace sawbill::store
