// SPDX-License-Identifier: Apache-2.0
// A data loader as PyTorch's: W workers, W x prefetch_factor batches outstanding, delivered in order, the next index
// sent to a worker only when a batch is consumed. The essay is at the head of loader.cc.
#pragma once

#include <vector>

#include "simulator/random.h"
#include "simulator/timeline.h"

namespace sawbill::simulator {

struct LoaderSpec {
  int workers = 8;  // 0: the main process prepares each batch when it needs it
  int prefetch_factor = 2;
  double prep_s = 0.5;  // mean CPU time of one batch by one worker on a free core
  double prep_cv = 0.2;
  double prep_growth_per_hour = 0;  // preparation grows by this share of prep_s every hour (a list that grows, a leak)
  double read_mb = 20;              // of one batch, from storage
  double cache_hit = 0;             // share of it that the page cache has
  long cold_batches = 0;            // for so many first batches the page cache has nothing
  bool remote = false;              // read through sockets: network instead of disk, and no I/O wait to see
};

/// The machine that all loaders share.
struct HostSpec {
  int cores = 16;
  double storage_mb_s = 0;   // what storage delivers to all workers together; 0 = never the limit
  double foreign_cores = 0;  // runnable threads of another tenant
  double foreign_from_s = 0, foreign_to_s = 0;
};

class Loader {
 public:
  /// `workers_together` = workers of all ranks on this host. `usage` (may be null) receives the workers' CPU and reads.
  Loader(const LoaderSpec& spec, const HostSpec& host, int workers_together, double start_s, Rng rng, Usage* usage);
  /// When batch number `consumed so far` is ready; with no workers: when it would be if asked for at `now`.
  double ReadyAt(double now);
  /// Takes that batch at `t` (not before it is ready).
  void Consume(double t);

 private:
  double Prepare(double start);
  double Slowdown(double t) const;

  LoaderSpec spec_;
  HostSpec host_;
  int workers_together_;
  double start_s_;
  Rng rng_;
  Usage* usage_;
  std::vector<double> free_;   // when each worker has finished what it was sent
  std::vector<double> ready_;  // ring of outstanding batches
  size_t next_ = 0;
  long prepared_ = 0;
  double inline_ready_ = 0;
  bool inline_done_ = false;
};

}  // namespace sawbill::simulator
