// SPDX-License-Identifier: Apache-2.0
// What SAWBILL_SIM_SCRIPT and SAWBILL_SIM_STATE name, and what there is without them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simulator/nvml/script.h"

namespace sawbill::nvmlsim {

struct Setup {
  std::shared_ptr<const Source> source;  // never nullptr
  std::vector<Fault> faults;
  std::string problem;  // not "": something cannot be read, and `faults` has a driver that is not there
};
Setup SetupFromEnvironment();

}  // namespace sawbill::nvmlsim
