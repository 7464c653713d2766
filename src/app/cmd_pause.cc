// SPDX-License-Identifier: Apache-2.0
// `nvidia-smi --gpu-reset` and unloading the driver are refused while anybody holds the device files: the recorder lets
// go of them for a while. It asks through a file, so that it works across users and containers that share the folder.
#include <algorithm>

#include "app/commands.h"
#include "app/pipeline.h"
#include "app/recorder.h"
#include "app/when.h"
#include "base/numbers.h"
#include "sys/waiter.h"

namespace sawbill::app {
namespace {

constexpr TimeMs kDefaultMs = 10 * 60 * 1000;
constexpr int64_t kPatienceUs = 15'000'000;

/// Until the recorder says that it did, or patience ends.
bool WaitFor(bool paused, const std::string& dir, Environment* env) {
  const int64_t end_us = sys::SteadyNowUs() + kPatienceUs;
  sys::Waiter waiter({});
  while (sys::SteadyNowUs() < end_us) {
    const auto all = FindRecorders(dir, *env);
    if (std::all_of(all.begin(), all.end(), [&](const auto& r) { return r.paused == paused; })) return true;
    waiter.Wait(sys::SteadyNowUs() + 100'000);
  }
  return false;
}

}  // namespace

int CmdPause(const Options& options, const Settings& settings, Environment* env) {
  const Lang lang = settings.lang;
  const std::string path = sys::JoinPath(settings.data_dir, collect::kPauseName);
  if (!options.resume && FindRecorders(settings.data_dir, *env).empty()) {
    return Fail(env, Status::NotFound(Tr(lang, Msg::kRecNoRecorder, settings.data_dir)));
  }
  if (options.resume) {
    const Status removed = env->fs->Remove(path);
    if (!removed.ok() && removed.kind() != StatusKind::kNotFound) return Fail(env, removed);
    if (!WaitFor(false, settings.data_dir, env)) return Fail(env, Status::Unavailable(Tr(lang, Msg::kRecNoAnswer)));
    env->out->Write(Tr(lang, Msg::kRecResumed) + "\n");
    return 0;
  }
  TimeMs length = kDefaultMs;
  if (options.duration) {
    const auto given = ParseDuration(*options.duration);
    if (!given || *given < 1000)
      return Fail(env, Status::Invalid(Tr(lang, Msg::kAppBadDuration, "--for", *options.duration)));
    length = *given;
  }
  const Status written = env->fs->WriteAtomically(path, FormatFixed(Seconds(env->now + length), 3) + "\n");
  if (!written.ok()) return Fail(env, written);
  if (!WaitFor(true, settings.data_dir, env)) return Fail(env, Status::Unavailable(Tr(lang, Msg::kRecNoAnswer)));
  env->out->Write(Tr(lang, Msg::kRecPaused, FormatDuration(Seconds(length), lang)) + "\n");
  return 0;
}

}  // namespace sawbill::app
