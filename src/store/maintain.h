// SPDX-License-Identifier: Apache-2.0
// Housekeeping of a data folder: minute rollups and compression of closed days, retention. Time is an argument; every
// step may be cut short by a crash and is completed by the next call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "sys/file.h"

namespace sawbill::store {

struct MaintainOptions {
  TimeZone tz = TimeZone::Utc();
  bool minutes = true;
  bool compress = true;
  int compression_level = 9;
  TimeMs grace_ms = 2LL * 3600 * 1000;  // a day is closed this long after its end: late rows, a clock set back a little
  std::optional<int64_t> keep_days;     // days of gpu, host, process and step files kept, today among them
  std::optional<int64_t> keep_summary_days;  // the same for minute, run and event files
  std::optional<int64_t> max_total_bytes;    // of all day files; the oldest day goes first, never the current one
};

struct MaintainReport {
  std::vector<std::string> minutes_written, compressed, removed;  // file names, relative to the folder
  std::vector<std::string> problems;                              // what could not be done, and why; the rest was done
  std::string network_file_system;                                // "nfs", ... or ""
  int64_t total_bytes = 0;                                        // of the day files that remain
};

/// `dir` and the node folders in it. Rollups of a day of 8 cards need about 70 MB for a moment: not for the recorder's
/// own process, which is to stay small. Errors: kNotFound, kIo when the folder cannot be listed.
Result<MaintainReport> Maintain(sys::FileSystem* fs, const std::string& dir, TimeMs now,
                                const MaintainOptions& options);

}  // namespace sawbill::store
