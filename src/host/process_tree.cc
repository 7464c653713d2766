// SPDX-License-Identifier: Apache-2.0
// **Trees.** A process belongs to the nearest card holder above it, so that a launcher's tree ends where its ranks
// begin. Parents die: a worker started by `sh -c` goes to init when the shell ends. Then, in this order:
//   - what was seen in a tree stays there while its holder lives;
//   - a process that leads no session and whose parent is in another one must have been passed on (fork keeps the
//     session, and who makes a new one leads it). It belongs to the holder of its process group, if there is exactly
//     one: a shell gives each job a group of its own, and torchrun's ranks, which share one, are not guessed apart.
//     What stands above a holder (nohup bash run.sh, whose terminal is gone) is of no tree.
// The cgroup is no help: all processes of a container share it, and reading it costs as much as the whole of the rest.
//
// **Time of children that ended.** A parent's cutime takes over a child's whole time when it waits for it, and the same
// holds for the bytes in /proc/PID/io. What was seen of the child before has been counted then; only the rest is new.
// So, over one interval, for each process p:
//
//   spent(p) = own time since + max(0, cutime since - what was last seen of vanished descendants whose nearest living
//              ancestor is p)
//
// Vanished card holders are subtracted too: a rank's ten hours must not fall on its launcher in the second in which it
// ends. A child that nobody waits for (SIGCHLD ignored) never arrives in cutime: the maximum keeps that from going
// below zero. A process that was not there at the last look counts whole, when it is younger than all that were.
#include "host/process_tree.h"

#include <algorithm>
#include <map>

#include "base/numbers.h"

namespace sawbill::host {
namespace {

constexpr int kUnknown = -2, kInWork = -3;

double Since(uint64_t now, uint64_t before) { return now > before ? static_cast<double>(now - before) : 0; }

/// The processes that a holder descends from.
std::vector<bool> AboveHolders(const Snapshot& now) {
  std::vector<bool> above(now.processes.size());
  for (const Process& p : now.processes) {
    if (!p.holder) continue;
    for (int up = p.parent; up >= 0 && !above[static_cast<size_t>(up)];) {
      above[static_cast<size_t>(up)] = true;
      up = now.processes[static_cast<size_t>(up)].parent;
    }
  }
  return above;
}

/// Holder of the process group that `p` was left behind in; -1 = none, or several.
int OwnerByGroup(const Snapshot& now, const std::map<int64_t, int>& holder_of_group, const Process& p) {
  const bool leads = p.stat.session == p.stat.pid || p.stat.session == 0;
  if (leads || p.parent < 0 || now.processes[static_cast<size_t>(p.parent)].stat.session == p.stat.session) return -1;
  const auto it = holder_of_group.find(p.stat.group);
  return it == holder_of_group.end() || p.stat.group == 0 ? -1 : it->second;
}

struct Vanished {
  double ticks = 0, read_bytes = 0, written_bytes = 0;
};

/// What was last seen of the processes that are gone, under the one who may have reaped them: their parent. Where that
/// is gone as well they went to some ancestor (init, a subreaper) and nobody tells to which, so it stands under each
/// that is still there: a little too few ticks are counted then, and never any twice.
std::vector<Vanished> CountVanished(const Snapshot& before, const Snapshot& now) {
  std::vector<Vanished> gone(now.processes.size());
  for (const Process& p : before.processes) {
    if (now.Find(p.stat.pid, p.stat.start_ticks) >= 0) continue;
    bool parent = true;
    size_t left = before.processes.size();  // two looks at a race can make a circle of parents
    for (int up = p.parent; up >= 0 && left > 0; --left, up = before.processes[static_cast<size_t>(up)].parent) {
      const ProcessStat& s = before.processes[static_cast<size_t>(up)].stat;
      const int heir = now.Find(s.pid, s.start_ticks);
      if (heir >= 0) {
        Vanished& v = gone[static_cast<size_t>(heir)];
        v.ticks += static_cast<double>(p.stat.cpu_ticks + p.stat.reaped_ticks);
        v.read_bytes += p.io.known ? static_cast<double>(p.io.read_bytes) : 0;
        v.written_bytes += p.io.known ? static_cast<double>(p.io.written_bytes) : 0;
        if (parent) break;
      }
      parent = false;
    }
  }
  return gone;
}

}  // namespace

int Snapshot::Find(int64_t pid) const {
  const auto it = std::lower_bound(processes.begin(), processes.end(), pid,
                                   [](const Process& p, int64_t want) { return p.stat.pid < want; });
  return it == processes.end() || it->stat.pid != pid ? -1 : static_cast<int>(it - processes.begin());
}

int Snapshot::Find(int64_t pid, uint64_t start_ticks) const {
  const int at = Find(pid);
  return at >= 0 && processes[static_cast<size_t>(at)].stat.start_ticks == start_ticks ? at : -1;
}

void AssignOwners(const Snapshot& before, Snapshot* now) {
  std::map<int64_t, int> holder_of_group;  // -1 = several
  for (size_t i = 0; i < now->processes.size(); ++i) {
    Process& p = now->processes[i];
    p.parent = p.stat.parent > 0 ? now->Find(p.stat.parent) : -1;
    if (p.parent == static_cast<int>(i)) p.parent = -1;
    p.owner = p.holder ? static_cast<int>(i) : kUnknown;
    now->newest_start = std::max(now->newest_start, p.stat.start_ticks);
    if (!p.holder) continue;
    const auto [it, first] = holder_of_group.try_emplace(p.stat.group, static_cast<int>(i));
    if (!first) it->second = -1;
  }
  const auto remembered = [&](const Process& p) {
    const int was = before.Find(p.stat.pid, p.stat.start_ticks);
    if (was < 0) return -1;
    const Process& old = before.processes[static_cast<size_t>(was)];
    const int owner = old.owner_pid > 0 ? now->Find(old.owner_pid, old.owner_start) : -1;
    return owner >= 0 && now->processes[static_cast<size_t>(owner)].holder ? owner : -1;
  };
  const std::vector<bool> above = AboveHolders(*now);
  std::vector<size_t> path;
  for (size_t i = 0; i < now->processes.size(); ++i) {
    // Up to somebody whose owner is known. Two looks at a race (a pid reused in between) can make a circle.
    path.clear();
    int owner = -1;
    for (int at = static_cast<int>(i); at >= 0; at = now->processes[static_cast<size_t>(at)].parent) {
      Process& p = now->processes[static_cast<size_t>(at)];
      if (p.owner == kInWork) break;
      if (p.owner != kUnknown) {
        owner = p.owner;
        break;
      }
      p.owner = kInWork;
      path.push_back(static_cast<size_t>(at));
    }
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
      Process& p = now->processes[*it];
      if (owner < 0) owner = remembered(p);
      if (owner < 0 && !above[*it]) owner = OwnerByGroup(*now, holder_of_group, p);
      p.owner = owner;
    }
  }
  for (Process& p : now->processes) {
    if (p.owner < 0) continue;
    const ProcessStat& owner = now->processes[static_cast<size_t>(p.owner)].stat;
    p.owner_pid = owner.pid;
    p.owner_start = owner.start_ticks;
  }
}

std::vector<Spent> Differences(const Snapshot& before, const Snapshot& now) {
  const std::vector<Vanished> gone = CountVanished(before, now);
  std::vector<Spent> all;
  all.reserve(now.processes.size());
  for (size_t i = 0; i < now.processes.size(); ++i) {
    const Process& n = now.processes[i];
    const int was = before.Find(n.stat.pid, n.stat.start_ticks);
    static const Process kBorn;  // all zero
    const bool born = was < 0 && !before.processes.empty() && n.stat.start_ticks >= before.newest_start;
    if (was < 0 && !born) {
      all.push_back({kMissing, kMissing, kMissing, kMissing});
      continue;
    }
    const Process& b = born ? kBorn : before.processes[static_cast<size_t>(was)];
    Spent s{};
    s.alone_ticks = Since(n.stat.cpu_ticks, b.stat.cpu_ticks);
    const double reaped = Since(n.stat.reaped_ticks, b.stat.reaped_ticks);
    s.ticks = s.alone_ticks + std::max(0.0, reaped - gone[i].ticks);
    const bool known = n.io.known && (born || b.io.known);
    const auto bytes = [&](uint64_t from, uint64_t to, double vanished) {
      return known ? std::max(0.0, Since(to, from) - (reaped > 0 ? vanished : 0)) : kMissing;
    };
    s.read_bytes = bytes(b.io.read_bytes, n.io.read_bytes, gone[i].read_bytes);
    s.written_bytes = bytes(b.io.written_bytes, n.io.written_bytes, gone[i].written_bytes);
    all.push_back(s);
  }
  return all;
}

}  // namespace sawbill::host
