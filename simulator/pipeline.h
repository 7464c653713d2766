// SPDX-License-Identifier: Apache-2.0
// One training job on one or more cards of a host, event by event: loader, steps, collectives, saves, evaluations,
// logging. Pure physics: nothing here knows how a monitor samples or judges.
#pragma once

#include <string>

#include "simulator/loader.h"
#include "simulator/random.h"
#include "simulator/timeline.h"

namespace sawbill::simulator {

inline constexpr double kNever = 1e18;

struct CheckpointSpec {
  int every_steps = 0;  // 0 = never
  double stall_s = 8;   // the step loop stands still (a synchronous save)
  double stall_cv = 0.06;
  double size_mb = 4000;
  double write_s = 0;  // the bytes are written over so long beside the steps (an asynchronous save); 0 = in the stall
  double lag_s = 5;    // the page cache holds the bytes back
  double disk_mb_s = 800;
  bool others_spin = false;  // ranks that do not save wait in a collective (busy) instead of idling
};

struct EvaluationSpec {
  int every_steps = 0;
  double length_s = 30;
  Load load;
  double memory_factor = 1.15;
};

struct LogSpec {
  int every_steps = 0;
  double stall_s = 1;
};

struct JobSpec {
  std::string user = "alice", program = "python", job = "train";
  int pid = 4100;
  int first_card = 0, card_count = 1;
  double start_s = 0, end_s = kNever;
  long max_steps = -1;  // -1: until end_s
  double startup_s = 15;
  double hold_s = 0;  // after the last step the process stays and holds its memory
  double memory_mb = 20000;

  LoaderSpec loader;    // of each rank
  double step_s = 0.4;  // GPU time of one step when fed and not throttled
  double step_cv = 0.02;
  Load load;              // while a step's kernels run
  double sync_gap_s = 0;  // host gap in each step
  double sync_gap_cv = 0.15;
  double sync_growth_per_hour = 0;  // the gap grows by this share of a step every hour (allocator retries, collections)
  double step_growth_per_hour = 0;  // steps get longer by this share every hour (longer sequences), the card stays busy
  double comm_s = 0;                // exposed collective in each step
  double comm_link_mb_s = 0;        // NVLink traffic of a card while it runs; 0 = four times the mean of a step
  int slow_rank = -1;
  double slow_factor = 1;
  bool data_parallel = false;  // one process, all cards; card 0 works on alone for `first_extra` of a step
  double first_extra = 0;
  int epoch_steps = 0;  // pause after so many
  double epoch_pause_s = 1.5;
  CheckpointSpec checkpoint;
  EvaluationSpec evaluation;
  LogSpec log;
  double throttle_from_s = kNever, throttle_clock = 1;  // clocks fall to this share
  bool throttle_by_power = false;                       // for a lowered power limit; otherwise for heat
  double shared_from_s = kNever, shared_slow = 1;  // from then on another job's kernels make each step so much longer
  double hang_at_s = kNever;                       // the collective never returns, until end_s
};

struct JobResult {
  long steps = 0;
  double training_end_s = 0;  // last step
  double end_s = 0;           // the processes are gone
};

/// Adds the job's intervals and processes to `world`. The caller closes the world.
JobResult SimulateJob(const JobSpec& spec, const HostSpec& host, const Rng& rng, World* world);

}  // namespace sawbill::simulator
