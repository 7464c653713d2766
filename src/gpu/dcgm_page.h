// SPDX-License-Identifier: Apache-2.0
// What a page of dcgm-exporter says of each card. Names, units and the numbers that mean "no value" stand in
// prom/series_table.h, which the readers of saved pages share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/metrics.h"

namespace sawbill::gpu {

struct DcgmCard {
  DcgmCard();
  std::string gpu, uuid, name, driver, profile;  // "" = not told
  std::optional<int> instance;                   // GPU_I_ID
  model::GpuValues values;                       // in the catalogue's units; NaN = not there
  double memory_free_mb, memory_total_mb, memory_reserved_mb, power_limit_w, xid, uncorrected;  // NaN = not there
  /// The same card in the next page.
  std::string key() const;
};

struct DcgmPage {
  std::vector<DcgmCard> cards;  // by number, then instance
  uint64_t fingerprint = 0;     // of DCGM's lines; equal = nothing was collected in between
};
DcgmPage ParseDcgmPage(std::string_view text);

}  // namespace sawbill::gpu
