// SPDX-License-Identifier: Apache-2.0
#include "base/time.h"

// The system's library is built so; a caller that is not would not match it.
#ifndef USE_OS_TZDB
#define USE_OS_TZDB 1
#endif
#ifndef ONLY_C_LOCALE
#define ONLY_C_LOCALE 1
#endif
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>

#include "base/messages.h"
#include "base/numbers.h"
#include "base/text.h"
#include "base/zone_file.h"

namespace sawbill {
namespace {

constexpr int64_t kMsPerDay = 86'400'000;

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Exactly `n` digits from the front of `s`, which then starts after them.
std::optional<int> TakeDigits(std::string_view* s, size_t n) {
  if (s->size() < n) return std::nullopt;
  int v = 0;
  for (size_t i = 0; i < n; ++i) {
    if (!IsDigit((*s)[i])) return std::nullopt;
    v = v * 10 + ((*s)[i] - '0');
  }
  s->remove_prefix(n);
  return v;
}

bool TakeChar(std::string_view* s, char c) {
  if (s->empty() || s->front() != c) return false;
  s->remove_prefix(1);
  return true;
}

int DaysInMonth(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

bool TakeDate(std::string_view* s, CivilTime* c) {
  const std::optional<int> year = TakeDigits(s, 4);
  if (!year || s->empty() || (s->front() != '-' && s->front() != '/')) return false;
  const char sep = s->front();
  s->remove_prefix(1);
  const std::optional<int> month = TakeDigits(s, 2);
  if (!month || *month < 1 || *month > 12 || !TakeChar(s, sep)) return false;
  const std::optional<int> day = TakeDigits(s, 2);
  if (!day || *day < 1 || *day > DaysInMonth(*year, *month)) return false;
  if (!s->empty() && IsDigit(s->front())) return false;
  c->year = *year;
  c->month = *month;
  c->day = *day;
  return true;
}

enum class Taken { kAbsent, kYes, kBad };

/// hh:mm[:ss[.fraction]]. kAbsent where `s` does not even begin like a time; then nothing was taken.
Taken TakeTimeOfDay(std::string_view* s, CivilTime* c) {
  std::string_view p = *s;
  const std::optional<int> hour = TakeDigits(&p, 2);
  if (!hour || !TakeChar(&p, ':')) return Taken::kAbsent;
  const std::optional<int> minute = TakeDigits(&p, 2);
  if (!minute || *hour > 23 || *minute > 59) return Taken::kBad;
  c->hour = *hour;
  c->minute = *minute;
  if (TakeChar(&p, ':')) {
    const std::optional<int> second = TakeDigits(&p, 2);
    if (!second || *second > 60) return Taken::kBad;  // 60: a leap second, which becomes the next minute's first
    c->second = *second;
    if (TakeChar(&p, '.')) {
      if (p.empty() || !IsDigit(p.front())) return Taken::kBad;
      for (int scale = 100; !p.empty() && IsDigit(p.front()); scale /= 10, p.remove_prefix(1)) {
        c->millisecond += (p.front() - '0') * scale;
      }
    }
  }
  if (!p.empty() && IsDigit(p.front())) return Taken::kBad;
  *s = p;
  return Taken::kYes;
}

bool TakeCivil(std::string_view* s, CivilTime* c, bool* has_time) {
  *has_time = false;
  if (!TakeDate(s, c)) return false;
  if (s->empty() || (s->front() != ' ' && s->front() != 'T' && s->front() != 't')) return true;
  std::string_view after = s->substr(1);
  switch (TakeTimeOfDay(&after, c)) {
    case Taken::kBad:
      return false;
    case Taken::kAbsent:
      return true;
    case Taken::kYes:
      break;
  }
  *has_time = true;
  *s = after;
  return true;
}

/// "Z", "+08:00", "+0800" or "+08", all of `s`, as seconds east of UTC.
std::optional<int> ParseOffset(std::string_view s) {
  if (s == "Z" || s == "z") return 0;
  if (s.empty() || (s.front() != '+' && s.front() != '-')) return std::nullopt;
  const int sign = s.front() == '-' ? -1 : 1;
  s.remove_prefix(1);
  const std::optional<int> hours = TakeDigits(&s, 2);
  if (!hours || *hours > 23) return std::nullopt;
  if (s.empty()) return sign * *hours * 3600;
  TakeChar(&s, ':');
  const std::optional<int> minutes = TakeDigits(&s, 2);
  if (!minutes || *minutes > 59 || !s.empty()) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

/// The part of POSIX TZ without daylight saving: "CST-8", "<+0530>-5:30". POSIX counts west of UTC as positive.
std::optional<int> ParsePosixTz(std::string_view s) {
  if (TakeChar(&s, '<')) {
    const size_t end = s.find('>');
    if (end == std::string_view::npos) return std::nullopt;
    s.remove_prefix(end + 1);
  } else {
    size_t letters = 0;
    while (letters < s.size() && IsLetter(s[letters])) ++letters;
    if (letters < 3) return std::nullopt;
    s.remove_prefix(letters);
  }
  int sign = -1;
  if (TakeChar(&s, '-')) {
    sign = 1;
  } else {
    TakeChar(&s, '+');
  }
  const size_t digits = s.size() >= 2 && IsDigit(s[1]) ? 2 : 1;
  const std::optional<int> hours = TakeDigits(&s, digits);
  if (!hours || *hours > 23) return std::nullopt;
  int minutes = 0;
  if (TakeChar(&s, ':')) {
    const std::optional<int> m = TakeDigits(&s, 2);
    if (!m || *m > 59) return std::nullopt;
    minutes = *m;
  }
  if (!s.empty()) return std::nullopt;
  return sign * (*hours * 3600 + minutes * 60);
}

/// The stretch of constant offset that was asked for last, a thread each: readings come in order of time.
struct CachedOffset {
  const void* zone = nullptr;
  int64_t begin_s = 0, end_s = 0;
  int offset_s = 0;
};

}  // namespace

int64_t DaysFromCivil(int year, int month, int day) {
  const int64_t y = static_cast<int64_t>(year) - (month <= 2 ? 1 : 0);
  const int64_t era = FloorDiv(y, 400);
  const int64_t year_of_era = y - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

CivilTime CivilFromUtc(TimeMs t) {
  const int64_t days = FloorDiv(t, kMsPerDay);
  const int64_t ms = t % kMsPerDay + (t % kMsPerDay < 0 ? kMsPerDay : 0);
  const int64_t z = days + 719'468;
  const int64_t era = FloorDiv(z, 146'097);
  const int64_t doe = z - era * 146'097;
  const int64_t yoe = (doe - doe / 1460 + doe / 36'524 - doe / 146'096) / 365;
  const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const int64_t mp = (5 * doy + 2) / 153;
  CivilTime c;
  c.day = static_cast<int>(doy - (153 * mp + 2) / 5 + 1);
  c.month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  c.year = static_cast<int>(yoe + era * 400 + (c.month <= 2 ? 1 : 0));
  c.hour = static_cast<int>(ms / 3'600'000);
  c.minute = static_cast<int>(ms / 60'000 % 60);
  c.second = static_cast<int>(ms / 1000 % 60);
  c.millisecond = static_cast<int>(ms % 1000);
  return c;
}

TimeMs UtcFromCivil(const CivilTime& c) {
  return DaysFromCivil(c.year, c.month, c.day) * kMsPerDay + c.hour * 3'600'000LL + c.minute * 60'000LL +
         c.second * 1000LL + c.millisecond;
}

std::string FormatRfc3339(TimeMs t) {
  const CivilTime c = CivilFromUtc(t);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", c.year, c.month, c.day, c.hour, c.minute, c.second,
                     c.millisecond);
}

std::optional<TimeMs> ParseRfc3339(std::string_view s) {
  s = Trim(s);
  CivilTime c;
  bool has_time = false;
  if (!TakeCivil(&s, &c, &has_time) || !has_time) return std::nullopt;
  const std::optional<int> offset = ParseOffset(s);
  if (!offset) return std::nullopt;
  return UtcFromCivil(c) - 1000LL * *offset;
}

std::optional<CivilTime> ParseCivil(std::string_view s, std::string_view* rest) {
  CivilTime c;
  bool has_time = false;
  if (!TakeCivil(&s, &c, &has_time)) return std::nullopt;
  if (rest != nullptr) {
    *rest = s;
  } else if (!s.empty()) {
    return std::nullopt;
  }
  return c;
}

std::optional<TimeMs> ParseDuration(std::string_view s) {
  std::string_view unit;
  const std::optional<double> number = ParseDoublePrefix(s, &unit);
  if (!number || *number < 0) return std::nullopt;
  unit = Trim(unit);
  double ms_each = 0;
  if (unit == "ms") {
    ms_each = 1;
  } else if (unit.empty() || unit == "s") {
    ms_each = 1000;
  } else if (unit == "m" || unit == "min") {
    ms_each = 60'000;
  } else if (unit == "h") {
    ms_each = 3'600'000;
  } else if (unit == "d") {
    ms_each = static_cast<double>(kMsPerDay);
  } else if (unit == "w") {
    ms_each = 7.0 * static_cast<double>(kMsPerDay);
  } else {
    return std::nullopt;
  }
  const double ms = *number * ms_each;
  if (ms > 9e15) return std::nullopt;  // 285 thousand years; beyond it a double no longer holds whole milliseconds
  return static_cast<TimeMs>(std::llround(ms));
}

namespace {

/// How the units of a duration are written.
struct DurationUnits {
  const char *ms, *s, *min, *h, *d;
};
constexpr DurationUnits kDurationEn{" ms", " s", " min", " h", " d"};
constexpr DurationUnits kDurationZh{" 毫秒", " 秒", " 分", " 小时", " 天"};

/// "2 h 05 min"; without the second part where it is 0.
std::string TwoUnits(int64_t large, const char* large_unit, int64_t small, const char* small_unit, int small_width) {
  if (small == 0) return fmt::format("{}{}", large, large_unit);
  return fmt::format("{}{} {:0{}}{}", large, large_unit, small, small_width, small_unit);
}

std::string PositiveDuration(double seconds, const DurationUnits& u) {
  const int64_t ms = std::llround(seconds * 1000);
  if (ms == 0) return fmt::format("0{}", u.s);
  if (ms < 1000) return fmt::format("{}{}", ms, u.ms);
  const int64_t tenths = (ms + 50) / 100;
  if (tenths < 100 && tenths % 10 != 0) return fmt::format("{}.{}{}", tenths / 10, tenths % 10, u.s);
  const int64_t s = (ms + 500) / 1000;
  if (s < 60) return fmt::format("{}{}", s, u.s);
  if (s < 3600) return TwoUnits(s / 60, s % 60 == 0 && &u == &kDurationZh ? " 分钟" : u.min, s % 60, u.s, 2);
  const int64_t min = (s + 30) / 60;
  if (min < 24 * 60) return TwoUnits(min / 60, u.h, min % 60, u.min, 2);
  const int64_t h = (s + 1800) / 3600;
  return TwoUnits(h / 24, u.d, h % 24, u.h, 1);
}

}  // namespace

std::string FormatDuration(double seconds, Lang lang) {
  if (std::isnan(seconds)) return "—";
  const DurationUnits& units = lang == Lang::kZh ? kDurationZh : kDurationEn;
  if (std::fabs(seconds) > 9e15) return seconds < 0 ? "-∞" : "∞";
  const bool zero = std::llround(std::fabs(seconds) * 1000) == 0;
  return (seconds < 0 && !zero ? "-" : "") + PositiveDuration(std::fabs(seconds), units);
}

TimeZone TimeZone::Utc() { return {}; }

/// Names under which the tz database lists UTC; a machine without a zone of its own calls it Etc/UTC.
static bool IsUtcAlias(std::string_view name) {
  for (const std::string_view alias :
       {"UTC", "Etc/UTC", "UCT", "Etc/UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal"}) {
    if (name == alias) return true;
  }
  return false;
}

std::optional<TimeZone> TimeZone::Load(const std::string& name) {
  TimeZone tz;
  if (name == "Z" || IsUtcAlias(name)) return tz;
  if (name.empty() || name == "local") {
    // As the C library has it: $TZ rules if it is set, and one that cannot be understood means UTC.
    if (const char* env = std::getenv("TZ"); env != nullptr && *env != '\0') {
      std::string_view v = env;
      TakeChar(&v, ':');
      if (const size_t dir = v.find("zoneinfo/"); StartsWith(v, "/") && dir != std::string_view::npos) {
        v.remove_prefix(dir + 9);
      }
      if (!v.empty() && v != "local") {
        if (std::optional<TimeZone> named = Load(std::string(v))) return named;
      }
      if (const std::optional<int> offset = ParsePosixTz(v)) {
        tz.name_ = v;
        tz.fixed_offset_s_ = *offset;
      }
      return tz;
    }
    std::string own;
    if (const ZoneFile* zone = ZoneFile::Current(&own); zone != nullptr && !IsUtcAlias(own)) {
      tz.name_ = own;
      tz.zone_ = zone;
    }
    return tz;
  }
  if (name.front() == '+' || name.front() == '-') {
    const std::optional<int> offset = ParseOffset(name);
    if (!offset) return std::nullopt;
    tz.name_ = name;
    tz.fixed_offset_s_ = *offset;
    return tz;
  }
  const ZoneFile* zone = ZoneFile::Locate(name);
  if (zone == nullptr) return std::nullopt;
  tz.name_ = name;
  tz.zone_ = zone;
  return tz;
}

int TimeZone::OffsetSeconds(TimeMs t) const {
  if (zone_ == nullptr) return fixed_offset_s_;
  static thread_local CachedOffset cache;
  const int64_t s = FloorDiv(t, 1000);
  if (cache.zone == zone_ && s >= cache.begin_s && s < cache.end_s) return cache.offset_s;
  const ZoneStretch stretch = zone_->At(s);
  cache = {zone_, stretch.begin_s, stretch.end_s, stretch.offset_s};
  return cache.offset_s;
}

TimeMs TimeZone::FromLocal(const CivilTime& c) const {
  const TimeMs as_utc = UtcFromCivil(c);
  if (zone_ == nullptr) return as_utc - 1000LL * fixed_offset_s_;
  const int64_t whole_s = FloorDiv(as_utc, 1000);
  const int64_t milliseconds = as_utc - 1000 * whole_s;
  const int64_t utc_s = zone_->FromLocal(whole_s);
  const bool gap = utc_s != whole_s - zone_->At(utc_s).offset_s;
  return 1000 * utc_s + (gap ? 0 : milliseconds);
}

std::string TimeZone::LocalDay(TimeMs t) const {
  const CivilTime c = ToLocal(t);
  return fmt::format("{:04}-{:02}-{:02}", c.year, c.month, c.day);
}

}  // namespace sawbill
