// SPDX-License-Identifier: Apache-2.0
// The OS seam for files. Everything that touches a disk goes through FileSystem, so that tests run in memory and can
// make the disk full, slow or torn. RealFileSystem is made in app/ only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/time.h"

namespace sawbill::sys {

struct FileInfo {
  std::string name;  // within its directory
  bool is_directory = false;
  int64_t size_bytes = 0;
  TimeMs modified_ms = 0;
};

/// The bytes of a whole file, mapped where the system can (so they are page cache, not anonymous memory), else held.
class FileBytes {
 public:
  virtual ~FileBytes() = default;
  virtual std::string_view bytes() const = 0;
  /// Tells the system that bytes before `offset` are not needed again.
  virtual void Forget(size_t offset) { (void)offset; }
};

/// A file open for appending (O_APPEND, never O_TRUNC). THREAD: one at a time.
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  /// Writes all of `data` or says why not; on an error an unknown part of it may stand in the file.
  virtual Status Append(std::string_view data) = 0;
  virtual Status Sync() = 0;
  virtual int64_t size() const = 0;
  /// Cuts the file to `size` bytes (used only to take back a torn record of our own).
  virtual Status Truncate(int64_t size) = 0;
};

/// An exclusive lock on a path, held until destroyed; gone with the process.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual Result<std::unique_ptr<FileBytes>> Map(const std::string& path) = 0;
  virtual Result<std::unique_ptr<AppendFile>> OpenAppend(const std::string& path) = 0;
  /// Writes to a temporary name beside it, syncs, renames: the old file or the new one, never half.
  virtual Status WriteAtomically(const std::string& path, std::string_view data) = 0;
  virtual Result<std::vector<FileInfo>> List(const std::string& dir) = 0;  // sorted by name
  virtual Result<FileInfo> Stat(const std::string& path) = 0;              // follows symlinks
  virtual Status MakeDirs(const std::string& dir) = 0;
  virtual Status Remove(const std::string& path) = 0;
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  /// kUnavailable when another process (or another holder in this one) has it.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path) = 0;
  /// "nfs", "cifs", "fuse", ... when `path` lies on a network file system, else "".
  virtual std::string NetworkFileSystem(const std::string& path) = 0;
};

std::unique_ptr<FileSystem> MakeRealFileSystem();

std::string JoinPath(std::string_view dir, std::string_view name);
std::string BaseName(std::string_view path);
std::string DirName(std::string_view path);

}  // namespace sawbill::sys
