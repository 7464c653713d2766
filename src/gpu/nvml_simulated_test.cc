// SPDX-License-Identifier: Apache-2.0
// The whole source on the scripted library of simulator/nvml, loaded as a driver's library is. Time stands where the
// test puts it. Letters and numbers name the public faults.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/nvml_test_util.h"
#include "sys/dynamic_library.h"

namespace sawbill::gpu {
namespace {

using model::GpuMetric;
using testing::Each;
using testing::SizeIs;

class SimulatedTest : public testing::Test {
 protected:
  SimulatedTest() {
    NvmlOptions options;
    options.library = SAWBILL_NVML_LIBRARY;
    source_ = MakeNvmlSource(options, RealOpener(), std::make_shared<sys::MemProcFiles>());
  }
  ~SimulatedTest() override {
    source_.reset();
    Function<void()>("sawbill_sim_reset")();
  }
  template <typename F>
  F* Function(const char* name) {
    // Held until the tests end, so that the script outlives the source's own opening and closing.
    static auto& library = *new Result<std::unique_ptr<sys::DynamicLibrary>>(sys::OpenLibrary(SAWBILL_NVML_LIBRARY));
    return reinterpret_cast<F*>(library.value()->Find(name));
  }
  void Script(const std::string& text) {
    ASSERT_EQ(Function<int(const char*)>("sawbill_sim_load")(text.c_str()), 0)
        << Function<const char*()>("sawbill_sim_error")();
    SetTime(0);
  }
  void Start(const std::string& text) {
    Script(text);
    Reopen();
  }
  void Reopen() {
    const SourceStatus status = source_->Open();
    ASSERT_TRUE(status.ok()) << Name(status.trouble) << ": " << status.code << " " << status.detail;
  }
  void SetTime(double seconds) {
    now_us_ = static_cast<int64_t>(std::llround(seconds * 1e6));
    Function<void(double)>("sawbill_sim_set_time")(seconds);
  }
  long Calls(const char* function) { return Function<long(const char*, int)>("sawbill_sim_calls")(function, -1); }
  CardReading Quick(double at_s, size_t card = 0) {
    SetTime(at_s);
    return source_->ReadQuick(card, now_us_);
  }

  std::unique_ptr<Source> source_;
  int64_t now_us_ = 0;
};

TEST_F(SimulatedTest, ReadingIsWhatTheScriptSays) {
  Start(R"(
[[card]]
model = "H100"
count = 8
sm_util = 97
mem_util = 40
mem_used_mib = 40000
temp_c = 61
power_w = 625
sm_clock_mhz = 1755
mem_clock_mhz = 2619
throttle = "sw_power_cap"
sm_active = 0.91
tensor_active = 0.4
nvlink_tx_mb_s = 120000
nvlink_rx_mb_s = 110000
pcie_tx_mb_s = 1000
pcie_rx_mb_s = 2000
)");
  ASSERT_THAT(source_->cards(), SizeIs(8));
  EXPECT_EQ(source_->cards()[7].info.gpu, "7");
  EXPECT_EQ(source_->cards()[0].info.power_limit_w, 700);
  Quick(1);
  Quick(2);
  const CardReading r = Quick(3);
  EXPECT_EQ(r.outcome, Outcome::kOk);
  EXPECT_EQ(Value(r, GpuMetric::kSmUtil), 97);
  EXPECT_EQ(Value(r, GpuMetric::kSmUtilMin), 97);
  EXPECT_EQ(Value(r, GpuMetric::kSmUtilMax), 97);
  EXPECT_EQ(Value(r, GpuMetric::kMemUtil), 40);
  EXPECT_NEAR(Value(r, GpuMetric::kMemUsedMb), 40000, 1);
  EXPECT_EQ(Value(r, GpuMetric::kTempC), 61);
  EXPECT_NEAR(Value(r, GpuMetric::kPowerW), 625, 0.01);
  EXPECT_EQ(Value(r, GpuMetric::kSmClockMhz), 1755);
  EXPECT_EQ(Value(r, GpuMetric::kMemClockMhz), 2619);
  EXPECT_EQ(Value(r, GpuMetric::kThrottle), model::Mask(model::ThrottleBit::kSwPowerCap));
  EXPECT_NEAR(Value(r, GpuMetric::kSmActive), 0.91, 1e-6);
  EXPECT_NEAR(Value(r, GpuMetric::kTensorActive), 0.4, 1e-6);
  EXPECT_NEAR(Value(r, GpuMetric::kNvlinkTxMbS), 120000, 200);
  EXPECT_NEAR(Value(r, GpuMetric::kNvlinkRxMbS), 110000, 200);
  EXPECT_NEAR(Value(r, GpuMetric::kPcieTxMbS), 1000, 5);
  EXPECT_NEAR(Value(r, GpuMetric::kPcieRxMbS), 2000, 5);
  EXPECT_TRUE(source_->info().gpm);
  // The energy counter is the integral of the power.
  const double before = Value(r, GpuMetric::kEnergyJ);
  EXPECT_NEAR(Value(Quick(13), GpuMetric::kEnergyJ) - before, 6250, 100);
  Reopen();  // the driver's ring is filled now
  EXPECT_NEAR(source_->cards()[0].info.util_window_s.value_or(0), 0.5, 0.5);
}

TEST_F(SimulatedTest, DipBetweenTwoTicksShowsInTheLowest) {
  Start("[[card]]\nsm_util = \"95x10.0 5x0.6 95x60\"\n");
  Quick(9.5);
  const CardReading r = Quick(12);
  EXPECT_EQ(Value(r, GpuMetric::kSmUtil), 95);
  EXPECT_LT(Value(r, GpuMetric::kSmUtilMin), 50);
  EXPECT_EQ(Value(r, GpuMetric::kSmUtilMax), 95);
}

TEST_F(SimulatedTest, CardWithoutCountersHasPcieFromTheSlowCall) {
  Start("[[card]]\nmodel = \"3090\"\nsm_util = 50\npcie_rx_mb_s = 2000\npcie_block_ms = 0\n");
  Quick(1);
  const CardReading r = Quick(2);
  EXPECT_THAT(Value(r, GpuMetric::kSmActive), IsNoReading());
  EXPECT_EQ(Value(r, GpuMetric::kSmUtil), 50);
  EXPECT_FALSE(source_->info().gpm);
  EXPECT_NEAR(Value(source_->ReadSlow(0, now_us_), GpuMetric::kPcieRxMbS), 2000, 3);
}

// B1, and must-show 4: lost at 30, back at 90 under another index.
TEST_F(SimulatedTest, LostCardComesBackUnderAnotherIndex) {
  Start("[[card]]\ncount = 8\n[[fault]]\nkind = \"lost\"\ncard = 3\nat = 30\nuntil = 90\nreturn_index = 0\n");
  const std::string third = source_->cards()[3].info.uuid, fourth = source_->cards()[4].info.uuid;
  EXPECT_EQ(Quick(29, 3).outcome, Outcome::kOk);
  EXPECT_EQ(Quick(30, 3).outcome, Outcome::kLost);
  EXPECT_EQ(Quick(30, 4).outcome, Outcome::kOk);
  Reopen();
  ASSERT_THAT(source_->cards(), SizeIs(7));
  EXPECT_EQ(source_->cards()[3].info.uuid, fourth);
  SetTime(90);
  Reopen();
  ASSERT_THAT(source_->cards(), SizeIs(8));
  EXPECT_EQ(source_->cards()[0].info.uuid, third);
}

// B2
TEST_F(SimulatedTest, BadHandleLeavesTheOthers) {
  Start("[[card]]\ncount = 4\n[[fault]]\nkind = \"handle\"\ncard = 0\ncode = 999\n");
  ASSERT_THAT(source_->cards(), SizeIs(4));
  EXPECT_EQ(source_->cards()[0].lost_code, 999);
  EXPECT_EQ(Quick(1, 1).outcome, Outcome::kOk);
}

// B3, B4
TEST_F(SimulatedTest, DriverThatIsLateOrReplaced) {
  Script("[[card]]\n[[fault]]\nkind = \"driver\"\nuntil = 20\n[[fault]]\nkind = \"driver\"\ncode = 18\nat = 60\n");
  EXPECT_EQ(source_->Open().trouble, Trouble::kNoDriver);
  SetTime(20);
  Reopen();
  EXPECT_EQ(Quick(21).outcome, Outcome::kOk);
  const CardReading r = Quick(60);
  EXPECT_EQ(r.outcome, Outcome::kReopen);
  EXPECT_EQ(r.code, 18);
  const SourceStatus status = source_->Open();
  EXPECT_EQ(status.trouble, Trouble::kMismatch);
  EXPECT_THAT(status.detail, testing::HasSubstr("library "));
}

// B5
TEST_F(SimulatedTest, ContainerThatLostItsDevices) {
  Start("[[card]]\ncount = 2\n[[fault]]\nkind = \"code\"\ncode = 999\nat = 60\nuntil = 120\n");
  EXPECT_EQ(Quick(59, 0).outcome, Outcome::kOk);
  for (size_t card = 0; card < 2; ++card) {
    const CardReading r = Quick(60, card);
    EXPECT_EQ(r.outcome, Outcome::kLost);
    EXPECT_EQ(r.code, 999);
    EXPECT_THAT(r.values, Each(IsNoReading()));
  }
  EXPECT_EQ(source_->Open().trouble, Trouble::kLostSight);
  SetTime(120);
  Reopen();
  EXPECT_EQ(Quick(121).outcome, Outcome::kOk);
}

// A1, A4, A10
TEST_F(SimulatedTest, CardsThatTellLittleOrNonsense) {
  Start(
      "[[card]]\nmodel = \"H100\"\nunified_memory = true\nsm_util = 95\n[[card.process]]\npid = 100\nmem_mib = "
      "19135\n");
  EXPECT_TRUE(source_->cards()[0].unified_memory);
  CardReading r = Quick(1);
  EXPECT_EQ(Value(r, GpuMetric::kSmUtil), 95);
  EXPECT_THAT(Value(r, GpuMetric::kMemUsedMb), IsNoReading());
  EXPECT_EQ(source_->ReadHolders(0, now_us_).holders.at(0).gpu_mem_mb, 19135);

  Start("[[card]]\nunsupported = \"*\"\n");
  r = Quick(1);
  EXPECT_EQ(r.outcome, Outcome::kEmpty);
  EXPECT_EQ(r.supported, 0);
  EXPECT_EQ(r.asked, 12);

  for (const char* values : {"untouched", "wild"}) {
    Start(std::string("[[card]]\n[[fault]]\nkind = \"garbage\"\nvalues = \"") + values + "\"\nat = 5\n");
    Quick(1);
    EXPECT_EQ(Quick(2).outcome, Outcome::kOk);
    r = Quick(5);
    for (size_t m = 0; m < r.values.size(); ++m) {
      if (IsMissing(r.values[m])) continue;
      const model::MetricInfo& info = model::Info(static_cast<GpuMetric>(m));
      EXPECT_GE(r.values[m], info.min) << values << " " << info.name;
      EXPECT_LE(r.values[m], info.max) << values << " " << info.name;
    }
    EXPECT_THAT(Value(r, GpuMetric::kSmUtil), IsNoReading()) << values;
    EXPECT_THAT(Value(r, GpuMetric::kTempC), IsNoReading()) << values;
    EXPECT_THAT(Value(r, GpuMetric::kPowerW), IsNoReading()) << values;
  }
}

// A5
TEST_F(SimulatedTest, InstancesAreReadOneByOne) {
  Start(R"(
[[card]]
power_w = 320
[[card.instance]]
index = 0
gi = 1
profile = "3g.40gb"
gr_active = 0.88
[[card.instance.process]]
pid = 500
mem_mib = 20000
[[card.instance]]
index = 4
gi = 9
profile = "1g.10gb"
)");
  ASSERT_THAT(source_->cards(), SizeIs(3));
  EXPECT_TRUE(source_->cards()[0].mig_parent);
  EXPECT_EQ(source_->cards()[1].info.gpu, "0.1.0");
  EXPECT_NEAR(source_->cards()[1].info.share.value_or(0), 3.0 / 7, 1e-9);
  EXPECT_EQ(source_->cards()[2].info.gpu, "0.9.0");
  Quick(1, 1);
  const CardReading r = Quick(2, 1);
  EXPECT_NEAR(Value(r, GpuMetric::kGrActive), 0.88, 1e-6);
  EXPECT_THAT(Value(r, GpuMetric::kSmUtil), IsNoReading());
  EXPECT_THAT(Value(r, GpuMetric::kPowerW), IsNoReading());
  EXPECT_EQ(Value(Quick(2, 0), GpuMetric::kPowerW), 320);
  const CardReading holders = source_->ReadHolders(1, now_us_);
  ASSERT_THAT(holders.holders, SizeIs(1));
  EXPECT_EQ(holders.holders[0].pid, 500);
  EXPECT_EQ(holders.holders[0].gpu, "0.1.0");
  EXPECT_THAT(source_->ReadHolders(0, now_us_).holders, testing::IsEmpty());
}

// A9, and the wide entries of early 535 drivers.
TEST_F(SimulatedTest, HoldersAndTheirShares) {
  Start(R"(
[[card]]
[[card.process]]
pid = 100
mem_mib = 2048
sm_util = 60
[[card.process]]
pid = 101
mem_mib = 1024
[[card.process]]
pid = 102
type = "G"
mem_mib = 8
[[fault]]
kind = "stale_pids"
[[fault]]
kind = "missing"
call = "nvmlDeviceGetRunningProcessDetailList"
at = 20
[[fault]]
kind = "stride32"
at = 20
)");
  source_->ReadHolders(0, now_us_);
  for (const double at_s : {10.0, 30.0}) {
    SetTime(at_s);
    const CardReading r = source_->ReadHolders(0, now_us_);
    ASSERT_THAT(r.holders, SizeIs(3)) << at_s;
    EXPECT_EQ(r.holders[0].pid, 100);
    EXPECT_EQ(r.holders[0].gpu_mem_mb, 2048);
    EXPECT_NEAR(r.holders[0].sm_util, 60, 1);
    EXPECT_EQ(r.holders[1].sm_util, 0);
    EXPECT_EQ(r.holders[2].gpu_mem_mb, 8);
  }
}

// A20
TEST_F(SimulatedTest, RefusedQuestionIsPutOnceAMinute) {
  Start("[[card]]\nunsupported = [\"nvmlDeviceGetTemperature\"]\n");
  const long before = Calls("nvmlDeviceGetTemperature");
  for (int second = 1; second <= 60; ++second) Quick(second);
  EXPECT_EQ(Calls("nvmlDeviceGetTemperature") - before, 1);
}

TEST_F(SimulatedTest, XidIsAnEvent) {
  Start("[[card]]\ncount = 2\n[[event]]\ncard = 1\nat = 5\nkind = \"xid\"\ndata = 79\n");
  SetTime(6);
  const std::vector<CardEvent> events = source_->TakeEvents();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events[0].kind, "xid");
  EXPECT_EQ(events[0].gpu, "1");
  EXPECT_EQ(events[0].detail, "xid=79");
}

// G3, with a library that is really loaded.
TEST_F(SimulatedTest, OpeningAgainAndAgainHoldsNoMoreDescriptors) {
  const auto open_files = [] {
    int n = 0;
    for (int fd = 0; fd < 1024; ++fd) n += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    return n;
  };
  Start("[[card]]\ncount = 2\n");
  const int before = open_files();
  for (int i = 0; i < 500; ++i) Reopen();
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace sawbill::gpu
