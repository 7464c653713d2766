// SPDX-License-Identifier: Apache-2.0
// Everything that calls into the driver use, between one Open and its Close.
//
// A call can hang inside the driver for ever, in a thread that nobody can end. What it runs in (the library's code) and
// what it writes to must outlive it, so every call holds the session, and the session shuts NVML down and unloads the
// library when the last holder lets go: at Close, or when a stuck call returns after all, or never.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/nvml_api.h"
#include "gpu/nvml_card.h"
#include "gpu/source.h"
#include "sys/dynamic_library.h"
#include "sys/proc_files.h"

namespace sawbill::gpu {

struct NvmlSession {
  NvmlSession() = default;
  NvmlSession(const NvmlSession&) = delete;
  NvmlSession& operator=(const NvmlSession&) = delete;
  ~NvmlSession();

  std::shared_ptr<sys::ProcFiles> files;
  std::unique_ptr<sys::DynamicLibrary> library;
  NvmlApi api;
  bool initialised = false;
  nvml::EventSet events = nullptr;
  std::vector<std::unique_ptr<NvmlCard>> cards;  // as the slots

  std::mutex found_mutex;
  std::vector<CardEvent> found;  // events that readings came upon
};

/// Registers for what the cards can tell of (Xid, MIG reconfiguration, power source).
void WatchEvents(NvmlSession* session);
/// All that happened since the last call, without waiting.
std::vector<CardEvent> DrainEvents(NvmlSession* session);
/// A card that counts more uncorrected memory errors than before: an event.
void NoteErrors(NvmlSession* session, NvmlCard* card);

struct OpenedNvml {
  SourceStatus status;
  std::shared_ptr<NvmlSession> session;  // only when ok
  std::vector<Source::CardSlot> slots;
  SourceInfo info;
};
OpenedNvml OpenNvml(std::unique_ptr<sys::DynamicLibrary> library, std::shared_ptr<sys::ProcFiles> files);

}  // namespace sawbill::gpu
