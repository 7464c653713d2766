// SPDX-License-Identifier: Apache-2.0
// Parameters are drawn from ranges, log-uniform where a rate spans decades, so that no two seeds look alike. The true
// saving of a training scenario comes from running the same job for the same number of steps with the fix in place.
#include "simulator/scenarios.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "simulator/service.h"
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

/// Preparation time that lets the loader deliver `rho` times what the GPU takes.
void Feed(Draft* d, double rho) {
  const double step = d->job.step_s + d->job.sync_gap_s + d->job.comm_s;
  d->job.loader.prep_s = std::max(1, d->job.loader.workers) * step / rho;
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

// ---- what each training scenario spoils ----

void FewWorkers(Draft* d) {
  d->job.loader.workers = d->options->workers.value_or(d->rng.Int(1, 4));
  d->job.loader.prep_cv = d->rng.Uniform(0.03, 0.3);
  Feed(d, d->rng.Uniform(0.35, 0.8));
  d->host.cores = std::max(d->host.cores, 24 * d->job.card_count);
  d->truth.findings = {"data-loading"};
  d->truth.cause = "few-workers";
  d->truth.workers = d->job.loader.workers;
  d->fix = [](JobSpec* job, HostSpec*) {
    const double need = job->loader.prep_s / (job->step_s + job->sync_gap_s + job->comm_s);
    job->loader.workers = static_cast<int>(std::ceil(1.5 * need));
    job->loader.prefetch_factor = 4;
  };
}

void CpuSaturated(Draft* d) {
  d->host.cores = 8 * d->job.card_count;
  d->job.loader.workers = d->options->workers.value_or(d->rng.Int(8, 14));
  Feed(d, d->rng.Uniform(0.35, 0.75) * std::max(1.0, d->job.loader.workers / 8.0));
  d->truth.findings = {"data-loading"};
  d->truth.cause = "cpu-saturated";
  d->fix = [](JobSpec* job, HostSpec*) { job->loader.prep_s = 4 * job->step_s; };
}

void SlowStorage(Draft* d) {
  Feed(d, 3);
  d->job.loader.read_mb = d->rng.LogUniform(40, 300) * d->job.step_s;
  const double step = d->job.step_s + d->job.sync_gap_s + d->job.comm_s;
  // W workers read in turn with computing: storage alone would give rate/read_mb batches a second.
  d->host.storage_mb_s = d->rng.Uniform(0.4, 0.7) * d->job.loader.read_mb * d->job.card_count / step;
  d->truth.findings = {"data-loading"};
  d->truth.cause = "slow-storage";
  d->fix = [](JobSpec*, HostSpec* host) { host->storage_mb_s *= 20; };
}

void HostContention(Draft* d) {
  d->host.cores = 12 * d->job.card_count;
  Feed(d, 1.5);
  d->host.foreign_cores = d->host.cores * d->rng.Uniform(1.5, 3);
  d->host.foreign_from_s = 3600 * d->options->hours.value_or(d->hours) * d->rng.Uniform(0.05, 0.4);
  d->host.foreign_to_s = kNever;
  d->truth.findings = {"data-loading"};
  d->truth.cause = "host-contention";
  d->fix = [](JobSpec*, HostSpec* host) { host->foreign_cores = 0; };
}

void SmallBatch(Draft* d) {
  d->job.step_s = d->rng.LogUniform(0.015, 0.05);
  d->job.sync_gap_s = d->job.step_s * d->rng.Uniform(0.3, 0.8);
  d->job.load.intensity = static_cast<float>(d->rng.Uniform(0.15, 0.3));
  d->job.load.sm_active = static_cast<float>(d->rng.Uniform(0.15, 0.4));
  d->job.load.tensor = static_cast<float>(d->rng.Uniform(0.02, 0.08));
  d->job.load.dram = static_cast<float>(d->rng.Uniform(0.06, 0.25));
  d->job.memory_mb = d->model->memory_mb * d->rng.Uniform(0.08, 0.3);
  d->job.loader.read_mb = 0.2;
  d->hours = 0.5;
  Feed(d, 4);
  d->truth.findings = {"unsaturated"};
  d->truth.cause = "small-batch";
  d->truth.saving_tier = "C";
  // Twice the batch: half the steps, each with the same gap and 1.6 times the kernels.
  d->fix = [](JobSpec* job, HostSpec*) {
    job->step_s *= 0.8;
    job->sync_gap_s *= 0.5;
  };
}

void FullPrecision(Draft* d) {
  d->job.load.tensor = 0;
  d->job.load.sm_active = static_cast<float>(d->rng.Uniform(0.8, 0.95));
  d->job.load.intensity = static_cast<float>(d->rng.Uniform(0.85, 0.97));
  d->truth.findings = {"unsaturated"};
  d->truth.cause = "full-precision";
  d->truth.saving_tier = "C";
  d->fix = [](JobSpec* job, HostSpec*) { job->step_s /= 2.0; };
}

void HostBound(Draft* d) {
  d->job.step_s = d->rng.LogUniform(0.05, 0.5);
  d->job.sync_gap_s = d->job.step_s * d->rng.Uniform(0.35, 0.9);
  d->job.load.intensity *= 0.85F;
  Feed(d, 2.5);
  d->hours = 0.6;
  d->truth.findings = {"unsaturated"};
  d->truth.cause = "host-bound";
  d->fix = [](JobSpec* job, HostSpec*) { job->sync_gap_s = 0.05 * job->step_s; };
}

void Checkpoint(Draft* d) {
  const double period = d->rng.LogUniform(120, 600);
  d->job.checkpoint.stall_s = period * d->rng.Uniform(0.05, 0.15);
  d->job.checkpoint.every_steps = std::max(1, static_cast<int>((period - d->job.checkpoint.stall_s) / d->job.step_s));
  d->job.checkpoint.size_mb = d->job.checkpoint.stall_s * d->rng.LogUniform(150, 900);
  d->job.checkpoint.lag_s = d->rng.Uniform(0, 12);
  d->job.checkpoint.others_spin = d->rng.Chance(0.3);
  d->hours = 1.5;
  d->truth.findings = {"checkpoint"};
  d->period_of = Activity::kCkpt;
  d->fix = [](JobSpec* job, HostSpec*) {
    job->checkpoint.every_steps *= 5;
    job->checkpoint.stall_s = 1;
  };
}

void Evaluation(Draft* d) {
  const double period = d->rng.LogUniform(250, 700);
  d->job.evaluation.length_s = period * d->rng.Uniform(0.15, 0.3);
  d->job.evaluation.every_steps = static_cast<int>((period - d->job.evaluation.length_s) / d->job.step_s);
  d->job.evaluation.load = d->job.load;
  d->job.evaluation.load.busy = static_cast<float>(d->rng.Uniform(0.45, 0.85));
  d->job.evaluation.load.intensity *= 0.6F;
  for (float* v : {&d->job.evaluation.load.sm_active, &d->job.evaluation.load.tensor, &d->job.evaluation.load.dram})
    *v *= 0.5F;
  d->job.evaluation.memory_factor = d->rng.Chance(0.5) ? 1.12 : 0.85;
  d->hours = 1.5;
  d->truth.findings = {"evaluation"};
  d->truth.also = {"unsaturated"};
  d->period_of = Activity::kEval;
  d->fix = [](JobSpec* job, HostSpec*) { job->evaluation.every_steps *= 4; };
}

void Logging(Draft* d) {
  const double period = d->rng.Uniform(9, 25);
  d->job.step_s = std::min(d->job.step_s, 0.6);
  Feed(d, 2.2);
  d->job.log.stall_s = period * d->rng.Uniform(0.08, 0.18);
  d->job.log.every_steps = static_cast<int>((period - d->job.log.stall_s) / d->job.step_s);
  d->truth.findings = {"logging"};
  d->period_of = Activity::kLog;
  d->fix = [](JobSpec* job, HostSpec*) { job->log.every_steps *= 10; };
}

void SeveralCards(Draft* d, int least) {
  if (d->job.card_count >= least) return;
  d->job.card_count = d->options->cards.value_or(0) > 1 ? *d->options->cards : least;
  d->job.comm_s = d->job.step_s * 0.03;
  d->job.load.nvlink_mb_s = d->model->nvlink ? 4000 : 0;
  d->host.cores = std::max(d->host.cores, 12 * d->job.card_count);
}

void Straggler(Draft* d) {
  SeveralCards(d, 4);
  d->job.slow_rank = d->rng.Int(0, d->job.card_count - 1);
  d->job.slow_factor = d->rng.Uniform(1.25, 1.8);
  d->truth.findings = {"imbalance"};
  d->truth.cause = "straggler";
  d->truth.gpu = d->job.slow_rank;
  d->fix = [](JobSpec* job, HostSpec*) { job->slow_factor = 1; };
}

void DataParallel(Draft* d) {
  SeveralCards(d, 4);
  d->job.comm_s = 0;
  d->job.data_parallel = true;
  d->job.first_extra = d->rng.Uniform(0.3, 0.7);
  d->job.memory_mb = d->model->memory_mb * 0.5;
  d->job.loader.workers = 16;
  Feed(d, 3);
  d->truth.findings = {"imbalance"};
  d->truth.cause = "data-parallel";
  d->fix = [](JobSpec* job, HostSpec*) {
    job->first_extra = 0.04;
    job->data_parallel = true;
  };
}

void Communication(Draft* d) {
  SeveralCards(d, 4);
  d->job.comm_s = d->job.step_s * d->rng.Uniform(0.3, 0.8);
  d->job.loader.prep_s = 8 * d->job.step_s / 2.0;
  d->truth.findings = {"communication"};
  d->fix = [](JobSpec* job, HostSpec*) { job->comm_s = 0.05 * job->step_s; };
}

void Thermal(Draft* d) {
  d->job.throttle_from_s = d->rng.Uniform(60, 300);
  d->job.throttle_clock = d->rng.Uniform(0.6, 0.8);
  d->job.load.intensity = static_cast<float>(d->rng.Uniform(0.75, 0.9));
  d->truth.findings = {"throttling"};
  d->truth.cause = "thermal";
  d->fix = [](JobSpec* job, HostSpec*) { job->throttle_clock = 1; };
}

void Startup(Draft* d) {
  d->job.startup_s = d->rng.Uniform(900, 1500);
  d->truth.findings = {"startup"};
}

void Degradation(Draft* d) {
  d->hours = 2.4;
  d->job.loader.prep_cv = 0.1;
  Feed(d, 1.25);
  d->job.loader.prep_growth_per_hour = d->rng.Uniform(0.35, 0.8);
  d->truth.findings = {"degradation"};
  d->truth.also = {"data-loading"};
}

void Nothing(Draft* d) { d->truth.healthy = true; }

void Hang(Draft* d) {
  SeveralCards(d, 4);
  d->job.hang_at_s = 3600 * d->options->hours.value_or(d->hours) * d->rng.Uniform(0.3, 0.6);
  d->truth.findings = {"hang"};
  d->truth.also = {"idle-held"};
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
    {"inference-random", "a service under random load: idle, but not starved", Inference, nullptr},
};

}  // namespace

Draft Healthy(const ScenarioInfo& info, const Options& options) {
  Draft d{&options, Rng(options.seed).Fork(info.name), 1, nullptr, {}, {}, {}, {}, nullptr, Activity::kCount};
  Rng& rng = d.rng;
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

const ScenarioInfo* FindScenario(std::string_view name) {
  for (const ScenarioInfo& info : kScenarios) {
    if (name == info.name) return &info;
  }
  return nullptr;
}

}  // namespace sawbill::simulator
