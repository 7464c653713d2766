// SPDX-License-Identifier: Apache-2.0
// What each training scenario does to a healthy draft. Ranges are those of the literature where there are any; all are
// drawn from the draft's own generator, so that a Band cuts them.
#pragma once

#include "simulator/scenarios.h"

namespace sawbill::simulator {

/// Preparation time that lets the loader deliver `rho` times what the GPU takes.
void Feed(Draft* d, double rho);

/// NVLink traffic of a card while a collective runs, MB/s: what nccl-tests reach of the data sheet's rate; 0 = no
/// NVLink.
double LinkInCollectives(const CardModel& model, Rng* rng);

/// Makes it a job of `least` cards (or as many as the options say) with collectives that cost 3 % of a step, unless it
/// has as many.
void SeveralCards(Draft* d, int least);

// waiting for batches
void FewWorkers(Draft* d);
void NoWorkers(Draft* d);
void SubsecondLoader(Draft* d);
void BurstLoader(Draft* d);
void CpuSaturated(Draft* d);
void SlowStorage(Draft* d);
void RemoteStorage(Draft* d);
void ColdCache(Draft* d);
void HostContention(Draft* d);
void Degradation(Draft* d);

// inside each step
void SmallBatch(Draft* d);
void FullPrecision(Draft* d);
void HostBound(Draft* d);
void AliasedHostBound(Draft* d);
void KernelInefficiency(Draft* d);
void Straggler(Draft* d);
void DataParallel(Draft* d);
void Communication(Draft* d);
void Thermal(Draft* d);
void PowerCap(Draft* d);
void Neighbour(Draft* d);
void Fragmentation(Draft* d);

// stops
void Checkpoint(Draft* d);
void Evaluation(Draft* d);
void Logging(Draft* d);
void Startup(Draft* d);
void Hang(Draft* d);
void ForgottenJob(Draft* d);
void LoaderAndCheckpoint(Draft* d);
void HostBoundAndEvaluation(Draft* d);

// nothing wrong
void Nothing(Draft* d);
void BusyLoader(Draft* d);
void AsyncCheckpoint(Draft* d);
void RareEvaluation(Draft* d);
void PowerCapBenign(Draft* d);
void Curriculum(Draft* d);
void Short(Draft* d);
void Outage(Draft* d);
void SmallModel(Draft* d);
void SeveralWell(Draft* d);
void BusyHost(Draft* d);

}  // namespace sawbill::simulator
