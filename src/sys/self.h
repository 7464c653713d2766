// SPDX-License-Identifier: Apache-2.0
// What this process itself costs the machine that it watches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sawbill::sys {

/// A field that the system does not tell is absent, never zero.
struct SelfUsage {
  std::optional<double> cpu_seconds;  // user and system, since the start
  std::optional<int64_t> rss_bytes;   // resident, mapped files included
  std::optional<int64_t> peak_rss_bytes;
  std::optional<int64_t> anonymous_bytes;  // resident without mapped files: what cannot be given back
  std::optional<int> open_fds;
};
SelfUsage ReadSelfUsage(const std::string& proc_root = "/proc");

/// For work that fills large columns, drops them and fills the next: memory that was freed is kept for the next ones,
/// since the first touch of a fresh page costs more than parsing the line that fills it. Call before there are threads.
void KeepFreedMemory();
/// Where this process holds more than `keep_bytes`, gives freed memory back to the system: large columns of several
/// threads leave holes that malloc would keep.
void ReleaseFreeMemory(int64_t keep_bytes = 0);
/// Asks for huge pages where `data` is, and around it. A hint only: what the kernel does not grant changes nothing but
/// the speed.
void AdviseHugePages(const void* data, size_t bytes);

}  // namespace sawbill::sys
