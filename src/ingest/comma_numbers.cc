// SPDX-License-Identifier: Apache-2.0
//
// What a comma means
// ------------------
// "95,5" and "1.234,5" can only be decimal commas; "1,234,567" and "1,234.5" can only part thousands. "40,123" can be
// either. A table is written under one locale, so one cell of a sure form decides for all of them. Without one, what is
// possible decides: utilisation of 95,512 % is none, nor is a clock of 1.41 MHz. Where forms and limits say nothing, or
// contradict each other, a cell that can be either has no reading: forty or forty thousand MiB is not guessed.
#include "ingest/comma_numbers.h"

#include <algorithm>

#include "base/text.h"

namespace sawbill::ingest {
namespace {

constexpr double kLeastClockMhz = 30;

bool Digit(char c) { return c >= '0' && c <= '9'; }

size_t DigitsAt(std::string_view s, size_t from) {
  size_t n = 0;
  while (from + n < s.size() && Digit(s[from + n])) ++n;
  return n;
}

/// The end of "1,234,567" (parted by `mark`) at the beginning of `s`; 0 when that is no such number. "0,123" is none.
size_t GroupsEnd(std::string_view s, char mark) {
  size_t end = DigitsAt(s, 0);
  if (end < 1 || end > 3 || s[0] == '0' || end >= s.size() || s[end] != mark) return 0;
  while (end < s.size() && s[end] == mark && DigitsAt(s, end + 1) == 3) end += 4;
  return s[end - 1] == mark || DigitsAt(s, 0) == end || (end < s.size() && s[end] == mark) ? 0 : end;
}

double Value(std::string_view digits, char drop, char point) {
  std::string plain;
  for (const char c : digits) {
    if (c != drop) plain += c == point ? '.' : c;
  }
  return ParseDouble(plain).value_or(kMissing);
}

}  // namespace

std::optional<CommaNumber> ReadCommaNumber(std::string_view cell, std::string_view* rest) {
  if (cell.find(',') == std::string_view::npos) return std::nullopt;
  CommaNumber out;
  size_t end = 0;
  if (const size_t points = GroupsEnd(cell, '.'); points > 0 && points < cell.size() && cell[points] == ',') {
    end = points + 1 + DigitsAt(cell, points + 1);
    if (end > points + 1) out.decimal = Value(cell.substr(0, end), '.', ',');
  } else if (const size_t whole = DigitsAt(cell, 0); whole > 0 && whole < cell.size() && cell[whole] == ',') {
    const size_t fraction = DigitsAt(cell, whole + 1), groups = GroupsEnd(cell, ',');
    end = whole + 1 + fraction;
    const bool more = end < cell.size() && (cell[end] == ',' || cell[end] == '.');
    if (fraction > 0 && !more) out.decimal = Value(cell.substr(0, end), '\0', ',');
    if (groups > 0) {
      end = groups;
      if (end < cell.size() && cell[end] == '.') end += 1 + DigitsAt(cell, end + 1);
      out.grouped = Value(cell.substr(0, end), ',', '.');
    }
  }
  if (IsMissing(out.decimal) && IsMissing(out.grouped)) return std::nullopt;
  *rest = cell.substr(end);
  return out;
}

void CommaCells::Add(Cell cell, const Field& field, std::string_view text) {
  if (first_.empty()) first_ = Ellipsize(Sanitize(text), 48);
  if (cell.either() && first_either_.empty()) first_either_ = Ellipsize(Sanitize(text), 48);
  bool decimal = IsMissing(cell.value.grouped), groups = IsMissing(cell.value.decimal);
  if (cell.either() && field.target == Target::kNumber && field.slot < kMemoryTotalSlot) {
    // A share counts in percent here, whatever the column will turn out to be.
    const bool percent = field.quantity == Quantity::kPercent;
    decimal = cell.value.grouped > (percent ? 100 : model::Info(static_cast<model::GpuMetric>(field.slot)).max);
    groups = field.quantity == Quantity::kClock && cell.value.decimal < kLeastClockMhz;
  }
  cell.proves = decimal == groups ? CommaMeaning::kUntold : decimal ? CommaMeaning::kDecimal : CommaMeaning::kGroups;
  decimal_ += cell.proves == CommaMeaning::kDecimal ? 1 : 0;
  groups_ += cell.proves == CommaMeaning::kGroups ? 1 : 0;
  cells_.push_back(cell);
}

void CommaCells::Undo(size_t row) {
  for (; !cells_.empty() && cells_.back().row == row; cells_.pop_back()) {
    decimal_ -= cells_.back().proves == CommaMeaning::kDecimal ? 1 : 0;
    groups_ -= cells_.back().proves == CommaMeaning::kGroups ? 1 : 0;
  }
  if (cells_.empty()) first_.clear();
  if (std::none_of(cells_.begin(), cells_.end(), [](const Cell& c) { return c.either(); })) first_either_.clear();
}

CommaMeaning CommaCells::Meaning() const {
  if ((decimal_ > 0) == (groups_ > 0)) return CommaMeaning::kUntold;
  return decimal_ > 0 ? CommaMeaning::kDecimal : CommaMeaning::kGroups;
}

}  // namespace sawbill::ingest
