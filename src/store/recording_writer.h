// SPDX-License-Identifier: Apache-2.0
// A recording in memory, whatever it was read from, as a folder of day files: what `sawbill convert` makes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "model/recording.h"
#include "store/folder_writer.h"

namespace sawbill::store {

struct WrittenRows {
  int64_t gpu = 0, host = 0, process = 0, run = 0, event = 0;
};

/// A node's files go to `dir` itself when the recording names no more than one node, else to a folder for each.
class RecordingWriter {
 public:
  /// `cards`: all that any piece can hold (their nodes decide about folders).
  RecordingWriter(sys::FileSystem* fs, std::string dir, const TimeZone& tz, const std::vector<model::CardInfo>& cards);

  /// Pieces in order of time. What lies at or before `after` was written with the piece before.
  Status Add(const model::Recording& piece, TimeMs after);
  Status Close();
  const WrittenRows& rows() const { return rows_; }

 private:
  struct Node {
    std::unique_ptr<FolderWriter> writer;
    std::map<std::string, std::string> label_of;  // by CardInfo::key()
    TimeMs last = 0;
  };
  struct Row {
    TimeMs t_ms = 0;
    int kind = 0;  // gpu, host, process, run, event
    int32_t track = 0;
    int64_t index = 0;
  };
  Result<Node*> NodeOf(const std::string& name);
  Status NameCards(const model::Recording& piece, TimeMs after);
  std::string LabelOf(Node* node, const model::CardInfo& card);
  std::vector<Row> RowsOf(const model::Recording& piece, TimeMs after) const;
  Result<Node*> NodeOfRow(const model::Recording& piece, const Row& row);
  Status Write(const model::Recording& piece, const Row& row, Node* node);

  sys::FileSystem* fs_;
  std::string dir_;
  TimeZone tz_;
  bool folders_ = false;
  std::map<std::string, Node> nodes_;
  WrittenRows rows_;
};

}  // namespace sawbill::store
