// SPDX-License-Identifier: Apache-2.0
// Who a card is, what it is made of, how it is connected, and its modes.
#include <fmt/format.h>

#include <cstring>

#include "simulator/nvml/api.h"

namespace sawbill::nvml {
namespace {
using nvmlsim::Give;
using nvmlsim::GiveText;
using nvmlsim::OnCard;
using nvmlsim::OnPlace;
using nvmlsim::View;
using nvmlsim::World;

Return GivePci(const View& v, PciInfo* pci) {
  if (pci == nullptr) return kInvalidArgument;
  const auto& f = v.facts();
  *pci = {};
  pci->domain = f.domain;
  pci->bus = f.bus;
  pci->device = f.device;
  pci->pciDeviceId = v.model().pci_device << 16 | 0x10DEu;
  pci->pciSubSystemId = 0x16C110DEu;
  fmt::format_to_n(pci->busIdLegacy, sizeof(pci->busIdLegacy) - 1, "{:04X}:{:02X}:{:02X}.0", f.domain, f.bus, f.device);
  fmt::format_to_n(pci->busId, sizeof(pci->busId) - 1, "{:08X}:{:02X}:{:02X}.0", f.domain, f.bus, f.device);
  return kSuccess;
}

Return Pci(const char* name, Device device, PciInfo* pci) {
  return OnPlace(name, device, [&](const View& v) { return GivePci(v, pci); });
}

u32 IndexOf(const View& v) {
  const auto& order = World::Get().order;
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] == v.place().card) return static_cast<u32>(i);
  }
  return 0;
}

Return GiveMode(bool on, int* mode) { return Give(on ? kEnabled : kDisabled, mode); }

}  // namespace

extern "C" {

Return nvmlDeviceGetName(Device device, char* name, u32 length) {
  return OnPlace(__func__, device, [&](const View& v) {
    const auto* mig = v.instance();
    return GiveText(mig != nullptr ? v.facts().name + " MIG " + mig->profile : v.facts().name, name, length);
  });
}
Return nvmlDeviceGetUUID(Device device, char* uuid, u32 length) {
  return OnPlace(__func__, device, [&](const View& v) {
    return GiveText(v.instance() != nullptr ? v.instance()->uuid : v.facts().uuid, uuid, length);
  });
}
Return nvmlDeviceGetSerial(Device device, char* serial, u32 length) {
  return OnCard(__func__, device, [&](const View& v) { return GiveText(v.facts().serial, serial, length); });
}
Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci) { return Pci(__func__, device, pci); }
Return nvmlDeviceGetPciInfo_v2(Device device, PciInfo* pci) { return Pci(__func__, device, pci); }
Return nvmlDeviceGetPciInfo(Device device, PciInfo* pci) { return Pci(__func__, device, pci); }
Return nvmlDeviceGetMinorNumber(Device device, u32* minor) {
  return OnPlace(__func__, device, [&](const View& v) { return Give(v.facts().minor_number, minor); });
}
Return nvmlDeviceGetIndex(Device device, u32* index) {
  return OnPlace(__func__, device, [&](const View& v) {
    return Give(v.instance() != nullptr ? static_cast<u32>(v.instance()->slot) : IndexOf(v), index);
  });
}
Return nvmlDeviceGetBoardId(Device device, u32* board) {
  return OnCard(__func__, device,
                [&](const View& v) { return Give(v.facts().domain * 65536 + v.facts().bus * 256, board); });
}
Return nvmlDeviceGetBoardPartNumber(Device device, char* number, u32 length) {
  return OnCard(__func__, device, [&](const View& v) { return GiveText(v.facts().part_number, number, length); });
}
Return nvmlDeviceGetVbiosVersion(Device device, char* version, u32 length) {
  return OnCard(__func__, device, [&](const View& v) { return GiveText(v.facts().vbios, version, length); });
}
Return nvmlDeviceGetModuleId(Device device, u32* module) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.place().card + 1, module); });
}
Return nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  return OnPlace(__func__, device, [&](const View& v) {
    if (major == nullptr || minor == nullptr) return kInvalidArgument;
    *major = v.model().cuda_major;
    *minor = v.model().cuda_minor;
    return kSuccess;
  });
}
Return nvmlDeviceGetBrand(Device device, int* brand) {
  return OnPlace(__func__, device, [&](const View& v) { return Give(v.model().brand, brand); });
}
Return nvmlDeviceGetArchitecture(Device device, u32* architecture) {
  return OnPlace(__func__, device, [&](const View& v) { return Give(v.model().architecture, architecture); });
}
Return nvmlDeviceGetNumGpuCores(Device device, u32* cores) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.model().cores, cores); });
}
Return nvmlDeviceGetMultiGpuBoard(Device device, u32* multi) {
  return OnCard(__func__, device, [&](const View&) { return Give(0, multi); });
}
Return nvmlDeviceOnSameBoard(Device a, Device b, int* same) {
  return OnCard(__func__, a, [&](const View&) { return Give(a == b, same); });
}
Return nvmlDeviceGetTopologyCommonAncestor(Device a, Device b, int* level) {
  return OnCard(__func__, a, [&](const View& v) {
    nvmlsim::Place other;
    if (!World::Get().PlaceOf(b, &other)) return kInvalidArgument;
    const auto& facts = v.source().cards()[static_cast<size_t>(other.card)];
    if (other.card == v.place().card) return Give(kTopologyInternal, level);
    return Give(facts.numa_node == v.facts().numa_node ? kTopologyNode : kTopologySystem, level);
  });
}
Return nvmlDeviceGetP2PStatus(Device a, Device b, int, int* status) {
  return OnCard(__func__, a, [&](const View&) {
    nvmlsim::Place other;
    if (!World::Get().PlaceOf(b, &other)) return kInvalidArgument;
    return Give(0, status);
  });
}
Return nvmlDeviceGetCpuAffinity(Device device, u32 words, unsigned long* set) {
  return OnCard(__func__, device, [&](const View&) {
    if (set == nullptr || words == 0) return kInvalidArgument;
    std::memset(set, 0, words * sizeof(*set));
    set[0] = ~0ul;
    return kSuccess;
  });
}
Return nvmlDeviceGetNumaNodeId(Device device, u32* node) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.facts().numa_node, node); });
}

Return nvmlDeviceGetComputeMode(Device device, int* mode) {
  return OnCard(__func__, device, [&](const View&) { return Give(kComputeDefault, mode); });
}
Return nvmlDeviceGetPersistenceMode(Device device, int* mode) {
  return OnCard(__func__, device, [&](const View& v) { return GiveMode(v.facts().persistence, mode); });
}
Return nvmlDeviceGetVirtualizationMode(Device device, int* mode) {
  return OnCard(__func__, device, [&](const View&) { return Give(0, mode); });
}
Return nvmlDeviceGetDisplayMode(Device device, int* mode) {
  return OnCard(__func__, device, [&](const View&) { return GiveMode(false, mode); });
}
Return nvmlDeviceGetDisplayActive(Device device, int* active) {
  return OnCard(__func__, device, [&](const View&) { return GiveMode(false, active); });
}
Return nvmlDeviceGetAccountingMode(Device device, int* mode) {
  return OnCard(__func__, device, [&](const View&) { return GiveMode(false, mode); });
}
Return nvmlDeviceGetAccountingBufferSize(Device device, u32* size) {
  return OnCard(__func__, device, [&](const View&) { return Give(4000, size); });
}
Return nvmlDeviceGetAccountingPids(Device device, u32* count, u32*) {
  return OnCard(__func__, device, [&](const View&) { return Give(0, count); });
}
Return nvmlDeviceValidateInforom(Device device) {
  return OnCard(__func__, device, [](const View& v) { return v.facts().ecc ? kSuccess : kNotSupported; });
}

}  // extern "C"
}  // namespace sawbill::nvml
