// SPDX-License-Identifier: Apache-2.0
// What data sheets say of card models, where an estimate needs it. A card that is not listed has no such fact.
#pragma once

#include <optional>
#include <string_view>

namespace sawbill::model {

struct CardSpec {
  std::string_view model;  // as a whole word of NVML's product name
  double nvlink_gb_s = 0;  // per direction, all links; 0 = none
  bool tensor_cores = false;
};

/// The row whose `model` is a whole word of `product_name` ("NVIDIA A100-SXM4-80GB" -> A100), or nothing.
std::optional<CardSpec> FindCardSpec(std::string_view product_name);

}  // namespace sawbill::model
