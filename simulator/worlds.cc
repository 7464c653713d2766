// SPDX-License-Identifier: Apache-2.0
#include "simulator/worlds.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "simulator/service.h"

namespace sawbill::simulator {
namespace {

Simulation Empty(const ScenarioInfo& info, const Options& options, double hours) {
  Draft d = Healthy(info, options);
  World world(std::round(3600 * options.hours.value_or(hours)), options.cards.value_or(1));
  world.cores = world.physical_cores = d.host.cores;
  d.truth.scenario = info.name;
  return {std::move(world), d.model, d.measure, d.truth};
}

/// How long runs start up, last and pause, in seconds.
struct Rhythm {
  double startup_low, startup_high, low, high, gap_low, gap_high;
};
constexpr Rhythm kCrash{15, 45, 20, 120, 5, 25}, kGaps{6, 15, 180, 600, 40, 240}, kBackToBack{3, 6, 240, 900, 1, 12};

Simulation Runs(const ScenarioInfo& info, const Options& options, const Rhythm& rhythm, bool crash) {
  Draft d = Healthy(info, options);
  Simulation s = Empty(info, options, 1.5);
  const Rng physics = Rng(options.seed).Fork(info.name).Fork("physics");
  double t = crash ? 0 : d.rng.Uniform(5, 60);
  for (int run = 0; t < s.world.duration_s - 30; ++run) {
    JobSpec job = d.job;
    job.card_count = static_cast<int>(s.world.cards.size());
    job.pid = 4100 + 40 * run;
    job.job = crash ? "train" : "sweep-" + std::to_string(run);
    job.start_s = t;
    job.startup_s = d.rng.Uniform(rhythm.startup_low, rhythm.startup_high);
    job.end_s = t + job.startup_s + d.rng.Uniform(rhythm.low, rhythm.high);
    const JobResult result = SimulateJob(job, d.host, physics, &s.world);
    t = result.end_s + d.rng.Uniform(rhythm.gap_low, rhythm.gap_high);
  }
  s.world.steps = 0;
  s.world.Close();
  return s;
}

}  // namespace

Simulation IdleHeld(const ScenarioInfo& info, const Options& options) {
  Simulation s = Empty(info, options, 2.4);
  const Rng rng = Rng(options.seed).Fork(info.name).Fork("physics");
  for (size_t c = 0; c < s.world.cards.size(); ++c) {
    HolderSpec spec;
    spec.card = static_cast<int>(c);
    spec.pid += spec.card;
    spec.end_s = s.world.duration_s;
    spec.memory_mb = s.model->memory_mb * 0.4;
    SimulateNotebook(spec, rng, &s.world);
  }
  s.world.Close();
  s.truth.findings = {"idle-held"};
  return s;
}

Simulation Unused(const ScenarioInfo& info, const Options& options) {
  Simulation s = Empty(info, options, 1.5);
  s.world.Close();
  s.truth.findings = {"unused"};
  return s;
}

Simulation Inference(const ScenarioInfo& info, const Options& options) {
  Simulation s = Empty(info, options, 1);
  Rng rng = Rng(options.seed).Fork(info.name).Fork("physics");
  for (size_t c = 0; c < s.world.cards.size(); ++c) {
    HolderSpec spec{"svc",
                    "server",
                    "serve",
                    5200 + static_cast<int>(c),
                    static_cast<int>(c),
                    0,
                    s.world.duration_s,
                    s.model->memory_mb * 0.7};
    const double rate = rng.LogUniform(0.3, 5);
    SimulateInference(spec, rate, rng.Uniform(0.2, 0.5) / rate, rng, &s.world);
  }
  s.world.Close();
  // The time between requests stays kGap though a process holds the card: nothing was asked for, so nothing is wasted.
  s.truth.note = "random service load";
  s.truth.not_allowed = {"data-loading", "checkpoint",  "evaluation",   "logging", "imbalance",  "communication",
                         "throttling",   "degradation", "restart-loop", "startup", "shared-gpu", "kernel-inefficiency"};
  return s;
}

Simulation SweepGaps(const ScenarioInfo& info, const Options& options) {
  Simulation s = Runs(info, options, kGaps, false);
  s.truth.findings = {"unused"};
  s.truth.cause = "gap";
  s.truth.also = {"startup"};
  return s;
}

Simulation HealthySweep(const ScenarioInfo& info, const Options& options) {
  Simulation s = Runs(info, options, kBackToBack, false);
  s.truth.healthy = true;
  s.truth.note = "a parameter sweep without pauses";
  return s;
}

Simulation OverAllocated(const ScenarioInfo& info, const Options& options) {
  Draft d = Healthy(info, options);
  const int cards = std::max(2, options.cards.value_or(4));
  World world(std::round(3600 * options.hours.value_or(d.hours)), cards);
  d.job.card_count = cards / 2;
  d.job.comm_s = d.job.card_count > 1 ? d.job.step_s * 0.03 : 0;
  world.cores = world.physical_cores = d.host.cores = 12 * cards;
  SimulateJob(d.job, d.host, Rng(options.seed).Fork(info.name).Fork("physics"), &world);
  world.Close();
  d.truth.scenario = info.name;
  d.truth.findings = {"unused"};
  return {std::move(world), d.model, d.measure, d.truth};
}

Simulation RestartLoop(const ScenarioInfo& info, const Options& options) {
  Simulation s = Runs(info, options, kCrash, true);
  s.truth.findings = {"restart-loop"};
  s.truth.also = {"startup", "unused"};
  return s;
}

Simulation Demo(const ScenarioInfo& info, const Options& options) {
  Draft d = Healthy(info, options);
  d.model = options.card != nullptr ? options.card : FindCard("a100");
  const double duration = std::round(3600 * options.hours.value_or(0.85));
  JobSpec& job = d.job;
  job.program = "train.py";
  job.job = "resnet-train";
  job.pid = 4242;
  job.card_count = options.cards.value_or(2);
  job.startup_s = 28;
  job.end_s = duration - 620;
  job.hold_s = 260;
  job.memory_mb = 0.62 * d.model->memory_mb;
  job.step_s = 0.72;
  job.step_cv = 0.015;
  job.comm_s = 0;  // one process drives both cards and feeds them from one loader, so both starve at the same moments
  job.data_parallel = true;
  job.load.intensity = 0.7F;
  job.load.nvlink_mb_s = d.model->nvlink ? 2600 : 0;
  job.epoch_steps = 0;
  job.loader.workers = options.workers.value_or(4);
  job.loader.prep_s = 5.2;
  job.loader.prep_cv = 0.05;
  job.loader.read_mb = 38;
  job.checkpoint.every_steps = 200;
  job.checkpoint.stall_s = 9;
  job.checkpoint.size_mb = 5200;
  job.checkpoint.lag_s = 2;
  d.host.cores = 16;
  d.measure = MeasureSpec{};
  const auto run = [&](const JobSpec& spec, World* world) {
    return SimulateJob(spec, d.host, Rng(options.seed).Fork(info.name).Fork("physics"), world);
  };
  World world(duration, job.card_count);
  world.cores = world.physical_cores = d.host.cores;
  const JobResult result = run(job, &world);
  world.Close();
  JobSpec fixed = job;
  fixed.max_steps = result.steps;
  fixed.loader.workers = 12;
  fixed.checkpoint.every_steps *= 5;
  fixed.checkpoint.stall_s = 1;
  fixed.hold_s = 0;
  World other(duration, job.card_count);
  const JobResult better = run(fixed, &other);
  d.truth.scenario = info.name;
  d.truth.findings = {"data-loading", "checkpoint", "idle-held", "unused"};
  d.truth.note = "fix: 12 workers, saves five times rarer with a stall of 1 s, cards given back when training ends";
  d.truth.workers = job.loader.workers;
  d.truth.speedup_if_fixed = result.training_end_s / better.training_end_s;
  d.truth.saving_share = 1 - better.training_end_s / duration;
  return {std::move(world), d.model, d.measure, d.truth};
}

}  // namespace sawbill::simulator
