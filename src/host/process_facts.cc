// SPDX-License-Identifier: Apache-2.0
#include "host/process_facts.h"

#include "base/numbers.h"
#include "base/text.h"
#include "host/counters.h"
#include "host/scan.h"

namespace sawbill::host {
namespace {
constexpr int64_t kMinuteUs = 60'000'000;
constexpr double kClockSlackS = 2;  // btime is whole seconds, and moves by one when the clock is disciplined
}  // namespace

void FactsCache::Begin(int64_t steady_us, int64_t wall_ms) {
  now_us_ = steady_us;
  wall_ms_ = wall_ms;
  boot_s_.reset();
  if (!allowances_us_ || steady_us < *allowances_us_ || steady_us - *allowances_us_ >= kMinuteUs) {
    allowances_ = std::make_unique<AllowanceReader>(files_);
    allowances_us_ = steady_us;
  }
}

Facts& FactsCache::Fresh(const Process& p) {
  Facts& f = facts_[p.stat.pid];
  if (f.start_ticks != p.stat.start_ticks) f = {};
  // Not all in the same look: a node with 600 workers would stumble once a minute.
  const int64_t due_us = kMinuteUs - 5'000'000 * (p.stat.pid % 6);
  const bool fresh = f.looks >= 2 && f.comm == p.stat.comm && now_us_ >= f.read_us && now_us_ - f.read_us < due_us;
  if (fresh || (f.looks > 0 && f.read_us == now_us_) || p.stat.defunct()) return f;
  f.start_ticks = p.stat.start_ticks;
  ++f.looks;
  f.read_us = now_us_;
  f.comm = p.stat.comm;
  const std::string dir = "/proc/" + std::to_string(p.stat.pid);
  files_->Read(dir + "/cmdline", &text_);
  if (text_ != f.cmdline) f.row = false;  // another program: it may have been given another environment
  f.cmdline = text_;
  f.role = RoleOf(f.cmdline, f.comm);
  files_->Read(dir + "/status", &text_);
  f.cpus = allowances_->Cpus(text_);
  std::string_view uids = ValueOf(text_, "Uid:");
  // The real user: who started a program that changes its user pays for it.
  if (const auto uid = TakeU64(&uids)) f.uid = static_cast<uint32_t>(*uid);
  if (f.row) files_->Read(dir + "/cgroup", &f.membership);
  return f;
}

const Facts& FactsCache::GetForRow(const Process& p) {
  Facts& f = Fresh(p);
  if (f.start_ticks == 0) f.start_ticks = p.stat.start_ticks;
  if (f.started_s == 0) f.started_s = Started(p);
  if (f.row || p.stat.defunct()) return f;
  f.row = true;
  f.identity = Identify(files_, p.stat.pid);
  files_->Read("/proc/" + std::to_string(p.stat.pid) + "/cgroup", &f.membership);
  return f;
}

/// Kept from the first look: the time of boot is reckoned back from the wall clock, and moves when that is set.
double FactsCache::Started(const Process& p) {
  if (!boot_s_) {
    files_->Read("/proc/stat", &text_);
    boot_s_ = ParseBootTime(text_);
  }
  const double now_s = static_cast<double>(wall_ms_) / 1000,
               age_s = static_cast<double>(p.stat.start_ticks) / clock_ticks_;
  if (*boot_s_ > 0 && *boot_s_ + age_s <= now_s + kClockSlackS) return *boot_s_ + age_s;
  // No boot time, or one of another clock. lxcfs shows a container's own uptime: older than it is nothing in there.
  files_->Read("/proc/uptime", &text_);
  std::string_view rest = text_;
  const auto uptime_s = ParseDouble(TakeWord(&rest));
  return uptime_s && *uptime_s >= age_s ? now_s - (*uptime_s - age_s) : kMissing;
}

std::string FactsCache::Name(const Snapshot& now, int at) {
  const Process& first = now.processes[static_cast<size_t>(at)];
  if (first.stat.defunct()) return "(defunct)";
  for (int up = at, steps = 0; up >= 0 && steps < 4; ++steps) {
    const Process& p = now.processes[static_cast<size_t>(up)];
    const Facts& f = Fresh(p);
    if (f.role != Role::kSpawned && f.role != Role::kForkServer) return NameOf(f.cmdline, f.comm);
    up = p.parent;
  }
  const Facts& own = Fresh(first);
  return NameOf(own.cmdline, own.comm);
}

std::string FactsCache::User(const Process& p) {
  const Facts& f = Fresh(p);
  const std::optional<uint32_t> uid = f.uid ? f.uid : files_->Owner("/proc/" + std::to_string(p.stat.pid));
  return uid ? sys::UserName(*uid) : "";
}

void FactsCache::End(const Snapshot& now) {
  std::erase_if(facts_, [&](const auto& entry) { return now.Find(entry.first, entry.second.start_ticks) < 0; });
}

}  // namespace sawbill::host
