// SPDX-License-Identifier: Apache-2.0
#include "sys/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sawbill::sys {
namespace {

TEST(TerminalTest, AFileIsNone) {
  const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_FALSE(IsTerminal(fd));
  EXPECT_EQ(TerminalColumns(fd, 80), 80);
  ::close(fd);
  EXPECT_FALSE(IsTerminal(-1));
  EXPECT_EQ(TerminalColumns(-1, 72), 72);
}

TEST(TerminalTest, APseudoTerminalTellsItsWidth) {
  const int fd = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 || ::unlockpt(fd) != 0) GTEST_SKIP() << "no pseudo-terminals here";
  EXPECT_TRUE(IsTerminal(fd));
  winsize size = {};
  size.ws_col = 132;
  size.ws_row = 40;
  ASSERT_EQ(::ioctl(fd, TIOCSWINSZ, &size), 0);
  EXPECT_EQ(TerminalColumns(fd, 80), 132);
  ::close(fd);
}

TEST(TerminalTest, Environment) {
  ::setenv("SAWBILL_TEST_VARIABLE", "", 1);
  EXPECT_EQ(GetEnv("SAWBILL_TEST_VARIABLE"), "");
  ::unsetenv("SAWBILL_TEST_VARIABLE");
  EXPECT_EQ(GetEnv("SAWBILL_TEST_VARIABLE"), std::nullopt);
}

}  // namespace
}  // namespace sawbill::sys
