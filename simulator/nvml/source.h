// SPDX-License-Identifier: Apache-2.0
// Where the values of the simulated cards come from: a script (functions of time) or a state file (what a player says
// is now). The calls of NVML are written against this and know neither.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "simulator/nvml/catalogue.h"

namespace sawbill::nvmlsim {

enum class Field {
#define FIELD(id, key, help) id,
#include "simulator/nvml/fields.inc"
#undef FIELD
  kCount
};
inline constexpr size_t kFields = static_cast<size_t>(Field::kCount);
const char* FieldKey(Field field);

inline constexpr double kForever = std::numeric_limits<double>::infinity();

/// A card, or a MIG instance on it.
struct Place {
  int card = 0;
  int instance = -1;
};

struct InstanceFacts {
  int slot = 0;  // index of nvmlDeviceGetMigDeviceHandleByIndex; slots may have holes
  int gpu_instance = 0, compute_instance = 0;
  std::string profile;  // "3g.40gb"
  std::string uuid;
  double memory_mib = 0;
  int slices = 1, sm_count = 0;
};

/// What does not change. Texts that are empty answer "not supported".
struct CardFacts {
  const CardModel* model = nullptr;
  std::string name, uuid, serial, bus_id, vbios, part_number;
  unsigned domain = 0, bus = 0, device = 0;
  int minor_number = 0, numa_node = 0;
  double memory_mib = 0, reserved_mib = 0;
  double util_window_s = 0.5, power_window_s = 0.1, pcie_block_ms = 20;
  double default_limit_w = 0, energy_base_j = 0, counters_reset_at_s = -1;
  int samples = 120;  // length of the driver's ring buffers
  bool persistence = true, ecc = false, mig = false, gpm = false, unified_memory = false;
  bool pcie_bytes_wrap_32 = false;
  std::vector<std::string> unsupported;  // patterns of calls: "nvmlDeviceGetFanSpeed", "field:186", "gpm:5"
  std::vector<InstanceFacts> instances;
};

struct ProcessNow {
  unsigned pid = 0;
  char type = 'C';  // C compute, G graphics, M compute under MPS
  int instance = -1;
  double mem_mib = 0;  // NaN: the driver does not know
  double sm_util = 0, mem_util = 0, enc_util = 0, dec_util = 0;
  std::string name;
};

struct SystemFacts {
  std::string driver = "550.90.07", nvml = "12.550.90.07";
  int cuda = 12040;
};

struct EventNow {
  double at_s = 0;
  int card = 0;
  unsigned long long type = 0, data = 0;
  int gpu_instance = -1, compute_instance = -1;
};

class Source {
 public:
  virtual ~Source() = default;
  virtual const SystemFacts& system() const = 0;
  virtual const std::vector<CardFacts>& cards() const = 0;
  /// NaN: not known at this time.
  virtual double Value(Place place, Field field, double t_s) const = 0;
  /// Integral since the start, and the seconds in it that were NaN.
  virtual double Total(Place place, Field field, double t_s) const = 0;
  virtual double NanSeconds(Place place, Field field, double t_s) const = 0;
  /// Seconds since the start in which one of the clock event reasons in `bits` was on; NaN: not known.
  virtual double ReasonSeconds(Place place, unsigned long long bits, double t_s) const = 0;
  /// As the driver has it in its ring: the mean over [from_s, to_s].
  virtual double Mean(Place place, Field field, double from_s, double to_s) const = 0;
  /// The processes that hold the card. `from_s` to `to_s`: their shares are means over that time.
  virtual std::vector<ProcessNow> Processes(int card, double from_s, double to_s) const = 0;
  /// In order of time.
  virtual std::vector<EventNow> Events() const = 0;
  /// The time that a player keeps, or NaN: the library's own clock counts.
  virtual double Now() const { return kMissing; }
  /// Unix time of t = 0 in ms, or NaN.
  virtual double StartMs() const { return kMissing; }
};

}  // namespace sawbill::nvmlsim
