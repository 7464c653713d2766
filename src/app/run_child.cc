// SPDX-License-Identifier: Apache-2.0
// Signals. What is typed at the terminal (^C, ^\, ^Z) reaches the command by itself, because it stays in our process
// group; it must not be sent twice. What another process sends to us alone is handed on. When the command stops, we
// stop as well, so that the shell gets its terminal back and `fg` continues both.
#include "app/run_child.h"

#include <signal.h>
#include <unistd.h>

#include <string>

namespace sawbill::app {
namespace {

constexpr int64_t kSecondUs = 1'000'000;

Supervised Ended(const sys::ChildState& s) {
  if (s.kind == sys::ChildState::Kind::kSignaled) return {128 + s.value, "signal " + std::to_string(s.value)};
  return {s.value, std::to_string(s.value)};
}

}  // namespace

std::vector<int> SupervisedSignals() {
  return {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGTSTP, SIGWINCH};
}

Supervised Supervise(int64_t pid, sys::Waiter* waiter, const std::function<void()>& every_second,
                     const std::function<void()>& other_child) {
  const auto child = static_cast<pid_t>(pid);
  int64_t next_us = sys::SteadyNowUs() + kSecondUs;
  while (true) {
    const auto event = waiter->Wait(next_us);
    if (event.woke == sys::Waiter::Woke::kTime) {
      next_us = sys::SteadyNowUs() + kSecondUs;
      every_second();
      continue;
    }
    if (event.signal != SIGCHLD) {
      const bool harmless = event.signal == SIGWINCH || event.signal == SIGCONT;
      if (!event.from_kernel && !harmless) ::kill(child, event.signal);
      if (event.signal == SIGCONT) ::kill(child, SIGCONT);
      continue;
    }
    other_child();
    while (const auto state = sys::PollChild(pid)) {
      if (state->kind == sys::ChildState::Kind::kStopped) {
        ::kill(::getpid(), SIGSTOP);  // here until the shell continues us
        ::kill(child, SIGCONT);
        continue;
      }
      if (state->kind == sys::ChildState::Kind::kContinued) continue;
      return Ended(*state);
    }
  }
}

void Watch(const std::function<bool()>& alive, sys::Waiter* waiter, const std::function<void()>& every_second) {
  while (alive()) {
    const auto event = waiter->Wait(sys::SteadyNowUs() + kSecondUs);
    if (event.woke == sys::Waiter::Woke::kTime) every_second();
    if (event.signal == SIGINT || event.signal == SIGTERM || event.signal == SIGHUP || event.signal == SIGQUIT) return;
  }
}

}  // namespace sawbill::app
