// SPDX-License-Identifier: Apache-2.0
// The price book file, docs/formats/prices.md. Strict: a misspelt key is an error with its place, because a price that
// is silently left out makes a bill that looks right.
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "money/price_book.h"

namespace sawbill::money {
namespace {

constexpr std::string_view kSchema = "sawbill.prices/1";
constexpr std::array<std::string_view, 6> kSelectors = {"model", "gpu", "node", "job", "label", "uuid"};
constexpr std::array<std::string_view, 4> kContracts = {"on-demand", "reserved", "spot", "own"};

std::vector<std::string> Words(std::initializer_list<std::string_view> words) { return {words.begin(), words.end()}; }

/// Where errors are: the file's name, and what entries inherit from the head of the file.
struct Context {
  std::string where;
  std::string currency;
  TimeZone tz = TimeZone::Utc();
  int layer = 0;
};

Status Fail(const Context& c, const toml::source_region& place, const std::string& what) {
  return Status::Invalid(c.where + ":" + std::to_string(place.begin.line) + ":" + std::to_string(place.begin.column) +
                         ": " + what);
}

Status UnknownKey(const Context& c, const toml::key& key, const std::vector<std::string>& known) {
  const std::string near = Nearest(key.str(), known);
  return Fail(c, key.source(),
              "unknown key '" + std::string(key.str()) + "'" +
                  (near.empty() ? " (known: " + Join(known, ", ") + ")" : "; did you mean '" + near + "'?"));
}

Status ReadText(const Context& c, const toml::key& key, const toml::node& node, std::string* out) {
  const auto* text = node.as_string();
  if (text == nullptr) return Fail(c, node.source(), "'" + std::string(key.str()) + "' is a text in quotes");
  *out = Trim(text->get());
  if (out->empty()) return Fail(c, node.source(), "'" + std::string(key.str()) + "' is empty");
  return Status::Ok();
}

Status ReadCurrency(const Context& c, const toml::key& key, const toml::node& node, std::string* out) {
  SAWBILL_RETURN_IF_ERROR(ReadText(c, key, node, out));
  const bool is_code =
      out->size() == 3 && std::all_of(out->begin(), out->end(), [](char x) { return x >= 'A' && x <= 'Z'; });
  if (is_code) return Status::Ok();
  return Fail(c, node.source(), "'" + *out + "' is no currency code; write three capital letters, such as USD or CNY");
}

CivilTime Civil(const toml::date& d, const toml::time& t) {
  CivilTime civil;
  civil.year = d.year, civil.month = d.month, civil.day = d.day;
  civil.hour = t.hour, civil.minute = t.minute, civil.second = t.second;
  civil.millisecond = static_cast<int>(t.nanosecond / 1000000);
  return civil;
}

/// A TOML date, date-time with or without an offset, or the same as text. Without an offset: in the file's `tz`.
Status ReadTime(const Context& c, const toml::key& key, const toml::node& node, TimeMs* out) {
  if (const auto* date = node.as_date()) {
    *out = c.tz.FromLocal(Civil(date->get(), {}));
    return Status::Ok();
  }
  if (const auto* date_time = node.as_date_time()) {
    const toml::date_time& v = date_time->get();
    const CivilTime civil = Civil(v.date, v.time);
    *out = v.offset ? UtcFromCivil(civil) - int64_t{60000} * v.offset->minutes : c.tz.FromLocal(civil);
    return Status::Ok();
  }
  if (const auto* text = node.as_string()) {
    if (const auto instant = ParseRfc3339(text->get())) return *out = *instant, Status::Ok();
    if (const auto civil = ParseCivil(text->get())) return *out = c.tz.FromLocal(*civil), Status::Ok();
  }
  return Fail(c, node.source(),
              "'" + std::string(key.str()) + "' is a date or time, such as 2026-03-01 or 2026-03-01T14:00:00+08:00");
}

Status ReadNumber(const Context& c, const toml::node& node, double* out) {
  const auto value = node.is_number() ? node.value<double>() : std::optional<double>();
  if (!value) return Fail(c, node.source(), "'per_hour' is a number without quotes, such as 2.5");
  const Status sound = CheckPerHour(*value);
  if (!sound.ok()) return Fail(c, node.source(), sound.message());
  *out = *value == 0 ? 0.0 : *value;
  return Status::Ok();
}

/// A selector key; a second one is an error, since it would be unclear whether both must hold.
Status ReadSelector(const Context& c, const toml::key& key, const toml::node& node, bool* seen, Price* p) {
  if (*seen)
    return Fail(c, key.source(),
                "a price has one selector; write a second [[price]] for '" + std::string(key.str()) + "'");
  *seen = true;
  p->selector_kind = key.str();
  if (key.str() != "any") return ReadText(c, key, node, &p->selector);
  if (node.value<bool>() != true) return Fail(c, node.source(), "'any' is true, or left out");
  return Status::Ok();
}

Status ReadContract(const Context& c, const toml::key& key, const toml::node& node, std::string* out) {
  SAWBILL_RETURN_IF_ERROR(ReadText(c, key, node, out));
  if (std::find(kContracts.begin(), kContracts.end(), *out) != kContracts.end()) return Status::Ok();
  const std::string near = Nearest(*out, {kContracts.begin(), kContracts.end()});
  return Fail(c, node.source(),
              "unknown contract '" + *out + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?") +
                  " (known: on-demand, reserved, spot, own)");
}

Status ReadEntry(const Context& c, const toml::table& entry, Price* p) {
  static const auto known = Words({"model", "gpu", "node", "job", "label", "uuid", "any", "per_hour", "currency",
                                   "contract", "source", "as_of", "from"});
  p->currency = c.currency;
  p->source = c.where;
  p->layer = c.layer;
  bool has_selector = false, has_price = false;
  for (auto&& [key, node] : entry) {
    const std::string_view name = key.str();
    if (name == "any" || std::find(kSelectors.begin(), kSelectors.end(), name) != kSelectors.end()) {
      SAWBILL_RETURN_IF_ERROR(ReadSelector(c, key, node, &has_selector, p));
    } else if (name == "per_hour") {
      SAWBILL_RETURN_IF_ERROR(ReadNumber(c, node, &p->per_hour));
      has_price = true;
    } else if (name == "currency") {
      SAWBILL_RETURN_IF_ERROR(ReadCurrency(c, key, node, &p->currency));
    } else if (name == "contract") {
      SAWBILL_RETURN_IF_ERROR(ReadContract(c, key, node, &p->contract));
    } else if (name == "source") {
      SAWBILL_RETURN_IF_ERROR(ReadText(c, key, node, &p->source));
    } else if (name == "as_of") {
      TimeMs day = 0;
      SAWBILL_RETURN_IF_ERROR(ReadTime(c, key, node, &day));
      p->as_of = c.tz.LocalDay(day);
    } else if (name == "from") {
      SAWBILL_RETURN_IF_ERROR(ReadTime(c, key, node, &p->from));
    } else {
      return UnknownKey(c, key, known);
    }
  }
  if (!has_price) return Fail(c, entry.source(), "this [[price]] has no per_hour");
  if (!has_selector) {
    return Fail(c, entry.source(),
                "this [[price]] says for which cards by one of: model, gpu, node, job, label, uuid, any = true");
  }
  if (p->currency.empty()) {
    return Fail(c, entry.source(),
                "no currency; write currency = \"USD\" at the head of the file or in this [[price]]");
  }
  return Status::Ok();
}

Status ReadEntries(const Context& c, const toml::node& node, std::vector<Price>* out) {
  const auto* entries = node.as_array();
  if (entries == nullptr) return Fail(c, node.source(), "'price' is a list; write [[price]] with two brackets");
  for (const toml::node& item : *entries) {
    const auto* entry = item.as_table();
    if (entry == nullptr) return Fail(c, item.source(), "'price' is a list of tables; write [[price]]");
    Price p;
    SAWBILL_RETURN_IF_ERROR(ReadEntry(c, *entry, &p));
    out->push_back(std::move(p));
  }
  return Status::Ok();
}

Status ReadHead(const toml::table& table, Context* c) {
  static const auto known = Words({"schema", "currency", "tz", "price"});
  for (auto&& [key, node] : table) {
    std::string text;
    if (key.str() == "schema") {
      SAWBILL_RETURN_IF_ERROR(ReadText(*c, key, node, &text));
      if (text != kSchema) {
        return Fail(*c, node.source(),
                    "schema '" + text + "' is not known; this version reads " + std::string(kSchema));
      }
    } else if (key.str() == "currency") {
      SAWBILL_RETURN_IF_ERROR(ReadCurrency(*c, key, node, &c->currency));
    } else if (key.str() == "tz") {
      SAWBILL_RETURN_IF_ERROR(ReadText(*c, key, node, &text));
      const auto zone = TimeZone::Load(text);
      if (!zone)
        return Fail(*c, node.source(),
                    "unknown time zone '" + text + "'; write a name such as Asia/Shanghai, or +08:00");
      c->tz = *zone;
    } else if (key.str() != "price") {
      return UnknownKey(*c, key, known);
    }
  }
  return Status::Ok();
}

Status Parse(const Context& c, std::string_view text, toml::table* out) {
  toml::parse_result parsed = toml::parse(text, std::string_view(c.where));
  if (parsed.failed()) return Fail(c, parsed.error().source(), std::string(parsed.error().description()));
  *out = std::move(parsed).table();
  return Status::Ok();
}

Status ReadPrices(const Context& c, const toml::table& table, std::vector<Price>* out) {
  const toml::node* list = table.get("price");
  return list == nullptr ? Status::Ok() : ReadEntries(c, *list, out);
}

}  // namespace

Status PriceBook::AddToml(std::string_view text, const std::string& where, int layer) {
  Context c{where, "", TimeZone::Utc(), layer};
  toml::table table;
  SAWBILL_RETURN_IF_ERROR(Parse(c, text, &table));
  SAWBILL_RETURN_IF_ERROR(ReadHead(table, &c));
  std::vector<Price> read;
  SAWBILL_RETURN_IF_ERROR(ReadPrices(c, table, &read));
  for (Price& p : read) Add(std::move(p));
  return Status::Ok();
}

Status PriceBook::AddTomlEntries(std::string_view text, const std::string& where, const std::string& currency,
                                 int layer) {
  const Context c{where, currency, TimeZone::Utc(), layer};
  toml::table table;
  SAWBILL_RETURN_IF_ERROR(Parse(c, text, &table));
  std::vector<Price> read;
  SAWBILL_RETURN_IF_ERROR(ReadPrices(c, table, &read));
  for (Price& p : read) Add(std::move(p));
  return Status::Ok();
}

}  // namespace sawbill::money
