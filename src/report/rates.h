// SPDX-License-Identifier: Apache-2.0
// What a card-second costs, for each entry of the account. An entry lies within one day and between two price changes,
// so its price is one. A MIG instance costs its share of the card's price, unless a price names the instance itself.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "money/price_book.h"

namespace sawbill::report {

struct Rate {
  double per_hour = 0;
  bool prepaid = false;  // reserved or owned: a saved hour is capacity, not cash
};

class Rates {
 public:
  Rates(const analysis::Analysis& a, const TimeZone& tz, const money::PriceBook* prices)
      : a_(a), tz_(tz), prices_(prices) {}

  /// Nothing where no price is known.
  const std::optional<Rate>& Of(const analysis::AccountKey& key);

  struct Span {
    model::TimeRange range;
    std::optional<Rate> rate;
    const money::Price* price = nullptr;
  };
  /// The prices of a card over `range`, cut where they change.
  std::vector<Span> Spans(size_t card, const std::string& job, model::TimeRange range) const;
  /// The card is a MIG instance that has a card price, and no share of it is known.
  bool LacksShare(size_t card) const;

 private:
  std::optional<Rate> Compute(const analysis::AccountKey& key) const;
  model::CardInfo Parent(size_t card) const;

  const analysis::Analysis& a_;
  const TimeZone& tz_;
  const money::PriceBook* prices_;
  std::map<analysis::AccountKey, std::optional<Rate>> cache_;
};

}  // namespace sawbill::report
