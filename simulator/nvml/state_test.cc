// SPDX-License-Identifier: Apache-2.0
// A player's state file, seen through the library.
#include "simulator/nvml/state.h"

#include <unistd.h>

#include <cstdlib>

#include "simulator/nvml/loaded_library.h"

namespace sawbill::nvmlsim {
namespace {

class StateTest : public ScriptedTest {
 protected:
  const std::string path = testing::TempDir() + "sawbill_state_" + std::to_string(::getpid());
  std::unique_ptr<StateWriter> writer;

  void SetUp() override {
    Result<std::unique_ptr<StateWriter>> made = StateWriter::Create(path, 2);
    ASSERT_TRUE(made.ok()) << made.status().message();
    writer = std::move(made).value();
    for (int i = 0; i < 2; ++i) {
      CardState& card = writer->next().cards[i];
      std::strcpy(card.model, i == 0 ? "H200" : "4090");
      Set(i, Field::kSmUtil, 70 + i);
      Set(i, Field::kMemUtil, 20);
      Set(i, Field::kPower, 400);
      card.unit.total[static_cast<size_t>(Field::kPower)] = 12345;
    }
    writer->next().time_s = 30;
    writer->next().start_ms = 1.6e12;
    writer->Publish();
    ::setenv("SAWBILL_SIM_STATE", path.c_str(), 1);
    lib.reset();
  }
  void TearDown() override {
    ::unsetenv("SAWBILL_SIM_STATE");
    ::unsetenv("SAWBILL_SIM_SCRIPT");
    ::unlink(path.c_str());
    lib.reset();
  }
  void Set(int card, Field field, double value) {
    writer->next().cards[card].unit.value[static_cast<size_t>(field)] = value;
  }
};

TEST_F(StateTest, ValuesAreWhatThePlayerSaysNow) {
  ASSERT_EQ(lib.nvmlInit_v2(), nvml::kSuccess);
  unsigned count = 0;
  lib.nvmlDeviceGetCount_v2(&count);
  ASSERT_EQ(count, 2u);
  nvml::Utilization util{};
  ASSERT_EQ(lib.nvmlDeviceGetUtilizationRates(Card(1), &util), nvml::kSuccess);
  EXPECT_EQ(util.gpu, 71u);
  unsigned long long millijoules = 0;
  ASSERT_EQ(lib.nvmlDeviceGetTotalEnergyConsumption(Card(0), &millijoules), nvml::kSuccess);
  EXPECT_EQ(millijoules, 12345000u);
  Set(1, Field::kSmUtil, 5);
  writer->Publish();
  lib.nvmlDeviceGetUtilizationRates(Card(1), &util);
  EXPECT_EQ(util.gpu, 5u);
  EXPECT_EQ(Read(lib.nvmlDeviceGetTemperature, Card(0), 0), -nvml::kNoData) << "the player did not say";
}

TEST_F(StateTest, ProcessesSamplesAndEventsComeFromThePlayer) {
  ASSERT_EQ(lib.nvmlInit_v2(), nvml::kSuccess);
  nvml::EventSet set = nullptr;
  ASSERT_EQ(lib.nvmlEventSetCreate(&set), nvml::kSuccess);
  ASSERT_EQ(lib.nvmlDeviceRegisterEvents(Card(0), nvml::kEventXid, set), nvml::kSuccess);
  CardState& card = writer->next().cards[0];
  card.process_count = 1;
  card.processes[0] = {900, -1, 'C', "train.py", 5000, 70, 10, 0, 0};
  for (int k = 1; k <= 200; ++k) writer->AddSample(0, {30 + k * 0.5, static_cast<float>(k % 100), 10, 400, 0});
  writer->AddEvent(0, {100, nvml::kEventXid, 31});
  writer->next().time_s = 130;
  writer->Publish();
  ASSERT_EQ(Processes(Card(0)).size(), 1u);
  char name[64] = "";
  ASSERT_EQ(lib.nvmlSystemGetProcessName(900, name, sizeof(name)), nvml::kSuccess);
  EXPECT_STREQ(name, "train.py");
  nvml::EventData data{};
  ASSERT_EQ(lib.nvmlEventSetWait_v2(set, &data, 0), nvml::kSuccess);
  EXPECT_EQ(data.eventData, 31u);
  std::vector<nvml::Sample> samples(120);
  nvml::ValueType type{};
  unsigned count = 120;
  ASSERT_EQ(lib.nvmlDeviceGetSamples(Card(0), nvml::kSamplesGpuUtil, 1'600'000'129'000'000u - 1, &type, &count,
                                     samples.data()),
            nvml::kSuccess);
  ASSERT_EQ(count, 2u) << "windows of a second: at 129 and 130 s";
  EXPECT_EQ(samples[1].sampleValue.uiVal, 50u) << "of 129.5 and 130 s: 99 and 0";
}

TEST_F(StateTest, FaultsOfAScriptLieOnTop) {
  const std::string script = path + ".toml";
  FILE* file = std::fopen(script.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("[[fault]]\nkind = \"lost\"\ncard = 1\nat = 40\n", file);
  std::fclose(file);
  ::setenv("SAWBILL_SIM_SCRIPT", script.c_str(), 1);
  lib.reset();
  ASSERT_EQ(lib.nvmlInit_v2(), nvml::kSuccess);
  const nvml::Device card = Card(1);
  nvml::Utilization util{};
  EXPECT_EQ(lib.nvmlDeviceGetUtilizationRates(card, &util), nvml::kSuccess);
  writer->next().time_s = 40;
  writer->Publish();
  EXPECT_EQ(lib.nvmlDeviceGetUtilizationRates(card, &util), nvml::kGpuIsLost);
  ::unlink(script.c_str());
}

TEST_F(StateTest, APlayerMayStartLate) {
  const std::string later = path + ".later";
  ::setenv("SAWBILL_SIM_STATE", later.c_str(), 1);
  lib.reset();
  testing::internal::CaptureStderr();
  EXPECT_EQ(lib.nvmlInit_v2(), nvml::kDriverNotLoaded);
  EXPECT_EQ(lib.nvmlInit_v2(), nvml::kDriverNotLoaded);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("cannot be opened"), said.rfind("cannot be opened")) << "said once: " << said;
  ASSERT_EQ(::rename(path.c_str(), later.c_str()), 0);
  EXPECT_EQ(lib.nvmlInit_v2(), nvml::kSuccess);
  ::unlink(later.c_str());
}

TEST_F(StateTest, AFileOfAnotherVersionIsADriverThatIsNotThere) {
  writer->next().card_count = 0;
  ASSERT_EQ(::truncate(path.c_str(), 100), 0);
  lib.reset();
  testing::internal::CaptureStderr();
  EXPECT_EQ(lib.nvmlInit_v2(), nvml::kDriverNotLoaded);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("is no state file of this version"), std::string::npos);
}

}  // namespace
}  // namespace sawbill::nvmlsim
