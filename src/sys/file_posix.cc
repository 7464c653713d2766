// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "sys/file.h"

namespace sawbill::sys {
namespace {

// What is held in memory because it cannot be mapped (a pipe, a file of /proc) may be this large.
constexpr size_t kMaxHeldBytes = size_t{1} << 30;

/// "cannot <what> <path>: <the system's words>", of the kind that says whether the user or the machine must act.
Status Failure(const char* what, const std::string& path, int error) {
  std::string message = std::string("cannot ") + what + " " + path + ": ";
  char buffer[256];
  message += ::strerror_r(error, buffer, sizeof(buffer));  // the GNU form, which returns the text
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Status::NotFound(std::move(message));
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOSPC:
    case EDQUOT:
    case ENOLCK:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Status::Unavailable(std::move(message));
    case EISDIR:
      return Status::Invalid(std::move(message));
    default:
      return Status::Io(std::move(message));
  }
}

Status IsADirectory(const std::string& path) { return Status::Invalid(path + " is a directory, not a file"); }

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  Fd& operator=(Fd&&) = delete;
  ~Fd() { Close(); }
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  /// 0 or errno: network file systems report a full disk only here.
  int Close() {
    const int fd = std::exchange(fd_, -1);
    return fd >= 0 && ::close(fd) != 0 && errno != EINTR ? errno : 0;
  }

 private:
  int fd_;
};

Fd Open(const std::string& path, int flags, mode_t mode = 0) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return Fd(fd);
}

/// 0 or errno.
int WriteAll(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = ::write(fd, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return EIO;
    data.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

/// Makes a new name in `dir` outlive a power cut. 0 or errno; a file system that cannot do it is no error.
int SyncDir(const std::string& dir) {
  const Fd fd = Open(dir, O_RDONLY | O_DIRECTORY);
  if (!fd.ok() || ::fsync(fd.get()) == 0) return 0;
  return errno == EIO || errno == ENOSPC || errno == EDQUOT ? errno : 0;
}

TimeMs ModifiedMs(const struct stat& st) { return st.st_mtim.tv_sec * 1000LL + st.st_mtim.tv_nsec / 1'000'000; }

FileInfo ToInfo(std::string name, const struct stat& st) {
  FileInfo info;
  info.name = std::move(name);
  info.is_directory = S_ISDIR(st.st_mode);
  info.size_bytes = info.is_directory ? 0 : static_cast<int64_t>(st.st_size);
  info.modified_ms = ModifiedMs(st);
  return info;
}

class HeldBytes : public FileBytes {
 public:
  explicit HeldBytes(std::string data) : data_(std::move(data)) {}
  std::string_view bytes() const override { return data_; }

 private:
  std::string data_;
};

class MappedBytes : public FileBytes {
 public:
  MappedBytes(void* start, size_t size) : start_(start), size_(size) {}
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;
  ~MappedBytes() override { ::munmap(start_, size_); }
  std::string_view bytes() const override { return {static_cast<const char*>(start_), size_}; }
  void Forget(size_t offset) override {
    const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t end = std::min(offset, size_) / page * page;
    if (end <= forgotten_) return;
    // Dropped pages come back from the page cache if they are read again: this is advice, never loss.
    ::madvise(static_cast<char*>(start_) + forgotten_, end - forgotten_, MADV_DONTNEED);
    forgotten_ = end;
  }

 private:
  void* start_;
  size_t size_;
  size_t forgotten_ = 0;
};

Result<std::unique_ptr<FileBytes>> ReadAll(int fd, const std::string& path) {
  std::string data;
  constexpr size_t kStep = 256 * 1024;
  while (true) {
    const size_t before = data.size();
    if (before >= kMaxHeldBytes) {
      return Status::Unsupported(path + " is no plain file and holds more than 1 GiB; save it as a file first");
    }
    data.resize(before + kStep);
    ssize_t n = 0;
    do {
      n = ::read(fd, data.data() + before, kStep);
    } while (n < 0 && errno == EINTR);
    if (n < 0) return Failure("read", path, errno);
    data.resize(before + static_cast<size_t>(n));
    if (n == 0) break;
  }
  data.shrink_to_fit();
  return std::unique_ptr<FileBytes>(std::make_unique<HeldBytes>(std::move(data)));
}

class PosixAppendFile : public AppendFile {
 public:
  PosixAppendFile(Fd fd, std::string path, int64_t size, bool created)
      : fd_(std::move(fd)), path_(std::move(path)), size_(size), name_unsynced_(created) {}

  Status Append(std::string_view data) override {
    const int error = WriteAll(fd_.get(), data);
    if (error == 0) {
      size_ += static_cast<int64_t>(data.size());
      return Status::Ok();
    }
    struct stat st = {};
    if (::fstat(fd_.get(), &st) == 0) size_ = st.st_size;
    return Failure("write", path_, error);
  }

  Status Sync() override {
    if (::fdatasync(fd_.get()) != 0 && errno != EINVAL) return Failure("sync", path_, errno);
    if (!std::exchange(name_unsynced_, false)) return Status::Ok();
    const int error = SyncDir(DirName(path_));
    return error == 0 ? Status::Ok() : Failure("sync the directory of", path_, error);
  }

  int64_t size() const override { return size_; }

  Status Truncate(int64_t size) override {
    if (::ftruncate(fd_.get(), size) != 0) return Failure("shorten", path_, errno);
    size_ = size;
    return Status::Ok();
  }

 private:
  Fd fd_;
  std::string path_;
  int64_t size_;
  bool name_unsynced_;
};

class PosixFileLock : public FileLock {
 public:
  explicit PosixFileLock(Fd fd) : fd_(std::move(fd)) {}

 private:
  Fd fd_;  // flock ends with its last descriptor
};

struct Magic {
  uint32_t value;
  const char* name;
};
// From statfs(2) and the file systems' own headers.
constexpr Magic kNetworkMagics[] = {
    {0x00006969, "nfs"},   {0x0000517B, "smb"},    {0xFF534D42, "cifs"},   {0xFE534D42, "smb2"},
    {0x65735546, "fuse"},  {0x0BD00BD0, "lustre"}, {0x47504653, "gpfs"},   {0x00C36400, "ceph"},
    {0x01021997, "9p"},    {0x5346414F, "afs"},    {0x6B414653, "afs"},    {0x73757245, "coda"},
    {0x01161970, "gfs2"},  {0x7461636F, "ocfs2"},  {0x19830326, "beegfs"}, {0x0000564C, "ncp"},
    {0xAAD7AAEA, "panfs"}, {0x786F4256, "vboxsf"}, {0x20030528, "pvfs2"},  {0xBACBACBC, "vmhgfs"},
};

class PosixFileSystem : public FileSystem {
 public:
  Result<std::unique_ptr<FileBytes>> Map(const std::string& path) override {
    const Fd fd = Open(path, O_RDONLY);
    if (!fd.ok()) return Failure("open", path, errno);
    struct stat st = {};
    if (::fstat(fd.get(), &st) != 0) return Failure("examine", path, errno);
    if (S_ISDIR(st.st_mode)) return IsADirectory(path);
    // Size 0 is read as well: files of /proc and /sys say so, and have content.
    if (!S_ISREG(st.st_mode) || st.st_size == 0) return ReadAll(fd.get(), path);
    const size_t size = static_cast<size_t>(st.st_size);
    void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (start == MAP_FAILED) return ReadAll(fd.get(), path);  // some FUSE file systems cannot map
    ::madvise(start, size, MADV_SEQUENTIAL);
    return std::unique_ptr<FileBytes>(std::make_unique<MappedBytes>(start, size));
  }

  Result<std::unique_ptr<AppendFile>> OpenAppend(const std::string& path) override {
    bool created = false;
    Fd fd = Open(path, O_WRONLY | O_APPEND);
    if (!fd.ok() && errno == ENOENT) {
      created = true;
      Fd fresh = Open(path, O_WRONLY | O_APPEND | O_CREAT, 0666);
      if (!fresh.ok()) return Failure("create", path, errno);
      return Appender(std::move(fresh), path, created);
    }
    if (!fd.ok()) return errno == EISDIR ? IsADirectory(path) : Failure("open", path, errno);
    return Appender(std::move(fd), path, created);
  }

  Status WriteAtomically(const std::string& path, std::string_view data) override;
  Result<std::vector<FileInfo>> List(const std::string& dir) override;
  Status MakeDirs(const std::string& dir) override;
  std::string NetworkFileSystem(const std::string& path) override;

  Result<FileInfo> Stat(const std::string& path) override {
    struct stat st = {};
    if (::stat(path.c_str(), &st) != 0) return Failure("find", path, errno);
    return ToInfo(BaseName(path), st);
  }

  Status Remove(const std::string& path) override {
    if (std::remove(path.c_str()) != 0) return Failure("remove", path, errno);
    return Status::Ok();
  }

  Status Rename(const std::string& from, const std::string& to) override {
    if (std::rename(from.c_str(), to.c_str()) != 0) return Failure("rename", from + " to " + to, errno);
    const int error = SyncDir(DirName(to));
    return error == 0 ? Status::Ok() : Failure("sync the directory of", to, error);
  }

  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    Fd fd = Open(path, O_RDWR | O_CREAT, 0666);
    if (!fd.ok() && errno == EISDIR) return LockFd(Open(path, O_RDONLY), path);
    return LockFd(std::move(fd), path);
  }

 private:
  static Result<std::unique_ptr<AppendFile>> Appender(Fd fd, const std::string& path, bool created) {
    struct stat st = {};
    if (::fstat(fd.get(), &st) != 0) return Failure("examine", path, errno);
    return std::unique_ptr<AppendFile>(std::make_unique<PosixAppendFile>(std::move(fd), path, st.st_size, created));
  }

  static Result<std::unique_ptr<FileLock>> LockFd(Fd fd, const std::string& path) {
    if (!fd.ok()) return Failure("open the lock", path, errno);
    int rc = 0;
    do {
      // By its number: flock is declared in the system's <sys/file.h>, and with -Isrc those words name our own header.
      rc = static_cast<int>(::syscall(SYS_flock, fd.get(), LOCK_EX | LOCK_NB));
    } while (rc != 0 && errno == EINTR);
    if (rc != 0 && errno == EWOULDBLOCK) return Status::Unavailable(path + " is locked by another running program");
    if (rc != 0) return Failure("lock", path, errno);
    return std::unique_ptr<FileLock>(std::make_unique<PosixFileLock>(std::move(fd)));
  }

  static Status WriteInPlace(const std::string& path, std::string_view data) {
    Fd fd = Open(path, O_WRONLY);
    if (!fd.ok()) return Failure("open", path, errno);
    const int error = WriteAll(fd.get(), data);
    return error == 0 ? Status::Ok() : Failure("write", path, error);
  }
};

/// Writes `data` to the new file `temp` and syncs it. 0 or errno; on an error the file is gone again.
int WriteNewFile(const std::string& temp, std::string_view data, const struct stat* old) {
  Fd fd = Open(temp, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (!fd.ok()) return errno;
  int error = WriteAll(fd.get(), data);
  if (error == 0 && old != nullptr && ::fchmod(fd.get(), old->st_mode & 07777) != 0) error = errno;
  if (error == 0 && ::fsync(fd.get()) != 0 && errno != EINVAL) error = errno;
  const int close_error = fd.Close();
  if (error == 0) error = close_error;
  if (error != 0) ::unlink(temp.c_str());
  return error;
}

Status PosixFileSystem::WriteAtomically(const std::string& path, std::string_view data) {
  static std::atomic<unsigned> counter{0};
  std::string target = path;
  struct stat st = {};
  const bool exists = ::stat(path.c_str(), &st) == 0;
  if (exists) {
    if (S_ISDIR(st.st_mode)) return IsADirectory(path);
    // A rename over /dev/null or a pipe would take it away from everybody.
    if (!S_ISREG(st.st_mode)) return WriteInPlace(path, data);
    // Through a symlink, the file it points to is replaced and the link stays.
    if (char resolved[PATH_MAX]; ::realpath(path.c_str(), resolved) != nullptr) target = resolved;
  }
  std::string temp_name = ".";
  temp_name.append(BaseName(target)).append(".tmp.").append(std::to_string(::getpid()));
  temp_name.append(".").append(std::to_string(counter.fetch_add(1)));
  const std::string temp = JoinPath(DirName(target), temp_name);
  int error = WriteNewFile(temp, data, exists ? &st : nullptr);
  if (error == EEXIST) {  // left by a process of the same number that was killed
    ::unlink(temp.c_str());
    error = WriteNewFile(temp, data, exists ? &st : nullptr);
  }
  if (error != 0) return Failure("write", path, error);
  if (std::rename(temp.c_str(), target.c_str()) != 0) {
    error = errno;
    ::unlink(temp.c_str());
    return Failure("replace", path, error);
  }
  error = SyncDir(DirName(target));
  return error == 0 ? Status::Ok() : Failure("sync the directory of", path, error);
}

Result<std::vector<FileInfo>> PosixFileSystem::List(const std::string& dir) {
  DIR* handle = ::opendir(dir.c_str());
  if (handle == nullptr) {
    if (errno == ENOTDIR) return Status::Invalid(dir + " is a file, not a directory");
    return Failure("list", dir, errno);
  }
  std::vector<FileInfo> files;
  int error = 0;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(handle);
    if (entry == nullptr) {
      error = errno;
      break;
    }
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat st = {};
    // What went away meanwhile, or a link that leads nowhere, is no file to be listed.
    if (::fstatat(::dirfd(handle), name.c_str(), &st, 0) == 0) files.push_back(ToInfo(name, st));
  }
  ::closedir(handle);
  if (error != 0) return Failure("list", dir, error);
  std::sort(files.begin(), files.end(), [](const FileInfo& a, const FileInfo& b) { return a.name < b.name; });
  return files;
}

Status PosixFileSystem::MakeDirs(const std::string& dir) {
  for (size_t end = 0; end != std::string::npos;) {
    end = dir.find('/', end + 1);
    const std::string part = dir.substr(0, end);
    if (part.empty() || ::mkdir(part.c_str(), 0777) == 0) continue;
    const int error = errno;
    struct stat st = {};
    if (::stat(part.c_str(), &st) == 0) {
      if (S_ISDIR(st.st_mode)) continue;
      return Status::Invalid("cannot create directory " + dir + ": " + part + " is a file");
    }
    return Failure("create directory", part, error);
  }
  return Status::Ok();
}

std::string PosixFileSystem::NetworkFileSystem(const std::string& path) {
  std::string at = path.empty() ? "." : path;
  struct statfs fs = {};
  while (::statfs(at.c_str(), &fs) != 0) {
    // A path that is still to be made lies where its nearest parent lies.
    const std::string parent = DirName(at);
    if (errno != ENOENT || parent == at) return "";
    at = parent;
  }
  for (const Magic& magic : kNetworkMagics) {
    if (static_cast<uint32_t>(fs.f_type) == magic.value) return magic.name;
  }
  return "";
}

}  // namespace

std::unique_ptr<FileSystem> MakeRealFileSystem() { return std::make_unique<PosixFileSystem>(); }

}  // namespace sawbill::sys
