// SPDX-License-Identifier: Apache-2.0
#include "host/job_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sawbill::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Environ(std::initializer_list<const char*> pairs) {
  std::string text;
  for (const char* p : pairs) text += std::string(p) + '\0';
  return text;
}
const std::string kHex = "3f2a00112233445566778899aabbccddeeff00112233445566778899aabbccdd";

TEST(JobIdentity, NothingKnownIsEmpty) {
  for (const std::string& text : {std::string(), Environ({"PATH=/bin", "JOB_ID=5", "=x", "HOME"})}) {
    const JobIdentity i = IdentifyFrom(text, "0::/user.slice/session-3.scope\n");
    EXPECT_EQ(i.job, "");
    EXPECT_EQ(i.source, "");
    EXPECT_FALSE(i.has_visible_devices);
  }
}

TEST(JobIdentity, TheOwnersWordComesFirst) {
  const JobIdentity i = IdentifyFrom(
      Environ({"SLURM_JOB_ID=77", "SAWBILL_JOB=night run", "SAWBILL_PROJECT=vision", "SLURM_JOB_ACCOUNT=lab"}), "");
  EXPECT_EQ(i.job, "night run");
  EXPECT_EQ(i.source, "environment");
  EXPECT_EQ(i.project, "vision");
}

TEST(JobIdentity, Schedulers) {
  struct Case {
    std::string environ_text, job, source;
  };
  const Case cases[] = {
      {Environ({"SLURM_JOB_ID=77"}), "77", "slurm"},
      {Environ({"SLURM_JOBID=78"}), "78", "slurm"},
      {Environ({"SLURM_JOB_ID=80", "SLURM_ARRAY_JOB_ID=79", "SLURM_ARRAY_TASK_ID=0"}), "79_0", "slurm"},
      {Environ({"PBS_JOBID=12.head"}), "12.head", "pbs"},
      {Environ({"LSB_JOBID=5", "LSB_JOBINDEX=0"}), "5", "lsf"},
      {Environ({"LSB_JOBID=5", "LSB_JOBINDEX=3"}), "5[3]", "lsf"},
      {Environ({"JOB_ID=9", "SGE_ROOT=/sge", "SGE_TASK_ID=undefined"}), "9", "sge"},
      {Environ({"JOB_ID=9", "SGE_ROOT=/sge", "SGE_TASK_ID=4"}), "9.4", "sge"},
      {Environ({"FLUX_JOB_ID=f23"}), "f23", "flux"},
      {Environ({"WANDB_RUN_ID=abc", "TORCHELASTIC_RUN_ID=x"}), "abc", "wandb"},
      {Environ({"MLFLOW_RUN_ID=m1"}), "m1", "mlflow"},
      {Environ({"TORCHELASTIC_RUN_ID=el"}), "el", "torchelastic"},
      {Environ({"TORCHELASTIC_RUN_ID=none"}), "", ""},
  };
  for (const Case& c : cases) {
    const JobIdentity i = IdentifyFrom(c.environ_text, "");
    EXPECT_EQ(i.job, c.job) << c.environ_text;
    EXPECT_EQ(i.source, c.source) << c.environ_text;
  }
}

TEST(JobIdentity, SlurmByCgroup) {
  for (const char* group : {"0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n",
                            "0::/system.slice/n1_slurmstepd.scope/job_4711/step_batch/user/task_0\n",
                            "7:memory:/slurm/uid_1000/job_4711/step_0\n6:cpu:/\n"}) {
    EXPECT_EQ(IdentifyFrom("", group).job, "4711") << group;
  }
  EXPECT_EQ(IdentifyFrom("", "0::/home/job_5/x\n").job, "") << "no Slurm in sight";
  EXPECT_EQ(IdentifyFrom("", "0::/system.slice/slurmstepd.scope/sABCDEF1234567/step_0\n").job, "") << "a token";
}

TEST(JobIdentity, Containers) {
  struct Case {
    std::string group, source;
  };
  const Case cases[] = {
      {"4:cpu:/docker/" + kHex + "\n", "docker"},
      {"0::/system.slice/docker-" + kHex + ".scope\n", "docker"},
      {"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kHex + ".scope\n", "podman"},
  };
  for (const Case& c : cases) {
    const JobIdentity i = IdentifyFrom("", c.group);
    EXPECT_EQ(i.job, "3f2a00112233") << c.group;
    EXPECT_EQ(i.container, "3f2a00112233");
    EXPECT_EQ(i.source, c.source);
  }
  EXPECT_EQ(IdentifyFrom("", "0::/libpod-conmon-" + kHex + ".scope\n").job, "") << "the container's watcher";
  EXPECT_EQ(IdentifyFrom("", "0::/docker/3f2a\n").job, "");
}

TEST(JobIdentity, Kubernetes) {
  const std::string systemd =
      "0::/kubepods.slice/kubepods-burstable.slice/"
      "kubepods-burstable-pod1b2c3d4e_0000_1111_2222_333344445555.slice/cri-containerd-" +
      kHex + ".scope\n";
  const std::string cgroupfs = "4:cpu:/kubepods/besteffort/pod1b2c3d4e-0000-1111-2222-333344445555/" + kHex + "\n";
  for (const std::string& group : {systemd, cgroupfs}) {
    const JobIdentity i = IdentifyFrom("", group);
    EXPECT_EQ(i.job, "1b2c3d4e-0000-1111-2222-333344445555");
    EXPECT_EQ(i.source, "kubernetes");
    EXPECT_EQ(i.container, "3f2a00112233");
    EXPECT_EQ(IdentifyFrom(Environ({"POD_NAME=train-0", "POD_NAMESPACE=ml"}), group).job, "ml/train-0");
  }
  EXPECT_EQ(IdentifyFrom(Environ({"KUBERNETES_SERVICE_HOST=10.0.0.1", "HOSTNAME=train-x7k2p"}), "0::/\n").job,
            "train-x7k2p");
}

TEST(JobIdentity, APodOnItsNodesNetworkHasTheNodesNameNotItsOwn) {
  sys::MemProcFiles files;
  files.Put("/proc/9/environ", Environ({"KUBERNETES_SERVICE_HOST=10.0.0.1", "HOSTNAME=node-7"}));
  files.Put("/proc/9/cgroup", "4:cpu:/kubepods/pod1b2c3d4e-0000-1111-2222-333344445555/" + kHex + "\n");
  files.PutLink("/proc/9/ns/net", "net:[1]");
  files.PutLink("/proc/1/ns/net", "net:[1]");
  EXPECT_EQ(Identify(&files, 9).job, "1b2c3d4e-0000-1111-2222-333344445555");
  files.PutLink("/proc/9/ns/net", "net:[2]");
  EXPECT_EQ(Identify(&files, 9).job, "node-7");
}

TEST(JobIdentity, OnlyTheListIsKeptAndNothingThatATerminalObeys) {
  const JobIdentity i = IdentifyFrom(
      Environ({"AWS_SECRET_ACCESS_KEY=hunter2", "SAWBILL_JOB=a\x1b[31mb", "RANK=3", "WORLD_SIZE=8", "MASTER_ADDR=n1"}),
      "");
  EXPECT_EQ(i.job, "a?[31mb");
  EXPECT_EQ(i.rank, "3");
  EXPECT_EQ(i.world_size, "8");
  EXPECT_EQ(i.master, "n1");
  const std::string all = i.job + i.source + i.project + i.user + i.container + i.rank + i.visible_devices + i.master;
  EXPECT_EQ(all.find("hunter2"), std::string::npos);
  EXPECT_EQ(IdentifyFrom(Environ({("SAWBILL_JOB=" + std::string(5000, 'x')).c_str()}), "").job.size(), 128U);
}

TEST(JobIdentity, VisibleDevicesSetToNothingIsNotUnset) {
  const JobIdentity i = IdentifyFrom(Environ({"CUDA_VISIBLE_DEVICES="}), "");
  EXPECT_TRUE(i.has_visible_devices);
  EXPECT_EQ(i.visible_devices, "");
}

TEST(JobIdentity, AProcessThatIsGoneHasNone) {
  sys::MemProcFiles files;
  EXPECT_EQ(Identify(&files, 12).job, "");
}

// CUDA_VISIBLE_DEVICES.

const std::vector<VisibleCard> kAlike = {
    {"GPU-abc1", "H100"}, {"GPU-abd2", "H100"}, {"GPU-eee3", "H100"}, {"GPU-fff4", "H100"}};
const std::vector<VisibleCard> kMixed = {
    {"GPU-a", "Tesla P40"}, {"GPU-b", "Tesla P40"}, {"GPU-c", "Tesla P40"}, {"GPU-d", "RTX 3090"}};

TEST(VisibleDevices, IndicesWhereAllCardsAreAlike) {
  EXPECT_THAT(ResolveVisible("0", "", kAlike).cards, ElementsAre(0U));
  EXPECT_THAT(ResolveVisible("1,0", "", kAlike).cards, ElementsAre(1U, 0U));
  EXPECT_THAT(ResolveVisible(" 2 , 3", "", kAlike).cards, ElementsAre(2U, 3U));
}

TEST(VisibleDevices, StopAtTheFirstThatNamesNothing) {
  EXPECT_THAT(ResolveVisible("3,9", "", kAlike).cards, ElementsAre(3U));
  EXPECT_THAT(ResolveVisible("9,3", "", kAlike).cards, IsEmpty());
  EXPECT_THAT(ResolveVisible("1,-1,2", "", kAlike).cards, ElementsAre(1U));
}

TEST(VisibleDevices, NoneIsCertain) {
  for (const char* value : {"", "-1", "NoDevFiles", ","}) {
    for (const auto& cards : {kAlike, kMixed}) {
      const Visible v = ResolveVisible(value, "", cards);
      EXPECT_TRUE(v.certain) << value;
      EXPECT_THAT(v.cards, IsEmpty()) << value;
    }
  }
}

TEST(VisibleDevices, FastestFirstOfMixedCardsIsUnknown) {
  const Visible v = ResolveVisible("0", "", kMixed);
  EXPECT_FALSE(v.certain);
  EXPECT_THAT(v.cards, IsEmpty());
  EXPECT_THAT(ResolveVisible("0", "PCI_BUS_ID", kMixed).cards, ElementsAre(0U));
  EXPECT_FALSE(ResolveVisible("0", "FASTEST_FIRST", kMixed).certain);
}

TEST(VisibleDevices, UuidsByTheirBeginning) {
  EXPECT_THAT(ResolveVisible("GPU-d", "", kMixed).cards, ElementsAre(3U));
  EXPECT_THAT(ResolveVisible("GPU-eee3,GPU-abc", "", kAlike).cards, ElementsAre(2U, 0U));
  EXPECT_THAT(ResolveVisible("GPU-fff,GPU-zzz,GPU-abc", "", kAlike).cards, ElementsAre(3U));
  EXPECT_FALSE(ResolveVisible("GPU-ab", "", kAlike).certain) << "two begin so";
}

TEST(VisibleDevices, MigInstances) {
  const std::vector<VisibleCard> cards = {
      {"GPU-a", "A100"}, {"MIG-1", "A100 MIG 3g.20gb"}, {"MIG-2", "A100 MIG 3g.20gb"}};
  EXPECT_THAT(ResolveVisible("MIG-2,MIG-1", "", cards).cards, ElementsAre(2U)) << "a process sees one";
  EXPECT_FALSE(ResolveVisible("MIG-9", "", cards).certain);
  EXPECT_FALSE(ResolveVisible("0", "PCI_BUS_ID", cards).certain);
}

TEST(VisibleDevices, WithoutCardsNothingIsVisible) {
  EXPECT_TRUE(ResolveVisible("0", "", {}).certain);
  EXPECT_THAT(ResolveVisible("0", "", {}).cards, IsEmpty());
}

}  // namespace
}  // namespace sawbill::host
