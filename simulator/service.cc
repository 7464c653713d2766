// SPDX-License-Identifier: Apache-2.0
#include "simulator/service.h"

#include <algorithm>

namespace sawbill::simulator {
namespace {
Process Holder(const HolderSpec& spec, double duration_s) {
  Process p;
  p.pid = spec.pid;
  p.user = spec.user;
  p.name = spec.program;
  p.job = spec.job;
  p.t0 = spec.start_s;
  p.t1 = spec.end_s;
  p.cards = {spec.card};
  p.memory = {{{spec.start_s, spec.memory_mb}}};
  p.usage = Usage(duration_s);
  return p;
}
Load Burst(float busy, float intensity) {
  Load load;
  load.busy = busy;
  load.intensity = intensity;
  load.sm_active = 0.45F * busy;
  load.occupancy = 0.2F * busy;
  load.tensor = 0.06F * busy;
  load.dram = 0.25F * busy;
  load.pcie_mb_s = 150;
  return load;
}
}  // namespace

void SimulateNotebook(const HolderSpec& spec, const Rng& rng, World* world) {
  Rng draw = rng.Fork("notebook", static_cast<uint64_t>(spec.pid));
  Process p = Holder(spec, world->duration_s);
  auto& card = world->cards[static_cast<size_t>(spec.card)];
  Usage::Add(&p.usage.main_cpu_s, spec.start_s, spec.end_s, 0.01);
  double t = spec.start_s;
  while (t < spec.end_s) {
    const double quiet = std::min(spec.end_s, t + draw.Pareto(600, 1.4));
    card.push_back({t, quiet, Activity::kIdle, {}});
    const double burst = std::min(spec.end_s, quiet + draw.Uniform(5, 60));
    if (burst > quiet) {
      card.push_back({quiet, burst, Activity::kStep, Burst(static_cast<float>(draw.Uniform(0.3, 0.9)), 0.4F)});
      Usage::Add(&p.usage.main_cpu_s, quiet, burst, 0.9);
    }
    t = burst;
  }
  world->processes.push_back(std::move(p));
}

void SimulateInference(const HolderSpec& spec, double requests_per_s, double service_s, const Rng& rng, World* world) {
  Rng draw = rng.Fork("inference", static_cast<uint64_t>(spec.pid));
  Process p = Holder(spec, world->duration_s);
  auto& card = world->cards[static_cast<size_t>(spec.card)];
  double arrival = spec.start_s, free = spec.start_s;
  while (true) {
    arrival += draw.Exponential(1 / requests_per_s);
    const double start = std::max(arrival, free);
    const double done = std::min(spec.end_s, start + service_s * draw.LogNormal(0.8));
    if (start >= spec.end_s) break;
    card.push_back({start, done, Activity::kStep, Burst(0.97F, 0.55F)});
    Usage::Add(&p.usage.main_cpu_s, start, done, 0.7);
    Usage::Add(&p.usage.net_rx_mb, arrival, arrival + 0.1, 4);
    Usage::Add(&p.usage.net_tx_mb, done, done + 0.1, 1);
    free = done;
  }
  world->processes.push_back(std::move(p));
}

void SimulateTenant(const std::string& user, const std::string& program, double cores, double cores_got, double from_s,
                    double to_s, World* world) {
  Process p;
  p.pid = 9100;
  p.user = user;
  p.name = program;
  p.t0 = from_s;
  p.t1 = to_s;
  p.usage = Usage(world->duration_s);
  Usage::Add(&p.usage.main_cpu_s, from_s, to_s, cores_got);
  Usage::Add(&p.usage.runnable_s, from_s, to_s, cores);
  world->processes.push_back(std::move(p));
}

}  // namespace sawbill::simulator
