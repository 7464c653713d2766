// SPDX-License-Identifier: Apache-2.0
// What data sheets say of card models, where an estimate needs it. A card that is not listed has no such fact.
#pragma once

#include <optional>
#include <string_view>

namespace sawbill::model {

struct CardSpec {
  std::string_view model;    // as a whole word of NVML's product name
  std::string_view variant;  // words that must stand there as well (in any case), where models differ; may be empty
  double nvlink_gb_s = 0;    // per direction, all links; 0 = none
  double power_w = 0;        // its own power limit; 0 = not known
  bool tensor_cores = false;
};

/// The first row whose `model` and `variant` are whole words of `product_name` ("NVIDIA A100-SXM4-80GB" -> A100), or
/// nothing.
std::optional<CardSpec> FindCardSpec(std::string_view product_name);

}  // namespace sawbill::model
