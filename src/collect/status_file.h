// SPDX-License-Identifier: Apache-2.0
// <data>/collector.json: the recorder as others see it (`sawbill doctor`, `run`, `pause`). Written now and then, as a
// whole; not a record of the past and never read back by the recorder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collect/collector.h"

namespace sawbill::collect {

inline constexpr const char* kStatusName = "collector.json";
/// While it exists and its time has not passed, the recorder keeps its hands off the cards. Text: Unix seconds.
inline constexpr const char* kPauseName = "pause";

struct StatusFacts {
  int64_t pid = 0;
  TimeMs started = 0, updated = 0;
  double interval_s = 1;
  std::string version, node;
};

std::string StatusJson(const StatusFacts& facts, const CollectorState& state);

/// What a reader needs of it; nothing when it is no such file.
struct StatusSeen {
  StatusFacts facts;
  std::string source, driver;
  gpu::SourceStatus source_status;
  bool open = false, paused = false, history_paused = false;
  int64_t ticks = 0, lost_ticks = 0, stretch = 1;
  std::optional<double> cpu_share, rss_mb;
  std::optional<int64_t> open_fds;
  struct Tick {
    double driver_us = 0, host_us = 0, processes_us = 0, writing_us = 0;
  } tick;
  std::vector<CollectorState::Card> cards;
};
std::optional<StatusSeen> ParseStatus(std::string_view text);

}  // namespace sawbill::collect
