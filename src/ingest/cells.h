// SPDX-License-Identifier: Apache-2.0
// Single cells of comma-separated text: where one ends, and whether it is a number with a unit, a "not available" or an
// error marker.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.h"

namespace sawbill::ingest {

/// The end of the cell that begins at `p`: its comma, or `end`. A quoted cell may hold commas; nullptr = its quote is
/// open.
const char* CellEnd(const char* p, const char* end);
/// Without blanks and without quotes around; doubled quotes inside stay doubled (no GPU field holds one).
std::string_view Unquote(std::string_view cell);
/// All cells of a line, unquoted; empty when a quote is open.
std::vector<std::string_view> SplitCells(std::string_view line);
/// The same into `cells`, whose room is used again line after line.
void SplitCells(std::string_view line, std::vector<std::string_view>* cells);

/// The first line, without byte order mark and line end.
std::string_view FirstLine(std::string_view text);

enum class Marker { kNone, kEmpty, kNotAvailable, kError };
/// "[N/A]", "-", "[Not Supported]" -> kNotAvailable; "ERR!", "[Unknown Error]", any other "[...]" -> kError.
Marker MarkerOf(std::string_view cell);

/// NVML's clocks-event reasons in hex ("0x0000000000000004") as a mask of model::ThrottleBit; unknown bits are dropped.
std::optional<unsigned> ReasonsFromHex(std::string_view cell);

}  // namespace sawbill::ingest
