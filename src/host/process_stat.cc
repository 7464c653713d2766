// SPDX-License-Identifier: Apache-2.0
#include "host/process_stat.h"

#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "host/scan.h"

namespace sawbill::host {
namespace {
// Of the fields behind the name, from `state` = 0.
constexpr size_t kParent = 1, kGroup = 2, kSession = 3, kFlags = 6, kUser = 11, kSystem = 12, kReapedUser = 13,
                 kReapedSystem = 14, kThreads = 17, kStart = 19, kFields = 20;
}  // namespace

bool ParseProcessStat(std::string_view text, ProcessStat* stat) {
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return false;
  const auto pid = ToU64(Trim(text.substr(0, open)));
  if (!pid || *pid == 0) return false;
  std::string_view rest = text.substr(close + 1);
  std::array<std::string_view, kFields> field;
  for (std::string_view& f : field) f = TakeWord(&rest);
  if (field.back().empty() || field[0].size() != 1) return false;
  bool whole = true;
  const auto number = [&](size_t i) {
    const auto v = ToU64(field[i]);
    whole = whole && v.has_value();
    return v.value_or(0);
  };
  const auto id = [&](size_t i) {  // -1 and 0: outside of this PID namespace
    const auto v = ToU64(field[i]);
    return v ? static_cast<int64_t>(*v) : 0;
  };
  stat->pid = static_cast<int64_t>(*pid);
  stat->comm = std::string(text.substr(open + 1, close - open - 1));
  stat->state = field[0][0];
  stat->parent = id(kParent);
  stat->group = id(kGroup);
  stat->session = id(kSession);
  stat->flags = number(kFlags);
  stat->threads = number(kThreads);
  stat->cpu_ticks = number(kUser) + number(kSystem);
  // Signed in the kernel, and wrong by a few ticks below zero at times: then nothing was reaped.
  stat->reaped_ticks = static_cast<uint64_t>(id(kReapedUser) + id(kReapedSystem));
  stat->start_ticks = number(kStart);
  return whole;
}

ProcessIo ParseProcessIo(std::string_view text) {
  const auto read = ToU64(ValueOf(text, "read_bytes:")), written = ToU64(ValueOf(text, "write_bytes:"));
  if (!read || !written) return {};
  return {true, *read, *written};
}

}  // namespace sawbill::host
