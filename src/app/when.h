// SPDX-License-Identifier: Apache-2.0
// What people write for times, shares and amounts on the command line. Pure; messages in the user's language.
#pragma once

#include <optional>
#include <string>

#include "base/messages.h"
#include "base/status.h"
#include "base/time.h"

namespace sawbill::app {

/// "2026-03-01", "2026-03-01 14:00", "2026-03-01T14:00:00+08:00", Unix seconds. Without an offset: in `tz`. A date
/// alone is its first instant, with `whole_day` its last (so `--from 2026-03-01 --to 2026-03-31` is all of March).
Result<TimeMs> ParseInstant(const std::string& flag, const std::string& value, const TimeZone& tz, bool whole_day,
                            Lang lang);
/// "7d", "90m", "1h": more than nothing.
Result<TimeMs> ParseLast(const std::string& value, Lang lang);

struct MinSaving {
  double share = 0.02;           // of the bill
  std::optional<double> amount;  // instead
};
/// "2%" is a share, "5" an amount.
Result<MinSaving> ParseMinSaving(const std::string& where, const std::string& value, Lang lang);
/// "20%" -> 0.2. The sign is required: "20" might be meant as an amount, "0.2" as a share.
Result<double> ParsePercent(const std::string& flag, const std::string& value, Lang lang);

}  // namespace sawbill::app
