// SPDX-License-Identifier: Apache-2.0
// Scenarios that are not one training job from the first second to the last.
#pragma once

#include "simulator/scenarios.h"

namespace sawbill::simulator {

Simulation IdleHeld(const ScenarioInfo& info, const Options& options);
Simulation Unused(const ScenarioInfo& info, const Options& options);
Simulation Inference(const ScenarioInfo& info, const Options& options);
Simulation SweepGaps(const ScenarioInfo& info, const Options& options);
/// Runs back to back that all end well.
Simulation HealthySweep(const ScenarioInfo& info, const Options& options);
/// A job on the first half of the cards (at least two cards).
Simulation OverAllocated(const ScenarioInfo& info, const Options& options);
Simulation RestartLoop(const ScenarioInfo& info, const Options& options);
/// The recording that ships with the program: two causes that are easy to see, and an end that nobody noticed.
Simulation Demo(const ScenarioInfo& info, const Options& options);

}  // namespace sawbill::simulator
