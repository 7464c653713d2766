// SPDX-License-Identifier: Apache-2.0
// The seam to /proc, /sys and other small files that the kernel writes while they are read. They have no size, cannot
// be mapped, and may vanish between listing and opening: a file that cannot be read is simply not there. Tests hand in
// trees in memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sawbill::sys {

class ProcFiles {
 public:
  virtual ~ProcFiles() = default;
  /// Replaces `*text` by the whole file (at most 1 MiB of it); false, and `*text` empty, when it cannot be read.
  virtual bool Read(const std::string& path, std::string* text) = 0;
  /// Names in a directory, in no order; empty when it cannot be listed.
  virtual std::vector<std::string> List(const std::string& dir) = 0;
  /// All entries of `dir` that are positive numbers, ascending: the processes of /proc, the threads of a task folder.
  virtual std::vector<int64_t> ListNumbers(const std::string& dir);
  virtual std::optional<std::string> ReadLink(const std::string& path) = 0;
  /// User id that owns the path.
  virtual std::optional<uint32_t> Owner(const std::string& path) = 0;
};

/// The machine's own files. `root` is put in front of every path ("" = the machine's).
std::unique_ptr<ProcFiles> MakeRealProcFiles(const std::string& root = "");

/// A tree in memory, for tests.
class MemProcFiles : public ProcFiles {
 public:
  void Put(const std::string& path, std::string text) { files_[path] = std::move(text); }
  void PutLink(const std::string& path, std::string target) { links_[path] = std::move(target); }
  void SetOwner(const std::string& path, uint32_t uid) { owners_[path] = uid; }
  /// The path and all below it.
  void Remove(const std::string& path);

  bool Read(const std::string& path, std::string* text) override;
  std::vector<std::string> List(const std::string& dir) override;
  std::optional<std::string> ReadLink(const std::string& path) override;
  std::optional<uint32_t> Owner(const std::string& path) override;
  int64_t reads() const { return reads_; }

 private:
  std::map<std::string, std::string> files_, links_;
  std::map<std::string, uint32_t> owners_;
  int64_t reads_ = 0;
};

/// The name of a user id; "uid 1234" when the system does not know it. Cached; asks the system's user database.
std::string UserName(uint32_t uid);
/// The home of the user that this process runs as, by the system's user database; "" when it does not know.
std::string HomeDir();

}  // namespace sawbill::sys
