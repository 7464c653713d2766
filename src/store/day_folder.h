// SPDX-License-Identifier: Apache-2.0
// What a folder of day files holds: nodes, inventories, clocks, and the time of each file. Small kinds (runs, events)
// are read here once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "model/recording.h"
#include "store/clock_fix.h"
#include "store/day_file.h"
#include "store/inventory.h"
#include "sys/file.h"

namespace sawbill::store {

struct NodeFolder {
  std::string name;  // "" = a folder of one node that does not say its name
  std::string path;
  Inventory inventory;
  ClockFix clock;
  std::vector<model::RunRow> runs;      // by time
  std::vector<model::EventRow> events;  // by time
};

struct DayFolder {
  std::string dir;
  bool simulated = false;
  std::vector<NodeFolder> nodes;
  std::vector<DayFile> files;  // gpu, host and process; by node, kind and day
  model::DataQuality quality;  // of the folder as a whole
};

/// Folders with day files in them: `dir` itself (node "") and those in it.
Result<std::vector<NodeFolder>> FindNodes(sys::FileSystem* fs, const std::string& dir);
struct ScanOptions {
  TimeZone tz = TimeZone::Utc();
  std::optional<TimeMs> to;  // nothing later is going to be read
  bool only_this_folder = false;
};
Result<DayFolder> ScanFolder(sys::FileSystem* fs, const std::string& dir, const ScanOptions& options);

}  // namespace sawbill::store
