// SPDX-License-Identifier: Apache-2.0
// One line of a Prometheus text page (exposition format 0.0.4), as dcgm-exporter and its forks really write it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sawbill::gpu {

struct PromSample {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;  // NaN for "NaN", "N/A" and whatever is no number
  /// "" when there is no such label.
  std::string_view Label(std::string_view key) const;
};

/// False for comments, blank lines and lines that are no sample; `*sample` is then unspecified. Reuses its memory.
/// dcgm-exporter does not escape label values: a quote ends one only where a comma or the closing brace follows.
bool ParsePromLine(std::string_view line, PromSample* sample);

}  // namespace sawbill::gpu
