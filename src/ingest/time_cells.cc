// SPDX-License-Identifier: Apache-2.0
#include "ingest/time_cells.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/cells.h"

namespace sawbill::ingest {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Minutes east of UTC of "Z", " UTC", "+08:00", "+0800", "+08"; false for anything else.
bool ParseZone(std::string_view s, int* minutes) {
  s = Trim(s);
  *minutes = 0;
  if (s == "Z" || s == "z" || s == "UTC" || s == "GMT") return true;
  if (s.size() < 3 || (s[0] != '+' && s[0] != '-')) return false;
  std::string digits;
  for (size_t i = 1; i < s.size(); ++i) {
    if (IsDigit(s[i])) {
      digits += s[i];
    } else if (s[i] != ':' || i != 3) {
      return false;
    }
  }
  if (digits.size() != 2 && digits.size() != 4) return false;
  const int hours = (digits[0] - '0') * 10 + digits[1] - '0';
  const int rest = digits.size() == 4 ? (digits[2] - '0') * 10 + digits[3] - '0' : 0;
  if (hours > 15 || rest > 59) return false;
  *minutes = (hours * 60 + rest) * (s[0] == '-' ? -1 : 1);
  return true;
}

// 2001 to 5138 in seconds; 1973 to 5138 in milliseconds, and so on: no two of these ranges overlap.
constexpr double kEpochLeast = 1e9, kEpochMost = 1e11;

}  // namespace

inline void TimeCells::Saw(unsigned notation, bool local) {
  last_ = notation;
  last_local_ = local;
  seen_.notations |= notation;
  seen_.local = seen_.local || local;
}

bool TimeCells::TakeSameMinute(const char** p, const char* end, TimeMs* t) {
  const char* q = *p;
  if (!have_minute_ || end - q < 19 || std::memcmp(q, minute_, 17) != 0) return false;
  if (!IsDigit(q[17]) || !IsDigit(q[18])) return false;
  const int second = (q[17] - '0') * 10 + (q[18] - '0');
  if (second > 60) return false;
  q += 19;
  int ms = 0;
  if (q < end && *q == '.') {
    ++q;
    if (q == end || !IsDigit(*q)) return false;
    int scale = 100;
    for (; q < end && IsDigit(*q); ++q, scale /= 10) ms += (*q - '0') * scale;
  }
  if (zone_size_ > 0) {
    if (static_cast<size_t>(end - q) < zone_size_ || std::memcmp(q, zone_, zone_size_) != 0) return false;
    q += zone_size_;
  }
  while (q < end && *q == ' ') ++q;
  if (q < end && *q != ',') return false;
  *t = minute_ms_ + second * 1000 + ms;
  last_ = minute_notation_;  // another cell of this row may have been of another
  last_local_ = minute_notation_ == kLocalNotation;
  *p = q;
  return true;
}

/// Unix seconds of ten digits, the common case of script logs and day files.
inline bool TimeCells::TakeSeconds(const char** p, const char* end, TimeMs* t) {
  const char* q = *p;
  if (end - q < 10) return false;
  int64_t whole = 0;
  for (int i = 0; i < 10; ++i, ++q) {
    if (!IsDigit(*q)) return false;
    whole = whole * 10 + (*q - '0');
  }
  int ms = 0;
  if (q < end && *q == '.') {
    ++q;
    for (int scale = 100; q < end && IsDigit(*q); ++q, scale /= 10) ms += (*q - '0') * scale;
  }
  if ((q < end && *q != ',') || whole < static_cast<int64_t>(kEpochLeast)) return false;
  Saw(kEpochSeconds, false);
  *t = whole * 1000 + ms;
  *p = q;
  return true;
}

bool TimeCells::Take(const char** p, const char* end, TimeMs* t) {
  const char* q = *p;
  while (q < end && *q == ' ') ++q;
  if (TakeSameMinute(&q, end, t)) {
    *p = q;
    return true;
  }
  if (TakeSeconds(&q, end, t)) {
    *p = q;
    return true;
  }
  const char* stop = CellEnd(q, end);
  if (stop == nullptr) return false;
  std::string_view cell(q, static_cast<size_t>(stop - q));
  if (stop < end && IsWeekday(cell)) {
    stop = CellEnd(stop + 1, end);
    if (stop == nullptr) return false;
    cell = std::string_view(q, static_cast<size_t>(stop - q));
  }
  if (!Parse(cell, t)) return false;
  *p = stop;
  return true;
}

bool TimeCells::Parse(std::string_view cell, TimeMs* t) {
  const char* p = cell.data();
  const char* const end = p + cell.size();
  TimeMs quick = 0;
  if ((TakeSameMinute(&p, end, &quick) || TakeSeconds(&p, end, &quick)) && p == end) {
    *t = quick;
    return true;
  }
  cell = Trim(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = Trim(cell.substr(1, cell.size() - 2));
  if (cell.size() < 9 || cell.size() > 60) return false;
  if (cell.size() <= 48 && IsDigit(cell[0])) {
    const bool exponent = cell[1] == '.' && cell.find_first_of("eE") != std::string_view::npos;
    if (exponent || IsDigit(cell[4]) ? ParseEpoch(cell, t) : ParseDate(cell, t)) return true;
  }
  return ParseWords(cell, t);
}

/// All that ReadTimeWords() knows beside what is read above, which is quicker.
bool TimeCells::ParseWords(std::string_view cell, TimeMs* t) {
  using Date = WordedTime::Date;
  const auto words = ReadTimeWords(cell, order_);
  if (!words) return false;
  CivilTime minute = words->civil;
  minute.second = minute.millisecond = 0;
  const TimeMs base = words->zone ? UtcFromCivil(minute) - words->zone_min * 60'000LL : tz_->FromLocal(minute);
  *t = base + words->civil.second * 1000 + words->civil.millisecond;
  Saw(words->date == Date::kNumbers     ? kNumbersNotation
      : words->date == Date::kPoints    ? kPointsNotation
      : words->date != Date::kYearFirst ? kWordsNotation
      : words->zone                     ? kOffsetNotation
                                        : kLocalNotation,
      !words->zone);
  if (seen_.odd_zone.empty()) seen_.odd_zone.assign(words->odd_zone);
  if (words->date == Date::kPoints && seen_.point_date.empty()) seen_.point_date.assign(cell);
  return true;
}

/// "1.793696400e+09", as numpy and spreadsheets save what is too long for them. With too few digits it is no time: a
/// stamp that stands for a quarter of an hour tells no samples apart.
bool TimeCells::ParseExponent(std::string_view cell, TimeMs* t) {
  const double v = ParseDouble(cell).value_or(0);
  if (v < kEpochLeast || v >= 9e18 || CoarseEpochStepS(cell) > 0) return false;
  const std::pair<double, unsigned> units[] = {
      {1, kEpochSeconds}, {1e3, kEpochMillis}, {1e6, kEpochMicros}, {1e9, kEpochNanos}};
  for (const auto& [unit, notation] : units) {
    if (v >= kEpochMost * unit) continue;
    *t = std::llround(v / unit * 1000);
    Saw(notation, false);
    return true;
  }
  return false;
}

bool TimeCells::ParseEpoch(std::string_view cell, TimeMs* t) {
  if (cell.find_first_of("eE") != std::string_view::npos) return ParseExponent(cell, t);
  // Digits before the point as an integer: a double would lose nanoseconds' last digits, and speed.
  int64_t whole = 0;
  size_t i = 0;
  for (; i < cell.size() && IsDigit(cell[i]); ++i) {
    if (i >= 19 - 1 && whole > (INT64_MAX - 9) / 10) return false;
    whole = whole * 10 + (cell[i] - '0');
  }
  int ms = 0;
  if (i < cell.size()) {
    if (cell[i] != '.') return false;
    int scale = 100;
    for (++i; i < cell.size(); ++i, scale /= 10) {
      if (!IsDigit(cell[i])) return false;
      ms += (cell[i] - '0') * scale;
    }
  }
  const auto v = static_cast<double>(whole);
  if (v < kEpochLeast) return false;
  if (v < kEpochMost) {
    *t = whole * 1000 + ms;
    Saw(kEpochSeconds, false);
  } else if (v < kEpochMost * 1e3) {
    *t = whole;
    Saw(kEpochMillis, false);
  } else if (v < kEpochMost * 1e6) {
    *t = whole / 1000;
    Saw(kEpochMicros, false);
  } else {
    *t = whole / 1000000;
    Saw(kEpochNanos, false);
  }
  return true;
}

bool TimeCells::ParseDate(std::string_view cell, TimeMs* t) {
  std::string_view rest;
  const auto civil = ParseCivil(cell, &rest);
  if (!civil || civil->year < 1990 || civil->year > 2200) return false;
  CivilTime minute = *civil;
  minute.second = minute.millisecond = 0;
  int offset_min = 0;
  const bool local = Trim(rest).empty();
  if (!local && !ParseZone(rest, &offset_min)) return false;
  // A date without a time of day is no sample time.
  if (cell.size() < 14 || cell.find(':') == std::string_view::npos) return false;
  const TimeMs base = local ? tz_->FromLocal(minute) : UtcFromCivil(minute) - offset_min * 60'000LL;
  *t = base + civil->second * 1000 + civil->millisecond;
  Saw(local ? kLocalNotation : kOffsetNotation, local);
  minute_notation_ = last_;
  have_minute_ = cell.size() >= 19 && cell[13] == ':' && cell[16] == ':' && rest.size() <= sizeof(zone_);
  if (have_minute_) {
    std::memcpy(minute_, cell.data(), sizeof(minute_));
    minute_ms_ = base;
    zone_size_ = local ? 0 : rest.size();
    std::memcpy(zone_, rest.data(), zone_size_);
  }
  return true;
}

double CoarseEpochStepS(std::string_view cell) {
  cell = Unquote(cell);
  const size_t e = cell.find_first_of("eE");
  const double v = ParseDouble(cell).value_or(0);
  const auto exponent = e == std::string_view::npos ? std::nullopt : ParseInt(cell.substr(e + 1));
  if (!exponent || v < kEpochLeast || v >= 9e18) return 0;
  const size_t point = std::min(cell.find('.'), e);
  const auto decimals = static_cast<int64_t>(point < e ? e - point - 1 : 0);
  double step = std::pow(10, static_cast<double>(*exponent - decimals));
  for (double most = kEpochMost; v >= most; most *= 1e3) step /= 1e3;  // milliseconds, and so on
  return step > 1 ? step : 0;
}

std::string DescribeNotation(const SeenTimes& seen, DateOrder order) {
  const struct {
    unsigned bit;
    const char* text;
  } rows[] = {{kLocalNotation, "YYYY-MM-DD hh:mm:ss[.mmm]"},
              {kOffsetNotation, "ISO 8601 (Z / +hh:mm)"},
              {kEpochSeconds, "Unix s"},
              {kEpochMillis, "Unix ms"},
              {kEpochMicros, "Unix us"},
              {kEpochNanos, "Unix ns"},
              {kWordsNotation, "Mon Jan  2 03:04:05 2026"},
              {kNumbersNotation, order == DateOrder::kDayMonth ? "DD/MM/YYYY hh:mm:ss" : "MM/DD/YYYY hh:mm:ss"},
              {kPointsNotation, "DD.MM.YYYY hh:mm:ss"}};
  std::string out;
  for (const auto& row : rows) {
    if ((seen.notations & row.bit) == 0) continue;
    if (!out.empty()) out += ", ";
    out += row.text;
  }
  return out;
}

}  // namespace sawbill::ingest
