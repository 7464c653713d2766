// SPDX-License-Identifier: Apache-2.0
// Launchers start one process a card or one a node, and each may be `sawbill run`. Of a node the process with local
// rank 0 records; of the job rank 0 prints the receipt. All of them share <data>/runs/<job>, a folder a node.
#include "app/run_plan.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "sys/child.h"

namespace sawbill::app {
namespace {

std::optional<int64_t> NumberOf(const Environment& env, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto v = env.Var(name)) {
      if (const auto n = ParseInt(*v); n && *n >= 0) return n;
    }
  }
  return std::nullopt;
}

std::string TextOf(const Environment& env, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto v = env.Var(name)) return *v;
  }
  return "";
}

/// Letters, digits, '-', '_' and '.', not more than 80: a folder's name.
std::string FileName(std::string_view s) {
  std::string out;
  for (const char c : s.substr(0, 80)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    out += plain ? c : '_';
  }
  return out.empty() || out.front() == '.' ? "_" + out : out;
}

std::string Stamp(TimeMs t, const TimeZone& tz) {
  std::string out = FormatRfc3339(t + 1000LL * tz.OffsetSeconds(t)).substr(0, 19);
  std::erase(out, '-');
  std::erase(out, ':');
  return out;
}

/// The same for all ranks of one start, and of no other: the scheduler's or launcher's own id, else the meeting point,
/// else the launcher's process. torchrun says "none" where it was given no id.
std::string LauncherId(const Environment& env, bool slurm_task) {
  if (slurm_task) return TextOf(env, {"SLURM_JOB_ID"}) + "." + TextOf(env, {"SLURM_STEP_ID"});
  std::string id = TextOf(env, {"TORCHELASTIC_RUN_ID"});
  if (id == "none") id.clear();
  if (id.empty()) id = TextOf(env, {"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE"});
  if (id.empty()) id = TextOf(env, {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"});
  const std::string meeting = TextOf(env, {"MASTER_ADDR"}), port = TextOf(env, {"MASTER_PORT"});
  if (!meeting.empty()) id += (id.empty() ? "" : "-") + meeting + (port.empty() ? "" : "-" + port);
  if (id.empty() && env.parent_pid > 1) id = "parent-" + std::to_string(env.parent_pid);
  return id;
}

Status ReadBill(const Options& o, Lang lang, RunPlan* plan) {
  if (!o.bill) return Status::Ok();
  if (*o.bill == "used")
    plan->bill = Bill::kUsed;
  else if (*o.bill == "visible")
    plan->bill = Bill::kVisible;
  else if (*o.bill == "all")
    plan->bill = Bill::kAll;
  else
    return Status::Invalid(Tr(lang, Msg::kAppBadChoice, "--bill", *o.bill, "used, visible, all"));
  return Status::Ok();
}

}  // namespace

Result<RunPlan> MakeRunPlan(const Options& o, const Settings& s, const Environment& env) {
  RunPlan plan;
  SAWBILL_RETURN_IF_ERROR(ReadBill(o, s.lang, &plan));
  if (o.budget) {
    const auto amount = ParseDouble(*o.budget);
    if (!amount || *amount <= 0 || !std::isfinite(*amount))
      return Status::Invalid(Tr(s.lang, Msg::kRecBadBudget, *o.budget));
    plan.budget = amount;
  }
  if (o.attach) {
    const auto pid = ParseInt(*o.attach);
    if (!pid || *pid <= 0) return Status::Invalid(Tr(s.lang, Msg::kRecBadPid, *o.attach));
    plan.attach = *pid;
  }
  if (plan.attach && !o.child.empty()) return Status::Invalid(std::string(Text(s.lang, Msg::kRecAttachAndCommand)));
  if (!plan.attach && o.child.empty()) return Status::Invalid(std::string(Text(s.lang, Msg::kRecNoCommand)));

  plan.job = o.job.value_or(TextOf(env, {"SAWBILL_JOB"}));
  plan.project = o.project.value_or(TextOf(env, {"SAWBILL_PROJECT"}));
  const bool slurm_task = env.Var("SLURM_STEP_ID") && NumberOf(env, {"SLURM_NTASKS"}).value_or(1) > 1;
  const int64_t ranks =
      slurm_task ? *NumberOf(env, {"SLURM_NTASKS"}) : NumberOf(env, {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"}).value_or(1);
  plan.ranks = static_cast<int>(std::min<int64_t>(ranks, 1'000'000));
  if (const auto end = NumberOf(env, {"SLURM_JOB_END_TIME"})) plan.job_end = *end * 1000;
  if (const std::string launcher = LauncherId(env, slurm_task); plan.ranks > 1 && !launcher.empty()) {
    const int64_t local = slurm_task ? NumberOf(env, {"SLURM_LOCALID"}).value_or(0)
                                     : NumberOf(env, {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"}).value_or(0);
    const int64_t rank = slurm_task ? NumberOf(env, {"SLURM_PROCID"}).value_or(0)
                                    : NumberOf(env, {"RANK", "OMPI_COMM_WORLD_RANK"}).value_or(0);
    plan.records = local == 0;
    plan.receipt = rank == 0;
    plan.id = FileName((plan.job.empty() ? "job" : plan.job) + "-" + launcher);
    plan.shared = true;
    plan.dir = sys::JoinPath(sys::JoinPath(sys::JoinPath(s.data_dir, "runs"), plan.id), FileName(sys::HostName()));
    return plan;
  }
  const std::string what = !plan.job.empty() ? plan.job : plan.attach ? "attach" : sys::BaseName(o.child.front());
  // The time alone is not enough: two may start in one second.
  plan.id = Stamp(env.now, s.tz) + "-" + FileName(what) + "-" + std::to_string(env.pid);
  plan.dir = sys::JoinPath(sys::JoinPath(s.data_dir, "runs"), plan.id);
  return plan;
}

}  // namespace sawbill::app
