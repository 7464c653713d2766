// SPDX-License-Identifier: Apache-2.0
// Jobs with nothing wrong that look as if there were: any finding on them is a false accusation.
#include <algorithm>

#include "simulator/shapes.h"

namespace sawbill::simulator {

void Nothing(Draft* d) { d->truth.healthy = true; }

void BusyLoader(Draft* d) {
  d->job.loader.workers = d->rng.Int(6, 14);
  d->job.loader.prep_cv = d->rng.Uniform(0.05, 0.15);
  d->host.cores = 24;
  Feed(d, d->rng.Uniform(1.25, 1.6));  // the workers are busy, and still quick enough
  d->truth.healthy = true;
}

void AsyncCheckpoint(Draft* d) {
  const double period = d->rng.LogUniform(150, 600);
  d->job.checkpoint.stall_s = d->rng.Uniform(0.1, 0.6);
  d->job.checkpoint.every_steps = static_cast<int>(period / d->job.step_s);
  d->job.checkpoint.write_s = period * d->rng.Uniform(0.05, 0.2);
  d->job.checkpoint.size_mb = d->job.checkpoint.write_s * d->rng.LogUniform(150, 900);
  d->truth.healthy = true;
  d->truth.note = "writes without stalls";
}

void RareEvaluation(Draft* d) {
  const double period = d->rng.LogUniform(900, 1800);
  d->job.evaluation.length_s = period * d->rng.Uniform(0.008, 0.015);
  d->job.evaluation.every_steps = static_cast<int>(period / d->job.step_s);
  d->job.evaluation.load = d->job.load;
  d->job.evaluation.load.busy = static_cast<float>(d->rng.Uniform(0.45, 0.85));
  d->job.evaluation.load.intensity *= 0.6F;
  d->hours = 1.8;
  d->truth.healthy = true;
  d->truth.note = "evaluation costs about 1 %";
}

void PowerCapBenign(Draft* d) {
  d->job.load.intensity = static_cast<float>(d->rng.Uniform(0.93, 1.0));
  d->truth.healthy = true;
  d->truth.note = "at the card's own limit, clocks within 4 %";
}

void Curriculum(Draft* d) {
  d->hours = 2;
  d->job.step_growth_per_hour = d->rng.Uniform(0.2, 0.6);
  Feed(d, 3.5);
  d->truth.healthy = true;
  d->truth.note = "steps get longer with the sequences; the card stays busy";
}

void Short(Draft* d) {
  d->hours = d->rng.Uniform(0.02, 0.038);
  d->truth.healthy = true;
  d->truth.also = {"startup"};
  d->truth.note = "too short to judge";
}

void Outage(Draft* d) {
  const double duration = 3600 * d->options->hours.value_or(d->hours);
  d->measure.outage_from_s = duration * d->rng.Uniform(0.2, 0.6);
  d->measure.outage_to_s = d->measure.outage_from_s + d->rng.Uniform(300, 900);
  d->truth.healthy = true;
  d->truth.note = "no data is not idleness";
}

void SmallModel(Draft* d) {
  d->job.memory_mb = d->model->memory_mb * d->rng.Uniform(0.1, 0.3);
  d->truth.healthy = true;
  d->truth.note = "little memory, but the card is well used";
}

void SeveralWell(Draft* d) {
  d->job.card_count = d->options->cards.value_or(0) > 1 ? *d->options->cards : d->rng.Chance(0.5) ? 4 : 8;
  d->job.comm_s = d->job.step_s * d->rng.Uniform(0.02, 0.06);
  d->job.load.nvlink_mb_s = d->model->nvlink ? 4000 : 0;
  d->job.comm_link_mb_s = LinkInCollectives(*d->model, &d->rng);
  d->host.cores = 12 * d->job.card_count;
  d->truth.healthy = true;
}

void BusyHost(Draft* d) {
  Feed(d, 3);
  d->host.cores = 24;
  d->host.foreign_cores = d->rng.Uniform(10, 20);
  d->host.foreign_from_s = 3600 * d->options->hours.value_or(d->hours) * d->rng.Uniform(0.1, 0.4);
  d->host.foreign_to_s = kNever;
  d->truth.healthy = true;
  d->truth.note = "another tenant's load that costs this job nothing";
}

}  // namespace sawbill::simulator
