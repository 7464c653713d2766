// SPDX-License-Identifier: Apache-2.0
#include "sys/self.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::sys {
namespace {

std::optional<std::string> ReadSmallFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::string data;
  char buffer[4096];
  ssize_t n = 0;
  while ((n = ::read(fd, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR)) {
    if (n > 0) data.append(buffer, static_cast<size_t>(n));
  }
  ::close(fd);
  if (n < 0) return std::nullopt;
  return data;
}

/// utime and stime, the 14th and 15th fields. The 2nd, the program's name, may hold blanks and parentheses.
std::optional<double> CpuSeconds(std::string_view stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 > stat.size()) return std::nullopt;
  const std::vector<std::string_view> fields = Split(stat.substr(name_end + 2), ' ');  // begins with the 3rd
  if (fields.size() < 13) return std::nullopt;
  const std::optional<int64_t> user = ParseInt(fields[11]), system = ParseInt(fields[12]);
  const long ticks = ::sysconf(_SC_CLK_TCK);
  if (!user || !system || ticks <= 0) return std::nullopt;
  return static_cast<double>(*user + *system) / static_cast<double>(ticks);
}

/// "VmRSS:    1234 kB" in bytes.
std::optional<int64_t> StatusBytes(std::string_view status, std::string_view key) {
  for (std::string_view line : Split(status, '\n')) {
    if (!StartsWith(line, key)) continue;
    line = Trim(line.substr(key.size()));
    if (!EndsWith(line, " kB")) return std::nullopt;
    const std::optional<int64_t> kb = ParseInt(line.substr(0, line.size() - 3));
    if (!kb || *kb < 0 || *kb > (int64_t{1} << 50)) return std::nullopt;
    return *kb * 1024;
  }
  return std::nullopt;
}

std::optional<int> CountFds(const std::string& dir, bool own) {
  DIR* handle = ::opendir(dir.c_str());
  if (handle == nullptr) return std::nullopt;
  int count = 0;
  while (const dirent* entry = ::readdir(handle)) {
    if (entry->d_name[0] != '.') ++count;
  }
  ::closedir(handle);
  return own ? count - 1 : count;  // less the one that counted
}

}  // namespace

SelfUsage ReadSelfUsage(const std::string& proc_root) {
  SelfUsage usage;
  if (const std::optional<std::string> stat = ReadSmallFile(proc_root + "/self/stat")) {
    usage.cpu_seconds = CpuSeconds(*stat);
  }
  if (const std::optional<std::string> status = ReadSmallFile(proc_root + "/self/status")) {
    usage.rss_bytes = StatusBytes(*status, "VmRSS:");
    usage.peak_rss_bytes = StatusBytes(*status, "VmHWM:");
    usage.anonymous_bytes = StatusBytes(*status, "RssAnon:");
  }
  usage.open_fds = CountFds(proc_root + "/self/fd", proc_root == "/proc");
  return usage;
}

void KeepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that there is: each larger block is a mapping of its own
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);  // the heap grows by whole huge pages
  // What one thread freed the next one takes; with a single heap they would wait for each other.
  mallopt(M_ARENA_MAX, 2);
#endif
}

void ReleaseFreeMemory(int64_t keep_bytes) {
#ifdef __GLIBC__
  if (keep_bytes > 0 && ReadSelfUsage().anonymous_bytes.value_or(INT64_MAX) <= keep_bytes) return;
  malloc_trim(0);
#else
  (void)keep_bytes;
#endif
}

void AdviseHugePages(const void* data, size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  const auto from = reinterpret_cast<uintptr_t>(data) / kHugePage * kHugePage;
  // Ahead of the block, too: malloc writes there before the next one is asked for.
  const auto to = (reinterpret_cast<uintptr_t>(data) + bytes) / kHugePage * kHugePage + 3 * kHugePage;
  ::madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
#else
  (void)data, (void)bytes;
#endif
}

}  // namespace sawbill::sys
