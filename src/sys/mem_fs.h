// SPDX-License-Identifier: Apache-2.0
// A disk in memory, for tests: can be full after N more bytes, fail, or tear a write as a crash would. Put makes the
// directories above a path; the FileSystem calls want them there, as the real ones do.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>

#include "sys/file.h"

namespace sawbill::sys {

class MemFileSystem : public FileSystem {
 public:
  /// After this many more written bytes, writes fail with kUnavailable "no space left on device", as the real one does,
  /// having written what fits (WriteAtomically: nothing).
  void SetSpaceLeft(std::optional<int64_t> bytes) { space_left_ = bytes; }
  void SetNow(TimeMs now) { now_ = now; }
  void Put(const std::string& path, std::string data);
  bool Exists(const std::string& path) const;
  const std::string& Get(const std::string& path) const;  // REQUIRES: Exists(path)
  std::vector<std::string> Paths() const;

  Result<std::unique_ptr<FileBytes>> Map(const std::string& path) override;
  Result<std::unique_ptr<AppendFile>> OpenAppend(const std::string& path) override;
  Status WriteAtomically(const std::string& path, std::string_view data) override;
  Result<std::vector<FileInfo>> List(const std::string& dir) override;
  Result<FileInfo> Stat(const std::string& path) override;
  Status MakeDirs(const std::string& dir) override;
  Status Remove(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  std::string NetworkFileSystem(const std::string&) override { return network_; }
  void SetNetwork(std::string kind) { network_ = std::move(kind); }

 private:
  friend class MemAppendFile;
  friend class MemLock;
  struct File {
    std::string data;
    TimeMs modified_ms = 0;
  };
  size_t TakeSpace(size_t bytes);
  bool IsDir(const std::string& clean) const;
  Status CheckWritable(const char* what, const std::string& clean) const;

  std::map<std::string, std::shared_ptr<File>> files_;
  std::set<std::string> dirs_, locks_;
  std::optional<int64_t> space_left_;
  std::string network_;
  TimeMs now_ = 0;
};

}  // namespace sawbill::sys
