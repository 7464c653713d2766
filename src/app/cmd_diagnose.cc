// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/pipeline.h"
#include "ingest/open.h"

namespace sawbill::app {
namespace {

int ExplainFormats(const Options& options, const Settings& settings, Environment* env) {
  if (options.files.empty()) return Fail(env, Status::Invalid(std::string(Text(settings.lang, Msg::kAppExplainWhich))));
  ingest::IngestOptions o;
  o.tz = settings.tz;
  o.lang = settings.lang;
  std::string text;
  for (const std::string& path : options.files) {
    const auto info = env->fs->Stat(path);
    if (info.ok() && info->is_directory)
      return Fail(env, Status::Invalid(Tr(settings.lang, Msg::kAppExplainFolder, path)));
    const auto explained = ingest::ExplainFormat(env->fs, path, o);
    if (!explained.ok()) return Fail(env, explained.status());
    text += (text.empty() ? "" : "\n") + *explained;
  }
  const Status delivered = Deliver(options, settings, text, env);
  return delivered.ok() ? 0 : Fail(env, delivered);
}

}  // namespace

int CmdDiagnose(const Options& options, const Settings& settings, Environment* env) {
  if (options.explain_format) return ExplainFormats(options, settings, env);
  return ReportAll(options, settings, true, env);
}

}  // namespace sawbill::app
