// SPDX-License-Identifier: Apache-2.0
// A run whose samples are those of a recorder: its folder holds the run's own rows and a file SAMPLES, which names the
// recorder's folder. Read like any folder, it shows the run's time and the cards that its rows name.
#pragma once

#include <memory>
#include <string>

#include "store/day_folder.h"
#include "store/day_reader.h"

namespace sawbill::store {

inline constexpr const char* kSamplesName = "SAMPLES";

/// What SAMPLES of `folder` names, relative to it or absolute; "" = it has samples of its own, or no such file.
std::string SamplesElsewhere(sys::FileSystem* fs, const DayFolder& folder);

/// The part of the day files in `dir` that the runs of `folder` name.
Result<std::unique_ptr<model::TelemetrySource>> OpenRunView(sys::FileSystem* fs, const DayFolder& folder,
                                                            const std::string& dir, const DataFolderOptions& options);

}  // namespace sawbill::store
