// SPDX-License-Identifier: Apache-2.0
// PCIe and NVLink.
#include "simulator/nvml/api.h"

namespace sawbill::nvml {
namespace {
using nvmlsim::Field;
using nvmlsim::Give;
using nvmlsim::OnCard;
using nvmlsim::View;
using nvmlsim::World;

template <typename Body>
Return OnLink(const char* name, Device device, u32 link, Body body) {
  return OnCard(name, device, [&](const View& v) {
    if (v.model().nvlinks == 0) return kNotSupported;
    return link < static_cast<u32>(v.model().nvlinks) ? body(v) : kInvalidArgument;
  });
}

constexpr double kMbpsOfGeneration[] = {0, 2500, 5000, 8000, 16000, 32000, 64000};

double Speed(double generation) {
  return generation >= 1 && generation <= 6 ? kMbpsOfGeneration[static_cast<int>(generation)] : kMissing;
}

}  // namespace

extern "C" {

// Counts bytes for 20 ms and blocks for as long: two directions of eight cards are a third of a second.
Return nvmlDeviceGetPcieThroughput(Device device, int counter, u32* kb_per_s) {
  World& world = World::Get();
  {
    std::unique_lock lock(world.mutex);
    world.EnsureLoaded();
    nvmlsim::Place place;
    if (world.users > 0 && world.PlaceOf(device, &place)) {
      world.Spend(world.source->cards()[static_cast<size_t>(place.card)].pcie_block_ms, lock);
    }
  }
  return OnCard(__func__, device, [&](const View& v) {
    if (counter != kPcieTx && counter != kPcieRx) return kInvalidArgument;
    const Field field = counter == kPcieTx ? Field::kPcieTx : Field::kPcieRx;
    return Give(v.Mean(field, v.t_s() - 0.02, v.t_s()) * 1000, kb_per_s);
  });
}
Return nvmlDeviceGetPcieReplayCounter(Device device, u32* count) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.Now(Field::kPcieReplay), count); });
}
Return nvmlDeviceGetCurrPcieLinkGeneration(Device device, u32* generation) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.Now(Field::kPcieGen), generation); });
}
Return nvmlDeviceGetMaxPcieLinkGeneration(Device device, u32* generation) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.model().pcie_gen, generation); });
}
Return nvmlDeviceGetGpuMaxPcieLinkGeneration(Device device, u32* generation) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.model().pcie_gen, generation); });
}
Return nvmlDeviceGetCurrPcieLinkWidth(Device device, u32* width) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.Now(Field::kPcieWidth), width); });
}
Return nvmlDeviceGetMaxPcieLinkWidth(Device device, u32* width) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.facts().unified_memory ? 1 : 16, width); });
}
Return nvmlDeviceGetPcieSpeed(Device device, u32* mbps) {
  return OnCard(__func__, device, [&](const View& v) { return Give(Speed(v.Now(Field::kPcieGen)), mbps); });
}
Return nvmlDeviceGetPcieLinkMaxSpeed(Device device, u32* code) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.model().pcie_gen, code); });
}

Return nvmlDeviceGetNvLinkState(Device device, u32 link, int* active) {
  return OnLink(__func__, device, link, [&](const View&) { return Give(kEnabled, active); });
}
Return nvmlDeviceGetNvLinkVersion(Device device, u32 link, u32* version) {
  return OnLink(__func__, device, link, [&](const View& v) { return Give(v.model().architecture - 3, version); });
}
Return nvmlDeviceGetNvLinkCapability(Device device, u32 link, int capability, u32* result) {
  return OnLink(__func__, device, link, [&](const View&) {
    return capability < 0 || capability > 5 ? kInvalidArgument : Give(capability != 4, result);
  });
}
Return nvmlDeviceGetNvLinkErrorCounter(Device device, u32 link, int counter, u64* value) {
  return OnLink(__func__, device, link,
                [&](const View&) { return counter < 0 || counter > 4 ? kInvalidArgument : Give(0, value); });
}
Return nvmlDeviceGetNvLinkRemotePciInfo_v2(Device device, u32 link, PciInfo* pci) {
  return OnLink(__func__, device, link, [&](const View&) {
    if (pci == nullptr) return kInvalidArgument;
    *pci = {};  // a switch of another bus: nothing that a client could look up
    return kSuccess;
  });
}
Return nvmlDeviceGetNvLinkRemoteDeviceType(Device device, u32 link, int* type) {
  return OnLink(__func__, device, link,
                [&](const View& v) { return Give(v.model().nvlinks >= 6 ? kRemoteSwitch : kRemoteGpu, type); });
}
Return nvmlDeviceGetNvLinkUtilizationCounter(Device device, u32 link, u32, u64*, u64*) {
  return OnLink(__func__, device, link, [](const View&) { return kNotSupported; });  // on all that are in use today
}

}  // extern "C"
}  // namespace sawbill::nvml
