// SPDX-License-Identifier: Apache-2.0
#include "simulator/nvml/loaded_library.h"

namespace sawbill::nvmlsim {
namespace {

constexpr const char* kTwoInstances = R"(
[[card]]
power_w = 320
[[card.instance]]
index = 0
gi = 1
profile = "3g.40gb"
gr_active = 0.88
sm_active = 0.7
[[card.instance.process]]
pid = 500
mem_mib = 20000
[[card.instance]]
index = 4
gi = 9
profile = "1g.10gb"
)";

class MigTest : public ScriptedTest {
 protected:
  nvml::Device Instance(unsigned slot) {
    nvml::Device mig = nullptr;
    EXPECT_EQ(lib.nvmlDeviceGetMigDeviceHandleByIndex(Card(0), slot, &mig), nvml::kSuccess);
    return mig;
  }
};

TEST_F(MigTest, SlotsHaveHoles) {
  Start(kTwoInstances);
  EXPECT_EQ(Read(lib.nvmlDeviceGetMaxMigDeviceCount, Card(0)), 7);
  std::vector<unsigned> taken;
  for (unsigned slot = 0; slot < 7; ++slot) {
    nvml::Device mig = nullptr;
    const nvml::Return code = lib.nvmlDeviceGetMigDeviceHandleByIndex(Card(0), slot, &mig);
    EXPECT_TRUE(code == nvml::kSuccess || code == nvml::kNotFound) << code;
    if (code == nvml::kSuccess) taken.push_back(slot);
  }
  EXPECT_EQ(taken, (std::vector<unsigned>{0, 4}));
}

TEST_F(MigTest, TheCardHasNoUtilisationAndTheInstanceHasGpm) {  // dcgm-exporter #216
  Start(kTwoInstances);
  nvml::Utilization util{};
  EXPECT_EQ(lib.nvmlDeviceGetUtilizationRates(Card(0), &util), nvml::kNotSupported);
  EXPECT_EQ(lib.nvmlDeviceGetUtilizationRates(Instance(0), &util), nvml::kNotSupported);
  unsigned count = 0;
  EXPECT_EQ(lib.nvmlDeviceGetProcessUtilization(Card(0), nullptr, &count, 0), nvml::kNotSupported);
  EXPECT_EQ(Read(lib.nvmlDeviceGetPowerUsage, Card(0)), 320000);
  EXPECT_EQ(Read(lib.nvmlDeviceGetPowerUsage, Instance(0)), -nvml::kNotSupported) << "power is of the whole card";

  nvml::GpmMetricsGet get{};
  get.version = nvml::kGpmVersion;
  get.numMetrics = 1;
  get.metrics[0].metricId = nvml::kGpmGraphicsUtil;
  ASSERT_EQ(lib.nvmlGpmSampleAlloc(&get.sample1), nvml::kSuccess);
  ASSERT_EQ(lib.nvmlGpmSampleAlloc(&get.sample2), nvml::kSuccess);
  ASSERT_EQ(lib.nvmlGpmMigSampleGet(Card(0), 1, get.sample1), nvml::kSuccess);
  lib.set_time(1);
  ASSERT_EQ(lib.nvmlGpmMigSampleGet(Card(0), 1, get.sample2), nvml::kSuccess);
  ASSERT_EQ(lib.nvmlGpmMetricsGet(&get), nvml::kSuccess);
  EXPECT_NEAR(get.metrics[0].value, 88, 1e-6);
  EXPECT_EQ(lib.nvmlGpmMigSampleGet(Card(0), 5, get.sample2), nvml::kInvalidArgument);
}

TEST_F(MigTest, AnInstanceIsADeviceOfItsOwn) {
  Start(kTwoInstances);
  const nvml::Device mig = Instance(0);
  char name[96] = "";
  ASSERT_EQ(lib.nvmlDeviceGetName(mig, name, sizeof(name)), nvml::kSuccess);
  EXPECT_STREQ(name, "NVIDIA H100 80GB HBM3 MIG 3g.40gb");
  EXPECT_EQ(Uuid(mig).substr(0, 4), "MIG-");
  EXPECT_EQ(Read(lib.nvmlDeviceIsMigDeviceHandle, mig), 1);
  EXPECT_EQ(Read(lib.nvmlDeviceGetGpuInstanceId, mig), 1);
  EXPECT_EQ(Read(lib.nvmlDeviceGetGpuInstanceId, Card(0)), -nvml::kNotSupported);
  nvml::Device parent = nullptr;
  ASSERT_EQ(lib.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(mig, &parent), nvml::kSuccess);
  EXPECT_EQ(parent, Card(0));
  nvml::DeviceAttributes attributes{};
  ASSERT_EQ(lib.nvmlDeviceGetAttributes_v2(mig, &attributes), nvml::kSuccess);
  EXPECT_EQ(attributes.multiprocessorCount, 60u);
  EXPECT_EQ(attributes.memorySizeMB, 40448u);
  nvml::Memory memory{};
  ASSERT_EQ(lib.nvmlDeviceGetMemoryInfo(mig, &memory), nvml::kSuccess);
  EXPECT_EQ(memory.used, 20000ull << 20);
  EXPECT_EQ(Processes(Instance(4)).size(), 0u);
  const auto all = Processes(Card(0));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].gpuInstanceId, 1u);
}

TEST_F(MigTest, InstancesHaveProfilesAndInfos) {
  Start(kTwoInstances);
  nvml::GpuInstance instance = nullptr;
  ASSERT_EQ(lib.nvmlDeviceGetGpuInstanceById(Card(0), 9, &instance), nvml::kSuccess);
  nvml::GpuInstanceInfo info{};
  ASSERT_EQ(lib.nvmlGpuInstanceGetInfo(instance, &info), nvml::kSuccess);
  EXPECT_EQ(info.id, 9u);
  EXPECT_EQ(info.device, Card(0));
  nvml::GpuInstanceProfileInfoV2 profile{};
  profile.version = nvml::kGpuInstanceProfileInfoV2Version;
  ASSERT_EQ(lib.nvmlDeviceGetGpuInstanceProfileInfoV(Card(0), 2, &profile), nvml::kSuccess);
  EXPECT_EQ(profile.sliceCount, 3u);
  EXPECT_STREQ(profile.name, "MIG 3g.40gb");
}

TEST_F(MigTest, ACardWithoutMigSaysSo) {
  Start("[[card]]\nmodel = \"L40S\"\n[[card]]\n");
  unsigned current = 9, pending = 9;
  EXPECT_EQ(lib.nvmlDeviceGetMigMode(Card(0), &current, &pending), nvml::kNotSupported);
  ASSERT_EQ(lib.nvmlDeviceGetMigMode(Card(1), &current, &pending), nvml::kSuccess);
  EXPECT_EQ(current, 0u);
}

}  // namespace
}  // namespace sawbill::nvmlsim
