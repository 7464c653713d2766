// SPDX-License-Identifier: Apache-2.0
// Init, shutdown, versions, texts of codes; and the calls that give handles out.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/text.h"
#include "simulator/nvml/api.h"

namespace sawbill::nvml {
namespace {
using nvmlsim::Fault;
using nvmlsim::FaultKind;
using nvmlsim::GiveText;
using nvmlsim::OnSystem;
using nvmlsim::World;

Return Init(const char* name) {
  World& world = World::Get();
  std::unique_lock lock(world.mutex);
  world.EnsureLoaded();
  world.TryAgain();
  world.Count(name, -1);
  if (const Fault* f = world.FaultOf(FaultKind::kSlow, name, -1, world.Now())) world.Spend(f->slow_ms, lock);
  if (const Fault* f = world.FaultOf(FaultKind::kHang, name, -1, world.Now())) {
    const Fault hang = *f;
    world.Hang(hang, lock);
    world.EnsureLoaded();
  }
  for (const FaultKind kind : {FaultKind::kMissing, FaultKind::kDriver, FaultKind::kCode}) {
    const Fault* f = world.FaultOf(kind, name, -1, world.Now());
    if (f != nullptr && f->card < 0) return static_cast<Return>(f->code);
  }
  if (world.users++ == 0) world.Enumerate();
  return kSuccess;
}

/// A handle, if the card may be reached: the fault of a call is that of the card it asks for.
Return GiveHandle(World& world, const char* name, int card, Device* device) {
  const double t = world.Now();
  if (const Fault* f = world.Lost(card, t)) return static_cast<Return>(f->code);
  const Fault* f = world.FaultOf(FaultKind::kCode, name, card, t);
  if (f != nullptr && f->card == card) return static_cast<Return>(f->code);
  *device = world.HandleOf({card});
  return kSuccess;
}

Return HandleByIndex(const char* name, u32 index, Device* device) {
  return OnSystem(name, [&](World& world) {
    if (device == nullptr || index >= world.order.size()) return kInvalidArgument;
    const int card = world.order[index];
    world.Count(name, card);
    return GiveHandle(world, name, card, device);
  });
}

template <typename Matches>
Return HandleBy(const char* name, Device* device, Return otherwise, Matches matches) {
  return OnSystem(name, [&](World& world) {
    if (device == nullptr) return kInvalidArgument;
    for (const int card : world.order) {
      const auto& facts = world.source->cards()[static_cast<size_t>(card)];
      if (matches(facts)) return GiveHandle(world, name, card, device);
      for (size_t i = 0; i < facts.instances.size(); ++i) {
        if (facts.instances[i].uuid == "" || !matches(facts.instances[i])) continue;
        *device = world.HandleOf({card, static_cast<int>(i)});
        return kSuccess;
      }
    }
    return otherwise;
  });
}

/// "0000:3b:00.0", "3B:00.0", "00000000:3B:00" -> domain, bus, device; any hexadecimal spelling.
bool ParseBusId(std::string_view text, unsigned* domain, unsigned* bus, unsigned* device) {
  std::vector<std::string_view> parts = Split(text.substr(0, text.find('.')), ':');
  if (parts.size() == 2) parts.insert(parts.begin(), "0");
  if (parts.size() != 3) return false;
  unsigned* const out[] = {domain, bus, device};
  for (size_t i = 0; i < 3; ++i) {
    const auto value = nvmlsim::ParseWord("0x" + std::string(parts[i]));
    if (!value) return false;
    *out[i] = static_cast<unsigned>(*value);
  }
  return true;
}

Return HandleByBusId(const char* name, const char* text, Device* device) {
  unsigned domain = 0, bus = 0, slot = 0;
  const bool parsed = text != nullptr && ParseBusId(text, &domain, &bus, &slot);
  return OnSystem(name, [&](World& world) {
    if (device == nullptr || !parsed) return kInvalidArgument;
    for (const int card : world.order) {
      const auto& f = world.source->cards()[static_cast<size_t>(card)];
      if (f.domain == domain && f.bus == bus && f.device == slot) return GiveHandle(world, name, card, device);
    }
    return kNotFound;
  });
}

constexpr const char* kTexts[] = {"Success",
                                  "Uninitialized",
                                  "Invalid Argument",
                                  "Not Supported",
                                  "Insufficient Permissions",
                                  "Already Initialized",
                                  "Not Found",
                                  "Insufficient Size",
                                  "Insufficient External Power",
                                  "Driver Not Loaded",
                                  "Timeout",
                                  "Interrupt Request Issue",
                                  "NVML Shared Library Not Found",
                                  "Function Not Found",
                                  "Corrupted infoROM",
                                  "GPU is lost",
                                  "GPU requires reset",
                                  "GPU access blocked by the operating system",
                                  "Driver/library version mismatch",
                                  "In use by another client",
                                  "Insufficient Memory",
                                  "No data",
                                  "vGPU ECC not supported",
                                  "Insufficient Resources",
                                  "Invalid Frequency",
                                  "Argument version mismatch",
                                  "Requested functionality has been deprecated",
                                  "System is not in ready state"};

}  // namespace

extern "C" {

Return nvmlInit_v2() { return Init("nvmlInit_v2"); }
Return nvmlInit() { return Init("nvmlInit"); }
Return nvmlInitWithFlags(u32) { return Init("nvmlInitWithFlags"); }

Return nvmlShutdown() {
  World& world = World::Get();
  const std::scoped_lock lock(world.mutex);
  world.Count("nvmlShutdown", -1);
  if (world.users > 0 && --world.users == 0) world.LeaveSession();
  return kSuccess;  // also without an init: so says the real library
}

const char* nvmlErrorString(Return code) {
  const auto n = static_cast<size_t>(code);
  return code >= 0 && n < std::size(kTexts) ? kTexts[n] : "Unknown Error";
}

Return nvmlSystemGetDriverVersion(char* version, u32 length) {
  return OnSystem(__func__, [&](World& w) { return GiveText(w.source->system().driver, version, length); });
}

Return nvmlSystemGetNVMLVersion(char* version, u32 length) {  // works before init
  World& world = World::Get();
  const std::scoped_lock lock(world.mutex);
  world.EnsureLoaded();
  world.Count(__func__, -1);
  return GiveText(world.source->system().nvml, version, length);
}

Return nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return OnSystem(__func__, [&](World& w) { return nvmlsim::Give(w.source->system().cuda, version); });
}
Return nvmlSystemGetCudaDriverVersion(int* version) {
  return OnSystem(__func__, [&](World& w) { return nvmlsim::Give(w.source->system().cuda, version); });
}

Return nvmlSystemGetProcessName(u32 pid, char* name, u32 length) {
  return OnSystem(__func__, [&](World& w) {
    if (name == nullptr || length == 0) return kInvalidArgument;
    const double t = w.Now();
    for (size_t card = 0; card < w.source->cards().size(); ++card) {
      for (const auto& p : w.source->Processes(static_cast<int>(card), t, t)) {
        if (p.pid != pid || p.name.empty()) continue;
        const size_t size = std::min<size_t>(p.name.size(), length - 1);  // cut, not refused
        std::memcpy(name, p.name.data(), size);
        name[size] = '\0';
        return kSuccess;
      }
    }
    return kNotFound;
  });
}

Return nvmlGetExcludedDeviceCount(u32* count) {
  return OnSystem(__func__, [&](World&) { return nvmlsim::Give(0, count); });
}

Return nvmlDeviceGetCount_v2(u32* count) {
  return OnSystem(__func__, [&](World& w) { return nvmlsim::Give(static_cast<double>(w.order.size()), count); });
}
Return nvmlDeviceGetCount(u32* count) {
  return OnSystem(__func__, [&](World& w) { return nvmlsim::Give(static_cast<double>(w.order.size()), count); });
}

Return nvmlDeviceGetHandleByIndex_v2(u32 index, Device* device) { return HandleByIndex(__func__, index, device); }
Return nvmlDeviceGetHandleByIndex(u32 index, Device* device) { return HandleByIndex(__func__, index, device); }
Return nvmlDeviceGetHandleByPciBusId_v2(const char* id, Device* device) { return HandleByBusId(__func__, id, device); }
Return nvmlDeviceGetHandleByPciBusId(const char* id, Device* device) { return HandleByBusId(__func__, id, device); }

Return nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  const std::string wanted = uuid != nullptr ? uuid : "";
  return HandleBy(__func__, device, uuid == nullptr ? kInvalidArgument : kNotFound,
                  [&](const auto& facts) { return !wanted.empty() && facts.uuid == wanted; });
}

Return nvmlDeviceGetHandleBySerial(const char* serial, Device* device) {
  const std::string wanted = serial != nullptr ? serial : "";
  return HandleBy(__func__, device, serial == nullptr ? kInvalidArgument : kNotFound, [&](const auto& facts) {
    if constexpr (requires { facts.serial; }) return !wanted.empty() && facts.serial == wanted;
    return false;
  });
}

}  // extern "C"

}  // namespace sawbill::nvml
