// SPDX-License-Identifier: Apache-2.0
// What a reader of the bill must know of the prices in it: who says them, of which day they are, and that a price is
// old. A price without a day (`as_of`) says nothing of its age, and nothing is said of it.
#pragma once

#include <string>
#include <vector>

#include "report/rates.h"

namespace sawbill::report {

/// Days between the day of a price and the end of the time that it is applied to from which on the receipt warns: a
/// quarter, since list prices of rented cards move within months.
inline constexpr int kPriceOldDays = 90;

/// A line for each price with a day that the bill stands on, in `lang`.
std::vector<std::string> PriceNotes(const analysis::Analysis& a, const Rates& rates, const std::string& currency,
                                    Lang lang);

}  // namespace sawbill::report
