// SPDX-License-Identifier: Apache-2.0
// The recorder's loop: real clocks around collect::Collector, its status file, pauses, and the housekeeping of closed
// days. `sawbill record` is this; `sawbill run` starts it as a process of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/environment.h"
#include "app/options.h"
#include "app/settings.h"
#include "base/messages.h"
#include "collect/status_file.h"

namespace sawbill::app {

struct RecorderSpec {
  std::string dir;
  std::string nvml, dcgm;  // library and URL, "" = the usual one, none
  int64_t interval_ms = 1000, process_every_ms = 10'000;
  std::optional<int64_t> for_ms, keep_days;
  std::map<std::string, std::string> labels;
  TimeZone tz = TimeZone::Utc();
  Lang lang = Lang::kEn;
  int parent_fd = -1;                 // the recorder ends when the other end is closed
  std::vector<std::string> pause_in;  // folders whose `pause` file counts
  bool housekeeping = true, quiet = false;
  std::optional<model::RunRow> run;  // what is recorded is this run: its first row
};

/// What the flags say; errors name the flag.
Result<RecorderSpec> ResolveRecorder(const Options& options, const Settings& settings);

/// Until SIGTERM, SIGINT, the end of `for_ms` or of the parent. Returns the exit status.
int RunRecorder(const RecorderSpec& spec, Environment* env);

/// The recorder of a folder, if one is at work there: its status file, and the process is alive.
std::optional<collect::StatusSeen> FindRecorder(const std::string& dir, const Environment& env);
/// All that are at work in a data folder: its own, and those of `sawbill run`.
std::vector<collect::StatusSeen> FindRecorders(const std::string& data_dir, const Environment& env);

}  // namespace sawbill::app
