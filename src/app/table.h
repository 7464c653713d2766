// SPDX-License-Identifier: Apache-2.0
// Rows for people: columns as wide as their widest cell, by display width.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"

namespace sawbill::app {

class Table {
 public:
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string Print(const std::string& indent = "  ") const {
    std::vector<int> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
    std::string out;
    for (const auto& row : rows_) {
      std::string line = indent;
      for (size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : "  ") + Pad(row[i], widths[i]);
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sawbill::app
