// SPDX-License-Identifier: Apache-2.0
#include "ingest/combine.h"

#include <gmock/gmock.h>

#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::HostMetric;
using model::Recording;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr TimeMs kStart = 1'700'000'000'000;

/// One card from `from_s` on, every `step_s`, n samples; utilisation counts up from `first`.
Recording Card(const std::string& gpu, const std::string& uuid, double from_s, int n, double first = 0,
               double step_s = 1, GpuMetric metric = GpuMetric::kSmUtil) {
  Recording r;
  r.format = "test";
  r.gpus.emplace_back();
  model::GpuTrack& g = r.gpus.back();
  g.card.gpu = gpu, g.card.uuid = uuid;
  for (int i = 0; i < n; ++i) {
    g.t_ms.push_back(kStart + static_cast<TimeMs>(1000 * (from_s + i * step_s)));
    g.columns[static_cast<size_t>(metric)].push_back(static_cast<float>(first + i));
  }
  return r;
}
Recording Host(double from_s, int n) {
  Recording r;
  r.format = "host";
  r.hosts.emplace_back();
  for (int i = 0; i < n; ++i) {
    r.hosts.back().t_ms.push_back(kStart + static_cast<TimeMs>(1000 * (from_s + i)));
    r.hosts.back().columns[static_cast<size_t>(HostMetric::kCpuUtil)].push_back(50);
  }
  return r;
}
Combined Of(std::vector<Recording> inputs) {
  const std::vector<std::string> names{"a", "b", "c", "d"};
  return Combine(std::move(inputs), names, Lang::kEn);
}

TEST(Combine, ALogForEachCardIsOneRecording) {
  const Combined c = Of({Card("0", "", 0, 100), Card("1", "", 2, 100)});
  EXPECT_THAT(c.parts, ElementsAre(ElementsAre(0, 1)));
  ASSERT_EQ(c.recordings[0].gpus.size(), 2U);
  EXPECT_EQ(c.recordings[0].gpus[1].card.gpu, "1");
}

TEST(Combine, ARotatedLogIsOneRecordingWithoutACountedHole) {
  const Combined c = Of({Card("0", "", 3, 3, 40), Card("0", "", 0, 3, 10)});
  EXPECT_THAT(c.parts, ElementsAre(ElementsAre(0, 1)));
  ASSERT_EQ(c.recordings[0].gpus.size(), 1U);
  EXPECT_EQ(Values(c.recordings[0], 0, GpuMetric::kSmUtil), "10 11 12 40 41 42");
}

TEST(Combine, RunsOfDifferentDaysOnTheSameCardStayApart) {
  EXPECT_EQ(Of({Card("0", "GPU-a", 0, 100), Card("0", "GPU-a", 86400, 100)}).recordings.size(), 2U);
  EXPECT_EQ(Of({Card("0", "", 0, 100), Card("1", "", 86400, 100)}).recordings.size(), 2U);
}

TEST(Combine, TheSameIndexAtOneTimeWithoutUuidsMayBeTwoMachinesAndStaysApart) {
  const Combined c = Of({Card("0", "", 0, 100), Card("0", "", 10, 100)});
  EXPECT_EQ(c.recordings.size(), 2U);
  EXPECT_THAT(c.notes, ElementsAre(HasSubstr("a and b both hold a card 0")));
}

TEST(Combine, WhatMustStayApartIsNotJoinedThroughAThird) {
  // a and b may be one card or two; c fits both. No card's hours may vanish.
  const Combined c = Of({Card("0", "", 0, 100), Card("0", "", 0, 100, 7), Card("1", "", 0, 100)});
  size_t cards = 0;
  for (const Recording& r : c.recordings) cards += r.gpus.size();
  EXPECT_EQ(cards, 3U);
}

TEST(Combine, NodesKeepEqualIndicesApart) {
  Recording a = Card("0", "", 0, 100), b = Card("0", "", 0, 100);
  a.gpus[0].card.node = "n1", b.gpus[0].card.node = "n2";
  const Combined c = Of({a, b});
  ASSERT_EQ(c.recordings.size(), 1U);
  EXPECT_EQ(c.recordings[0].gpus.size(), 2U);
}

TEST(Combine, TwoLogsOfOneCardCountEachSecondOnce) {
  // Utilisation once a second, power every two: the denser one is read, and power is added to it.
  const Combined c = Of({Card("0", "GPU-a", 0, 6, 10), Card("0", "GPU-a", 0.5, 3, 200, 2, GpuMetric::kPowerW)});
  ASSERT_EQ(c.recordings.size(), 1U);
  const Recording& r = c.recordings[0];
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "10 11 12 13 14 15");
  // At 0 s the sample of 0.5 s speaks (it covers the time before it), at 1 s that of 2.5 s; behind the last none does.
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "200 201 201 202 202 -");
  EXPECT_THAT(r.notes, ElementsAre(HasSubstr("two files at the same time")));
}

TEST(Combine, AHostLogGoesToEveryRecordingOfItsTime) {
  const Combined c = Of({Host(0, 2000), Card("0", "", 0, 100), Card("0", "", 1500, 100)});
  EXPECT_THAT(c.parts, ElementsAre(ElementsAre(0, 1), ElementsAre(0, 2)));
  for (const Recording& r : c.recordings) {
    EXPECT_EQ(r.hosts.size(), 1U);
    EXPECT_EQ(r.gpus.size(), 1U);
  }
}

TEST(Combine, AHostLogOfAnotherTimeStandsAlone) {
  EXPECT_THAT(Of({Card("0", "", 0, 100), Host(9000, 10)}).parts, ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(Combine, ProcessesKeepTheirCardsAndNames) {
  Recording processes;
  processes.gpus.resize(1);
  processes.gpus[0].card.gpu = "1";
  model::ProcessRow p;
  p.t_ms = kStart + 5000;
  p.card = 0;
  p.host = -1;
  p.pid = 7;
  p.values.fill(static_cast<float>(kMissing));
  processes.strings.Intern("something before it");
  p.name = processes.strings.Intern("train.py");
  processes.processes.push_back(p);
  Recording cards = Card("0", "", 0, 10);
  cards.gpus.push_back(Card("1", "", 0, 10).gpus[0]);
  const Combined c = Of({cards, processes});
  ASSERT_EQ(c.recordings.size(), 1U);
  ASSERT_EQ(c.recordings[0].processes.size(), 1U);
  EXPECT_EQ(c.recordings[0].processes[0].card, 1);
  EXPECT_EQ(c.recordings[0].strings.Get(c.recordings[0].processes[0].name), "train.py");
  EXPECT_EQ(c.recordings[0].gpus.size(), 2U);
}

TEST(Combine, ACopyIsBilledOnce) {
  const Combined c = Of({Card("0", "", 0, 100), Card("0", "", 0, 100)});
  ASSERT_EQ(c.recordings.size(), 1U);
  EXPECT_EQ(c.recordings[0].gpus[0].size(), 100U);
}

TEST(Combine, TwoIdleCardsThatSayTheSameAllTheTimeAreNoCopies) {
  Recording idle = Card("0", "", 0, 100);
  for (float& v : idle.gpus[0].columns[static_cast<size_t>(GpuMetric::kSmUtil)]) v = 0;
  EXPECT_EQ(Of({idle, idle}).recordings.size(), 2U);
}

TEST(Combine, ARotatedLogThatOverlapsWithTheSameSamplesIsOne) {
  const Combined c = Of({Card("0", "", 0, 100, 0), Card("0", "", 90, 100, 90)});
  ASSERT_EQ(c.recordings.size(), 1U);
  EXPECT_EQ(c.recordings[0].gpus[0].size(), 190U);
}

TEST(Combine, AnIndexOnANodeThatBothNameIsOneCard) {
  Recording util = Card("0", "", 0, 100), power = Card("0", "", 0, 100, 200, 1, GpuMetric::kPowerW);
  util.gpus[0].card.node = power.gpus[0].card.node = "n1";
  const Combined c = Of({util, power});
  ASSERT_EQ(c.recordings.size(), 1U);
  ASSERT_EQ(c.recordings[0].gpus.size(), 1U);
  EXPECT_EQ(c.recordings[0].gpus[0].At(GpuMetric::kPowerW, 5), 205.0F);
  EXPECT_EQ(c.recordings[0].gpus[0].At(GpuMetric::kSmUtil, 5), 5.0F);
}

TEST(LongHoles, ALogThatWasAppendedToDaysLaterIsTwoRecordings) {
  Recording r = Card("0", "", 0, 600);
  const Recording later = Card("0", "", 30 * 86400, 600);
  r.gpus[0].t_ms.insert(r.gpus[0].t_ms.end(), later.gpus[0].t_ms.begin(), later.gpus[0].t_ms.end());
  auto& util = r.gpus[0].columns[static_cast<size_t>(GpuMetric::kSmUtil)];
  util.insert(util.end(), 600, 50.0F);
  const std::vector<Recording> parts = SplitAtLongHoles(r, Lang::kEn);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].gpus[0].size(), 600U);
  EXPECT_EQ(parts[1].gpus[0].t_ms, later.gpus[0].t_ms);
  EXPECT_TRUE(parts[0].notes.empty());
}

TEST(LongHoles, AFewSamplesWithAnotherYearAreWrongTimes) {
  Recording r = Card("0", "", 0, 600);
  r.gpus[0].t_ms.insert(r.gpus[0].t_ms.begin(), {kStart - 180'000'000'000, kStart - 179'999'999'000});
  auto& util = r.gpus[0].columns[static_cast<size_t>(GpuMetric::kSmUtil)];
  util.insert(util.begin(), 2, 50.0F);
  const std::vector<Recording> parts = SplitAtLongHoles(r, Lang::kEn);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].gpus[0].size(), 600U);
  EXPECT_EQ(Odds(parts[0], model::Odd::kBadRow), 2);
  EXPECT_THAT(parts[0].notes, ElementsAre(HasSubstr("2 of 602 samples lie more than a day")));
}

TEST(LongHoles, ANightWithoutSamplesIsAHole) {
  Recording r = Card("0", "", 0, 600);
  r.gpus[0].t_ms.push_back(r.gpus[0].t_ms.back() + 14 * 3'600'000);
  r.gpus[0].columns[static_cast<size_t>(GpuMetric::kSmUtil)].push_back(1);
  EXPECT_EQ(SplitAtLongHoles(r, Lang::kEn).size(), 1U);
}

TEST(Combine, OneInputIsItself) {
  const Combined c = Of({Card("0", "", 0, 10)});
  EXPECT_THAT(c.parts, ElementsAre(ElementsAre(0)));
  EXPECT_THAT(c.notes, IsEmpty());
  EXPECT_TRUE(Of({}).recordings.empty());
}

}  // namespace
}  // namespace sawbill::ingest
