// SPDX-License-Identifier: Apache-2.0
// What exporters and Prometheus say, saved to a file: pages of text, answers of the HTTP API and of VictoriaMetrics'
// export, and DCGM's entity CSV.
#pragma once

#include "ingest/format.h"

namespace sawbill::ingest {

const Format& PrometheusText();
const Format& PrometheusJson();
const Format& DcgmEntityCsv();

}  // namespace sawbill::ingest
