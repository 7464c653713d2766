// SPDX-License-Identifier: Apache-2.0
// Order of the steps for a closed day: rollups (from the plain file, which is quick to read), then compression, then
// retention. A compressed file is written beside the plain one, read back and compared, and only then the plain one
// goes.
//
// A plain file may stand beside a compressed one of the same day: left by a crash before the plain one was removed
// (their contents agree), or begun anew when the clock was set back into a day already compressed. The second is
// appended to the first, in the order in which they were written; the header line in between is what readers expect
// anyway.
#include "store/maintain.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "store/day_file.h"
#include "store/day_folder.h"
#include "store/day_kinds.h"
#include "store/day_reader.h"
#include "store/minute.h"
#include "sys/decompress.h"

namespace sawbill::store {
namespace {

struct Entry {
  DayFileName name;
  std::string file;  // name within its folder
  int64_t size_bytes = 0;
  TimeMs modified_ms = 0;
};

bool IsSummary(DayKind k) { return k == DayKind::kMinute || k == DayKind::kRun || k == DayKind::kEvent; }

/// [start, end) of a local day.
std::pair<TimeMs, TimeMs> DayBounds(const std::string& day, const TimeZone& tz) {
  const CivilTime c = ParseCivil(day).value_or(CivilTime{});
  return {tz.FromLocal(c), tz.FromLocal(CivilFromUtc(UtcFromCivil(c) + 86'400'000))};
}

std::string DayBefore(const std::string& day, int64_t days) {
  const CivilTime c = ParseCivil(day).value_or(CivilTime{});
  return TimeZone::Utc().LocalDay(UtcFromCivil(c) - days * 86'400'000);
}

class Housekeeper {
 public:
  Housekeeper(sys::FileSystem* fs, const MaintainOptions& options, TimeMs now, std::string root, MaintainReport* report)
      : fs_(fs), options_(options), now_(now), root_(std::move(root)), report_(report) {}

  /// One folder: rollups and compression.
  void CloseDays(const std::string& dir) {
    std::map<std::string, std::vector<Entry>> days = List(dir);
    for (auto& [day, entries] : days) {
      if (DayBounds(day, options_.tz).second + options_.grace_ms > now_) continue;
      if (options_.minutes) Note(WriteMinutes(dir, day, entries), day);
      if (!options_.compress) continue;
      std::map<DayKind, std::vector<Entry>> kinds;
      for (const Entry& e : entries) kinds[e.name.kind].push_back(e);
      for (const auto& [kind, files] : kinds) {
        // Small, and needed at once by every reader.
        if (!IsSummary(kind)) Note(Compress(dir, files), files.front().file);
      }
    }
  }

  void Retain(const std::vector<std::string>& dirs) {
    const std::string today = options_.tz.LocalDay(now_);
    std::map<std::string, std::vector<std::pair<std::string, Entry>>> days;  // of all folders
    for (const std::string& dir : dirs) {
      for (auto& [day, entries] : List(dir)) {
        for (Entry& e : entries) days[day].emplace_back(dir, std::move(e));
      }
    }
    for (auto& [day, files] : days) {
      if (day >= today) continue;
      const auto old = [&](const std::pair<std::string, Entry>& f) {
        const std::optional<int64_t>& keep =
            IsSummary(f.second.name.kind) ? options_.keep_summary_days : options_.keep_days;
        return keep && day <= DayBefore(today, std::max<int64_t>(*keep, 1));
      };
      std::erase_if(files, [&](const auto& f) { return old(f) && Remove(f.first, f.second.file); });
    }
    for (const auto& [day, files] : days) {
      for (const auto& f : files) report_->total_bytes += f.second.size_bytes;
    }
    if (!options_.max_total_bytes) return;
    for (const auto& [day, files] : days) {
      if (day >= today) break;
      if (report_->total_bytes <= *options_.max_total_bytes) break;
      for (const auto& [dir, entry] : files) {
        if (Remove(dir, entry.file)) report_->total_bytes -= entry.size_bytes;
      }
    }
  }

 private:
  void Note(const Status& status, const std::string& what) {
    if (!status.ok()) report_->problems.push_back(what + ": " + status.message());
  }

  std::string Shown(const std::string& dir, const std::string& file) const {
    return dir == root_ ? file : sys::JoinPath(sys::BaseName(dir), file);
  }

  std::map<std::string, std::vector<Entry>> List(const std::string& dir) {
    std::map<std::string, std::vector<Entry>> days;
    const Result<std::vector<sys::FileInfo>> files = fs_->List(dir);
    if (!files.ok()) Note(files.status(), dir);
    if (!files.ok()) return days;
    for (const sys::FileInfo& f : *files) {
      const std::optional<DayFileName> name = ParseDayFileName(f.name);
      if (f.is_directory || !name) continue;
      days[name->day].push_back({*name, f.name, f.size_bytes, f.modified_ms});
    }
    return days;
  }

  bool Remove(const std::string& dir, const std::string& file) {
    const Status status = fs_->Remove(sys::JoinPath(dir, file));
    Note(status, Shown(dir, file));
    if (status.ok()) report_->removed.push_back(Shown(dir, file));
    return status.ok();
  }

  /// Rollups are there already unless a plain gpu file is newer.
  Status WriteMinutes(const std::string& dir, const std::string& day, const std::vector<Entry>& entries) {
    std::optional<TimeMs> written;
    bool any_gpu = false;
    TimeMs plain_changed = 0;
    for (const Entry& e : entries) {
      if (e.name.kind == DayKind::kMinute) written = e.modified_ms;
      any_gpu = any_gpu || e.name.kind == DayKind::kGpu;
      if (e.name.kind == DayKind::kGpu && e.name.suffix.empty()) plain_changed = e.modified_ms;
    }
    if (!any_gpu || (written && plain_changed <= *written)) return Status::Ok();
    const auto [start, end] = DayBounds(day, options_.tz);
    DataFolderOptions options;
    options.tz = options_.tz;
    options.from = start;
    options.to = end;
    options.only_this_folder = true;
    SAWBILL_ASSIGN_OR_RETURN(const std::unique_ptr<model::TelemetrySource> source, OpenDataFolder(fs_, dir, options));
    std::vector<std::pair<MinuteRow, size_t>> rows;  // with the order of cards
    for (size_t piece = 0; piece < source->pieces().size(); ++piece) {
      SAWBILL_ASSIGN_OR_RETURN(const model::Recording recording, source->Read(piece));
      for (size_t i = 0; i < recording.gpus.size(); ++i) {
        for (MinuteRow& row : MinuteRows(recording.gpus[i], start, end)) rows.emplace_back(std::move(row), i);
      }
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first.t_ms, a.second) < std::pair(b.first.t_ms, b.second);
    });
    std::string text = HeaderLine(DayKind::kMinute) + "\n";
    RowText cells;
    for (const auto& [row, order] : rows) {
      MakeMinuteRow(row, &cells);
      AppendTimestamp(row.t_ms, &text);
      text += "," + cells.text() + "\n";
    }
    const std::string file = MakeDayFileName(DayKind::kMinute, day);
    SAWBILL_RETURN_IF_ERROR(fs_->WriteAtomically(sys::JoinPath(dir, file), text));
    report_->minutes_written.push_back(Shown(dir, file));
    return Status::Ok();
  }

  /// The files of one kind and day: the plain one, if any, goes into the compressed one.
  Status Compress(const std::string& dir, const std::vector<Entry>& files) {
    const auto plain = std::find_if(files.begin(), files.end(), [](const Entry& e) { return e.name.suffix.empty(); });
    if (plain == files.end()) return Status::Ok();
    const std::string plain_path = sys::JoinPath(dir, plain->file);
    const std::string packed_path = plain_path + ".zst";
    const auto packed =
        std::find_if(files.begin(), files.end(), [](const Entry& e) { return e.name.suffix == ".zst"; });
    std::string_view older;
    std::unique_ptr<sys::FileBytes> old;
    if (packed != files.end()) {
      SAWBILL_ASSIGN_OR_RETURN(const Copies copies, CompareFiles(fs_, packed_path, plain_path));
      if (copies == Copies::kSame || copies == Copies::kFirstIsLonger) return fs_->Remove(plain_path);
      if (copies == Copies::kDiffer) {
        SAWBILL_ASSIGN_OR_RETURN(old, fs_->Map(packed_path));
        older = old->bytes();
      }
    }
    const std::string temporary = sys::JoinPath(dir, "." + plain->file + ".zst.tmp");
    Status status = WriteFrames(older, plain_path, temporary);
    if (status.ok()) status = Verify(temporary, older.size(), plain_path);
    if (status.ok()) status = fs_->Rename(temporary, packed_path);
    if (!status.ok()) {
      (void)fs_->Remove(temporary);
      return status;
    }
    report_->compressed.push_back(Shown(dir, plain->file));
    return fs_->Remove(plain_path);
  }

  /// Frame by frame, so that a large day needs little memory.
  Status WriteFrames(std::string_view older, const std::string& plain_path, const std::string& temporary) {
    constexpr size_t kFrameBytes = size_t{4} << 20;
    SAWBILL_ASSIGN_OR_RETURN(const std::unique_ptr<sys::FileBytes> plain, fs_->Map(plain_path));
    SAWBILL_ASSIGN_OR_RETURN(const std::unique_ptr<sys::AppendFile> out, fs_->OpenAppend(temporary));
    if (out->size() > 0) SAWBILL_RETURN_IF_ERROR(out->Truncate(0));  // left by a crash
    if (!older.empty()) SAWBILL_RETURN_IF_ERROR(out->Append(older));
    const std::string_view bytes = plain->bytes();
    for (size_t at = 0; at < bytes.size() || at == 0; at += kFrameBytes) {
      SAWBILL_ASSIGN_OR_RETURN(const std::string frame,
                               sys::CompressZstd(bytes.substr(at, kFrameBytes), options_.compression_level));
      SAWBILL_RETURN_IF_ERROR(out->Append(frame));
      plain->Forget(at + kFrameBytes);
    }
    return out->Sync();
  }

  /// What stands on disk from `offset` on must be the plain file, byte by byte, before that is removed.
  Status Verify(const std::string& packed_path, size_t offset, const std::string& plain_path) {
    SAWBILL_ASSIGN_OR_RETURN(const std::unique_ptr<sys::FileBytes> packed, fs_->Map(packed_path));
    SAWBILL_ASSIGN_OR_RETURN(const std::unique_ptr<sys::FileBytes> plain, fs_->Map(plain_path));
    const std::unique_ptr<sys::ByteSource> source = sys::OpenBytes(packed->bytes().substr(offset));
    std::string_view rest = plain->bytes();
    while (true) {
      SAWBILL_ASSIGN_OR_RETURN(const std::string_view block, source->Next());
      if (block.empty()) break;
      if (block != rest.substr(0, block.size()))
        return Status::Io("the compressed copy reads back differently; both are kept");
      rest.remove_prefix(block.size());
    }
    return rest.empty() ? Status::Ok() : Status::Io("the compressed copy is shorter than the file; both are kept");
  }

  sys::FileSystem* fs_;
  const MaintainOptions& options_;
  TimeMs now_;
  std::string root_;
  MaintainReport* report_;
};

}  // namespace

Result<MaintainReport> Maintain(sys::FileSystem* fs, const std::string& dir, TimeMs now,
                                const MaintainOptions& options) {
  MaintainReport report;
  SAWBILL_ASSIGN_OR_RETURN(const std::vector<NodeFolder> nodes, FindNodes(fs, dir));
  report.network_file_system = fs->NetworkFileSystem(dir);
  std::vector<std::string> dirs;
  for (const NodeFolder& n : nodes) dirs.push_back(n.path);
  Housekeeper keeper(fs, options, now, dir, &report);
  for (const std::string& d : dirs) keeper.CloseDays(d);
  keeper.Retain(dirs);
  return report;
}

}  // namespace sawbill::store
