// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "app/commands.h"
#include "app/pipeline.h"
#include "app/sources.h"
#include "app/table.h"
#include "base/numbers.h"

namespace sawbill::app {
namespace {

std::string When(TimeMs t, const Settings& s) {
  if (t == 0) return std::string(Text(s.lang, Msg::kAppAlways));
  const CivilTime c = s.tz.ToLocal(t);
  std::string day = s.tz.LocalDay(t);
  if (c.hour != 0 || c.minute != 0) day += fmt::format(" {:02}:{:02}", c.hour, c.minute);
  return day;
}

std::string Amount(const money::Price& p) { return FormatShortest(p.per_hour) + " " + p.currency; }

std::string SourceText(const money::Price& p) {
  return Sanitize(p.source) + (p.as_of.empty() ? "" : " (" + p.as_of + ")");
}

std::string KnownPrices(const Settings& s) {
  const auto& prices = s.prices.prices();
  if (prices.empty()) return std::string(Text(s.lang, Msg::kAppPricesNone)) + "\n";
  Table table;
  table.Add({std::string(Text(s.lang, Msg::kAppPricesFor)), std::string(Text(s.lang, Msg::kAppPricesHour)),
             std::string(Text(s.lang, Msg::kAppPricesContract)), std::string(Text(s.lang, Msg::kAppPricesFrom)),
             std::string(Text(s.lang, Msg::kAppPricesSource))});
  for (const money::Price& p : prices) {
    table.Add({Sanitize(money::SelectorText(p)), Amount(p), p.contract, When(p.from, s), SourceText(p)});
  }
  return std::string(Text(s.lang, Msg::kAppPricesKnown)) + "\n" + table.Print();
}

std::string CardName(const model::CardInfo& c) {
  return Sanitize((c.node.empty() ? "" : c.node + "/") + c.gpu + " " + (c.name.empty() ? "?" : c.name));
}

/// One row a card and price; a card without one, for some of the time or all of it, is said to be so.
std::string CardPrices(const model::TelemetrySource& source, const Settings& s) {
  const std::string amount(Text(s.lang, Msg::kAppAmount));
  Table table;
  const std::vector<model::CardInfo>& cards = source.cards();
  std::vector<char> priced;
  for (const model::CardInfo& card : cards) {
    const auto prices = s.prices.Lookup(card, "", source.period());
    priced.push_back(std::all_of(prices.begin(), prices.end(), [](const auto& i) { return i.price != nullptr; }) ? 1
                                                                                                                 : 0);
  }
  std::set<std::string> unknown;  // how to give a price
  for (size_t k = 0; k < cards.size(); ++k) {
    const model::CardInfo& card = cards[k];
    for (const money::PriceInterval& i : s.prices.Lookup(card, "", source.period())) {
      const std::string from = When(i.range.from, s);
      if (i.price == nullptr) {
        table.Add({CardName(card), std::string(Text(s.lang, Msg::kAppPricesUnknown)), from, ""});
        const std::string selector = money::SelectorFor(k, cards, priced);
        unknown.insert(selector.empty() ? "--price " + amount : "--price \"" + selector + "=" + amount + "\"");
      } else {
        table.Add({CardName(card), Amount(*i.price), from,
                   Sanitize(money::SelectorText(*i.price)) + ", " + SourceText(*i.price)});
      }
    }
  }
  std::string out = table.Print();
  if (!unknown.empty()) {
    out += "\n" + std::string(Text(s.lang, Msg::kAppPricesHow)) + "\n";
    for (const std::string& how : unknown) out += "  " + Sanitize(how) + "\n";
    const auto& all = s.prices.prices();
    if (std::any_of(all.begin(), all.end(), [](const auto& p) { return p.selector_kind == "job"; })) {
      out += std::string(Text(s.lang, Msg::kAppPricesJobs)) + "\n";
    }
  }
  return out;
}

}  // namespace

int CmdPrices(const Options& options, const Settings& settings, Environment* env) {
  std::string text = KnownPrices(settings);
  int code = 0;
  const bool named = !options.files.empty() || options.data.has_value();
  const auto failed = [&](const Status& why) {
    // Without a recording the list alone is the answer; one that was named must be there.
    if (named) code = std::max(code, Fail(env, why));
    if (!named) text += "\n" + std::string(Text(settings.lang, Msg::kAppPricesNoRecording)) + "\n";
  };
  Inputs gathered = GatherInputs(InputPaths(options, settings), settings, env);
  for (const Status& failure : gathered.failures) failed(failure);
  for (Input& input : gathered.inputs) {
    const auto source = OpenTelemetry(&input, settings);
    if (!source.ok()) {
      failed(source.status());
      continue;
    }
    text +=
        "\n" + Tr(settings.lang, Msg::kAppPricesCards, Sanitize(input.name)) + "\n" + CardPrices(**source, settings);
  }
  const Status delivered = Deliver(options, settings, text, env);
  return delivered.ok() ? code : Fail(env, delivered);
}

}  // namespace sawbill::app
