// SPDX-License-Identifier: Apache-2.0
// sawbill.toml: what is the same at every call. A later file wins key by key; prices and cards add up.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sawbill::app {

struct Config {
  std::optional<std::string> data, lang, tz, currency, min_saving, color;
  std::optional<std::vector<std::string>> rules, prices;  // paths, made absolute by the file that names them
  std::map<std::string, std::string> labels;              // label of a card by uuid
  /// Files that hold [[price]] entries, with their text: the price book reads those itself.
  struct PriceText {
    std::string where, text, currency;
  };
  std::vector<PriceText> price_texts;
  std::map<std::string, std::string, std::less<>> places;  // "file:line" of each key that was read
  /// "sawbill.toml:3: tz", for errors about its value.
  std::string Place(const std::string& key) const {
    const auto it = places.find(key);
    return it == places.end() ? key : it->second + ": " + key;
  }
};

/// Reads one file on top of `config`. Errors name where:line:column; an unknown key is one, with the nearest known.
/// `home` replaces a leading "~/" in paths.
Status ReadConfig(std::string_view text, const std::string& where, const std::string& home, Config* config);

/// Every key, for tests: "data", "card.uuid", ...
std::vector<std::string> ConfigKeys();

}  // namespace sawbill::app
