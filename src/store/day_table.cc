// SPDX-License-Identifier: Apache-2.0
#include "store/day_table.h"

#include <algorithm>

#include "base/text.h"
#include "store/csv_line.h"

namespace sawbill::store {
using model::Odd;

void DayTable::SetHeader(std::string_view line) {
  silent_ = true;
  if (EndsWith(line, "\r")) line.remove_suffix(1);
  if (SplitCells(line, &cells_, &scratch_)) Header(cells_);
  silent_ = false;
  seen_line_ = true;
}

void DayTable::Feed(std::string_view text, const char* readable, const char* origin, int64_t lines_before_origin) {
  readable_ = readable;
  origin_ = origin;
  lines_before_origin_ = lines_before_origin;
  if (!seen_line_ && StartsWith(text, "\xef\xbb\xbf")) text.remove_prefix(3);
  if (!text.empty()) Lines(text);
  seen_line_ = true;
}

void DayTable::Lines(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    line_ = text.data();
    Line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void DayTable::Torn(std::string_view rest) {
  if (rest.empty()) return;
  // What a crash leaves behind a grown file: it belongs to no line.
  const auto nuls = std::count(rest.begin(), rest.end(), '\0');
  if (counting_ && nuls > 0) context_.quality->Count(Odd::kNulBytes, context_.file, nuls);
  if (static_cast<size_t>(nuls) == rest.size()) return;
  if (counting_) context_.quality->Count(Odd::kTornLine, context_.file + ", last line");
}

std::string DayTable::Where() const {
  const auto line = lines_before_origin_ + 1 + (origin_ == nullptr ? 0 : std::count(origin_, line_, '\n'));
  return context_.file + ":" + std::to_string(line);
}

void DayTable::CountOdd(Odd odd, std::string_view detail) {
  // Finding the line's number reads the file up to here, so it is done for the first case only: no other is shown.
  if (context_.quality->count(odd) > 0) return context_.quality->Count(odd);
  context_.quality->Count(odd, detail.empty() ? Where() : Where() + " " + std::string(detail));
}

void DayTable::CountUnknownColumn(std::string_view name) {
  if (std::find(unknown_.begin(), unknown_.end(), name) != unknown_.end()) return;
  unknown_.emplace_back(name);
  // A header that held before this range is another reader's to count, and so are its columns.
  if (!silent_ && counting_) CountOdd(Odd::kUnknownColumn, name);
}

void DayTable::Header(const std::vector<std::string_view>& names) {
  if (seen_header_ && !silent_) CountOddRow(Odd::kRepeatedHeader);
  columns_ = names.size();
  const auto time = std::find(names.begin(), names.end(), std::string_view("timestamp"));
  time_column_ = time == names.end() ? -1 : static_cast<int>(time - names.begin());
  OnHeader(names);
  cursor_.OnHeader();
  seen_header_ = true;
}

TimeMs DayTable::FixTime(TimeMs raw) {
  const TimeMs t = cursor_.Fix(raw);
  counting_ = context_.window.Holds(t);
  if (t < last_t_) CountOddRow(Odd::kTimeBackwards);
  last_t_ = t;
  latest_ = std::max(latest_, t);
  return t;
}

void DayTable::Line(std::string_view line) {
  if (EndsWith(line, "\r")) line.remove_suffix(1);
  if (line.find('\0') != std::string_view::npos) {
    clean_.assign(line);
    const auto end = std::remove(clean_.begin(), clean_.end(), '\0');
    if (counting_) context_.quality->Count(Odd::kNulBytes, Where(), clean_.end() - end);
    clean_.erase(end, clean_.end());
    line = clean_;
  }
  if (line.empty()) return;
  if (!SplitCells(line, &cells_, &scratch_)) return CountOddRow(Odd::kBadRow);
  if (IsHeaderLine(line)) return Header(cells_);
  if (time_column_ < 0) return CountOddRow(Odd::kBadRow);
  if (cells_.size() < columns_) return CountOddRow(Odd::kMissingCells);
  if (cells_.size() > columns_) return CountOddRow(Odd::kExtraCells);
  const std::optional<TimeMs> raw = ParseTimestamp(cells_[static_cast<size_t>(time_column_)]);
  if (!raw) return CountOddRow(Odd::kBadRow);
  OnRow(FixTime(*raw), cells_);
}

}  // namespace sawbill::store
