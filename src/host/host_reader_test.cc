// SPDX-License-Identifier: Apache-2.0
#include "host/host_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/numbers.h"

namespace sawbill::host {
namespace {

using model::HostMetric;

constexpr int64_t kSecond = 1'000'000;

class HostReaderTest : public testing::Test {
 protected:
  HostReaderTest() : reader_(&files_) {
    files_.Put("/sys/devices/system/cpu/online", "0-63\n");
    files_.Put("/proc/self/status", "Cpus_allowed_list:\t0-63\n");
    files_.Put("/proc/meminfo", "MemTotal: 2147483648 kB\nMemFree: 1 kB\nMemAvailable: 2105540608 kB\n");
    files_.Put("/proc/loadavg", "2.50 1.00 0.50 3/900 4711\n");
  }
  /// Ticks of each processor: busy, iowait, idle.
  struct Cpu {
    int id, busy, iowait, idle;
  };
  void PutStat(const std::vector<Cpu>& cpus) {
    std::string text = "cpu  0 0 0 0 0 0 0 0 0 0\n";
    for (const Cpu& c : cpus) text += fmt::format("cpu{} {} 0 0 {} {} 0 0 0 0 0\n", c.id, c.busy, c.idle, c.iowait);
    files_.Put("/proc/stat", text + "btime 1700000000\n");
  }
  /// 64 processors: the first `full` busy all the time, the others idle. After `s` seconds.
  void PutHost(int full, int s) {
    std::vector<Cpu> cpus;
    for (int id = 0; id < 64; ++id) cpus.push_back({id, id < full ? 100 * s : 0, 0, id < full ? 0 : 100 * s});
    PutStat(cpus);
  }
  void PutV2(const std::string& group) {
    files_.Put("/proc/self/mountinfo", "31 23 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    files_.Put("/proc/self/cgroup", "0::" + group + "\n");
  }
  double At(HostMetric m) const { return values_[static_cast<size_t>(m)]; }
  void Read(int s) { values_ = reader_.Read(s * kSecond); }

  sys::MemProcFiles files_;
  HostReader reader_;
  model::HostValues values_{};
};

TEST_F(HostReaderTest, NothingReadableIsAllMissing) {
  sys::MemProcFiles empty;
  HostReader reader(&empty);
  for (int s = 0; s < 3; ++s) {
    for (const double v : reader.Read(s * kSecond)) EXPECT_TRUE(IsMissing(v));
  }
}

TEST_F(HostReaderTest, RatesAreMissingAtFirst) {
  PutHost(2, 1);
  files_.Put("/proc/diskstats", "8 0 sda 1 0 8 0 1 0 8 0 0 5 5\n");
  files_.Put("/proc/net/dev", "eth0: 5 0 0 0 0 0 0 0 5 0\n");
  Read(1);
  for (const HostMetric m : {HostMetric::kCpuUtil, HostMetric::kCpuIowait, HostMetric::kDiskReadMbS,
                             HostMetric::kDiskUtil, HostMetric::kNetRxMbS}) {
    EXPECT_TRUE(IsMissing(At(m))) << static_cast<int>(m);
  }
  EXPECT_EQ(At(HostMetric::kCpuCount), 64);
  EXPECT_EQ(At(HostMetric::kLoad1), 2.5);
}

// Processors.

TEST_F(HostReaderTest, UnlimitedIsTheWholeMachine) {
  PutHost(32, 1);
  Read(1);
  PutHost(32, 2);
  Read(2);
  EXPECT_EQ(At(HostMetric::kCpuUtil), 50);
}

TEST_F(HostReaderTest, TwoOfSixtyFourProcessorsSaturatedAreHundredPercentOfACpusetOfTwo) {
  files_.Put("/proc/self/status", "Cpus_allowed_list:\t0-1\n");
  PutHost(2, 1);
  Read(1);
  PutHost(2, 2);
  Read(2);
  EXPECT_EQ(At(HostMetric::kCpuUtil), 100);
  EXPECT_EQ(At(HostMetric::kCpuCount), 2);
}

TEST_F(HostReaderTest, UnderAQuotaTheGroupsTimeCounts) {
  PutV2("/job");
  files_.Put("/sys/fs/cgroup/job/cpu.max", "50000 100000\n");
  files_.Put("/sys/fs/cgroup/job/cpu.stat", "user_usec 1\nusage_usec 1000000\n");
  PutHost(2, 1);
  Read(1);
  EXPECT_TRUE(IsMissing(At(HostMetric::kCpuUtil)));
  files_.Put("/sys/fs/cgroup/job/cpu.stat", "user_usec 1\nusage_usec 1500000\n");
  PutHost(2, 2);
  Read(2);
  EXPECT_EQ(At(HostMetric::kCpuUtil), 100) << "half a core in a second is all of half a core";
  EXPECT_EQ(At(HostMetric::kCpuCount), 0.5);
}

TEST_F(HostReaderTest, UnderAQuotaOfAnAncestorItsSiblingsCountToo) {
  PutV2("/pod/c1");
  files_.Put("/sys/fs/cgroup/pod/cpu.max", "400000 100000\n");
  files_.Put("/sys/fs/cgroup/pod/cpu.stat", "usage_usec 0\n");
  files_.Put("/sys/fs/cgroup/pod/c1/cpu.stat", "usage_usec 0\n");
  PutHost(2, 1);
  Read(1);
  files_.Put("/sys/fs/cgroup/pod/cpu.stat", "usage_usec 3000000\n");
  Read(2);
  EXPECT_EQ(At(HostMetric::kCpuUtil), 75);
}

TEST_F(HostReaderTest, QuotaOfVersion1CountsNanoseconds) {
  files_.Put("/proc/self/mountinfo", "34 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
  files_.Put("/proc/self/cgroup", "4:cpu,cpuacct:/a\n");
  files_.Put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "200000\n");
  files_.Put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  files_.Put("/sys/fs/cgroup/cpu/a/cpuacct.usage", "7000000000\n");
  Read(1);
  files_.Put("/sys/fs/cgroup/cpu/a/cpuacct.usage", "8000000000\n");
  Read(2);
  EXPECT_EQ(At(HostMetric::kCpuUtil), 50);
  EXPECT_TRUE(IsMissing(At(HostMetric::kCpuIowait))) << "whose wait it was cannot be told";
}

TEST_F(HostReaderTest, AGroupsTimeThatGoesBackIsMissing) {
  PutV2("/job");
  files_.Put("/sys/fs/cgroup/job/cpu.max", "100000 100000\n");
  files_.Put("/sys/fs/cgroup/job/cpu.stat", "usage_usec 5000000\n");
  Read(1);
  files_.Put("/sys/fs/cgroup/job/cpu.stat", "usage_usec 10\n");
  Read(2);
  EXPECT_TRUE(IsMissing(At(HostMetric::kCpuUtil)));
  files_.Put("/sys/fs/cgroup/job/cpu.stat", "usage_usec 500010\n");
  Read(3);
  EXPECT_NEAR(At(HostMetric::kCpuUtil), 50, 1e-6);
}

TEST_F(HostReaderTest, IowaitUnderAQuotaIsNoMoreThanTheGroupsOwnTasksWaited) {
  PutV2("/job");
  files_.Put("/proc/self/status", "Cpus_allowed_list:\t0-63\n");
  files_.Put("/sys/fs/cgroup/job/cpu.max", "200000 100000\n");
  files_.Put("/sys/fs/cgroup/job/cpu.stat", "usage_usec 0\n");
  files_.Put("/sys/fs/cgroup/job/io.pressure", "some avg10=10.00 avg60=0.00 avg300=0.00 total=0\n");
  std::vector<Cpu> start, later;
  for (int id = 0; id < 64; ++id) {
    start.push_back({id, 0, 0, 0});
    later.push_back({id, 0, 50, 50});  // the neighbours wait for their disk
  }
  PutStat(start);
  Read(1);
  PutStat(later);
  Read(2);
  EXPECT_EQ(At(HostMetric::kCpuIowait), 10);
}

TEST_F(HostReaderTest, IowaitThatGoesBackIsZeroNotNegative) {
  files_.Put("/proc/self/status", "Cpus_allowed_list:\t0\n");
  PutStat({{0, 100, 50, 100}});
  Read(1);
  PutStat({{0, 150, 40, 150}});
  Read(2);
  EXPECT_EQ(At(HostMetric::kCpuIowait), 0);
  EXPECT_EQ(At(HostMetric::kCpuUtil), 50);
}

TEST_F(HostReaderTest, ProcessorsComeAndGoById) {
  files_.Put("/proc/self/status", "Cpus_allowed_list:\t0-3\n");
  files_.Put("/sys/devices/system/cpu/online", "0-3\n");
  PutStat({{0, 0, 0, 0}, {1, 0, 0, 0}, {2, 0, 0, 0}, {3, 0, 0, 0}});
  Read(1);
  PutStat({{0, 100, 0, 0}, {2, 0, 0, 100}, {3, 0, 0, 100}});  // 1 was unplugged
  Read(2);
  EXPECT_NEAR(At(HostMetric::kCpuUtil), 33.3, 0.1);
  PutStat({{0, 200, 0, 0}, {1, 5, 0, 0}, {2, 100, 0, 100}, {3, 0, 0, 200}});
  Read(3);
  EXPECT_NEAR(At(HostMetric::kCpuUtil), 66.7, 0.1) << "one that was not there a moment ago says nothing yet";
}

TEST_F(HostReaderTest, CountersThatBeginAnewAreMissing) {
  files_.Put("/proc/self/status", "Cpus_allowed_list:\t0\n");
  PutStat({{0, 900, 0, 900}});
  Read(1);
  PutStat({{0, 5, 0, 5}});
  Read(2);
  EXPECT_TRUE(IsMissing(At(HostMetric::kCpuUtil)));
}

TEST_F(HostReaderTest, LxcfsLinesAreOursThoughNumberedAnew) {
  files_.Put("/proc/self/status", "Cpus_allowed_list:\t32-33\n");
  files_.Put("/sys/devices/system/cpu/online", "0-1\n");
  PutStat({{0, 0, 0, 0}, {1, 0, 0, 0}});
  Read(1);
  PutStat({{0, 100, 0, 0}, {1, 50, 0, 50}});
  Read(2);
  EXPECT_EQ(At(HostMetric::kCpuUtil), 75);
}

// Memory. The same name must never mean the card's memory: a page cache of 40 GB on a host of 2 TB is 2 %.

TEST_F(HostReaderTest, MemoryIsTotalLessAvailableInMebibytes) {
  Read(1);
  EXPECT_EQ(At(HostMetric::kMemTotalMb), 2097152) << "2 TiB";
  EXPECT_EQ(At(HostMetric::kMemUsedMb), 40960);
  EXPECT_NEAR(100 * At(HostMetric::kMemUsedMb) / At(HostMetric::kMemTotalMb), 2, 0.1);
}

TEST_F(HostReaderTest, UnderALimitTheFileCacheIsNotInUse) {
  PutV2("/job");
  files_.Put("/sys/fs/cgroup/job/memory.max", "8589934592\n");
  files_.Put("/sys/fs/cgroup/job/memory.current", "8589934592\n");
  files_.Put(
      "/sys/fs/cgroup/job/memory.stat",
      "anon 1073741824\nfile 6442450944\ninactive_file 5368709120\nactive_file 1073741824\nslab_reclaimable 1048576\n");
  Read(1);
  EXPECT_EQ(At(HostMetric::kMemTotalMb), 8192);
  EXPECT_EQ(At(HostMetric::kMemUsedMb), 2047);
}

TEST_F(HostReaderTest, MemoryLimitOfVersion1AndNoLimit) {
  files_.Put("/proc/self/mountinfo", "34 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  files_.Put("/proc/self/cgroup", "4:memory:/a\n");
  files_.Put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  files_.Put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n");
  files_.Put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "734003200\n");
  files_.Put("/sys/fs/cgroup/memory/a/memory.stat",
             "inactive_file 1\ntotal_inactive_file 104857600\ntotal_active_file 0\n");
  Read(1);
  EXPECT_EQ(At(HostMetric::kMemTotalMb), 1024);
  EXPECT_EQ(At(HostMetric::kMemUsedMb), 600);
  files_.Put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  Read(100);
  EXPECT_EQ(At(HostMetric::kMemTotalMb), 2097152);
}

// Disks and network: MB/s of a million bytes.

TEST_F(HostReaderTest, DiskRatesAndTheBusiestDisk) {
  for (const char* d : {"sda", "sdb", "dm-0"}) files_.Put(std::string("/sys/block/") + d + "/size", "1");
  files_.Put("/proc/diskstats",
             "8 0 sda 0 0 0 0 0 0 0 0 0 0 0\n8 1 sda1 0 0 0 0 0 0 0 0 0 0 0\n8 16 sdb 0 0 0 0 0 0 0 0 0 0 0\n"
             "253 0 dm-0 0 0 0 0 0 0 0 0 0 0 0\n");
  Read(1);
  files_.Put("/proc/diskstats",
             "8 0 sda 9 0 1000000 0 0 0 0 0 0 500 0\n8 1 sda1 9 0 1000000 0 0 0 0 0 0 500 0\n"
             "8 16 sdb 0 0 0 0 9 0 2000000 0 0 900 0\n253 0 dm-0 9 0 1000000 0 9 0 2000000 0 0 999 0\n");
  Read(3);
  EXPECT_EQ(At(HostMetric::kDiskReadMbS), 256);
  EXPECT_EQ(At(HostMetric::kDiskWriteMbS), 512);
  EXPECT_EQ(At(HostMetric::kDiskUtil), 45);
}

TEST_F(HostReaderTest, DiskMillisecondsWrapAtThirtyTwoBits) {
  files_.Put("/proc/diskstats", "8 0 sda 0 0 0 0 0 0 0 0 0 4294967196 0\n");
  Read(1);
  files_.Put("/proc/diskstats", "8 0 sda 0 0 0 0 0 0 0 0 0 400 0\n");
  Read(2);
  EXPECT_EQ(At(HostMetric::kDiskUtil), 50);
}

TEST_F(HostReaderTest, ADiskThatWasPluggedInAgainIsMissingForOneSample) {
  files_.Put("/proc/diskstats", "8 0 sda 0 0 5000 0 0 0 5000 0 0 7000 0\n");
  Read(1);
  files_.Put("/proc/diskstats", "8 0 sda 0 0 10 0 0 0 10 0 0 5 0\n");
  Read(2);
  EXPECT_TRUE(IsMissing(At(HostMetric::kDiskReadMbS)));
  EXPECT_TRUE(IsMissing(At(HostMetric::kDiskUtil)));
  files_.Put("/proc/diskstats", "8 0 sda 0 0 10 0 0 0 10 0 0 5 0\n");
  Read(3);
  EXPECT_EQ(At(HostMetric::kDiskReadMbS), 0);
}

TEST_F(HostReaderTest, OnTheHostOnlyInterfacesWithHardwareCount) {
  files_.PutLink("/sys/class/net/eth0/device", "../../../virtio2");
  const char* before =
      "lo: 0 0 0 0 0 0 0 0 0\neth0: 0 0 0 0 0 0 0 0 0\nbond0: 0 0 0 0 0 0 0 0 0\nveth1: 0 0 0 0 0 0 0 0 0\n";
  files_.Put("/proc/net/dev", before);
  Read(1);
  files_.Put("/proc/net/dev",
             "lo: 9000000 0 0 0 0 0 0 0 9000000\neth0: 3000000 0 0 0 0 0 0 0 1000000\n"
             "bond0: 3000000 0 0 0 0 0 0 0 1000000\nveth1: 3000000 0 0 0 0 0 0 0 1000000\n");
  Read(2);
  EXPECT_EQ(At(HostMetric::kNetRxMbS), 3);
  EXPECT_EQ(At(HostMetric::kNetTxMbS), 1);
}

TEST_F(HostReaderTest, InAContainerTheCableWithoutHardwareCounts) {
  files_.Put("/proc/net/dev", "lo: 0 0 0 0 0 0 0 0 0\neth0: 0 0 0 0 0 0 0 0 0\n");
  Read(1);
  files_.Put("/proc/net/dev", "lo: 5000000 0 0 0 0 0 0 0 0\neth0: 2000000 0 0 0 0 0 0 0 0\n");
  Read(2);
  EXPECT_EQ(At(HostMetric::kNetRxMbS), 2);
  files_.Put("/proc/net/dev", "lo: 5000000 0 0 0 0 0 0 0 0\neth0: 100 0 0 0 0 0 0 0 0\n");
  Read(3);
  EXPECT_TRUE(IsMissing(At(HostMetric::kNetRxMbS))) << "never negative";
}

// Pressure.

TEST_F(HostReaderTest, PressureOfTheMachineOrOfTheGroupThatIsLimited) {
  for (const char* what : {"cpu", "io", "memory"}) {
    files_.Put(std::string("/proc/pressure/") + what, "some avg10=1.50 avg60=0 avg300=0 total=0\n");
  }
  Read(1);
  EXPECT_EQ(At(HostMetric::kPsiCpuSome), 1.5);
  EXPECT_EQ(At(HostMetric::kPsiIoSome), 1.5);
  EXPECT_EQ(At(HostMetric::kPsiMemSome), 1.5);
  PutV2("/job");
  files_.Put("/sys/fs/cgroup/job/cpu.max", "100000 100000\n");
  files_.Put("/sys/fs/cgroup/job/cpu.pressure", "some avg10=80.00 avg60=0 avg300=0 total=0\n");
  Read(100);
  EXPECT_EQ(At(HostMetric::kPsiCpuSome), 80);
  EXPECT_EQ(At(HostMetric::kPsiIoSome), 1.5) << "the group has none of its own";
}

// Cost.

TEST_F(HostReaderTest, WhatSeldomChangesIsReadOnceAMinute) {
  Read(1);
  const int64_t first = files_.reads();
  Read(2);
  const int64_t tick = files_.reads() - first;
  EXPECT_LE(tick, 9);
  for (int s = 3; s < 61; ++s) Read(s);
  EXPECT_EQ(files_.reads(), first + 59 * tick);
  files_.Put("/proc/self/status", "Cpus_allowed_list:\t0-1\n");
  Read(61);
  EXPECT_EQ(At(HostMetric::kCpuCount), 2);
}

}  // namespace
}  // namespace sawbill::host
