// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/inputs.h"
#include "app/pipeline.h"
#include "base/text.h"
#include "ingest/open.h"
#include "sys/self.h"

namespace sawbill::app {
namespace {

constexpr size_t kMostExplained = 50;  // files of one folder

int ExplainFormats(const Options& options, const Settings& settings, Environment* env) {
  if (options.files.empty()) return Fail(env, Status::Invalid(std::string(Text(settings.lang, Msg::kAppExplainWhich))));
  sys::KeepFreedMemory();
  ingest::IngestOptions o;
  o.tz = settings.tz;
  o.lang = settings.lang;
  std::string text;
  for (const std::string& path : options.files) {
    const auto files = FilesOf(path, kMostExplained, settings, env);
    if (!files.ok()) return Fail(env, files.status());
    for (const NamedFile& file : *files) {
      const auto explained = ingest::ExplainFormat(file.fs, file.path, o);
      if (!explained.ok()) return Fail(env, explained.status());
      const bool alone = options.files.size() == 1 && files->size() == 1;
      text += (text.empty() ? "" : "\n") + (alone ? "" : "=== " + Sanitize(file.name) + "\n") + *explained;
    }
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
