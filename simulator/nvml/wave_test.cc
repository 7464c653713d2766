// SPDX-License-Identifier: Apache-2.0
#include "simulator/nvml/loaded_library.h"

namespace sawbill::nvmlsim {
namespace {

using WaveTest = ScriptedTest;

TEST_F(WaveTest, AValueTimesSecondsIsRepeated) {
  Start("[[card]]\npower_w = \"100x30 300x20\"\nmodel = \"A100\"\n");  // reads power at the instant
  const nvml::Device card = Card(0);
  for (const auto& [t_s, watts] :
       std::vector<std::pair<double, long>>{{0, 100}, {29.9, 100}, {30, 300}, {50, 100}, {85, 300}}) {
    lib.set_time(t_s);
    EXPECT_EQ(Read(lib.nvmlDeviceGetPowerUsage, card), watts * 1000) << t_s;
  }
}

TEST_F(WaveTest, AWordWithoutSecondsHoldsForEver) {
  Start("[[card]]\ntemp_c = \"30x10 71\"\n");
  lib.set_time(100000);
  EXPECT_EQ(Read(lib.nvmlDeviceGetTemperature, Card(0), 0), 71);
}

TEST_F(WaveTest, EnergyIsTheIntegralOfPower) {
  Start("[[card]]\npower_w = \"100x30 300x20\"\n");
  unsigned long long millijoules = 0;
  lib.set_time(1000);  // twenty times 3000 + 6000 J
  ASSERT_EQ(lib.nvmlDeviceGetTotalEnergyConsumption(Card(0), &millijoules), nvml::kSuccess);
  EXPECT_EQ(millijoules, 180000u * 1000u);
  lib.set_time(1035);
  ASSERT_EQ(lib.nvmlDeviceGetTotalEnergyConsumption(Card(0), &millijoules), nvml::kSuccess);
  EXPECT_EQ(millijoules, (180000u + 3000u + 1500u) * 1000u);
}

TEST_F(WaveTest, CountersStartAnewWhereTheScriptSaysSo) {
  Start("[[card]]\npower_w = 100\nenergy_base_j = 5000\ncounters_reset_at_s = 60\n");
  unsigned long long millijoules = 0;
  lib.set_time(59);
  ASSERT_EQ(lib.nvmlDeviceGetTotalEnergyConsumption(Card(0), &millijoules), nvml::kSuccess);
  EXPECT_EQ(millijoules, 10900u * 1000u);
  lib.set_time(61);
  ASSERT_EQ(lib.nvmlDeviceGetTotalEnergyConsumption(Card(0), &millijoules), nvml::kSuccess);
  EXPECT_EQ(millijoules, 100u * 1000u);
}

TEST_F(WaveTest, ThrottleReasonsAreNamesOrMasks) {
  Start("[[card]]\nthrottle = \"nonex10 sw_thermal|hw_slowdownx10 0x40x10\"\n[[card]]\nthrottle = 0x84\n");
  unsigned long long mask = 99;
  const auto mask_at = [&](unsigned card, double t_s) {
    lib.set_time(t_s);
    EXPECT_EQ(lib.nvmlDeviceGetCurrentClocksThrottleReasons(Card(card), &mask), nvml::kSuccess);
    return mask;
  };
  EXPECT_EQ(mask_at(0, 5), 0u);
  EXPECT_EQ(mask_at(0, 15), 0x28u);
  EXPECT_EQ(mask_at(0, 25), 0x40u);
  EXPECT_EQ(mask_at(1, 25), 0x84u);
  lib.set_time(60);
  EXPECT_EQ(FieldOf(Card(0), nvml::kFieldPolicyThermalNs).value.ullVal, 40'000'000'000u) << "two times 10 s of each";
}

TEST_F(WaveTest, NanIsNoDataAndNotZero) {
  Start("[[card]]\ntemp_c = \"40x10 nanx10\"\n");
  lib.set_time(15);
  EXPECT_EQ(Read(lib.nvmlDeviceGetTemperature, Card(0), 0), -nvml::kNoData);
}

TEST_F(WaveTest, AWrongScriptIsRefusedWithItsPlace) {
  const auto says = [&](const char* script) { return lib.load(script) != 0 ? std::string(lib.error()) : "accepted"; };
  EXPECT_EQ(says("[[card]]\nsm_utl = 5\n"), "script:2: unknown key 'sm_utl'; did you mean 'sm_util'?");
  EXPECT_EQ(says("[[card]]\nsm_util = \"95x\"\n"),
            "script:2: 'sm_util' is no wave: '95x' is no VALUExSECONDS, such as 95x58");
  EXPECT_EQ(says("[[card]]\nsm_util = \"5 95x3\"\n"),
            "script:2: 'sm_util' is no wave: only the last word of a wave may stand without its seconds");
  EXPECT_EQ(says("[[fault]]\nkind = \"lots\"\n").substr(0, 32), "script:2: 'kind' is code, lost, ");
  EXPECT_EQ(says("[[fault]]\nkind = \"lost\"\n"), "script:1: 'card' is missing: which one is lost");
  EXPECT_NE(says("[[card]]\nmodel = \"Z80\"\n").find("names no card of the catalogue: V100"), std::string::npos);
  EXPECT_NE(says("[[card]\n"), "accepted");
}

}  // namespace
}  // namespace sawbill::nvmlsim
