// SPDX-License-Identifier: Apache-2.0
#include "host/process_name.h"

#include <gtest/gtest.h>

namespace sawbill::host {
namespace {

std::string Cmd(std::initializer_list<const char*> args) {
  std::string text;
  for (const char* a : args) text += std::string(a) + '\0';
  return text;
}

TEST(ProcessName, ScriptsOfPython) {
  const auto name = [](std::initializer_list<const char*> args) { return NameOf(Cmd(args), "comm"); };
  EXPECT_EQ(name({"python", "train.py", "--token", "secret"}), "train.py");
  EXPECT_EQ(name({"/opt/conda/bin/python3.11", "-u", "/home/u/src/train.py"}), "train.py");
  EXPECT_EQ(name({"python3.13t", "-X", "dev", "-W", "ignore", "a.py"}), "a.py");
  EXPECT_EQ(name({"python", "-Xdev", "-Wignore", "a.py"}), "a.py");
  EXPECT_EQ(name({"python", "-m", "pkg.mod", "x"}), "pkg.mod");
  EXPECT_EQ(name({"python", "-um", "pkg.mod"}), "pkg.mod");
  EXPECT_EQ(name({"python", "-mpkg.mod"}), "pkg.mod");
  EXPECT_EQ(name({"python", "-c", "print('secret')"}), "python");
  EXPECT_EQ(name({"python"}), "python");
  EXPECT_EQ(name({"python", "-m"}), "python");
  EXPECT_EQ(name({"python", "/x/tool/__main__.py"}), "tool");
  EXPECT_EQ(name({"python", "--check-hash-based-pycs", "always", "a.py"}), "a.py");
}

TEST(ProcessName, LaunchersAreScriptsToo) {
  EXPECT_EQ(NameOf(Cmd({"/usr/bin/python3", "/usr/local/bin/torchrun", "--nproc_per_node", "8", "train.py"}), ""),
            "torchrun");
  EXPECT_EQ(NameOf(Cmd({"python", "-m", "torch.distributed.launch", "train.py"}), ""), "torch.distributed.launch");
}

TEST(ProcessName, OtherPrograms) {
  const auto name = [](std::initializer_list<const char*> args) { return NameOf(Cmd(args), "comm"); };
  EXPECT_EQ(name({"./build/trainer", "--password=secret"}), "trainer");
  EXPECT_EQ(name({"bash", "run.sh", "secret"}), "run.sh");
  EXPECT_EQ(name({"/bin/sh", "-eu", "/x/run.sh"}), "run.sh");
  EXPECT_EQ(name({"bash", "-c", "echo secret"}), "bash");
  EXPECT_EQ(name({"-bash"}), "bash");
  EXPECT_EQ(name({"node", "--require", "secret", "x.js"}), "node") << "which of them is the script is not known";
  EXPECT_EQ(name({"pythonic"}), "pythonic");
}

TEST(ProcessName, TitlesLoseTheirArguments) {
  EXPECT_EQ(NameOf(Cmd({"trainer --token secret"}), "x"), "trainer");
  EXPECT_EQ(NameOf(Cmd({"nginx: worker process"}), "x"), "nginx");
  EXPECT_EQ(NameOf(Cmd({"ray::TrainWorker.step()"}), "x"), "ray::TrainWorker.step()");
  EXPECT_EQ(NameOf(std::string("train\0\0\0\0", 9), "x"), "train");
}

TEST(ProcessName, WithoutACommandLineItsOwnName) {
  EXPECT_EQ(NameOf("", "kworker/0:1"), "kworker/0:1");
  EXPECT_EQ(NameOf(Cmd({"\x1b[31mx"}), "x"), "?[31mx");
}

TEST(LoaderWorkers, ByTheirOwnName) {
  EXPECT_EQ(RoleOf(Cmd({"python", "train.py"}), "pt_data_worker"), Role::kNamedWorker);
  EXPECT_EQ(RoleOf(Cmd({"DataLoader worker 3"}), "python"), Role::kNamedWorker);
  EXPECT_EQ(RoleOf(Cmd({"ray::MapWorker()"}), "ray::MapWorker"), Role::kNamedWorker);
  EXPECT_EQ(RoleOf(Cmd({"python", "dataloader.py"}), "python"), Role::kPlain) << "an argument is no name";
}

TEST(LoaderWorkers, StartedByMultiprocessing) {
  const std::string spawn =
      Cmd({"python", "-c", "from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5)"});
  const std::string server = Cmd({"python", "-c", "from multiprocessing.forkserver import main; main(5, 6)"});
  const std::string tracker = Cmd({"python", "-c", "from multiprocessing.resource_tracker import main;main(3)"});
  const std::string train = Cmd({"python", "train.py"});
  const auto worker = [](const std::string& child, const std::string& parent) {
    return LooksLikeWorker(RoleOf(child, "python"), child, RoleOf(parent, "python"), parent);
  };
  EXPECT_TRUE(worker(spawn, train));
  EXPECT_FALSE(worker(tracker, train));
  EXPECT_FALSE(worker(server, train)) << "the server itself prepares nothing";
  EXPECT_TRUE(worker(server, server)) << "its children do";
}

TEST(LoaderWorkers, ForkedAndNotStarted) {
  const std::string train = Cmd({"python", "train.py"});
  EXPECT_TRUE(LooksLikeWorker(Role::kPlain, train, Role::kPlain, train));
  EXPECT_FALSE(LooksLikeWorker(Role::kPlain, Cmd({"ffmpeg"}), Role::kPlain, train));
  EXPECT_FALSE(LooksLikeWorker(Role::kPlain, "", Role::kPlain, "")) << "two unreadable ones are not alike";
  const std::string shell = Cmd({"bash", "run.sh"});
  EXPECT_FALSE(LooksLikeWorker(RoleOf(shell, "bash"), shell, RoleOf(shell, "bash"), shell)) << "a subshell";
}

TEST(LoaderWorkers, CompilersAreNone) {
  const std::string pool = Cmd({"python", "/x/torch/_inductor/compile_worker/__main__.py", "--workers=32"});
  EXPECT_FALSE(LooksLikeWorker(RoleOf(pool, "python"), pool, RoleOf(pool, "python"), pool));
}

}  // namespace
}  // namespace sawbill::host
