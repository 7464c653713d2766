// SPDX-License-Identifier: Apache-2.0
// The state file: what a player (the pipeline simulator, a replay) says is now, in shared memory. One writer, any
// number of readers in other processes. A reader that meets a write tries again (a sequence lock: odd while it is
// written).
//
// The player sets the time as well: `time_s` since its start, whose Unix time is `start_ms`. Counters and GPM come from
// `total`, the integral of each value over time, which the player keeps: so it may play faster than real time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "simulator/nvml/source.h"

namespace sawbill::nvmlsim {

inline constexpr uint32_t kStateMagic = 0x4C4C4957u;  // "WILL"
inline constexpr uint32_t kStateVersion = 1;
inline constexpr int kStateCards = 16, kStateInstances = 7, kStateProcesses = 256, kStateSamples = 128,
                     kStateEvents = 32;

struct UnitState {
  std::array<double, kFields> value;  // by Field; NaN: not known
  std::array<double, kFields> total;  // value times seconds since the start; NaN: not known
};

struct InstanceState {
  int32_t slot, gpu_instance, compute_instance, slices, sm_count, reserved;
  double memory_mib;
  char profile[32];
  char uuid[96];
  UnitState unit;
};

struct ProcessState {
  uint32_t pid;
  int32_t instance;  // -1: the whole card
  char type;         // 'C', 'G', 'M'
  char name[63];
  double mem_mib, sm_util, mem_util, enc_util, dec_util;
};

/// Of the driver's ring buffer.
struct SampleState {
  double time_s;
  float sm_util, mem_util, power_w, reserved;
};

struct EventState {
  double time_s;
  uint64_t type, data;  // nvml::EventType
};

struct CardState {
  char model[64];  // key or name of the catalogue
  char uuid[96];   // "": as a script would give it
  char name[96];
  double memory_mib, reserved_mib, default_limit_w;  // 0: as the catalogue says
  uint8_t unified_memory, reserved[7];
  UnitState unit;
  double reason_s[16];  // seconds since the start with each bit of the clock event reasons
  uint32_t instance_count, process_count, sample_count, event_count;  // samples and events: how many there ever were
  InstanceState instances[kStateInstances];
  ProcessState processes[kStateProcesses];
  SampleState samples[kStateSamples];  // ring: the n-th stands at n % kStateSamples
  EventState events[kStateEvents];
};

struct State {
  uint32_t magic, version, size, card_count;
  std::atomic<uint32_t> sequence;
  uint32_t reserved;
  double time_s, start_ms;
  char driver[80], nvml[80];
  int32_t cuda, reserved2;
  CardState cards[kStateCards];
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

/// Creates the file (replacing one that is there) and maps it. A card's facts (model, uuid, instances) must stand
/// before the first Write ends: readers take them when they load.
class StateWriter {
 public:
  static Result<std::unique_ptr<StateWriter>> Create(const std::string& path, int cards);
  ~StateWriter();
  StateWriter(const StateWriter&) = delete;
  StateWriter& operator=(const StateWriter&) = delete;

  /// What is to be said next; readers see it after Publish.
  State& next() { return *next_; }
  void Publish();

  void AddSample(int card, const SampleState& sample);
  void AddEvent(int card, const EventState& event);

 private:
  StateWriter() = default;
  std::unique_ptr<State> next_;
  State* shared_ = nullptr;
};

/// The cards of a state file. kUnavailable: not there, or of another version.
Result<std::unique_ptr<Source>> OpenState(const std::string& path);

}  // namespace sawbill::nvmlsim
