// SPDX-License-Identifier: Apache-2.0
// What today's tools would say of the same readings, with the thresholds that they publish. Each gets the mapping from
// its own words to finding ids that serves it best.
#pragma once

#include <span>

#include "bench/diagnosis/answer.h"
#include "simulator/measure.h"

namespace sawbill::bench {

struct Baseline {
  const char* name;    // for tables
  const char* source;  // of its thresholds
  Answer (*judge)(const simulator::Readings& readings, size_t cards, double card_memory_mb);
};

std::span<const Baseline> Baselines();

/// Fisher's g test of one series: the period whose share of the spectrum is largest, and the chance (white noise) of a
/// share as large. REQUIRES: at least 8 values, none missing.
struct FisherResult {
  double period = 0, p_value = 1;  // in samples
};
FisherResult FisherG(const std::vector<double>& v);

}  // namespace sawbill::bench
