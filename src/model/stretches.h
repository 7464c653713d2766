// SPDX-License-Identifier: Apache-2.0
// Recordings whose sampling interval changes on the way: a logger that was started anew with another interval.
#pragma once

#include "model/recording.h"

namespace sawbill::model {

/// Corrects what one median for the whole has made of a recording with several intervals; leaves every other one as it
/// is. REQUIRES: `c` was computed from `t_ms`, which ascends.
void FitToStretches(const std::vector<TimeMs>& t_ms, Coverage* c);

}  // namespace sawbill::model
