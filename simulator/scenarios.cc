// SPDX-License-Identifier: Apache-2.0
// Parameters are drawn from ranges, log-uniform where a rate spans decades, so that no two seeds look alike. The true
// saving of a training scenario comes from running the same job for the same number of steps with the fix in place.
#include "simulator/scenarios.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/card_specs.h"
#include "simulator/service.h"
#include "simulator/shapes.h"
#include "simulator/worlds.h"

namespace sawbill::simulator {
namespace {

const CardModel* DrawCard(const Options& options, Rng* rng) {
  const auto cards = Cards();
  const auto drawn = static_cast<size_t>(rng->Int(0, static_cast<int>(cards.size()) - 1));
  return options.card != nullptr ? options.card : &cards[drawn];
}

Load DenseLoad(Rng* rng) {
  Load load;
  load.busy = static_cast<float>(rng->Uniform(0.975, 0.995));
  load.intensity = static_cast<float>(rng->Uniform(0.62, 0.85));
  load.sm_active = static_cast<float>(rng->Uniform(0.55, 0.80));
  load.occupancy = static_cast<float>(rng->Uniform(0.25, 0.45));
  load.tensor = static_cast<float>(rng->Uniform(0.15, 0.28));
  load.dram = static_cast<float>(rng->Uniform(0.30, 0.60));
  load.pcie_mb_s = static_cast<float>(rng->LogUniform(80, 600));
  return load;
}

double PeriodOf(const std::vector<Interval>& card, Activity activity) {
  double first = -1, last = -1, count = 0, previous_end = -1;
  for (const Interval& iv : card) {
    if (iv.activity != activity) continue;
    if (iv.t0 > previous_end + 0.5) {
      if (first < 0) first = iv.t0;
      last = iv.t0;
      ++count;
    }
    previous_end = iv.t1;
  }
  return count < 3 ? 0 : (last - first) / (count - 1);
}

/// The other tenant of the card: a process of its own with memory there. What its kernels cost is in the job's steps.
void AddNeighbour(const Draft& d, double duration, World* world) {
  Process p;
  p.pid = 8800;
  p.user = "carol";
  p.name = "python3";
  p.job = "other";
  p.t0 = d.job.shared_from_s;
  p.t1 = duration;
  p.cards = {d.job.first_card};
  p.memory = {{{p.t0, std::floor(d.model->memory_mb * 0.2 / 2) * 2}}};
  p.usage = Usage(duration);
  Usage::Add(&p.usage.main_cpu_s, p.t0, p.t1, 0.95);
  world->processes.push_back(std::move(p));
}

Simulation MakeTraining(const ScenarioInfo& info, const Options& options) {
  Draft d = Healthy(info, options);
  info.shape(&d);
  if (options.workers) d.job.loader.workers = *options.workers;
  const double duration = std::round(3600 * options.hours.value_or(d.hours));
  const Rng physics = Rng(options.seed).Fork(info.name).Fork("physics");
  World world(duration, d.job.first_card + d.job.card_count);
  world.cores = world.physical_cores = d.host.cores;
  const JobResult result = SimulateJob(d.job, d.host, physics, &world);
  if (d.host.foreign_cores > 0) {
    const double threads = d.host.foreign_cores + d.job.loader.workers * d.job.card_count;
    SimulateTenant("bob", "ffmpeg", d.host.foreign_cores, d.host.foreign_cores * std::min(1.0, d.host.cores / threads),
                   d.host.foreign_from_s, std::min(duration, d.host.foreign_to_s), &world);
  }
  if (d.job.shared_from_s < duration) AddNeighbour(d, duration, &world);
  world.Close();
  d.truth.scenario = info.name;
  if (d.period_of != Activity::kCount) {
    const double period = PeriodOf(world.cards[0], d.period_of);
    if (period > 0) d.truth.period_s = period;
  }
  if (d.fix != nullptr) {
    JobSpec fixed = d.job;
    HostSpec host = d.host;
    d.fix(&fixed, &host);
    fixed.max_steps = result.steps;
    World other(duration * 1.2, fixed.first_card + fixed.card_count);
    const JobResult better = SimulateJob(fixed, host, physics, &other);
    d.truth.speedup_if_fixed = result.end_s / better.end_s;
    d.truth.saving_share = 1 - better.end_s / result.end_s;
  }
  return {std::move(world), d.model, d.measure, d.truth};
}

constexpr ScenarioInfo kScenarios[] = {
    {"demo", "what ships in examples/demo: few workers and synchronous saves on two cards, then left idle", Demo,
     nullptr},
    {"few-workers", "the loader has too few workers; cores are free", MakeTraining, FewWorkers},
    {"cpu-saturated", "as many workers as cores, and still too slow", MakeTraining, CpuSaturated},
    {"slow-storage", "workers wait for reads; CPU idle", MakeTraining, SlowStorage},
    {"host-contention", "another user's processes take the CPU from some moment on", MakeTraining, HostContention},
    {"small-batch", "short kernels, host gaps, memory mostly empty", MakeTraining, SmallBatch},
    {"full-precision", "tensor cores unused", MakeTraining, FullPrecision},
    {"host-bound", "a synchronisation in each step: gaps between kernels", MakeTraining, HostBound},
    {"checkpoint", "synchronous saves, often and long", MakeTraining, Checkpoint},
    {"evaluation", "evaluation takes a large share", MakeTraining, Evaluation},
    {"logging", "the step loop stalls for logging", MakeTraining, Logging},
    {"straggler", "one slow card; the others spin in the collective", MakeTraining, Straggler},
    {"data-parallel", "one process on all cards; the first one works longer", MakeTraining, DataParallel},
    {"communication", "exposed collectives", MakeTraining, Communication},
    {"thermal", "heat holds the clock down", MakeTraining, Thermal},
    {"idle-held", "a notebook holds memory and does next to nothing", IdleHeld, nullptr},
    {"unused", "no process at all", Unused, nullptr},
    {"startup", "a long installation before the first step", MakeTraining, Startup},
    {"degradation", "preparation gets slower by the hour", MakeTraining, Degradation},
    {"sweep-gaps", "many short runs with gaps between them", SweepGaps, nullptr},
    {"restart-loop", "a job that dies and comes back", RestartLoop, nullptr},
    {"hang", "a collective that never returns", MakeTraining, Hang},
    {"healthy", "nothing is wrong", MakeTraining, Nothing},
    {"no-workers", "the main process prepares each batch itself", MakeTraining, NoWorkers},
    {"subsecond-loader", "few workers, steps well below a second", MakeTraining, SubsecondLoader},
    {"burst-loader", "preparation times with a heavy tail: no regular dips", MakeTraining, BurstLoader},
    {"remote-storage", "workers sleep on sockets; CPU and disks idle", MakeTraining, RemoteStorage},
    {"cold-cache", "slow storage until the page cache has the data", MakeTraining, ColdCache},
    {"aliased-host-bound", "gaps in steps whose length beats with the polls", MakeTraining, AliasedHostBound},
    {"kernel-inefficiency", "memory is full, kernels are small", MakeTraining, KernelInefficiency},
    {"power-cap", "a lowered power limit that costs clocks", MakeTraining, PowerCap},
    {"neighbour", "another job computes on the same card", MakeTraining, Neighbour},
    {"fragmentation", "gaps between steps grow by the hour", MakeTraining, Fragmentation},
    {"forgotten-job", "training ended, the process stays", MakeTraining, ForgottenJob},
    {"loader-and-checkpoint", "too few workers and synchronous saves", MakeTraining, LoaderAndCheckpoint},
    {"host-bound-and-evaluation", "gaps in the steps and a long evaluation", MakeTraining, HostBoundAndEvaluation},
    {"over-allocated", "some of the cards are never used", OverAllocated, nullptr},
    {"healthy-busy-loader", "workers that are busy and quick enough", MakeTraining, BusyLoader},
    {"healthy-async-checkpoint", "saves that are written beside the steps", MakeTraining, AsyncCheckpoint},
    {"healthy-rare-evaluation", "evaluation at about 1 %", MakeTraining, RareEvaluation},
    {"healthy-power-cap", "at the card's own power limit", MakeTraining, PowerCapBenign},
    {"healthy-curriculum", "steps get longer, the card stays busy", MakeTraining, Curriculum},
    {"healthy-short", "two minutes", MakeTraining, Short},
    {"healthy-outage", "a hole in the recording", MakeTraining, Outage},
    {"healthy-small-model", "little memory, well used", MakeTraining, SmallModel},
    {"healthy-several", "four or eight cards that wait little for each other", MakeTraining, SeveralWell},
    {"healthy-busy-host", "another tenant's load that costs nothing", MakeTraining, BusyHost},
    {"healthy-sweep", "many short runs back to back", HealthySweep, nullptr},
    {"inference-random", "a service under random load: idle, but not starved", Inference, nullptr},
};

}  // namespace

double LinkInCollectives(const CardModel& model, Rng* rng) {
  const auto spec = model::FindCardSpec(model.name);
  if (!model.nvlink || !spec) return 0;
  return spec->nvlink_gb_s * 1000.0 * rng->Uniform(0.65, 0.92);
}

void Feed(Draft* d, double rho) {
  const double step = d->job.step_s + d->job.sync_gap_s + d->job.comm_s;
  d->job.loader.prep_s = std::max(1, d->job.loader.workers) * step / rho;
}

Draft Healthy(const ScenarioInfo& info, const Options& options) {
  Draft d{&options, Rng(options.seed).Fork(info.name), 1, nullptr, {}, {}, {}, {}, nullptr, Activity::kCount};
  Rng& rng = d.rng;
  rng.Restrict(options.band);
  d.model = DrawCard(options, &rng);
  d.job.card_count = options.cards.value_or(1);
  d.job.step_s = rng.LogUniform(0.15, 1.2);
  d.job.step_cv = rng.Uniform(0.01, 0.05);
  d.job.load = DenseLoad(&rng);
  d.job.startup_s = rng.Uniform(8, 25);
  d.job.memory_mb = d.model->memory_mb * rng.Uniform(0.55, 0.88);
  d.job.loader.workers = 8;
  d.job.loader.prefetch_factor = 2;
  d.job.loader.prep_cv = rng.Uniform(0.1, 0.3);
  d.job.loader.read_mb = rng.LogUniform(3, 40) * d.job.step_s;
  d.job.epoch_steps = static_cast<int>(rng.LogUniform(300, 1500) / d.job.step_s);
  if (d.job.card_count > 1) {
    d.job.comm_s = d.job.step_s * rng.Uniform(0.02, 0.05);
    d.job.load.nvlink_mb_s = d.model->nvlink ? 4000 : 0;
  }
  d.host.cores = std::max(16, 12 * d.job.card_count);
  d.measure.jitter_s = rng.Chance(0.5) ? 0.02 : 0.2;
  d.measure.drop_share = rng.Uniform(0, 0.01);
  d.measure.repeat_share = rng.Chance(0.3) ? 0.003 : 0;
  d.measure.ring_buffer = rng.Chance(0.5);
  Feed(&d, rng.Uniform(1.8, 2.6));
  return d;
}

std::span<const ScenarioInfo> Scenarios() { return kScenarios; }

std::optional<Band> FindBand(std::string_view name) {
  constexpr std::string_view kNames[] = {"all", "train", "dev", "test"};
  const auto* it = std::find(std::begin(kNames), std::end(kNames), name);
  if (it == std::end(kNames)) return std::nullopt;
  return static_cast<Band>(it - std::begin(kNames));
}

const ScenarioInfo* FindScenario(std::string_view name) {
  for (const ScenarioInfo& info : kScenarios) {
    if (name == info.name) return &info;
  }
  return nullptr;
}

}  // namespace sawbill::simulator
