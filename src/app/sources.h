// SPDX-License-Identifier: Apache-2.0
// From a path to telemetry: a folder of day files or a foreign file, cut to the period asked for, with the owner's
// labels.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/environment.h"
#include "app/options.h"
#include "app/settings.h"
#include "model/recording.h"

namespace sawbill::app {

/// The paths to read: those named, else the data folder.
std::vector<std::string> Inputs(const Options& options, const Settings& settings, Environment* env);
/// `clip` receives the period asked for, where it cuts anything, for analysis::Options.
/// kNotFound with what to do where nothing is; kInvalid where the period asked for holds no sample.
Result<std::unique_ptr<model::TelemetrySource>> OpenTelemetry(const std::string& path, const Settings& settings,
                                                              Environment* env,
                                                              std::optional<model::TimeRange>* clip = nullptr);
/// Leaves what lies in (range.from, range.to], of each track the one sample before, which begins its time, and of each
/// card the one behind, whose interval the analysis cuts (analysis::Options::clip).
void ClipRecording(model::TimeRange range, model::Recording* recording);

}  // namespace sawbill::app
