// SPDX-License-Identifier: Apache-2.0
#include "simulator/timeline.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/status.h"

namespace sawbill::simulator {
namespace {
constexpr const char* kNames[] = {"step", "data",      "sync",    "ckpt", "eval", "log", "comm",
                                  "spin", "imbalance", "startup", "gap",  "idle", "hang"};
static_assert(std::size(kNames) == kActivities);
}  // namespace

const char* Name(Activity a) { return kNames[static_cast<size_t>(a)]; }

Usage::Usage(double duration_s) {
  const auto bins = static_cast<size_t>(std::ceil(duration_s));
  for (auto* v : {&main_cpu_s, &worker_cpu_s, &iowait_s, &read_mb, &write_mb, &disk_write_mb, &net_rx_mb, &net_tx_mb,
                  &runnable_s}) {
    v->assign(bins, 0.0F);
  }
}

void Usage::Add(std::vector<float>* bins, double t0, double t1, double rate) {
  t0 = std::max(t0, 0.0);
  t1 = std::min(t1, static_cast<double>(bins->size()));
  while (t0 < t1) {
    const auto bin = static_cast<size_t>(t0);
    const double end = std::min(t1, static_cast<double>(bin + 1));
    (*bins)[bin] += static_cast<float>((end - t0) * rate);
    t0 = end;
  }
}

void World::Close() {
  for (auto& card : cards) {
    std::sort(card.begin(), card.end(), [](const Interval& a, const Interval& b) { return a.t0 < b.t0; });
    std::vector<Interval> whole;
    double t = 0;
    for (Interval iv : card) {
      iv.t1 = std::min(iv.t1, duration_s);
      if (iv.t1 <= iv.t0) continue;
      SAWBILL_CHECK(iv.t0 >= t - 1e-6);
      if (iv.t0 > t + 1e-9) whole.push_back({t, iv.t0, Activity::kGap, {}});
      iv.t0 = std::max(iv.t0, t);
      whole.push_back(iv);
      t = iv.t1;
    }
    if (t < duration_s) whole.push_back({t, duration_s, Activity::kGap, {}});
    card = std::move(whole);
  }
}

std::array<double, kActivities> World::Seconds() const {
  std::array<double, kActivities> seconds{};
  for (const auto& card : cards) {
    for (const Interval& iv : card) seconds[static_cast<size_t>(iv.activity)] += iv.t1 - iv.t0;
  }
  return seconds;
}

}  // namespace sawbill::simulator
