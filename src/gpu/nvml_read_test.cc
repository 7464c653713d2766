// SPDX-License-Identifier: Apache-2.0
// What readings say, and what they never say. Letters and numbers name the public faults that a test stands for.
#include "gpu/nvml_calls.h"
#include "gpu/nvml_test_util.h"

namespace sawbill::gpu {
namespace {

using model::GpuMetric;
using model::Mask;
using model::ThrottleBit;
using testing::DoubleNear;
using testing::Each;
using testing::StrEq;

TEST_F(NvmlTest, ReadingHasTheUnitsOfTheCatalogue) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.fields[nvml::kFieldPowerInstantMw] = {nvml::kValueU32, 625680, 0};
  card.fields[nvml::kFieldEnergyMj] = {nvml::kValueU64, 187'000, 0};
  Open();
  const CardReading r = Quick();
  EXPECT_EQ(r.outcome, Outcome::kOk);
  EXPECT_EQ(Value(r, GpuMetric::kSmUtil), 97);
  EXPECT_EQ(Value(r, GpuMetric::kMemUtil), 40);
  EXPECT_EQ(Value(r, GpuMetric::kMemUsedMb), 40000);
  EXPECT_EQ(Value(r, GpuMetric::kTempC), 61);
  EXPECT_THAT(Value(r, GpuMetric::kPowerW), DoubleNear(625.68, 1e-9));
  EXPECT_EQ(Value(r, GpuMetric::kSmClockMhz), 1980);
  EXPECT_EQ(Value(r, GpuMetric::kMemClockMhz), 2619);
  EXPECT_EQ(Value(r, GpuMetric::kEnergyJ), 187);
  EXPECT_EQ(Value(r, GpuMetric::kThrottle), 0);
}

// A1: GB10 and its like have no memory of their own.
TEST_F(NvmlTest, UnifiedMemoryIsMarkedAndItsCellsStayEmpty) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.codes["nvmlDeviceGetMemoryInfo_v2"] = card.codes["nvmlDeviceGetMemoryInfo"] = nvml::kNotSupported;
  card.compute = {{1234, 19135ULL << 20, nvml::kNoInstance, nvml::kNoInstance}};
  Open();
  EXPECT_TRUE(source_->cards()[0].unified_memory);
  EXPECT_FALSE(source_->cards()[0].info.memory_total_mb.has_value());
  const CardReading r = Quick();
  EXPECT_EQ(Value(r, GpuMetric::kSmUtil), 97);
  EXPECT_THAT(Value(r, GpuMetric::kMemUsedMb), IsNoReading());
  EXPECT_EQ(Holders().holders.at(0).gpu_mem_mb, 19135);
}

// A2 is the collector's arithmetic; here: the flag is not set for a card whose memory merely fails once.
TEST_F(NvmlTest, MemoryThatFailsOnceIsNotUnified) {
  nvml_.Add("GPU-a").codes["nvmlDeviceGetMemoryInfo_v2"] = nvml::kUnknown;
  Open();
  EXPECT_FALSE(source_->cards()[0].unified_memory);
}

// A3: one cell that cannot be read costs no other.
TEST_F(NvmlTest, OneFieldThatFailsKeepsTheRest) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.util = {40, 10};
  card.codes["nvmlDeviceGetMemoryInfo_v2"] = nvml::kUnknown;
  Open();
  const CardReading r = Quick();
  EXPECT_EQ(r.outcome, Outcome::kOk);
  EXPECT_EQ(Value(r, GpuMetric::kSmUtil), 40);
  EXPECT_EQ(Value(r, GpuMetric::kMemUtil), 10);
  EXPECT_THAT(Value(r, GpuMetric::kMemUsedMb), IsNoReading());
}

// A4: initialising and counting work, and every question is "not supported" (Jetson).
TEST_F(NvmlTest, CardThatRefusesEverythingHasNoneOfTwelveFields) {
  nvml_.Add("GPU-a");
  nvml_.cards[0].codes["*"] = nvml::kNotSupported;
  Open();
  for (int second = 0; second < 60; ++second) {
    const CardReading r = Quick();
    EXPECT_EQ(r.outcome, Outcome::kEmpty);
    EXPECT_EQ(r.supported, 0);
    EXPECT_EQ(r.asked, 12);
    EXPECT_THAT(r.values, Each(IsNoReading()));
  }
}

// A20: asking each second for what a card does not have filled the kernel's log.
TEST_F(NvmlTest, RefusalIsRememberedForAnHourAndForgottenByOpening) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.codes["nvmlDeviceGetTemperature"] = card.codes["nvmlDeviceGetSamples"] = nvml::kNotSupported;
  Open();
  for (int second = 0; second < 60; ++second) Quick();
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetTemperature"), 1);
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetSamples"), 1) << "at opening";
  EXPECT_EQ(nvml_.Calls("field 138"), 1) << "so for a field";
  EXPECT_EQ(nvml_.Calls("nvmlGpmQueryDeviceSupport"), 1) << "and for counters that the card does not have";
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetUtilizationRates"), 60);
  now_us_ += 3600 * kSecondUs;
  Quick();
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetTemperature"), 2);
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetSamples"), 2);
  Open();
  Quick();
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetTemperature"), 3);
}

TEST_F(NvmlTest, QuickTickOfACardIsEightCalls) {
  FakeCard& card = nvml_.Add("GPU-a");
  for (const unsigned id : {186U, 83U, 4U, 138U, 139U}) card.fields[id] = {nvml::kValueU64, 1000, 0};
  card.samples = {{100, {.uiVal = 50}}};
  Open();
  Quick();
  nvml_.calls.clear();
  Quick();
  int calls = 0;
  for (const auto& [function, n] : nvml_.calls) calls += function.rfind("field ", 0) == 0 ? 0 : n;
  EXPECT_EQ(calls, 8);
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetFieldValues"), 1);
  EXPECT_EQ(nvml_.Calls("field 197"), 0) << "left the list";
}

// A10: success, and nothing was filled in.
TEST_F(NvmlTest, ValueThatTheDriverLeftUntouchedIsNoReading) {
  FakeCard& card = nvml_.Add("GPU-a");
  for (const char* f :
       {"nvmlDeviceGetUtilizationRates", "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetTemperature",
        "nvmlDeviceGetPowerUsage", "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetClockInfo",
        "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetFieldValues", "nvmlDeviceGetPcieThroughput"}) {
    card.untouched.insert(f);
  }
  Open();
  for (int i = 0; i < 3; ++i) {
    const CardReading r = Quick();
    EXPECT_EQ(r.outcome, Outcome::kEmpty);
    EXPECT_THAT(r.values, Each(IsNoReading()));
  }
  EXPECT_THAT(source_->ReadSlow(0, now_us_).values, Each(IsNoReading()));
  EXPECT_FALSE(source_->cards()[0].info.memory_total_mb.has_value());
}

TEST_F(NvmlTest, ValueOutOfRangeIsNoReading) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.util = {2287971552U, 40};
  card.temp_c = 4000;
  card.memory.used = card.memory.total + 1;
  card.power_mw = 400'000'000;
  Open();
  const CardReading r = Quick();
  EXPECT_THAT(Value(r, GpuMetric::kSmUtil), IsNoReading());
  EXPECT_EQ(Value(r, GpuMetric::kMemUtil), 40);
  EXPECT_THAT(Value(r, GpuMetric::kTempC), IsNoReading());
  EXPECT_THAT(Value(r, GpuMetric::kMemUsedMb), IsNoReading());
  EXPECT_THAT(Value(r, GpuMetric::kPowerW), IsNoReading());
}

// A13: what the driver reserves for itself is held by nobody.
TEST_F(NvmlTest, ReservedMemoryIsNotUsedMemoryWhereTheDriverTellsThemApart) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.memory = {0, 16384ULL << 20, 904ULL << 20, 15472ULL << 20, 8ULL << 20};
  Open();
  CardReading r = Quick();
  EXPECT_EQ(Value(r, GpuMetric::kMemUsedMb), 8);
  EXPECT_THAT(r.memory_from, StrEq("used"));
  nvml_.missing.insert("nvmlDeviceGetMemoryInfo_v2");
  Open();
  r = Quick();
  EXPECT_EQ(Value(r, GpuMetric::kMemUsedMb), 912);
  EXPECT_THAT(r.memory_from, StrEq("used+reserved"));
}

// A14: the same call means an average on newer cards.
TEST_F(NvmlTest, ReadingSaysWhichPowerItIs) {
  FakeCard& card = nvml_.Add("GPU-a");
  Open();
  EXPECT_THAT(Quick().power_from, StrEq("usage"));
  EXPECT_EQ(Value(Quick(), GpuMetric::kPowerW), 412.35);
  card.fields[nvml::kFieldPowerInstantMw] = {nvml::kValueU32, 65000, 0};
  Open();
  const CardReading r = Quick();
  EXPECT_THAT(r.power_from, StrEq("instant"));
  EXPECT_EQ(Value(r, GpuMetric::kPowerW), 65);
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetPowerUsage"), 2) << "not asked when the field answers";
}

// A18: bits by name. The idle, application-clock and power-cap bits are no thermal trouble.
TEST(ThrottleMaskTest, BitsAreTakenByName) {
  EXPECT_EQ(ThrottleMask(0), 0U);
  EXPECT_EQ(ThrottleMask(0x1), Mask(ThrottleBit::kGpuIdle));
  EXPECT_EQ(ThrottleMask(0x2), Mask(ThrottleBit::kAppClocks));
  EXPECT_EQ(ThrottleMask(0x4), Mask(ThrottleBit::kSwPowerCap));
  EXPECT_EQ(ThrottleMask(0x8), Mask(ThrottleBit::kHwSlowdown));
  EXPECT_EQ(ThrottleMask(0x10), Mask(ThrottleBit::kSyncBoost));
  EXPECT_EQ(ThrottleMask(0x20), Mask(ThrottleBit::kSwThermal));
  EXPECT_EQ(ThrottleMask(0x40), Mask(ThrottleBit::kHwThermal));
  EXPECT_EQ(ThrottleMask(0x80), Mask(ThrottleBit::kHwPowerBrake));
  EXPECT_EQ(ThrottleMask(0x100), Mask(ThrottleBit::kDisplayClocks));
  EXPECT_EQ(ThrottleMask(0x44), Mask(ThrottleBit::kSwPowerCap) | Mask(ThrottleBit::kHwThermal));
  EXPECT_EQ(ThrottleMask(0x8000), 0U) << "a bit of a newer driver";
}

// A19: driver 535 renamed functions.
TEST_F(NvmlTest, OldAndNewNamesOfAFunctionGiveTheSame) {
  nvml_.Add("GPU-a").reasons = 0x40;
  for (const char* gone : {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}) {
    nvml_.missing = {gone};
    Open();
    EXPECT_EQ(Value(Quick(), GpuMetric::kThrottle), Mask(ThrottleBit::kHwThermal)) << "without " << gone;
  }
  nvml_.missing = {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"};
  Open();
  EXPECT_THAT(Value(Quick(), GpuMetric::kThrottle), IsNoReading());
}

TEST_F(NvmlTest, DeprecatedIsARefusalAndNotAValue) {
  nvml_.Add("GPU-a").codes["nvmlDeviceGetClockInfo"] = nvml::kDeprecated;
  Open();
  Quick();
  const CardReading r = Quick();
  EXPECT_THAT(Value(r, GpuMetric::kSmClockMhz), IsNoReading());
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetClockInfo"), 2) << "once for each clock";
}

TEST_F(NvmlTest, LowestAndHighestAreOfTheSamplesSinceTheLastTick) {
  FakeCard& card = nvml_.Add("GPU-a");
  for (unsigned i = 1; i <= 10; ++i) card.samples.push_back({i * 166'667ULL, {.uiVal = 100}});
  Open();
  EXPECT_THAT(source_->cards()[0].info.util_window_s.value_or(0), DoubleNear(0.1667, 1e-3));
  EXPECT_THAT(Value(Quick(), GpuMetric::kSmUtilMin), IsNoReading()) << "nothing newer than what stood there";
  card.samples.push_back({2'000'000, {.uiVal = 8}});
  card.samples.push_back({2'166'667, {.uiVal = 95}});
  card.samples.push_back({2'333'333, {.uiVal = 4000}});  // garbage
  CardReading r = Quick();
  EXPECT_EQ(Value(r, GpuMetric::kSmUtilMin), 8);
  EXPECT_EQ(Value(r, GpuMetric::kSmUtilMax), 95);
  EXPECT_THAT(Value(Quick(), GpuMetric::kSmUtilMax), IsNoReading());
}

// A6: GPM counts in percent where the column is a ratio.
TEST_F(NvmlTest, CountersAreRatiosBetweenTwoSamples) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.gpm = true;
  card.gpm_values = {{nvml::kGpmSmUtil, 91},          {nvml::kGpmSmOccupancy, 25},
                     {nvml::kGpmAnyTensorUtil, 41.5}, {nvml::kGpmDramBwUtil, 100.3},
                     {nvml::kGpmGraphicsUtil, 250},   {nvml::kGpmPcieTxMibPerS, 1000},
                     {nvml::kGpmPcieRxMibPerS, 2000}, {nvml::kGpmNvLinkTotalTxMibPerS, 4000}};
  Open();
  EXPECT_THAT(Value(Quick(), GpuMetric::kSmActive), IsNoReading()) << "one sample is no mean";
  EXPECT_TRUE(source_->info().gpm);
  const CardReading r = Quick();
  EXPECT_EQ(Value(r, GpuMetric::kSmActive), 0.91);
  EXPECT_EQ(Value(r, GpuMetric::kSmOccupancy), 0.25);
  EXPECT_THAT(Value(r, GpuMetric::kTensorActive), DoubleNear(0.415, 1e-9));
  EXPECT_EQ(Value(r, GpuMetric::kDramActive), 1) << "rounding";
  EXPECT_THAT(Value(r, GpuMetric::kGrActive), IsNoReading()) << "nonsense";
  EXPECT_THAT(Value(r, GpuMetric::kPcieTxMbS), DoubleNear(1048.576, 1e-6));
  EXPECT_THAT(Value(r, GpuMetric::kPcieRxMbS), DoubleNear(2097.152, 1e-6));
  EXPECT_THAT(Value(r, GpuMetric::kNvlinkTxMbS), DoubleNear(4194.304, 1e-6));
  EXPECT_THAT(source_->ReadSlow(0, now_us_).values, Each(IsNoReading())) << "ReadQuick has PCIe already";
  EXPECT_EQ(nvml_.Calls("nvmlDeviceGetPcieThroughput"), 0);
}

// A12: somebody else profiles for a while.
TEST_F(NvmlTest, CountersThatFailForAWhileComeBackByThemselves) {
  FakeCard& card = nvml_.Add("GPU-a");
  card.gpm = true;
  card.gpm_values = {{nvml::kGpmSmUtil, 91}};
  Open();
  Quick();
  EXPECT_EQ(Value(Quick(), GpuMetric::kSmActive), 0.91);
  card.codes["nvmlGpmSampleGet"] = nvml::kInUse;
  for (int second = 0; second < 90; ++second) {
    const CardReading r = Quick();
    EXPECT_THAT(Value(r, GpuMetric::kSmActive), IsNoReading());
    EXPECT_EQ(Value(r, GpuMetric::kSmUtil), 97);
  }
  card.codes.clear();
  EXPECT_THAT(Value(Quick(), GpuMetric::kSmActive), IsNoReading()) << "a mean over the blind time is no reading";
  EXPECT_EQ(Value(Quick(), GpuMetric::kSmActive), 0.91);
  card.gpm_values[nvml::kGpmSmUtil] = kMissing;
  EXPECT_THAT(Value(Quick(), GpuMetric::kSmActive), IsNoReading()) << "blank";
}

TEST_F(NvmlTest, NvlinkIsTheDifferenceOfCounters) {
  FakeCard& card = nvml_.Add("GPU-a");
  auto& tx = card.fields[nvml::kFieldNvLinkDataTxKib] = {nvml::kValueU64, 1'000'000, 0};
  card.fields[nvml::kFieldNvLinkDataRxKib] = {nvml::kValueU64, 5, 0};
  Open();
  EXPECT_THAT(Value(Quick(), GpuMetric::kNvlinkTxMbS), IsNoReading());
  tx.value += 1'000'000;  // KiB in one second
  CardReading r = Quick();
  EXPECT_THAT(Value(r, GpuMetric::kNvlinkTxMbS), DoubleNear(1024, 1e-6));
  EXPECT_EQ(Value(r, GpuMetric::kNvlinkRxMbS), 0);
  tx.value = 10;  // the driver was loaded anew
  EXPECT_THAT(Value(Quick(), GpuMetric::kNvlinkTxMbS), IsNoReading());
}

TEST_F(NvmlTest, PcieCounterIsBelievedOnceItIsKnownToHave64Bits) {
  FakeCard& card = nvml_.Add("GPU-a");
  auto& rx = card.fields[nvml::kFieldPcieRxBytes] = {nvml::kValueU64, 1'000'000'000, 0};
  auto& tx = card.fields[nvml::kFieldPcieTxBytes] = {nvml::kValueU32, 77, 0};
  Open();
  Quick();
  rx.value += 2'000'000'000;
  EXPECT_THAT(Value(Quick(), GpuMetric::kPcieRxMbS), IsNoReading()) << "may have wrapped";
  EXPECT_THAT(Value(source_->ReadSlow(0, now_us_), GpuMetric::kPcieRxMbS), DoubleNear(1, 1e-9));
  rx.value += 3'000'000'000;
  tx.value = 99;
  const CardReading r = Quick();
  EXPECT_THAT(Value(r, GpuMetric::kPcieRxMbS), DoubleNear(3000, 1e-6));
  EXPECT_THAT(Value(r, GpuMetric::kPcieTxMbS), IsNoReading()) << "a counter of 32 bits";
}

TEST_F(NvmlTest, FunctionsThatADriverLacksAreLikeRefusals) {
  nvml_.Add("GPU-a");
  for (const auto& [symbol, function] : fake::Symbols()) {
    if (symbol.rfind("nvmlDeviceGet", 0) == 0 && symbol != "nvmlDeviceGetCount_v2" &&
        symbol != "nvmlDeviceGetHandleByIndex_v2" && symbol != "nvmlDeviceGetUtilizationRates") {
      nvml_.missing.insert(symbol);
    }
  }
  Open();
  const CardReading r = Quick();
  EXPECT_EQ(r.outcome, Outcome::kOk);
  EXPECT_EQ(Value(r, GpuMetric::kSmUtil), 97);
  EXPECT_EQ(r.supported, 1);
}

}  // namespace
}  // namespace sawbill::gpu
