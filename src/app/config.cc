// SPDX-License-Identifier: Apache-2.0
// The only file of this room that includes toml++.
#define TOML_EXCEPTIONS 0
#include "app/config.h"

#include <toml++/toml.h>

#include "base/numbers.h"
#include "base/text.h"
#include "sys/file.h"

namespace sawbill::app {
namespace {

const std::vector<std::string>& TopKeys() {
  static const std::vector<std::string> keys = {"data",  "lang",   "tz",    "currency", "min_saving",
                                                "color", "prices", "rules", "price",    "card"};
  return keys;
}
const std::vector<std::string>& CardKeys() {
  static const std::vector<std::string> keys = {"uuid", "label", "owner"};
  return keys;
}

struct Reader {
  std::string where, home;
  Config* config;

  Status Fail(const toml::source_region& place, const std::string& what) const {
    return Status::Invalid(where + ":" + std::to_string(place.begin.line) + ":" + std::to_string(place.begin.column) +
                           ": " + what);
  }

  Status UnknownKey(const toml::key& key, const std::vector<std::string>& known) const {
    const std::string near = Nearest(key.str(), known);
    return Fail(key.source(),
                "unknown key '" + std::string(key.str()) + "'" +
                    (near.empty() ? " (known: " + Join(known, ", ") + ")" : "; did you mean '" + near + "'?"));
  }

  Status ReadText(const toml::key& key, const toml::node& node, std::string* out) const {
    if (const auto* text = node.as_string(); text != nullptr && !Trim(text->get()).empty()) {
      *out = Trim(text->get());
      return Status::Ok();
    }
    return Fail(node.source(), "'" + std::string(key.str()) + "' is a text in quotes, not empty");
  }

  std::string Path(const std::string& path) const {
    if (StartsWith(path, "~/") && !home.empty()) return sys::JoinPath(home, path.substr(2));
    return sys::JoinPath(sys::DirName(where), path);
  }

  Status ReadPaths(const toml::key& key, const toml::node& node, std::optional<std::vector<std::string>>* out) const {
    const auto* list = node.as_array();
    if (list == nullptr) {
      return Fail(node.source(),
                  "'" + std::string(key.str()) + "' is a list of files: " + std::string(key.str()) + " = [\"FILE\"]");
    }
    std::vector<std::string> paths;
    for (const toml::node& item : *list) {
      std::string path;
      SAWBILL_RETURN_IF_ERROR(ReadText(key, item, &path));
      paths.push_back(Path(path));
    }
    *out = std::move(paths);
    return Status::Ok();
  }

  Status ReadMinSaving(const toml::key& key, const toml::node& node) const {
    if (const auto number = node.is_number() ? node.value<double>() : std::optional<double>()) {
      config->min_saving = FormatShortest(*number);
      return Status::Ok();
    }
    std::string text;
    SAWBILL_RETURN_IF_ERROR(ReadText(key, node, &text));
    config->min_saving = text;
    return Status::Ok();
  }

  Status ReadCard(const toml::table& card) const {
    std::map<std::string, std::string, std::less<>> values;
    for (auto&& [key, node] : card) {
      bool known = false;
      for (const std::string& k : CardKeys()) known = known || key.str() == k;
      if (!known) return UnknownKey(key, CardKeys());
      SAWBILL_RETURN_IF_ERROR(ReadText(key, node, &values[std::string(key.str())]));
    }
    if (values["uuid"].empty()) return Fail(card.source(), "this [[card]] has no uuid (`nvidia-smi -L` prints it)");
    const std::string& label = values["label"].empty() ? values["owner"] : values["label"];
    if (label.empty()) return Fail(card.source(), "this [[card]] has neither a label nor an owner");
    config->labels[values["uuid"]] = label;
    return Status::Ok();
  }

  Status ReadCards(const toml::node& node) const {
    const auto* list = node.as_array();
    if (list == nullptr) return Fail(node.source(), "'card' is a list; write [[card]] with two brackets");
    for (const toml::node& item : *list) {
      const auto* card = item.as_table();
      if (card == nullptr) return Fail(item.source(), "'card' is a list of tables; write [[card]]");
      SAWBILL_RETURN_IF_ERROR(ReadCard(*card));
    }
    return Status::Ok();
  }

  Status ReadKey(const toml::key& key, const toml::node& node) const {
    const std::string_view name = key.str();
    if (name == "card") return ReadCards(node);
    if (name == "price") return Status::Ok();  // read by the price book
    if (name == "rules") return ReadPaths(key, node, &config->rules);
    if (name == "prices") return ReadPaths(key, node, &config->prices);
    if (name == "min_saving") return ReadMinSaving(key, node);
    std::string text;
    SAWBILL_RETURN_IF_ERROR(ReadText(key, node, &text));
    if (name == "data") config->data = Path(text);
    if (name == "lang") config->lang = text;
    if (name == "tz") config->tz = text;
    if (name == "currency") config->currency = text;
    if (name == "color") config->color = text;
    return Status::Ok();
  }
};

}  // namespace

std::vector<std::string> ConfigKeys() {
  std::vector<std::string> keys = TopKeys();
  for (const std::string& k : CardKeys()) keys.push_back("card." + k);
  return keys;
}

Status ReadConfig(std::string_view text, const std::string& where, const std::string& home, Config* config) {
  const Reader reader{where, home, config};
  const toml::parse_result parsed = toml::parse(text, std::string_view(where));
  if (parsed.failed()) return reader.Fail(parsed.error().source(), std::string(parsed.error().description()));
  for (auto&& [key, node] : parsed.table()) {
    bool known = false;
    for (const std::string& k : TopKeys()) known = known || key.str() == k;
    if (!known) return reader.UnknownKey(key, TopKeys());
    SAWBILL_RETURN_IF_ERROR(reader.ReadKey(key, node));
    config->places[std::string(key.str())] = where + ":" + std::to_string(key.source().begin.line);
  }
  if (parsed.table().contains("price")) {
    config->price_texts.push_back({where, std::string(text), config->currency.value_or("")});
  }
  return Status::Ok();
}

}  // namespace sawbill::app
