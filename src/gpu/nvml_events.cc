// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "gpu/nvml_session.h"

namespace sawbill::gpu {
namespace {

// Double-bit ECC errors are told by the counter, which misses none while nobody listens.
constexpr nvml::u64 kWanted = nvml::kEventXid | nvml::kEventMigConfig | nvml::kEventPowerSource;
constexpr int kMostAtOnce = 256;  // a card that raises Xids in a loop must not keep us here

const char* Kind(nvml::u64 type) {
  switch (type) {
    case nvml::kEventXid:
      return "xid";
    case nvml::kEventMigConfig:
      return "mig_changed";
    case nvml::kEventPowerSource:
      return "power_source";
    default:
      return nullptr;
  }
}

/// The slot that an event is about: the instance where it is told, else the card, else none.
std::string GpuOf(const NvmlSession& session, const nvml::EventData& event) {
  std::string gpu;
  for (const auto& card : session.cards) {
    const CardPlace& place = card->place();
    if (place.physical != event.device || event.device == nullptr) continue;
    if (!place.gpu_instance) gpu = place.gpu;
  }
  if (gpu.empty() || event.gpuInstanceId == nvml::kNoInstance) return gpu;
  const std::string instance = fmt::format("{}.{}.{}", gpu, event.gpuInstanceId, event.computeInstanceId);
  for (const auto& card : session.cards) {
    if (card->place().gpu == instance) return instance;
  }
  return gpu;
}

}  // namespace

void WatchEvents(NvmlSession* session) {
  const NvmlApi& api = session->api;
  if (Call(api.nvmlEventSetCreate, &session->events) != nvml::kSuccess) session->events = nullptr;
  if (session->events == nullptr) return;
  for (const auto& card : session->cards) {
    const CardPlace& place = card->place();
    if (place.device == nullptr || place.gpu_instance) continue;
    // One kind that a card does not know makes the whole registration fail.
    nvml::u64 known = 0;
    if (Call(api.nvmlDeviceGetSupportedEventTypes, place.device, &known) != nvml::kSuccess) continue;
    if ((known & kWanted) != 0) Call(api.nvmlDeviceRegisterEvents, place.device, known & kWanted, session->events);
  }
}

std::vector<CardEvent> DrainEvents(NvmlSession* session) {
  std::vector<CardEvent> events;
  {
    const std::lock_guard<std::mutex> lock(session->found_mutex);
    events.swap(session->found);
  }
  if (session->events == nullptr) return events;
  for (int i = 0; i < kMostAtOnce; ++i) {
    // The old call leaves the instance ids as they are.
    nvml::EventData data = {nullptr, 0, 0, nvml::kNoInstance, nvml::kNoInstance};
    const int code = CallEither(session->api.nvmlEventSetWait_v2, session->api.nvmlEventSetWait, session->events, &data,
                                nvml::u32{0});
    if (code != nvml::kSuccess) break;  // 10: nothing more; 15: a card is gone, which its readings say with its name
    const char* kind = Kind(data.eventType);
    if (kind == nullptr) continue;
    const bool xid = data.eventType == nvml::kEventXid;
    events.push_back({kind, GpuOf(*session, data), xid ? fmt::format("xid={}", data.eventData) : std::string()});
  }
  return events;
}

void NoteErrors(NvmlSession* session, NvmlCard* card) {
  const uint64_t errors = card->TakeNewErrors();
  if (errors == 0) return;
  const std::lock_guard<std::mutex> lock(session->found_mutex);
  session->found.push_back({"ecc", card->place().gpu, fmt::format("uncorrected={}", errors)});
}

}  // namespace sawbill::gpu
