// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/inputs.h"
#include "app/pipeline.h"
#include "app/sources.h"
#include "base/text.h"
#include "store/day_reader.h"
#include "store/recording_writer.h"

namespace sawbill::app {
namespace {

constexpr const char* kSimulated = "Converted from a simulated recording: no real card was measured.\n";

Result<store::WrittenRows> WriteAll(const model::TelemetrySource& source, const std::string& dir, const Settings& s,
                                    Environment* env) {
  store::RecordingWriter writer(env->fs, dir, s.tz, source.cards());
  for (size_t i = 0; i < source.pieces().size(); ++i) {
    SAWBILL_ASSIGN_OR_RETURN(const model::Recording piece, source.Read(i));
    if (piece.simulated) SAWBILL_RETURN_IF_ERROR(env->fs->WriteAtomically(sys::JoinPath(dir, "SIMULATED"), kSimulated));
    // Later pieces begin with the sample that ended the one before.
    SAWBILL_RETURN_IF_ERROR(writer.Add(piece, i == 0 ? INT64_MIN : source.pieces()[i].from));
  }
  SAWBILL_RETURN_IF_ERROR(writer.Close());
  return writer.rows();
}

}  // namespace

int CmdConvert(const Options& options, const Settings& s, Environment* env) {
  if (!options.output) return Fail(env, Status::Invalid(std::string(Text(s.lang, Msg::kAppConvertWhere))));
  const std::string& dir = *options.output;
  const auto info = env->fs->Stat(dir);
  if (info.ok() && !info->is_directory)
    return Fail(env, Status::Invalid(dir + ": " + std::string(Text(s.lang, Msg::kAppConvertWhere))));
  if (info.ok() && store::IsDataFolder(env->fs, dir))
    return Fail(env, Status::Invalid(Tr(s.lang, Msg::kAppConvertThere, dir)));
  if (options.files.empty()) return Fail(env, Status::Invalid(std::string(Text(s.lang, Msg::kAppConvertWhere))));
  Inputs gathered = GatherInputs(options.files, s, env);
  if (!gathered.failures.empty()) return Fail(env, gathered.failures.front());
  if (gathered.inputs.size() != 1) {
    std::vector<std::string> names;
    for (const Input& input : gathered.inputs) names.push_back(input.name);
    return Fail(env, Status::Invalid(Tr(s.lang, Msg::kAppConvertTwo, names.size(), Join(names, "; "))));
  }
  if (const Status made = env->fs->MakeDirs(dir); !made.ok()) return Fail(env, made.At("-o"));
  const auto source = OpenTelemetry(&gathered.inputs.front(), s);
  if (!source.ok()) return Fail(env, source.status());
  const auto rows = WriteAll(**source, dir, s, env);
  if (!rows.ok()) return Fail(env, rows.status());
  const model::TimeRange there = (*source)->period();
  env->out->Write(Tr(s.lang, Msg::kAppConverted, dir, rows->gpu, rows->host, rows->process, FormatRfc3339(there.from),
                     FormatRfc3339(there.to)) +
                  "\n" + Tr(s.lang, Msg::kAppConvertMeaning) + "\n" + Tr(s.lang, Msg::kAppConvertNext, dir) + "\n");
  return 0;
}

}  // namespace sawbill::app
