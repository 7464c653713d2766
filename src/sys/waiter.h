// SPDX-License-Identifier: Apache-2.0
// Sleeping until an instant, a signal, or the end of another process, whichever comes first. The signals are blocked
// from the construction on and taken here, so none is lost between two sleeps.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace sawbill::sys {

TimeMs WallNow();
int64_t SteadyNowUs();  // CLOCK_MONOTONIC: what sleeps are measured by
int64_t BootNowMs();    // CLOCK_BOOTTIME: counts the time that the machine was suspended

class Waiter {
 public:
  /// `pipe_fd`: woken as well when the other end is closed; -1 = none.
  explicit Waiter(const std::vector<int>& signals, int pipe_fd = -1);
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter();

  enum class Woke { kTime, kSignal, kPipeClosed };
  struct Event {
    Woke woke = Woke::kTime;
    int signal = 0;
    bool from_kernel = false;  // typed at the terminal, not sent by a process
  };
  /// Until `steady_us`; nothing = for ever.
  Event Wait(std::optional<int64_t> steady_us);
  /// The signal mask as it was before: a child must get it back.
  const sigset_t& old_mask() const { return old_mask_; }

 private:
  int signal_fd_ = -1, pipe_fd_ = -1;
  sigset_t old_mask_ = {};
};

}  // namespace sawbill::sys
