// SPDX-License-Identifier: Apache-2.0
#include "app/run_beside.h"

#include "app/pipeline.h"
#include "store/run_spool.h"
#include "store/run_view.h"

namespace sawbill::app {
namespace {
constexpr int kLookEvery = 3;  // seconds: looking takes the recorder's lock for a moment when it is free
}  // namespace

BesideRecorder::BesideRecorder(const RunPlan& plan, const Settings& settings, Environment* env)
    : plan_(plan), settings_(settings), env_(env), seen_(FindRecorder(settings.data_dir, *env)) {}

void BesideRecorder::Look() {
  if (found() && ++calls_ % kLookEvery == 0) Check();
}

void BesideRecorder::LastLook() {
  if (found() && !gone_) Check();
}

void BesideRecorder::Check() {
  auto now = FindRecorder(settings_.data_dir, *env_);
  // One that ended and came back between two looks left a hole, too.
  const bool another = now && now->facts.started != seen_->facts.started;
  if (!gone_ && (!now || another)) Note(env_, Tr(settings_.lang, Msg::kRecDaemonGone, settings_.data_dir));
  if (now && (gone_ || another)) Note(env_, Tr(settings_.lang, Msg::kRecDaemonBack, settings_.data_dir));
  gone_ = !now;
  if (now) seen_ = std::move(now);
}

void BesideRecorder::Tell(const model::RunRow& row) {
  const Status told = store::SpoolRun(env_->fs, settings_.data_dir, row);
  if (!told.ok()) Note(env_, Tr(settings_.lang, Msg::kRecRunNotNoted, settings_.data_dir, told.message()));
}

void BesideRecorder::LeaveSign() {
  const std::string up = plan_.shared ? "../../..\n" : "../..\n";  // <data>/runs/<job>/<node>, <data>/runs/<run>
  const Status left = env_->fs->WriteAtomically(sys::JoinPath(plan_.dir, store::kSamplesName), up);
  if (!left.ok()) Note(env_, Tr(settings_.lang, Msg::kRecRunNotNoted, plan_.dir, left.message()));
}

}  // namespace sawbill::app
