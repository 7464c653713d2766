// SPDX-License-Identifier: Apache-2.0
#include "app/inputs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "app/pipeline.h"
#include "base/text.h"
#include "ingest/archive.h"
#include "ingest/combine.h"
#include "ingest/open.h"
#include "store/day_reader.h"
#include "sys/mem_fs.h"

namespace sawbill::app {
namespace {

constexpr size_t kMostFiles = 2000;  // of one folder
constexpr int kDepth = 3;            // folders within folders
constexpr size_t kShownLeftOut = 5;

/// A file that was read, before it is known what it belongs to.
struct Read {
  size_t order = 0;  // of the path that it came by
  std::string name;
  model::Recording recording;
};

/// A file below a folder.
struct File {
  std::string name;  // relative to the folder
  std::string node;  // the subfolder that it lies in
};

Status ListFiles(sys::FileSystem* fs, const std::string& root, const std::string& below, int depth,
                 std::vector<File>* files) {
  const auto list = fs->List(below.empty() ? root : sys::JoinPath(root, below));
  if (!list.ok()) return below.empty() ? list.status() : Status::Ok();  // a subfolder that may not be read
  for (const sys::FileInfo& f : *list) {
    if (f.name[0] == '.' || files->size() > kMostFiles) continue;
    const std::string name = below.empty() ? f.name : sys::JoinPath(below, f.name);
    if (!f.is_directory) {
      if (f.size_bytes > 0) files->push_back({name, below.substr(0, below.find('/'))});
    } else if (depth > 1) {
      SAWBILL_RETURN_IF_ERROR(ListFiles(fs, root, name, depth - 1, files));
    }
  }
  return Status::Ok();
}

/// What came in on stdin, as a file in memory.
Result<NamedFile> StdinFile(const Settings& s, Environment* env) {
  if (!env->read_stdin) return Status::Invalid(std::string(Text(s.lang, Msg::kAppStdinTerminal)));
  SAWBILL_ASSIGN_OR_RETURN(std::string bytes, env->read_stdin());
  if (bytes.empty()) return Status::Invalid(std::string(Text(s.lang, Msg::kAppStdinEmpty)));
  auto held = std::make_shared<sys::MemFileSystem>();
  NamedFile file;
  file.name = std::string(Text(s.lang, Msg::kAppStdin));
  file.path = "/" + file.name;
  held->Put(file.path, std::move(bytes));
  file.fs = held.get();
  file.held = held;
  return file;
}

/// The run recorded last below a data folder of which only `sawbill run` ever made use; "" = there is none.
std::string NewestRun(sys::FileSystem* fs, const std::string& data_dir) {
  const std::string runs = sys::JoinPath(data_dir, "runs");
  const auto list = fs->List(runs);
  std::string newest;
  TimeMs modified = 0;
  if (!list.ok()) return newest;
  for (const sys::FileInfo& f : *list) {
    const std::string path = sys::JoinPath(runs, f.name);
    if (!f.is_directory || f.name[0] == '.' || f.modified_ms < modified || !store::IsDataFolder(fs, path)) continue;
    newest = path;
    modified = f.modified_ms;
  }
  return newest;
}

/// Rows of processes on cards that no input ever looked at (pmon by itself): their hours would be billed as those of a
/// card whose driver is broken. A card that was asked and gave nothing is another matter, and counted (kNoValues).
bool OnlyProcesses(const model::Recording& r) {
  const bool sampled = std::any_of(r.gpus.begin(), r.gpus.end(), [](const auto& g) { return g.size() > 0; });
  return !r.processes.empty() && !r.gpus.empty() && !sampled && r.quality.count(model::Odd::kNoValues) == 0;
}

class Gatherer {
 public:
  Gatherer(const Settings& settings, Environment* env) : s_(settings), env_(env) {
    options_.tz = settings.tz;
    options_.lang = settings.lang;
  }

  void AddPath(const std::string& path) {
    if (!seen_.insert(path).second) return;  // the same file twice is still one
    ++order_;
    if (path == "-") return AddStdin();
    const auto info = env_->fs->Stat(path);
    if (info.ok() && info->is_directory) return AddFolder(env_->fs, nullptr, path, path);
    if (info.ok()) return AddFile(env_->fs, path, path);
    if (info.status().kind() != StatusKind::kNotFound) return Failed(info.status());
    if (path == s_.data_dir) return Failed(Status::NotFound(Tr(s_.lang, Msg::kAppNoRecordings, path)));
    if (path.find_first_of("*?[") != std::string::npos) return AddMatching(path);
    Failed(Status::NotFound(Tr(s_.lang, Msg::kAppNoSuchFile, path)));
  }

  Inputs Finish() {
    std::vector<std::string> names;
    std::vector<size_t> orders;
    std::vector<model::Recording> recordings;
    for (Read& r : read_) {
      orders.push_back(r.order);
      names.push_back(r.name);
      recordings.push_back(std::move(r.recording));
    }
    ingest::Combined combined = ingest::Combine(std::move(recordings), names, s_.lang);
    for (const std::string& note : combined.notes) Note(env_, note);
    for (size_t i = 0; i < combined.recordings.size(); ++i) {
      const std::vector<size_t>& parts = combined.parts[i];
      std::vector<std::string> shown;
      for (const size_t k : parts) shown.push_back(names[k]);
      if (parts.size() > 1) Note(env_, Tr(s_.lang, Msg::kAppTogether, Shorten(shown)));
      Input input;
      input.name = parts.size() > 1 ? Shorten(shown) : shown.front();
      if (OnlyProcesses(combined.recordings[i])) {
        const size_t rows = combined.recordings[i].processes.size();
        Failed(Status::Unsupported(Tr(s_.lang, Msg::kAppOnlyProcesses, input.name, rows)));
        continue;
      }
      combined.recordings[i].source = input.name;
      input.recording = std::make_shared<model::Recording>(std::move(combined.recordings[i]));
      found_.emplace_back(orders[parts.front()], std::move(input));
    }
    std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [order, input] : found_) out_.inputs.push_back(std::move(input));
    return std::move(out_);
  }

 private:
  void Take(const std::string& name, model::Recording recording) {
    for (model::Recording& r : ingest::SplitAtLongHoles(std::move(recording), s_.lang))
      read_.push_back({order_, name, std::move(r)});
  }
  void Failed(const Status& status) { out_.failures.push_back(status); }

  std::string Shorten(std::vector<std::string> names) const {
    if (names.size() > 4) {
      const std::string more = Tr(s_.lang, Msg::kAppAndMore, names.size() - 3);
      names.resize(3);
      names.push_back(more);
    }
    return Join(names, ", ");
  }

  /// What is wrong with a file. The long list of what can be read stands behind the first such file only.
  std::string Said(const Status& status) {
    std::string message = status.message();
    const std::string_view accepted = Text(s_.lang, Msg::kIngestAccepted);
    const size_t at = message.find(accepted);
    if (at == std::string::npos) return message;
    if (std::exchange(said_accepted_, true)) message.replace(at, accepted.size(), s_.lang == Lang::kZh ? "。" : ".");
    return message;
  }

  void AddStdin() {
    const auto file = StdinFile(s_, env_);
    if (!file.ok()) return Failed(file.status());
    AddFile(file->fs, file->path, file->name);
  }

  void AddMatching(const std::string& pattern) {
    const std::string dir = sys::DirName(pattern), base = sys::BaseName(pattern);
    const auto list = env_->fs->List(dir.empty() ? "." : dir);
    size_t matched = 0;
    if (list.ok()) {
      for (const sys::FileInfo& f : *list) {
        if (f.name[0] == '.' || !GlobMatch(base, f.name)) continue;
        ++matched;
        AddPath(dir.empty() ? f.name : sys::JoinPath(dir, f.name));
      }
    }
    if (matched == 0) Failed(Status::NotFound(Tr(s_.lang, Msg::kAppNoMatch, pattern)));
  }

  /// A file that the user named: what cannot be read is an error.
  void AddFile(sys::FileSystem* fs, const std::string& path, const std::string& name) {
    if (ingest::IsArchive(fs, path)) return AddArchive(fs, path, name);
    auto recording = ingest::ReadFile(fs, path, options_);
    if (!recording.ok()) return Failed(Status(recording.status().kind(), Said(recording.status())));
    Take(name, std::move(*recording));
  }

  void AddArchive(sys::FileSystem* fs, const std::string& path, const std::string& name) {
    const auto file = fs->Map(path);
    if (!file.ok()) return Failed(file.status());
    auto archive = ingest::OpenTar((*file)->bytes(), s_.lang);
    if (!archive.ok()) return Failed(archive.status().At(name));
    for (const std::string& note : archive->notes) Note(env_, name + ": " + note);
    const std::shared_ptr<sys::FileSystem> held = std::move(archive->fs);
    // Most archives hold one folder; what is in it is meant.
    std::string top = "/";
    for (int depth = 0; depth < kDepth; ++depth) {
      const auto list = held->List(top);
      if (!list.ok() || list->size() != 1 || !list->front().is_directory) break;
      if (store::IsDataFolder(held.get(), top) && HasDayFiles(held.get(), top)) break;
      top = sys::JoinPath(top, list->front().name);
    }
    AddFolder(held.get(), held, top, name);
  }

  /// Day files in the folder itself, not only in those below it.
  static bool HasDayFiles(sys::FileSystem* fs, const std::string& dir) {
    const auto list = fs->List(dir);
    return list.ok() && std::any_of(list->begin(), list->end(), [](const auto& f) { return !f.is_directory; });
  }

  void AddFolder(sys::FileSystem* fs, const std::shared_ptr<sys::FileSystem>& held, const std::string& path,
                 const std::string& name) {
    if (store::IsDataFolder(fs, path)) {
      Input input;
      input.name = name;
      input.folder = path;
      input.fs = fs;
      input.threads = env_->threads;
      input.archive = held;
      found_.emplace_back(order_, std::move(input));
      return;
    }
    if (const std::string run = NewestRun(fs, path); !run.empty()) {
      Note(env_, Tr(s_.lang, Msg::kRecNewestRun, name, run));
      return AddFolder(fs, held, run, run);
    }
    std::vector<File> files;
    if (const Status listed = ListFiles(fs, path, "", kDepth, &files); !listed.ok()) return Failed(listed);
    if (files.empty())
      return Failed(
          Status::NotFound(Tr(s_.lang, name == s_.data_dir ? Msg::kAppNoRecordings : Msg::kAppEmptyFolder, name)));
    if (files.size() > kMostFiles) return Failed(Status::Invalid(Tr(s_.lang, Msg::kAppTooManyFiles, name, kMostFiles)));
    std::vector<std::string> left_out;
    size_t taken = 0;
    for (const File& f : files) {
      const std::string inner = sys::JoinPath(path, f.name);
      ingest::IngestOptions options = options_;
      // A member of an archive by the archive and the whole path within it.
      const std::string full = held == nullptr ? sys::JoinPath(name, f.name) : name + ":" + inner.substr(1);
      if (held != nullptr) options.name = full;
      auto recording = ingest::ReadFile(fs, inner, options);
      if (!recording.ok()) {
        left_out.push_back(Said(recording.status()));
        continue;
      }
      ++taken;
      NameNode(f.node, &*recording);
      Take(full, std::move(*recording));
    }
    if (taken == 0 && name == s_.data_dir) return Failed(Status::NotFound(Tr(s_.lang, Msg::kAppNoRecordings, name)));
    if (taken == 0)
      return Failed(Status::Unsupported(
          Tr(s_.lang, Msg::kAppNothingReadable, name, files.size(), left_out.empty() ? "" : left_out.front())));
    for (size_t i = 0; i < std::min(left_out.size(), kShownLeftOut); ++i)
      Note(env_, Tr(s_.lang, Msg::kAppFileLeftOut, left_out[i]));
    if (left_out.size() > kShownLeftOut)
      Note(env_, Tr(s_.lang, Msg::kAppFilesLeftOut, left_out.size() - kShownLeftOut, name));
  }

  static void NameNode(const std::string& node, model::Recording* r) {
    if (node.empty()) return;
    for (auto& g : r->gpus) {
      if (g.card.node.empty()) g.card.node = node;
    }
    for (auto& h : r->hosts) {
      if (h.node.empty()) h.node = node;
    }
  }

  const Settings& s_;
  Environment* env_;
  ingest::IngestOptions options_;
  size_t order_ = 0;
  bool said_accepted_ = false;
  std::set<std::string> seen_;
  std::vector<Read> read_;
  std::vector<std::pair<size_t, Input>> found_;  // by the order of their paths
  Inputs out_;
};

}  // namespace

std::vector<std::string> InputPaths(const Options& options, const Settings& settings) {
  return options.files.empty() ? std::vector<std::string>{settings.data_dir} : options.files;
}

Result<std::vector<NamedFile>> FilesOf(const std::string& path, size_t most, const Settings& s, Environment* env) {
  if (path == "-") {
    SAWBILL_ASSIGN_OR_RETURN(NamedFile file, StdinFile(s, env));
    return std::vector<NamedFile>{std::move(file)};
  }
  SAWBILL_ASSIGN_OR_RETURN(const sys::FileInfo info, env->fs->Stat(path));
  NamedFile named{env->fs, nullptr, path, path};
  std::string root = path;
  if (!info.is_directory) {
    if (!ingest::IsArchive(env->fs, path)) return std::vector<NamedFile>{named};
    SAWBILL_ASSIGN_OR_RETURN(const auto bytes, env->fs->Map(path));
    SAWBILL_ASSIGN_OR_RETURN(ingest::Archive archive, ingest::OpenTar(bytes->bytes(), s.lang));
    named.held = std::move(archive.fs);
    named.fs = named.held.get();
    root = "/";
  }
  std::vector<File> files;
  SAWBILL_RETURN_IF_ERROR(ListFiles(named.fs, root, "", kDepth, &files));
  if (files.size() > most) files.resize(most);
  std::vector<NamedFile> out;
  for (const File& f : files)
    out.push_back({named.fs, named.held, sys::JoinPath(root, f.name), sys::JoinPath(path, f.name)});
  return out;
}

Inputs GatherInputs(const std::vector<std::string>& paths, const Settings& settings, Environment* env) {
  Gatherer gatherer(settings, env);
  for (const std::string& path : paths) gatherer.AddPath(path);
  return gatherer.Finish();
}

}  // namespace sawbill::app
