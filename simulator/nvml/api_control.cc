// SPDX-License-Identifier: Apache-2.0
// For tests in the same process: see api.h.
#include "simulator/nvml/api.h"

namespace {
std::string& LastError() {
  static std::string* text = new std::string;
  return *text;
}
}  // namespace

extern "C" {

int sawbill_sim_load(const char* script_text) {
  const sawbill::Status status = sawbill::nvmlsim::World::Get().Load(script_text != nullptr ? script_text : "");
  LastError() = status.message();
  return status.ok() ? 0 : 1;
}

const char* sawbill_sim_error() { return LastError().c_str(); }

void sawbill_sim_set_time(double seconds) { sawbill::nvmlsim::World::Get().FixTime(seconds); }

long sawbill_sim_calls(const char* function, int card) {
  return function != nullptr ? sawbill::nvmlsim::World::Get().Calls(function, card) : 0;
}

void sawbill_sim_reset() { sawbill::nvmlsim::World::Get().Reset(); }
}
