// SPDX-License-Identifier: Apache-2.0
// Who holds a card, in all the forms that NVML has had; and the driver's ring of process utilisation.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "simulator/nvml/api.h"

namespace sawbill::nvml {
namespace {
using nvmlsim::FaultKind;
using nvmlsim::OnCard;
using nvmlsim::OnPlace;
using nvmlsim::ProcessNow;
using nvmlsim::View;
using nvmlsim::World;

std::vector<ProcessNow> Holders(const View& v, std::string_view types) {
  std::vector<ProcessNow> out;
  for (ProcessNow& p : v.source().Processes(v.place().card, v.t_s(), v.t_s())) {
    if (types.find(p.type) == std::string_view::npos) continue;
    if (v.instance() != nullptr && p.instance != v.place().instance) continue;
    out.push_back(std::move(p));
  }
  return out;
}

u64 MemoryBytes(const ProcessNow& p) {
  return IsMissing(p.mem_mib) ? kMemoryUnknown : static_cast<u64>(p.mem_mib * 1048576 + 0.5);
}

ProcessDetail Detail(const View& v, const ProcessNow& p) {
  ProcessDetail d{p.pid, MemoryBytes(p), kNoInstance, kNoInstance, 0};
  if (p.instance >= 0) {
    const auto& instance = v.facts().instances[static_cast<size_t>(p.instance)];
    d.gpuInstanceId = static_cast<u32>(instance.gpu_instance);
    d.computeInstanceId = static_cast<u32>(instance.compute_instance);
  }
  return d;
}

/// Entries of `stride` bytes: 16 of version 1, 24, or 32 of some early 535 drivers, which wrote past the caller's
/// array.
Return List(const char* name, Device device, std::string_view types, size_t stride, u32* count, void* infos) {
  return OnPlace(name, device, [&](const View& v) {
    if (count == nullptr) return kInvalidArgument;
    const std::vector<ProcessNow> holders = Holders(v, types);
    const u32 room = infos != nullptr ? *count : 0;
    *count = static_cast<u32>(holders.size());
    if (holders.size() > room) return kInsufficientSize;
    const bool wide = stride == sizeof(ProcessInfo) &&
                      World::Get().FaultOf(FaultKind::kStride32, name, v.place().card, v.t_s()) != nullptr;
    const size_t step = wide ? sizeof(ProcessDetail) : stride;
    for (size_t i = 0; i < holders.size(); ++i) {
      const ProcessDetail detail = Detail(v, holders[i]);  // the shorter forms are its beginning
      std::memcpy(static_cast<char*>(infos) + i * step, &detail, step);
    }
    return kSuccess;
  });
}

constexpr u32 kRing = 100;

bool Active(const ProcessNow& p) { return p.sm_util > 0 || p.mem_util > 0 || p.enc_util > 0 || p.dec_util > 0; }
u32 Percent(double value) { return static_cast<u32>(std::max(value, 0.0) + 0.5); }

/// One entry for each process that was active in the second before the last window; from 0 on also those of the seconds
/// before, as far as the ring goes back.
std::vector<ProcessUtilizationInfo> UtilizationRing(const View& v, u64 last_seen_us) {
  std::vector<ProcessUtilizationInfo> out;
  const double window_s = v.facts().util_window_s;
  const double newest_s = std::floor(v.t_s() / window_s + 1e-9) * window_s;
  for (int back = 0; back < 60 && out.size() < kRing; ++back) {
    const double end_s = newest_s - back;
    const auto stamp = static_cast<u64>(World::Get().TimeUs(end_s) + 0.5);
    if (end_s < 0 || stamp <= last_seen_us) break;
    for (const ProcessNow& p : v.source().Processes(v.place().card, end_s - 1, end_s)) {
      if (!Active(p) || out.size() >= kRing) continue;
      out.push_back(
          {stamp, p.pid, Percent(p.sm_util), Percent(p.mem_util), Percent(p.enc_util), Percent(p.dec_util), 0, 0});
    }
    if (last_seen_us > 0) break;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

/// As seen in nvtop #110: a dead pid with a share of 4000 first, the newest not at the front, and empty entries behind.
void AddStale(std::vector<ProcessUtilizationInfo>* ring) {
  ring->insert(ring->begin(), {0, nvmlsim::kStalePid, 4000, 4000, 0, 0, 0, 0});
  ring->resize(std::max<size_t>(ring->size(), kRing), {0, 0, 0, 0, 0, 0, 0, 0});
}

template <typename Write>
Return ProcessUtilization(const char* name, Device device, u64 last_seen_us, u32* count, bool has_room, Write write) {
  return OnCard(name, device, [&](const View& v) {
    if (count == nullptr) return kInvalidArgument;
    if (v.facts().mig) return kNotSupported;
    std::vector<ProcessUtilizationInfo> ring = UtilizationRing(v, last_seen_us);
    if (World::Get().FaultOf(FaultKind::kStalePids, name, v.place().card, v.t_s()) != nullptr) AddStale(&ring);
    if (!has_room || *count < ring.size()) {
      *count = std::max(kRing, static_cast<u32>(ring.size()));  // the ring's length, not what is in it
      return kInsufficientSize;
    }
    *count = static_cast<u32>(ring.size());
    for (size_t i = 0; i < ring.size(); ++i) write(i, ring[i]);
    return ring.empty() ? kNotFound : kSuccess;  // nobody was active: a normal answer
  });
}

}  // namespace

extern "C" {

Return nvmlDeviceGetComputeRunningProcesses(Device device, u32* count, ProcessInfoV1* infos) {
  return List(__func__, device, "CM", sizeof(ProcessInfoV1), count, infos);
}
Return nvmlDeviceGetComputeRunningProcesses_v2(Device device, u32* count, ProcessInfo* infos) {
  return List(__func__, device, "CM", sizeof(ProcessInfo), count, infos);
}
Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, u32* count, ProcessInfo* infos) {
  return List(__func__, device, "CM", sizeof(ProcessInfo), count, infos);
}
Return nvmlDeviceGetGraphicsRunningProcesses(Device device, u32* count, ProcessInfoV1* infos) {
  return List(__func__, device, "G", sizeof(ProcessInfoV1), count, infos);
}
Return nvmlDeviceGetGraphicsRunningProcesses_v2(Device device, u32* count, ProcessInfo* infos) {
  return List(__func__, device, "G", sizeof(ProcessInfo), count, infos);
}
Return nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, u32* count, ProcessInfo* infos) {
  return List(__func__, device, "G", sizeof(ProcessInfo), count, infos);
}
Return nvmlDeviceGetMPSComputeRunningProcesses(Device device, u32* count, ProcessInfoV1* infos) {
  return List(__func__, device, "M", sizeof(ProcessInfoV1), count, infos);
}
Return nvmlDeviceGetMPSComputeRunningProcesses_v2(Device device, u32* count, ProcessInfo* infos) {
  return List(__func__, device, "M", sizeof(ProcessInfo), count, infos);
}
Return nvmlDeviceGetMPSComputeRunningProcesses_v3(Device device, u32* count, ProcessInfo* infos) {
  return List(__func__, device, "M", sizeof(ProcessInfo), count, infos);
}

Return nvmlDeviceGetRunningProcessDetailList(Device device, ProcessDetailList* list) {
  return OnPlace(__func__, device, [&](const View& v) {
    if (list == nullptr) return kInvalidArgument;
    if (list->version != kProcessDetailListVersion) return kArgumentVersionMismatch;
    constexpr std::string_view kTypes[] = {"CM", "G", "M", "CGM"};
    if (list->mode >= std::size(kTypes)) return kInvalidArgument;
    const std::vector<ProcessNow> holders = Holders(v, kTypes[list->mode]);
    const u32 room = list->procArray != nullptr ? list->numProcArrayEntries : 0;
    list->numProcArrayEntries = static_cast<u32>(holders.size());
    if (holders.size() > room) return kInsufficientSize;
    for (size_t i = 0; i < holders.size(); ++i) list->procArray[i] = Detail(v, holders[i]);
    return kSuccess;
  });
}

Return nvmlDeviceGetProcessUtilization(Device device, ProcessUtilizationSample* samples, u32* count, u64 last_seen_us) {
  return ProcessUtilization(__func__, device, last_seen_us, count, samples != nullptr,
                            [&](size_t i, const ProcessUtilizationInfo& p) {
                              samples[i] = {p.pid, p.timeStamp, p.smUtil, p.memUtil, p.encUtil, p.decUtil};
                            });
}

Return nvmlDeviceGetProcessesUtilizationInfo(Device device, ProcessesUtilizationInfo* info) {
  const bool known = info != nullptr && info->version == kProcessesUtilizationVersion;
  if (info != nullptr && !known) return OnCard(__func__, device, [](const View&) { return kArgumentVersionMismatch; });
  return ProcessUtilization(__func__, device, known ? info->lastSeenTimeStamp : 0,
                            known ? &info->processSamplesCount : nullptr, known && info->procUtilArray != nullptr,
                            [&](size_t i, const ProcessUtilizationInfo& p) { info->procUtilArray[i] = p; });
}

}  // extern "C"
}  // namespace sawbill::nvml
