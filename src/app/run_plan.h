// SPDX-License-Identifier: Apache-2.0
// What `sawbill run` is to do, from the flags and the environment that a launcher made: where it records, which rank it
// is, what it bills. Pure but for the environment handed in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/environment.h"
#include "app/options.h"
#include "app/settings.h"

namespace sawbill::app {

enum class Bill { kUsed, kVisible, kAll };

struct RunPlan {
  std::string id;   // of the run: the folder's name under <data>/runs
  std::string dir;  // of the run's own records
  std::string job, project;
  Bill bill = Bill::kVisible;
  std::optional<double> budget;
  std::optional<int64_t> attach;
  bool records = true;  // false: another process of the same job on this node does, and this one only runs CMD
  bool receipt = true;  // false: rank 0 prints the one receipt of the job
  bool shared = false;  // the folder above `dir` holds a folder for each node of the job
  int ranks = 1;
  std::optional<TimeMs> job_end;  // the scheduler's limit, where it says one
};

Result<RunPlan> MakeRunPlan(const Options& options, const Settings& settings, const Environment& env);

}  // namespace sawbill::app
