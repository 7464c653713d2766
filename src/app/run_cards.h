// SPDX-License-Identifier: Apache-2.0
// Which cards a run is billed for: all, those that the command can see, or those that it was seen on.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/recorder.h"
#include "app/run_plan.h"
#include "sys/proc_files.h"

namespace sawbill::app {

class RunCards {
 public:
  RunCards(const RunPlan& plan, const Settings& settings, Environment* env, std::shared_ptr<sys::ProcFiles> files)
      : plan_(plan), settings_(settings), env_(env), files_(std::move(files)) {}

  /// REQUIRES: before the first Visible() of a run that is attached to: once the process is gone nobody can ask it.
  void AttachedTo(int64_t pid);
  /// The cards of a recorder.
  std::vector<model::CardInfo> Of(const collect::StatusSeen& recorder) const;
  /// Of `cards` those that the command can see; all when that cannot be told, which is said once.
  std::vector<model::CardInfo> Visible(const std::vector<model::CardInfo>& cards);
  /// What the command's CUDA_VISIBLE_DEVICES is, for people.
  const std::string& visible_value() const { return visible_value_; }
  /// The cards, by uuid, on which one of `pids` was seen.
  static std::vector<std::string> Used(const model::TelemetrySource& source, const std::set<int64_t>& pids);

 private:
  const RunPlan& plan_;
  const Settings& settings_;
  Environment* env_;
  std::shared_ptr<sys::ProcFiles> files_;
  std::optional<std::string> attached_value_;
  std::string visible_value_;
  bool told_ = false;
};

}  // namespace sawbill::app
