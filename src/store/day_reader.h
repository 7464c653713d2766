// SPDX-License-Identifier: Apache-2.0
// Reads a folder of Sawbill's own day files (docs/formats/day-files.md) as a model::TelemetrySource, piece by piece, so
// that memory does not grow with the number of days. Times in recordings are free of clock steps (see clock_fix.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/messages.h"
#include "base/status.h"
#include "base/time.h"
#include "model/recording.h"
#include "sys/file.h"

namespace sawbill::store {

/// A day of 8 cards at 1 Hz (691,200 rows, 64 to 88 MB of text) stays one piece, and needs 45 to 65 MB in memory.
inline constexpr int64_t kDefaultPieceBytes = 96'000'000;

struct DataFolderOptions {
  std::optional<TimeMs> from, to;                // only samples in (from, to]; absent = all there are
  TimeZone tz = TimeZone::Utc();                 // of the local days: where pieces are cut; never changes what is read
  int64_t max_piece_bytes = kDefaultPieceBytes;  // uncompressed text of gpu and process files in a piece
  int piece_threads = 1;          // of one Read(), for a large plain gpu file; 1 where there are more pieces
  bool only_this_folder = false;  // leave out the node folders in `dir`
  /// Readings that nobody is going to ask for: they are looked at and counted as all are, and not kept.
  model::GpuMetricSet unread = 0;
  Lang lang = Lang::kEn;  // of what is said to a person
};

/// `dir` holds `<kind>-YYYY-MM-DD.csv[.gz|.zst]`, and for several nodes `<node>/<kind>-...`.
///
/// Pieces: whole days joined while they stay under `max_piece_bytes`; a larger day is cut by time. A piece holds all
/// nodes and the samples in (from, to] of `pieces()[i]`. So that no time is lost between pieces, each card's and host's
/// track begins with the one sample AT OR BEFORE `from` where there is one (looked for up to 26 h back): it carries the
/// end of the time before and speaks for none of its own, as Cover() has it (dt 0 for the first). Do not count it as a
/// sample of the piece; do not count it twice when pieces are joined. A card without a row in (from, to] has no
/// track there; one whose rows are all without a reading has an empty one: it was there, and nothing is known of it.
/// The first sample of all is `period().from`. Runs: rows up to `to` of runs that had not ended before `from`, and the
/// end of each of these.
///
/// The folder of a run whose samples a recorder wrote (file SAMPLES) shows the run's part of them.
///
/// Errors: kNotFound (no such folder, no day files in it), kIo. Odd data is counted in Recording::quality; what was odd
/// about the folder as a whole is counted in piece 0.
Result<std::unique_ptr<model::TelemetrySource>> OpenDataFolder(sys::FileSystem* fs, const std::string& dir,
                                                               const DataFolderOptions& options);

/// True when `dir` itself, or a folder in it, holds a day file.
bool IsDataFolder(sys::FileSystem* fs, const std::string& dir);

}  // namespace sawbill::store
