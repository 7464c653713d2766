// SPDX-License-Identifier: Apache-2.0
// What truly happened, second by second and finer: the result of the physics (pipeline, service) and the input of the
// instruments (measure). Times are seconds since the start of the recording.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace sawbill::simulator {

/// What a card spends a moment on. Names are those of truth.json.
enum class Activity {
  kStep,  // forward, backward, update
  kData,  // waits for a batch
  kSync,  // host gap between kernels, or a pause at an epoch's end
  kCkpt,
  kEval,
  kLog,
  kComm,       // exposed collective: kernels are resident, little power
  kSpin,       // waits for a slower rank inside a collective: looks busy, little power
  kImbalance,  // waits for the first card of a single-process data-parallel job: not busy
  kStartup,
  kGap,   // no process holds the card
  kIdle,  // a process holds the card and does nothing
  kHang,
  kCount
};
inline constexpr size_t kActivities = static_cast<size_t>(Activity::kCount);
const char* Name(Activity a);

/// How hard a card works. All are shares of time or of the maximum, 0 to 1.
struct Load {
  float busy = 0;       // share of the time with any kernel resident
  float intensity = 0;  // what power follows: share of the range above idle that the kernels draw
  float sm_active = 0, occupancy = 0, tensor = 0, dram = 0;
  float clock = 1;       // share of the maximum that the card is held to (1 = not throttled)
  bool thermal = false;  // `clock` is low for heat
  float nvlink_mb_s = 0, pcie_mb_s = 0;
};

struct Interval {
  double t0 = 0, t1 = 0;
  Activity activity = Activity::kGap;
  Load load;
};

/// From `t` on the process holds this much memory on the card.
struct MemoryStep {
  double t = 0, mb = 0;
};

/// Amounts in bins of one second.
struct Usage {
  std::vector<float> main_cpu_s, worker_cpu_s, iowait_s, read_mb, write_mb, disk_write_mb, net_rx_mb, net_tx_mb,
      runnable_s;

  explicit Usage(double duration_s = 0);
  /// Spreads `rate` (a second) over [t0, t1); what lies outside the recording is dropped.
  static void Add(std::vector<float>* bins, double t0, double t1, double rate);
};

struct Process {
  int pid = 0;
  std::string user, name, job;
  double t0 = 0, t1 = 0;                        // lifetime; may start before 0
  std::vector<int> cards;                       // empty: holds none but matters (another tenant)
  std::vector<std::vector<MemoryStep>> memory;  // for each of `cards`
  int workers = 0;                              // until `workers_end`, then none
  double workers_end = 1e18;
  Usage usage;
};

struct World {
  double duration_s = 0;
  int cores = 16, physical_cores = 16;
  double host_memory_mb = 257000;
  double disk_mb_s = 2000;  // what the disk can do, for disk_util
  std::vector<std::vector<Interval>> cards;
  std::vector<Process> processes;
  long steps = 0;

  World(double duration, int card_count) : duration_s(duration), cards(static_cast<size_t>(card_count)) {}
  /// Sorts each card's intervals, cuts them at the recording's end and fills what is empty with kGap. Overlaps abort.
  void Close();
  std::array<double, kActivities> Seconds() const;
};

}  // namespace sawbill::simulator
