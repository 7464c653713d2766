// SPDX-License-Identifier: Apache-2.0
// `sawbill-simulate play` and `stand-in`. Both return the exit status.
#pragma once

#include <string>
#include <vector>

namespace sawbill::simulator {

int PlayCommand(const std::vector<std::string>& args);
int StandInCommand(const std::vector<std::string>& args);

}  // namespace sawbill::simulator
