// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"

namespace sawbill::app {

int CmdVersion(Environment* env) {
  env->out->Write("sawbill " SAWBILL_VERSION "\n");
  return 0;
}

}  // namespace sawbill::app
