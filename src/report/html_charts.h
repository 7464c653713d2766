// SPDX-License-Identifier: Apache-2.0
// Inline SVG for the HTML report. Drawings stretch with the page; words stand beside them as text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/view.h"

namespace sawbill::report {

/// A stretch of the period in which a finding was seen, as shares of the period.
struct SeenSpan {
  double from = 0, to = 0;
};

/// Mean as an area, lowest sample as a line, holes shaded, `seen` marked at the top. "" without a wave.
std::string WaveSvg(const GpuRow& g, int points, const std::vector<SeenSpan>& seen, const std::string& title);
/// The ledger as one bar of segments with a title each.
std::string LedgerSvg(const View& v, const std::string& title);

}  // namespace sawbill::report
