// SPDX-License-Identifier: Apache-2.0
// What NVML says of each card model and what does not change while it runs.
#pragma once

#include <span>
#include <string_view>

namespace sawbill::nvmlsim {

struct CardModel {
  std::string_view key;   // in scripts: "H100"
  std::string_view name;  // as NVML says it
  double memory_mib, reserved_mib;
  double limit_w, min_limit_w, idle_w;
  int architecture, cuda_major, cuda_minor, brand;
  unsigned pci_device;  // device id
  int cores, sm_count, bus_bits;
  int sm_max_mhz, sm_idle_mhz, mem_max_mhz, mem_idle_mhz;
  int pcie_gen;
  int nvlinks, nvlink_mb_s;  // links, and 10^6 bytes a second of each, one direction
  int fans;                  // 0: passively cooled
  bool ecc, mig, gpm;
  bool instant_power;  // power is read at the instant, and field 185 is not there: up to Turing, and GA100
  bool memory_temp;
  double util_window_s;  // documented only as 1/6 s to 1 s
};

std::span<const CardModel> Catalogue();
/// By key or NVML's name, ignoring case; nullptr when there is none.
const CardModel* FindModel(std::string_view name);

}  // namespace sawbill::nvmlsim
