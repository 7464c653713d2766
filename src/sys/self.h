// SPDX-License-Identifier: Apache-2.0
// What this process itself costs the machine that it watches.
#pragma once

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

/// Gives freed heap memory back to the system: large columns of several threads leave holes that malloc would keep.
void ReleaseFreeMemory();

}  // namespace sawbill::sys
