// SPDX-License-Identifier: Apache-2.0
// Plays the cards of a recording through the scripted libnvidia-ml.so.1: nvidia-smi, nvtop, `sawbill record` or
// whatever else reads NVML then shows them. Host and processes stay those of this machine.
#include <cmath>

#include "app/commands.h"
#include "app/pipeline.h"
#include "app/sources.h"
#include "base/numbers.h"
#include "base/text.h"
#include "simulator/play/player.h"

namespace sawbill::app {
namespace {

constexpr double kMostSpeed = 100'000;

Result<double> Speed(const Options& o, Lang lang) {
  if (!o.speed) return 1.0;
  const auto speed = ParseDouble(*o.speed);
  if (!speed || !(*speed > 0) || *speed > kMostSpeed)
    return Status::Invalid(Tr(lang, Msg::kRecBadSpeed, *o.speed, FormatShortest(kMostSpeed)));
  return *speed;
}

}  // namespace

int CmdReplay(const Options& options, const Settings& settings, Environment* env) {
  const Lang lang = settings.lang;
  const auto speed = Speed(options, lang);
  if (!speed.ok()) return Fail(env, speed.status());
  Inputs gathered = GatherInputs(InputPaths(options, settings), settings, env);
  if (!gathered.failures.empty()) return Fail(env, gathered.failures.front());
  if (gathered.inputs.size() != 1) return Fail(env, Status::Invalid(std::string(Text(lang, Msg::kRecOneRecording))));
  const std::string name = gathered.inputs.front().name;
  const auto source = OpenTelemetry(&gathered.inputs.front(), settings);
  if (!source.ok()) return Fail(env, source.status());
  const auto recording = (*source)->Read(0);
  if (!recording.ok()) return Fail(env, recording.status());
  if (recording->gpus.empty()) return Fail(env, Status::NotFound(Tr(lang, Msg::kRecNothingToPlay, name)));
  if ((*source)->pieces().size() > 1) Note(env, Tr(lang, Msg::kRecFirstPart, FormatRfc3339((*source)->pieces()[0].to)));

  simulator::PlaySpec spec;
  spec.speed = *speed;
  spec.command = options.child;
  spec.library_dir = simulator::FindLibraryDir(env->exe_path);
  if (spec.library_dir.empty()) return Fail(env, Status::Unavailable(std::string(Text(lang, Msg::kRecNoSimulator))));
  const auto played = simulator::PlayRecording(*recording);
  if (spec.command.empty()) {
    spec.state_path =
        sys::JoinPath(env->Var("TMPDIR").value_or("/tmp"), "sawbill-replay-" + std::to_string(env->pid) + ".state");
    Note(env, Tr(lang, Msg::kRecPlayHow, spec.library_dir, spec.state_path));
    if (env->err_is_terminal && !options.quiet) {
      spec.progress = [&](double t_s, double duration_s) {
        env->err->Write("\r" +
                        Tr(lang, Msg::kRecPlaying, FormatDuration(std::floor(t_s), lang),
                           FormatDuration(std::floor(duration_s), lang)) +
                        "   ");
      };
    }
  }
  Note(env,
       Tr(lang, Msg::kRecPlayed, name, played->cards().size(), FormatDuration(played->duration_s() / *speed, lang)));
  const auto code = simulator::Play(played.get(), spec);
  if (spec.progress) env->err->Write("\n");
  if (code.ok()) return *code;
  const int failed = Fail(env, code.status());
  // As `sawbill run` and the shell have it.
  if (!spec.command.empty() && code.status().kind() == StatusKind::kNotFound) return 127;
  return !spec.command.empty() && code.status().kind() == StatusKind::kUnavailable ? 126 : failed;
}

}  // namespace sawbill::app
