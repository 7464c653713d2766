// SPDX-License-Identifier: Apache-2.0
// Reads a table of the script key by key. A key that nobody asked for is an error with its place: a misspelt fault that
// is silently left out makes a test that looks right. Only script_*.cc include this.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "simulator/nvml/wave.h"

namespace toml {
inline namespace v3 {
class table;
class node;
}  // namespace v3
}  // namespace toml

namespace sawbill::nvmlsim {

class TomlTable {
 public:
  TomlTable(const toml::table& table, std::string where) : table_(table), where_(std::move(where)) {}

  // Each leaves `out` alone when the key is not there, and remembers the first error.
  bool Has(const char* key);
  void Read(const char* key, double* out);
  void Read(const char* key, int* out);
  void Read(const char* key, unsigned* out);
  void Read(const char* key, bool* out);
  void Read(const char* key, std::string* out);               // numbers as text too: pid = 123
  void Read(const char* key, std::vector<std::string>* out);  // one text is a list of one
  bool Read(const char* key, Wave* out);                      // a number or a text; true: it was there
  /// [[key]]: each table in it.
  void Each(const char* key, const std::function<Status(TomlTable&)>& read);

  Status Fail(const char* key, const std::string& what);
  /// The first error, or that of a key that was not asked for.
  Status Finish();

 private:
  const toml::node* Find(const char* key);
  void Note(const char* key, const std::string& what);
  const toml::table& table_;
  std::string where_;
  std::set<std::string> asked_;
  Status status_;
};

/// Calls `read` with the root of a TOML text.
Status ReadToml(std::string_view text, const std::string& where, const std::function<Status(TomlTable&)>& read);

}  // namespace sawbill::nvmlsim
