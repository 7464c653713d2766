// SPDX-License-Identifier: Apache-2.0
// Readings as Sawbill day files, with the truth beside them. Everything is made in memory; main.cc puts it on the disk.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "simulator/cards.h"
#include "simulator/measure.h"
#include "simulator/timeline.h"

namespace sawbill::simulator {

struct OutFile {
  std::string name, bytes;
};

/// What is expected of a monitor that reads the recording, and what the fix would bring.
struct Truth {
  std::string scenario, cause, note, saving_tier;
  std::vector<std::string> findings, also, not_allowed;
  bool healthy = false;
  std::optional<double> period_s, speedup_if_fixed, saving_share;
  std::optional<int> workers, gpu;  // gpu: the slow card
};

enum class Packing { kPlain, kGzip };

struct WriteSpec {
  TimeMs start_ms = 0;  // of the recording; days are UTC
  Packing packing = Packing::kGzip;
  double price_per_gpu_hour = 10;
  double util_window_s = 1;
  double power_limit_share = 1;  // the limit that is set, of the model's own
  uint64_t seed = 0;
};

std::string GpuHeader();
std::string HostHeader();
std::string ProcessHeader();
/// One row each, with its line feed.
void AppendRow(const GpuReading& r, TimeMs start_ms, std::string* out);
void AppendRow(const HostReading& r, TimeMs start_ms, std::string* out);
void AppendRow(const ProcessReading& r, const World& world, TimeMs start_ms, std::string* out);
std::string InventoryCsv(const CardModel& model, size_t cards, const WriteSpec& spec);
std::string TruthJson(const World& world, const CardModel& model, const Truth& truth, const WriteSpec& spec);

/// gpu, host and process day files, inventory.csv, truth.json, SIMULATED.
std::vector<OutFile> Render(const World& world, const Readings& readings, const CardModel& model, const Truth& truth,
                            const WriteSpec& spec);
/// gzip without a name and with time 0: the same bytes for the same input and zlib.
std::string Gzip(std::string_view bytes);

}  // namespace sawbill::simulator
