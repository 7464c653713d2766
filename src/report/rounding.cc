// SPDX-License-Identifier: Apache-2.0
// Largest remainder (Hamilton): every value is rounded down, and the units that are then missing from the rounded sum
// go to the values that lost most. No printed figure is off by a whole unit, and the column adds up as a reader adds
// it.
#include "report/rounding.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/numbers.h"
#include "report/render.h"

namespace sawbill::report {
namespace {

/// As FormatFixed prints it, so that a sum agrees with the same sum printed elsewhere.
int64_t AsPrinted(double v, int decimals) {
  std::string s = FormatFixed(v, decimals);
  std::erase(s, '.');
  return ParseInt(s).value_or(0);
}

double Scale(int decimals) { return std::pow(10.0, decimals); }

}  // namespace

std::vector<std::optional<int64_t>> RoundUnits(const std::vector<double>& values, int decimals,
                                               std::optional<double> total) {
  std::vector<std::optional<int64_t>> units(values.size());
  std::vector<double> lost(values.size(), 0);
  std::vector<size_t> order;
  double sum = 0;
  int64_t given = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double scaled = values[i] * Scale(decimals);
    if (!std::isfinite(scaled) || std::fabs(scaled) > 9e17) continue;
    // What is whole but for floating-point noise (0.29 * 100 = 28.999...) is taken as whole.
    const double nearest = std::round(scaled);
    const bool whole = std::fabs(scaled - nearest) <= std::max(1e-9, 4e-15 * std::fabs(scaled));
    const double down = whole ? nearest : std::floor(scaled);
    units[i] = static_cast<int64_t>(down);
    lost[i] = whole ? 0 : scaled - down;
    given += *units[i];
    sum += values[i];
    if (values[i] != 0) order.push_back(i);
  }
  if (order.empty()) return units;
  const bool use_total = total && std::isfinite(*total) && std::fabs(*total - sum) * Scale(decimals) <= 1;
  int64_t missing = AsPrinted(use_total ? *total : sum, decimals) - given;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return lost[a] > lost[b]; });
  for (size_t k = 0; missing > 0; k = (k + 1) % order.size(), --missing) ++*units[order[k]];
  // Only a `total` below the sum leads here, by a unit or two: the largest figure bears it best.
  for (; missing < 0; ++missing) {
    --**std::max_element(units.begin(), units.end(), [](const auto& a, const auto& b) { return a < b; });
  }
  return units;
}

std::string FormatUnits(std::optional<int64_t> units, int decimals, bool grouped) {
  if (!units) return "—";
  const double v = static_cast<double>(*units) / Scale(decimals);
  return grouped ? FormatGrouped(v, decimals) : FormatFixed(v, decimals);
}

std::vector<std::string> RoundToSum(const std::vector<double>& values, int decimals) {
  std::vector<std::string> out;
  out.reserve(values.size());
  for (const auto& u : RoundUnits(values, decimals)) out.push_back(FormatUnits(u, decimals, false));
  return out;
}

}  // namespace sawbill::report
