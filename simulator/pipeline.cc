// SPDX-License-Identifier: Apache-2.0
// The step loop. All ranks start a step when the one before has ended on all of them. A rank waits for its own batch
// (kData), computes (kStep), then waits inside the collective for the slowest rank (kSpin: the kernel is resident, so
// NVML calls it busy). Hence a rank that is starved shows on the others as spinning, as it does on real machines.
#include "simulator/pipeline.h"

#include <algorithm>
#include <cmath>

namespace sawbill::simulator {
namespace {

constexpr double kContextMb = 430;

class JobRun {
 public:
  JobRun(const JobSpec& spec, const HostSpec& host, const Rng& rng, World* world)
      : spec_(spec), host_(host), rng_(rng.Fork("job " + spec.job, static_cast<uint64_t>(spec.pid))), world_(world) {
    ranks_ = spec.data_parallel ? 1 : spec.card_count;
  }

  JobResult Run() {
    MakeProcesses();
    double t = Startup();
    std::vector<Loader> loaders;
    for (int r = 0; r < ranks_; ++r) {
      loaders.emplace_back(spec_.loader, host_, spec_.loader.workers * ranks_, t - std::min(3.0, spec_.startup_s * 0.2),
                           rng_.Fork("loader", static_cast<uint64_t>(r)), &processes_[static_cast<size_t>(r)].usage);
    }
    JobResult result;
    const double end = std::min(spec_.end_s, world_->duration_s);
    while (t < end && t < spec_.hang_at_s && (spec_.max_steps < 0 || result.steps < spec_.max_steps)) {
      t = Step(t, &loaders);
      ++result.steps;
      t = Interruptions(t, result.steps);
    }
    result.training_end_s = t;
    if (t >= spec_.hang_at_s && t < end) t = Hang(t, end);
    if (spec_.hold_s > 0) {
      AddAll(Activity::kIdle, t, t + spec_.hold_s, {});
      MainCpu(t, t + spec_.hold_s, 0.01);
      t += spec_.hold_s;
    }
    result.end_s = t;
    for (Process& p : processes_) {
      p.t1 = t;
      p.workers_end = result.training_end_s;
      world_->processes.push_back(std::move(p));
    }
    world_->steps += result.steps;
    return result;
  }

 private:
  void MakeProcesses() {
    for (int r = 0; r < ranks_; ++r) {
      Process p;
      p.pid = spec_.pid + r * (1 + spec_.loader.workers);
      p.user = spec_.user;
      p.name = spec_.program;
      p.job = spec_.job;
      p.t0 = spec_.start_s;
      p.workers = spec_.loader.workers;
      p.usage = Usage(world_->duration_s);
      const int n = spec_.data_parallel ? spec_.card_count : 1;
      for (int i = 0; i < n; ++i) p.cards.push_back(spec_.first_card + (spec_.data_parallel ? i : r));
      p.memory.resize(static_cast<size_t>(n));
      processes_.push_back(std::move(p));
    }
  }

  void Memory(double t, double factor) {
    for (Process& p : processes_) {
      for (size_t i = 0; i < p.memory.size(); ++i) {
        const double first = spec_.data_parallel && i == 0 ? 1.0 + spec_.first_extra : 1.0;
        const double mb = std::max(kContextMb, spec_.memory_mb * factor * first);
        p.memory[i].push_back({t, std::floor(mb / 2) * 2});
      }
    }
  }

  void AddCard(int card, Activity activity, double t0, double t1, const Load& load) {
    if (t1 <= t0) return;
    world_->cards[static_cast<size_t>(card)].push_back({t0, t1, activity, load});
  }
  void AddAll(Activity activity, double t0, double t1, const Load& load) {
    for (int c = 0; c < spec_.card_count; ++c) AddCard(spec_.first_card + c, activity, t0, t1, load);
  }
  void MainCpu(double t0, double t1, double cores) {
    for (Process& p : processes_) {
      Usage::Add(&p.usage.main_cpu_s, t0, t1, cores);
      Usage::Add(&p.usage.runnable_s, t0, t1, cores);
    }
  }

  double Startup() {
    const double t0 = spec_.start_s, t1 = t0 + spec_.startup_s;
    AddAll(Activity::kStartup, t0, t1, {});
    MainCpu(t0, t1, 1.0);
    Memory(t0, 0);
    Memory(t0 + 0.6 * spec_.startup_s, 0.25);
    Memory(t1 + 3 * spec_.step_s, 1);
    for (Process& p : processes_) Usage::Add(&p.usage.read_mb, t0, t1, 60.0);
    return t1;
  }

  /// Share of the full clock that heat leaves. Under a lowered power limit the meter works it out itself.
  double Clock(double t) const {
    return t >= spec_.throttle_from_s && !spec_.throttle_by_power ? spec_.throttle_clock : 1.0;
  }
  Load StepLoad(double t) {
    Load load = spec_.load;
    load.busy = static_cast<float>(std::min(1.0, load.busy * (1 + 0.004 * rng_.Normal())));
    load.clock = static_cast<float>(Clock(t));
    load.thermal = load.clock < 1;
    return load;
  }
  double Pace(double t) const {
    const double longer = 1 + spec_.step_growth_per_hour * (t - spec_.start_s) / 3600;
    return longer * (t >= spec_.shared_from_s ? spec_.shared_slow : 1.0);
  }
  Load Waiting(double t) const {  // a resident collective: hardly any arithmetic
    Load load;
    load.busy = 1;
    load.intensity = 0.06F;
    load.sm_active = 0.12F;
    load.occupancy = 0.02F;
    load.dram = 0.04F;
    load.clock = static_cast<float>(Clock(t));
    load.thermal = load.clock < 1;
    return load;
  }

  double Step(double t, std::vector<Loader>* loaders) {
    std::vector<double> done(static_cast<size_t>(ranks_));
    const double slowed = t >= spec_.throttle_from_s && spec_.throttle_by_power ? spec_.throttle_clock : Clock(t);
    const double common = spec_.step_s * rng_.LogNormal(spec_.step_cv) * Pace(t) / slowed;
    for (int r = 0; r < ranks_; ++r) {
      Loader& loader = (*loaders)[static_cast<size_t>(r)];
      const double start = std::max(t, loader.ReadyAt(t));
      loader.Consume(start);
      const double own = ranks_ > 1 ? rng_.LogNormal(0.006) : 1.0;
      done[static_cast<size_t>(r)] = start + common * own * (r == spec_.slow_rank ? spec_.slow_factor : 1.0);
      Usage& usage = processes_[static_cast<size_t>(r)].usage;
      if (spec_.loader.workers > 0) Usage::Add(&usage.main_cpu_s, t, start, 0.04);
      Usage::Add(&usage.main_cpu_s, start, done[static_cast<size_t>(r)], 0.99);
      Usage::Add(&usage.runnable_s, start, done[static_cast<size_t>(r)], 0.99);
      if (spec_.data_parallel) {
        AddAll(Activity::kData, t, start, {});
        AddAll(Activity::kStep, start, done[0], StepLoad(t));
      } else {
        AddCard(spec_.first_card + r, Activity::kData, t, start, {});
        Load load = StepLoad(t);
        if (r == spec_.slow_rank) load.intensity *= static_cast<float>(1.0 / std::sqrt(spec_.slow_factor));
        AddCard(spec_.first_card + r, Activity::kStep, start, done[static_cast<size_t>(r)], load);
      }
    }
    const double barrier = *std::max_element(done.begin(), done.end());
    for (int r = 0; r < ranks_ && ranks_ > 1; ++r) {
      AddCard(spec_.first_card + r, Activity::kSpin, done[static_cast<size_t>(r)], barrier, Waiting(t));
      Usage::Add(&processes_[static_cast<size_t>(r)].usage.main_cpu_s, done[static_cast<size_t>(r)], barrier, 0.99);
    }
    return AfterBarrier(barrier, common);
  }

  double AfterBarrier(double t, double step) {
    const double begin = t;
    if (spec_.data_parallel && spec_.first_extra > 0) {
      const double extra = step * spec_.first_extra;
      AddCard(spec_.first_card, Activity::kStep, t, t + extra, StepLoad(t));
      for (int c = 1; c < spec_.card_count; ++c) AddCard(spec_.first_card + c, Activity::kImbalance, t, t + extra, {});
      t += extra;
    }
    if (spec_.comm_s > 0) {
      const double comm = spec_.comm_s * rng_.LogNormal(0.05);
      Load load = Waiting(t);
      load.intensity = 0.15F;
      load.nvlink_mb_s =
          spec_.comm_link_mb_s > 0 ? static_cast<float>(spec_.comm_link_mb_s) : spec_.load.nvlink_mb_s * 4;
      AddAll(Activity::kComm, t, t + comm, load);
      t += comm;
    }
    const double due = spec_.sync_gap_s + spec_.sync_growth_per_hour * spec_.step_s * (t - spec_.start_s) / 3600;
    if (due > 0) {
      const double gap = due * rng_.LogNormal(spec_.sync_gap_cv);
      AddAll(Activity::kSync, t, t + gap, {});
      t += gap;
    }
    MainCpu(begin, t, 1.0);
    return t;
  }

  double Interruptions(double t, long steps) {
    const auto due = [steps](int every) { return every > 0 && steps % every == 0; };
    if (due(spec_.log.every_steps)) {
      const double stall = spec_.log.stall_s * rng_.LogNormal(0.2);
      AddAll(Activity::kLog, t, t + stall, {});
      MainCpu(t, t + stall, 1.0);
      Write(t, stall, 12, 4, 100);
      t += stall;
    }
    if (due(spec_.evaluation.every_steps)) t = Evaluate(t);
    if (due(spec_.checkpoint.every_steps)) t = Save(t);
    if (due(spec_.epoch_steps)) {
      const double pause = spec_.epoch_pause_s * rng_.LogNormal(0.3);
      AddAll(Activity::kSync, t, t + pause, {});
      MainCpu(t, t + pause, 0.8);
      t += pause;
    }
    return t;
  }

  double Evaluate(double t) {
    const EvaluationSpec& spec = spec_.evaluation;
    const double end = t + spec.length_s * rng_.LogNormal(0.03);
    Memory(t, spec.memory_factor);
    Memory(end, 1);
    MainCpu(t, end, 0.9);
    for (Process& p : processes_) Usage::Add(&p.usage.worker_cpu_s, t, end, 0.6 * spec_.loader.workers);
    while (t < end) {
      const double piece = std::min(end, t + rng_.Uniform(0.8, 2.5));
      Load load = spec.load;
      load.busy = static_cast<float>(std::clamp(load.busy * (1 + 0.06 * rng_.Normal()), 0.0, 1.0));
      AddAll(Activity::kEval, t, piece, load);
      t = piece;
    }
    return end;
  }

  double Save(double t) {
    const CheckpointSpec& spec = spec_.checkpoint;
    const double stall = spec.stall_s * rng_.LogNormal(spec.stall_cv);
    for (int c = 0; c < spec_.card_count; ++c) {
      AddCard(spec_.first_card + c, Activity::kCkpt, t, t + stall, spec.others_spin && c > 0 ? Waiting(t) : Load{});
    }
    MainCpu(t, t + stall, 0.95);
    Write(t, std::max(stall, spec.write_s), spec.size_mb, spec.lag_s * rng_.LogNormal(0.3), spec.disk_mb_s);
    return t + stall;
  }

  /// Rank 0 writes `mb` within `over_s`; the disk sees it `lag_s` later, at its own rate.
  void Write(double t, double over_s, double mb, double lag_s, double disk_mb_s) {
    Usage& usage = processes_[0].usage;
    Usage::Add(&usage.write_mb, t, t + over_s, mb / over_s);
    const double flush_s = mb / disk_mb_s;
    Usage::Add(&usage.disk_write_mb, t + lag_s, t + lag_s + flush_s, disk_mb_s);
    Usage::Add(&usage.iowait_s, t + lag_s, t + lag_s + flush_s, 0.5);
  }

  double Hang(double t, double end) {
    AddAll(Activity::kHang, t, end, Waiting(t));
    MainCpu(t, end, 1.0);
    return end;
  }

  const JobSpec& spec_;
  HostSpec host_;
  Rng rng_;
  World* world_;
  int ranks_ = 1;
  std::vector<Process> processes_;
};

}  // namespace

JobResult SimulateJob(const JobSpec& spec, const HostSpec& host, const Rng& rng, World* world) {
  return JobRun(spec, host, rng, world).Run();
}

}  // namespace sawbill::simulator
