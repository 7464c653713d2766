// SPDX-License-Identifier: Apache-2.0
// G1: a monitor that burns the cores it measures. G6: a log that floods.
#include "collect/self_watch.h"

#include <gtest/gtest.h>

#include "collect/event_limiter.h"

namespace sawbill::collect {
namespace {

constexpr int64_t kMinute = 60'000'000;

sys::SelfUsage Cpu(double seconds) {
  sys::SelfUsage u;
  u.cpu_seconds = seconds;
  return u;
}

TEST(SelfWatch, LooksLessOftenWhileOverBudgetAndComesBackAfterTenCalmMinutes) {
  SelfWatch w(SelfBudget{0.02, 64});
  EXPECT_FALSE(w.Observe(0, Cpu(0)));
  EXPECT_FALSE(w.cpu_share());
  double cpu = 0;
  int64_t t = 0;
  for (const int stretch : {2, 4, 8}) {
    EXPECT_TRUE(w.Observe(t += kMinute, Cpu(cpu += 3)));  // 5 %
    EXPECT_EQ(w.stretch(), stretch);
  }
  EXPECT_FALSE(w.Observe(t += kMinute, Cpu(cpu += 3)));
  EXPECT_NEAR(*w.cpu_share(), 0.05, 1e-9);
  for (int minute = 1; minute < 10; ++minute) EXPECT_FALSE(w.Observe(t += kMinute, Cpu(cpu += 0.3)));
  EXPECT_TRUE(w.Observe(t += kMinute, Cpu(cpu += 0.3)));
  EXPECT_EQ(w.stretch(), 4);
}

TEST(SelfWatch, WithoutAReadingThereIsNoShareAndNoChange) {
  SelfWatch w(SelfBudget{});
  EXPECT_FALSE(w.Observe(0, {}));
  EXPECT_FALSE(w.Observe(kMinute, {}));
  EXPECT_FALSE(w.cpu_share());
  EXPECT_EQ(w.stretch(), 1);
}

TEST(EventLimiter, ADeviceThatFailsForADayWritesALineAMinute) {
  EventLimiter limiter;
  int written = 0;
  size_t bytes = 0;
  std::string last;
  for (int64_t second = 0; second < 86'400; ++second) {
    if (const auto detail = limiter.Admit(second * 1'000'000, "call_hangs", "3", "seconds=9.0")) {
      ++written;
      bytes += detail->size();
      last = *detail;
    }
  }
  EXPECT_EQ(written, 1440);
  EXPECT_LT(bytes, 1U << 20);
  EXPECT_EQ(last, "seconds=9.0 left_out=59");
}

TEST(EventLimiter, OtherCardsAndKindsAreNotHeldBack) {
  EventLimiter limiter;
  EXPECT_TRUE(limiter.Admit(0, "xid", "0", "xid=79"));
  EXPECT_TRUE(limiter.Admit(0, "xid", "1", "xid=79"));
  EXPECT_TRUE(limiter.Admit(0, "ecc", "0", ""));
  EXPECT_FALSE(limiter.Admit(1'000'000, "xid", "0", "xid=31"));
}

}  // namespace
}  // namespace sawbill::collect
