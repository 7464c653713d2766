// SPDX-License-Identifier: Apache-2.0
//
// What proves the order
// ---------------------
// 1. A number above 12 is a day.
// 2. A log grows. Where the date changes from one row to the next, one order makes that a step of minutes (23:59:50 to
//    00:00:00) and the other one of weeks: the step of less than an hour is true. A gap of just a month that ended at
//    the same time of day would look alike, and is not what logs do.
// AM and PM prove nothing: India and Australia write them behind day, month, year.
#include "ingest/date_order.h"

#include <optional>

#include "base/text.h"
#include "ingest/cells.h"
#include "sys/decompress.h"

namespace sawbill::ingest {
namespace {

constexpr size_t kCellsLookedAt = 6;
constexpr size_t kLinesLookedAt = 200;
constexpr TimeMs kSmallStep = 3'600'000;
constexpr TimeMs kLeap = 20 * 86'400'000LL;

std::optional<WordedTime> NumbersIn(std::string_view cell) {
  if (cell.size() < 13) return std::nullopt;
  const auto words = ReadTimeWords(cell, DateOrder::kEither);
  if (!words || words->date != WordedTime::Date::kNumbers) return std::nullopt;
  return words;
}

/// The column of such dates; -1 when there is none among the first lines.
int ColumnOf(std::string_view sample) {
  for (size_t line_number = 0; line_number < kLinesLookedAt && !sample.empty(); ++line_number) {
    const std::string_view line = sample.substr(0, sample.find('\n'));
    sample.remove_prefix(std::min(line.size() + 1, sample.size()));
    if (line.find('/') == std::string_view::npos && line.find('-') == std::string_view::npos) continue;
    const std::vector<std::string_view> cells = SplitCells(Trim(line));
    for (size_t i = 0; i < std::min(cells.size(), kCellsLookedAt); ++i) {
      if (NumbersIn(cells[i])) return static_cast<int>(i);
    }
  }
  return -1;
}

/// The time by one of the two orders, without its zone: steps are what counts.
std::optional<TimeMs> TimeBy(DateOrder order, const WordedTime& w) {
  CivilTime c = w.civil;
  c.day = order == DateOrder::kDayMonth ? w.first : w.second;
  c.month = order == DateOrder::kDayMonth ? w.second : w.first;
  if (c.month > 12) return std::nullopt;
  return UtcFromCivil(c);
}

class Proofs {
 public:
  void Look(std::string_view cell, const WordedTime& w);
  DatesTold Told() const { return contradicted_ ? DatesTold{DateOrder::kUntold, told_.first, "", ""} : told_; }

 private:
  void Prove(DateOrder order, std::string_view cell, int number);
  void Step(std::string_view cell, const WordedTime& w);

  DatesTold told_;
  bool contradicted_ = false;
  std::optional<WordedTime> before_;
};

void Proofs::Prove(DateOrder order, std::string_view cell, int number) {
  if (told_.order != DateOrder::kUntold) {
    contradicted_ = contradicted_ || told_.order != order;
    return;
  }
  told_.order = order;
  told_.sample = Sanitize(cell);
  if (number > 0) told_.number = std::to_string(number);
}

void Proofs::Step(std::string_view cell, const WordedTime& w) {
  const DateOrder orders[] = {DateOrder::kDayMonth, DateOrder::kMonthDay};
  bool small[2] = {}, leap[2] = {};
  for (size_t i = 0; i < 2; ++i) {
    const auto from = TimeBy(orders[i], *before_), to = TimeBy(orders[i], w);
    if (!from || !to) return;
    small[i] = *to >= *from && *to - *from <= kSmallStep;
    leap[i] = *to < *from || *to - *from >= kLeap;
  }
  for (size_t i = 0; i < 2; ++i) {
    if (small[i] && leap[1 - i]) Prove(orders[i], cell, 0);
  }
}

void Proofs::Look(std::string_view cell, const WordedTime& w) {
  if (told_.first.empty()) told_.first = Sanitize(cell);
  if (w.first > 12) Prove(DateOrder::kDayMonth, cell, w.first);
  if (w.second > 12) Prove(DateOrder::kMonthDay, cell, w.second);
  const bool changed =
      before_ && (before_->first != w.first || before_->second != w.second || before_->civil.year != w.civil.year);
  if (changed) Step(cell, w);
  before_ = w;
  before_->odd_zone = {};
}

}  // namespace

DatesTold FindDateOrder(std::string_view sample, std::string_view bytes) {
  const int column = ColumnOf(sample);
  if (column < 0) return {};
  Proofs proofs;
  sys::LineReader lines(sys::OpenBytes(bytes));
  std::string_view line;
  std::vector<std::string_view> cells;
  while (lines.Next(&line)) {
    SplitCells(line, &cells);
    if (cells.size() <= static_cast<size_t>(column)) continue;
    const std::string_view cell = cells[static_cast<size_t>(column)];
    if (const auto words = NumbersIn(cell)) proofs.Look(cell, *words);
  }
  return proofs.Told();
}

}  // namespace sawbill::ingest
