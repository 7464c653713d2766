// SPDX-License-Identifier: Apache-2.0
//
// A date in words is read word by word, each told by its form: "Jan" is a month, "03:04:05" a time of day, "2026" a
// year, "2" a day, "+0800" a zone. So one reader takes every order of them that locales have. A word of none of these
// forms makes the line no time: text that merely mentions a date is not taken for one.
//
// Zone abbreviations: CST is China, the United States or Cuba, IST is India, Ireland or Israel. Only those of one
// meaning are taken; with the others the time counts as one without a zone, and the report says so.
#include "ingest/printed_time.h"

#include <array>

#include "base/text.h"
#include "ingest/words.h"

namespace sawbill::ingest {
namespace {
using model::Odd;

bool Digit(char c) { return c >= '0' && c <= '9'; }

struct Words {
  int year = -1, month = -1, day = -1, hour = -1, minute = 0, second = 0, ms = 0;
  int half = 0;  // 1 = AM, 2 = PM
  bool zone = false;
  int zone_min = 0;
  bool unknown_zone = false;
  bool complete() const { return year > 0 && month > 0 && day > 0 && hour >= 0; }
};

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr struct {
  std::string_view name;
  int minutes;
} kZones[] = {{"UTC", 0},    {"GMT", 0},    {"WET", 0},    {"WEST", 60},  {"CET", 60},   {"CEST", 120}, {"EET", 120},
              {"EEST", 180}, {"MSK", 180},  {"HKT", 480},  {"JST", 540},  {"KST", 540},  {"AEST", 600}, {"AEDT", 660},
              {"EST", -300}, {"EDT", -240}, {"CDT", -300}, {"MST", -420}, {"MDT", -360}, {"PST", -480}, {"PDT", -420}};

/// "hh:mm:ss" or "hh:mm:ss.123456".
bool TimeOfDay(std::string_view w, Words* out) {
  if (w.size() < 8 || w.size() > 18 || w[2] != ':' || w[5] != ':' || out->hour >= 0) return false;
  for (const size_t i : {0, 1, 3, 4, 6, 7}) {
    if (!Digit(w[i])) return false;
  }
  const auto two = [&](size_t i) { return (w[i] - '0') * 10 + (w[i + 1] - '0'); };
  int ms = 0, scale = 100;
  for (size_t i = 8; i < w.size(); ++i, scale /= 10) {
    if (i == 8 ? w[i] != '.' && w[i] != ',' : !Digit(w[i])) return false;
    if (i == 8) scale = 1000;
    if (i > 8) ms += (w[i] - '0') * scale;
  }
  if (two(0) > 23 || two(3) > 59 || two(6) > 60) return false;
  out->hour = two(0), out->minute = two(3), out->second = two(6), out->ms = ms;
  return true;
}

bool Letters(std::string_view w) {
  for (const char c : w) {
    if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))) return false;
  }
  return !w.empty();
}

/// Weekday, month, half of the day or zone.
bool Named(std::string_view w, Words* out) {
  if (w == "AM" || w == "PM" || w == "am" || w == "pm") {
    out->half = (w[0] | 0x20) == 'a' ? 1 : 2;
    return true;
  }
  if (w.size() >= 3 && w.size() <= 9) {
    const auto lower = [&](size_t i) { return static_cast<char>(w[i] | 0x20); };
    const auto begins = [&](std::string_view n) { return lower(0) == n[0] && lower(1) == n[1] && lower(2) == n[2]; };
    for (size_t i = 0; i < kMonths.size(); ++i) {
      if (!begins(kMonths[i]) || out->month >= 0) continue;
      out->month = static_cast<int>(i) + 1;
      return true;
    }
    for (const std::string_view day : kWeekdays) {
      if (begins(day)) return true;
    }
  }
  if (w.size() < 3 || w.size() > 5 || out->hour < 0 || out->zone || out->unknown_zone) return false;
  for (const auto& zone : kZones) {
    if (w != zone.name) continue;
    out->zone = true;
    out->zone_min = zone.minutes;
    return true;
  }
  for (const char c : w) {
    if (c < 'A' || c > 'Z') return false;
  }
  out->unknown_zone = true;
  return true;
}

/// "+0800", "+08", "-03:30".
bool Offset(std::string_view w, Words* out) {
  if (w.size() < 3 || (w[0] != '+' && w[0] != '-') || out->hour < 0 || out->zone) return false;
  std::array<int, 4> digit{};
  size_t n = 0;
  for (size_t i = 1; i < w.size(); ++i) {
    if (w[i] == ':' && i == 3) continue;
    if (!Digit(w[i]) || n == digit.size()) return false;
    digit[n++] = w[i] - '0';
  }
  if (n != 2 && n != 4) return false;
  out->zone_min = (digit[0] * 10 + digit[1]) * 60 + digit[2] * 10 + digit[3];
  if (out->zone_min > 15 * 60) return false;
  if (w[0] == '-') out->zone_min = -out->zone_min;
  out->zone = true;
  return true;
}

/// A year or a day, "2026年", "01月", "02日", "星期五".
bool Numbered(std::string_view w, Words* out) {
  if (StartsWith(w, "星期") || StartsWith(w, "周")) return true;
  size_t digits = 0;
  while (digits < w.size() && Digit(w[digits])) ++digits;
  const int64_t n = WholeNumber(w.substr(0, digits));
  const std::string_view unit = w.substr(digits);
  if (n < 0 || digits > 4) return false;
  const auto set = [&](int* to, int64_t least, int64_t most) {
    if (*to >= 0 || n < least || n > most) return false;
    *to = static_cast<int>(n);
    return true;
  };
  if (unit.empty() ? digits == 4 : unit == "年") return set(&out->year, 1990, 2200);
  if (unit.empty() ? digits <= 2 : unit == "日") return set(&out->day, 1, 31);
  return unit == "月" && set(&out->month, 1, 12);
}

}  // namespace

bool PrintedTimes::ParseWords(std::string_view text, TimeMs* t) {
  Words words;
  std::string_view rest = text;
  int count = 0;
  while (true) {
    std::string_view w = TakeWord(&rest);
    if (w.empty()) break;
    if (++count > 9) return false;
    if (w.back() == ',') w.remove_suffix(1);
    if (w.empty() || w.size() > 20) return false;
    const bool known = Letters(w) ? Named(w, &words) : TimeOfDay(w, &words) || Offset(w, &words) || Numbered(w, &words);
    if (!known) return false;
  }
  if (!words.complete()) return false;
  if (words.half != 0) {
    if (words.hour < 1 || words.hour > 12) return false;
    words.hour = words.hour % 12 + (words.half == 2 ? 12 : 0);
  }
  CivilTime civil{words.year, words.month, words.day, words.hour, words.minute, 0, 0};
  const TimeMs minute = words.zone ? UtcFromCivil(civil) - words.zone_min * 60'000LL : context_.tz->FromLocal(civil);
  *t = Settle(minute + words.second * 1000 + words.ms, !words.zone);
  words_ = true;
  return true;
}

bool PrintedTimes::Parse(std::string_view text, TimeMs* t) {
  text = Trim(text);
  if (text.size() < 9 || text.size() > 60) return false;
  // Most lines that are asked about are no times at all: every notation has a digit in its last or first characters.
  TimeMs cell = 0;
  if (cells_.Parse(text, &cell)) {
    *t = Settle(cell, cells_.last() == kLocalNotation);
    return true;
  }
  return ParseWords(text, t);
}

bool PrintedTimes::Find(std::string_view line, TimeMs* t, std::string_view* before) {
  std::string_view rest = line;
  for (int skipped = 0; skipped < 4; ++skipped) {
    if (TakeWord(&rest).empty()) return false;
    // What follows the time (gpustat: the driver's version) is cut word by word.
    std::string_view candidate = Trim(rest);
    for (int cut = 0; cut < 3 && candidate.size() > 8; ++cut) {
      if (Parse(candidate, t)) {
        *before = Trim(line.substr(0, line.size() - rest.size()));
        return true;
      }
      const size_t blank = candidate.rfind(' ');
      candidate = blank == std::string_view::npos ? std::string_view() : Trim(candidate.substr(0, blank));
    }
  }
  return false;
}

bool PrintedTimes::TakePrefix(std::string_view* rest, TimeMs* t) {
  const std::string_view text = Trim(*rest);
  if (text.empty() || !Digit(text[0])) return false;
  std::string_view tail = text;
  TakeWord(&tail);
  for (int words = 1; words <= 2 && !Trim(tail).empty(); ++words) {
    const std::string_view head = text.substr(0, text.size() - tail.size());
    TimeMs cell = 0;
    // A number alone might be any reading: as an epoch it needs ten digits.
    if (head.size() >= 10 && cells_.Parse(head, &cell)) {
      *t = Settle(cell, cells_.last() == kLocalNotation);
      *rest = tail;
      return true;
    }
    TakeWord(&tail);
  }
  return false;
}

bool PrintedTimes::ParseDateAndTime(std::string_view date, std::string_view time, TimeMs* t) {
  Words words;
  if (!TimeOfDay(time, &words)) return false;
  if (date == date_ && words.hour * 60 + words.minute == date_minute_) {
    *t = Settle(minute_ms_ + words.second * 1000 + words.ms, true);
    return true;
  }
  char digits[8];
  size_t n = 0;
  for (const char c : date) {
    if (c == '/' || c == '-') continue;
    if (!Digit(c) || n == sizeof(digits)) return false;
    digits[n++] = c;
  }
  if (n != sizeof(digits)) return false;
  const auto two = [&](size_t i) { return (digits[i] - '0') * 10 + (digits[i + 1] - '0'); };
  CivilTime civil{two(0) * 100 + two(2), two(4), two(6), words.hour, words.minute, 0, 0};
  if (civil.year < 1990 || civil.month < 1 || civil.month > 12 || civil.day < 1 || civil.day > 31) return false;
  minute_ms_ = context_.tz->FromLocal(civil);
  date_.assign(date);
  date_minute_ = words.hour * 60 + words.minute;
  *t = Settle(minute_ms_ + words.second * 1000 + words.ms, true);
  compact_ = true;
  return true;
}

/// Local times of the hour that a zone passes twice: the second time round is told by time running back into it.
TimeMs PrintedTimes::Settle(TimeMs raw, bool local) {
  TimeMs t = raw;
  if (local) {
    ++zoneless_;
    if (shift_ != 0 && (raw >= shift_until_ || raw < shift_until_ - shift_)) shift_ = 0;
    if (shift_ == 0 && times_ > 0 && raw < last_raw_ - 10 * 60'000) {
      const int step_s = context_.tz->OffsetSeconds(raw) - context_.tz->OffsetSeconds(raw + 3'600'000);
      if (step_s > 0) {
        TimeMs low = raw, high = raw + 3'600'000;
        while (high - low > 1) {
          const TimeMs mid = low + (high - low) / 2;
          (context_.tz->OffsetSeconds(mid) == context_.tz->OffsetSeconds(raw) ? low : high) = mid;
        }
        shift_ = step_s * 1000LL;
        shift_until_ = high;
      }
    }
    t = raw + shift_;
  }
  if (times_ > 0 && t < last_ && back_++ == 0) first_back_ = t;
  last_raw_ = raw;
  last_ = t;
  ++times_;
  return t;
}

void PrintedTimes::Report(model::Recording* out, Explanation* explanation) const {
  explanation->time_format = DescribeNotation(cells_.seen());
  const auto add = [&](bool seen, const char* notation) {
    if (!seen) return;
    if (!explanation->time_format.empty()) explanation->time_format += ", ";
    explanation->time_format += notation;
  };
  add(words_, "Mon Jan  2 03:04:05 2026");
  add(compact_, "YYYYMMDD hh:mm:ss");
  const std::string& zone = context_.tz->name();
  explanation->zone =
      zoneless_ > 0 ? Tr(context_.lang, Msg::kIngestZoneAssumed, zone) : Tr(context_.lang, Msg::kIngestZoneInFile);
  if (zoneless_ > 0) {
    out->quality.Count(Odd::kZoneAssumed, context_.file + ": " + zone, zoneless_);
    out->notes.push_back(Tr(context_.lang, Msg::kIngestNoteZone, zone));
  }
  if (back_ > 0) {
    out->quality.Count(Odd::kTimeBackwards, context_.file + ": " + FormatRfc3339(first_back_), back_);
  }
}

}  // namespace sawbill::ingest
