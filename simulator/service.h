// SPDX-License-Identifier: Apache-2.0
// What holds a card and is no training job: a forgotten notebook, a service under random load; and another tenant's
// processes that hold no card at all.
#pragma once

#include <string>

#include "simulator/random.h"
#include "simulator/timeline.h"

namespace sawbill::simulator {

struct HolderSpec {
  std::string user = "alice", program = "jupyter-lab", job = "notebook";
  int pid = 7300;
  int card = 0;
  double start_s = 0, end_s = 0;
  double memory_mb = 12000;
};

/// Idle with rare short bursts; the gaps between them have a heavy tail (Pareto).
void SimulateNotebook(const HolderSpec& spec, const Rng& rng, World* world);
/// Poisson requests, lognormal service times, one at a time.
void SimulateInference(const HolderSpec& spec, double requests_per_s, double service_s, const Rng& rng, World* world);
/// CPU-bound processes of another user on the same host.
void SimulateTenant(const std::string& user, const std::string& program, double cores, double cores_got, double from_s,
                    double to_s, World* world);

}  // namespace sawbill::simulator
