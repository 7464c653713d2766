// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace sawbill::sys {

bool IsTerminal(int fd);
/// The terminal's width, or `fallback` where `fd` is none or does not know.
int TerminalColumns(int fd, int fallback);
std::optional<std::string> GetEnv(const char* name);

}  // namespace sawbill::sys
