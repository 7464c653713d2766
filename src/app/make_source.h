// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/source.h"

namespace sawbill::app {

/// NVML, and where that gives nothing dcgm-exporter at `dcgm_url` (if not "").
std::shared_ptr<gpu::Source> MakeCardSource(const std::string& nvml_library, const std::string& dcgm_url);

/// The first of `sources` that opens; at the next Open they are tried from the start again. When none opens, the status
/// is that of the first.
std::shared_ptr<gpu::Source> FirstThatOpens(std::vector<std::unique_ptr<gpu::Source>> sources);

}  // namespace sawbill::app
