// SPDX-License-Identifier: Apache-2.0
// Grafana's CSV exports, in which a series is known by its legend: a column for each, a row for each point, or its
// labels as columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sawbill::ingest {

/// The export as a table with a row for each card. Nothing where no legend tells both the metric and the card.
std::optional<std::string> FromLegends(std::string_view sample, std::string_view bytes);

/// Legends that name cards and leave the metric out ("GPU 0", {gpu="0"}, n1:0), where the table holds nothing else
/// beside its times; empty for anything else.
std::vector<std::string> LegendsWithoutMetric(std::string_view sample);

}  // namespace sawbill::ingest
