// SPDX-License-Identifier: Apache-2.0
#include "app/cli.h"
#include "app/commands.h"
#include "app/pipeline.h"

namespace sawbill::app {

int CmdCompletion(const Options& options, Lang lang, Environment* env) {
  const std::string script = RenderCompletion(DescribeCommands(lang), options.subject);
  if (script.empty()) return Fail(env, Status::Invalid(Tr(lang, Msg::kAppUnknownShell, options.subject)));
  env->out->Write(script);
  return 0;
}

}  // namespace sawbill::app
