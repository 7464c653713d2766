// SPDX-License-Identifier: Apache-2.0
#include "money/price_book.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::money {
namespace {

// Above this an hour of one card is a slip of the keyboard in any currency, and sums would leave exact integers.
constexpr double kMaxPerHour = 1e9;

const std::vector<std::string>& SelectorKinds() {
  // Lowest rank first.
  static const std::vector<std::string> kinds = {"any", "model", "gpu", "node", "job", "label", "uuid"};
  return kinds;
}

int Rank(const std::string& kind) {
  const auto& kinds = SelectorKinds();
  return static_cast<int>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
}

/// Exact and case-sensitive, so that "B200" never prices a "GB200"; a glob only where the selector is one.
bool ValueMatches(std::string_view selector, std::string_view value) {
  selector = Trim(selector);
  value = Trim(value);
  if (value.empty()) return false;
  if (selector.find_first_of("*?") != std::string_view::npos) return GlobMatch(selector, value);
  return selector == value;
}

bool Matches(const Price& p, const model::CardInfo& card, const std::string& job) {
  if (p.selector_kind == "any") return true;
  if (p.selector_kind == "model") return ValueMatches(p.selector, card.name);
  if (p.selector_kind == "gpu") return ValueMatches(p.selector, card.gpu);
  if (p.selector_kind == "node") return ValueMatches(p.selector, card.node);
  if (p.selector_kind == "job") return ValueMatches(p.selector, job);
  if (p.selector_kind == "label") return ValueMatches(p.selector, card.label);
  if (p.selector_kind == "uuid") return ValueMatches(p.selector, card.uuid);
  return false;
}

/// True when `a` wins over the earlier addition `b`, both valid.
bool Wins(const Price& a, const Price& b) {
  if (a.layer != b.layer) return a.layer > b.layer;
  const int rank_a = Rank(a.selector_kind), rank_b = Rank(b.selector_kind);
  if (rank_a != rank_b) return rank_a > rank_b;
  return a.from >= b.from;
}

/// The kind before the first ':', and what follows; without a known kind the whole is a model's name.
Status SplitSelector(std::string_view text, Lang lang, std::string* kind, std::string* selector) {
  const size_t colon = text.find(':');
  const std::string_view before = text.substr(0, colon);
  const bool is_word = colon != std::string_view::npos && !before.empty() &&
                       before.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
  if (!is_word) {
    if (StartsWith(text, "GPU-") || StartsWith(text, "MIG-")) {
      return Status::Invalid(Tr(lang, Msg::kPriceLooksLikeUuid, text));
    }
    *kind = "model";
    *selector = text;
    return Status::Ok();
  }
  const auto& kinds = SelectorKinds();
  if (before == "any" || std::find(kinds.begin(), kinds.end(), before) == kinds.end()) {
    const std::string near = Nearest(before, kinds);
    return Status::Invalid(Tr(lang, Msg::kPriceBadSelector, before) +
                           (near.empty() || near == "any" ? std::string() : Tr(lang, Msg::kPriceDidYouMean, near)));
  }
  *kind = before;
  *selector = Trim(text.substr(colon + 1));
  if (selector->empty()) return Status::Invalid(Tr(lang, Msg::kPriceNothingAfter, *kind));
  return Status::Ok();
}

}  // namespace

std::string SelectorText(const Price& p) {
  if (p.selector_kind == "any") return "any";
  return p.selector_kind + " \"" + p.selector + "\"";
}

Status CheckPerHour(double per_hour, Lang lang) {
  if (!std::isfinite(per_hour)) return Status::Invalid(Tr(lang, Msg::kPriceNotFinite));
  if (per_hour < 0) return Status::Invalid(Tr(lang, Msg::kPriceNegative, FormatShortest(per_hour)));
  if (per_hour > kMaxPerHour) {
    return Status::Invalid(Tr(lang, Msg::kPriceTooMuch, FormatShortest(per_hour), FormatGrouped(kMaxPerHour, 0)));
  }
  return Status::Ok();
}

std::vector<PriceInterval> PriceBook::Lookup(const model::CardInfo& card, const std::string& job,
                                             model::TimeRange range) const {
  std::vector<PriceInterval> out;
  if (range.empty()) return out;
  std::vector<const Price*> matching;
  std::vector<TimeMs> cuts = {range.from, range.to};
  for (const Price& p : prices_) {
    if (!Matches(p, card, job)) continue;
    matching.push_back(&p);
    if (p.from > range.from && p.from < range.to) cuts.push_back(p.from);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const Price* best = nullptr;
    for (const Price* p : matching) {
      const bool valid = p->from == 0 || p->from <= cuts[i];
      if (valid && (best == nullptr || Wins(*p, *best))) best = p;
    }
    if (!out.empty() && out.back().price == best) {
      out.back().range.to = cuts[i + 1];
    } else {
      out.push_back({{cuts[i], cuts[i + 1]}, best});
    }
  }
  return out;
}

std::vector<TimeMs> PriceBook::Changes() const {
  std::vector<TimeMs> out;
  for (const Price& p : prices_) {
    if (p.from != 0) out.push_back(p.from);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string SelectorFor(size_t card, const std::vector<model::CardInfo>& cards, const std::vector<char>& priced) {
  const model::CardInfo& c = cards[card];
  // A selector that a priced card answers to as well would change that card's price.
  const auto hits_priced = [&](auto same) {
    for (size_t k = 0; k < cards.size(); ++k) {
      if (priced[k] != 0 && same(cards[k])) return true;
    }
    return false;
  };
  if (!c.name.empty() && !hits_priced([&](const auto& o) { return o.name == c.name; })) return c.name;
  if (!hits_priced([](const auto&) { return true; })) return "";
  if (!hits_priced([&](const auto& o) { return o.gpu == c.gpu; })) return "gpu:" + c.gpu;
  if (!c.uuid.empty()) return "uuid:" + c.uuid;
  if (!hits_priced([&](const auto& o) { return o.node == c.node; })) return "node:" + c.node;
  return "gpu:" + c.gpu;
}

Status PriceBook::AddFlag(const std::string& value, const std::string& currency, int layer, Lang lang,
                          const std::string& where) {
  const std::string_view text = Trim(value);
  const auto fail = [&](const std::string& why) { return Status::Invalid(where + " '" + value + "': " + why); };
  Price p;
  p.currency = currency;
  p.source = where;
  p.layer = layer;
  const size_t equals = text.rfind('=');
  std::string_view number = text;
  if (equals == std::string_view::npos) {
    p.selector_kind = "any";
  } else {
    number = Trim(text.substr(equals + 1));
    const std::string_view selector = Trim(text.substr(0, equals));
    if (selector.empty()) return fail(Tr(lang, Msg::kPriceNoSelector));
    const Status split = SplitSelector(selector, lang, &p.selector_kind, &p.selector);
    if (!split.ok()) return fail(split.message());
  }
  const std::optional<double> per_hour = ParseDouble(number);
  if (!per_hour) return fail(Tr(lang, Msg::kPriceNoNumber, number));
  const Status sound = CheckPerHour(*per_hour, lang);
  if (!sound.ok()) return fail(sound.message());
  p.per_hour = *per_hour == 0 ? 0.0 : *per_hour;  // "-0" is free, too, and prints no sign
  Add(std::move(p));
  return Status::Ok();
}

}  // namespace sawbill::money
