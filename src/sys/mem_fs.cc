// SPDX-License-Identifier: Apache-2.0
#include "sys/mem_fs.h"

#include <algorithm>

namespace sawbill::sys {
namespace {

/// One spelling for each path: no "./", "//" or slash at the end.
std::string Clean(std::string_view path) {
  std::string out = !path.empty() && path.front() == '/' ? "/" : "";
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (!part.empty() && part != ".") out = JoinPath(out, part);
  }
  return out.empty() ? "." : out;
}

std::string Prefix(const std::string& dir) {
  if (dir == ".") return "";
  return dir == "/" ? dir : dir + "/";
}

Status Missing(const char* what, const std::string& path) {
  return Status::NotFound(std::string("cannot ") + what + " " + path + ": No such file or directory");
}

Status DiskFull(const std::string& path) {
  return Status::Unavailable("cannot write " + path + ": no space left on device");
}

class MemBytes : public FileBytes {
 public:
  explicit MemBytes(std::string data) : data_(std::move(data)) {}
  std::string_view bytes() const override { return data_; }

 private:
  std::string data_;  // a copy: what a test appends later must not move what is mapped
};

}  // namespace

class MemAppendFile : public AppendFile {
 public:
  MemAppendFile(MemFileSystem* fs, std::shared_ptr<MemFileSystem::File> file, std::string path)
      : fs_(fs), file_(std::move(file)), path_(std::move(path)) {}

  Status Append(std::string_view data) override {
    const std::string_view fits = data.substr(0, fs_->TakeSpace(data.size()));
    file_->data.append(fits);
    file_->modified_ms = fs_->now_;
    return fits.size() == data.size() ? Status::Ok() : DiskFull(path_);
  }
  Status Sync() override { return Status::Ok(); }
  int64_t size() const override { return static_cast<int64_t>(file_->data.size()); }
  Status Truncate(int64_t size) override {
    file_->data.resize(static_cast<size_t>(size));
    file_->modified_ms = fs_->now_;
    return Status::Ok();
  }

 private:
  MemFileSystem* fs_;
  std::shared_ptr<MemFileSystem::File> file_;  // lives on if the name is removed, as a real one does
  std::string path_;
};

class MemLock : public FileLock {
 public:
  MemLock(MemFileSystem* fs, std::string path) : fs_(fs), path_(std::move(path)) {}
  MemLock(const MemLock&) = delete;
  MemLock& operator=(const MemLock&) = delete;
  ~MemLock() override { fs_->locks_.erase(path_); }

 private:
  MemFileSystem* fs_;
  std::string path_;
};

size_t MemFileSystem::TakeSpace(size_t bytes) {
  if (!space_left_) return bytes;
  const size_t taken = std::min(bytes, static_cast<size_t>(std::max<int64_t>(*space_left_, 0)));
  *space_left_ -= static_cast<int64_t>(taken);
  return taken;
}

bool MemFileSystem::IsDir(const std::string& clean) const {
  if (clean == "." || clean == "/" || dirs_.count(clean) != 0) return true;
  const std::string prefix = Prefix(clean);
  const auto file = files_.lower_bound(prefix);
  if (file != files_.end() && file->first.compare(0, prefix.size(), prefix) == 0) return true;
  const auto dir = dirs_.lower_bound(prefix);
  return dir != dirs_.end() && dir->compare(0, prefix.size(), prefix) == 0;
}

Status MemFileSystem::CheckWritable(const char* what, const std::string& clean) const {
  if (IsDir(clean)) return Status::Invalid(clean + " is a directory, not a file");
  return IsDir(DirName(clean)) ? Status::Ok() : Missing(what, clean);
}

void MemFileSystem::Put(const std::string& path, std::string data) {
  files_[Clean(path)] = std::make_shared<File>(File{std::move(data), now_});
}

bool MemFileSystem::Exists(const std::string& path) const { return files_.count(Clean(path)) != 0; }

const std::string& MemFileSystem::Get(const std::string& path) const {
  const auto it = files_.find(Clean(path));
  SAWBILL_CHECK(it != files_.end());
  return it->second->data;
}

std::vector<std::string> MemFileSystem::Paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, file] : files_) paths.push_back(path);
  return paths;
}

Result<std::unique_ptr<FileBytes>> MemFileSystem::Map(const std::string& path) {
  const auto it = files_.find(Clean(path));
  if (it != files_.end()) return std::unique_ptr<FileBytes>(std::make_unique<MemBytes>(it->second->data));
  if (IsDir(Clean(path))) return Status::Invalid(path + " is a directory, not a file");
  return Missing("open", path);
}

Result<std::unique_ptr<AppendFile>> MemFileSystem::OpenAppend(const std::string& path) {
  const std::string clean = Clean(path);
  SAWBILL_RETURN_IF_ERROR(CheckWritable("create", clean));
  std::shared_ptr<File>& file = files_[clean];
  if (file == nullptr) file = std::make_shared<File>(File{"", now_});
  return std::unique_ptr<AppendFile>(std::make_unique<MemAppendFile>(this, file, clean));
}

Status MemFileSystem::WriteAtomically(const std::string& path, std::string_view data) {
  const std::string clean = Clean(path);
  SAWBILL_RETURN_IF_ERROR(CheckWritable("write", clean));
  if (TakeSpace(data.size()) != data.size()) return DiskFull(clean);
  Put(clean, std::string(data));
  return Status::Ok();
}

Result<std::vector<FileInfo>> MemFileSystem::List(const std::string& dir) {
  const std::string clean = Clean(dir);
  if (files_.count(clean) != 0) return Status::Invalid(dir + " is a file, not a directory");
  if (!IsDir(clean)) return Missing("list", dir);
  const std::string prefix = Prefix(clean);
  std::map<std::string, FileInfo> found;
  const auto note = [&](const std::string& path, const File* file) {
    if (path.size() <= prefix.size() || path.compare(0, prefix.size(), prefix) != 0) return;
    if (prefix.empty() && path.front() == '/') return;
    const std::string below = path.substr(prefix.size());
    const size_t slash = below.find('/');
    FileInfo info;
    info.name = below.substr(0, slash);
    info.is_directory = file == nullptr || slash != std::string::npos;
    if (!info.is_directory) {
      info.size_bytes = static_cast<int64_t>(file->data.size());
      info.modified_ms = file->modified_ms;
    }
    found.emplace(info.name, info);
  };
  for (const auto& [path, file] : files_) note(path, file.get());
  for (const std::string& path : dirs_) note(path, nullptr);
  std::vector<FileInfo> out;
  for (auto& [name, info] : found) out.push_back(std::move(info));
  return out;
}

Result<FileInfo> MemFileSystem::Stat(const std::string& path) {
  const std::string clean = Clean(path);
  FileInfo info;
  info.name = BaseName(clean);
  const auto it = files_.find(clean);
  if (it != files_.end()) {
    info.size_bytes = static_cast<int64_t>(it->second->data.size());
    info.modified_ms = it->second->modified_ms;
    return info;
  }
  if (!IsDir(clean)) return Missing("find", path);
  info.is_directory = true;
  return info;
}

Status MemFileSystem::MakeDirs(const std::string& dir) {
  for (std::string at = Clean(dir); at != "." && at != "/"; at = DirName(at)) {
    if (files_.count(at) != 0) return Status::Invalid("cannot create directory " + dir + ": " + at + " is a file");
  }
  for (std::string at = Clean(dir); at != "." && at != "/"; at = DirName(at)) dirs_.insert(at);
  return Status::Ok();
}

Status MemFileSystem::Remove(const std::string& path) {
  const std::string clean = Clean(path);
  if (files_.erase(clean) != 0) {
    // A directory that only its files implied outlives them, as a real one does.
    if (const std::string parent = DirName(clean); parent != "." && parent != "/") dirs_.insert(parent);
    return Status::Ok();
  }
  if (!IsDir(clean)) return Missing("remove", path);
  const Result<std::vector<FileInfo>> inside = List(clean);
  if (inside.ok() && !inside->empty()) return Status::Io("cannot remove " + path + ": Directory not empty");
  dirs_.erase(clean);
  return Status::Ok();
}

Status MemFileSystem::Rename(const std::string& from, const std::string& to) {
  const std::string a = Clean(from), b = Clean(to);
  if (a == b) return Status::Ok();
  const auto it = files_.find(a);
  if (it != files_.end()) {
    SAWBILL_RETURN_IF_ERROR(CheckWritable("rename to", b));
    std::shared_ptr<File> file = it->second;
    SAWBILL_RETURN_IF_ERROR(Remove(a));
    files_[b] = std::move(file);
    return Status::Ok();
  }
  if (!IsDir(a)) return Missing("rename", from);
  if (Exists(b) || IsDir(b)) return Status::Io("cannot rename " + from + " to " + to + ": File exists");
  if (!IsDir(DirName(b))) return Missing("rename to", to);
  const std::string prefix = Prefix(a);
  const auto moved = [&](const std::string& path) { return Prefix(b) + path.substr(prefix.size()); };
  for (const std::string& path : Paths()) {
    if (path.compare(0, prefix.size(), prefix) == 0) files_[moved(path)] = files_.extract(path).mapped();
  }
  const std::set<std::string> dirs = dirs_;
  for (const std::string& path : dirs) {
    if (path.compare(0, prefix.size(), prefix) == 0) {
      dirs_.erase(path);
      dirs_.insert(moved(path));
    }
  }
  dirs_.erase(a);
  dirs_.insert(b);
  return Status::Ok();
}

Result<std::unique_ptr<FileLock>> MemFileSystem::Lock(const std::string& path) {
  const std::string clean = Clean(path);
  if (!IsDir(clean)) {
    SAWBILL_RETURN_IF_ERROR(CheckWritable("open the lock", clean));
    if (!Exists(clean)) Put(clean, "");
  }
  if (!locks_.insert(clean).second) return Status::Unavailable(path + " is locked by another running program");
  return std::unique_ptr<FileLock>(std::make_unique<MemLock>(this, clean));
}

}  // namespace sawbill::sys
