// SPDX-License-Identifier: Apache-2.0
// What /proc tells of one process, as numbers: /proc/PID/stat and /proc/PID/io.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sawbill::host {

struct ProcessStat {
  int64_t pid = 0, parent = 0, group = 0, session = 0;
  char state = '?';
  uint64_t flags = 0, threads = 0;
  uint64_t cpu_ticks = 0;     // user and system, of all its threads, those that ended included
  uint64_t reaped_ticks = 0;  // of children that it waited for, with theirs
  uint64_t start_ticks = 0;   // since boot; pid and start together are one process
  std::string comm;

  bool kernel_thread() const { return (flags & 0x00200000) != 0; }  // PF_KTHREAD
  /// Ended and not waited for. A main thread that ended before the others has the same letter.
  bool defunct() const { return (state == 'Z' || state == 'X') && threads <= 1; }
};
/// False when the text is not whole. The name in the second field may hold blanks, newlines and parentheses: it ends at
/// the last ')'.
bool ParseProcessStat(std::string_view text, ProcessStat* stat);

/// Bytes that really came from and went to storage (read_bytes, write_bytes), not those that calls asked for: rchar
/// also counts pipes between a loader and its workers, and what the page cache answered. A parent's numbers include
/// those of children that it waited for.
struct ProcessIo {
  bool known = false;
  uint64_t read_bytes = 0, written_bytes = 0;
};
ProcessIo ParseProcessIo(std::string_view text);

}  // namespace sawbill::host
