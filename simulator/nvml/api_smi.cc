// SPDX-License-Identifier: Apache-2.0
// Only nvidia-smi asks for these. Not to have them reads "Function Not Found" there, which no card does.
#include <cstring>

#include "simulator/nvml/api.h"

namespace sawbill::nvml {
namespace {
using nvmlsim::Give;
using nvmlsim::GiveText;
using nvmlsim::OnCard;
using nvmlsim::View;

Return None(const char* name, Device device) {
  return OnCard(name, device, [](const View&) { return kNotSupported; });
}
}  // namespace

extern "C" {

Return nvmlDeviceGetDriverModel(Device device, int*, int*) { return None(__func__, device); }  // Windows
Return nvmlDeviceGetInforomImageVersion(Device device, char* version, u32 length) {
  return OnCard(__func__, device,
                [&](const View& v) { return GiveText(v.facts().ecc ? "G520.0200.00.05" : "", version, length); });
}
Return nvmlDeviceGetInforomVersion(Device device, int object, char* version, u32 length) {
  return OnCard(__func__, device, [&](const View& v) {
    constexpr const char* kVersions[] = {"2.1", "6.16", ""};
    return object >= 0 && object < 3 ? GiveText(v.facts().ecc ? kVersions[object] : "", version, length)
                                     : kInvalidArgument;
  });
}
Return nvmlDeviceGetLastBBXFlushTime(Device device, u64*, unsigned long*) { return None(__func__, device); }
Return nvmlDeviceGetGpuOperationMode(Device device, int*, int*) { return None(__func__, device); }
Return nvmlDeviceGetGspFirmwareVersion(Device device, char* version) {
  return OnCard(__func__, device, [&](const View& v) {
    return v.model().architecture >= kArchTuring ? GiveText(v.source().system().driver, version, 64) : kNotSupported;
  });
}
Return nvmlDeviceGetGspFirmwareMode(Device device, u32* enabled, u32* default_mode) {
  return OnCard(__func__, device, [&](const View& v) {
    const bool gsp = v.model().architecture >= kArchTuring;
    const Return r = Give(gsp, enabled);
    return r != kSuccess ? r : Give(gsp, default_mode);
  });
}
Return nvmlDeviceGetHostVgpuMode(Device device, int*) { return None(__func__, device); }
Return nvmlDeviceGetGridLicensableFeatures_v4(Device device, void* features) {
  return OnCard(__func__, device, [&](const View&) {
    if (features == nullptr) return kInvalidArgument;
    std::memset(features, 0, 8);  // no licensing, of no features
    return kSuccess;
  });
}
Return nvmlDeviceGetBridgeChipInfo(Device device, void*) { return None(__func__, device); }
Return nvmlDeviceGetConfComputeProtectedMemoryUsage(Device device, Memory* memory) {
  return OnCard(__func__, device, [&](const View&) {
    if (memory == nullptr) return kInvalidArgument;
    *memory = {};
    return kSuccess;
  });
}
Return nvmlDeviceGetEncoderStats(Device device, u32* sessions, u32* fps, u32* latency_us) {
  return OnCard(__func__, device, [&](const View&) {
    if (sessions == nullptr || fps == nullptr || latency_us == nullptr) return kInvalidArgument;
    *sessions = *fps = *latency_us = 0;
    return kSuccess;
  });
}
Return nvmlDeviceGetFBCStats(Device device, u32* stats) {
  return OnCard(__func__, device, [&](const View&) {
    if (stats == nullptr) return kInvalidArgument;
    std::memset(stats, 0, 3 * sizeof(u32));
    return kSuccess;
  });
}
Return nvmlDeviceGetSramEccErrorStatus(Device device, u64* status) {
  return OnCard(__func__, device, [&](const View& v) {
    if (status == nullptr) return kInvalidArgument;
    if (!v.facts().ecc || v.model().architecture < kArchAmpere) return kNotSupported;
    u32 version = 0;
    std::memcpy(&version, status, sizeof(version));
    if (version != 0x01000068u) return kArgumentVersionMismatch;
    std::memset(status + 1, 0, 104 - 8);
    return kSuccess;
  });
}
Return nvmlDeviceGetRowRemapperHistogram(Device device, u32* values) {
  return OnCard(__func__, device, [&](const View& v) {
    if (values == nullptr) return kInvalidArgument;
    if (!v.facts().ecc || v.model().architecture < kArchAmpere || v.facts().mig) return kNotSupported;
    const u32 fresh[] = {2560, 0, 0, 0, 0};  // banks with all their spare rows
    std::memcpy(values, fresh, sizeof(fresh));
    return kSuccess;
  });
}
Return nvmlDeviceGetGpuFabricInfo(Device device, void*) { return None(__func__, device); }

}  // extern "C"
}  // namespace sawbill::nvml
