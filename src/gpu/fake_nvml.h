// SPDX-License-Identifier: Apache-2.0
// A NVML for tests, made by hand: any function may be missing, fail, hang or leave its result untouched. The scripted
// library of simulator/nvml behaves as drivers do; this one misbehaves as they do.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu/nvml_abi.h"
#include "gpu/opener.h"

namespace sawbill::gpu {

struct FakeCard {
  std::string uuid = "GPU-0", name = "NVIDIA H100 80GB HBM3", bus = "00000000:3B:00.0";
  std::map<std::string, int> codes;  // by function; "*" = all that take this card
  std::set<std::string> untouched;   // functions that say success and fill nothing
  nvml::Utilization util = {97, 40};
  nvml::MemoryV2 memory = {0, 81559ULL << 20, 479ULL << 20, 41080ULL << 20, 40000ULL << 20};
  unsigned temp_c = 61, power_mw = 412350, sm_mhz = 1980, mem_mhz = 2619;
  unsigned long long reasons = 0, energy_mj = 5'000'000;
  struct Field {
    nvml::ValueType type = nvml::kValueU64;
    unsigned long long value = 0;
    int code = 0;
  };
  std::map<unsigned, Field> fields;   // by id; another id is "not supported"
  std::vector<nvml::Sample> samples;  // the ring
  std::vector<nvml::ProcessInfo> compute, graphics, mps;
  size_t stride = 24;  // of the v3 lists
  std::vector<nvml::ProcessUtilizationSample> ring;
  unsigned ring_count = 0;  // what is said to be in it; 0 = its size
  bool gpm = false;
  std::map<unsigned, double> gpm_values;  // by metric id
  unsigned pcie_kb_s = 1000;
  bool mig_mode = false;
  unsigned gi = 0, ci = 0, slices = 0;               // of an instance
  std::vector<std::unique_ptr<FakeCard>> instances;  // null = an empty slot
};

struct FakeNvml {
  FakeNvml() { now = this; }
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;
  ~FakeNvml() { now = nullptr; }

  std::deque<FakeCard> cards;
  std::map<std::string, int> codes;      // of functions without a card, by name
  std::map<unsigned, int> handle_codes;  // by index
  std::set<std::string> missing;         // symbols that the library lacks
  std::map<std::string, int> calls;
  std::deque<nvml::EventData> events;
  int inits = 0, shutdowns = 0, gpm_samples = 0, event_sets = 0, loaded = 0;
  std::string nvml_version = "12.535.309.01", driver_version = "535.309.01";
  std::string load_error;  // not empty: the library cannot be loaded
  std::mutex mutex;
  std::condition_variable changed;
  std::string hang_in;  // a call of this function waits until it is cleared
  bool hanging = false;

  static inline FakeNvml* now = nullptr;

  FakeCard& Add(const std::string& uuid) {
    cards.emplace_back();
    cards.back().uuid = uuid;
    return cards.back();
  }
  int Calls(const std::string& function) const {
    const auto it = calls.find(function);
    return it == calls.end() ? 0 : it->second;
  }
  int AllCalls() const {
    int sum = 0;
    for (const auto& [function, n] : calls) sum += n;
    return sum;
  }
  LibraryOpener Opener();
  /// The code of a call without a card.
  nvml::Return Enter(const std::string& function) {
    ++calls[function];
    Hang(function);
    const auto it = codes.find(function);
    return static_cast<nvml::Return>(it == codes.end() ? 0 : it->second);
  }
  /// Of one with: failing codes first; `*fill` is false when nothing is to be written.
  nvml::Return Enter(const std::string& function, nvml::Device device, FakeCard** card, bool* fill) {
    const nvml::Return code = Enter(function);
    *card = reinterpret_cast<FakeCard*>(device);
    *fill = (*card)->untouched.count(function) == 0;
    if (code != 0) return code;
    for (const char* key : {function.c_str(), "*"}) {
      const auto it = (*card)->codes.find(key);
      if (it != (*card)->codes.end()) return static_cast<nvml::Return>(it->second);
    }
    return nvml::kSuccess;
  }

 private:
  void Hang(const std::string& function) {
    std::unique_lock<std::mutex> lock(mutex);
    if (hang_in != function) return;
    hanging = true;
    changed.notify_all();
    changed.wait(lock, [&] { return hang_in != function; });
    hanging = false;
  }
};

namespace fake {

using nvml::Device;
using nvml::Return;
using nvml::u32;
using nvml::u64;

/// A call of a card: `fill` runs when it succeeds and is to write.
template <typename Fill>
Return On(const char* function, Device device, const Fill& fill) {
  FakeCard* card = nullptr;
  bool writes = false;
  const Return code = FakeNvml::now->Enter(function, device, &card, &writes);
  if (code != nvml::kSuccess) return code;
  return writes ? fill(*card) : nvml::kSuccess;
}
template <typename T, typename V>
Return Give(const char* function, Device device, T* out, V FakeCard::* field) {
  return On(function, device, [&](FakeCard& c) {
    *out = static_cast<T>(c.*field);
    return nvml::kSuccess;
  });
}
inline Return Text(const char* function, Device device, char* out, u32 size, const std::string& text) {
  return On(function, device, [&](FakeCard&) {
    std::strncpy(out, text.c_str(), size);
    return nvml::kSuccess;
  });
}
inline FakeCard& Of(Device device) { return *reinterpret_cast<FakeCard*>(device); }

inline Return List(const char* function, Device device, u32* count, void* out,
                   std::vector<nvml::ProcessInfo> FakeCard::* list) {
  return On(function, device, [&](FakeCard& c) {
    const auto& processes = c.*list;
    const u32 room = *count;
    *count = static_cast<u32>(processes.size());
    if (room < *count) return nvml::kInsufficientSize;
    for (size_t i = 0; i < processes.size(); ++i) {
      unsigned char entry[32] = {};
      std::memcpy(entry, &processes[i], sizeof(nvml::ProcessInfo));
      std::memcpy(static_cast<unsigned char*>(out) + i * c.stride, entry, c.stride);
    }
    return nvml::kSuccess;
  });
}

inline Return Init() {
  const Return code = FakeNvml::now->Enter("nvmlInit_v2");
  if (code == nvml::kSuccess) ++FakeNvml::now->inits;
  return code;
}
inline Return Shutdown() {
  ++FakeNvml::now->shutdowns;
  return FakeNvml::now->Enter("nvmlShutdown");
}
inline Return Count(u32* count) {
  *count = static_cast<u32>(FakeNvml::now->cards.size());
  return FakeNvml::now->Enter("nvmlDeviceGetCount_v2");
}
inline Return Handle(u32 index, Device* device) {
  const Return code = FakeNvml::now->Enter("nvmlDeviceGetHandleByIndex_v2");
  if (code != nvml::kSuccess) return code;
  if (const int own = FakeNvml::now->handle_codes[index]; own != 0) return static_cast<Return>(own);
  *device = reinterpret_cast<Device>(&FakeNvml::now->cards[index]);
  return nvml::kSuccess;
}
inline Return HandleByBus(const char* bus, Device* device) {
  FakeNvml::now->Enter("nvmlDeviceGetHandleByPciBusId_v2");
  for (FakeCard& c : FakeNvml::now->cards) {
    // "0000:3b:00.0" of "00000000:3B:00.0".
    std::string own = c.bus.substr(4);
    std::transform(own.begin(), own.end(), own.begin(), [](char x) { return x >= 'A' && x <= 'F' ? char(x + 32) : x; });
    if (own != bus) continue;
    *device = reinterpret_cast<Device>(&c);
    return nvml::kSuccess;
  }
  return nvml::kNotFound;
}
inline Return Index(Device device, u32* index) {
  auto& cards = FakeNvml::now->cards;
  for (size_t i = 0; i < cards.size(); ++i) {
    if (&cards[i] == &Of(device)) *index = static_cast<u32>(i);
  }
  return FakeNvml::now->Enter("nvmlDeviceGetIndex");
}
inline Return Pci(Device device, nvml::PciInfo* pci) {
  return On("nvmlDeviceGetPciInfo_v3", device, [&](FakeCard& c) {
    std::strncpy(pci->busId, c.bus.c_str(), sizeof(pci->busId) - 1);
    return nvml::kSuccess;
  });
}
inline Return MemoryV2(Device device, nvml::MemoryV2* memory) {
  if (memory->version != nvml::kMemoryV2Version) return nvml::kArgumentVersionMismatch;
  return On("nvmlDeviceGetMemoryInfo_v2", device, [&](FakeCard& c) {
    *memory = c.memory;
    return nvml::kSuccess;
  });
}
inline Return MemoryV1(Device device, nvml::Memory* memory) {
  return On("nvmlDeviceGetMemoryInfo", device, [&](FakeCard& c) {
    *memory = {c.memory.total, c.memory.free, c.memory.used + c.memory.reserved};
    return nvml::kSuccess;
  });
}
inline Return Clock(Device device, int type, u32* mhz) {
  return Give("nvmlDeviceGetClockInfo", device, mhz, type == nvml::kClockMem ? &FakeCard::mem_mhz : &FakeCard::sm_mhz);
}
inline Return Samples(Device device, int, u64 since, nvml::ValueType* type, u32* count, nvml::Sample* out) {
  return On("nvmlDeviceGetSamples", device, [&](FakeCard& c) {
    *type = nvml::kValueU32;
    if (out == nullptr) {
      *count = 100;
      return nvml::kSuccess;
    }
    u32 n = 0;
    for (const nvml::Sample& s : c.samples) {
      if (s.timeStamp > since && n < *count) out[n++] = s;
    }
    *count = n;
    return n == 0 ? nvml::kNotFound : nvml::kSuccess;
  });
}
inline Return Fields(Device device, int count, nvml::FieldValue* values) {
  return On("nvmlDeviceGetFieldValues", device, [&](FakeCard& c) {
    for (int i = 0; i < count; ++i) {
      ++FakeNvml::now->calls["field " + std::to_string(values[i].fieldId)];
      const auto it = c.fields.find(values[i].fieldId);
      values[i].nvmlReturn = it == c.fields.end() ? nvml::kNotSupported : static_cast<Return>(it->second.code);
      if (values[i].nvmlReturn != nvml::kSuccess) continue;
      values[i].valueType = it->second.type;
      values[i].value.ullVal = it->second.value;
    }
    return nvml::kSuccess;
  });
}
inline Return Details(Device device, nvml::ProcessDetailList* list) {
  return On("nvmlDeviceGetRunningProcessDetailList", device, [&](FakeCard& c) {
    const auto& from = list->mode == nvml::kProcessesCompute    ? c.compute
                       : list->mode == nvml::kProcessesGraphics ? c.graphics
                                                                : c.mps;
    const u32 room = list->numProcArrayEntries;
    list->numProcArrayEntries = static_cast<u32>(from.size());
    if (room < from.size()) return nvml::kInsufficientSize;
    for (size_t i = 0; i < from.size(); ++i) {
      list->procArray[i] = {from[i].pid, from[i].usedGpuMemory, from[i].gpuInstanceId, from[i].computeInstanceId, 0};
    }
    return nvml::kSuccess;
  });
}
/// As old drivers do it: all of the ring whatever `since` says, with a count of their own.
inline Return ProcessUtil(Device device, nvml::ProcessUtilizationSample* out, u32* count, u64) {
  return On("nvmlDeviceGetProcessUtilization", device, [&](FakeCard& c) {
    if (c.ring.empty()) return nvml::kNotFound;
    const u32 said = c.ring_count != 0 ? c.ring_count : static_cast<u32>(c.ring.size());
    const u32 room = *count;
    *count = said;
    if (room < said) return nvml::kInsufficientSize;
    std::copy(c.ring.begin(), c.ring.end(), out);
    return nvml::kSuccess;
  });
}
inline Return GpmSupport(Device device, nvml::GpmSupport* support) {
  return On("nvmlGpmQueryDeviceSupport", device, [&](FakeCard& c) {
    support->isSupportedDevice = c.gpm ? 1 : 0;
    return nvml::kSuccess;
  });
}
struct GpmBody {
  std::map<unsigned, double> values;
};
inline Return GpmAlloc(nvml::GpmSample* sample) {
  ++FakeNvml::now->gpm_samples;
  *sample = reinterpret_cast<nvml::GpmSample>(new GpmBody());
  return FakeNvml::now->Enter("nvmlGpmSampleAlloc");
}
inline Return GpmFree(nvml::GpmSample sample) {
  --FakeNvml::now->gpm_samples;
  delete reinterpret_cast<GpmBody*>(sample);
  return nvml::kSuccess;
}
inline Return GpmGet(Device device, nvml::GpmSample sample) {
  return On("nvmlGpmSampleGet", device, [&](FakeCard& c) {
    reinterpret_cast<GpmBody*>(sample)->values = c.gpm_values;
    return nvml::kSuccess;
  });
}
inline Return GpmMigGet(Device device, u32 gi, nvml::GpmSample sample) {
  return On("nvmlGpmMigSampleGet", device, [&](FakeCard& c) {
    for (const auto& instance : c.instances) {
      if (instance && instance->gi == gi) reinterpret_cast<GpmBody*>(sample)->values = instance->gpm_values;
    }
    return nvml::kSuccess;
  });
}
inline Return GpmMetrics(nvml::GpmMetricsGet* get) {
  const auto& values = reinterpret_cast<GpmBody*>(get->sample2)->values;
  for (u32 i = 0; i < get->numMetrics; ++i) {
    nvml::GpmMetric& m = reinterpret_cast<nvml::GpmMetric*>(reinterpret_cast<char*>(get) + 24)[i];
    const auto it = values.find(m.metricId);
    m.nvmlReturn = it == values.end() ? nvml::kNotSupported : nvml::kSuccess;
    if (it != values.end()) m.value = it->second;
  }
  return FakeNvml::now->Enter("nvmlGpmMetricsGet");
}
inline Return MigMode(Device device, u32* current, u32* pending) {
  return On("nvmlDeviceGetMigMode", device, [&](FakeCard& c) {
    *current = *pending = c.mig_mode ? 1 : 0;
    return nvml::kSuccess;
  });
}
inline Return MaxMig(Device, u32* count) {
  *count = 7;
  return FakeNvml::now->Enter("nvmlDeviceGetMaxMigDeviceCount");
}
inline Return MigHandle(Device device, u32 index, Device* mig) {
  auto& instances = Of(device).instances;
  if (index >= instances.size() || !instances[index]) return nvml::kNotFound;
  *mig = reinterpret_cast<Device>(instances[index].get());
  return nvml::kSuccess;
}
inline Return Attributes(Device device, nvml::DeviceAttributes* a) {
  a->gpuInstanceSliceCount = a->computeInstanceSliceCount = Of(device).slices;
  return nvml::kSuccess;
}
inline Return EventCreate(nvml::EventSet* set) {
  ++FakeNvml::now->event_sets;
  *set = reinterpret_cast<nvml::EventSet>(FakeNvml::now);
  return nvml::kSuccess;
}
inline Return EventFree(nvml::EventSet) {
  --FakeNvml::now->event_sets;
  return nvml::kSuccess;
}
inline Return EventWait(nvml::EventSet, nvml::EventData* data, u32) {
  auto& events = FakeNvml::now->events;
  if (events.empty()) return nvml::kTimeout;
  *data = events.front();
  events.pop_front();
  return nvml::kSuccess;
}

inline std::map<std::string, void*> Symbols() {
  std::map<std::string, void*> s;
  const auto add = [&s](const char* name, auto* function) { s[name] = reinterpret_cast<void*>(function); };
  add("nvmlInit_v2", Init);
  add("nvmlInitWithFlags", +[](u32) { return Init(); });
  add("nvmlShutdown", Shutdown);
  add(
      "nvmlSystemGetDriverVersion", +[](char* out, u32 size) {
        std::strncpy(out, FakeNvml::now->driver_version.c_str(), size);
        return FakeNvml::now->Enter("nvmlSystemGetDriverVersion");
      });
  add(
      "nvmlSystemGetNVMLVersion", +[](char* out, u32 size) {
        std::strncpy(out, FakeNvml::now->nvml_version.c_str(), size);
        return nvml::kSuccess;
      });
  add(
      "nvmlSystemGetCudaDriverVersion", +[](int* v) {
        *v = 12020;
        return nvml::kSuccess;
      });
  add("nvmlDeviceGetCount_v2", Count);
  add("nvmlDeviceGetHandleByIndex_v2", Handle);
  add("nvmlDeviceGetHandleByPciBusId_v2", HandleByBus);
  add("nvmlDeviceGetIndex", Index);
  add("nvmlDeviceGetPciInfo_v3", Pci);
  add(
      "nvmlDeviceGetName",
      +[](Device d, char* out, u32 size) { return Text("nvmlDeviceGetName", d, out, size, Of(d).name); });
  add(
      "nvmlDeviceGetUUID",
      +[](Device d, char* out, u32 size) { return Text("nvmlDeviceGetUUID", d, out, size, Of(d).uuid); });
  add(
      "nvmlDeviceGetUtilizationRates",
      +[](Device d, nvml::Utilization* u) { return Give("nvmlDeviceGetUtilizationRates", d, u, &FakeCard::util); });
  add("nvmlDeviceGetMemoryInfo_v2", MemoryV2);
  add("nvmlDeviceGetMemoryInfo", MemoryV1);
  add(
      "nvmlDeviceGetTemperature",
      +[](Device d, int, u32* t) { return Give("nvmlDeviceGetTemperature", d, t, &FakeCard::temp_c); });
  add(
      "nvmlDeviceGetPowerUsage",
      +[](Device d, u32* mw) { return Give("nvmlDeviceGetPowerUsage", d, mw, &FakeCard::power_mw); });
  add(
      "nvmlDeviceGetTotalEnergyConsumption",
      +[](Device d, u64* mj) { return Give("nvmlDeviceGetTotalEnergyConsumption", d, mj, &FakeCard::energy_mj); });
  add("nvmlDeviceGetClockInfo", Clock);
  add(
      "nvmlDeviceGetCurrentClocksEventReasons",
      +[](Device d, u64* mask) { return Give("nvmlDeviceGetCurrentClocksEventReasons", d, mask, &FakeCard::reasons); });
  add(
      "nvmlDeviceGetCurrentClocksThrottleReasons", +[](Device d, u64* mask) {
        return Give("nvmlDeviceGetCurrentClocksThrottleReasons", d, mask, &FakeCard::reasons);
      });
  add("nvmlDeviceGetSamples", Samples);
  add("nvmlDeviceGetFieldValues", Fields);
  add(
      "nvmlDeviceGetPcieThroughput",
      +[](Device d, int, u32* kb) { return Give("nvmlDeviceGetPcieThroughput", d, kb, &FakeCard::pcie_kb_s); });
  add("nvmlDeviceGetRunningProcessDetailList", Details);
  add(
      "nvmlDeviceGetComputeRunningProcesses_v3", +[](Device d, u32* count, void* out) {
        return List("nvmlDeviceGetComputeRunningProcesses_v3", d, count, out, &FakeCard::compute);
      });
  add(
      "nvmlDeviceGetGraphicsRunningProcesses_v3", +[](Device d, u32* count, void* out) {
        return List("nvmlDeviceGetGraphicsRunningProcesses_v3", d, count, out, &FakeCard::graphics);
      });
  add("nvmlDeviceGetProcessUtilization", ProcessUtil);
  add("nvmlGpmQueryDeviceSupport", GpmSupport);
  add("nvmlGpmSampleAlloc", GpmAlloc);
  add("nvmlGpmSampleFree", GpmFree);
  add("nvmlGpmSampleGet", GpmGet);
  add("nvmlGpmMigSampleGet", GpmMigGet);
  add("nvmlGpmMetricsGet", GpmMetrics);
  add("nvmlDeviceGetMigMode", MigMode);
  add("nvmlDeviceGetMaxMigDeviceCount", MaxMig);
  add("nvmlDeviceGetMigDeviceHandleByIndex", MigHandle);
  add(
      "nvmlDeviceGetGpuInstanceId", +[](Device d, u32* id) {
        *id = Of(d).gi;
        return nvml::kSuccess;
      });
  add(
      "nvmlDeviceGetComputeInstanceId", +[](Device d, u32* id) {
        *id = Of(d).ci;
        return nvml::kSuccess;
      });
  add("nvmlDeviceGetAttributes_v2", Attributes);
  add("nvmlEventSetCreate", EventCreate);
  add("nvmlEventSetFree", EventFree);
  add(
      "nvmlDeviceGetSupportedEventTypes", +[](Device, u64* types) {
        *types = nvml::kEventXid | nvml::kEventMigConfig;
        return nvml::kSuccess;
      });
  add(
      "nvmlDeviceRegisterEvents", +[](Device, u64 types, nvml::EventSet) {
        return types == (nvml::kEventXid | nvml::kEventMigConfig) ? nvml::kSuccess : nvml::kNotSupported;
      });
  add("nvmlEventSetWait_v2", EventWait);
  return s;
}

class Library : public sys::DynamicLibrary {
 public:
  Library() : symbols_(Symbols()) { ++FakeNvml::now->loaded; }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() override { --FakeNvml::now->loaded; }
  void* Find(const char* symbol) override {
    const auto it = symbols_.find(symbol);
    return it == symbols_.end() || FakeNvml::now->missing.count(symbol) > 0 ? nullptr : it->second;
  }

 private:
  std::map<std::string, void*> symbols_;
};

}  // namespace fake

inline LibraryOpener FakeNvml::Opener() {
  return [this](const std::string&) -> Result<std::unique_ptr<sys::DynamicLibrary>> {
    if (!load_error.empty()) return Status::Unavailable(load_error);
    return std::unique_ptr<sys::DynamicLibrary>(std::make_unique<fake::Library>());
  };
}

}  // namespace sawbill::gpu
