// SPDX-License-Identifier: Apache-2.0
// A column of text in which few strings repeat: names, uuids, indices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sawbill::ingest {

/// Strings that repeat from row to row, kept once. Id 0 is "".
class TextColumn {
 public:
  std::vector<uint32_t> ids;  // of each row; empty = the column was never there
  static constexpr uint32_t kBroken = UINT32_MAX;
  /// The id of `s`; 0 for "" and for markers such as "[N/A]"; kBroken when it holds a NUL.
  uint32_t Intern(std::string_view s) {
    const uint32_t guess = after_[last_];
    return values_[guess] == s ? last_ = guess : Find(s);
  }
  const std::string& Get(uint32_t id) const { return values_[id]; }
  size_t distinct() const { return values_.size(); }

 private:
  uint32_t Find(std::string_view s);

  std::vector<std::string> values_{""};
  std::vector<uint32_t> after_{0};  // after_[a] = what last followed a: cards repeat in the same order
  std::unordered_map<std::string, uint32_t> known_{{"", 0}};
  uint32_t last_ = 0;
};

}  // namespace sawbill::ingest
