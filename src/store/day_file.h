// SPDX-License-Identifier: Apache-2.0
// One day file on disk: which time it holds, and its lines within a window into a DayTable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/data_quality.h"
#include "store/clock_fix.h"
#include "store/day_kinds.h"
#include "store/day_table.h"
#include "sys/file.h"

namespace sawbill::store {

struct DayFile {
  DayKind kind = DayKind::kGpu;
  size_t node = 0;
  std::string path;
  std::string name;  // for people: relative to the folder
  std::string day;
  bool compressed = false;
  int64_t size_bytes = 0;
  int64_t text_bytes = 0;  // estimated where compressed
  double row_bytes = 0;    // mean of the rows that were looked at; 0 = none were
  bool has_rows = false;
  TimeMs first = 0, last = 0;      // of its rows, free of clock steps
  bool sorted = false;             // plain, times at the line's start and never running back: offsets by bisection
  bool last_assumed = false;       // a large compressed file, not read to its end: `last` is a day after `first`
  std::vector<std::string> cards;  // gpu cells seen (all of them where the whole file was looked through)
};

/// Bisection may be this far off, and the sample before a window is looked for this far back at first.
inline constexpr TimeMs kSlackMs = 600'000;
/// No local day is longer.
inline constexpr TimeMs kLongestDayMs = 26LL * 3600 * 1000;

/// Fills `first`, `last`, `sorted` and `cards`. `whole`: look through all of it, whatever it takes.
Status FindTimes(sys::FileSystem* fs, const ClockFix& clock, bool whole, DayFile* file);

struct ReadRange {
  TimeMs from = 0, to = 0;  // all lines whose times can lie in [from, to] are fed, and more
  int part = 0, parts = 1;  // of the bytes in that range, for several threads; a compressed file is all in part 0
};
Status ReadDayFile(sys::FileSystem* fs, const DayFile& file, ReadRange range, model::DataQuality* quality,
                   DayTable* table);

/// The time at `fraction` of the bytes of a sorted file.
std::optional<TimeMs> TimeAtFraction(sys::FileSystem* fs, const DayFile& file, double fraction);

enum class Copies { kSame, kFirstIsLonger, kSecondIsLonger, kDiffer };
/// Compares what two files hold once decompressed.
Result<Copies> CompareFiles(sys::FileSystem* fs, const std::string& first, const std::string& second);

}  // namespace sawbill::store
