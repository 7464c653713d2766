// SPDX-License-Identifier: Apache-2.0
// Appends rows of one kind to its day files. Never truncates anything but a torn record of its own, never glues two
// records, never stops for a full disk. See day_writer.cc. THREAD: one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/status.h"
#include "base/time.h"
#include "store/csv_line.h"
#include "store/day_kinds.h"
#include "sys/file.h"

namespace sawbill::store {

struct DayWriterOptions {
  TimeZone tz = TimeZone::Utc();       // of the local days in file names
  size_t max_pending_bytes = 2 << 20;  // rows kept while the disk is full: three quarters of an hour of 8 cards
};

class DayWriter {
 public:
  DayWriter(sys::FileSystem* fs, std::string dir, DayKind kind, DayWriterOptions options)
      : fs_(fs), dir_(std::move(dir)), kind_(kind), options_(std::move(options)) {}

  /// Takes a row for writing. kInvalid when its number of cells is not the kind's. The oldest rows are dropped, and
  /// counted, when the memory for rows that could not be written is full.
  Status Append(TimeMs t, const RowText& row);
  /// Writes what was taken. On an error all that was not written is kept and tried again by the next call; no half
  /// record stays in a file.
  Status Flush();
  Status Sync();
  /// The wall clock was set: the next row gets a header line before it, which tells readers where (clock_fix.cc).
  void MarkClockStep() { step_ = true; }

  bool paused() const { return paused_; }  // the last Flush failed
  size_t pending_rows() const { return pending_.size(); }
  int64_t dropped_rows() const { return dropped_rows_; }
  int64_t torn_records() const { return torn_records_; }  // cut away, left by a crash
  DayKind kind() const { return kind_; }

 private:
  struct Row {
    std::string day, text;  // text with its '\n'
    bool step = false;
  };
  const std::string& DayOf(TimeMs t);
  Status OpenDay(const std::string& day);
  Status WriteRows(const std::string& day, size_t count);

  sys::FileSystem* fs_;
  std::string dir_;
  DayKind kind_;
  DayWriterOptions options_;
  std::deque<Row> pending_;
  size_t pending_bytes_ = 0;
  std::unique_ptr<sys::AppendFile> file_;
  std::string file_day_;
  int64_t sound_size_ = 0;    // of file_, up to the last whole record
  bool header_ours_ = false;  // the header in effect at the end of file_ is Columns(kind_)
  bool step_ = false, paused_ = false;
  int64_t dropped_rows_ = 0, torn_records_ = 0;
  std::string day_;  // the local day [day_from_, day_to_)
  TimeMs day_from_ = 0, day_to_ = 0;
};

}  // namespace sawbill::store
