// SPDX-License-Identifier: Apache-2.0
#include "collect/call_pool.h"

#include <gmock/gmock.h>

#include <future>

namespace sawbill::collect {
namespace {

using std::chrono::milliseconds;

std::atomic<int> alive{0};

/// As libraries keep one for each thread (OpenSSL's error state); it takes its time to go.
struct PerThread {
  PerThread() { ++alive; }
  ~PerThread() {
    const auto until = CallPool<int>::SteadyClock::now() + milliseconds(50);
    while (CallPool<int>::SteadyClock::now() < until) std::this_thread::yield();
    --alive;
  }
};

int Touch() {
  thread_local PerThread own;
  return 1;
}

TEST(CallPoolTest, WhatAThreadKeptIsGoneWithThePool) {
  for (int k = 0; k < 3; ++k) {
    {
      CallPool<int> pool(2, [](size_t) { return Touch(); }, milliseconds(20));
      pool.Start(0);
      pool.Start(1);
      pool.Wait(CallPool<int>::SteadyClock::now() + milliseconds(2000));
      EXPECT_EQ(pool.Take().size(), 2U);
    }
    EXPECT_EQ(alive, 0);
  }
}

TEST(CallPoolTest, ACallThatHangsIsLeftBehindAndTheOthersAreNot) {
  auto gate = std::make_shared<std::promise<void>>();
  auto opened = std::make_shared<std::shared_future<void>>(gate->get_future());
  auto over = std::make_shared<std::promise<void>>();
  {
    CallPool<int> pool(
        2,
        [opened, over](size_t slot) {
          if (slot == 0) {
            opened->wait();
            over->set_value();
            return 0;
          }
          return Touch();
        },
        milliseconds(20));
    pool.Start(0);
    pool.Start(1);
    pool.Wait(CallPool<int>::SteadyClock::now() + milliseconds(300));
    const auto taken = pool.Take();
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].first, 1U);
  }
  EXPECT_EQ(alive, 0);
  gate->set_value();
  over->get_future().wait();
}

}  // namespace
}  // namespace sawbill::collect
