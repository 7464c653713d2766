// SPDX-License-Identifier: Apache-2.0
// A command that runs as if nobody stood beside it: its terminal, signals, job control and exit status are its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "sys/child.h"
#include "sys/waiter.h"

namespace sawbill::app {

/// The signals that a supervisor takes; to be handed to sys::Waiter before anything is started.
std::vector<int> SupervisedSignals();

struct Supervised {
  int exit_code = 0;        // what this program is to exit with
  std::string exit_status;  // "0", "3", "signal 9": for the run record
};

/// Waits for `pid`, a child started with waiter.old_mask(). `every_second` runs about once a second, `other_child` when
/// another child of this process ended or stopped.
Supervised Supervise(int64_t pid, sys::Waiter* waiter, const std::function<void()>& every_second,
                     const std::function<void()>& other_child);

/// The same for a process that is no child of ours: until it is gone, or the user has had enough (SIGINT, SIGTERM).
void Watch(const std::function<bool()>& alive, sys::Waiter* waiter, const std::function<void()>& every_second);

}  // namespace sawbill::app
