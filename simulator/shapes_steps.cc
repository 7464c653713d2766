// SPDX-License-Identifier: Apache-2.0
// Jobs with something wrong inside each step, on one card or between several.
#include <algorithm>

#include "simulator/cards.h"
#include "simulator/measure.h"
#include "simulator/shapes.h"

namespace sawbill::simulator {
void SeveralCards(Draft* d, int least) {
  if (d->job.card_count >= least) return;
  d->job.card_count = d->options->cards.value_or(0) > 1 ? *d->options->cards : least;
  d->job.comm_s = d->job.step_s * 0.03;
  d->job.load.nvlink_mb_s = d->model->nvlink ? 4000 : 0;
  d->job.comm_link_mb_s = LinkInCollectives(*d->model, &d->rng);
  d->host.cores = std::max(d->host.cores, 12 * d->job.card_count);
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
  d->job.epoch_steps = static_cast<int>(600 / (d->job.step_s + d->job.sync_gap_s));
  d->measure.power_fall_s = 0.01;  // gaps of milliseconds show in the mean only if power falls as quickly
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
  if (!d->model->gpm) d->model = FindCard("h100");  // without tensor activity nobody can tell
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

void AliasedHostBound(Draft* d) {
  // The whole step lies near a divisor or multiple of a second, so that one poll a second meets it at a phase that
  // drifts slowly: the swings are an artefact.
  constexpr double kPeriods[] = {0.26, 0.51, 0.97, 1.96};
  const double period = kPeriods[d->rng.Int(0, 3)];
  const double duty = d->rng.Uniform(0.6, 0.88);
  d->job.step_s = duty * period;
  d->job.sync_gap_s = period - d->job.step_s;
  d->job.step_cv = 0.002;
  d->job.sync_gap_cv = 0.01;
  d->job.epoch_steps = 0;
  d->job.load.intensity *= 0.85F;
  d->measure.jitter_s = d->rng.Chance(0.5) ? 0 : 0.02;
  d->measure.window_s = 1.0 / 6;
  Feed(d, 2.5);
  d->hours = 0.6;
  d->truth.findings = {"unsaturated"};
  d->truth.cause = "host-bound";
  d->truth.note = "no period may be claimed";
  d->fix = [](JobSpec* job, HostSpec*) { job->sync_gap_s = 0.05 * job->step_s; };
}

void KernelInefficiency(Draft* d) {
  d->job.load.intensity = static_cast<float>(d->rng.Uniform(0.08, 0.25));
  d->job.load.sm_active = static_cast<float>(d->rng.Uniform(0.15, 0.38));
  d->job.load.occupancy = static_cast<float>(d->rng.Uniform(0.06, 0.2));
  d->job.load.tensor = static_cast<float>(d->rng.Uniform(0.01, 0.06));
  d->job.load.dram = static_cast<float>(d->rng.Uniform(0.05, 0.3));
  d->job.memory_mb = d->model->memory_mb * d->rng.Uniform(0.6, 0.92);
  d->truth.findings = {"kernel-inefficiency"};
  d->truth.also = {"unsaturated"};
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
  if (!d->model->nvlink) d->model = FindCard("a100");  // without the traffic of a known link nobody can tell
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

void PowerCap(Draft* d) {
  // Dense kernels would draw more than the lowered limit allows: the clock pays.
  d->job.load.intensity = static_cast<float>(d->rng.Uniform(0.8, 0.95));
  d->measure.power_limit_share = d->rng.Uniform(0.5, 0.72);
  d->job.throttle_by_power = true;
  d->job.throttle_from_s = 0;
  d->job.throttle_clock = CappedClock(*d->model, d->job.load, d->measure.power_limit_share);
  d->truth.findings = {"throttling"};
  d->truth.cause = "power";
  d->fix = [](JobSpec* job, HostSpec*) { job->throttle_clock = 1; };
}

void Neighbour(Draft* d) {
  d->job.shared_from_s = 3600 * d->options->hours.value_or(d->hours) * d->rng.Uniform(0.02, 0.4);
  d->job.shared_slow = d->rng.Uniform(1.3, 2.3);
  d->job.memory_mb = d->model->memory_mb * d->rng.Uniform(0.3, 0.55);
  d->truth.findings = {"shared-gpu"};
  d->truth.also = {"degradation"};
}

void Fragmentation(Draft* d) {
  d->hours = 2.4;
  d->job.sync_growth_per_hour = d->rng.Uniform(0.25, 0.6);
  d->truth.findings = {"degradation"};
  d->truth.also = {"unsaturated"};
}

}  // namespace sawbill::simulator
