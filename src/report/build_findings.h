// SPDX-License-Identifier: Apache-2.0
// From the findings of the analysis to those of the report: money, the money filter, recommendations.
#pragma once

#include <map>

#include "analysis/analysis.h"
#include "report/build.h"
#include "report/card_labels.h"
#include "report/rates.h"
#include "report/report.h"

namespace sawbill::report {

/// Seconds of the account in money, as far as they have a price.
struct Priced {
  Money cost;  // absent where there are seconds and none has a price
  double priced_s = 0, unpriced_s = 0;
  double prepaid_cost = 0, prepaid_s = 0;  // of it, on reserved or owned cards
};
Priced PricedCost(const std::map<analysis::AccountKey, double>& seconds, Rates* rates);

/// Fills findings, total saving and what is below the minimum. REQUIRES: bill and ledger of `r` are filled.
void BuildFindings(const analysis::Analysis& a, const BuildOptions& o, const CardLabels& labels, Rates* rates,
                   Report* r);

}  // namespace sawbill::report
