// SPDX-License-Identifier: Apache-2.0
#include "simulator/nvml/environment.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gpu/nvml_abi.h"
#include "simulator/nvml/state.h"

namespace sawbill::nvmlsim {
namespace {

// Without script and state file: it reads as one healthy idle H100.
constexpr std::string_view kDefaultScript = "[[card]]\nmodel = \"H100\"\n";

Result<Script> ReadScript(const char* path) {
  std::ifstream in(path);
  if (!in) return Status::Unavailable(std::string(path) + ": cannot be read");
  std::ostringstream all;
  all << in.rdbuf();
  return ParseScript(all.str(), path);
}

void Refuse(const Status& status, Setup* setup) {
  setup->problem = status.message();
  setup->faults.push_back({.kind = FaultKind::kDriver, .code = nvml::kDriverNotLoaded});
}

}  // namespace

Setup SetupFromEnvironment() {
  const char* script_path = std::getenv("SAWBILL_SIM_SCRIPT");
  if (script_path != nullptr && *script_path == '\0') script_path = nullptr;
  const char* state_path = std::getenv("SAWBILL_SIM_STATE");
  Setup setup;
  Result<Script> read = script_path != nullptr  ? ReadScript(script_path)
                        : state_path != nullptr ? Result<Script>(Script{})
                                                : ParseScript(kDefaultScript, "built-in script");
  const Status problem = read.ok() ? Status::Ok() : read.status();
  const auto script = std::make_shared<const Script>(problem.ok() ? std::move(read).value() : Script{});
  setup.source = MakeScriptSource(script);
  setup.faults = script->faults;
  if (!problem.ok()) Refuse(problem, &setup);
  if (state_path == nullptr) return setup;
  Result<std::unique_ptr<Source>> state = OpenState(state_path);
  if (state.ok() && script->has_cards) {
    // Two lists of cards, of which one would be left out in silence.
    Refuse(Status::Invalid(std::string(script_path) + ": [[card]] beside a state file, which has the cards"), &setup);
  } else if (state.ok()) {
    setup.source = std::move(state).value();
  } else {
    Refuse(state.status(), &setup);
  }
  return setup;
}

}  // namespace sawbill::nvmlsim
