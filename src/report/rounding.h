// SPDX-License-Identifier: Apache-2.0
// Columns that add up. Each figure of a bill is rounded, and the rounded figures must still give the printed total.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sawbill::report {

/// `values` as whole multiples of 10^-decimals whose sum is the rounded sum (largest remainder). Where `total` is given
/// and is the sum but for noise (at most one such multiple), they add up to `total` rounded. A zero stays zero; a value
/// that is not finite is nothing, and the others add up without it.
std::vector<std::optional<int64_t>> RoundUnits(const std::vector<double>& values, int decimals,
                                               std::optional<double> total = std::nullopt);
/// `units` * 10^-decimals, with thousands grouped for people or plain for programs; nothing gives "—".
std::string FormatUnits(std::optional<int64_t> units, int decimals, bool grouped);

}  // namespace sawbill::report
