// SPDX-License-Identifier: Apache-2.0
#include "collect/run_tracker.h"

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::collect {
namespace {

constexpr int kSilentRounds = 3;

/// The job and its user; without a job, the program: what jobs::FindRuns groups by as well.
std::string KeyOf(const host::ProcessRow& r) {
  return r.identity.job.empty() ? r.user + "\n\n" + r.name : r.user + "\n" + r.identity.job;
}

std::string Cards(const std::set<std::string>& gpus) { return Join({gpus.begin(), gpus.end()}, "|"); }

}  // namespace

std::vector<model::RunRow> RunTracker::Observe(TimeMs t, const std::vector<host::ProcessRow>& rows) {
  std::vector<model::RunRow> out;
  std::map<std::string, std::set<std::string>> now;
  for (const host::ProcessRow& r : rows) {
    if (r.gpu.empty() || (r.name.empty() && r.user.empty() && r.identity.job.empty())) continue;
    const std::string key = KeyOf(r);
    now[key].insert(r.gpu);
    if (runs_.contains(key)) continue;
    model::RunRow& row = runs_[key].row;
    row.run = (r.identity.job.empty() ? r.name : r.identity.job) + "-" + std::to_string(t / 1000) + "-" +
              std::to_string(r.pid);
    row.job = r.identity.job;
    row.user = r.user;
    row.project = r.identity.project;
    row.node = node_;
    row.program = r.name;
  }
  for (auto it = runs_.begin(); it != runs_.end();) {
    Run& run = it->second;
    run.row.t_ms = t;
    const auto seen = now.find(it->first);
    if (seen != now.end()) {
      run.silent = 0;
      const bool fresh = run.row.state.empty();
      if (fresh || run.gpus != seen->second) {
        run.gpus = seen->second;
        run.row.gpus = Cards(run.gpus);
        run.row.state = fresh ? "start" : "update";
        out.push_back(run.row);
      }
      run.seen = t;
    } else if (++run.silent >= kSilentRounds) {
      run.row.state = "end";
      run.row.t_ms = run.seen;
      out.push_back(run.row);
      it = runs_.erase(it);
      continue;
    }
    ++it;
  }
  return out;
}

}  // namespace sawbill::collect
