// SPDX-License-Identifier: Apache-2.0
// **PID namespaces.** In a container the driver may speak of other numbers than /proc does:
//   - drivers before 545 (535.113 of the open modules) give the host's numbers everywhere. Under such a number a
//     container's /proc has nothing, or somebody else: "pid 57" is the trainer on the host and a log shipper in here.
//   - newer ones translate, and leave out what the container cannot see.
//   - with hostPID (Kubernetes) or on the host itself both are the same.
// A wrong name puts the bill on a stranger, so a number alone names nobody. What counts as proof, in this order:
//   1. We are in the first namespace (/proc/self/ns/pid is the kernel's constant 4026531836): the numbers are ours.
//      Unless our /proc belongs to an outer namespace than we do: then NSpid in /proc/self/status has two numbers.
//   2. The process has an NVIDIA device open (/proc/PID/fd). Such links can be read by the same user and root. Readable
//      and none among them: it is not the one.
//   3. They cannot be read, but another holder was proven by 2 and no number was ever without a process: the driver
//      translates.
// Everywhere: when the driver named a number while nobody here had it, or while another process had it, a process that
// gets the number later did not open the card before it was born. Then only 2 counts. That is how a dead process whose
// memory was never freed stays an orphan when its number is used again.
#include "host/holder_check.h"

#include <algorithm>

#include "base/text.h"
#include "host/scan.h"

namespace sawbill::host {
namespace {
constexpr const char* kFirstNamespace = "pid:[4026531836]";  // PROC_PID_INIT_INO
constexpr int64_t kLookAgainUs = 60'000'000;
}  // namespace

bool HolderCheck::InFirstNamespace() {
  if (first_namespace_) return *first_namespace_;
  const auto own = files_->ReadLink("/proc/self/ns/pid");
  std::string status;
  files_->Read("/proc/self/status", &status);
  std::string_view levels = ValueOf(status, "NSpid:");
  TakeWord(&levels);
  const bool one_level = TakeWord(&levels).empty();
  first_namespace_ = own && *own == kFirstNamespace && one_level;
  return *first_namespace_;
}

HolderCheck::Evidence HolderCheck::Look(int64_t pid) {
  const std::string dir = "/proc/" + std::to_string(pid) + "/fd/";
  bool any = false;
  for (const std::string& fd : files_->List(dir)) {
    const auto target = files_->ReadLink(dir + fd);
    any = any || target.has_value();
    if (target && (StartsWith(*target, "/dev/nvidia") || *target == "/dev/dxg")) return Evidence::kHoldsDevice;
  }
  return any ? Evidence::kNone : Evidence::kUnread;
}

std::set<int64_t> HolderCheck::Confirm(const Snapshot& before, const Snapshot& now, const std::set<int64_t>& pids,
                                       int64_t steady_us) {
  const bool first = InFirstNamespace();
  std::map<int64_t, Known> seen;
  bool translated = false, foreign = false;
  for (const int64_t pid : pids) {
    Known& k = seen[pid];
    const int at = now.Find(pid);
    if (at >= 0) k.start = now.processes[static_cast<size_t>(at)].stat.start_ticks;
    const auto old = known_.find(pid);
    if (old != known_.end() && old->second.start == k.start) {
      k = old->second;
    } else if (old != known_.end()) {
      k.stale = true;
    }
    // A process that ended since the driver was asked is no foreign number.
    foreign = foreign || (at < 0 && before.Find(pid) < 0);
    if (at < 0) continue;
    const bool must_look = !first || k.stale;
    const bool due = k.evidence == Evidence::kUnread || steady_us - k.looked_us >= kLookAgainUs;
    if (must_look && !k.confirmed && (k.looked_us == 0 || due)) {
      k.evidence = Look(pid);
      k.looked_us = steady_us;
    }
    k.confirmed = k.confirmed || k.evidence == Evidence::kHoldsDevice || (first && !k.stale);
    translated = translated || k.evidence == Evidence::kHoldsDevice;
  }
  std::set<int64_t> confirmed;
  for (auto& [pid, k] : seen) {
    const bool unread = k.start && k.evidence == Evidence::kUnread && !k.stale;
    k.confirmed = k.confirmed || (unread && translated && !foreign);
    if (k.confirmed && k.start) confirmed.insert(pid);
  }
  known_ = std::move(seen);
  return confirmed;
}

}  // namespace sawbill::host
