// SPDX-License-Identifier: Apache-2.0
// Small JSON answers (doctor, rules explain): members in order, two blanks of indent a level.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sawbill::app {

/// A JSON text in quotes; invalid UTF-8 and control characters are made harmless.
std::string JsonString(std::string_view s);
/// A number, or null when it is NaN or infinite.
std::string JsonNumber(double v);
inline std::string JsonBool(bool v) { return v ? "true" : "false"; }

class JsonObject {
 public:
  JsonObject& Add(std::string_view key, std::string json_value) {
    members_.push_back(JsonString(key) + ": " + std::move(json_value));
    return *this;
  }
  JsonObject& AddText(std::string_view key, std::string_view text) { return Add(key, JsonString(text)); }
  std::string Print() const;

 private:
  std::vector<std::string> members_;
};
std::string JsonArray(const std::vector<std::string>& json_values);

}  // namespace sawbill::app
