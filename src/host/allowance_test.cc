// SPDX-License-Identifier: Apache-2.0
// Cores that a process may use. The host's count instead of the container's makes every advice about workers wrong.
#include <gtest/gtest.h>

#include "host/host_reader.h"

namespace sawbill::host {
namespace {

using Limit = Allowance::Limit;

class AllowanceTest : public testing::Test {
 protected:
  AllowanceTest() {
    files_.Put("/sys/devices/system/cpu/online", "0-63\n");
    Affinity("0-63");
  }
  void Affinity(const std::string& list) {
    files_.Put("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t" + list + "\n");
  }
  void V2(const std::string& group) {
    files_.Put("/proc/self/mountinfo", "31 23 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
    files_.Put("/proc/self/cgroup", "0::" + group + "\n");
  }
  void V1(const std::string& group, const std::string& root) {
    files_.Put("/proc/self/mountinfo",
               "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
               "34 31 0:30 " +
                   root +
                   " /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
                   "35 31 0:31 " +
                   root + " /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n");
    files_.Put("/proc/self/cgroup", "4:cpu,cpuacct:" + group + "\n3:cpuset:" + group + "\n1:name=systemd:/x\n");
  }
  Allowance Read() { return ReadAllowance(&files_, "self"); }

  sys::MemProcFiles files_;
};

TEST_F(AllowanceTest, WithoutALimitAllOnlineCoresAreAllowed) {
  EXPECT_EQ(Read().cores, 64);
  EXPECT_EQ(Read().host_cores, 64);
  EXPECT_EQ(Read().limit, Limit::kNone);
}

TEST_F(AllowanceTest, NothingReadableIsUnknown) {
  sys::MemProcFiles empty;
  const Allowance a = ReadAllowance(&empty, "self");
  EXPECT_EQ(a.cores, 0);
  EXPECT_EQ(a.physical_cores, 0);
}

TEST_F(AllowanceTest, QuotaOfVersion2) {
  V2("/");
  files_.Put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(Read().cores, 2);
  EXPECT_EQ(Read().limit, Limit::kQuota);
  files_.Put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(Read().cores, 0.5);
  files_.Put("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(Read().cores, 64);
  EXPECT_EQ(Read().limit, Limit::kNone);
}

TEST_F(AllowanceTest, TheTightestLevelCounts) {
  V2("/kubepods/pod1/c1");
  files_.Put("/sys/fs/cgroup/kubepods/cpu.max", "3200000 100000\n");
  files_.Put("/sys/fs/cgroup/kubepods/pod1/cpu.max", "400000 100000\n");
  files_.Put("/sys/fs/cgroup/kubepods/pod1/c1/cpu.max", "max 100000\n");
  EXPECT_EQ(Read().cores, 4);
}

TEST_F(AllowanceTest, QuotaMaxAndCpusetLimits) {
  V2("/c1");
  Affinity("0-1");
  files_.Put("/sys/fs/cgroup/c1/cpu.max", "max 100000\n");
  files_.Put("/sys/fs/cgroup/c1/cpuset.cpus.effective", "0-1\n");
  EXPECT_EQ(Read().cores, 2);
  EXPECT_EQ(Read().limit, Limit::kCpuset);
}

TEST_F(AllowanceTest, CpusetWithGaps) {
  V2("/c1");
  Affinity("0-1,8");
  files_.Put("/sys/fs/cgroup/c1/cpuset.cpus.effective", "0-1,8\n");
  EXPECT_EQ(Read().cores, 3);
  EXPECT_EQ(Read().limit, Limit::kCpuset);
}

TEST_F(AllowanceTest, AffinityInsideOfALargerCpuset) {
  V2("/c1");
  Affinity("0");
  files_.Put("/sys/fs/cgroup/c1/cpuset.cpus.effective", "0-7\n");
  EXPECT_EQ(Read().cores, 1);
  EXPECT_EQ(Read().limit, Limit::kAffinity);
}

TEST_F(AllowanceTest, QuotaAboveTheAffinityDoesNotCount) {
  V2("/c1");
  Affinity("0-1");
  files_.Put("/sys/fs/cgroup/c1/cpu.max", "800000 100000\n");
  EXPECT_EQ(Read().cores, 2);
}

TEST_F(AllowanceTest, QuotaOfVersion1InAContainerWhoseFolderIsItsGroup) {
  V1("/docker/3f2a", "/docker/3f2a");
  files_.Put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
  files_.Put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Read().cores, 2);
  files_.Put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(Read().cores, 64);
}

TEST_F(AllowanceTest, QuotaOfVersion1OnTheHost) {
  V1("/slurm/uid_7/job_9", "/");
  files_.Put("/sys/fs/cgroup/cpu,cpuacct/slurm/uid_7/job_9/cpu.cfs_quota_us", "50000\n");
  files_.Put("/sys/fs/cgroup/cpu,cpuacct/slurm/uid_7/job_9/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Read().cores, 0.5);
}

TEST_F(AllowanceTest, HybridHostsLimitByVersion1) {
  files_.Put("/proc/self/mountinfo",
             "34 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
             "41 31 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  files_.Put("/proc/self/cgroup", "1:cpu:/a\n0::/a\n");
  files_.Put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n");
  files_.Put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  files_.Put("/sys/fs/cgroup/unified/a/cpu.max", "100000 100000\n");
  EXPECT_EQ(Read().cores, 3);
}

TEST_F(AllowanceTest, AGroupOutsideOfTheNamespaceHasNoVisibleQuota) {
  V2("/../other");
  files_.Put("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(Read().cores, 64);
}

TEST_F(AllowanceTest, WithoutMountinfoTheUsualFolderIsTried) {
  files_.Put("/proc/self/cgroup", "0::/kube/pod\n");
  files_.Put("/sys/fs/cgroup/kube/cpu.max", "400000 100000\n");
  EXPECT_EQ(Read().cores, 4);
}

TEST_F(AllowanceTest, ProcessorsThatCouldBePluggedInDoNotCount) {
  files_.Put("/sys/devices/system/cpu/online", "0-1\n");
  Affinity("0-127");
  EXPECT_EQ(Read().cores, 2);
  EXPECT_EQ(Read().limit, Limit::kNone);
}

TEST_F(AllowanceTest, LxcfsNumbersAnew) {
  files_.Put("/sys/devices/system/cpu/online", "0-3\n");
  Affinity("32-35");
  EXPECT_EQ(Read().cores, 4);
}

TEST_F(AllowanceTest, PhysicalCoresAreCountedByPackageDieAndCore) {
  files_.Put("/sys/devices/system/cpu/online", "0-3\n");
  Affinity("0-3");
  const auto put = [&](int cpu, const char* package, const char* core) {
    const std::string dir = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    files_.Put(dir + "physical_package_id", package);
    files_.Put(dir + "core_id", core);
  };
  put(0, "0\n", "0\n");
  put(1, "0\n", "0\n");
  put(2, "1\n", "0\n");
  put(3, "1\n", "1\n");
  EXPECT_EQ(Read().physical_cores, 3);
  files_.Remove("/sys/devices/system/cpu/cpu3");
  EXPECT_EQ(Read().physical_cores, 0) << "unknown of one, unknown of all";
}

}  // namespace
}  // namespace sawbill::host
