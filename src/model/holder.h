// SPDX-License-Identifier: Apache-2.0
// Who the driver says holds a card.
#pragma once

#include <cstdint>
#include <string>

#include "base/numbers.h"

namespace sawbill::model {

struct CardHolder {
  std::string gpu;  // "0", "0.GI.CI"
  int64_t pid = 0;  // as the driver gives it: inside a container it may be the host's number
  double gpu_mem_mb = kMissing;
  double sm_util = kMissing;  // percent of the whole card since the last reading; 0 = was idle, missing = not
                              // supported, or no reading before
};

}  // namespace sawbill::model
