// SPDX-License-Identifier: Apache-2.0
// The in-order prefetch queue. At the start W x prefetch_factor indices are dealt out round-robin; from then on worker
// i mod W gets its next index when batch i is consumed, and starts on it when it has finished what it already has.
// Delivery is in order: one slow batch holds up those behind it, which is why a loader whose mean rate would suffice
// still stalls when preparation times vary (W = 8, CV 0.6, prefetch 2, mean rate equal to the GPU's: 0.72 of the rate).
//
// Cores are shared fairly: with more runnable threads than cores each preparation takes threads/cores times as long.
// Storage is shared fairly too: each of the W workers gets 1/W of its rate while it reads.
#include "simulator/loader.h"

#include <algorithm>

namespace sawbill::simulator {

Loader::Loader(const LoaderSpec& spec, const HostSpec& host, int workers_together, double start_s, Rng rng,
               Usage* usage)
    : spec_(spec), host_(host), workers_together_(workers_together), start_s_(start_s), rng_(rng), usage_(usage) {
  const auto workers = static_cast<size_t>(std::max(0, spec.workers));
  free_.assign(workers, start_s);
  ready_.resize(workers * static_cast<size_t>(std::max(1, spec.prefetch_factor)));
  for (size_t i = 0; i < ready_.size(); ++i) {
    double& free = free_[i % workers];
    free = Prepare(free);
    ready_[i] = free;
  }
}

double Loader::Slowdown(double t) const {
  double threads = std::max(1, workers_together_);
  if (t >= host_.foreign_from_s && t < host_.foreign_to_s) threads += host_.foreign_cores;
  return std::max(1.0, threads / host_.cores);
}

double Loader::Prepare(double start) {
  double read_s = 0;
  const bool cold = prepared_++ < spec_.cold_batches;
  const double read_mb = spec_.read_mb * (1 - (cold ? 0 : spec_.cache_hit));
  if (host_.storage_mb_s > 0)
    read_s = read_mb * std::max(1, workers_together_) / host_.storage_mb_s * rng_.LogNormal(0.1);
  const double growth = 1 + spec_.prep_growth_per_hour * (start - start_s_) / 3600;
  const double slow = Slowdown(start + read_s);
  const double cpu_s = spec_.prep_s * growth * rng_.LogNormal(spec_.prep_cv);
  const double read_end = start + read_s;
  const double end = read_end + cpu_s * slow;
  if (usage_ != nullptr) {
    if (read_s > 0 && !spec_.remote) Usage::Add(&usage_->iowait_s, start, read_end, 1.0);
    const double spread = std::max(read_s, end - start > 0 ? 0.2 * (end - start) : 0.01);
    Usage::Add(spec_.remote ? &usage_->net_rx_mb : &usage_->read_mb, start, start + spread, read_mb / spread);
    auto* cpu = spec_.workers > 0 ? &usage_->worker_cpu_s : &usage_->main_cpu_s;
    Usage::Add(cpu, read_end, end, 1.0 / slow);
    Usage::Add(&usage_->runnable_s, read_end, end, 1.0);
  }
  return end;
}

double Loader::ReadyAt(double now) {
  if (!ready_.empty()) return ready_[next_ % ready_.size()];
  if (!inline_done_) {
    inline_ready_ = Prepare(now);
    inline_done_ = true;
  }
  return inline_ready_;
}

void Loader::Consume(double t) {
  inline_done_ = false;
  if (ready_.empty()) return;
  double& free = free_[next_ % free_.size()];
  free = Prepare(std::max(free, t));
  ready_[next_ % ready_.size()] = free;
  ++next_;
}

}  // namespace sawbill::simulator
