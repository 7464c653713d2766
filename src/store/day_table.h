// SPDX-License-Identifier: Apache-2.0
// One day file as a stream of lines: headers by name, torn and bad lines counted with their place, times freed of clock
// steps. What a kind does with its rows is in the classes derived from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/data_quality.h"
#include "store/clock_fix.h"
#include "store/track_columns.h"

namespace sawbill::store {

struct TableContext {
  std::string file;                 // name for counts: "gpu-2026-01-02.csv"
  const ClockFix* clock = nullptr;  // of the node; may be null
  TimeWindow window;
  model::DataQuality* quality = nullptr;  // never null
  model::GpuMetricSet unread = 0;         // DataFolderOptions::unread
};

class DayTable {
 public:
  explicit DayTable(TableContext context) : context_(std::move(context)), cursor_(context_.clock) {}
  virtual ~DayTable() = default;

  /// The header in effect where reading starts inside a file. Not counted as odd.
  void SetHeader(std::string_view line);
  /// Whether odd lines before the first row of this range are this reader's to count.
  void CountFromStart(bool count) { counting_ = count; }
  /// Whole lines, each with its '\n'. `readable` <= text.data(): memory from there on may be read. `origin` is where
  /// `lines_before_origin` lines of the file end; origin <= text.data(), both in one piece of memory.
  void Feed(std::string_view text, const char* readable, const char* origin, int64_t lines_before_origin);
  /// The latest time seen.
  TimeMs latest() const { return latest_; }
  /// What stands behind the last '\n'.
  void Torn(std::string_view rest);

 protected:
  virtual void OnHeader(const std::vector<std::string_view>& names) = 0;
  virtual void OnRow(TimeMs t, const std::vector<std::string_view>& cells) = 0;
  /// Goes through whole lines; this one takes them one by one with Line().
  virtual void Lines(std::string_view text);

  void Line(std::string_view line);  // without its '\n'
  /// Corrects the time of the row at hand, and notes whether the row is this reader's.
  TimeMs FixTime(TimeMs raw);
  void CountOdd(model::Odd odd, std::string_view detail = {});
  void CountOddRow(model::Odd odd) {
    if (counting_) CountOdd(odd);
  }
  /// Once for each name in a file.
  void CountUnknownColumn(std::string_view name);
  const TimeWindow& window() const { return context_.window; }
  bool counting() const { return counting_; }
  size_t column_count() const { return columns_; }
  int time_column() const { return time_column_; }
  const char* readable() const { return readable_; }
  void at(const char* line) { line_ = line; }
  const TableContext& context() const { return context_; }

 private:
  void Header(const std::vector<std::string_view>& names);
  std::string Where() const;

  TableContext context_;
  ClockCursor cursor_;
  size_t columns_ = 0;
  int time_column_ = -1;
  bool seen_header_ = false, seen_line_ = false, silent_ = false;
  bool counting_ = true;  // the last good row lies in the window
  TimeMs last_t_ = std::numeric_limits<TimeMs>::min(), latest_ = std::numeric_limits<TimeMs>::min();
  const char* readable_ = nullptr;
  const char* origin_ = nullptr;
  const char* line_ = nullptr;  // the line at hand
  int64_t lines_before_origin_ = 0;
  std::string clean_;  // a line without its NUL bytes
  std::vector<std::string_view> cells_;
  std::vector<std::string> scratch_;
  std::vector<std::string> unknown_;  // columns already counted
};

}  // namespace sawbill::store
