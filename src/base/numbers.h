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

/// Fixed decimals, '.' as separator, no "-0.00".
std::string FormatFixed(double v, int decimals);
/// Shortest form that reads back to the same double.
std::string FormatShortest(double v);
/// Thousands separated by ',' for people: 1234567.891, 2 -> "1,234,567.89".
std::string FormatGrouped(double v, int decimals);

}  // namespace sawbill
