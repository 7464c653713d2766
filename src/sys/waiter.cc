// SPDX-License-Identifier: Apache-2.0
#include "sys/waiter.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/status.h"

namespace sawbill::sys {
namespace {

int64_t ClockUs(clockid_t clock) {
  timespec t = {};
  ::clock_gettime(clock, &t);
  return static_cast<int64_t>(t.tv_sec) * 1'000'000 + t.tv_nsec / 1000;
}

}  // namespace

TimeMs WallNow() { return ClockUs(CLOCK_REALTIME) / 1000; }
int64_t SteadyNowUs() { return ClockUs(CLOCK_MONOTONIC); }
int64_t BootNowMs() { return ClockUs(CLOCK_BOOTTIME) / 1000; }

Waiter::Waiter(const std::vector<int>& signals, int pipe_fd) : pipe_fd_(pipe_fd) {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : signals) sigaddset(&set, s);
  ::pthread_sigmask(SIG_BLOCK, &set, &old_mask_);
  signal_fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  SAWBILL_CHECK(signal_fd_ >= 0);
}

Waiter::~Waiter() {
  ::close(signal_fd_);
  ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

Waiter::Event Waiter::Wait(std::optional<int64_t> steady_us) {
  while (true) {
    pollfd fds[2] = {{signal_fd_, POLLIN, 0}, {pipe_fd_, POLLIN, 0}};
    timespec left = {};
    if (steady_us) {
      const int64_t us = std::max<int64_t>(0, *steady_us - SteadyNowUs());
      left = {us / 1'000'000, us % 1'000'000 * 1000};
    }
    const int n = ::ppoll(fds, pipe_fd_ >= 0 ? 2 : 1, steady_us ? &left : nullptr, nullptr);
    if (n < 0 && errno == EINTR) continue;
    if (n > 0 && (fds[0].revents & POLLIN) != 0) {
      signalfd_siginfo info = {};
      if (::read(signal_fd_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)))
        return {Woke::kSignal, static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
      continue;
    }
    if (n > 0 && pipe_fd_ >= 0 && (fds[1].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) != 0)
      return {Woke::kPipeClosed, 0, false};
    if (n == 0) return {Woke::kTime, 0, false};
  }
}

}  // namespace sawbill::sys
