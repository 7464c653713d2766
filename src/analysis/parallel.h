// SPDX-License-Identifier: Apache-2.0
// Work on independent items on several threads. Internal to analysis/.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace sawbill::analysis {

/// Calls f(0) ... f(n - 1), each once, on up to `threads` threads, this one among them; returns when all are done.
/// Calls must not touch what another one writes.
template <typename Function>
void ParallelFor(size_t n, int threads, const Function& f) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < n; i = next++) f(i);
  };
  std::vector<std::jthread> pool;
  const size_t wanted = std::min(n, static_cast<size_t>(std::max(1, threads)));
  for (size_t i = 1; i < wanted; ++i) pool.emplace_back(work);
  work();
}

}  // namespace sawbill::analysis
