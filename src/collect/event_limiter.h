// SPDX-License-Identifier: Apache-2.0
// A device that fails for a day must not write a line a second: of each kind on each card at most one row a minute;
// the next one says how many were left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace sawbill::collect {

class EventLimiter {
 public:
  explicit EventLimiter(int64_t every_us = 60'000'000) : every_us_(every_us) {}
  /// The detail to write, or nothing when this one is left out.
  std::optional<std::string> Admit(int64_t steady_us, const std::string& kind, const std::string& gpu,
                                   std::string detail) {
    Entry& e = entries_[{kind, gpu}];
    if (e.told && steady_us - e.last_us < every_us_) {
      ++e.left_out;
      return std::nullopt;
    }
    if (e.left_out > 0) detail += (detail.empty() ? "left_out=" : " left_out=") + std::to_string(e.left_out);
    e = {true, steady_us, 0};
    return detail;
  }

 private:
  struct Entry {
    bool told = false;
    int64_t last_us = 0, left_out = 0;
  };
  int64_t every_us_;
  std::map<std::pair<std::string, std::string>, Entry> entries_;  // bounded by kinds x cards
};

}  // namespace sawbill::collect
