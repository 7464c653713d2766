// SPDX-License-Identifier: Apache-2.0
// Jobs that stand still now and then, at the start, or for good; and jobs with two things wrong.
#include <algorithm>

#include "simulator/shapes.h"

namespace sawbill::simulator {

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

void Startup(Draft* d) {
  d->job.startup_s = d->rng.Uniform(900, 1500);
  d->truth.findings = {"startup"};
}

void Hang(Draft* d) {
  SeveralCards(d, 4);
  d->job.hang_at_s = 3600 * d->options->hours.value_or(d->hours) * d->rng.Uniform(0.3, 0.6);
  d->truth.findings = {"hang"};
  d->truth.also = {"idle-held"};
}

void ForgottenJob(Draft* d) {
  const double duration = 3600 * d->options->hours.value_or(d->hours);
  d->job.end_s = duration * d->rng.Uniform(0.3, 0.7);
  d->job.hold_s = duration;
  d->truth.findings = {"idle-held"};
}

void LoaderAndCheckpoint(Draft* d) {
  const double period = d->rng.LogUniform(200, 600);
  FewWorkers(d);
  d->job.checkpoint.stall_s = period * d->rng.Uniform(0.06, 0.12);
  d->job.checkpoint.every_steps = std::max(
      1, static_cast<int>((period - d->job.checkpoint.stall_s) * d->job.loader.workers / d->job.loader.prep_s));
  d->job.checkpoint.size_mb = d->job.checkpoint.stall_s * d->rng.LogUniform(150, 900);
  d->job.checkpoint.lag_s = d->rng.Uniform(0, 12);
  d->hours = 1.5;
  d->truth.findings = {"data-loading", "checkpoint"};
  d->truth.cause.clear();
  d->fix = [](JobSpec* job, HostSpec*) {
    job->loader.workers = static_cast<int>(1 + 1.5 * job->loader.prep_s / job->step_s);
    job->loader.prefetch_factor = 4;
    job->checkpoint.every_steps *= 5;
    job->checkpoint.stall_s = 1;
  };
}

void HostBoundAndEvaluation(Draft* d) {
  Evaluation(d);
  d->job.sync_gap_s = d->job.step_s * d->rng.Uniform(0.35, 0.7);
  Feed(d, 2.5);
  d->job.evaluation.every_steps = std::max(1, static_cast<int>(d->job.evaluation.every_steps / 1.5));
  d->truth.findings = {"evaluation", "unsaturated"};
  d->truth.also = {};
  d->truth.cause.clear();
  d->fix = nullptr;
}

}  // namespace sawbill::simulator
