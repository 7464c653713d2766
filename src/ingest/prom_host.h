// SPDX-License-Identifier: Apache-2.0
// node_exporter's counters become our host metrics: by their difference over time, added up over cores, disks and
// links.
#pragma once

#include <string>
#include <vector>

#include "ingest/prom_series.h"

namespace sawbill::ingest {

/// All NodeSeries of one host. False when all were seen only once, so that no difference can be told.
bool PutNodeSeries(const std::vector<const PromOneSeries*>& series, int host, Samples* samples);

}  // namespace sawbill::ingest
