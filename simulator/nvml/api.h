// SPDX-License-Identifier: Apache-2.0
// What the library exports: every function of gpu/nvml_functions.inc, and sawbill_sim_* for tests in the same process.
// A definition that differs from the list does not compile; tests see that none is missing.
#pragma once

#include "gpu/nvml_abi.h"
#include "simulator/nvml/world.h"

#define SAWBILL_SIM_EXPORT __attribute__((visibility("default")))

namespace sawbill::nvml {
extern "C" {
#define NVML_FUNCTION(name, parameters) SAWBILL_SIM_EXPORT Return name parameters;
#include "gpu/nvml_functions.inc"
#include "simulator/nvml/smi_functions.inc"
#undef NVML_FUNCTION
SAWBILL_SIM_EXPORT const char* nvmlErrorString(Return code);
}
}  // namespace sawbill::nvml

extern "C" {
/// Replaces the script, as if the library were loaded anew: 0, or sawbill_sim_error() says why not. The clock runs from
/// 0 until it is set.
SAWBILL_SIM_EXPORT int sawbill_sim_load(const char* script_text);
SAWBILL_SIM_EXPORT const char* sawbill_sim_error();
/// Stops the clock at this time. Slow calls then take no time; hanging ones end when the time is past their end.
SAWBILL_SIM_EXPORT void sawbill_sim_set_time(double seconds);
/// How often a function was called since the load, on a card as the script numbers them; -1: on all, and on none.
SAWBILL_SIM_EXPORT long sawbill_sim_calls(const char* function, int card);
/// Back to what the environment says.
SAWBILL_SIM_EXPORT void sawbill_sim_reset();
}
