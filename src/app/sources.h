// SPDX-License-Identifier: Apache-2.0
// From an input to telemetry: cut to the period asked for, with the owner's labels.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/inputs.h"
#include "app/settings.h"
#include "model/recording.h"

namespace sawbill::app {

/// Uses up `input->recording`. `clip` receives the period asked for, where it cuts anything, for analysis::Options.
/// kNotFound with what to do where nothing is; kInvalid where the period asked for holds no sample.
Result<std::unique_ptr<model::TelemetrySource>> OpenTelemetry(Input* input, const Settings& settings,
                                                              std::optional<model::TimeRange>* clip = nullptr);
/// Leaves what lies in (range.from, range.to], of each track the one sample before, which begins its time, and of each
/// card the one behind, whose interval the analysis cuts (analysis::Options::clip).
void ClipRecording(model::TimeRange range, model::Recording* recording);

}  // namespace sawbill::app
