// SPDX-License-Identifier: Apache-2.0
// Cells that hold a time, in every notation seen in GPU logs. Consecutive rows share all but the seconds of their time,
// so the instant of the minute is kept, and a cell of the same minute costs one comparison and two digits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "ingest/date_words.h"

namespace sawbill::ingest {

enum TimeNotation : unsigned {
  kLocalNotation = 1,
  kOffsetNotation = 2,
  kEpochSeconds = 4,
  kEpochMillis = 8,
  kEpochMicros = 16,
  kEpochNanos = 32,
  kWordsNotation = 64,
  kNumbersNotation = 128,  // "02/12/2026": needs a DateOrder
  kPointsNotation = 256
};
inline constexpr unsigned kEpochNotations = kEpochSeconds | kEpochMillis | kEpochMicros | kEpochNanos;

/// What a report must say of the times of a file.
struct SeenTimes {
  unsigned notations = 0;  // TimeNotation bits of all cells so far
  bool local = false;      // a cell had no zone
  std::string odd_zone;    // the first zone of several meanings
  std::string point_date;  // the first cell with a date with points
};

class TimeCells {
 public:
  explicit TimeCells(const TimeZone* tz, DateOrder order = DateOrder::kUntold) : tz_(tz), order_(order) {}
  /// Reads a time from *p up to a comma or `end`, blanks around it allowed; then *p stands there. False, and *p where
  /// it was, when the cell is no time. The comma behind the weekday of "Wed, 02 Dec 2026 ..." ends no cell.
  bool Take(const char** p, const char* end, TimeMs* t);
  /// The whole of `cell`.
  bool Parse(std::string_view cell, TimeMs* t);
  const SeenTimes& seen() const { return seen_; }
  /// The notation of the last cell.
  unsigned last() const { return last_; }
  /// The last cell had no zone.
  bool last_is_local() const { return last_local_; }

 private:
  bool TakeSameMinute(const char** p, const char* end, TimeMs* t);
  bool TakeSeconds(const char** p, const char* end, TimeMs* t);
  bool ParseEpoch(std::string_view cell, TimeMs* t);
  bool ParseExponent(std::string_view cell, TimeMs* t);
  bool ParseDate(std::string_view cell, TimeMs* t);
  bool ParseWords(std::string_view cell, TimeMs* t);
  void Saw(unsigned notation, bool local);

  const TimeZone* tz_;
  const DateOrder order_;
  SeenTimes seen_;
  unsigned last_ = 0;
  bool last_local_ = false;
  char minute_[17] = {};  // "YYYY/MM/DD hh:mm:"
  TimeMs minute_ms_ = 0;
  unsigned minute_notation_ = 0;
  char zone_[8] = {};  // what follows the seconds: "", "Z", "+08:00"
  size_t zone_size_ = 0;
  bool have_minute_ = false;
};

/// The seconds that one cell of Unix time with an exponent stands for, where its digits are too few to tell one second
/// from the next ("1.793696e+09": 1000); 0 for anything else.
double CoarseEpochStepS(std::string_view cell);

/// "YYYY/MM/DD hh:mm:ss.mmm" ... for explanations.
std::string DescribeNotation(const SeenTimes& seen, DateOrder order);

}  // namespace sawbill::ingest
