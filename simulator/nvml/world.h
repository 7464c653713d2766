// SPDX-License-Identifier: Apache-2.0
// The one simulated driver of this process: its clock, who has initialised it, which card stands at which index, and
// the faults that are on. Every NVML function goes through OnSystem, OnCard or OnPlace, which check in the order of the
// real library: not initialised (1) before anything else, then the handle, then what the function itself says.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gpu/nvml_abi.h"
#include "simulator/nvml/script.h"
#include "simulator/nvml/source.h"

namespace sawbill::nvmlsim {

/// What a function sees of the place that it was called for. Lives under the lock of the world.
class View {
 public:
  View(const Source& source, Place place, double t_s, bool wild)
      : source_(source), place_(place), t_s_(t_s), wild_(wild) {}
  const CardFacts& facts() const { return source_.cards()[static_cast<size_t>(place_.card)]; }
  const CardModel& model() const { return *facts().model; }
  const InstanceFacts* instance() const {
    return place_.instance < 0 ? nullptr : &facts().instances[static_cast<size_t>(place_.instance)];
  }
  const Source& source() const { return source_; }
  /// Not so when the card's `unsupported` has a pattern of "nvmlDeviceGetX", "field:186", "gpm:5".
  bool Supports(const std::string& call) const;
  Place place() const { return place_; }
  double t_s() const { return t_s_; }

  double Now(Field field) const { return Wild(source_.Value(place_, field, t_s_)); }
  double Mean(Field field, double from_s, double to_s) const { return Wild(source_.Mean(place_, field, from_s, to_s)); }
  /// The last whole window before now, as the driver keeps it.
  double LastWindow(Field field, double window_s) const;
  /// Since the driver loaded (or the counters were reset).
  double Counter(Field field) const;

 private:
  /// Seen in the field: a percent that was never written (sonar #245).
  double Wild(double value) const { return wild_ ? 2287971552.0 : value; }
  const Source& source_;
  Place place_;
  double t_s_;
  bool wild_;
};

/// As NVML's integers: NaN has no value.
template <typename Integer>
nvml::Return Give(double value, Integer* out) {
  if (out == nullptr) return nvml::kInvalidArgument;
  if (!(value >= 0)) return nvml::kNoData;
  constexpr auto kMost = static_cast<double>(std::numeric_limits<Integer>::max() / 4 * 3);
  *out = static_cast<Integer>(std::min(value, kMost) + 0.5);
  return nvml::kSuccess;
}
nvml::Return GiveText(const std::string& text, char* out, nvml::u32 length);

struct EventSetState {
  struct Registered {
    nvml::u64 types = 0;
    double from_s = 0;
  };
  std::map<int, Registered> cards;
  std::map<int, double> told_s;  // time of the last event that each card told
  std::map<int, int> told_now;   // and how many of that time
  std::set<int> lost;            // cards whose loss was told
};

/// What the counters were.
struct GpmSampleState {
  bool taken = false;
  Place place;
  double t_s = 0;
  std::array<double, kFields> total{}, nan_s{};
};

class World {
 public:
  static World& Get();

  // For sawbill_sim_*.
  Status Load(std::string_view text);
  void FixTime(double t_s);
  void Reset();
  long Calls(const char* function, int card);

  double TimeUs(double t_s);  // CPU time of the driver's stamps
  double Now();

  std::mutex mutex;
  std::condition_variable changed;  // the clock was set, or another script loaded
  std::shared_ptr<const Source> source;
  std::vector<Fault> faults;
  int users = 0;         // nvmlInit less nvmlShutdown
  unsigned session = 0;  // goes up with each first nvmlInit: handles of before are dead
  double session_from_s = 0;
  std::vector<int> order;  // card of each index
  // By their handle, which is their address. Gone with the last nvmlShutdown.
  std::map<EventSetState*, std::unique_ptr<EventSetState>> event_sets;
  std::map<GpmSampleState*, std::unique_ptr<GpmSampleState>> gpm_samples;
  bool fixed_time() const { return fixed_; }
  double speed() const { return speed_; }

  void EnsureLoaded();
  /// What could not be read from the environment may be there by the next nvmlInit: a player that starts late.
  void TryAgain();
  void Enumerate();
  void LeaveSession();
  nvml::Device HandleOf(Place place) const;
  bool PlaceOf(nvml::Device device, Place* place) const;
  /// Whether the card is gone for this session; a card that comes back needs a new one.
  const Fault* Lost(int card, double t_s) const;
  const Fault* FaultOf(FaultKind kind, const std::string& call, int card, double t_s) const;
  void Count(const char* function, int card);
  /// Blocks until the fault ends. `lock` is let go meanwhile.
  void Hang(const Fault& fault, std::unique_lock<std::mutex>& lock);
  /// The time that a call takes. Nothing waits while the clock is fixed.
  void Spend(double ms, std::unique_lock<std::mutex>& lock);

 private:
  void SetSource(std::shared_ptr<const Source> fresh, std::vector<Fault> fresh_faults);
  void StartClock();
  std::map<std::string, std::map<int, long>> calls_;
  bool incomplete_ = false;
  std::string said_;  // the last problem, once
  bool fixed_ = false;
  double fixed_s_ = 0, start_ms_ = 0, speed_ = 1;
  unsigned epoch_ = 0;  // goes up with each load: whoever waited for the old script wakes
};

/// Why a call ends before its function is asked: driver gone, not initialised, symbol missing, a code, ... ; -1: it
/// does not. Slow and hanging calls have had their time when this returns.
int Before(World& world, std::unique_lock<std::mutex>& lock, const char* name, int card, bool* wild);

/// A call that needs nvmlInit and no card.
template <typename Body>
nvml::Return OnSystem(const char* name, Body body) {
  World& world = World::Get();
  std::unique_lock lock(world.mutex);
  world.EnsureLoaded();
  bool wild = false;
  const int early = Before(world, lock, name, -1, &wild);
  if (early >= 0) return static_cast<nvml::Return>(early);
  return body(world);
}

/// A call on a card or on a MIG instance: body(View&).
template <typename Body>
nvml::Return OnPlace(const char* name, nvml::Device device, Body body) {
  World& world = World::Get();
  std::unique_lock lock(world.mutex);
  world.EnsureLoaded();
  Place place;
  const bool known = world.PlaceOf(device, &place);
  bool wild = false;
  const int early = Before(world, lock, name, known ? place.card : -1, &wild);
  if (early >= 0) return static_cast<nvml::Return>(early);
  if (!known) return nvml::kInvalidArgument;
  const View view(*world.source, place, world.Now(), wild);
  return body(view);
}

/// The same for what only whole cards have.
template <typename Body>
nvml::Return OnCard(const char* name, nvml::Device device, Body body) {
  return OnPlace(name, device,
                 [&](const View& view) { return view.instance() != nullptr ? nvml::kNotSupported : body(view); });
}

}  // namespace sawbill::nvmlsim
