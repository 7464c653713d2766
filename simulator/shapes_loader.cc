// SPDX-License-Identifier: Apache-2.0
// Jobs whose cards wait for batches.
#include <algorithm>
#include <cmath>

#include "simulator/shapes.h"

namespace sawbill::simulator {
namespace {

/// What one step takes when a batch is there.
double FedStep(const JobSpec& job) { return job.step_s + job.sync_gap_s + job.comm_s; }

/// Workers and prefetching that suffice for `need` batches in preparation at a time.
void EnoughWorkers(JobSpec* job, HostSpec*) {
  job->loader.workers = static_cast<int>(std::ceil(1.5 * job->loader.prep_s / FedStep(*job)));
  job->loader.prefetch_factor = 4;
}

void CauseFewWorkers(Draft* d) {
  d->host.cores = std::max(d->host.cores, 24 * d->job.card_count);
  d->truth.findings = {"data-loading"};
  d->truth.cause = "few-workers";
  d->truth.workers = d->job.loader.workers;
  d->fix = EnoughWorkers;
}

}  // namespace

void FewWorkers(Draft* d) {
  d->job.loader.workers = d->options->workers.value_or(d->rng.Int(1, 4));
  d->job.loader.prep_cv = d->rng.Uniform(0.03, 0.3);
  Feed(d, d->rng.Uniform(0.35, 0.8));
  CauseFewWorkers(d);
}

void NoWorkers(Draft* d) {
  d->job.loader.workers = 0;
  d->job.loader.prep_cv = d->rng.Uniform(0.03, 0.3);
  d->job.loader.prep_s = d->job.step_s * d->rng.LogUniform(0.2, 2);
  CauseFewWorkers(d);
}

void SubsecondLoader(Draft* d) {
  d->job.step_s = d->rng.LogUniform(0.03, 0.2);
  d->job.loader.workers = d->rng.Int(1, 6);
  d->job.epoch_steps = static_cast<int>(300 / d->job.step_s);
  d->job.loader.read_mb = d->rng.LogUniform(3, 40) * d->job.step_s;
  Feed(d, d->rng.Uniform(0.35, 0.8));
  d->hours = 0.4;
  CauseFewWorkers(d);
}

void BurstLoader(Draft* d) {
  d->job.loader.workers = d->rng.Int(4, 12);
  d->job.loader.prep_cv = d->rng.Uniform(0.6, 1.4);
  Feed(d, d->rng.Uniform(0.5, 0.95));
  CauseFewWorkers(d);
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
  // W workers read in turn with computing: storage alone would give rate/read_mb batches a second.
  d->host.storage_mb_s = d->rng.Uniform(0.4, 0.7) * d->job.loader.read_mb * d->job.card_count / FedStep(d->job);
  d->truth.findings = {"data-loading"};
  d->truth.cause = "slow-storage";
  d->fix = [](JobSpec*, HostSpec* host) { host->storage_mb_s *= 20; };
}

void RemoteStorage(Draft* d) {
  SlowStorage(d);
  d->job.loader.remote = true;
}

void ColdCache(Draft* d) {
  SlowStorage(d);
  d->job.loader.cache_hit = 1;
  const double slow_s = 3600 * d->options->hours.value_or(d->hours) * d->rng.Uniform(0.25, 0.6);
  d->job.loader.cold_batches = static_cast<long>(slow_s * d->host.storage_mb_s / d->job.loader.read_mb);
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

void Degradation(Draft* d) {
  d->hours = 2.4;
  d->job.loader.prep_cv = 0.1;
  Feed(d, 1.25);
  d->job.loader.prep_growth_per_hour = d->rng.Uniform(0.35, 0.8);
  d->truth.findings = {"degradation"};
  d->truth.also = {"data-loading"};
}

}  // namespace sawbill::simulator
