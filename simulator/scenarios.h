// SPDX-License-Identifier: Apache-2.0
// The catalogue of scenarios: each is a world with one thing wrong (or nothing), and the truth about it.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "simulator/cards.h"
#include "simulator/measure.h"
#include "simulator/pipeline.h"
#include "simulator/write.h"

namespace sawbill::simulator {

/// What the command line may set; what is empty is drawn from the seed or the scenario's own.
struct Options {
  uint64_t seed = 1;
  Band band = Band::kAll;  // of the ranges that parameters are drawn from
  std::optional<double> hours;
  std::optional<int> cards, workers;
  const CardModel* card = nullptr;
};

struct Simulation {
  World world;
  const CardModel* model;
  MeasureSpec measure;
  Truth truth;
};

struct ScenarioInfo {
  const char* name;
  const char* help;
  Simulation (*make)(const ScenarioInfo& info, const Options& options);
  void (*shape)(struct Draft* draft);  // training scenarios only
};

/// A training job before it is run: a healthy one, which a scenario then spoils.
struct Draft {
  const Options* options;
  Rng rng;
  double hours = 1;
  const CardModel* model;
  JobSpec job;
  HostSpec host;
  MeasureSpec measure;
  Truth truth;
  void (*fix)(JobSpec* job, HostSpec* host) = nullptr;  // what the true saving assumes
  Activity period_of = Activity::kCount;                // whose spacing is the true period
};

/// A job with nothing wrong, drawn from the seed and the scenario's name.
Draft Healthy(const ScenarioInfo& info, const Options& options);

std::span<const ScenarioInfo> Scenarios();
const ScenarioInfo* FindScenario(std::string_view name);
/// all, train, dev, test.
std::optional<Band> FindBand(std::string_view name);
inline Simulation Simulate(const ScenarioInfo& info, const Options& options) { return info.make(info, options); }

}  // namespace sawbill::simulator
