// SPDX-License-Identifier: Apache-2.0
#include "host/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/numbers.h"

namespace sawbill::host {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const auto kAny = [](std::string_view) { return true; };

TEST(CpuLines, GuestTimeIsNotAddedTwiceAndStealIsBusy) {
  const auto cpus = ParseCpuLines("cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 100 20 30 400 50 6 7 8 90 10\nintr 5 cpu9\n");
  ASSERT_THAT(cpus, SizeIs(1));
  EXPECT_EQ(cpus[0].busy, 100U + 20 + 30 + 6 + 7 + 8);
  EXPECT_EQ(cpus[0].idle, 400U);
  EXPECT_EQ(cpus[0].iowait, 50U);
}

TEST(CpuLines, OldKernelsHaveFewerFields) {
  const auto cpus = ParseCpuLines("cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu7 1 2\n");
  ASSERT_THAT(cpus, SizeIs(1)) << "three fields are no line";
  EXPECT_EQ(cpus[0].busy, 6U);
  EXPECT_EQ(cpus[0].iowait, 0U);
}

TEST(BootTime, StandsBehindTheProcessors) {
  EXPECT_EQ(ParseBootTime("cpu  1 2 3 4\nctxt 5\nbtime 1700000000\n"), 1.7e9);
  EXPECT_EQ(ParseBootTime("cpu  1 2 3 4\n"), 0);
}

TEST(Disks, FourteenEighteenAndTwentyColumns) {
  const auto disks = ParseDisks(
      "   8  0 sda 1 2 300 4 5 6 700 8 0 99 11\n"
      " 259  0 nvme0n1 1 2 301 4 5 6 701 8 0 98 11 1 2 3 4\n"
      " 254  0 vda 1 2 302 4 5 6 702 8 0 97 11 1 2 3 4 5 6\n"
      " 254  1 torn 1 2 302 4\n",
      kAny);
  ASSERT_THAT(disks, SizeIs(3));
  EXPECT_EQ(disks[0].read_sectors, 300U);
  EXPECT_EQ(disks[1].written_sectors, 701U);
  EXPECT_EQ(disks[2].busy_ms, 97U);
}

TEST(Disks, OnlyWholeOnesThatStandOnNoOther) {
  EXPECT_THAT(WholeDisks({"loop0", "sda", "zram0", "dm-0", "md127", "nvme0n1", "sr0", "cciss!c0d0", "bcache0"}, ""),
              UnorderedElementsAre("sda", "nvme0n1", "cciss/c0d0"));
}

TEST(Disks, WithoutSysfsPartitionsAreToldByName) {
  const char* stats =
      "8 0 sda 1 1 1 1 1 1 1 1 1 1 1\n8 1 sda1 1 1 1 1 1 1 1 1 1 1 1\n8 16 sdaa 1 1 1 1 1 1 1 1 1 1 1\n"
      "259 0 nvme0n1 1 1 1 1 1 1 1 1 1 1 1\n259 1 nvme0n1p2 1 1 1 1 1 1 1 1 1 1 1\n7 0 loop0 1 1 1 1 1 1 1 1 1 1 1\n";
  EXPECT_THAT(WholeDisks({}, stats), UnorderedElementsAre("sda", "sdaa", "nvme0n1"));
}

TEST(Net, TheColonMayTouchTheNumber) {
  const auto nets = ParseNet(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
      "    lo:    3267      29    0    0    0     0          0         0     3267      29    0\n"
      "  eth0:20408345     499    0    0    0     0          0         0    28205     341    0\n"
      " torn: 1 2 3\n");
  ASSERT_THAT(nets, SizeIs(2));
  EXPECT_EQ(nets[1].name, "eth0");
  EXPECT_EQ(nets[1].rx_bytes, 20408345U);
  EXPECT_EQ(nets[1].tx_bytes, 28205U);
}

TEST(Pressure, IsTheTenSecondAverageOfTheSomeLine) {
  EXPECT_EQ(
      ParsePressure("some avg10=12.34 avg60=0.33 avg300=0.46 total=11\nfull avg10=9.00 avg60=0 avg300=0 total=0\n"),
      12.34);
  EXPECT_TRUE(IsMissing(ParsePressure("full avg10=9.00 avg60=0\n")));
  EXPECT_TRUE(IsMissing(ParsePressure("")));
}

}  // namespace
}  // namespace sawbill::host
