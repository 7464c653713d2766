// SPDX-License-Identifier: Apache-2.0
#include "store/run_spool.h"

#include <algorithm>

#include "base/text.h"
#include "store/day_rows.h"
#include "store/text_tables.h"

namespace sawbill::store {
namespace {

constexpr size_t kMostBytes = 16 * 1024;             // of a row: a few hundred
constexpr size_t kMostFiles = 1000;                  // looked at in one tick
constexpr TimeMs kOldestMs = 40LL * 24 * 3'600'000;  // a recorder that was off for a month takes them all the same
constexpr TimeMs kLatestMs = 3'600'000;

std::string SpoolDir(const std::string& dir) { return sys::JoinPath(sys::JoinPath(dir, "runs"), ".spool"); }

/// Letters, digits, '-', '_' and '.': the name of a run may be anything.
std::string FileName(const model::RunRow& row) {
  std::string out = row.run.substr(0, 120) + "." + row.node.substr(0, 60) + "." + row.state + ".csv";
  for (char& c : out) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    if (!plain) c = '_';
  }
  return out.front() == '.' ? "_" + out : out;
}

}  // namespace

Status SpoolRun(sys::FileSystem* fs, const std::string& dir, const model::RunRow& row) {
  const std::string spool = SpoolDir(dir);
  SAWBILL_RETURN_IF_ERROR(fs->MakeDirs(spool));
  RowText cells;
  MakeRunRow(row, &cells);
  std::string text = HeaderLine(DayKind::kRun) + "\n";
  AppendTimestamp(row.t_ms, &text);
  text += "," + cells.text() + "\n";
  return fs->WriteAtomically(sys::JoinPath(spool, FileName(row)), text);
}

std::vector<SpooledRun> SpooledRuns(sys::FileSystem* fs, const std::string& dir) {
  std::vector<SpooledRun> out;
  const std::string spool = SpoolDir(dir);
  const auto files = fs->List(spool);
  if (!files.ok()) return out;  // most folders have none
  for (const sys::FileInfo& f : *files) {
    if (f.is_directory || f.name.front() == '.' || !EndsWith(f.name, ".csv") || out.size() == kMostFiles) continue;
    const std::string path = sys::JoinPath(spool, f.name);
    const auto bytes = f.size_bytes > static_cast<int64_t>(kMostBytes) ? Status::Invalid("long") : fs->Map(path);
    if (!bytes.ok() || (*bytes)->bytes().size() > kMostBytes) continue;
    const std::string_view text = (*bytes)->bytes();
    const size_t end = text.rfind('\n');
    if (end == std::string_view::npos) continue;
    std::vector<model::RunRow> rows;
    model::DataQuality ignored;
    RunTable table({path, nullptr, {}, &ignored}, "", &rows);
    table.Feed(text.substr(0, end + 1), text.data(), text.data(), 0);
    for (model::RunRow& row : rows) out.push_back({path, std::move(row)});
  }
  return out;
}

void RunInbox::Take(TimeMs now) {
  for (const SpooledRun& s : SpooledRuns(fs_, writer_->dir())) {
    if (taken_.contains(s.path) || s.row.t_ms < now - kOldestMs || s.row.t_ms > now + kLatestMs) continue;
    if (writer_->Run(s.row).ok()) taken_.insert(s.path);
  }
}

void RunInbox::Settle() {
  // While the disk is full the rows are in memory only.
  if (!writer_->paused())
    std::erase_if(taken_, [&](const std::string& path) { return fs_->Remove(path).ok() || !fs_->Stat(path).ok(); });
}

}  // namespace sawbill::store
