// SPDX-License-Identifier: Apache-2.0
#include "app/when.h"

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::app {
namespace {

// A plain number this large is meant as Unix seconds; a smaller one is more likely a slip ("--from 2026").
constexpr double kLeastUnixSeconds = 1e8, kMostUnixSeconds = 1e11;
constexpr TimeMs kDayMs = 86'400'000;

std::optional<double> Percent(std::string_view value) {
  value = Trim(value);
  if (!EndsWith(value, "%")) return std::nullopt;
  const auto number = ParseDouble(value.substr(0, value.size() - 1));
  if (!number || *number < 0 || *number > 100) return std::nullopt;
  return *number / 100;
}

}  // namespace

Result<TimeMs> ParseInstant(const std::string& flag, const std::string& value, const TimeZone& tz, bool whole_day,
                            Lang lang) {
  const std::string_view text = Trim(value);
  if (const auto instant = ParseRfc3339(text)) return *instant;
  if (const auto civil = ParseCivil(text)) {
    const bool date_only = text.find(':') == std::string_view::npos;
    if (!date_only || !whole_day) return tz.FromLocal(*civil);
    // The next day's first instant: a day of a clock change has 23 or 25 hours.
    CivilTime next = CivilFromUtc(UtcFromCivil(*civil) + kDayMs);
    return tz.FromLocal(next);
  }
  if (const auto seconds = ParseDouble(text);
      seconds && *seconds >= kLeastUnixSeconds && *seconds <= kMostUnixSeconds) {
    return static_cast<TimeMs>(*seconds * 1000);
  }
  return Status::Invalid(Tr(lang, Msg::kAppBadTime, flag, value));
}

Result<TimeMs> ParseLast(const std::string& value, Lang lang) {
  const auto duration = ParseDuration(Trim(value));
  if (!duration || *duration <= 0) return Status::Invalid(Tr(lang, Msg::kAppBadDuration, "--last", value));
  return *duration;
}

Result<MinSaving> ParseMinSaving(const std::string& where, const std::string& value, Lang lang) {
  MinSaving out;
  if (const auto share = Percent(value)) {
    out.share = *share;
    return out;
  }
  const auto amount = ParseDouble(value);
  if (!amount || *amount < 0) return Status::Invalid(Tr(lang, Msg::kAppBadMinSaving, where, value));
  out.amount = *amount;
  return out;
}

Result<double> ParsePercent(const std::string& flag, const std::string& value, Lang lang) {
  const auto share = Percent(value);
  if (!share) return Status::Invalid(Tr(lang, Msg::kAppBadPercent, flag, value));
  return *share;
}

}  // namespace sawbill::app
