// SPDX-License-Identifier: Apache-2.0
// How `sawbill run` tells the recorder of a data folder about itself. Only the recorder writes its day files: it knows
// up to where each is sound, and takes away what stands behind that after a failed write, so a line that another
// process appended could be lost. A run therefore leaves its row as a small file in <dir>/runs/.spool, whole or not at
// all; the recorder writes it with its next tick and takes the file away. What no recorder took yet is read from there.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "model/recording.h"
#include "store/folder_writer.h"
#include "sys/file.h"

namespace sawbill::store {

/// Leaves `row` for the recorder of `dir`.
Status SpoolRun(sys::FileSystem* fs, const std::string& dir, const model::RunRow& row);

struct SpooledRun {
  std::string path;
  model::RunRow row;
};
/// What waits in `dir`, by name; files that hold no row are left out.
std::vector<SpooledRun> SpooledRuns(sys::FileSystem* fs, const std::string& dir);

/// The recorder's side. THREAD: one at a time.
class RunInbox {
 public:
  RunInbox(sys::FileSystem* fs, FolderWriter* writer) : fs_(fs), writer_(writer) {}
  /// Rows that wait go to the writer, to be written with the tick. Files whose time is not of about now are left alone:
  /// a row of another year would make a day file of that year.
  void Take(TimeMs now);
  /// After EndTick: what was written is taken away.
  void Settle();

 private:
  sys::FileSystem* fs_;
  FolderWriter* writer_;
  std::set<std::string> taken_;  // written, or about to be; a file that cannot be removed is not taken twice
};

}  // namespace sawbill::store
