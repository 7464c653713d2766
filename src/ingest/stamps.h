// SPDX-License-Identifier: Apache-2.0
// Times that stand outside of what was logged: in front of every line (`| ts`), or in a line of their own between the
// samples (`echo "=== $(date -u +%FT%TZ) ==="`, `date`, `watch`). The text is rewritten so that each reader finds them
// where it looks for times: readers know nothing of stamps.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/time.h"

namespace sawbill::ingest {

struct Stamped {
  std::string text;
  std::string first;          // the first stamp, as it stands; "" = stamps were taken off, the text has its own times
  bool between = false;       // in lines between the samples
  int year = 0;               // assumed for the last stamp; 0 = the stamps carry theirs
  bool year_unknown = false;  // stamps without a year, and nothing to take it from: the text must not be read
  Status damage;              // of the packed bytes
};

/// Nothing where no stamps are found in `sample` (the beginning of `bytes`, unpacked), or where the reader of what they
/// stand with takes them itself. The year that a stamp does not carry is the latest with which the last one is not
/// after `modified_ms` (0 = not known).
std::optional<Stamped> TakeStampsIn(std::string_view sample, std::string_view bytes, TimeMs modified_ms);

}  // namespace sawbill::ingest
