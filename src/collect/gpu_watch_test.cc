// SPDX-License-Identifier: Apache-2.0
// Faults that other monitors had: no field supported, cards lost and back, a bad handle, mismatch, a late
// driver, lost sight, handles that block a reset; and calls that hang.
#include "collect/gpu_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collect/fake_source.h"

namespace sawbill::collect {
namespace {

using gpu::Outcome;
using gpu::Trouble;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kSecond = 1'000'000;

struct Watch {
  explicit Watch(int cards) : source(std::make_shared<FakeSource>(cards)) {
    options.wait_for_all = true;
    options.patience = milliseconds(20);
    options.open_wait = milliseconds(2000);
    watch = std::make_unique<GpuWatch>(source, options);
  }
  ~Watch() { source->LetGo(); }
  /// One tick at second `t`; gives the uuids that got a row.
  std::vector<std::string> Tick(double t, bool holders = false, milliseconds wait = milliseconds(2000)) {
    const auto us = static_cast<int64_t>(t * kSecond);
    watch->Begin(us, holders);
    last = watch->Finish(us, std::chrono::steady_clock::now() + wait);
    for (const WatchEvent& e : last.events)
      events.push_back(e.kind + (e.gpu.empty() ? "" : " " + e.gpu) + " " + e.detail);
    std::vector<std::string> uuids;
    for (const auto& row : last.rows) uuids.push_back(watch->cards()[row.card].info.uuid);
    return uuids;
  }
  std::shared_ptr<FakeSource> source;
  WatchOptions options;
  std::unique_ptr<GpuWatch> watch;
  WatchTick last;
  std::vector<std::string> events;
};

TEST(GpuWatch, OpensInTheFirstTickAndReadsFromTheSecond) {
  Watch w(2);
  EXPECT_THAT(w.Tick(0), IsEmpty());
  EXPECT_TRUE(w.last.opened);
  EXPECT_THAT(w.Tick(1), ElementsAre("GPU-a", "GPU-b"));
}

TEST(GpuWatch, ALostCardIsLeftAloneAndTheOthersGoOn) {  // B1
  Watch w(4);
  w.Tick(0);
  w.source->answer["GPU-d"] = {Outcome::kLost, 15};
  EXPECT_THAT(w.Tick(1), ElementsAre("GPU-a", "GPU-b", "GPU-c"));
  const int calls = w.source->calls["GPU-d"];
  EXPECT_THAT(w.Tick(2), ElementsAre("GPU-a", "GPU-b", "GPU-c"));
  EXPECT_EQ(w.source->calls["GPU-d"], calls);
  EXPECT_THAT(w.events, ElementsAre("gpu_lost 3 code=15"));
  EXPECT_EQ(w.watch->CardTrouble(3), "lost");
}

TEST(GpuWatch, ALostCardThatIsBackUnderAnotherIndexKeepsItsName) {  // B1
  Watch w(4);
  w.Tick(0);
  w.source->answer["GPU-b"] = {Outcome::kLost, 15};
  w.Tick(1);
  w.source->uuids = {"GPU-a", "GPU-c", "GPU-d"};  // enumeration without it: indices shift
  w.Tick(7);
  EXPECT_TRUE(w.last.opened);
  EXPECT_THAT(w.Tick(8), ElementsAre("GPU-a", "GPU-c", "GPU-d"));
  w.source->uuids = {"GPU-a", "GPU-c", "GPU-d", "GPU-b"};
  w.source->answer.clear();
  for (double t = 9; t < 40 && w.events.size() < 2; ++t) w.Tick(t);
  EXPECT_THAT(w.events, ElementsAre("gpu_lost 1 code=15", "gpu_back 3 uuid=GPU-b"));
  EXPECT_THAT(w.Tick(41), ElementsAre("GPU-a", "GPU-c", "GPU-d", "GPU-b"));
}

TEST(GpuWatch, OneHandleThatCannotBeHadHidesNoOtherCard) {  // B2
  Watch w(4);
  w.source->handle_code["GPU-a"] = 999;
  w.Tick(0);
  EXPECT_THAT(w.Tick(1), ElementsAre("GPU-b", "GPU-c", "GPU-d"));
  EXPECT_THAT(w.events, ElementsAre("gpu_lost 0 code=999"));
}

TEST(GpuWatch, ADriverThatComesLateIsFoundWithinOneBackOff) {  // B4
  Watch w(1);
  w.source->trouble = {Trouble::kNoDriver, 9, ""};
  double t = 0;
  for (; t < 20; ++t) EXPECT_THAT(w.Tick(t), IsEmpty());
  EXPECT_THAT(w.events, ElementsAre("driver_lost trouble=no_driver code=9"));
  EXPECT_LE(w.source->opens, 6);  // 0, 1, 3, 7, 15: not every second
  w.source->trouble = {};
  for (; t < 40 && !w.watch->open(); ++t) w.Tick(t);
  EXPECT_LE(t, 33);
  EXPECT_THAT(w.Tick(t), ElementsAre("GPU-a"));
  EXPECT_EQ(w.events.back(), "driver_back driver=550.1");
}

TEST(GpuWatch, AMismatchInMidRunStopsEverythingUntilTheDriverIsThereAgain) {  // B3
  Watch w(2);
  w.Tick(0);
  for (const char* uuid : {"GPU-a", "GPU-b"}) w.source->answer[uuid] = {Outcome::kReopen, 18};
  w.source->trouble = {Trouble::kMismatch, 18, ""};
  EXPECT_THAT(w.Tick(1), IsEmpty());
  EXPECT_FALSE(w.source->is_open);
  EXPECT_THAT(w.events, ElementsAre("driver_lost trouble=mismatch code=18"));
  w.source->trouble = {};
  w.source->answer.clear();
  w.source->driver = "560.2";
  for (double t = 2; t < 9; ++t) w.Tick(t);
  EXPECT_THAT(w.events, ElementsAre("driver_lost trouble=mismatch code=18", "driver_back driver=560.2",
                                    "driver_reload from=550.1 to=560.2"));
  EXPECT_THAT(w.Tick(9), ElementsAre("GPU-a", "GPU-b"));
}

TEST(GpuWatch, WhenAllCardsFailAtOnceSightIsLostNotTheCards) {  // B5
  Watch w(2);
  w.Tick(0);
  for (const char* uuid : {"GPU-a", "GPU-b"}) w.source->answer[uuid] = {Outcome::kLost, 999};
  w.source->trouble = {Trouble::kLostSight, 999, ""};
  for (double t = 1; t < 10; ++t) EXPECT_THAT(w.Tick(t), IsEmpty());
  EXPECT_THAT(w.events, ElementsAre("driver_lost trouble=lost_sight code=999"));
}

TEST(GpuWatch, ACardWithoutAnyFieldHasEmptyRowsAndOneEvent) {  // A4
  Watch w(1);
  w.Tick(0);
  w.source->answer["GPU-a"] = {Outcome::kEmpty, 0};
  for (double t = 1; t < 60; ++t) {
    ASSERT_THAT(w.Tick(t), ElementsAre("GPU-a"));
    for (const double v : w.last.rows[0].values) ASSERT_TRUE(IsMissing(v));
  }
  EXPECT_THAT(w.events, ElementsAre("no_readings 0 supported=0 asked=12"));
  EXPECT_EQ(w.watch->CardTrouble(0), "no_fields");
}

TEST(GpuWatch, ACallThatHangsCostsItsOwnCardOnly) {
  Watch w(4);
  w.Tick(0);
  w.source->hangs.insert("GPU-b");
  EXPECT_THAT(w.Tick(1, false, milliseconds(200)), ElementsAre("GPU-a", "GPU-c", "GPU-d"));
  for (double t = 2; t < 6; ++t)
    EXPECT_THAT(w.Tick(t, false, milliseconds(200)), ElementsAre("GPU-a", "GPU-c", "GPU-d"));
  EXPECT_LE(w.watch->threads(), 6U);  // opener, slow, holders; quick: the one that hangs and one more
  EXPECT_EQ(w.source->calls["GPU-b"], 1);
  w.source->LetGo();
  for (double t = 6; t < 50; ++t) {
    if (w.Tick(t).size() == 4) return;
  }
  FAIL() << "the card did not come back";
}

TEST(GpuWatch, PauseLetsGoOfTheCardsAndResumeTakesThemUp) {  // G4
  Watch w(1);
  w.Tick(0);
  w.watch->Pause();
  EXPECT_FALSE(w.source->is_open);
  EXPECT_THAT(w.Tick(1), IsEmpty());
  EXPECT_EQ(w.source->opens, 1);
  w.watch->Resume(2 * kSecond);
  w.Tick(2);
  EXPECT_THAT(w.Tick(3), ElementsAre("GPU-a"));
}

TEST(GpuWatch, HoldersOfAllCardsComeAsOneRound) {
  Watch w(2);
  w.source->holders["GPU-a"] = {{"", 41, 1000, 55}};
  w.source->holders["GPU-b"] = {{"", 42, 2000, kMissing}};
  w.Tick(0, true);
  for (double t = 1; t < 50 && !w.last.holders; ++t) w.Tick(t);
  ASSERT_TRUE(w.last.holders);
  ASSERT_EQ(w.last.holders->size(), 2U);
  EXPECT_EQ((*w.last.holders)[0].gpu, "0");
  EXPECT_EQ((*w.last.holders)[1].pid, 42);
}

TEST(GpuWatch, SlowReadingsAreSparse) {
  Watch w(1);
  w.Tick(0);
  int with = 0;
  for (double t = 1; t <= 20; ++t) {
    w.Tick(t);
    with += IsPresent(w.last.rows.at(0).values[static_cast<size_t>(model::GpuMetric::kPcieRxMbS)]) ? 1 : 0;
  }
  EXPECT_GE(with, 3);
  EXPECT_LE(with, 5);
}

}  // namespace
}  // namespace sawbill::collect
