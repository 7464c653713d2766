// SPDX-License-Identifier: Apache-2.0
// MIG: instances as devices of their own. The slots of a card have holes, as the real ones do.
#include <fmt/format.h>

#include <cstring>

#include "simulator/nvml/api.h"

namespace sawbill::nvml {
namespace {
using nvmlsim::Give;
using nvmlsim::InstanceFacts;
using nvmlsim::OnCard;
using nvmlsim::OnPlace;
using nvmlsim::View;
using nvmlsim::World;

constexpr u32 kMaxInstances = 7;

/// The same number as the instance's device, as a pointer of another type: neither is ever followed.
template <typename Handle>
Handle InstanceHandle(const View& v, size_t instance) {
  return reinterpret_cast<Handle>(World::Get().HandleOf({v.place().card, static_cast<int>(instance)}));
}
template <typename Handle, typename Body>
Return OnInstance(const char* name, Handle handle, Body body) {
  return OnPlace(name, reinterpret_cast<Device>(handle),
                 [&](const View& v) { return v.instance() != nullptr ? body(v, *v.instance()) : kInvalidArgument; });
}

u32 ProfileOf(const InstanceFacts& i) {  // ids as nvidia-smi mig -lgip shows them
  constexpr u32 kIds[] = {19, 14, 9, 5, 5, 5, 0, 0};
  return kIds[i.slices - 1];
}

}  // namespace

extern "C" {

Return nvmlDeviceGetMigMode(Device device, u32* current, u32* pending) {
  return OnCard(__func__, device, [&](const View& v) {
    if (!v.model().mig) return kNotSupported;
    if (current == nullptr) return kInvalidArgument;
    *current = v.facts().mig ? 1 : 0;
    return Give(v.facts().mig, pending);
  });
}
Return nvmlDeviceGetMaxMigDeviceCount(Device device, u32* count) {
  return OnCard(__func__, device, [&](const View& v) { return Give(v.model().mig ? kMaxInstances : 0, count); });
}
Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, u32 index, Device* mig) {
  return OnCard(__func__, device, [&](const View& v) {
    if (!v.model().mig || !v.facts().mig) return kNotFound;
    if (mig == nullptr || index >= kMaxInstances) return kInvalidArgument;
    for (size_t i = 0; i < v.facts().instances.size(); ++i) {
      if (v.facts().instances[i].slot != static_cast<int>(index)) continue;
      *mig = World::Get().HandleOf({v.place().card, static_cast<int>(i)});
      return kSuccess;
    }
    return kNotFound;
  });
}
Return nvmlDeviceIsMigDeviceHandle(Device device, u32* is_mig) {
  return OnPlace(__func__, device, [&](const View& v) { return Give(v.instance() != nullptr, is_mig); });
}
Return nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device mig, Device* device) {
  return OnPlace(__func__, mig, [&](const View& v) {
    if (device == nullptr) return kInvalidArgument;
    if (v.instance() == nullptr) return kNotFound;
    *device = World::Get().HandleOf({v.place().card, -1});
    return kSuccess;
  });
}
Return nvmlDeviceGetGpuInstanceId(Device device, u32* id) {
  return OnPlace(__func__, device, [&](const View& v) {
    return v.instance() != nullptr ? Give(v.instance()->gpu_instance, id) : kNotSupported;
  });
}
Return nvmlDeviceGetComputeInstanceId(Device device, u32* id) {
  return OnPlace(__func__, device, [&](const View& v) {
    return v.instance() != nullptr ? Give(v.instance()->compute_instance, id) : kNotSupported;
  });
}
Return nvmlDeviceGetAttributes_v2(Device device, DeviceAttributes* attributes) {
  return OnPlace(__func__, device, [&](const View& v) {
    const InstanceFacts* i = v.instance();
    if (attributes == nullptr) return kInvalidArgument;
    if (i == nullptr) return kNotSupported;
    *attributes = {};
    attributes->multiprocessorCount = static_cast<u32>(i->sm_count);
    attributes->sharedCopyEngineCount = static_cast<u32>(i->slices);
    attributes->sharedDecoderCount = static_cast<u32>(i->slices);
    attributes->sharedJpegCount = static_cast<u32>(i->slices);
    attributes->gpuInstanceSliceCount = static_cast<u32>(i->slices);
    attributes->computeInstanceSliceCount = static_cast<u32>(i->slices);
    attributes->memorySizeMB = static_cast<u64>(i->memory_mib);
    return kSuccess;
  });
}
Return nvmlDeviceGetGpuInstanceById(Device device, u32 id, GpuInstance* instance) {
  return OnCard(__func__, device, [&](const View& v) {
    if (!v.facts().mig) return kNotSupported;
    if (instance == nullptr) return kInvalidArgument;
    for (size_t i = 0; i < v.facts().instances.size(); ++i) {
      if (v.facts().instances[i].gpu_instance != static_cast<int>(id)) continue;
      *instance = InstanceHandle<GpuInstance>(v, i);
      return kSuccess;
    }
    return kNotFound;
  });
}
Return nvmlGpuInstanceGetInfo(GpuInstance instance, GpuInstanceInfo* info) {
  return OnInstance(__func__, instance, [&](const View& v, const InstanceFacts& i) {
    if (info == nullptr) return kInvalidArgument;
    *info = {World::Get().HandleOf({v.place().card, -1}),
             static_cast<u32>(i.gpu_instance),
             ProfileOf(i),
             {static_cast<u32>(i.slot), static_cast<u32>(i.slices)}};
    return kSuccess;
  });
}
Return nvmlGpuInstanceGetComputeInstanceById(GpuInstance instance, u32 id, ComputeInstance* compute) {
  return OnInstance(__func__, instance, [&](const View& v, const InstanceFacts& own) {
    if (compute == nullptr) return kInvalidArgument;
    const auto& all = v.facts().instances;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].gpu_instance != own.gpu_instance || all[i].compute_instance != static_cast<int>(id)) continue;
      *compute = InstanceHandle<ComputeInstance>(v, i);
      return kSuccess;
    }
    return kNotFound;
  });
}
Return nvmlComputeInstanceGetInfo_v2(ComputeInstance compute, ComputeInstanceInfo* info) {
  return OnInstance(__func__, compute, [&](const View& v, const InstanceFacts& i) {
    if (info == nullptr) return kInvalidArgument;
    *info = {World::Get().HandleOf({v.place().card, -1}),
             reinterpret_cast<GpuInstance>(compute),
             static_cast<u32>(i.compute_instance),
             ProfileOf(i),
             {0, static_cast<u32>(i.slices)}};
    return kSuccess;
  });
}
Return nvmlDeviceGetGpuInstanceProfileInfoV(Device device, u32 profile, GpuInstanceProfileInfoV2* info) {
  return OnCard(__func__, device, [&](const View& v) {
    if (info == nullptr) return kInvalidArgument;
    if (info->version != kGpuInstanceProfileInfoV2Version) return kArgumentVersionMismatch;
    if (!v.model().mig) return kNotSupported;
    constexpr int kSlices[] = {1, 2, 3, 4, 7};
    if (profile >= std::size(kSlices)) return kNotSupported;
    const int slices = kSlices[profile];
    for (const InstanceFacts& i : v.facts().instances) {
      if (i.slices != slices) continue;
      *info = {};
      info->version = kGpuInstanceProfileInfoV2Version;
      info->id = ProfileOf(i);
      info->sliceCount = static_cast<u32>(slices);
      info->instanceCount = static_cast<u32>(8 / slices);
      info->multiprocessorCount = static_cast<u32>(i.sm_count);
      info->copyEngineCount = info->decoderCount = static_cast<u32>(slices);
      info->memorySizeMB = static_cast<u64>(i.memory_mib);
      fmt::format_to_n(info->name, sizeof(info->name) - 1, "MIG {}", i.profile);
      return kSuccess;
    }
    return kNotSupported;
  });
}

}  // extern "C"
}  // namespace sawbill::nvml
