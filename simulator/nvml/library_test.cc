// SPDX-License-Identifier: Apache-2.0
// The contract of the calls: init, order of checks, handles, buffers, versions, rings.
#include <cmath>
#include <thread>

#include "simulator/nvml/loaded_library.h"

namespace sawbill::nvmlsim {
namespace {

using testing::Test;
class LibraryTest : public ScriptedTest {};

TEST_F(LibraryTest, ExportsEveryFunctionOfTheList) {
  ASSERT_NE(LoadedLibrary::Handle(), nullptr) << ::dlerror();
#define NVML_FUNCTION(name, parameters) EXPECT_NE(lib.name, nullptr) << #name;
#include "gpu/nvml_functions.inc"
#undef NVML_FUNCTION
  EXPECT_NE(lib.nvmlErrorString, nullptr);
}

TEST_F(LibraryTest, WithoutAScriptThereIsOneHealthyIdleH100) {
  lib.reset();
  lib.set_time(10);
  ASSERT_EQ(lib.nvmlInit_v2(), nvml::kSuccess);
  unsigned count = 0;
  ASSERT_EQ(lib.nvmlDeviceGetCount_v2(&count), nvml::kSuccess);
  EXPECT_EQ(count, 1u);
  char name[96] = "";
  lib.nvmlDeviceGetName(Card(0), name, sizeof(name));
  EXPECT_STREQ(name, "NVIDIA H100 80GB HBM3");
  nvml::Utilization util{9, 9};
  ASSERT_EQ(lib.nvmlDeviceGetUtilizationRates(Card(0), &util), nvml::kSuccess);
  EXPECT_EQ(util.gpu, 0u);
}

TEST_F(LibraryTest, NotInitialisedComesBeforeEveryOtherCheck) {
  Load("[[card]]\n");
  EXPECT_EQ(lib.nvmlDeviceGetCount_v2(nullptr), nvml::kUninitialized);
  EXPECT_EQ(lib.nvmlDeviceGetName(nullptr, nullptr, 0), nvml::kUninitialized);
  EXPECT_EQ(lib.nvmlEventSetCreate(nullptr), nvml::kUninitialized);
  EXPECT_EQ(lib.nvmlGpmSampleAlloc(nullptr), nvml::kUninitialized);
  char text[80] = "";
  EXPECT_EQ(lib.nvmlSystemGetNVMLVersion(text, sizeof(text)), nvml::kSuccess);
  EXPECT_EQ(lib.nvmlSystemGetNVMLVersion(text, 3), nvml::kInsufficientSize);
  EXPECT_EQ(lib.nvmlSystemGetNVMLVersion(nullptr, 80), nvml::kInvalidArgument);
  EXPECT_EQ(lib.nvmlShutdown(), nvml::kSuccess);
  EXPECT_STREQ(lib.nvmlErrorString(nvml::kLibRmVersionMismatch), "Driver/library version mismatch");
  EXPECT_STREQ(lib.nvmlErrorString(static_cast<nvml::Return>(-1)), "Unknown Error");
}

TEST_F(LibraryTest, InitIsCountedAndHandlesDieWithTheLastShutdown) {
  Start("[[card]]\n[[card]]\n");
  const nvml::Device card = Card(0);
  EXPECT_NE(card, nullptr);
  EXPECT_EQ(card, Card(0)) << "the same card has the same handle";
  EXPECT_NE(card, Card(1));
  ASSERT_EQ(lib.nvmlInit_v2(), nvml::kSuccess);
  lib.nvmlShutdown();
  EXPECT_EQ(Read(lib.nvmlDeviceGetIndex, card), 0);
  lib.nvmlShutdown();
  EXPECT_EQ(Read(lib.nvmlDeviceGetIndex, card), -nvml::kUninitialized);
  ASSERT_EQ(lib.nvmlInit_v2(), nvml::kSuccess);
  EXPECT_EQ(Read(lib.nvmlDeviceGetIndex, card), -nvml::kInvalidArgument) << "a handle of before";
  EXPECT_EQ(Read(lib.nvmlDeviceGetIndex, reinterpret_cast<nvml::Device>(0x1234)), -nvml::kInvalidArgument);
}

TEST_F(LibraryTest, CardsAreFoundByUuidBusAndSerial) {
  Start("[[card]]\n[[card]]\npci_bus = 0x3b\n");
  nvml::Device found = nullptr;
  EXPECT_EQ(lib.nvmlDeviceGetHandleByUUID(Uuid(Card(1)).c_str(), &found), nvml::kSuccess);
  EXPECT_EQ(found, Card(1));
  for (const char* id : {"00000000:3B:00.0", "0000:3b:00.0", "3b:00.0", "0000:3b:00"}) {
    found = nullptr;
    EXPECT_EQ(lib.nvmlDeviceGetHandleByPciBusId_v2(id, &found), nvml::kSuccess) << id;
    EXPECT_EQ(found, Card(1)) << id;
  }
  EXPECT_EQ(lib.nvmlDeviceGetHandleByPciBusId_v2("0000:99:00.0", &found), nvml::kNotFound);
  EXPECT_EQ(lib.nvmlDeviceGetHandleByUUID("GPU-no", &found), nvml::kNotFound);
  char serial[30] = "";
  ASSERT_EQ(lib.nvmlDeviceGetSerial(Card(0), serial, sizeof(serial)), nvml::kSuccess);
  EXPECT_EQ(lib.nvmlDeviceGetHandleBySerial(serial, &found), nvml::kSuccess);
  EXPECT_EQ(found, Card(0));
  nvml::PciInfo pci{};
  ASSERT_EQ(lib.nvmlDeviceGetPciInfo_v3(Card(1), &pci), nvml::kSuccess);
  EXPECT_STREQ(pci.busId, "00000000:3B:00.0");
  EXPECT_STREQ(pci.busIdLegacy, "0000:3B:00.0");
  EXPECT_EQ(pci.pciDeviceId, 0x233010DEu);
}

TEST_F(LibraryTest, AWrongVersionWordIsRefused) {
  Start("[[card]]\n");
  nvml::MemoryV2 memory{};
  EXPECT_EQ(lib.nvmlDeviceGetMemoryInfo_v2(Card(0), &memory), nvml::kArgumentVersionMismatch);
  memory.version = nvml::kMemoryV2Version;
  EXPECT_EQ(lib.nvmlDeviceGetMemoryInfo_v2(Card(0), &memory), nvml::kSuccess);
  nvml::ProcessDetailList list{};
  EXPECT_EQ(lib.nvmlDeviceGetRunningProcessDetailList(Card(0), &list), nvml::kArgumentVersionMismatch);
  nvml::GpmSupport support{};
  EXPECT_EQ(lib.nvmlGpmQueryDeviceSupport(Card(0), &support), nvml::kArgumentVersionMismatch);
}

TEST_F(LibraryTest, TextsNeedTheirRoom) {
  Start("driver = \"570.1\"\n[[card]]\n");
  char text[96] = "";
  EXPECT_EQ(lib.nvmlDeviceGetUUID(Card(0), text, 10), nvml::kInsufficientSize);
  ASSERT_EQ(lib.nvmlSystemGetDriverVersion(text, sizeof(text)), nvml::kSuccess);
  EXPECT_STREQ(text, "570.1");
  ASSERT_EQ(lib.nvmlSystemGetNVMLVersion(text, sizeof(text)), nvml::kSuccess);
  EXPECT_STREQ(text, "12.570.1");
}

TEST_F(LibraryTest, VersionOneOfMemoryCountsTheDriversOwnAsUsed) {  // gpustat #141
  Start("[[card]]\nmem_used_mib = 7.8\nreserved_mib = 904\n");
  nvml::Memory one{};
  nvml::MemoryV2 two{};
  two.version = nvml::kMemoryV2Version;
  ASSERT_EQ(lib.nvmlDeviceGetMemoryInfo(Card(0), &one), nvml::kSuccess);
  ASSERT_EQ(lib.nvmlDeviceGetMemoryInfo_v2(Card(0), &two), nvml::kSuccess);
  EXPECT_NEAR(static_cast<double>(one.used) / 1048576, 911.8, 0.01);
  EXPECT_NEAR(static_cast<double>(two.used) / 1048576, 7.8, 0.01);
  EXPECT_EQ(two.reserved + two.free + two.used, two.total);
}

TEST_F(LibraryTest, UnifiedMemoryHasNoFramebuffer) {  // nvtop #426
  Start(
      "[[card]]\nmodel = \"GB10\"\nunified_memory = true\nsm_util = 95\n[[card.process]]\npid = 77\nmem_mib = 19135\n");
  nvml::Memory memory{};
  EXPECT_EQ(lib.nvmlDeviceGetMemoryInfo(Card(0), &memory), nvml::kNotSupported);
  nvml::Utilization util{};
  ASSERT_EQ(lib.nvmlDeviceGetUtilizationRates(Card(0), &util), nvml::kSuccess);
  EXPECT_EQ(util.gpu, 95u);
  const auto processes = Processes(Card(0));
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].usedGpuMemory, 19135ull << 20);
  EXPECT_EQ(Read(lib.nvmlDeviceGetFanSpeed, Card(0)), -nvml::kNotSupported);
}

TEST_F(LibraryTest, PowerIsAMeanOfASecondOnHopperAndAnInstantOnA100) {  // zeus #45
  Start("[[card]]\npower_w = \"100x10 300x10\"\n[[card]]\nmodel = \"A100\"\npower_w = \"100x10 300x10\"\n");
  lib.set_time(10.25);
  EXPECT_EQ(Read(lib.nvmlDeviceGetPowerUsage, Card(0)), 150000);
  EXPECT_EQ(Read(lib.nvmlDeviceGetPowerUsage, Card(1)), 300000);
  EXPECT_EQ(FieldOf(Card(0), nvml::kFieldPowerInstantMw).value.uiVal, 300000u);
  EXPECT_EQ(FieldOf(Card(0), nvml::kFieldPowerAverageMw).value.uiVal, 150000u);
  EXPECT_EQ(FieldOf(Card(1), nvml::kFieldPowerAverageMw).nvmlReturn, nvml::kNotSupported);
}

TEST_F(LibraryTest, FieldValuesFailOneByOne) {
  Start(
      "[[card]]\nmem_temp_c = 61\n[[card]]\nmodel = \"4090\"\n[[fault]]\nkind = \"code\"\ncode = 4\ncall = "
      "\"field:83\"\ncard = 0\n");
  EXPECT_EQ(FieldOf(Card(0), nvml::kFieldMemoryTemp).value.uiVal, 61u);
  EXPECT_EQ(FieldOf(Card(1), nvml::kFieldMemoryTemp).nvmlReturn, nvml::kNotSupported);
  EXPECT_EQ(FieldOf(Card(0), nvml::kFieldEnergyMj).nvmlReturn, nvml::kNoPermission);
  EXPECT_EQ(FieldOf(Card(0), 260).nvmlReturn, nvml::kNotSupported) << "251-273 mean other things to other drivers";
  EXPECT_EQ(FieldOf(Card(1), nvml::kFieldNvLinkDataTxKib, nvml::kAllLinks).nvmlReturn, nvml::kNotSupported);
}

TEST_F(LibraryTest, LinkCountersAreSumsOrOfOneLink) {
  Start("[[card]]\nnvlink_tx_mb_s = 18000\npcie_rx_mb_s = 1000\n");
  lib.set_time(10);
  const auto kib = [&](unsigned scope) { return FieldOf(Card(0), nvml::kFieldNvLinkDataTxKib, scope).value.ullVal; };
  EXPECT_EQ(kib(nvml::kAllLinks), 175781250u);  // 180 GB in KiB
  EXPECT_EQ(kib(3), 175781250u / 18);
  EXPECT_EQ(FieldOf(Card(0), nvml::kFieldNvLinkDataTxKib, 18).nvmlReturn, nvml::kInvalidArgument);
  EXPECT_EQ(FieldOf(Card(0), nvml::kFieldPcieRxBytes).value.ullVal, 10'000'000'000u);
  EXPECT_EQ(Read(lib.nvmlDeviceGetPcieThroughput, Card(0), int{nvml::kPcieRx}), 1000000);
}

TEST_F(LibraryTest, GeForceHasNoEcc) {
  Start("[[card]]\nmodel = \"3090\"\n[[card]]\necc_corrected = 12\n");
  unsigned long long count = 0;
  EXPECT_EQ(lib.nvmlDeviceGetTotalEccErrors(Card(0), 0, 0, &count), nvml::kNotSupported);
  EXPECT_EQ(FieldOf(Card(0), nvml::kFieldEccCurrent).nvmlReturn, nvml::kNotSupported);
  EXPECT_EQ(lib.nvmlDeviceGetTotalEccErrors(Card(1), 0, 0, &count), nvml::kSuccess);
  EXPECT_EQ(count, 12u);
  EXPECT_GE(Read(lib.nvmlDeviceGetFanSpeed, Card(0)), 0);
  EXPECT_EQ(Read(lib.nvmlDeviceGetFanSpeed, Card(1)), -nvml::kNotSupported) << "no fan";
}

TEST_F(LibraryTest, TheRingHoldsSamplesOfTheWindowWithTheirStamps) {
  Start("[[card]]\nsm_util = \"100x1 0x1\"\nutil_window_s = 0.25\nsamples = 20\n");
  lib.set_time(10);
  nvml::ValueType type{};
  unsigned count = 0;
  ASSERT_EQ(lib.nvmlDeviceGetSamples(Card(0), nvml::kSamplesGpuUtil, 0, &type, &count, nullptr), nvml::kSuccess);
  EXPECT_EQ(count, 20u);
  std::vector<nvml::Sample> samples(count);
  ASSERT_EQ(lib.nvmlDeviceGetSamples(Card(0), nvml::kSamplesGpuUtil, 0, &type, &count, samples.data()), nvml::kSuccess);
  ASSERT_EQ(count, 20u);
  EXPECT_EQ(type, nvml::kValueU32);
  EXPECT_EQ(samples[1].timeStamp - samples[0].timeStamp, 250000u);
  EXPECT_EQ(samples[19].sampleValue.uiVal, 0u) << "9.75 to 10 s";
  EXPECT_EQ(samples[15].sampleValue.uiVal, 100u) << "8.75 to 9 s";
  const unsigned long long last = samples[19].timeStamp;
  count = 20;
  EXPECT_EQ(lib.nvmlDeviceGetSamples(Card(0), nvml::kSamplesGpuUtil, last, &type, &count, samples.data()),
            nvml::kNotFound);
  lib.set_time(11);
  count = 20;
  ASSERT_EQ(lib.nvmlDeviceGetSamples(Card(0), nvml::kSamplesGpuUtil, last, &type, &count, samples.data()),
            nvml::kSuccess);
  EXPECT_EQ(count, 4u);
}

TEST_F(LibraryTest, ReadingFasterThanTheWindowRepeatsTheNumber) {
  Start("[[card]]\nsm_util = \"100x1 0x1\"\nutil_window_s = 0.5\n");
  nvml::Utilization util{};
  lib.set_time(1.25);
  lib.nvmlDeviceGetUtilizationRates(Card(0), &util);
  EXPECT_EQ(util.gpu, 100u) << "the window of 0.5 to 1 s";
  lib.set_time(1.5);
  lib.nvmlDeviceGetUtilizationRates(Card(0), &util);
  EXPECT_EQ(util.gpu, 0u);
}

TEST_F(LibraryTest, GpmIsAMeanBetweenTwoSamples) {
  Start("[[card]]\nsm_active = \"0.9x10 0.3x10\"\ntensor_active = \"nanx5 0.5x15\"\npcie_rx_mb_s = 1048.576\n");
  nvml::GpmSample a = nullptr, b = nullptr;
  ASSERT_EQ(lib.nvmlGpmSampleAlloc(&a), nvml::kSuccess);
  ASSERT_EQ(lib.nvmlGpmSampleAlloc(&b), nvml::kSuccess);
  ASSERT_EQ(lib.nvmlGpmSampleGet(Card(0), a), nvml::kSuccess);
  lib.set_time(20);
  ASSERT_EQ(lib.nvmlGpmSampleGet(Card(0), b), nvml::kSuccess);
  nvml::GpmMetricsGet get{};
  get.version = nvml::kGpmVersion;
  get.numMetrics = 4;
  get.sample1 = a;
  get.sample2 = b;
  get.metrics[0].metricId = nvml::kGpmSmUtil;
  get.metrics[1].metricId = nvml::kGpmAnyTensorUtil;
  get.metrics[2].metricId = nvml::kGpmPcieRxMibPerS;
  get.metrics[3].metricId = 222;
  ASSERT_EQ(lib.nvmlGpmMetricsGet(&get), nvml::kSuccess);
  EXPECT_NEAR(get.metrics[0].value, 60, 1e-6);
  EXPECT_EQ(get.metrics[1].nvmlReturn, nvml::kSuccess);
  EXPECT_TRUE(std::isnan(get.metrics[1].value)) << "the real one answers NaN with success";
  EXPECT_NEAR(get.metrics[2].value, 1000, 1e-6);
  EXPECT_EQ(get.metrics[3].nvmlReturn, nvml::kNotSupported);
  EXPECT_EQ(lib.nvmlGpmSampleFree(a), nvml::kSuccess);
  EXPECT_EQ(lib.nvmlGpmSampleFree(a), nvml::kInvalidArgument);
}

TEST_F(LibraryTest, GpmIsForHopperAndNewer) {
  Start("[[card]]\nmodel = \"A100\"\n");
  nvml::GpmSupport support{nvml::kGpmVersion, 7};
  ASSERT_EQ(lib.nvmlGpmQueryDeviceSupport(Card(0), &support), nvml::kSuccess);
  EXPECT_EQ(support.isSupportedDevice, 0u);
  nvml::GpmSample sample = nullptr;
  ASSERT_EQ(lib.nvmlGpmSampleAlloc(&sample), nvml::kSuccess);
  EXPECT_EQ(lib.nvmlGpmSampleGet(Card(0), sample), nvml::kNotSupported);
}

TEST_F(LibraryTest, EventsAreToldOnceAndOnlyWhatWasAskedFor) {
  Start(
      "[[card]]\n[[card]]\n[[event]]\nat = 10\ncard = 1\nkind = \"xid\"\ndata = 79\n[[event]]\nat = 10\ncard = 1\nkind "
      "= \"xid\"\ndata = 48\n"
      "[[event]]\nat = 11\ncard = 1\nkind = \"clock\"\n");
  nvml::EventSet set = nullptr;
  ASSERT_EQ(lib.nvmlEventSetCreate(&set), nvml::kSuccess);
  EXPECT_EQ(lib.nvmlDeviceRegisterEvents(Card(0), 1ull << 40, set), nvml::kNotSupported) << "one wrong bit refuses all";
  ASSERT_EQ(lib.nvmlDeviceRegisterEvents(Card(1), nvml::kEventXid, set), nvml::kSuccess);
  nvml::EventData data{};
  EXPECT_EQ(lib.nvmlEventSetWait_v2(set, &data, 1000), nvml::kTimeout);
  lib.set_time(12);
  ASSERT_EQ(lib.nvmlEventSetWait_v2(set, &data, 1000), nvml::kSuccess);
  EXPECT_EQ(data.eventData, 79u);
  EXPECT_EQ(data.eventType, nvml::kEventXid);
  EXPECT_EQ(data.device, Card(1));
  ASSERT_EQ(lib.nvmlEventSetWait_v2(set, &data, 1000), nvml::kSuccess);
  EXPECT_EQ(data.eventData, 48u);
  EXPECT_EQ(lib.nvmlEventSetWait_v2(set, &data, 1000), nvml::kTimeout);
  EXPECT_EQ(lib.nvmlEventSetFree(set), nvml::kSuccess);
}

TEST_F(LibraryTest, CallsAreCountedForEachCard) {
  Start("[[card]]\n[[card]]\n");
  Read(lib.nvmlDeviceGetPowerUsage, Card(1));
  Read(lib.nvmlDeviceGetPowerUsage, Card(1));
  Read(lib.nvmlDeviceGetPowerUsage, Card(0));
  EXPECT_EQ(lib.calls("nvmlDeviceGetPowerUsage", 1), 2);
  EXPECT_EQ(lib.calls("nvmlDeviceGetPowerUsage", -1), 3);
  EXPECT_EQ(lib.calls("nvmlDeviceGetTemperature", -1), 0);
}

TEST_F(LibraryTest, ThreadsMayCallAtTheSameTime) {
  Start(
      "[[card]]\ncount = 8\nsm_util = \"100x1 0x1\"\n[[card.process]]\npid = 1000\ncount = 64\nmem_mib = 100\nsm_util "
      "= 1\n");
  std::vector<std::thread> threads;
  for (unsigned k = 0; k < 8; ++k) {
    threads.emplace_back([this, k] {
      const nvml::Device card = Card(k);
      for (int i = 0; i < 50; ++i) {
        if (k == 0) lib.set_time(i);
        EXPECT_EQ(Processes(card).size(), 64u);
        EXPECT_GT(Read(lib.nvmlDeviceGetPowerUsage, card), 0);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace sawbill::nvmlsim
