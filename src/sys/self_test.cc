// SPDX-License-Identifier: Apache-2.0
#include "sys/self.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "sys/file.h"

namespace sawbill::sys {
namespace {

class FakeProcTest : public testing::Test {
 protected:
  void SetUp() override {
    char dir[] = "/tmp/sawbill_self_test_XXXXXX";
    ASSERT_NE(::mkdtemp(dir), nullptr);
    root_ = dir;
    ASSERT_TRUE(fs_->MakeDirs(root_ + "/self/fd").ok());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(fs_->WriteAtomically(root_ + "/self/" + name, text).ok());
  }

  std::string root_;
  std::unique_ptr<FileSystem> fs_ = MakeRealFileSystem();
};

TEST_F(FakeProcTest, ReadsWhatIsThere) {
  Write("stat", "42 (a) b) c) R 1 2 3 4 5 6 7 8 9 10 250 150 0 0 20 0 1 0 100\n");
  Write("status", "Name:\tx\nVmHWM:\t    2000 kB\nVmRSS:\t    1000 kB\nRssAnon:\t     300 kB\n");
  for (const char* fd : {"fd/0", "fd/1", "fd/2"}) Write(fd, "");
  const SelfUsage usage = ReadSelfUsage(root_);
  EXPECT_DOUBLE_EQ(usage.cpu_seconds.value(), 400.0 / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(usage.rss_bytes, 1'024'000);
  EXPECT_EQ(usage.peak_rss_bytes, 2'048'000);
  EXPECT_EQ(usage.anonymous_bytes, 300 * 1024);
  EXPECT_EQ(usage.open_fds, 3);
}

TEST_F(FakeProcTest, WhatIsNotTellableIsAbsent) {
  Write("stat", "42 (x) R 1 2");
  Write("status", "VmRSS:\tlots\nVmHWM:\t-1 kB\n");
  const SelfUsage usage = ReadSelfUsage(root_);
  EXPECT_FALSE(usage.cpu_seconds.has_value());
  EXPECT_FALSE(usage.rss_bytes.has_value());
  EXPECT_FALSE(usage.peak_rss_bytes.has_value());
  EXPECT_FALSE(usage.anonymous_bytes.has_value());
  const SelfUsage nothing = ReadSelfUsage(root_ + "/none");
  EXPECT_FALSE(nothing.cpu_seconds.has_value());
  EXPECT_FALSE(nothing.open_fds.has_value());
}

TEST(SelfTest, ThisProcess) {
  if (::access("/proc/self/stat", R_OK) != 0) GTEST_SKIP() << "no /proc here";
  const SelfUsage before = ReadSelfUsage();
  EXPECT_GE(before.cpu_seconds.value(), 0.0);
  EXPECT_GT(before.rss_bytes.value(), 1 << 20);
  EXPECT_GE(before.peak_rss_bytes.value(), before.rss_bytes.value() / 2);
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(ReadSelfUsage().open_fds.value(), before.open_fds.value() + 1);
  ::close(fd);
  EXPECT_EQ(ReadSelfUsage().open_fds, before.open_fds);
}

}  // namespace
}  // namespace sawbill::sys
