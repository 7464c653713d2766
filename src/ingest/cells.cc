// SPDX-License-Identifier: Apache-2.0
#include "ingest/cells.h"

#include "base/text.h"

namespace sawbill::ingest {

const char* CellEnd(const char* p, const char* end) {
  const char* q = p;
  while (q < end && (*q == ' ' || *q == '\t')) ++q;
  if (q < end && *q == '"') {
    ++q;
    while (true) {
      const void* quote = std::memchr(q, '"', static_cast<size_t>(end - q));
      if (quote == nullptr) return nullptr;
      q = static_cast<const char*>(quote) + 1;
      if (q == end || *q != '"') break;
      ++q;
    }
  }
  // Most cells are short: a call costs more than looking.
  for (const char* near = end - q > 12 ? q + 12 : end; q < near; ++q) {
    if (*q == ',') return q;
  }
  const void* comma = std::memchr(q, ',', static_cast<size_t>(end - q));
  return comma != nullptr ? static_cast<const char*>(comma) : end;
}

std::string_view Unquote(std::string_view cell) {
  cell = Trim(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = Trim(cell.substr(1, cell.size() - 2));
  return cell;
}

std::vector<std::string_view> SplitCells(std::string_view line) {
  std::vector<std::string_view> cells;
  const char* p = line.data();
  const char* const end = p + line.size();
  while (true) {
    const char* stop = CellEnd(p, end);
    if (stop == nullptr) return {};
    cells.push_back(Unquote(std::string_view(p, static_cast<size_t>(stop - p))));
    if (stop == end) return cells;
    p = stop + 1;
  }
}

Marker MarkerOf(std::string_view cell) {
  if (cell.empty()) return Marker::kEmpty;
  const bool bracketed = cell.size() >= 2 && cell.front() == '[' && cell.back() == ']';
  const std::string s = ToLower(bracketed ? Trim(cell.substr(1, cell.size() - 2)) : cell);
  for (const char* known : {"n/a", "na", "-", "--", "not supported", "not available", "function not found", "none",
                            "null", "nan", "requested functionality has been deprecated", "deprecated"}) {
    if (s == known) return Marker::kNotAvailable;
  }
  if (bracketed) return Marker::kError;
  for (const char* known : {"err!", "err", "error", "unknown error", "unknown", "gpu is lost",
                            "insufficient permissions", "gpu requires reset", "timeout"}) {
    if (s == known) return Marker::kError;
  }
  return Marker::kNone;
}

}  // namespace sawbill::ingest
