// SPDX-License-Identifier: Apache-2.0
// Events: Xid, ECC, ... of the script or the state file, each once for each set that asked for its kind.
#include <chrono>
#include <cmath>
#include <map>

#include "simulator/nvml/api.h"

namespace sawbill::nvml {
namespace {
using nvmlsim::EventNow;
using nvmlsim::EventSetState;
using nvmlsim::OnCard;
using nvmlsim::OnSystem;
using nvmlsim::View;
using nvmlsim::World;

constexpr u64 kLinuxEvents = kEventPstate | kEventXid | kEventClock | kEventPowerSource;

u64 Supported(const View& v) {
  const u64 ecc = v.facts().ecc ? kEventSingleBitEcc | kEventDoubleBitEcc : 0;
  return kLinuxEvents | ecc | (v.model().mig ? static_cast<u64>(kEventMigConfig) : 0);
}

EventSetState* Known(World& world, EventSet set) {
  auto* state = reinterpret_cast<EventSetState*>(set);
  return world.event_sets.contains(state) ? state : nullptr;
}

/// The next event that `set` has not been told, or nullptr.
bool TakeEvent(World& world, EventSetState* set, EventNow* out) {
  const double now = world.Now();
  std::map<int, int> passed;  // of each card: events of the time of its last told one
  for (const EventNow& e : world.source->Events()) {
    const auto registered = set->cards.find(e.card);
    if (e.at_s > now || registered == set->cards.end() || (registered->second.types & e.type) == 0) continue;
    if (e.at_s < registered->second.from_s) continue;
    const auto told = set->told_s.find(e.card);
    if (told != set->told_s.end()) {
      if (e.at_s < told->second) continue;
      if (e.at_s == told->second && ++passed[e.card] <= set->told_now[e.card]) continue;
    }
    const bool same_time = told != set->told_s.end() && told->second == e.at_s;
    set->told_now[e.card] = same_time ? set->told_now[e.card] + 1 : 1;
    set->told_s[e.card] = e.at_s;
    *out = e;
    return true;
  }
  return false;
}

bool TakeLoss(World& world, EventSetState* set) {
  for (const auto& [card, registered] : set->cards) {
    if (world.Lost(card, world.Now()) != nullptr && set->lost.insert(card).second) return true;
  }
  return false;
}

Return Wait(const char* name, EventSet set, EventData* data, u32 timeout_ms, bool instances) {
  World& world = World::Get();
  std::unique_lock lock(world.mutex);
  world.EnsureLoaded();
  bool wild = false;
  const int early = nvmlsim::Before(world, lock, name, -1, &wild);
  if (early >= 0) return static_cast<Return>(early);
  if (data == nullptr || Known(world, set) == nullptr) return kInvalidArgument;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  while (true) {
    EventSetState* state = Known(world, set);
    if (state == nullptr || world.users == 0) return kUninitialized;
    EventNow event;
    if (TakeEvent(world, state, &event)) {
      *data = {world.HandleOf({event.card}), event.type, event.data, 0, 0};
      if (instances) {  // version 1 left them as they were
        data->gpuInstanceId = static_cast<u32>(event.gpu_instance);
        data->computeInstanceId = static_cast<u32>(event.compute_instance);
      }
      return kSuccess;
    }
    if (TakeLoss(world, state)) return kGpuIsLost;
    const auto now = std::chrono::steady_clock::now();
    // A fixed clock moves only when somebody sets it: no wait then.
    if (world.fixed_time() || now >= until) return kTimeout;
    world.changed.wait_until(lock, std::min(until, now + std::chrono::milliseconds(50)));
  }
}

}  // namespace

extern "C" {

Return nvmlEventSetCreate(EventSet* set) {
  return OnSystem(__func__, [&](World& w) {
    if (set == nullptr) return kInvalidArgument;
    auto fresh = std::make_unique<EventSetState>();
    EventSetState* state = fresh.get();
    w.event_sets.emplace(state, std::move(fresh));
    *set = reinterpret_cast<EventSet>(state);
    return kSuccess;
  });
}
Return nvmlEventSetFree(EventSet set) {
  return OnSystem(__func__,
                  [&](World& w) { return w.event_sets.erase(Known(w, set)) == 1 ? kSuccess : kInvalidArgument; });
}
Return nvmlDeviceGetSupportedEventTypes(Device device, u64* types) {
  return OnCard(__func__, device, [&](const View& v) {
    if (types == nullptr) return kInvalidArgument;
    *types = Supported(v);
    return kSuccess;
  });
}
// One bit that is not supported refuses the whole call.
Return nvmlDeviceRegisterEvents(Device device, u64 types, EventSet set) {
  return OnCard(__func__, device, [&](const View& v) {
    EventSetState* state = Known(World::Get(), set);
    if (state == nullptr) return kInvalidArgument;
    if ((types & ~Supported(v)) != 0) return kNotSupported;
    auto& registered = state->cards[v.place().card];
    if (registered.types == 0) registered.from_s = v.t_s();
    registered.types |= types;
    return kSuccess;
  });
}
Return nvmlEventSetWait_v2(EventSet set, EventData* data, u32 timeout_ms) {
  return Wait(__func__, set, data, timeout_ms, true);
}
Return nvmlEventSetWait(EventSet set, EventData* data, u32 timeout_ms) {
  return Wait(__func__, set, data, timeout_ms, false);
}

}  // extern "C"
}  // namespace sawbill::nvml
