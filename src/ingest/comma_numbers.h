// SPDX-License-Identifier: Apache-2.0
// Numbers with commas inside quotes: "95,5" of a locale whose decimal point is a comma, "40,123" that may be that or
// forty thousand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.h"
#include "ingest/fields.h"

namespace sawbill::ingest {

/// Both readings of one number; NaN where its form excludes one.
struct CommaNumber {
  double decimal = kMissing;
  double grouped = kMissing;
};
/// The number at the beginning of `cell`; *rest is what follows it. Nothing without a comma among its digits.
std::optional<CommaNumber> ReadCommaNumber(std::string_view cell, std::string_view* rest);

enum class CommaMeaning : unsigned char { kUntold, kDecimal, kGroups };

/// All such cells of a table. What their commas mean is said by all of them together: one writer has one locale.
class CommaCells {
 public:
  struct Cell {
    size_t row = 0;
    size_t layout = 0, column = 0;
    CommaNumber value;  // in the unit in which the column is kept
    CommaMeaning proves = CommaMeaning::kUntold;
    bool either() const { return !IsMissing(value.decimal) && !IsMissing(value.grouped); }
  };
  /// `text` = the cell as it stands.
  void Add(Cell cell, const Field& field, std::string_view text);
  /// Takes back what a row that did not fit has added.
  void Undo(size_t row);
  CommaMeaning Meaning() const;
  const std::vector<Cell>& cells() const { return cells_; }
  /// The first cell of all, and the first whose form allows both readings, as they stand in the file.
  const std::string& first() const { return first_; }
  const std::string& first_either() const { return first_either_; }

 private:
  std::vector<Cell> cells_;
  std::string first_, first_either_;
  int64_t decimal_ = 0, groups_ = 0;  // cells that prove it
};

}  // namespace sawbill::ingest
