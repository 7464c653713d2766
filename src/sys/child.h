// SPDX-License-Identifier: Apache-2.0
// Other programs: started with the signals, masks and descriptors that they would have had without us.
#pragma once

#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace sawbill::sys {

struct SpawnOptions {
  std::map<std::string, std::string> set_vars;  // on top of this process's environment
  const sigset_t* mask = nullptr;               // of the child; null = as here
  bool own_group = false;                       // out of reach of the terminal's signals
  std::optional<std::string> output_path;       // stdout and stderr are appended there, stdin is empty
  std::vector<int> keep_fds;                    // close-on-exec is taken off these
  bool sigpipe_default = true;                  // this program ignores SIGPIPE; a child must not inherit that
};

/// Starts `argv[0]`, looked up in PATH. Errors: kNotFound (no such program), kUnavailable (not executable, or no more
/// processes): the child never ran.
Result<int64_t> Spawn(const std::vector<std::string>& argv, const SpawnOptions& options);

struct ChildState {
  enum class Kind { kExited, kSignaled, kStopped, kContinued } kind = Kind::kExited;
  int value = 0;  // exit status or signal
};
/// What happened to `pid` since the last call, without waiting.
std::optional<ChildState> PollChild(int64_t pid);
/// Like PollChild for the end of the child, waiting for it; nothing when it is no child of ours.
std::optional<ChildState> WaitChild(int64_t pid);

/// "NAME" of the machine.
std::string HostName();

}  // namespace sawbill::sys
