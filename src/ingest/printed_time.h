// SPDX-License-Identifier: Apache-2.0
// Lines that hold a date and a time, in all the notations of time_cells.h, alone or among other words.
#pragma once

#include <string>
#include <string_view>

#include "ingest/format.h"
#include "ingest/time_cells.h"

namespace sawbill::ingest {

class PrintedTimes {
 public:
  explicit PrintedTimes(const ReadContext& context) : context_(context), cells_(context.tz, context.dates.order) {}
  /// The whole of `text` is a time, and nothing else.
  bool Parse(std::string_view text, TimeMs* t);
  /// A time stands somewhere in `line` behind at least one other word (gpustat's "myhost  Mon Jan ..."); `*before` is
  /// what stands before it.
  bool Find(std::string_view line, TimeMs* t, std::string_view* before);
  /// A time at the beginning of `*rest` (one or two words) and something behind it: then *rest is that.
  bool TakePrefix(std::string_view* rest, TimeMs* t);
  /// Where rows carry date and time in words of their own ("20240104", "13:54:35").
  bool ParseDateAndTime(std::string_view date, std::string_view time, TimeMs* t);
  /// Where rows carry a time of day only, and a line of its own above them a date: reads that line.
  bool TakeDay(std::string_view line);
  bool has_day() const { return day_.told; }
  /// "13:54:35" of the day that TakeDay() read, or of the next one after each midnight that the rows passed.
  bool ParseTimeOfDay(std::string_view time, TimeMs* t);

  int64_t times() const { return times_; }
  /// Zones that were assumed, times that ran back: counted and noted. What --explain-format says of the times.
  void Report(model::Recording* out, Explanation* explanation) const;

 private:
  TimeMs Settle(TimeMs t, bool local);

  struct Day {
    bool told = false, fresh = false;  // fresh = no row has followed yet
    CivilTime date;                    // of the clock that the rows show
    bool zone = false;
    TimeMs offset = 0;  // of that clock, east of UTC
    TimeMs last = 0;    // time of day, of the line or of the last row
  };

  const ReadContext& context_;
  TimeCells cells_;
  Day day_;
  bool compact_ = false;  // "YYYYMMDD" was seen
  int64_t times_ = 0, zoneless_ = 0, back_ = 0;
  TimeMs last_raw_ = 0, last_ = 0, first_back_ = 0;
  std::string date_;  // the minute last read by ParseDateAndTime: rows of one minute are read without asking the zone
  int date_minute_ = -1;
  TimeMs minute_ms_ = 0;
  TimeMs shift_ = 0, shift_until_ = 0;  // the second time round of an hour that the zone passes twice
};

/// Says on the receipt what was assumed to read the times: zone, and order of day and month.
void NoteTimes(const SeenTimes& seen, const ReadContext& context, model::Recording* out);

}  // namespace sawbill::ingest
