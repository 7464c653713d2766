// SPDX-License-Identifier: Apache-2.0
// The forms in which people put times in front of lines and between them.
#pragma once

#include <optional>
#include <string_view>

#include "ingest/time_cells.h"

namespace sawbill::ingest {

/// A time in front of a line.
struct Stamp {
  std::string_view text;  // as it stands, without brackets
  size_t size = 0;        // of what is taken off the line: brackets, and the blank behind it
  bool has_year = true;
  CivilTime civil;  // where it has none; the year is 2000
};

/// The stamp in front of a line. What a comma follows is a cell of a table.
std::optional<Stamp> StampInFront(std::string_view line, TimeCells* cells);

/// The time in a line that holds nothing else: decorated, behind a word such as "time:", or as the head of `watch` has
/// it ("Every 5.0s: nvidia-smi    host: Wed Dec  2 17:00:12 2026"). "" where it is none.
std::string_view TimeLine(std::string_view line, TimeCells* cells);

}  // namespace sawbill::ingest
