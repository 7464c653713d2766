// SPDX-License-Identifier: Apache-2.0
// Rows of the kinds that the recorder writes, in the order of Columns(kind), without the timestamp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/numbers.h"
#include "model/recording.h"
#include "store/csv_line.h"

namespace sawbill::store {

using model::GpuValues;
using model::HostValues;
using model::ProcessValues;

struct ProcessSample {
  std::string gpu;  // "" = holds no card but matters
  int64_t pid = 0;
  std::string user, name, job;
  ProcessValues values;
};

/// Each replaces what `row` holds.
void MakeGpuRow(std::string_view gpu, const GpuValues& values, RowText* row);
void MakeHostRow(const HostValues& values, RowText* row);
void MakeProcessRow(const ProcessSample& sample, RowText* row);
void MakeRunRow(const model::RunRow& run, RowText* row);
void MakeEventRow(std::string_view kind, std::string_view gpu, std::string_view detail, RowText* row);

/// "none", "sw_power_cap|hw_thermal".
std::string FormatThrottle(unsigned mask);

}  // namespace sawbill::store
