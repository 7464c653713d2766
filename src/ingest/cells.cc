// SPDX-License-Identifier: Apache-2.0
#include "ingest/cells.h"

#include "base/text.h"

namespace sawbill::ingest {
namespace {

// Bits of nvml.h, in the order of model::ThrottleBit.
constexpr unsigned kNvmlReason[] = {0x1, 0x4, 0x8, 0x40, 0x80, 0x20, 0x2, 0x10, 0x100};

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

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
  SplitCells(line, &cells);
  return cells;
}

void SplitCells(std::string_view line, std::vector<std::string_view>* cells) {
  cells->clear();
  const char* p = line.data();
  const char* const end = p + line.size();
  while (true) {
    const char* stop = CellEnd(p, end);
    if (stop == nullptr) return cells->clear();
    cells->push_back(Unquote(std::string_view(p, static_cast<size_t>(stop - p))));
    if (stop == end) return;
    p = stop + 1;
  }
}

std::string_view FirstLine(std::string_view sample) {
  if (StartsWith(sample, "\xEF\xBB\xBF")) sample.remove_prefix(3);
  sample = sample.substr(0, sample.find('\n'));
  if (!sample.empty() && sample.back() == '\r') sample.remove_suffix(1);
  return sample;
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

std::optional<unsigned> ReasonsFromHex(std::string_view cell) {
  if (cell.size() <= 2 || cell.size() > 18 || cell[0] != '0' || (cell[1] | 0x20) != 'x') return std::nullopt;
  unsigned long long bits = 0;
  for (const char c : cell.substr(2)) {
    const int digit = HexDigit(c);
    if (digit < 0) return std::nullopt;
    bits = bits * 16 + static_cast<unsigned>(digit);
  }
  unsigned mask = 0;
  for (size_t i = 0; i < std::size(kNvmlReason); ++i) {
    if ((bits & kNvmlReason[i]) != 0) mask |= 1U << i;
  }
  return mask;
}

}  // namespace sawbill::ingest
