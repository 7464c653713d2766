// SPDX-License-Identifier: Apache-2.0
// Answers against the truth of simulated recordings. Meanings are those of the field: precision, recall and F1 over
// finding ids; a finding on a healthy run is a false accusation; intervals are scored as Winkler does.
#pragma once

#include <string>
#include <vector>

#include "bench/diagnosis/answer.h"
#include "simulator/scenarios.h"

namespace sawbill::bench {

struct RunScore {
  std::string scenario, got;
  int expected = 0, hits = 0, wrong = 0;
  bool crashed = false, unbalanced = false, healthy = false;
  int wrong_on_healthy = 0;
  double gpu_hours = 0;
  int cause_asked = 0, cause_right = 0;
  std::vector<double> ledger_distance, period_error;
  bool saving_asked = false, saving_named = false, saving_inside = false, saving_close = true;
  double saving_error = 0, saving_width = 0, saving_winkler = 0;
  double saving_true = 0;
  ClaimedSaving saving;
  int slow_asked = 0, slow_right = 0;
};

RunScore Score(const simulator::Simulation& truth, const Answer& answer, double price_per_gpu_hour);

struct Summary {
  int runs = 0, crashed = 0, unbalanced = 0, expected = 0, hits = 0, wrong = 0, wrong_on_healthy = 0;
  double healthy_gpu_hours = 0;
  double precision = 0, recall = 0, f1 = 0, cause = 0, false_per_100_healthy_hours = 0;
  double ledger_distance = 0, saving_median_error = 0, saving_mean_error_all = 0, saving_inside = 0,
         saving_median_width = 0, saving_interval_score = 0, period_median_error = 0, slow_card = 0;
};
/// What no run can tell is NaN.
Summary Sum(const std::vector<RunScore>& runs);

}  // namespace sawbill::bench
