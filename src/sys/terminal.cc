// SPDX-License-Identifier: Apache-2.0
#include "sys/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace sawbill::sys {

bool IsTerminal(int fd) { return ::isatty(fd) == 1; }

int TerminalColumns(int fd, int fallback) {
  winsize size = {};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return fallback;
  return size.ws_col;
}

std::optional<std::string> GetEnv(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

}  // namespace sawbill::sys
