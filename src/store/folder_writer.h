// SPDX-License-Identifier: Apache-2.0
// The recorder's hold on a data folder: one writer at a time, a tick at a time, all kinds of day files.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/recording.h"
#include "store/clock_fix.h"
#include "store/day_rows.h"
#include "store/day_writer.h"
#include "sys/file.h"

namespace sawbill::store {

struct FolderWriterOptions {
  DayWriterOptions days;
  bool start_and_stop_events = true;
  bool exact = false;  // readings with every digit that they have (RowText::set_exact)
};

/// Usage: Open; then for each tick BeginTick, any number of rows, EndTick; Close. THREAD: one at a time.
class FolderWriter {
 public:
  /// Makes `dir` where needed and locks it. kUnavailable when another recorder has it.
  static Result<std::unique_ptr<FolderWriter>> Open(sys::FileSystem* fs, const std::string& dir,
                                                    const FolderWriterOptions& options);

  /// Compares the clocks; on a step of the wall clock writes the event and marks the place in every file. Rows of this
  /// tick must carry times >= tick.wall.
  std::optional<ClockStep> BeginTick(Tick tick);
  Status Gpu(TimeMs t, std::string_view gpu, const GpuValues& values);
  Status Host(TimeMs t, const HostValues& values);
  Status Process(TimeMs t, const ProcessSample& sample);
  Status Run(const model::RunRow& run);
  Status Event(TimeMs t, std::string_view kind, std::string_view gpu, std::string_view detail);
  /// Writes all rows of the tick. An error means that the history is paused: rows are kept in memory, as many as fit,
  /// and the next EndTick tries again. After a pause an event `disk_full` says how long it was and how many rows were
  /// lost.
  Status EndTick();
  /// Writes `collector_stop`, the rest and syncs.
  Status Close(TimeMs t);

  /// New or changed cards since the last call go to inventory.csv.
  Status UpdateInventory(const std::vector<model::CardInfo>& cards, TimeMs now);

  bool paused() const { return paused_; }
  size_t pending_rows() const;
  int64_t dropped_rows() const;
  int64_t torn_records() const;
  /// "nfs", ...: the folder lies on a network file system, where locks and appends may not hold what they promise; "" =
  /// no.
  const std::string& network_file_system() const { return network_; }
  const std::string& dir() const { return dir_; }
  DayWriter& writer(DayKind kind) { return *writers_[static_cast<size_t>(kind)]; }

 private:
  FolderWriter(sys::FileSystem* fs, std::string dir, const FolderWriterOptions& options);

  sys::FileSystem* fs_;
  std::string dir_;
  FolderWriterOptions options_;
  std::unique_ptr<sys::FileLock> lock_;
  std::string network_;
  std::array<std::unique_ptr<DayWriter>, kDayKinds> writers_;
  ClockWatch clock_;
  RowText row_;
  TimeMs now_ = 0, paused_since_ = 0;
  int64_t dropped_before_pause_ = 0;
  bool started_ = false, paused_ = false;
};

}  // namespace sawbill::store
