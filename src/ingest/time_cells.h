// SPDX-License-Identifier: Apache-2.0
// Cells that hold a time, in every notation seen in GPU logs. Consecutive rows share all but the seconds of their time,
// so the instant of the minute is kept, and a cell of the same minute costs one comparison and two digits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace sawbill::ingest {

enum TimeNotation : unsigned {
  kLocalNotation = 1,
  kOffsetNotation = 2,
  kEpochSeconds = 4,
  kEpochMillis = 8,
  kEpochMicros = 16,
  kEpochNanos = 32
};

class TimeCells {
 public:
  explicit TimeCells(const TimeZone* tz) : tz_(tz) {}
  /// Reads a time from *p up to a comma or `end`, blanks around it allowed; then *p stands there. False, and *p where
  /// it was, when the cell is no time.
  bool Take(const char** p, const char* end, TimeMs* t);
  /// The whole of `cell`.
  bool Parse(std::string_view cell, TimeMs* t);
  /// TimeNotation bits of all cells so far.
  unsigned seen() const { return seen_; }
  /// The notation of the last cell.
  unsigned last() const { return last_; }

 private:
  bool TakeSameMinute(const char** p, const char* end, TimeMs* t);
  bool TakeSeconds(const char** p, const char* end, TimeMs* t);
  bool ParseEpoch(std::string_view cell, TimeMs* t);
  bool ParseDate(std::string_view cell, TimeMs* t);

  const TimeZone* tz_;
  unsigned seen_ = 0, last_ = 0;
  char minute_[17] = {};  // "YYYY/MM/DD hh:mm:"
  TimeMs minute_ms_ = 0;
  unsigned minute_notation_ = 0;
  char zone_[8] = {};  // what follows the seconds: "", "Z", "+08:00"
  size_t zone_size_ = 0;
  bool have_minute_ = false;
};

/// "YYYY/MM/DD hh:mm:ss.mmm" ... for explanations.
std::string DescribeNotation(unsigned seen);

}  // namespace sawbill::ingest
