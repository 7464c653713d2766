// SPDX-License-Identifier: Apache-2.0
// Time is an argument here, never read from a clock. An instant is a count of milliseconds since the Unix epoch, UTC:
// three decimals are what day files carry, and 64-bit integers add up exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sawbill {

class ZoneFile;
enum class Lang;  // base/messages.h
using TimeMs = int64_t;

inline double Seconds(TimeMs ms) { return static_cast<double>(ms) / 1000.0; }

/// A civil date and time of day without a zone.
struct CivilTime {
  int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0, millisecond = 0;
};

/// Days since 1970-01-01 of a proleptic Gregorian date (Howard Hinnant's days_from_civil).
int64_t DaysFromCivil(int year, int month, int day);
/// The civil time of `t` taken as UTC.
CivilTime CivilFromUtc(TimeMs t);
/// The instant of `c` taken as UTC.
TimeMs UtcFromCivil(const CivilTime& c);
/// "2026-03-14T09:26:53.589Z".
std::string FormatRfc3339(TimeMs t);
/// Reads RFC 3339 / ISO 8601 with an offset or Z ("2025-09-24T03:41:43.487Z", "2025-09-08T17:26:50+08:00").
std::optional<TimeMs> ParseRfc3339(std::string_view s);
/// Reads "YYYY-MM-DD" or "YYYY/MM/DD", then optionally ' ' or 'T' and hh:mm[:ss[.fraction]], without a zone.
/// `rest` (if given) receives what follows; without `rest` nothing may follow.
std::optional<CivilTime> ParseCivil(std::string_view s, std::string_view* rest = nullptr);
/// Reads "90s", "15m", "1h", "7d", "250ms"; a plain number is seconds. Units: ms s m (or min) h d w.
std::optional<TimeMs> ParseDuration(std::string_view s);
/// "45 s", "3 min 20 s", "2 h 05 min", "3 d 4 h"; in Chinese "45 秒", "3 分 20 秒", "2 小时 05 分", "3 天 4 小时". "—"
/// for a missing number.
std::string FormatDuration(double seconds, Lang lang);

/// A time zone by IANA name, or the fixed offset of "+08:00"; "UTC"; "" or "local" = the system's.
/// Loading needs the system's tzdata; an unknown name gives no zone. Conversions follow the zone's rules (DST).
class TimeZone {
 public:
  static std::optional<TimeZone> Load(const std::string& name);
  static TimeZone Utc();
  /// Seconds to add to UTC to get local time at `t`.
  int OffsetSeconds(TimeMs t) const;
  /// The instant of a local civil time; in a DST overlap the earlier one, in a gap the instant after it.
  TimeMs FromLocal(const CivilTime& c) const;
  CivilTime ToLocal(TimeMs t) const { return CivilFromUtc(t + 1000LL * OffsetSeconds(t)); }
  /// "YYYY-MM-DD" of the local day that holds `t`.
  std::string LocalDay(TimeMs t) const;
  const std::string& name() const { return name_; }

 private:
  std::string name_ = "UTC";
  const ZoneFile* zone_ = nullptr;  // there for the life of the process
  int fixed_offset_s_ = 0;
};

}  // namespace sawbill
