// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "app/commands.h"
#include "app/pipeline.h"
#include "app/recorder.h"
#include "base/numbers.h"
#include "store/maintain.h"
#include "sys/proc_files.h"

namespace sawbill::app {
namespace {

/// The recorder's own helper process: rollups, compression, retention.
int KeepHouse(const RecorderSpec& spec, Environment* env) {
  store::MaintainOptions o;
  o.tz = spec.tz;
  o.keep_days = spec.keep_days;
  const auto done = store::Maintain(env->fs, spec.dir, env->now, o);
  if (!done.ok()) return Fail(env, done.status());
  for (const std::string& problem : done->problems) Note(env, problem);
  return 0;
}

}  // namespace

int CmdRecord(const Options& options, const Settings& settings, Environment* env) {
  auto spec = ResolveRecorder(options, settings);
  if (!spec.ok()) return Fail(env, spec.status());
  if (env->Var("SAWBILL_HOUSEKEEPING")) return KeepHouse(*spec, env);
  if (!env->make_source) return Fail(env, Status::Unsupported("record: no clock here"));
  spec->pause_in = {spec->dir};
  if (const auto fd = env->Var("SAWBILL_PARENT_FD")) {  // started by `sawbill run`
    spec->parent_fd = static_cast<int>(ParseInt(*fd).value_or(-1));
    spec->pause_in.push_back(sys::DirName(sys::DirName(spec->dir)));
    spec->housekeeping = false;
    model::RunRow run;
    run.run = env->Var("SAWBILL_RUN_ID").value_or("");
    run.job = env->Var("SAWBILL_RUN_JOB").value_or("");
    run.project = env->Var("SAWBILL_RUN_PROJECT").value_or("");
    run.program = env->Var("SAWBILL_RUN_PROGRAM").value_or("");
    run.user = sys::UserName(static_cast<uint32_t>(::getuid()));
    run.state = "start";
    spec->run = run;
  }
  return RunRecorder(*spec, env);
}

}  // namespace sawbill::app
