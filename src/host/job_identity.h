// SPDX-License-Identifier: Apache-2.0
// Which job a process belongs to: its environment (an allow-list of names, nothing else is ever kept), its cgroup
// (Slurm, Kubernetes, Docker), else nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sys/proc_files.h"

namespace sawbill::host {

struct JobIdentity {
  std::string job;            // what the process row's `job` says; "" = none known
  std::string source;         // "environment", "slurm", "kubernetes", "docker", ... ; "" = none
  std::string project, user;  // as the scheduler says it; "" = not told
  std::string container;      // 12 hex digits, "" = none
  std::string rank, world_size, visible_devices, master;  // RANK, WORLD_SIZE, CUDA_VISIBLE_DEVICES, MASTER_ADDR
  bool has_visible_devices = false;                       // CUDA_VISIBLE_DEVICES is set, even to ""
};

JobIdentity Identify(sys::ProcFiles* files, int64_t pid);
/// The part of Identify that reads NUL-separated KEY=value text and a /proc/PID/cgroup.
JobIdentity IdentifyFrom(const std::string& environ_text, const std::string& cgroup_text);

/// Which of `cards` (uuids, in NVML order) a CUDA_VISIBLE_DEVICES value makes visible. Numbers follow CUDA's own order,
/// which is NVML's only under CUDA_DEVICE_ORDER=PCI_BUS_ID or when all cards are of one model: otherwise `certain` is
/// false and `cards` empty.
struct Visible {
  bool certain = true;
  std::vector<size_t> cards;
};
struct VisibleCard {
  std::string uuid, name;
};
Visible ResolveVisible(const std::string& value, const std::string& device_order,
                       const std::vector<VisibleCard>& cards);

}  // namespace sawbill::host
