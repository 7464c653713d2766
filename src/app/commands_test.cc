// SPDX-License-Identifier: Apache-2.0
// rules, demo, doctor and completion, whole.
#include "app/cli.h"
#include "app/cli_fixture.h"
#include "app/doctor.h"
#include "sys/proc_files.h"

namespace sawbill::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Rules.

TEST_F(CliTest, RulesListExplainAndCheck) {
  EXPECT_EQ(Run({"rules", "list"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("data-loading"), HasSubstr("composite"), HasSubstr("shipped")));
  EXPECT_EQ(Run({"rules", "explain", "data-loading"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("All of these must be true"), HasSubstr("few-workers")));
  EXPECT_EQ(Run({"rules", "explain", "data-loadign"}), 2);
  EXPECT_THAT(Err(), HasSubstr("did you mean 'data-loading'?"));
  fs_.Put("/r.toml", "schema = \"sawbill.rules/1\"\n[[rule]]\nname = \"data-loading\"\nenabld = false\n");
  EXPECT_EQ(Run({"rules", "check", "/r.toml"}), 2);
  EXPECT_THAT(Err(), AllOf(HasSubstr("/r.toml:4:1"), HasSubstr("enabled")));
  fs_.Put("/r.toml", "schema = \"sawbill.rules/1\"\n[[rule]]\nname = \"data-loading\"\nenabled = false\n");
  EXPECT_EQ(Run({"rules", "check", "/r.toml"}), 0) << Err();
  EXPECT_THAT(Out(), HasSubstr("/r.toml: ok"));
}

TEST_F(CliTest, RulesExplainJudgesARecordingStepByStep) {
  EXPECT_EQ(Run({"rules", "explain", "data-loading", "/logs/gpu.csv"}), 0) << Err();
  EXPECT_THAT(Out(), AllOf(HasSubstr("wait_share"), HasSubstr("sawbill diagnose --all /logs/gpu.csv")));
  EXPECT_EQ(Run({"rules", "explain", "data-loading", "--format", "json", "/logs/gpu.csv"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("\"schema\": \"sawbill.rules-explain/1\""), HasSubstr("\"trials\": [")));
}

TEST_F(CliTest, RulesExplainSaysWhereEachNumberComesFromAndWhen) {
  // A card that a job held for half an hour without a kernel, and two further runs that worked.
  std::string gpu = "timestamp,gpu,sm_util,mem_used_mb,power_w\n",
              process = "timestamp,gpu,pid,user,name,job,started\n";
  for (int i = 0; i <= 5400; ++i) gpu += fmt::format("{}.000,0,{},4000,300\n", 1772366400 + i, i > 1815 ? 95 : 0);
  for (int i = 0; i <= 5400; i += 10) {
    const int pid = i <= 1800 ? 1 : i <= 3600 ? 2 : 3;
    process += fmt::format("{}.000,0,{},li,python,job{},{}.000\n", 1772366400 + i, pid, pid,
                           1772366400 + (pid - 1) * 1800 + (pid > 1 ? 10 : 0));
  }
  fs_.Put("/rec/gpu-2026-03-01.csv", gpu);
  fs_.Put("/rec/process-2026-03-01.csv", process);
  EXPECT_EQ(Run({"rules", "explain", "idle-held", "/rec"}), 0) << Err();
  const std::string text = Out();
  EXPECT_THAT(text, HasSubstr("=== run job1, cards 0, 2026-03-01 12:00:00 - 12:30:05"));
  EXPECT_THAT(text, HasSubstr("To be checked by hand in the recording (times in UTC):"));
  EXPECT_THAT(text, HasSubstr("  idle_held_s  process: gpu; gpu: sm_util, mem_used_mb\n"));
  // What was found stands first, and evidence under it alone.
  EXPECT_LT(text.find("run job1"), text.find("run job2"));
  EXPECT_EQ(text.find("To be checked by hand"), text.rfind("To be checked by hand"));
  EXPECT_EQ(Run({"rules", "explain", "idle-held", "/rec", "--lang", "zh"}), 0) << Err();
  EXPECT_THAT(Out(), AllOf(HasSubstr("30 分 "), HasSubstr("各数值的来源"), Not(HasSubstr(" min"))));
  // Without a recording too.
  EXPECT_EQ(Run({"rules", "explain", "data-loading"}), 0);
  EXPECT_THAT(Out(),
              AllOf(HasSubstr("worker_busy"),
                    HasSubstr("process: mean cpu_cores - main_cpu_cores, weighted by 100 - sm_util, / workers")));
}

TEST_F(CliTest, RulesExplainCountsWhatItDoesNotPrint) {
  // Twelve lives of a job of two minutes each: one chain, and twelve runs of which by themselves nothing is told.
  std::string gpu = "timestamp,gpu,sm_util,mem_used_mb\n", process = "timestamp,gpu,pid,user,name,job,started\n";
  for (int i = 0; i <= 1440; ++i) gpu += fmt::format("{}.000,0,{},4000\n", 1772366400 + i, i % 120 > 20 ? 95 : 0);
  for (int i = 0; i <= 1440; i += 10) {
    process +=
        fmt::format("{}.000,0,{},li,python,train,{}.000\n", 1772366400 + i, 100 + i / 120, 1772366400 + i / 120 * 120);
  }
  fs_.Put("/rec/gpu-2026-03-01.csv", gpu);
  fs_.Put("/rec/process-2026-03-01.csv", process);
  EXPECT_EQ(Run({"rules", "explain", "restart-loop", "/rec"}), 0) << Err();
  EXPECT_THAT(Out(), AllOf(HasSubstr("Verdict: found"), HasSubstr("... and cannot be told on"),
                           Not(HasSubstr("Verdict: cannot be told"))));
}

// Demo, doctor, completion.

TEST_F(CliTest, DemoSaysThatItIsSimulatedAndThatThePriceIsAssumed) {
  fs_.Put(
      "/demo/gpu-2026-03-01.csv",
      "timestamp,gpu,sm_util,power_w\n1772366400.000,0,95,300.0\n1772366401.000,0,95,300.0\n1772366402.000,0,3,90.0\n");
  fs_.Put("/demo/truth.json", "{}");
  env_.vars["SAWBILL_DEMO_DIR"] = "/demo";
  EXPECT_EQ(Run({"demo"}), 0) << Err();
  EXPECT_THAT(Err(), AllOf(HasSubstr("SIMULATED"), HasSubstr("10 USD"), HasSubstr("assumed")));
  EXPECT_EQ(Run({"demo", "--price", "3"}), 0);
  EXPECT_THAT(Err(), Not(HasSubstr("assumed")));
  env_.vars["SAWBILL_DEMO_DIR"] = "/nowhere";
  EXPECT_EQ(Run({"demo"}), 2);
  EXPECT_THAT(Err(), HasSubstr("/nowhere"));
}

TEST_F(CliTest, DoctorSaysARecordersShareOfACoreOnceItIsKnown) {
  collect::StatusSeen r;
  r.rss_mb = 10.25;
  r.open_fds = 14;
  r.tick = {500, 60, 70, 80};
  EXPECT_THAT(OwnCost(r, Lang::kEn), AllOf(HasSubstr("10.2 MB, 14 descriptors"), HasSubstr("after the first minute"),
                                           HasSubstr("500 µs"), Not(HasSubstr("- %"))));
  r.cpu_share = 0.0042;
  EXPECT_THAT(OwnCost(r, Lang::kEn), HasSubstr("0.42 % of a core, 10.2 MB"));
  EXPECT_THAT(OwnCost(r, Lang::kZh), HasSubstr("0.42% 核"));
}

TEST_F(CliTest, ASpeedThatCannotBePlayedIsRefusedWithTheLimit) {
  for (const char* speed : {"1e9", "0", "-1", "fast", "nan"}) {
    EXPECT_EQ(Run({"replay", "--speed", speed, "/logs/gpu.csv"}), 2) << speed;
    EXPECT_THAT(Err(), HasSubstr("--speed: '" + std::string(speed) + "' is no factor above 0 and up to 100000"));
  }
}

TEST_F(CliTest, DemoIsFoundBesideTheProgram) {
  fs_.Put("/src/examples/demo/gpu-2026-03-01.csv", "timestamp,gpu,sm_util\n1772366400.000,0,95\n1772366401.000,0,95\n");
  env_.exe_path = "/src/build/sawbill";
  EXPECT_EQ(Run({"demo"}), 0) << Err();
}

TEST_F(CliTest, DoctorOnAMachineWithoutACard) {
  env_.load_library = [](const std::string& name) { return std::optional(name + ": cannot open"); };
  EXPECT_EQ(Run({"doctor"}), 0) << "reports can be made without a card";
  EXPECT_THAT(Out(), AllOf(HasSubstr("missing nvml"), HasSubstr("--gpus all"), HasSubstr("Reports can be made here")));
  EXPECT_EQ(Run({"doctor", "--require", "nvml"}), 3);
  EXPECT_EQ(Run({"doctor", "--require", "nvlm"}), 2);
  EXPECT_THAT(Err(), HasSubstr("did you mean 'nvml'?"));
}

TEST_F(CliTest, DoctorOnAMachineWithCardsAndAQuota) {
  env_.load_library = [](const std::string&) { return std::optional<std::string>(); };
  fs_.Put("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.00\nGCC version: x\n");
  fs_.Put("/dev/nvidia0", "");
  fs_.Put("/dev/nvidia1", "");
  fs_.Put("/dev/nvidiactl", "");
  const auto proc = std::make_shared<sys::MemProcFiles>();
  env_.make_proc_files = [proc] { return proc; };
  proc->Put("/sys/devices/system/cpu/online", "0-127\n");
  proc->Put("/proc/self/status", "Name:\tsawbill\nCpus_allowed_list:\t0-63,96\n");
  proc->Put("/proc/self/cgroup", "0::/kube/pod\n");
  proc->Put("/sys/fs/cgroup/kube/cpu.max", "400000 100000\n");
  proc->Put("/sys/fs/cgroup/kube/pod/cpu.max", "max 100000\n");
  fs_.SetNetwork("nfs");
  EXPECT_EQ(Run({"doctor", "--require", "nvml", "--require", "devices"}), 0) << Out() << Err();
  EXPECT_THAT(Out(), AllOf(HasSubstr("570.00"), HasSubstr("2 cards"), HasSubstr("4 of the host's 128 CPU cores"),
                           HasSubstr("nfs")));
  EXPECT_EQ(Run({"doctor", "--format", "json"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("\"schema\": \"sawbill.doctor/1\""), HasSubstr("\"id\": \"cores\""),
                           HasSubstr("\"status\": \"warn\"")));
}

TEST_F(CliTest, DoctorNeverLeavesItsProbeBehind) {
  const auto before = fs_.Paths();
  Run({"doctor"});
  EXPECT_EQ(fs_.Paths(), before);
  fs_.SetSpaceLeft(0);
  Run({"doctor", "--data", "/tmp/x"});
  EXPECT_EQ(fs_.Paths(), before);
}

TEST_F(CliTest, CompletionKnowsEveryCommandAndFlag) {
  const CommandSpec root = DescribeCommands(Lang::kEn);
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_EQ(Run({"completion", shell}), 0);
    for (const CommandSpec& c : root.subcommands) {
      EXPECT_THAT(Out(), HasSubstr(c.path)) << shell;
      for (const FlagSpec& f : c.flags) EXPECT_THAT(Out(), HasSubstr(f.names.back().substr(2))) << shell;
    }
    EXPECT_THAT(Out(), HasSubstr("restart-loop")) << shell;
  }
  EXPECT_EQ(Run({"completion", "tcsh"}), 2);
  EXPECT_THAT(Err(), HasSubstr("bash, zsh or fish"));
}

TEST_F(CliTest, ProgressOnlyOnATerminal) {
  Run({"report", "--price", "1", "/logs/gpu.csv"});
  EXPECT_THAT(Err(), Not(HasSubstr("\r")));
}

TEST_F(CliTest, WithOnlyRunsTheNewestIsRead) {
  const std::string runs = "/users/u/.local/state/sawbill/runs/";
  const auto day = [](int util) {
    std::string out = "timestamp,gpu,sm_util\n";
    for (int i = 0; i < 600; ++i) out += std::to_string(1'772'366'400 + i) + ".000,0," + std::to_string(util) + "\n";
    return out;
  };
  fs_.SetNow(1000);
  fs_.Put(runs + "20260301T120000-a-1/gpu-2026-03-01.csv", day(11));
  fs_.SetNow(2000);
  fs_.Put(runs + "20260301T130000-b-2/gpu-2026-03-01.csv", day(99));
  EXPECT_EQ(Run({"report", "--price", "10"}), 0) << Err();
  EXPECT_THAT(Err(), HasSubstr("20260301T130000-b-2"));
  EXPECT_THAT(Out(), HasSubstr("mean 99 %"));
}

}  // namespace
}  // namespace sawbill::app
