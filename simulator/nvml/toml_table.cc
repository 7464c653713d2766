// SPDX-License-Identifier: Apache-2.0
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include "simulator/nvml/toml_table.h"

#include <toml++/toml.h>

#include <cmath>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::nvmlsim {
namespace {
std::string Place(const std::string& where, const toml::source_region& source) {
  return where + ":" + std::to_string(source.begin.line);
}
}  // namespace

const toml::node* TomlTable::Find(const char* key) {
  asked_.insert(key);
  return table_.get(key);
}

bool TomlTable::Has(const char* key) { return Find(key) != nullptr; }

Status TomlTable::Fail(const char* key, const std::string& what) {
  const toml::node* node = table_.get(key);
  return Status::Invalid(Place(where_, (node != nullptr ? *node : static_cast<const toml::node&>(table_)).source()) +
                         ": '" + key + "' " + what);
}

void TomlTable::Note(const char* key, const std::string& what) {
  if (status_.ok()) status_ = Fail(key, what);
}

void TomlTable::Read(const char* key, double* out) {
  const toml::node* node = Find(key);
  if (node == nullptr) return;
  if (const auto value = node->value<double>()) {
    *out = *value;
  } else {
    Note(key, "is a number");
  }
}

void TomlTable::Read(const char* key, int* out) {
  double value = *out;
  Read(key, &value);
  if (std::abs(value) > 2e9 || value != std::floor(value)) return Note(key, "is a whole number");
  *out = static_cast<int>(value);
}

void TomlTable::Read(const char* key, unsigned* out) {
  double value = *out;
  Read(key, &value);
  if (value < 0 || value > 4294967295.0 || value != std::floor(value))
    return Note(key, "is a whole number, not below 0");
  *out = static_cast<unsigned>(value);
}

void TomlTable::Read(const char* key, bool* out) {
  const toml::node* node = Find(key);
  if (node == nullptr) return;
  if (const auto value = node->value<bool>()) {
    *out = *value;
  } else {
    Note(key, "is true or false");
  }
}

void TomlTable::Read(const char* key, std::string* out) {
  const toml::node* node = Find(key);
  if (node == nullptr) return;
  if (const auto text = node->value<std::string>()) {
    *out = *text;
  } else if (const auto number = node->value<int64_t>()) {
    *out = std::to_string(*number);
  } else {
    Note(key, "is a text in quotes");
  }
}

void TomlTable::Read(const char* key, std::vector<std::string>* out) {
  const toml::node* node = Find(key);
  if (node == nullptr) return;
  if (const auto text = node->value<std::string>()) {
    *out = {*text};
    return;
  }
  const toml::array* list = node->as_array();
  if (list == nullptr) return Note(key, "is a list of texts");
  out->clear();
  for (const toml::node& item : *list) {
    const auto text = item.value<std::string>();
    if (!text) return Note(key, "is a list of texts");
    out->push_back(*text);
  }
}

bool TomlTable::Read(const char* key, Wave* out) {
  const toml::node* node = Find(key);
  if (node == nullptr) return false;
  if (const auto number = node->value<double>()) {
    *out = Wave(*number);
  } else if (const auto text = node->value<std::string>()) {
    Result<Wave> wave = Wave::Parse(*text);
    if (!wave.ok()) {
      Note(key, "is no wave: " + wave.status().message());
      return false;
    }
    *out = std::move(wave).value();
  } else {
    Note(key, "is a number or a wave such as \"0x30 95x58\"");
  }
  return true;
}

void TomlTable::Each(const char* key, const std::function<Status(TomlTable&)>& read) {
  const toml::node* node = Find(key);
  if (node == nullptr || !status_.ok()) return;
  const toml::array* list = node->as_array();
  if (list == nullptr) return Note(key, std::string("is a list of tables: write [[") + key + "]]");
  for (const toml::node& item : *list) {
    const toml::table* table = item.as_table();
    if (table == nullptr) return Note(key, std::string("is a list of tables: write [[") + key + "]]");
    TomlTable inner(*table, where_);
    status_ = read(inner);
    if (status_.ok()) status_ = inner.Finish();
    if (!status_.ok()) return;
  }
}

Status TomlTable::Finish() {
  if (!status_.ok()) return status_;
  for (const auto& [key, node] : table_) {
    const std::string name(key.str());
    if (asked_.contains(name)) continue;
    const std::vector<std::string> known(asked_.begin(), asked_.end());
    const std::string near = Nearest(name, known);
    return Status::Invalid(Place(where_, key.source()) + ": unknown key '" + name + "'" +
                           (near.empty() ? " (known: " + Join(known, ", ") + ")" : "; did you mean '" + near + "'?"));
  }
  return Status::Ok();
}

Status ReadToml(std::string_view text, const std::string& where, const std::function<Status(TomlTable&)>& read) {
  const toml::parse_result parsed = toml::parse(text, where);
  if (!parsed) {
    return Status::Invalid(Place(where, parsed.error().source()) + ": " + std::string(parsed.error().description()));
  }
  TomlTable root(parsed.table(), where);
  SAWBILL_RETURN_IF_ERROR(read(root));
  return root.Finish();
}

}  // namespace sawbill::nvmlsim
