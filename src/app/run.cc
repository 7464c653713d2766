// SPDX-License-Identifier: Apache-2.0
// From the arguments to the exit status.
#include <algorithm>

#include "app/cli.h"
#include "app/commands.h"
#include "app/pipeline.h"

namespace sawbill::app {
namespace {

struct Entry {
  const char* path;
  Command run;
};
constexpr Entry kCommands[] = {
    {"run", CmdRun},
    {"record", CmdRecord},
    {"pause", CmdPause},
    {"replay", CmdReplay},
    {"convert", CmdConvert},
    {"report", CmdReport},
    {"diagnose", CmdDiagnose},
    {"demo", CmdDemo},
    {"prices", CmdPrices},
    {"rules list", CmdRulesList},
    {"rules explain", CmdRulesExplain},
};

int Help(const std::string& path, Lang lang, Environment* env) {
  env->out->Write(RenderHelp(DescribeCommands(lang), path, lang, env->columns));
  return 0;
}

int Dispatch(const ParseOutcome& parsed, Lang lang, Environment* env) {
  const Options& o = parsed.options;
  if (o.version || o.command == "version") return CmdVersion(env);
  if (o.command.empty() || o.command == "rules") return Help(o.command, lang, env);
  if (o.lang && !ParseLang(*o.lang)) {
    return Fail(env, Status::Invalid(Tr(lang, Msg::kAppBadChoice, "--lang", *o.lang, "en, zh")));
  }
  if (o.command == "completion") return CmdCompletion(o, lang, env);
  if (o.command == "doctor") return CmdDoctor(o, lang, env);
  if (o.command == "rules check") return CmdRulesCheck(o, lang, env);
  const auto settings = ResolveSettings(o, *env);
  if (!settings.ok()) return Fail(env, settings.status());
  for (const Entry& entry : kCommands) {
    if (o.command == entry.path) return entry.run(o, *settings, env);
  }
  return Help("", lang, env);
}

}  // namespace

int RunMain(const std::vector<std::string>& args, Environment* env) {
  // What stands behind "--" is a command of its own, whatever it looks like.
  const auto dashes = std::find(args.begin(), args.end(), "--");
  const std::vector<std::string> own(args.begin(), dashes);
  const Lang lang = EarlyLang(own, *env);
  ParseOutcome parsed = ParseCommandLine(own, lang);
  if (dashes != args.end()) {
    const std::vector<std::string> rest(dashes + 1, args.end());
    auto& o = parsed.options;
    auto& to = o.command == "run" || o.command == "replay" ? o.child : o.files;
    to.insert(to.end(), rest.begin(), rest.end());
  }
  int code = 0;
  if (parsed.kind == ParseOutcome::Kind::kHelp) {
    code = Help(parsed.command, lang, env);
  } else if (parsed.kind == ParseOutcome::Kind::kError) {
    code = Fail(env, Status::Invalid(parsed.error));
    const std::string program = parsed.command.empty() ? "sawbill" : "sawbill " + parsed.command;
    env->err->Write(Tr(lang, Msg::kAppSeeHelp, program) + "\n");
  } else {
    code = Dispatch(parsed, lang, env);
  }
  if (!env->out->status().ok()) return Fail(env, env->out->status());
  return code;
}

}  // namespace sawbill::app
