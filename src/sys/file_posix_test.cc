// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "sys/file.h"

namespace sawbill::sys {
namespace {

class PosixTest : public testing::Test {
 protected:
  void SetUp() override {
    char dir[] = "/tmp/sawbill_posix_test_XXXXXX";
    ASSERT_NE(::mkdtemp(dir), nullptr);
    root_ = dir;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string P(std::string_view name) const { return JoinPath(root_, name); }
  std::string Read(const std::string& path) {
    const auto bytes = fs_->Map(path);
    return bytes.ok() ? std::string((*bytes)->bytes()) : "error: " + bytes.status().message();
  }

  std::string root_;
  std::unique_ptr<FileSystem> fs_ = MakeRealFileSystem();
};

TEST_F(PosixTest, FilesOfProcAreReadThoughTheirSizeIsZero) {
  EXPECT_NE(Read("/proc/self/status").find("VmRSS"), std::string::npos);
  EXPECT_EQ(Read("/dev/null"), "");
}

TEST_F(PosixTest, PipesAreRead) {
  ASSERT_EQ(::mkfifo(P("pipe").c_str(), 0600), 0);
  std::thread writer([&] {
    const int fd = ::open(P("pipe").c_str(), O_WRONLY);
    const std::string data(300'000, 'p');
    for (size_t done = 0; done < data.size();) {
      const ssize_t n = ::write(fd, data.data() + done, data.size() - done);
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    ::close(fd);
  });
  EXPECT_EQ(Read(P("pipe")).size(), 300'000u);
  writer.join();
}

TEST_F(PosixTest, AtomicWriteKeepsTheModeAndTheLink) {
  ASSERT_TRUE(fs_->WriteAtomically(P("real"), "old").ok());
  ASSERT_EQ(::chmod(P("real").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("real", P("link").c_str()), 0);
  ASSERT_TRUE(fs_->WriteAtomically(P("link"), "new").ok());
  EXPECT_EQ(Read(P("real")), "new");
  struct stat st = {};
  ASSERT_EQ(::lstat(P("link").c_str(), &st), 0);
  EXPECT_TRUE(S_ISLNK(st.st_mode));
  ASSERT_EQ(::stat(P("real").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0600u);
}

TEST_F(PosixTest, AtomicWriteNeverReplacesADevice) {
  ASSERT_TRUE(fs_->WriteAtomically("/dev/null", "x").ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(PosixTest, RelativeNames) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(root_);
  EXPECT_TRUE(fs_->MakeDirs("a/b").ok());
  EXPECT_TRUE(fs_->WriteAtomically("f", "x").ok());
  EXPECT_EQ(Read("f"), "x");
  EXPECT_EQ(fs_->NetworkFileSystem(""), fs_->NetworkFileSystem("."));
  std::filesystem::current_path(before);
}

TEST_F(PosixTest, DanglingLinksAreNotListed) {
  ASSERT_EQ(::symlink("nowhere", P("link").c_str()), 0);
  EXPECT_TRUE(fs_->List(root_)->empty());
}

TEST_F(PosixTest, TheDiskThatIsFull) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  auto file = fs_->OpenAppend("/dev/full");
  ASSERT_TRUE(file.ok());
  const Status s = (*file)->Append("x");
  EXPECT_EQ(s.kind(), StatusKind::kUnavailable);
  EXPECT_EQ(s.message(), "cannot write /dev/full: No space left on device");
}

TEST_F(PosixTest, AFailedAppendKnowsHowFarItCame) {
  auto file = fs_->OpenAppend(P("log"));
  ASSERT_TRUE(file.ok());
  rlimit old = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = old;
  small.rlim_cur = 10;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status s = (*file)->Append("0123456789abcdef");
  const Status atomic = fs_->WriteAtomically(P("other"), "0123456789abcdef");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(s.kind(), StatusKind::kIo);
  EXPECT_EQ((*file)->size(), 10);
  EXPECT_TRUE((*file)->Truncate(4).ok());
  EXPECT_TRUE((*file)->Append("!").ok());
  EXPECT_EQ(Read(P("log")), "0123!");
  EXPECT_FALSE(atomic.ok());
  EXPECT_EQ(fs_->List(root_)->size(), 1u);  // no half of it, and nothing temporary
}

TEST_F(PosixTest, NoPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may do everything";
  ASSERT_TRUE(fs_->WriteAtomically(P("a"), "x").ok());
  ASSERT_EQ(::chmod(P("a").c_str(), 0), 0);
  EXPECT_EQ(fs_->Map(P("a")).status().kind(), StatusKind::kUnavailable);
  ASSERT_EQ(::chmod(root_.c_str(), 0500), 0);
  EXPECT_EQ(fs_->WriteAtomically(P("b"), "x").kind(), StatusKind::kUnavailable);
  EXPECT_EQ(fs_->Lock(P("l")).status().kind(), StatusKind::kUnavailable);
  ASSERT_EQ(::chmod(root_.c_str(), 0700), 0);
}

TEST_F(PosixTest, ALockEndsWithItsProcess) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = fs_->Lock(P("lock"));
    [[maybe_unused]] const ssize_t n = ::write(ready[1], held.ok() ? "y" : "n", 1);
    ::pause();
    ::_exit(0);
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_EQ(fs_->Lock(P("lock")).status().kind(), StatusKind::kUnavailable);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs_->Lock(P("lock")).ok());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(PosixTest, LocalDisksAreNotNetworkDisks) {
  EXPECT_EQ(fs_->NetworkFileSystem("/proc"), "");
  EXPECT_EQ(fs_->NetworkFileSystem(P("to/be/made")), fs_->NetworkFileSystem(root_));
}

}  // namespace
}  // namespace sawbill::sys
