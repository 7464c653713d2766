// SPDX-License-Identifier: Apache-2.0
// `sawbill run` beside a recorder that is at work in the data folder: its samples are used, it is told about the run,
// and looked after while the command runs.
#pragma once

#include <optional>
#include <string>

#include "app/recorder.h"
#include "app/run_plan.h"

namespace sawbill::app {

class BesideRecorder {
 public:
  /// Looks for the recorder; `found()` says whether one is at work.
  BesideRecorder(const RunPlan& plan, const Settings& settings, Environment* env);
  bool found() const { return seen_.has_value(); }
  /// As it was when last looked at.
  const collect::StatusSeen& seen() const { return *seen_; }
  /// About once a second: says when the recorder ended, and when there is one again. Not every call looks.
  void Look();
  /// For the end: the recorder was gone for some of the time and nobody said so yet.
  void LastLook();
  /// Tells the recorder of the run; where it is gone, the next one.
  void Tell(const model::RunRow& row);
  /// Notes in the run's own folder where its samples are.
  void LeaveSign();

 private:
  void Check();

  const RunPlan& plan_;
  const Settings& settings_;
  Environment* env_;
  std::optional<collect::StatusSeen> seen_;
  int calls_ = 0;
  bool gone_ = false;
};

}  // namespace sawbill::app
