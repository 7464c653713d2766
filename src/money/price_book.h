// SPDX-License-Identifier: Apache-2.0
// What a card costs an hour, when, and who says so. A price has a from-date and a source; an unknown card has no price:
// it is never guessed, and never matched by part of a name ("GB200" is not "B200").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/messages.h"
#include "base/status.h"
#include "base/time.h"
#include "model/money.h"
#include "model/recording.h"

namespace sawbill::money {

struct Price {
  std::string selector_kind = "model";  // any | model | node | uuid | label | job | gpu
  std::string selector;                 // exact, or a glob where it holds * or ?
  double per_hour = 0;                  // of one card
  std::string currency;
  std::string contract = "on-demand";  // on-demand | reserved | spot | own
  std::string source, as_of;           // who says so, and when it was read there
  TimeMs from = 0;                     // valid from; 0 = always
  int layer = 0;                       // a higher one wins whatever the rank: 0 config, 1 --prices, 2 --price
};
/// "any", "model \"NVIDIA H100 80GB HBM3\"", "label \"team-a\"": for lists and errors.
std::string SelectorText(const Price& p);
/// NaN, infinite, negative or absurd prices say what is wrong with them; 0 is allowed: a card that costs nothing.
Status CheckPerHour(double per_hour, Lang lang = Lang::kEn);

struct PriceInterval {
  model::TimeRange range;
  const Price* price = nullptr;  // null = no price known for this stretch
};

class PriceBook {
 public:
  /// Rank: uuid, label, job, node, gpu, model, any. Of equal rank the one with the latest from-date that has come wins,
  /// of equal from-dates the later addition.
  void Add(Price p) { prices_.push_back(std::move(p)); }
  const std::vector<Price>& prices() const { return prices_; }
  /// The price of a card at each instant of `range`, cut where it changes. `job` may be "".
  std::vector<PriceInterval> Lookup(const model::CardInfo& card, const std::string& job, model::TimeRange range) const;
  /// The instants at which any price begins, sorted.
  std::vector<TimeMs> Changes() const;
  /// Adds a price book file (TOML, docs/formats/prices.md). Errors name file, line and column; then nothing was added.
  Status AddToml(std::string_view text, const std::string& where, int layer = 0);
  /// Adds the [[price]] entries of a file that holds other things too (sawbill.toml), whose keys are its reader's
  /// affair. `currency` is that of entries that name none; "" = each must.
  Status AddTomlEntries(std::string_view text, const std::string& where, const std::string& currency, int layer = 0);
  /// Adds the value of one `--price` flag: "10", "NVIDIA H100 80GB HBM3=17", "label:team-a=3", "node:n1=4",
  /// "uuid:GPU-..=2". `where`: the flag or variable that it came from, for errors.
  Status AddFlag(const std::string& value, const std::string& currency, int layer = 2, Lang lang = Lang::kEn,
                 const std::string& where = "--price");

 private:
  std::vector<Price> prices_;
};

/// What to write before "=AMOUNT" in --price so that `card` is priced and no card that has a price already: its model's
/// name, else gpu:, uuid: or node: ("" where no card has a price and no name tells them apart: then the amount alone).
std::string SelectorFor(size_t card, const std::vector<model::CardInfo>& cards, const std::vector<char>& priced);

/// The cost of `seconds` at `per_hour`.
inline double Cost(double per_hour, double seconds) { return per_hour * seconds / 3600.0; }

/// The classic rough upper bound of waste: price x hours x (1 - mean utilisation). Named as what it is wherever shown.
inline double WasteUpperBound(double per_hour, double hours, double util_mean) {
  return per_hour * hours * (1.0 - util_mean);
}
/// The rough formula: the same work takes u0/u1 of the time.
inline double RoughHoursAfter(double hours, double util_before, double util_after) {
  return hours * util_before / util_after;
}

}  // namespace sawbill::money
