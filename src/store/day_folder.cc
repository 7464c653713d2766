// SPDX-License-Identifier: Apache-2.0
#include "store/day_folder.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "store/run_spool.h"
#include "store/text_tables.h"

namespace sawbill::store {
namespace {
using model::Odd;

constexpr const char* kTruthName = "truth.json";
constexpr const char* kSimulatedName = "SIMULATED";

bool HasDayFile(const std::vector<sys::FileInfo>& files) {
  return std::any_of(files.begin(), files.end(),
                     [](const sys::FileInfo& f) { return !f.is_directory && ParseDayFileName(f.name); });
}

class FolderScan {
 public:
  FolderScan(sys::FileSystem* fs, const TimeZone& tz, std::optional<TimeMs> to, DayFolder* out)
      : fs_(fs), tz_(tz), to_(to), out_(out) {}

  Status Node(size_t node) {
    NodeFolder& folder = out_->nodes[node];
    // What waits first, and then the files: a recorder may write it down in between, and a row seen twice is harmless
    // where one that was seen nowhere would be lost.
    std::vector<SpooledRun> waiting = SpooledRuns(fs_, folder.path);
    SAWBILL_ASSIGN_OR_RETURN(const std::vector<sys::FileInfo> files, fs_->List(folder.path));
    for (const sys::FileInfo& f : files) {
      if (f.name == kTruthName || f.name == kSimulatedName) out_->simulated = true;
      if (f.name == kInventoryName) SAWBILL_RETURN_IF_ERROR(ReadInventory(&folder));
    }
    if (folder.name.empty()) folder.name = folder.inventory.node();
    std::vector<DayFile> days = DayFiles(node, files);
    SAWBILL_RETURN_IF_ERROR(ReadEvents(&folder, days));
    for (DayFile& file : days) {
      if (file.kind == DayKind::kRun) {
        RunTable table({file.name, &folder.clock, {}, &out_->quality}, folder.name, &folder.runs);
        SAWBILL_RETURN_IF_ERROR(ReadAll(file, &table, &out_->quality));
      }
      if (file.kind != DayKind::kGpu && file.kind != DayKind::kHost && file.kind != DayKind::kProcess) continue;
      SAWBILL_RETURN_IF_ERROR(FindTimes(fs_, folder.clock, false, &file));
      out_->files.push_back(std::move(file));
    }
    for (SpooledRun& s : waiting) {
      if (s.row.node.empty()) s.row.node = folder.name;
      const auto same = [&](const model::RunRow& row) {
        return row.t_ms == s.row.t_ms && row.run == s.row.run && row.state == s.row.state && row.node == s.row.node;
      };
      if (std::none_of(folder.runs.begin(), folder.runs.end(), same)) folder.runs.push_back(std::move(s.row));
    }
    const auto by_time = [](const auto& a, const auto& b) { return a.t_ms < b.t_ms; };
    std::stable_sort(folder.runs.begin(), folder.runs.end(), by_time);
    std::stable_sort(folder.events.begin(), folder.events.end(), by_time);
    return FindLastTime(node);
  }

 private:
  std::string Shown(const NodeFolder& folder, const std::string& name) const {
    return folder.path == out_->dir ? name : sys::JoinPath(sys::BaseName(folder.path), name);
  }

  Status ReadInventory(NodeFolder* folder) {
    SAWBILL_ASSIGN_OR_RETURN(const std::unique_ptr<sys::FileBytes> data,
                             fs_->Map(sys::JoinPath(folder->path, kInventoryName)));
    folder->inventory =
        Inventory::Parse(data->bytes(), folder->name, tz_, Shown(*folder, kInventoryName), &out_->quality);
    return Status::Ok();
  }

  /// By kind and day. Of a day that is there twice with the same content, one.
  std::vector<DayFile> DayFiles(size_t node, const std::vector<sys::FileInfo>& infos) {
    std::map<std::pair<DayKind, std::string>, std::vector<DayFile>> days;
    for (const sys::FileInfo& info : infos) {
      const std::optional<DayFileName> name = ParseDayFileName(info.name);
      if (info.is_directory || !name) continue;
      DayFile file;
      file.kind = name->kind;
      file.node = node;
      file.path = sys::JoinPath(out_->nodes[node].path, info.name);
      file.name = Shown(out_->nodes[node], info.name);
      file.day = name->day;
      file.size_bytes = info.size_bytes;
      days[{name->kind, name->day}].push_back(std::move(file));
    }
    std::vector<DayFile> out;
    for (auto& [key, files] : days) {
      for (size_t i = 1; i < files.size();) {
        i += DropCopy(&files, i) ? 0 : 1;
      }
      for (DayFile& f : files) out.push_back(std::move(f));
    }
    return out;
  }

  /// A crash between compressing a day and removing it leaves both; so does a clock set back into a day already
  /// compressed, but then they hold different rows and both are read. True when file `i` or the first was taken away.
  bool DropCopy(std::vector<DayFile>* files, size_t i) {
    const Result<Copies> copies = CompareFiles(fs_, files->front().path, (*files)[i].path);
    if (!copies.ok() || *copies == Copies::kDiffer) return false;
    out_->quality.Count(Odd::kSecondCopy, (*files)[i].name);
    if (*copies == Copies::kSecondIsLonger) std::swap(files->front(), (*files)[i]);
    files->erase(files->begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }

  Status ReadAll(const DayFile& file, DayTable* table, model::DataQuality* quality) {
    const ReadRange all{std::numeric_limits<TimeMs>::min(), std::numeric_limits<TimeMs>::max()};
    return ReadDayFile(fs_, file, all, quality, table);
  }

  Status ReadEvents(NodeFolder* folder, std::vector<DayFile>& days) {
    model::DataQuality ignored;
    for (DayFile& file : days) {
      if (file.kind == DayKind::kEvent || file.kind == DayKind::kRun) {
        SAWBILL_RETURN_IF_ERROR(FindTimes(fs_, ClockFix(), false, &file));  // tells whether it is compressed
      }
      if (file.kind != DayKind::kEvent) continue;
      EventTable table({file.name, nullptr, {}, &ignored}, folder->name, &folder->events);
      SAWBILL_RETURN_IF_ERROR(ReadAll(file, &table, &ignored));
    }
    folder->clock = ClockFix(folder->events);
    if (!folder->clock.empty()) out_->quality.Count(Odd::kClockStep, folder->name, folder->clock.steps());
    folder->events.clear();
    for (const DayFile& file : days) {
      if (file.kind != DayKind::kEvent) continue;
      EventTable table({file.name, &folder->clock, {}, &out_->quality}, folder->name, &folder->events);
      SAWBILL_RETURN_IF_ERROR(ReadAll(file, &table, &out_->quality));
    }
    return Status::Ok();
  }

  /// The end of the period must be known, not assumed.
  Status FindLastTime(size_t node) {
    for (const DayKind kind : {DayKind::kGpu, DayKind::kHost}) {
      DayFile* last = nullptr;
      for (DayFile& f : out_->files) {
        if (f.node != node || f.kind != kind || !f.has_rows || (to_ && f.first > *to_)) continue;
        if (last == nullptr || f.first > last->first) last = &f;
      }
      if (last != nullptr && last->last_assumed) {
        SAWBILL_RETURN_IF_ERROR(FindTimes(fs_, out_->nodes[node].clock, true, last));
      }
    }
    return Status::Ok();
  }

  sys::FileSystem* fs_;
  const TimeZone& tz_;
  std::optional<TimeMs> to_;
  DayFolder* out_;
};

}  // namespace

Result<std::vector<NodeFolder>> FindNodes(sys::FileSystem* fs, const std::string& dir) {
  SAWBILL_ASSIGN_OR_RETURN(const std::vector<sys::FileInfo> files, fs->List(dir));
  std::vector<NodeFolder> nodes;
  if (HasDayFile(files)) {
    nodes.emplace_back();
    nodes.back().path = dir;
  }
  for (const sys::FileInfo& f : files) {
    if (!f.is_directory || f.name.front() == '.') continue;
    const std::string path = sys::JoinPath(dir, f.name);
    const Result<std::vector<sys::FileInfo>> inside = fs->List(path);
    if (!inside.ok() || !HasDayFile(*inside)) continue;
    nodes.emplace_back();
    nodes.back().name = f.name;
    nodes.back().path = path;
  }
  return nodes;
}

Result<DayFolder> ScanFolder(sys::FileSystem* fs, const std::string& dir, const ScanOptions& options) {
  DayFolder out;
  out.dir = dir;
  SAWBILL_ASSIGN_OR_RETURN(out.nodes, FindNodes(fs, dir));
  if (options.only_this_folder) std::erase_if(out.nodes, [&](const NodeFolder& n) { return n.path != dir; });
  for (const char* marker : {kTruthName, kSimulatedName}) {
    if (fs->Stat(sys::JoinPath(dir, marker)).ok()) out.simulated = true;
  }
  FolderScan scan(fs, options.tz, options.to, &out);
  for (size_t node = 0; node < out.nodes.size(); ++node) SAWBILL_RETURN_IF_ERROR(scan.Node(node));
  return out;
}

}  // namespace sawbill::store
