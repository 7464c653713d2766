// SPDX-License-Identifier: Apache-2.0
// Numbers in and out, never by the locale: "4,00" in a CSV cell or a bill has cost other tools their users' trust.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace sawbill {

/// A reading that was not made. In float and double columns it is NaN, and it is never zero.
inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
inline bool IsMissing(double v) { return std::isnan(v); }
inline bool IsPresent(double v) { return !std::isnan(v); }

/// The whole of `s` (surrounding blanks allowed) as a finite number, or nothing. Accepts "12", "-3.5", "1e3".
std::optional<double> ParseDouble(std::string_view s);
std::optional<int64_t> ParseInt(std::string_view s);
/// Reads as many characters as form a number; sets `rest` to what follows ("98 %" -> 98, " %").
std::optional<double> ParseDoublePrefix(std::string_view s, std::string_view* rest);

/// A plain decimal number at *p: digits with an optional point. Moves *p behind it. False (and *p unmoved) for anything
/// else, exponents and more than 15 digits among it: ParseDouble reads those, and every
/// number that both read they read as the same double: digits and power are exact, so their quotient is rounded once.
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

/// Fixed decimals, '.' as separator, no "-0.00".
std::string FormatFixed(double v, int decimals);
/// Shortest form that reads back to the same double.
std::string FormatShortest(double v);
/// Thousands separated by ',' for people: 1234567.891, 2 -> "1,234,567.89".
std::string FormatGrouped(double v, int decimals);

}  // namespace sawbill
