// SPDX-License-Identifier: Apache-2.0
// Single cells of comma-separated text: where one ends, and whether it is a number with a unit, a "not available" or an
// error marker.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sawbill::ingest {

/// The end of the cell that begins at `p`: its comma, or `end`. A quoted cell may hold commas; nullptr = its quote is
/// open.
const char* CellEnd(const char* p, const char* end);
/// Without blanks and without quotes around; doubled quotes inside stay doubled (no GPU field holds one).
std::string_view Unquote(std::string_view cell);
/// All cells of a line, unquoted; empty when a quote is open.
std::vector<std::string_view> SplitCells(std::string_view line);

/// The first line, without byte order mark and line end.
std::string_view FirstLine(std::string_view text);

enum class Marker { kNone, kEmpty, kNotAvailable, kError };
/// "[N/A]", "-", "[Not Supported]" -> kNotAvailable; "ERR!", "[Unknown Error]", any other "[...]" -> kError.
Marker MarkerOf(std::string_view cell);

/// NVML's clocks-event reasons in hex ("0x0000000000000004") as a mask of model::ThrottleBit; unknown bits are dropped.
std::optional<unsigned> ReasonsFromHex(std::string_view cell);

/// A plain decimal number at *p: digits with an optional point. Moves *p behind it. False (and *p unmoved) for anything
/// else, exponents and more than 15 digits among it: ParseDouble reads those.
inline bool TakeDecimal(const char** p, const char* end, double* v) {
  static constexpr double kPow10[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const char* q = *p;
  const bool negative = q < end && *q == '-';
  if (negative) ++q;
  unsigned long long digits = 0;
  int count = 0;
  for (; q < end && *q >= '0' && *q <= '9'; ++q, ++count) {
    if (count >= 15) return false;
    digits = digits * 10 + static_cast<unsigned>(*q - '0');
  }
  if (count == 0) return false;
  int decimals = 0;
  if (q < end && *q == '.') {
    ++q;
    for (; q < end && *q >= '0' && *q <= '9'; ++q, ++decimals) {
      if (count + decimals >= 15) return false;
      digits = digits * 10 + static_cast<unsigned>(*q - '0');
    }
  }
  if (q < end && (*q == 'e' || *q == 'E' || *q == '.')) return false;
  *v = static_cast<double>(digits);
  if (decimals > 0) *v /= kPow10[decimals];
  if (negative) *v = -*v;
  *p = q;
  return true;
}

}  // namespace sawbill::ingest
