// SPDX-License-Identifier: Apache-2.0
// From a loaded library to a list of cards. One card that cannot be had never hides the others, and a card that sleeps
// is not woken to be listed.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "gpu/nvml_calls.h"
#include "gpu/nvml_session.h"

namespace sawbill::gpu {
namespace {

using nvml::Device;
using nvml::u32;

constexpr u32 kMostCards = 1024;
constexpr u32 kMostInstances = 64;

std::string Version(nvml::fn::nvmlSystemGetDriverVersion* get) {
  char text[nvml::kVersionSize] = "";
  if (Call(get, text, static_cast<u32>(sizeof(text) - 1)) != nvml::kSuccess) return "";
  text[sizeof(text) - 1] = '\0';
  return Sanitize(text);
}

std::string CudaVersion(const NvmlApi& api) {
  int v = 0;
  int code = Call(api.nvmlSystemGetCudaDriverVersion_v2, &v);
  // The new call asks libcuda, and fails where that is not installed; the old one has an answer of its own.
  if (code != nvml::kSuccess) code = Call(api.nvmlSystemGetCudaDriverVersion, &v);
  return code == nvml::kSuccess && v >= 1000 ? fmt::format("{}.{}", v / 1000, v % 1000 / 10) : "";
}

/// The version of the kernel module that is loaded, "" = none is, or it does not say.
std::string ModuleVersion(sys::ProcFiles* files) {
  std::string text;
  if (files->Read("/sys/module/nvidia/version", &text)) return std::string(Trim(text));
  if (!files->Read("/proc/driver/nvidia/version", &text)) return "";
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 ...": the first word of digits and dots.
  for (const std::string_view word : Split(std::string_view(text).substr(0, text.find('\n')), ' ')) {
    const bool digits = word.find_first_not_of("0123456789.") == std::string_view::npos;
    if (digits && word.find('.') != std::string_view::npos) return std::string(word);
  }
  return "";
}

/// "12.535.309.01" begins with CUDA's major version; the rest is the driver that the library belongs to.
std::string DriverOfLibrary(const std::string& nvml_version) {
  const size_t dot = nvml_version.find('.');
  const bool has_both = std::count(nvml_version.begin(), nvml_version.end(), '.') >= 2 && dot <= 2;
  return has_both ? nvml_version.substr(dot + 1) : nvml_version;
}

SourceStatus InitFailure(int code, const NvmlApi& api, sys::ProcFiles* files) {
  SourceStatus status = {Trouble::kOther, code, CodeText(code)};
  if (code == nvml::kLibRmVersionMismatch) {
    const std::string module = ModuleVersion(files), library = DriverOfLibrary(Version(api.nvmlSystemGetNVMLVersion));
    status.trouble = Trouble::kMismatch;
    status.detail =
        fmt::format("kernel module {}, library {}", module.empty() ? "?" : module, library.empty() ? "?" : library);
  } else if (code == nvml::kDriverNotLoaded) {
    status.trouble = Trouble::kNoDriver;
  } else if (code == nvml::kNoPermission) {
    status.trouble = Trouble::kNoPermission;
  } else if (code == nvml::kUnknown) {
    status.trouble = Trouble::kLostSight;  // what a container's init says after its devices were taken away
  } else if (code == nvml::kLibraryNotFound || code == nvml::kFunctionNotFound) {
    status.trouble = Trouble::kNoLibrary;  // a stub that is no NVML, or a NVML that misses its other half
  }
  return status;
}

/// A card as the kernel lists it.
struct PciCard {
  std::string address, dir;
  bool may_sleep = false, asleep = false;
};

std::vector<PciCard> ListPciCards(sys::ProcFiles* files) {
  std::vector<PciCard> cards;
  std::string text;
  for (const std::string& address : files->List("/sys/bus/pci/devices")) {
    const std::string dir = "/sys/bus/pci/devices/" + address;
    if (!files->Read(dir + "/vendor", &text) || Trim(text) != "0x10de") continue;
    if (!files->Read(dir + "/class", &text) || !StartsWith(Trim(text), "0x03"))
      continue;  // no audio function, no bridge
    PciCard card = {address, dir, false, IsSuspended(files, dir)};
    card.may_sleep = card.asleep || (files->Read(dir + "/power/control", &text) && Trim(text) == "auto");
    cards.push_back(std::move(card));
  }
  std::sort(cards.begin(), cards.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  return cards;
}

class Enumerator {
 public:
  Enumerator(OpenedNvml* out, const std::vector<PciCard>& pci)
      : out_(out), session_(*out->session), api_(session_.api), pci_(pci) {}

  /// By index, as NVML counts.
  void ByIndex(u32 count) {
    for (u32 i = 0; i < std::min(count, kMostCards); ++i) {
      Device device = nullptr;
      const int code = CallEither(api_.nvmlDeviceGetHandleByIndex_v2, api_.nvmlDeviceGetHandleByIndex, i, &device);
      AddCard(code, device, i);
    }
  }

  /// Where a card sleeps: asking by index would wake it, so the others are asked for by their PCI addresses.
  void ByAddress() {
    std::set<u32> taken;
    for (const PciCard& p : pci_) {
      if (p.asleep) continue;
      Device device = nullptr;
      const int code = CallEither(api_.nvmlDeviceGetHandleByPciBusId_v2, api_.nvmlDeviceGetHandleByPciBusId,
                                  p.address.c_str(), &device);
      if (code == nvml::kNotFound) continue;  // not ours: a container sees all devices in sysfs
      u32 index = 0;
      const bool told = Call(api_.nvmlDeviceGetIndex, device, &index) == nvml::kSuccess && index < kMostCards;
      if (!told || taken.contains(index)) index = Free(taken);
      taken.insert(index);
      AddCard(code, device, index);
    }
    for (const PciCard& p : pci_) {
      if (!p.asleep) continue;
      const u32 index = Free(taken);
      taken.insert(index);
      CardPlace place;
      place.gpu = fmt::format("{}", index);
      place.power_dir = p.dir;
      place.suspended = true;
      Add(place, {});
    }
  }

 private:
  static u32 Free(const std::set<u32>& taken) {
    u32 index = 0;
    while (taken.contains(index)) ++index;
    return index;
  }

  void AddCard(int code, Device device, u32 index) {
    CardPlace place;
    place.gpu = fmt::format("{}", index);
    if (code != nvml::kSuccess || device == nullptr) {
      place.lost_code = code != nvml::kSuccess ? code : static_cast<int>(nvml::kUnknown);
      Add(place, {});
      return;
    }
    place.device = place.physical = device;
    place.power_dir = PowerDir(device);
    u32 current = 0, pending = 0;
    place.mig = Call(api_.nvmlDeviceGetMigMode, device, &current, &pending) == nvml::kSuccess && current == 1;
    const model::CardInfo info = Describe(&place);
    const size_t slot = out_->slots.size();
    Add(place, info);
    if (place.mig) AddInstances(place, info);
    out_->slots[slot].mig_parent = out_->slots.size() > slot + 1;
  }

  /// What is told of a card, or of an instance; and whether it has memory of its own.
  model::CardInfo Describe(CardPlace* place) {
    model::CardInfo info;
    info.gpu = place->gpu;
    info.uuid = ReadUuid(api_, place->device).value.value_or("");
    info.name = ReadName(api_, place->device).value.value_or("");
    info.driver = out_->info.driver;
    Answer<MemoryReading> memory = ReadMemoryV2(api_, place->device);
    if (Classify(memory.code) == CodeClass::kAbsent) memory = ReadMemoryV1(api_, place->device);
    if (memory.value) info.memory_total_mb = memory.value->total_mb;
    place->unified_memory = memory.code == nvml::kNotSupported && !place->gpu_instance && !place->mig;
    info.sm_clock_max_mhz = ReadMaxSmClockMhz(api_, place->physical).value;
    if (!place->gpu_instance) info.power_limit_w = ReadPowerLimitW(api_, place->device).value;
    return info;
  }

  void AddInstances(const CardPlace& parent, const model::CardInfo& parent_info) {
    u32 most = 0;
    if (Call(api_.nvmlDeviceGetMaxMigDeviceCount, parent.device, &most) != nvml::kSuccess) return;
    for (u32 i = 0; i < std::min(most, kMostInstances); ++i) {
      Device device = nullptr;
      // Slots are sparse: a "not found" in the middle is not the end.
      if (Call(api_.nvmlDeviceGetMigDeviceHandleByIndex, parent.device, i, &device) != nvml::kSuccess) continue;
      u32 gi = 0, ci = 0;
      if (device == nullptr || Call(api_.nvmlDeviceGetGpuInstanceId, device, &gi) != nvml::kSuccess) continue;
      if (Call(api_.nvmlDeviceGetComputeInstanceId, device, &ci) != nvml::kSuccess) continue;
      CardPlace place;
      place.device = device;
      place.physical = parent.device;
      place.gpu_instance = gi;
      place.power_dir = parent.power_dir;
      place.gpu = fmt::format("{}.{}.{}", parent.gpu, gi, ci);
      model::CardInfo info = Describe(&place);
      info.parent_uuid = parent_info.uuid;
      info.share = Share(device, most);
      if (info.name.empty()) info.name = parent_info.name;
      Add(place, info);
    }
  }

  /// Compute slices of all: as many as the card takes instances (7; 4 on A30).
  std::optional<double> Share(Device device, u32 slices) {
    nvml::DeviceAttributes a = {};
    if (Call(api_.nvmlDeviceGetAttributes_v2, device, &a) != nvml::kSuccess) return std::nullopt;
    const u32 mine = a.computeInstanceSliceCount > 0 ? a.computeInstanceSliceCount : a.gpuInstanceSliceCount;
    return mine > 0 && mine <= slices ? std::optional<double>(static_cast<double>(mine) / slices) : std::nullopt;
  }

  std::string PowerDir(Device device) {
    if (std::none_of(pci_.begin(), pci_.end(), [](const PciCard& p) { return p.may_sleep; })) return "";
    const std::string address = ReadPciAddress(api_, device).value.value_or("");
    for (const PciCard& p : pci_) {
      if (p.may_sleep && p.address == address) return p.dir;
    }
    return "";
  }

  void Add(const CardPlace& place, model::CardInfo info) {
    info.gpu = place.gpu;
    session_.cards.push_back(std::make_unique<NvmlCard>(&api_, session_.files.get(), place));
    if (place.device != nullptr) info.util_window_s = session_.cards.back()->UtilWindowS();
    out_->slots.push_back(
        {std::move(info), place.lost_code, place.suspended, /*mig_parent=*/false, place.unified_memory});
  }

  OpenedNvml* out_;
  NvmlSession& session_;
  const NvmlApi& api_;
  const std::vector<PciCard>& pci_;
};

/// What it means when no card at all can be had.
SourceStatus JudgeSlots(const std::vector<Source::CardSlot>& slots) {
  if (slots.empty()) return {Trouble::kNoCards, 0, ""};
  const int code = slots.front().lost_code;
  const bool all = std::all_of(slots.begin(), slots.end(), [&](const auto& s) { return s.lost_code == code; });
  if (!all || code == 0) return {};
  if (code == nvml::kNoPermission) return {Trouble::kNoPermission, code, CodeText(code)};
  if (code == nvml::kUnknown) return {Trouble::kLostSight, code, CodeText(code)};
  return {};  // lost cards are shown as that
}

int Init(const NvmlApi& api, bool leave_asleep) {
  // Without the flag, initialising attaches every card, which wakes it.
  if (leave_asleep) {
    const int code = Call(api.nvmlInitWithFlags, static_cast<u32>(nvml::kInitNoAttach));
    if (Classify(code) != CodeClass::kAbsent) return code;
  }
  return CallEither(api.nvmlInit_v2, api.nvmlInit);
}

}  // namespace

NvmlSession::~NvmlSession() {
  cards.clear();  // frees their GPM samples, which must be gone before the shutdown
  if (events != nullptr) Call(api.nvmlEventSetFree, events);
  if (initialised) Call(api.nvmlShutdown);
}

OpenedNvml OpenNvml(std::unique_ptr<sys::DynamicLibrary> library, std::shared_ptr<sys::ProcFiles> files) {
  OpenedNvml out;
  out.session = std::make_shared<NvmlSession>();
  NvmlSession& session = *out.session;
  session.files = std::move(files);
  session.library = std::move(library);
  session.api = BindNvml(session.library.get());

  const std::vector<PciCard> pci = ListPciCards(session.files.get());
  const bool some_sleep = std::any_of(pci.begin(), pci.end(), [](const PciCard& p) { return p.asleep; });
  int code = Init(session.api, some_sleep);
  session.initialised = code == nvml::kSuccess;
  out.info.name = "nvml";
  out.info.library = Version(session.api.nvmlSystemGetNVMLVersion);
  u32 count = 0;
  if (code == nvml::kSuccess) {
    out.info.driver = Version(session.api.nvmlSystemGetDriverVersion);
    out.info.cuda = CudaVersion(session.api);
    code = CallEither(session.api.nvmlDeviceGetCount_v2, session.api.nvmlDeviceGetCount, &count);
  }
  if (code != nvml::kSuccess) {
    out.status = InitFailure(code, session.api, session.files.get());
    out.session.reset();
    return out;
  }
  Enumerator enumerator(&out, pci);
  if (some_sleep) {
    enumerator.ByAddress();
  } else {
    enumerator.ByIndex(count);
  }
  out.status = JudgeSlots(out.slots);
  if (!out.status.ok()) {
    out.session.reset();
    out.slots.clear();
    return out;
  }
  WatchEvents(&session);
  return out;
}

}  // namespace sawbill::gpu
