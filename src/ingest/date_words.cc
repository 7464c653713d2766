// SPDX-License-Identifier: Apache-2.0
//
// A date in words is read word by word, each told by its form: "Jan" is a month, "03:04:05" a time of day, "2026" a
// year, "2" a day, "+0800" a zone. So one reader takes every order of them that locales have. A word of none of these
// forms makes the text no time: text that merely mentions a date is not taken for one.
//
// Zone abbreviations: CST is China, the United States or Cuba, IST is India, Ireland or Israel. Only those of one
// meaning are taken (EST and its like as RFC 2822 has them); with the others the time counts as one without a zone, and
// the report says so.
#include "ingest/date_words.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"
#include "ingest/words.h"

namespace sawbill::ingest {
namespace {

bool Digit(char c) { return c >= '0' && c <= '9'; }

struct Words {
  int year = -1, month = -1, day = -1, hour = -1, minute = 0, second = 0, ms = 0;
  int half = 0;  // 1 = AM, 2 = PM
  WordedTime out;
  bool has_zone() const { return out.zone || !out.odd_zone.empty(); }
  bool has_date() const { return year > 0 || month > 0 || day > 0; }
  bool complete() const { return year > 0 && month > 0 && day > 0 && hour >= 0; }
};

constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                      "may",       "june",     "july",     "august",
                                                      "september", "october",  "november", "december"};
constexpr std::array<std::string_view, 7> kWeekdays = {"monday", "tuesday",  "wednesday", "thursday",
                                                       "friday", "saturday", "sunday"};
constexpr struct {
  std::string_view name;
  int minutes;
} kZones[] = {{"Z", 0},      {"UT", 0},     {"UTC", 0},    {"GMT", 0},    {"WET", 0},    {"WEST", 60},
              {"CET", 60},   {"CEST", 120}, {"EET", 120},  {"EEST", 180}, {"MSK", 180},  {"HKT", 480},
              {"JST", 540},  {"KST", 540},  {"AEST", 600}, {"AEDT", 660}, {"EST", -300}, {"EDT", -240},
              {"CDT", -300}, {"MST", -420}, {"MDT", -360}, {"PST", -480}, {"PDT", -420}};

/// Does `word` begin the name with three letters or more ("Sept", "tue", "Thurs")?
bool Begins(std::string_view word, std::string_view name) {
  if (word.size() < 3 || word.size() > name.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if (static_cast<char>(word[i] | 0x20) != name[i]) return false;
  }
  return true;
}

/// One or two digits in front of *w, taken off; -1 when there are none or more.
int TakeTwo(std::string_view* w) {
  size_t n = 0;
  while (n < w->size() && Digit((*w)[n])) ++n;
  if (n < 1 || n > 2) return -1;
  const auto value = static_cast<int>(WholeNumber(w->substr(0, n)));
  w->remove_prefix(n);
  return value;
}

/// "AM", "p.m.", "下午".
int HalfOfDay(std::string_view w) {
  for (const std::string_view am : {"AM", "am", "a.m.", "A.M.", "上午"}) {
    if (w == am) return 1;
  }
  for (const std::string_view pm : {"PM", "pm", "p.m.", "P.M.", "下午"}) {
    if (w == pm) return 2;
  }
  return 0;
}

/// "+0800", "+08", "-03:30"; behind "UTC" or "GMT" also "+8".
bool Offset(std::string_view w, bool behind_name, Words* out) {
  if (w.size() < 2 || (w[0] != '+' && w[0] != '-') || out->hour < 0 || out->has_zone()) return false;
  std::string_view rest = w.substr(1);
  size_t digits = 0;
  while (digits < rest.size() && Digit(rest[digits])) ++digits;
  int hours = 0, minutes = 0;
  if (digits == 4 && rest.size() == 4) {
    hours = static_cast<int>(WholeNumber(rest.substr(0, 2)));
    minutes = static_cast<int>(WholeNumber(rest.substr(2)));
  } else if (digits == 2 || (behind_name && digits == 1)) {
    hours = TakeTwo(&rest);
    if (!rest.empty()) {
      if (rest[0] != ':' || rest.size() != 3) return false;
      rest.remove_prefix(1);
      minutes = TakeTwo(&rest);
      if (minutes < 0 || !rest.empty()) return false;
    }
  } else {
    return false;
  }
  const int all = hours * 60 + minutes;
  if (minutes > 59 || all > 15 * 60) return false;
  out->out.zone_min = w[0] == '-' ? -all : all;
  return out->out.zone = true;
}

/// "CET", "EST", "UTC+8", "CST" (of several meanings).
bool ZoneName(std::string_view w, Words* out) {
  if (out->hour < 0 || out->has_zone()) return false;
  if (w.size() > 3 && (StartsWith(w, "UTC") || StartsWith(w, "GMT"))) return Offset(w.substr(3), true, out);
  for (const auto& zone : kZones) {
    if (w != zone.name) continue;
    out->out.zone_min = zone.minutes;
    return out->out.zone = true;
  }
  if (w.size() < 3 || w.size() > 5) return false;
  for (const char c : w) {
    if (c < 'A' || c > 'Z') return false;
  }
  out->out.odd_zone = w;
  return true;
}

/// "星期二", "周二", "(週二)", "火曜日", "화요일".
bool IsEasternWeekday(std::string_view w) {
  if (w.size() > 2 && w.front() == '(' && w.back() == ')') w = w.substr(1, w.size() - 2);
  for (const std::string_view before : {"星期", "周", "週", "礼拜", "禮拜"}) {
    if (StartsWith(w, before) && w.size() == before.size() + 3) return true;
  }
  return (EndsWith(w, "曜日") || EndsWith(w, "요일")) && w.size() == 9;
}

/// "2026年", "11月03日", "2026年11月03日星期二", "17时00分12秒", as Chinese, Japanese and Korean locales count them.
bool Counted(std::string_view w, Words* out) {
  constexpr struct {
    std::string_view unit;
    int Words::* to;
    int64_t least, most;
  } kUnits[] = {{"年", &Words::year, 1990, 2200}, {"년", &Words::year, 1990, 2200}, {"月", &Words::month, 1, 12},
                {"월", &Words::month, 1, 12},     {"日", &Words::day, 1, 31},       {"일", &Words::day, 1, 31},
                {"时", &Words::hour, 0, 23},      {"時", &Words::hour, 0, 23},      {"시", &Words::hour, 0, 23},
                {"分", &Words::minute, 0, 59},    {"분", &Words::minute, 0, 59},    {"秒", &Words::second, 0, 60},
                {"초", &Words::second, 0, 60}};
  if (StartsWith(w, "西元")) w.remove_prefix(std::string_view("西元").size());
  do {
    size_t digits = 0;
    while (digits < w.size() && Digit(w[digits])) ++digits;
    const int64_t n = digits > 4 ? -1 : WholeNumber(w.substr(0, digits));
    w.remove_prefix(digits);
    const auto* const unit =
        std::find_if(std::begin(kUnits), std::end(kUnits), [&](const auto& u) { return StartsWith(w, u.unit); });
    if (n < 0 || unit == std::end(kUnits) || n < unit->least || n > unit->most) return false;
    // Minutes and seconds are 0 until told; the others are told once.
    if (out->*unit->to > 0 || (unit->to == &Words::hour && out->hour >= 0)) return false;
    out->*unit->to = static_cast<int>(n);
    w.remove_prefix(unit->unit.size());
  } while (!w.empty() && Digit(w[0]));
  return w.empty() || IsEasternWeekday(w);
}

/// "17:00:12", "5:00:12.123", "17:00", each also with "PM", "Z" or "+01:00" right behind it, or "下午" before it.
bool TimeOfDay(std::string_view w, Words* out) {
  if (out->hour >= 0) return false;
  for (const std::string_view half : {"上午", "下午"}) {
    if (!StartsWith(w, half) || w.size() == half.size() || out->half != 0) continue;
    out->half = HalfOfDay(half);
    w.remove_prefix(half.size());
  }
  if (w.find(':') == std::string_view::npos) return out->half > 0 && Counted(w, out);
  const int hour = TakeTwo(&w);
  if (hour < 0 || hour > 23 || w.empty() || w[0] != ':') return false;
  w.remove_prefix(1);
  if (w.size() < 2 || !Digit(w[1])) return false;
  const int minute = TakeTwo(&w);
  int second = 0, ms = 0;
  if (!w.empty() && w[0] == ':') {
    w.remove_prefix(1);
    if (w.size() < 2 || !Digit(w[1])) return false;
    second = TakeTwo(&w);
    if (!w.empty() && (w[0] == '.' || w[0] == ',')) {
      w.remove_prefix(1);
      if (w.empty() || !Digit(w[0])) return false;
      for (int scale = 100; !w.empty() && Digit(w[0]); scale /= 10, w.remove_prefix(1)) ms += (w[0] - '0') * scale;
    }
  }
  if (minute < 0 || minute > 59 || second < 0 || second > 60) return false;
  out->hour = hour, out->minute = minute, out->second = second, out->ms = ms;
  if (w.empty()) return true;
  if (const int half = HalfOfDay(w); half != 0 && out->half == 0) return (out->half = half) != 0;
  return ZoneName(w, out) || Offset(w, false, out);
}

/// Day and month of "02/12/2026" by the order that is known.
bool Numbers(int first, int second, DateOrder order, Words* out) {
  const bool day_first = first >= 1 && first <= 31 && second >= 1 && second <= 12;
  const bool month_first = second >= 1 && second <= 31 && first >= 1 && first <= 12;
  if (order == DateOrder::kUntold) return false;
  if (order == DateOrder::kDayMonth   ? !day_first
      : order == DateOrder::kMonthDay ? !month_first
                                      : !day_first && !month_first) {
    return false;
  }
  const bool swap = order == DateOrder::kDayMonth || (order == DateOrder::kEither && !month_first);
  out->day = swap ? first : second;
  out->month = swap ? second : first;
  return true;
}

/// "2026-12-02", "2026/12/2", "02/12/2026", "02.12.2026", "02-Dec-2026": a date in one word.
bool DateWord(std::string_view w, DateOrder order, Words* out) {
  const size_t at = w.find_first_of("/-.");
  if (at == std::string_view::npos || at == 0 || out->has_date()) return false;
  const char separator = w[at];
  const size_t next = w.find(separator, at + 1);
  if (next == std::string_view::npos || w.find(separator, next + 1) != std::string_view::npos) return false;
  const std::string_view a = w.substr(0, at), b = w.substr(at + 1, next - at - 1), c = w.substr(next + 1);
  const auto number = [](std::string_view s, size_t most) {
    return s.size() > most ? -1 : static_cast<int>(WholeNumber(s));
  };
  const bool year_first = a.size() == 4;
  out->year = number(year_first ? a : c, 4);
  if ((year_first ? a : c).size() != 4 || out->year < 1990 || out->year > 2200) return false;
  const int x = number(year_first ? b : a, 2), y = number(year_first ? c : b, 2);
  if (const int month = MonthNamed(b); month > 0 && separator != '.') {
    out->month = month;
    out->day = number(year_first ? c : a, 2);
  } else if (year_first) {
    out->out.date = WordedTime::Date::kYearFirst;
    out->month = x;
    out->day = y;
  } else if (separator == '.') {
    out->out.date = WordedTime::Date::kPoints;
    out->day = x;
    out->month = y;
  } else {
    out->out.date = WordedTime::Date::kNumbers;
    out->out.first = x;
    out->out.second = y;
    if (!Numbers(x, y, order, out)) return false;
  }
  return out->month >= 1 && out->month <= 12 && out->day >= 1 && out->day <= 31;
}

/// Weekday, month, half of the day or zone.
bool Named(std::string_view w, Words* out) {
  if (const int half = HalfOfDay(w); half != 0 && out->half == 0) return (out->half = half) != 0;
  if (const int month = MonthNamed(w); month > 0 && out->month < 0) return (out->month = month) > 0;
  return IsWeekday(w) || ZoneName(w, out);
}

/// A year or a day.
bool Numbered(std::string_view w, Words* out) {
  const int64_t n = w.size() <= 4 ? WholeNumber(w) : -1;
  int* const to = w.size() == 4 ? &out->year : &out->day;
  if (n < 0 || w.size() == 3 || *to >= 0 || (w.size() == 4 ? n < 1990 || n > 2200 : n < 1 || n > 31)) return false;
  *to = static_cast<int>(n);
  return true;
}

bool OneWord(std::string_view w, DateOrder order, Words* out) {
  if (IsEasternWeekday(w)) return true;
  if (w.front() == '(' && w.back() == ')') return out->out.zone;  // "+0100 (CET)"
  return Named(w, out) || TimeOfDay(w, out) || Offset(w, false, out) || DateWord(w, order, out) || Numbered(w, out) ||
         Counted(w, out);
}

int DaysIn(int month, int year) {
  return static_cast<int>(DaysFromCivil(month == 12 ? year + 1 : year, month % 12 + 1, 1) -
                          DaysFromCivil(year, month, 1));
}

}  // namespace

int MonthNamed(std::string_view word) {
  for (size_t i = 0; i < kMonths.size(); ++i) {
    if (Begins(word, kMonths[i])) return static_cast<int>(i) + 1;
  }
  return 0;
}

bool IsWeekday(std::string_view word) {
  for (const std::string_view day : kWeekdays) {
    if (Begins(word, day)) return true;
  }
  return false;
}

std::optional<WordedTime> ReadTimeWords(std::string_view text, DateOrder order) {
  Words words;
  int count = 0;
  while (true) {
    std::string_view w = TakeWord(&text);
    if (w.empty()) break;
    if (++count > 9) return std::nullopt;
    // A comma at the end of all, or in its last word, parts cells: "2026-01-02 03:04:05,7" is a time and a reading.
    if (Trim(text).empty() && w.find(',') != std::string_view::npos) return std::nullopt;
    if (w.back() == ',') w.remove_suffix(1);
    if (w.empty() || w.size() > 32 || !OneWord(w, order, &words)) return std::nullopt;
  }
  if (!words.complete() || words.day > DaysIn(words.month, words.year)) return std::nullopt;
  if (words.half != 0) {
    if (words.hour < 1 || words.hour > 12) return std::nullopt;
    words.hour = words.hour % 12 + (words.half == 2 ? 12 : 0);
  }
  words.out.civil = {words.year, words.month, words.day, words.hour, words.minute, words.second, words.ms};
  return words.out;
}

}  // namespace sawbill::ingest
