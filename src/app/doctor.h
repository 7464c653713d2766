// SPDX-License-Identifier: Apache-2.0
// What this machine offers: the checks of `sawbill doctor`, each on its own, over the environment's seams.
#pragma once

#include <string>
#include <vector>

#include "app/environment.h"
#include "app/options.h"
#include "base/messages.h"
#include "collect/status_file.h"

namespace sawbill::app {

struct Check {
  enum class Level { kOk, kWarn, kMissing };
  std::string id;  // "nvml", never translated
  Level level = Level::kOk;
  std::string detail;        // what was found
  std::string advice;        // what to do, "" where nothing is
  bool for_reports = false;  // without it no report can be made
};
const char* Name(Check::Level level);

std::vector<Check> Examine(const Options& options, Lang lang, Environment* env);
/// The driver asked, and the recorders at work; nothing where the environment cannot record.
std::vector<Check> ExamineCards(const Options& options, const std::string& data_dir, Lang lang, Environment* env);
/// What a recorder says of itself: its share of a core, memory, descriptors, and where the time of a tick goes.
std::string OwnCost(const collect::StatusSeen& recorder, Lang lang);
/// Ids in the order of Examine, for --require.
std::vector<std::string> CheckIds();

}  // namespace sawbill::app
