// SPDX-License-Identifier: Apache-2.0
// Comma-separated tables in which each column belongs to one card ("system.gpu.0.gpu", ".../gpu:0/power_usage
// (W)/mean"): one row is one time for all cards. Which column is what, the format says; this reads the cells.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/cells.h"
#include "ingest/words.h"

namespace sawbill::ingest {

/// A cell's number; NaN for an empty one (in such tables most metrics have times of their own), and, counted, for what
/// is no reading.
inline double WideReading(std::string_view cell, Tally* tally) {
  const char* p = cell.data();
  const char* const end = p + cell.size();
  double v = 0;
  if (TakeDecimal(&p, end, &v) && p == end) return v;
  cell = Unquote(cell);
  return cell.empty() || cell == "nan" || cell == "NaN" ? kMissing : TakeReading(cell, tally);
}

/// The headings, without quotes; empty when there is no line or its quotes do not close.
inline std::vector<std::string> WideHeadings(std::string_view line) {
  if (line.substr(0, 3) == "\xEF\xBB\xBF") line.remove_prefix(3);
  std::vector<std::string> headings;
  for (const std::string_view cell : SplitCells(line)) headings.emplace_back(cell);
  return headings;
}

/// Calls `row(const std::vector<std::string_view>& cells)` for every whole row behind the headings. Cells are as they
/// stand in the file, quotes included.
template <typename Row>
void ReadWideRows(sys::LineReader* lines, size_t columns, const std::string& heading_line, Tally* tally, Row row) {
  std::vector<std::string_view> cells;
  cells.reserve(columns);
  std::string_view line;
  while (lines->Next(&line)) {
    if (line.empty()) continue;
    if (line == heading_line) {
      tally->Count(model::Odd::kRepeatedHeader);
      continue;
    }
    cells.clear();
    const char* p = line.data();
    const char* const end = p + line.size();
    const bool quoted = std::memchr(p, '"', line.size()) != nullptr;
    while (p != nullptr && cells.size() <= columns) {
      const char* stop = p;
      if (quoted) {
        stop = CellEnd(p, end);
      } else {
        while (stop < end && *stop != ',') ++stop;
      }
      if (stop == nullptr) break;
      cells.emplace_back(p, static_cast<size_t>(stop - p));
      p = stop == end ? nullptr : stop + 1;
    }
    if (cells.size() == columns && p == nullptr) {
      row(cells);
    } else if (!lines->terminated()) {
      tally->Count(model::Odd::kTornLine);
    } else {
      tally->Count(cells.size() < columns ? model::Odd::kMissingCells : model::Odd::kExtraCells);
    }
  }
}

}  // namespace sawbill::ingest
