// SPDX-License-Identifier: Apache-2.0
// The card models that can be simulated: what the data sheet and NVML say of each, as far as the instruments need it.
#pragma once

#include <span>
#include <string_view>

namespace sawbill::simulator {

struct CardModel {
  const char* name;        // as NVML reports it
  const char* short_name;  // for the command line
  double memory_mb;
  double idle_w, limit_w;
  double sm_max_mhz, sm_idle_mhz, mem_mhz, mem_idle_mhz;
  double ambient_c;     // of the die with no power
  double kelvin_per_w;  // thermal resistance to the air
  double thermal_tau_s;
  double slowdown_c;      // software thermal slowdown sets in
  bool gpm;               // sm_active .. gr_active can be read (Hopper and newer)
  bool power_is_1s_mean;  // nvml.h: instantaneous on GA100 and older
  bool nvlink;
  double window_s;  // NVML's utilisation window
};

std::span<const CardModel> Cards();
/// By NVML name or short name, ignoring case; nullptr when unknown.
const CardModel* FindCard(std::string_view name);

}  // namespace sawbill::simulator
