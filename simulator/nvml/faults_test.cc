// SPDX-License-Identifier: Apache-2.0
// Faults on command, each as it was seen in the field; and processes, which is where most of them are.
#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "simulator/nvml/loaded_library.h"

namespace sawbill::nvmlsim {
namespace {

class FaultsTest : public ScriptedTest {};

TEST_F(FaultsTest, ALostCardFailsAloneAndComesBackUnderAnotherIndex) {  // nvitop #139
  Start(
      "[[card]]\ncount = 8\npower_w = 300\n[[fault]]\nkind = \"lost\"\ncard = 3\nat = 30\nuntil = 90\nreturn_index = "
      "0\n");
  std::vector<std::string> uuids;
  for (unsigned i = 0; i < 8; ++i) uuids.push_back(Uuid(Card(i)));
  const nvml::Device third = Card(3), fourth = Card(4);
  lib.set_time(30);
  EXPECT_EQ(Read(lib.nvmlDeviceGetPowerUsage, third), -nvml::kGpuIsLost);
  EXPECT_EQ(Read(lib.nvmlDeviceGetPowerUsage, fourth), 300000);
  unsigned count = 0;
  lib.nvmlDeviceGetCount_v2(&count);
  EXPECT_EQ(count, 8u) << "until it is counted anew";

  lib.nvmlShutdown();
  ASSERT_EQ(lib.nvmlInit_v2(), nvml::kSuccess);
  lib.nvmlDeviceGetCount_v2(&count);
  EXPECT_EQ(count, 7u);
  EXPECT_EQ(Uuid(Card(3)), uuids[4]) << "those behind move up";
  nvml::Device gone = nullptr;
  EXPECT_EQ(lib.nvmlDeviceGetHandleByUUID(uuids[3].c_str(), &gone), nvml::kNotFound);

  lib.set_time(90);
  lib.nvmlShutdown();
  ASSERT_EQ(lib.nvmlInit_v2(), nvml::kSuccess);
  lib.nvmlDeviceGetCount_v2(&count);
  EXPECT_EQ(count, 8u);
  EXPECT_EQ(Uuid(Card(0)), uuids[3]);
  EXPECT_EQ(Uuid(Card(1)), uuids[0]);
  EXPECT_EQ(Read(lib.nvmlDeviceGetPowerUsage, Card(0)), 300000);
}

TEST_F(FaultsTest, ALostCardStaysLostForWhoHeldItBefore) {
  Start("[[card]]\n[[fault]]\nkind = \"lost\"\ncard = 0\nat = 10\nuntil = 20\n");
  const nvml::Device card = Card(0);
  lib.set_time(25);
  EXPECT_EQ(Read(lib.nvmlDeviceGetPowerUsage, card), -nvml::kGpuIsLost);
}

TEST_F(FaultsTest, ALostCardIsToldToWhoWaitsForEvents) {
  Start("[[card]]\n[[fault]]\nkind = \"lost\"\ncard = 0\nat = 10\n");
  nvml::EventSet set = nullptr;
  ASSERT_EQ(lib.nvmlEventSetCreate(&set), nvml::kSuccess);
  ASSERT_EQ(lib.nvmlDeviceRegisterEvents(Card(0), nvml::kEventXid, set), nvml::kSuccess);
  lib.set_time(11);
  nvml::EventData data{};
  EXPECT_EQ(lib.nvmlEventSetWait_v2(set, &data, 0), nvml::kGpuIsLost);
  EXPECT_EQ(lib.nvmlEventSetWait_v2(set, &data, 0), nvml::kTimeout) << "once";
}

TEST_F(FaultsTest, ACountedLostCardFailsAtItsHandle) {
  Load("[[card]]\ncount = 2\n[[fault]]\nkind = \"lost\"\ncard = 0\ncounted = true\n");
  ASSERT_EQ(lib.nvmlInit_v2(), nvml::kSuccess);
  unsigned count = 0;
  lib.nvmlDeviceGetCount_v2(&count);
  EXPECT_EQ(count, 2u);
  nvml::Device device = nullptr;
  EXPECT_EQ(lib.nvmlDeviceGetHandleByIndex_v2(0, &device), nvml::kGpuIsLost);
  EXPECT_EQ(lib.nvmlDeviceGetHandleByIndex_v2(1, &device), nvml::kSuccess);
}

TEST_F(FaultsTest, OneBadHandleLeavesTheOthers) {  // sonar #72
  Start("[[card]]\ncount = 4\n[[fault]]\nkind = \"handle\"\ncard = 0\ncode = 999\n");
  nvml::Device device = nullptr;
  EXPECT_EQ(lib.nvmlDeviceGetHandleByIndex_v2(0, &device), nvml::kUnknown);
  for (unsigned i = 1; i < 4; ++i) EXPECT_EQ(lib.nvmlDeviceGetHandleByIndex_v2(i, &device), nvml::kSuccess);
}

TEST_F(FaultsTest, TheDriverMayComeLate) {  // nvidia_gpu_exporter #65
  Load("[[card]]\n[[fault]]\nkind = \"driver\"\nuntil = 20\n");
  EXPECT_EQ(lib.nvmlInit_v2(), nvml::kDriverNotLoaded);
  unsigned count = 0;
  EXPECT_EQ(lib.nvmlDeviceGetCount_v2(&count), nvml::kUninitialized);
  lib.set_time(20);
  EXPECT_EQ(lib.nvmlInit_v2(), nvml::kSuccess);
}

TEST_F(FaultsTest, TheDriverMayBeReplacedWhileWeRun) {  // gpustat #147
  Start("[[card]]\n[[fault]]\nkind = \"driver\"\ncode = 18\nat = 30\n");
  const nvml::Device card = Card(0);
  lib.set_time(30);
  EXPECT_EQ(Read(lib.nvmlDeviceGetPowerUsage, card), -nvml::kLibRmVersionMismatch);
  lib.nvmlShutdown();
  EXPECT_EQ(lib.nvmlInit_v2(), nvml::kLibRmVersionMismatch);
}

TEST_F(FaultsTest, AContainerMayLoseSightOfAllCards) {  // nvidia-container-toolkit #48
  Start("[[card]]\ncount = 2\n[[fault]]\nkind = \"code\"\ncode = 999\nat = 60\n");
  const nvml::Device card = Card(1);
  lib.set_time(60);
  unsigned count = 0;
  EXPECT_EQ(lib.nvmlDeviceGetCount_v2(&count), nvml::kUnknown);
  EXPECT_EQ(Read(lib.nvmlDeviceGetPowerUsage, card), -nvml::kUnknown);
}

TEST_F(FaultsTest, ABoardMaySupportNothingButItsName) {  // intelligence-per-watt #40
  Start("[[card]]\nunsupported = \"*\"\n");
  char name[96] = "";
  EXPECT_EQ(lib.nvmlDeviceGetName(Card(0), name, sizeof(name)), nvml::kSuccess);
  nvml::Utilization util{};
  EXPECT_EQ(lib.nvmlDeviceGetUtilizationRates(Card(0), &util), nvml::kNotSupported);
  EXPECT_EQ(Read(lib.nvmlDeviceGetPowerUsage, Card(0)), -nvml::kNotSupported);
}

TEST_F(FaultsTest, ACallMayBeMissingOrForbiddenForAWhile) {
  Start(
      "[[card]]\n[[fault]]\nkind = \"missing\"\ncall = \"nvmlDeviceGet*EventReasons\"\n"
      "[[fault]]\nkind = \"code\"\ncode = 4\ncall = \"nvmlDeviceGetFanSpeed*\"\nat = 5\nuntil = 10\n");
  unsigned long long mask = 0;
  EXPECT_EQ(lib.nvmlDeviceGetCurrentClocksEventReasons(Card(0), &mask), nvml::kFunctionNotFound);
  EXPECT_EQ(lib.nvmlDeviceGetCurrentClocksThrottleReasons(Card(0), &mask), nvml::kSuccess) << "the older name";
  EXPECT_EQ(Read(lib.nvmlDeviceGetFanSpeed, Card(0)), -nvml::kNotSupported);
  lib.set_time(7);
  EXPECT_EQ(Read(lib.nvmlDeviceGetFanSpeed, Card(0)), -nvml::kNoPermission);
}

TEST_F(FaultsTest, SuccessMayLeaveTheFieldsAsTheyWere) {  // sonar #245
  Start("[[card]]\ngarbage = true\n");
  nvml::Utilization util{12345, 678};
  EXPECT_EQ(lib.nvmlDeviceGetUtilizationRates(Card(0), &util), nvml::kSuccess);
  EXPECT_EQ(util.gpu, 12345u);
  EXPECT_NE(Uuid(Card(0)), "");
}

TEST_F(FaultsTest, ValuesMayBeImpossible) {
  Start("[[card]]\nsm_util = 50\n[[fault]]\nkind = \"garbage\"\nvalues = \"wild\"\nat = 5\n");
  const nvml::Device card = Card(0);
  lib.set_time(5);
  nvml::Utilization util{};
  EXPECT_EQ(lib.nvmlDeviceGetUtilizationRates(card, &util), nvml::kSuccess);
  EXPECT_EQ(util.gpu, 2287971552u);
}

TEST_F(FaultsTest, AHangingCallHoldsNobodyElse) {
  Start(
      "[[card]]\ncount = 2\n[[fault]]\nkind = \"hang\"\ncard = 0\ncall = \"nvmlDeviceGetPowerUsage\"\nat = 5\nuntil = "
      "60\n");
  const nvml::Device first = Card(0), second = Card(1);
  lib.set_time(5);
  long held = 0;
  std::thread thread([&] { held = Read(lib.nvmlDeviceGetPowerUsage, first); });
  EXPECT_GT(Read(lib.nvmlDeviceGetPowerUsage, second), 0);
  lib.set_time(60);
  thread.join();
  EXPECT_GT(held, 0);
}

TEST_F(FaultsTest, AHangingCallEndsWithTheScript) {
  Start("[[card]]\n[[fault]]\nkind = \"hang\"\ncall = \"nvmlDeviceGetPowerUsage\"\n");
  const nvml::Device card = Card(0);
  long held = 0;
  std::thread thread([&] { held = Read(lib.nvmlDeviceGetPowerUsage, card); });
  while (lib.calls("nvmlDeviceGetPowerUsage", 0) == 0) std::this_thread::yield();
  lib.reset();
  thread.join();
  EXPECT_EQ(held, -nvml::kUninitialized);
}

TEST_F(FaultsTest, TheShippedScriptsLoad) {
  const auto start = [this](const char* name) {
    std::ifstream in(std::string(SAWBILL_SOURCE_DIR "/simulator/nvml/scripts/") + name);
    std::ostringstream text;
    text << in.rdbuf();
    Start(text.str());
  };
  start("h100_training.toml");
  lib.set_time(119.5);  // in the second checkpoint
  nvml::Utilization util{};
  ASSERT_EQ(lib.nvmlDeviceGetUtilizationRates(Card(7), &util), nvml::kSuccess);
  EXPECT_EQ(util.gpu, 3u);
  EXPECT_EQ(Processes(Card(7)).size(), 1u);
  start("faults.toml");
  const nvml::Device second = Card(1);
  lib.set_time(31);
  EXPECT_EQ(Read(lib.nvmlDeviceGetPowerUsage, second), -nvml::kGpuIsLost);
}

TEST_F(FaultsTest, ProcessesAreListedInAllForms) {
  Start(
      "[[card]]\n[[card.process]]\npid = 100\nmem_mib = 2048\n[[card.process]]\npid = 101\ntype = \"G\"\nmem_mib = 8\n"
      "[[card.process]]\npid = 102\nmem_mib = \"nan\"\nfrom_s = 10\n");
  unsigned count = 0;
  EXPECT_EQ(lib.nvmlDeviceGetComputeRunningProcesses_v3(Card(0), &count, nullptr), nvml::kInsufficientSize);
  EXPECT_EQ(count, 1u);
  nvml::ProcessInfoV1 old[4] = {};
  count = 4;
  ASSERT_EQ(lib.nvmlDeviceGetComputeRunningProcesses(Card(0), &count, old), nvml::kSuccess);
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(old[0].pid, 100u);
  EXPECT_EQ(old[0].usedGpuMemory, 2048ull << 20);
  nvml::ProcessInfo graphics[4] = {};
  count = 4;
  ASSERT_EQ(lib.nvmlDeviceGetGraphicsRunningProcesses_v3(Card(0), &count, graphics), nvml::kSuccess);
  EXPECT_EQ(graphics[0].pid, 101u);
  lib.set_time(10);
  const auto compute = Processes(Card(0));
  ASSERT_EQ(compute.size(), 2u);
  EXPECT_EQ(compute[1].usedGpuMemory, nvml::kMemoryUnknown);
  EXPECT_EQ(compute[1].gpuInstanceId, nvml::kNoInstance);
  nvml::ProcessDetail details[4] = {};
  nvml::ProcessDetailList list{nvml::kProcessDetailListVersion, nvml::kProcessesAll, 4, details};
  ASSERT_EQ(lib.nvmlDeviceGetRunningProcessDetailList(Card(0), &list), nvml::kSuccess);
  EXPECT_EQ(list.numProcArrayEntries, 3u);
  nvml::MemoryV2 memory{};
  memory.version = nvml::kMemoryV2Version;
  lib.nvmlDeviceGetMemoryInfo_v2(Card(0), &memory);
  EXPECT_EQ(memory.used, 2056ull << 20) << "the sum of its processes, where the script says nothing else";
}

TEST_F(FaultsTest, ARealProcessIsHandedIn) {
  const std::string path = testing::TempDir() + "sawbill_sim_pid_" + std::to_string(::getpid());
  ::unlink(path.c_str());
  ::setenv("SAWBILL_SIM_TEST_PID", "4711", 1);
  Start("[[card]]\n[[card.process]]\npid = \"env:SAWBILL_SIM_TEST_PID\"\n[[card.process]]\npid = \"file:" + path +
        "\"\n[[card.process]]\npid = \"self\"\n");
  auto processes = Processes(Card(0));
  ASSERT_EQ(processes.size(), 2u) << "one whose file is not there yet is not there";
  EXPECT_EQ(processes[0].pid, 4711u);
  EXPECT_EQ(processes[1].pid, static_cast<unsigned>(::getpid()));
  FILE* file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("4712\n", file);
  std::fclose(file);
  EXPECT_EQ(Processes(Card(0)).size(), 3u);
  ::unlink(path.c_str());
}

TEST_F(FaultsTest, Early535WroteWiderEntries) {
  Start("[[card]]\n[[card.process]]\npid = 100\ncount = 3\nmem_mib = 10\n[[fault]]\nkind = \"stride32\"\n");
  unsigned char buffer[3 * 32 + 64];
  std::memset(buffer, 0xA5, sizeof(buffer));
  unsigned count = 3;
  ASSERT_EQ(lib.nvmlDeviceGetComputeRunningProcesses_v3(Card(0), &count, reinterpret_cast<nvml::ProcessInfo*>(buffer)),
            nvml::kSuccess);
  for (unsigned i = 0; i < 3; ++i) {
    unsigned pid = 0;
    std::memcpy(&pid, buffer + i * 32, sizeof(pid));
    EXPECT_EQ(pid, 100 + i);
  }
}

TEST_F(FaultsTest, ProcessUtilizationHasAnEntryForWhoWasActive) {
  Start(
      "[[card]]\n[[card.process]]\npid = 100\nsm_util = 60\n[[card.process]]\npid = 101\n[[card.process]]\npid = "
      "102\nsm_util = \"0x50 7x50\"\n");
  lib.set_time(10);
  unsigned count = 0;
  EXPECT_EQ(lib.nvmlDeviceGetProcessUtilization(Card(0), nullptr, &count, 0), nvml::kInsufficientSize);
  EXPECT_EQ(count, 100u) << "the length of the ring";
  nvml::ProcessUtilizationSample samples[100];
  ASSERT_EQ(lib.nvmlDeviceGetProcessUtilization(Card(0), samples, &count, 0), nvml::kSuccess);
  ASSERT_GT(count, 3u) << "from 0 on: seconds that are long past";
  EXPECT_EQ(samples[0].pid, 100u);
  const unsigned long long last = samples[count - 1].timeStamp;
  count = 100;
  EXPECT_EQ(lib.nvmlDeviceGetProcessUtilization(Card(0), samples, &count, last), nvml::kNotFound);
  lib.set_time(60);
  count = 100;
  ASSERT_EQ(lib.nvmlDeviceGetProcessUtilization(Card(0), samples, &count, last), nvml::kSuccess);
  EXPECT_EQ(count, 2u);
}

TEST_F(FaultsTest, TheRingMayHoldDeadProcesses) {  // nvtop #110
  Start(
      "[[card]]\n[[card.process]]\npid = 100\nsm_util = 12\n[[card.process]]\npid = 101\nsm_util = 7\n[[fault]]\nkind "
      "= \"stale_pids\"\n");
  lib.set_time(1);
  unsigned count = 100;
  nvml::ProcessUtilizationSample samples[100];
  ASSERT_EQ(lib.nvmlDeviceGetProcessUtilization(Card(0), samples, &count, 0), nvml::kSuccess);
  ASSERT_EQ(count, 100u);
  EXPECT_EQ(samples[0].smUtil, 4000u);
  EXPECT_EQ(samples[0].timeStamp, 0u) << "the first is not the newest";
  std::map<unsigned, unsigned> sane;
  for (const auto& s : samples) {
    if (s.pid != 0 && s.timeStamp != 0 && s.smUtil <= 100) sane[s.pid] = s.smUtil;
  }
  EXPECT_EQ(sane, (std::map<unsigned, unsigned>{{100, 12}, {101, 7}}));
}

}  // namespace
}  // namespace sawbill::nvmlsim
