// SPDX-License-Identifier: Apache-2.0
// `sawbill report --format json` on a recording that lies in memory: the whole program, without a process of its own.
#pragma once

#include <string>
#include <vector>

#include "bench/diagnosis/answer.h"
#include "simulator/write.h"

namespace sawbill::bench {

/// `files` as the simulator renders them; truth.json is withheld. `args` are added to the command line.
Answer AskSawbill(const std::vector<simulator::OutFile>& files, double price_per_gpu_hour,
                  const std::vector<std::string>& args = {});

}  // namespace sawbill::bench
