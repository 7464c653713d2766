// SPDX-License-Identifier: Apache-2.0
// From the analysis to the report struct: prices, money, the money filter, groups, recommendations.
#pragma once

#include "analysis/analysis.h"
#include "money/price_book.h"
#include "report/report.h"

namespace sawbill::report {

struct BuildOptions {
  Lang lang = Lang::kEn;
  TimeZone tz = TimeZone::Utc();
  std::string currency = "USD";
  const money::PriceBook* prices = nullptr;
  double min_saving_share = 0.02;           // of the period's bill
  std::optional<double> min_saving_amount;  // instead, in `currency`
  std::string by;                           // "" run user job project label gpu node day month
  TimeMs generated = 0;
};

/// kInvalid when prices of two currencies meet, or `by` is unknown.
Result<Report> Build(const analysis::Analysis& a, const BuildOptions& o);

}  // namespace sawbill::report
