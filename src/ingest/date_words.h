// SPDX-License-Identifier: Apache-2.0
// A date and a time of day as people and programs write them in words: "Wed Dec  2 17:00:12 CET 2026", "Wed, 02 Dec
// 2026 17:00:12 +0100", "12/02/2026 5:00:12 PM", "02.12.2026 17:00:12", "2026年 12月 02日 下午 05:00:12".
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace sawbill::ingest {

/// Which number of "02/12/2026" is the day. The notation does not say: see date_order.h.
enum class DateOrder : unsigned char {
  kUntold,  // such a date is no time
  kDayMonth,
  kMonthDay,
  kEither  // whichever is possible: to tell what looks like a time
};

struct WordedTime {
  CivilTime civil;
  bool zone = false;  // zone_min was given
  int zone_min = 0;   // east of UTC
  /// Letters that stand for several zones ("CST"): the time counts as one without a zone.
  std::string_view odd_zone;
  enum class Date : unsigned char { kWords, kYearFirst, kNumbers, kPoints } date = Date::kWords;
  int first = 0, second = 0;  // of Date::kNumbers, as they stand
};

/// The whole of `text`, or nothing. Never a guess: a word that has no place in a time makes it none.
std::optional<WordedTime> ReadTimeWords(std::string_view text, DateOrder order);

/// 1 to 12 for "Jan", "january", ...; 0 for anything else.
int MonthNamed(std::string_view word);
/// "Mon", "monday", ... with nothing behind it.
bool IsWeekday(std::string_view word);

}  // namespace sawbill::ingest
