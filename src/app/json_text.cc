// SPDX-License-Identifier: Apache-2.0
#include "app/json_text.h"

#include <cmath>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::app {
namespace {

/// "open\n  a,\n  b\nclose", with what stands inside moved in.
std::string Block(char open, const std::vector<std::string>& items, char close) {
  if (items.empty()) return std::string(1, open) + close;
  std::string body;
  for (size_t i = 0; i < items.size(); ++i) body += "\n" + items[i] + (i + 1 < items.size() ? "," : "");
  std::string indented;
  for (char c : body) {
    indented += c;
    if (c == '\n') indented += "  ";
  }
  return open + indented + "\n" + close;
}

}  // namespace

std::string JsonString(std::string_view s) {
  std::string out = "\"";
  for (std::string_view rest = s; !rest.empty();) {
    const size_t line = rest.find('\n');  // Sanitize would make it '?'
    for (char c : Sanitize(rest.substr(0, line))) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    if (line == std::string_view::npos) break;
    out += "\\n";
    rest.remove_prefix(line + 1);
  }
  return out + "\"";
}

std::string JsonNumber(double v) { return std::isfinite(v) ? FormatShortest(v) : "null"; }

std::string JsonObject::Print() const { return Block('{', members_, '}'); }

std::string JsonArray(const std::vector<std::string>& json_values) { return Block('[', json_values, ']'); }

}  // namespace sawbill::app
