// SPDX-License-Identifier: Apache-2.0
// How each instrument sees the world:
//   utilisation  whole percent of the last driver window [e - w, e], e = w * floor((t - phase) / w) + phase. Polled
//   once a
//                second with w < 1 s this misses most of the time: its mean is right only because polls jitter, and
//                steps near a second alias. The ring buffer (min/max) misses nothing.
//   power        follows the load at once upwards and soon downwards; read as the mean of the last second,
//   or
//                (GA100 and older) of the last 25 ms of each tenth. Above the limit it is clipped and the clock pays.
//   temperature  first-order lag behind power; pinned near the slowdown point while heat holds the clock down.
//   clock        boost while anything ran lately, parked after ten idle seconds.
//   energy       exact counter, updated every 20 ms.
//   GPM          means since the last poll.
#include "simulator/measure.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/numbers.h"

namespace sawbill::simulator {
namespace {
using model::GpuMetric;
using model::HostMetric;
using model::ProcessMetric;
using model::ThrottleBit;

constexpr double kRiseS = 0.03;
constexpr double kParkS = 10, kIdleBitS = 1.5;
constexpr double kAwakeW = 9;  // a context that does nothing
constexpr double kDriverMb = 4;
constexpr double kOverLimit = 1.08;  // what the densest kernels would draw, of the limit

double& Of(GpuReading& r, GpuMetric m) { return r.value[static_cast<size_t>(m)]; }
double& Of(HostReading& r, HostMetric m) { return r.value[static_cast<size_t>(m)]; }
double& Of(ProcessReading& r, ProcessMetric m) { return r.value[static_cast<size_t>(m)]; }

std::vector<std::pair<double, double>> MemorySteps(const World& world, int card) {
  std::vector<std::pair<double, double>> delta;
  for (const Process& p : world.processes) {
    for (size_t i = 0; i < p.cards.size(); ++i) {
      if (p.cards[i] != card) continue;
      double held = 0;
      for (const MemoryStep& step : p.memory[i]) {
        if (step.t >= p.t1) break;
        delta.emplace_back(step.t, step.mb - held);
        held = step.mb;
      }
      delta.emplace_back(p.t1, -held);
    }
  }
  std::sort(delta.begin(), delta.end());
  double held = kDriverMb;
  for (auto& [t, mb] : delta) mb = held += mb;
  return delta;
}

/// The value of the last step at or before t.
double StepValue(const std::vector<std::pair<double, double>>& steps, double t, double before) {
  auto it = std::upper_bound(steps.begin(), steps.end(), t, [](double x, const auto& s) { return x < s.first; });
  return it == steps.begin() ? before : std::prev(it)->second;
}

/// What the card would draw, W, if nothing limited it.
double WantedPower(const CardModel& model, const Load& load) {
  const double range = kOverLimit * model.limit_w - model.idle_w;
  double dynamic = range * load.busy * (0.25 + 0.75 * Pow(static_cast<double>(load.intensity), 0.8));
  if (load.clock < 1) dynamic *= Pow(static_cast<double>(load.clock), 2.2);
  return model.idle_w + dynamic;
}

double ClockUnder(double power_w, double limit_w) { return power_w <= limit_w ? 1 : Pow(limit_w / power_w, 1 / 2.5); }
}  // namespace

double CappedClock(const CardModel& model, const Load& load, double limit_share) {
  return ClockUnder(WantedPower(model, load), model.limit_w * limit_share);
}

CardMeter::CardMeter(const World& world, int card, const CardModel& model, const MeasureSpec& spec, const Rng& rng)
    : intervals_(world.cards[static_cast<size_t>(card)]),
      model_(model),
      spec_(spec),
      rng_(rng.Fork("meter", static_cast<uint64_t>(card))),
      limit_w_(model.limit_w * spec.power_limit_share),
      memory_(MemorySteps(world, card)) {
  window_s_ = spec.window_s > 0 ? spec.window_s : model.window_s;
  phase_s_ = rng_.Uniform(0, window_s_);
  energy_offset_j_ = rng_.Uniform(1e5, 9e8);
  awake_w_ = kAwakeW * rng_.Uniform(0.7, 1.3);
  temperature_c_ = model.ambient_c + rng_.Uniform(-2, 4) + model.kelvin_per_w * model.idle_w;
  last_t_ = -1;
  Sum sum;
  sum.power_w = model.idle_w;
  sums_.reserve(intervals_.size() + 1);
  for (const Interval& iv : intervals_) {
    sums_.push_back(sum);
    const double dt = iv.t1 - iv.t0;
    float clock = 1;
    double target = TargetPower(iv.load, &clock);
    if (iv.activity != Activity::kGap) target = std::min(target + awake_w_, limit_w_);
    const double tau = Follow(target, sum.power_w, iv.load);
    const double fade = Exp(-dt / tau);
    sum.energy += target * dt + (sum.power_w - target) * tau * (1 - fade);
    sum.power_w = target + (sum.power_w - target) * fade;
    sum.busy += iv.load.busy * dt;
    sum.sm += iv.load.sm_active * dt;
    sum.occupancy += iv.load.occupancy * dt;
    sum.tensor += iv.load.tensor * dt;
    sum.dram += iv.load.dram * dt;
    sum.pcie += iv.load.pcie_mb_s * dt;
    sum.nvlink += iv.load.nvlink_mb_s * dt;
    sum.active += iv.load.busy > 0 ? dt : 0;
  }
  sums_.push_back(sum);
}

size_t CardMeter::Find(double t) const {
  auto it =
      std::upper_bound(intervals_.begin(), intervals_.end(), t, [](double x, const Interval& iv) { return x < iv.t0; });
  return it == intervals_.begin() ? 0 : static_cast<size_t>(it - intervals_.begin()) - 1;
}

double CardMeter::TargetPower(const Load& load, float* clock) const {
  const double power = WantedPower(model_, load);
  *clock = load.clock * static_cast<float>(ClockUnder(power, limit_w_));
  return std::min(power, limit_w_);
}

double CardMeter::Follow(double target_w, double power_w, const Load& load) const {
  // Clocks and voltages are taken back slowly once nothing runs; under a kernel power is what that kernel draws.
  return target_w > power_w || load.busy > 0 ? kRiseS : spec_.power_fall_s;
}

CardMeter::Sum CardMeter::At(double t) const {
  if (intervals_.empty()) return {};
  t = std::clamp(t, intervals_.front().t0, intervals_.back().t1);
  const size_t i = Find(t);
  const Interval& iv = intervals_[i];
  Sum sum = sums_[i];
  const double dt = t - iv.t0;
  float clock = 1;
  double target = TargetPower(iv.load, &clock);
  if (iv.activity != Activity::kGap) target = std::min(target + awake_w_, limit_w_);
  const double tau = Follow(target, sum.power_w, iv.load);
  const double fade = Exp(-dt / tau);
  sum.energy += target * dt + (sum.power_w - target) * tau * (1 - fade);
  sum.power_w = target + (sum.power_w - target) * fade;
  sum.busy += iv.load.busy * dt;
  sum.sm += iv.load.sm_active * dt;
  sum.occupancy += iv.load.occupancy * dt;
  sum.tensor += iv.load.tensor * dt;
  sum.dram += iv.load.dram * dt;
  sum.pcie += iv.load.pcie_mb_s * dt;
  sum.nvlink += iv.load.nvlink_mb_s * dt;
  sum.active += iv.load.busy > 0 ? dt : 0;
  return sum;
}

double CardMeter::WindowUtilization(double end) const {
  if (end <= 0) return 0;
  return std::clamp(std::round(100 / window_s_ * (At(end).busy - At(end - window_s_).busy)), 0.0, 100.0);
}

double CardMeter::Utilization(double t) const {
  return WindowUtilization(window_s_ * std::floor((t - phase_s_) / window_s_) + phase_s_);
}

double CardMeter::PowerReading(double t) const {
  if (model_.power_is_1s_mean) {
    return t <= 1 ? At(t).power_w : At(t).energy - At(t - 1).energy;
  }
  const double end = std::floor(t * 10) / 10;
  return end <= 0.025 ? At(end).power_w : (At(end).energy - At(end - 0.025).energy) / 0.025;
}

void CardMeter::Clocks(double t, double power_w, GpuReading* reading) {
  const double active = At(t).active;
  unsigned mask = 0;
  double sm = model_.sm_max_mhz, mem = model_.mem_mhz;
  if (t < kIdleBitS || active - At(t - kIdleBitS).active <= 0) mask |= Mask(ThrottleBit::kGpuIdle);
  if (t < kParkS ? active <= 0 : active - At(t - kParkS).active <= 0) {
    sm = model_.sm_idle_mhz;
    mem = model_.mem_idle_mhz;
  } else {
    float clock = 1;
    bool thermal = false;
    for (size_t i = Find(t), seen = 0; seen < 40; ++seen) {  // the last kernels before t set the clock
      const Interval& iv = intervals_[i];
      if (iv.load.busy > 0) {
        float held = 1;
        TargetPower(iv.load, &held);
        clock = std::min(clock, held);
        thermal = thermal || iv.load.thermal;
        if (held < iv.load.clock && (mask & Mask(ThrottleBit::kGpuIdle)) == 0) mask |= Mask(ThrottleBit::kSwPowerCap);
        break;
      }
      if (i-- == 0) break;
    }
    if (thermal) mask |= Mask(ThrottleBit::kSwThermal);  // stays while the die is hot, busy or not
    sm = 15 * std::floor(model_.sm_max_mhz * static_cast<double>(clock) / 15);
  }
  Of(*reading, GpuMetric::kSmClockMhz) = sm;
  Of(*reading, GpuMetric::kMemClockMhz) = mem;
  Of(*reading, GpuMetric::kThrottle) = mask;

  const double dt = last_t_ < 0 ? 0 : t - last_t_;
  double target = model_.ambient_c + model_.kelvin_per_w * power_w;
  if ((mask & Mask(ThrottleBit::kSwThermal)) != 0) target = model_.slowdown_c + 0.4;
  temperature_c_ = target + (temperature_c_ - target) * Exp(-dt / model_.thermal_tau_s);
  Of(*reading, GpuMetric::kTempC) = std::round(temperature_c_);
}

void CardMeter::Gpm(double t, const Sum& now, GpuReading* reading) const {
  if (!model_.gpm) return;
  const double from = last_t_ < 0 ? std::max(0.0, t - 1) : last_t_;
  const double dt = t - from;
  if (dt <= 0) return;
  const Sum then = At(from);
  const auto mean = [dt](double a, double b) { return std::clamp((b - a) / dt, 0.0, 1.0); };
  Of(*reading, GpuMetric::kSmActive) = mean(then.sm, now.sm);
  Of(*reading, GpuMetric::kSmOccupancy) = mean(then.occupancy, now.occupancy);
  Of(*reading, GpuMetric::kTensorActive) = mean(then.tensor, now.tensor);
  Of(*reading, GpuMetric::kDramActive) = mean(then.dram, now.dram);
  Of(*reading, GpuMetric::kGrActive) = mean(then.busy, now.busy);
}

GpuReading CardMeter::Poll(double t) {
  GpuReading r;
  r.t = t;
  r.value.fill(kMissing);
  const Sum now = At(t);
  const double second = std::min(1.0, t);
  const Sum before = At(t - second);
  Of(r, GpuMetric::kSmUtil) = Utilization(t);
  const double end = window_s_ * std::floor((t - phase_s_) / window_s_) + phase_s_;
  Of(r, GpuMetric::kMemUtil) =
      std::clamp(std::round(100 / window_s_ * (At(end).dram - At(end - window_s_).dram)), 0.0, 100.0);
  Of(r, GpuMetric::kMemUsedMb) = StepValue(memory_, t, kDriverMb);
  const double power_w = std::min(limit_w_ * 1.01, PowerReading(t) * (1 + 0.015 * rng_.Normal()));
  Of(r, GpuMetric::kPowerW) = power_w;
  Clocks(t, second > 0 ? (now.energy - before.energy) / second : now.power_w, &r);
  const auto rate = [&](double a, double b) {
    return second > 0 ? (b - a) / second * (1 + 0.08 * rng_.Normal()) : 0.0;
  };
  Of(r, GpuMetric::kPcieRxMbS) = std::max(0.0, rate(before.pcie, now.pcie));
  Of(r, GpuMetric::kPcieTxMbS) = std::max(0.0, 0.05 * rate(before.pcie, now.pcie));
  if (model_.nvlink) {
    Of(r, GpuMetric::kNvlinkRxMbS) = std::max(0.0, rate(before.nvlink, now.nvlink));
    Of(r, GpuMetric::kNvlinkTxMbS) = std::max(0.0, rate(before.nvlink, now.nvlink));
  }
  Gpm(t, now, &r);
  last_energy_j_ = std::max(last_energy_j_, At(std::floor(t * 50) / 50).energy);
  Of(r, GpuMetric::kEnergyJ) = energy_offset_j_ + last_energy_j_;
  if (spec_.ring_buffer) {
    double low = Of(r, GpuMetric::kSmUtil), high = low;
    for (double e = end; e > std::max(last_t_, t - 5) && e > 0; e -= window_s_) {
      const double u = WindowUtilization(e);
      low = std::min(low, u);
      high = std::max(high, u);
    }
    Of(r, GpuMetric::kSmUtilMin) = low;
    Of(r, GpuMetric::kSmUtilMax) = high;
  }
  last_t_ = t;
  return r;
}

namespace {

class HostMeter {
 public:
  HostMeter(const World& world, const Rng& rng) : world_(world), rng_(rng.Fork("host")), total_(world.duration_s) {
    for (const Process& p : world.processes) {
      Sum(&total_.main_cpu_s, p.usage.main_cpu_s);
      Sum(&total_.worker_cpu_s, p.usage.worker_cpu_s);
      Sum(&total_.iowait_s, p.usage.iowait_s);
      Sum(&total_.read_mb, p.usage.read_mb);
      Sum(&total_.disk_write_mb, p.usage.disk_write_mb);
      Sum(&total_.net_rx_mb, p.usage.net_rx_mb);
      Sum(&total_.net_tx_mb, p.usage.net_tx_mb);
      Sum(&total_.runnable_s, p.usage.runnable_s);
    }
    base_mb_ = rng_.Uniform(9000, 40000);
  }

  HostReading Poll(double t, size_t bin) {
    HostReading r;
    r.t = t;
    r.value.fill(kMissing);
    bin = std::min(bin, total_.read_mb.size() - 1);
    const double cores = world_.cores;
    const double cpu = total_.main_cpu_s[bin] + total_.worker_cpu_s[bin] + std::abs(0.25 + 0.12 * rng_.Normal());
    const double util = std::min(100.0, 100 * cpu / cores);
    const double runnable = total_.runnable_s[bin];
    load1_ += (runnable + total_.iowait_s[bin] - load1_) * (1 - Exp(-1.0 / 60));
    const double squeeze = runnable > cores ? std::min(1.0, (runnable - cores) / cores + 0.4) : 0.03 * util / 100;
    psi_cpu_ += (100 * squeeze - psi_cpu_) * (1 - Exp(-0.1));
    psi_io_ += (100 * std::min(1.0, total_.iowait_s[bin] * 0.9) - psi_io_) * (1 - Exp(-0.1));
    const double read = total_.read_mb[bin] + std::abs(0.2 * rng_.Normal()), write = total_.disk_write_mb[bin] + 0.3;
    Of(r, HostMetric::kCpuCount) = cores;
    Of(r, HostMetric::kCpuUtil) = util;
    Of(r, HostMetric::kCpuIowait) = std::min(100 - util, 100 * total_.iowait_s[bin] / cores);
    Of(r, HostMetric::kLoad1) = load1_;
    Of(r, HostMetric::kMemUsedMb) = base_mb_ + Processes(t) * 900 + static_cast<double>(bin) * 0.05;
    Of(r, HostMetric::kMemTotalMb) = world_.host_memory_mb;
    Of(r, HostMetric::kDiskReadMbS) = read;
    Of(r, HostMetric::kDiskWriteMbS) = write;
    Of(r, HostMetric::kDiskUtil) = std::min(100.0, 100 * (read + write) / world_.disk_mb_s + rng_.Uniform(0, 1));
    Of(r, HostMetric::kNetRxMbS) = total_.net_rx_mb[bin] + rng_.Uniform(0.02, 0.3);
    Of(r, HostMetric::kNetTxMbS) = total_.net_tx_mb[bin] + rng_.Uniform(0.02, 0.15);
    Of(r, HostMetric::kCpuPhysical) = world_.physical_cores;
    Of(r, HostMetric::kPsiCpuSome) = psi_cpu_;
    Of(r, HostMetric::kPsiIoSome) = psi_io_;
    Of(r, HostMetric::kPsiMemSome) = 0;
    return r;
  }

 private:
  static void Sum(std::vector<float>* to, const std::vector<float>& from) {
    for (size_t i = 0; i < to->size() && i < from.size(); ++i) (*to)[i] += from[i];
  }
  double Processes(double t) const {
    double n = 0;
    for (const Process& p : world_.processes) n += p.t0 <= t && t < p.t1 ? 1 + (t < p.workers_end ? p.workers : 0) : 0;
    return n;
  }

  const World& world_;
  Rng rng_;
  Usage total_;
  double base_mb_, load1_ = 0, psi_cpu_ = 0, psi_io_ = 0;
};

double Mean(const std::vector<float>& bins, double from, double to) {
  const auto a = static_cast<size_t>(std::max(0.0, from)),
             b = std::min(bins.size(), static_cast<size_t>(std::max(0.0, to)));
  return a >= b ? 0
                : std::accumulate(bins.begin() + static_cast<long>(a), bins.begin() + static_cast<long>(b), 0.0) /
                      static_cast<double>(b - a);
}

double Busy(const World& world, int card, double from, double to) {
  const auto& intervals = world.cards[static_cast<size_t>(card)];
  auto it = std::upper_bound(intervals.begin(), intervals.end(), from,
                             [](double x, const Interval& iv) { return x < iv.t1; });
  double busy = 0;
  for (; it != intervals.end() && it->t0 < to; ++it) {
    busy += it->load.busy * (std::min(to, it->t1) - std::max(from, it->t0));
  }
  return to > from ? busy / (to - from) : 0;
}

void PollProcesses(const World& world, double t, double every_s, std::vector<ProcessReading>* out) {
  const double from = std::max(0.0, t - every_s), to = std::max(t, from + 1);
  for (size_t i = 0; i < world.processes.size(); ++i) {
    const Process& p = world.processes[i];
    if (t < p.t0 || t >= p.t1) continue;
    ProcessReading r;
    r.t = t;
    r.process = i;
    r.value.fill(kMissing);
    const double main = Mean(p.usage.main_cpu_s, from, to);
    Of(r, ProcessMetric::kCpuCores) = main + Mean(p.usage.worker_cpu_s, from, to);
    Of(r, ProcessMetric::kMainCpuCores) = main;
    Of(r, ProcessMetric::kReadMbS) = Mean(p.usage.read_mb, from, to);
    Of(r, ProcessMetric::kWriteMbS) = Mean(p.usage.write_mb, from, to);
    Of(r, ProcessMetric::kStarted) = p.t0;
    Of(r, ProcessMetric::kWorkers) = t < p.workers_end ? p.workers : 0;
    Of(r, ProcessMetric::kCoresAllowed) = world.cores;
    if (p.cards.empty()) out->push_back(r);
    for (size_t c = 0; c < p.cards.size(); ++c) {
      r.gpu = p.cards[c];
      double mb = 0;
      for (const MemoryStep& step : p.memory[c]) {
        if (step.t <= t) mb = step.mb;
      }
      Of(r, ProcessMetric::kGpuMemMb) = mb;
      const double busy = std::round(100 * Busy(world, r.gpu, from, to));
      Of(r, ProcessMetric::kSmUtil) = busy > 0 ? std::min(100.0, busy) : kMissing;  // NVML lists only what was not zero
      out->push_back(r);
    }
  }
}

}  // namespace

Readings Measure(const World& world, const CardModel& model, const MeasureSpec& spec, const Rng& rng) {
  Readings readings;
  std::vector<CardMeter> meters;
  for (size_t c = 0; c < world.cards.size(); ++c) meters.emplace_back(world, static_cast<int>(c), model, spec, rng);
  HostMeter host(world, rng);
  Rng tick = rng.Fork("tick");
  const auto ticks = static_cast<long>(world.duration_s);
  for (long k = 0; k <= ticks; ++k) {
    const auto at = static_cast<double>(k);
    const double t = std::clamp(at + tick.Uniform(-spec.jitter_s, spec.jitter_s), 0.0, world.duration_s);
    const bool dropped = tick.Chance(spec.drop_share) && k > 0 && k < ticks;
    const bool repeated = tick.Chance(spec.repeat_share);
    const bool outage = at > spec.outage_from_s && at < spec.outage_to_s;
    const HostReading host_reading = host.Poll(at, static_cast<size_t>(std::max(0L, k - 1)));
    if (outage) continue;
    readings.host.push_back(host_reading);
    if (!dropped) {
      const size_t first = readings.gpu.size();
      for (size_t c = 0; c < meters.size(); ++c) {
        GpuReading r = meters[c].Poll(t);
        r.gpu = static_cast<int>(c);
        readings.gpu.push_back(r);
      }
      for (size_t c = 0; repeated && c < meters.size(); ++c)
        readings.gpu.push_back(GpuReading(readings.gpu[first + c]));
    }
    if (std::fmod(at, spec.process_every_s) == 0) PollProcesses(world, at, spec.process_every_s, &readings.process);
  }
  return readings;
}

}  // namespace sawbill::simulator
