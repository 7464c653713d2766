// SPDX-License-Identifier: Apache-2.0
#include "ingest/printed_time.h"

#include <cstdlib>

#include "base/text.h"
#include "ingest/stamp_forms.h"
#include "ingest/words.h"

namespace sawbill::ingest {
namespace {
using model::Odd;

constexpr TimeMs kDayMs = 86'400'000, kQuarterMs = 15 * 60'000;

bool Digit(char c) { return c >= '0' && c <= '9'; }

/// A time of day to the millisecond.
struct DayTime {
  int hour = 0, minute = 0, second = 0, ms = 0;
};

/// "hh:mm:ss" or "hh:mm:ss.123456".
bool ReadDayTime(std::string_view w, DayTime* out) {
  if (w.size() < 8 || w.size() > 18 || w[2] != ':' || w[5] != ':') return false;
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

}  // namespace

bool PrintedTimes::Parse(std::string_view text, TimeMs* t) {
  text = Trim(text);
  if (text.size() < 9 || text.size() > 60) return false;
  TimeMs cell = 0;
  if (!cells_.Parse(text, &cell)) return false;
  *t = Settle(cell, cells_.last_is_local());
  return true;
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
      *t = Settle(cell, cells_.last_is_local());
      *rest = tail;
      return true;
    }
    TakeWord(&tail);
  }
  return false;
}

bool PrintedTimes::ParseDateAndTime(std::string_view date, std::string_view time, TimeMs* t) {
  DayTime of_day;
  if (!ReadDayTime(time, &of_day)) return false;
  if (date == date_ && of_day.hour * 60 + of_day.minute == date_minute_) {
    *t = Settle(minute_ms_ + of_day.second * 1000 + of_day.ms, true);
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
  CivilTime civil{two(0) * 100 + two(2), two(4), two(6), of_day.hour, of_day.minute, 0, 0};
  if (civil.year < 1990 || civil.month < 1 || civil.month > 12 || civil.day < 1 || civil.day > 31) return false;
  minute_ms_ = context_.tz->FromLocal(civil);
  date_.assign(date);
  date_minute_ = of_day.hour * 60 + of_day.minute;
  *t = Settle(minute_ms_ + of_day.second * 1000 + of_day.ms, true);
  compact_ = true;
  return true;
}

bool PrintedTimes::TakeDay(std::string_view line) {
  TimeMs t = 0;
  const std::string_view text = TimeLine(Trim(line), &cells_);
  if (text.empty() || !cells_.Parse(text, &t)) return false;
  day_ = {};
  day_.told = day_.fresh = true;
  const auto words = ReadTimeWords(text, context_.dates.order);
  // A zone of many meanings is the machine's own, as --tz is; so is the clock of what counts seconds from 1970.
  day_.zone = words ? words->zone : !cells_.last_is_local() && (cells_.last() & kEpochNotations) == 0;
  day_.offset = !day_.zone ? context_.tz->OffsetSeconds(t) * 1000LL : words ? words->zone_min * 60'000LL : 0;
  day_.date = CivilFromUtc(t + day_.offset);
  day_.last = (t + day_.offset) % kDayMs;
  return true;
}

bool PrintedTimes::ParseTimeOfDay(std::string_view time, TimeMs* t) {
  DayTime of_day;
  if (!ReadDayTime(time, &of_day)) return false;
  const TimeMs at = (of_day.hour * 60 + of_day.minute) * 60'000LL + of_day.second * 1000 + of_day.ms;
  if (day_.fresh && day_.zone) {
    // `date -u` beside a local clock: the first row follows at once, but for whole quarters of an hour, which are the
    // zone that the rows are in.
    TimeMs ahead = at - day_.last;
    if (ahead < -kDayMs / 2) ahead += kDayMs;
    if (ahead > kDayMs / 2) ahead -= kDayMs;
    const TimeMs quarters = (ahead + (ahead < 0 ? -kQuarterMs / 2 : kQuarterMs / 2)) / kQuarterMs * kQuarterMs;
    if (quarters != 0 && std::abs(ahead - quarters) <= 60'000) {
      day_.offset += quarters;
      const TimeMs local = UtcFromCivil(day_.date) / kDayMs * kDayMs + day_.last + quarters;
      day_.date = CivilFromUtc(local);
      day_.last = ((local % kDayMs) + kDayMs) % kDayMs;
    }
  }
  day_.fresh = false;
  TimeMs midnight = UtcFromCivil(day_.date) / kDayMs * kDayMs;
  if (at < day_.last - kDayMs / 2) midnight += kDayMs;
  day_.last = at;
  CivilTime civil = CivilFromUtc(midnight + at);
  day_.date = civil;
  civil.second = civil.millisecond = 0;
  const TimeMs minute = day_.zone ? UtcFromCivil(civil) - day_.offset : context_.tz->FromLocal(civil);
  *t = Settle(minute + of_day.second * 1000 + of_day.ms, !day_.zone);
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
  explanation->time_format = DescribeNotation(cells_.seen(), context_.dates.order);
  if (compact_) {
    if (!explanation->time_format.empty()) explanation->time_format += ", ";
    explanation->time_format += "YYYYMMDD hh:mm:ss";
  }
  const std::string& zone = context_.tz->name();
  explanation->zone =
      zoneless_ > 0 ? Tr(context_.lang, Msg::kIngestZoneAssumed, zone) : Tr(context_.lang, Msg::kIngestZoneInFile);
  if (zoneless_ > 0) {
    out->quality.Count(Odd::kZoneAssumed, context_.file + ": " + zone, zoneless_);
  }
  SeenTimes seen = cells_.seen();
  seen.local = zoneless_ > 0;
  NoteTimes(seen, context_, out);
  if (back_ > 0) {
    out->quality.Count(Odd::kTimeBackwards, context_.file + ": " + FormatRfc3339(first_back_), back_);
  }
}

void NoteTimes(const SeenTimes& seen, const ReadContext& context, model::Recording* out) {
  const Lang lang = context.lang;
  if (seen.local && !seen.odd_zone.empty()) {
    out->notes.push_back(Tr(lang, Msg::kIngestNoteZoneName, seen.odd_zone, context.tz->name()));
  } else if (seen.local) {
    out->notes.push_back(Tr(lang, Msg::kIngestNoteZone, context.tz->name()));
  }
  const DatesTold& dates = context.dates;
  if ((seen.notations & kNumbersNotation) != 0 && dates.order != DateOrder::kUntold) {
    const bool day_first = dates.order == DateOrder::kDayMonth;
    const bool grows = dates.number.empty();
    const std::string why =
        grows ? Tr(lang, Msg::kIngestOrderGrows, dates.sample) : Tr(lang, Msg::kIngestOrderAbove12, dates.number);
    out->notes.push_back(Tr(lang, Msg::kIngestNoteDateOrder, grows ? dates.first : dates.sample,
                            Tr(lang, day_first ? Msg::kIngestDayMonth : Msg::kIngestMonthDay), why));
  }
  if (!seen.point_date.empty()) {
    out->notes.push_back(Tr(lang, Msg::kIngestNoteDateOrder, Sanitize(seen.point_date), Tr(lang, Msg::kIngestDayMonth),
                            Tr(lang, Msg::kIngestOrderPoint)));
  }
}

}  // namespace sawbill::ingest
