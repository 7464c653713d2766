// SPDX-License-Identifier: Apache-2.0
// One line of a day file: cells in and out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace sawbill::store {

/// Cells of a line without its end. A quoted cell is unquoted ("" inside = one quote) into `scratch`. False when a
/// quote is not closed. Views stay valid while `line` and `scratch` do.
bool SplitCells(std::string_view line, std::vector<std::string_view>* cells, std::vector<std::string>* scratch);

/// A header line names its first column "timestamp", or has a cell of that name and no cell that is a number.
bool IsHeaderLine(std::string_view line);

/// "1765065329.000" (any number of decimals, rounded to milliseconds). Nothing for what is no instant.
std::optional<TimeMs> ParseTimestamp(std::string_view cell);
/// "1765065329.000", never by the locale.
void AppendTimestamp(TimeMs t, std::string* out);

/// A row under construction: cells joined by commas, in one reused buffer.
class RowText {
 public:
  void Clear() {
    text_.clear();
    cells_ = 0;
  }
  /// With every digit that a reading has, where the column's usual decimals would round it: for what others measured.
  void set_exact(bool exact) { exact_ = exact; }
  void AddNumber(double v, int decimals);  // missing = empty
  void AddInt(int64_t v);
  void AddText(std::string_view s);  // control characters replaced, quoted where needed
  void AddEmpty() { Next(); }
  size_t cells() const { return cells_; }
  const std::string& text() const { return text_; }

 private:
  void Next() {
    if (cells_++ > 0) text_.push_back(',');
  }
  std::string text_;
  size_t cells_ = 0;
  bool exact_ = false;
};

}  // namespace sawbill::store
