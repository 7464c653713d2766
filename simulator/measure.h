// SPDX-License-Identifier: Apache-2.0
// The instruments: what NVML, /proc and a 1 Hz poller make of a World. The model of each is at the head of measure.cc.
// `CardMeter` answers for any instant in order, so a scripted driver library can use it as well as the writer of day
// files.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "model/metrics.h"
#include "simulator/cards.h"
#include "simulator/random.h"
#include "simulator/timeline.h"

namespace sawbill::simulator {

struct MeasureSpec {
  double window_s = 0;        // NVML's utilisation window; 0 = the card model's
  double jitter_s = 0.02;     // polls come at k + U(-jitter, jitter)
  double drop_share = 0.002;  // ticks that were missed
  double repeat_share = 0;    // ticks written twice
  bool ring_buffer = true;    // sm_util_min/max
  double process_every_s = 10;
  double outage_from_s = 0, outage_to_s = 0;  // no data at all
  double power_fall_s = 0.6;                  // time constant with which power falls when kernels end
  double power_limit_share = 1;               // the limit that is set, of the model's own
};

struct GpuReading {
  double t = 0;
  int gpu = 0;
  std::array<double, model::kGpuMetrics> value;  // NaN = not read; kThrottle holds the mask
};
struct HostReading {
  double t = 0;
  std::array<double, model::kHostMetrics> value;
};
struct ProcessReading {
  double t = 0;
  int gpu = -1;                                      // -1: holds no card
  size_t process = 0;                                // index into World::processes
  std::array<double, model::kProcessMetrics> value;  // kStarted is relative to the start of the recording
};
struct Readings {
  std::vector<GpuReading> gpu;
  std::vector<HostReading> host;
  std::vector<ProcessReading> process;
};

/// One card's instruments. Instants must not go back.
class CardMeter {
 public:
  CardMeter(const World& world, int card, const CardModel& model, const MeasureSpec& spec, const Rng& rng);
  GpuReading Poll(double t);
  /// Utilisation (0 to 100, rounded) of the driver's window that ended last before `t`.
  double Utilization(double t) const;

 private:
  struct Sum {  // integrals from 0 to the start of an interval
    double busy = 0, sm = 0, occupancy = 0, tensor = 0, dram = 0, energy = 0, pcie = 0, nvlink = 0, active = 0;
    double power_w = 0;  // at that instant
  };
  Sum At(double t) const;
  size_t Find(double t) const;
  /// Time constant, seconds, with which power goes from `power_w` to `target_w`.
  double Follow(double target_w, double power_w, const Load& load) const;
  double TargetPower(const Load& load, float* clock) const;
  double WindowUtilization(double end) const;
  double PowerReading(double t) const;
  void Clocks(double t, double power_w, GpuReading* reading);
  void Gpm(double t, const Sum& now, GpuReading* reading) const;

  const std::vector<Interval>& intervals_;
  const CardModel& model_;
  MeasureSpec spec_;
  Rng rng_;
  double limit_w_, window_s_, phase_s_, awake_w_;
  std::vector<Sum> sums_;  // one more than intervals
  std::vector<std::pair<double, double>> memory_;
  double last_t_, temperature_c_, last_energy_j_ = 0, energy_offset_j_;
};

/// Share of the full clock at which `load` draws no more than `limit_share` of the model's own power limit; 1 = it
/// fits.
double CappedClock(const CardModel& model, const Load& load, double limit_share);

/// Polls everything for the whole recording.
Readings Measure(const World& world, const CardModel& model, const MeasureSpec& spec, const Rng& rng);

}  // namespace sawbill::simulator
