// SPDX-License-Identifier: Apache-2.0
// A tree from init down would be the whole machine, and a single process is too little: `ninja -j64` burns 64 cores in
// compilers of less than one core each, and gives each a process group of its own. So trees begin at the border of
// sessions: a login, a service, a container, a pane of tmux each have one. From there down:
//   - while one child's tree spends nearly all: to that child (bash -> cmake -> ninja);
//   - at a shell, children that each spend a good part are jobs of their own, and each has a row;
//   - otherwise it stops, and the process stands for all below it.
// What is left of a session whose first process ended (sixteen workers of a script that was killed) hangs on init one
// by one; those of one process group are taken together.
//
// Processes in a card holder's tree belong to that. Kernel threads are none: nobody can stop them.
#include "host/hogs.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/numbers.h"

namespace sawbill::host {
namespace {

constexpr double kNearlyAll = 0.9;
constexpr double kGoodPart = 0.25;

bool IsShell(std::string_view comm) {
  static constexpr std::array<std::string_view, 8> kShells = {"sh",  "bash", "dash", "zsh",
                                                              "ksh", "fish", "tcsh", "ash"};
  return std::find(kShells.begin(), kShells.end(), comm) != kShells.end();
}

class Forest {
 public:
  Forest(const Snapshot& now, const std::vector<Spent>& spent, double least_ticks, int64_t self)
      : now_(now), least_(least_ticks), ticks_(now.processes.size()), children_(now.processes.size()) {
    std::vector<size_t> order(now.processes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    // Children before their parents: who was born later comes first. (A parent that is younger is none: its number was
    // used again between two reads. That keeps circles out.)
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return Age(a) > Age(b); });
    for (const size_t i : order) {
      const Process& p = now.processes[i];
      if (p.owner >= 0 || p.stat.kernel_thread()) continue;
      if (p.stat.pid != self && !IsMissing(spent[i].ticks)) ticks_[i] += spent[i].ticks;
      if (ticks_[i] <= 0) continue;
      const int parent = Parent(i);
      if (parent >= 0) {
        ticks_[static_cast<size_t>(parent)] += ticks_[i];
        children_[static_cast<size_t>(parent)].push_back(i);
      } else {
        // Session 0: it lies outside of this PID namespace, as of what `docker exec` starts.
        const int64_t group = p.stat.session > 0 ? p.stat.group : -p.stat.pid;
        roots_[{p.stat.session, group}].push_back(i);
      }
    }
  }

  std::vector<Hog> Find() {
    for (const auto& [key, roots] : roots_) {
      double all = 0;
      size_t greatest = roots.front();
      for (const size_t i : roots) {
        all += ticks_[i];
        if (ticks_[i] > ticks_[greatest]) greatest = i;
      }
      if (ticks_[greatest] >= kNearlyAll * all) {
        Descend(greatest);
      } else {
        Add(greatest, all);
      }
    }
    std::stable_sort(hogs_.begin(), hogs_.end(), [](const Hog& a, const Hog& b) { return a.ticks > b.ticks; });
    return std::move(hogs_);
  }

 private:
  std::pair<uint64_t, int64_t> Age(size_t i) const {
    const ProcessStat& s = now_.processes[i].stat;
    return {s.start_ticks, s.pid};
  }
  /// In the same session; -1 = none.
  int Parent(size_t i) const {
    const int parent = now_.processes[i].parent;
    if (parent < 0 || !(Age(static_cast<size_t>(parent)) < Age(i))) return -1;
    return now_.processes[static_cast<size_t>(parent)].stat.session == now_.processes[i].stat.session ? parent : -1;
  }
  void Add(size_t at, double ticks) {
    if (ticks >= least_) hogs_.push_back({static_cast<int>(at), ticks});
  }
  void Descend(size_t at) {
    for (;;) {
      const auto child = std::find_if(children_[at].begin(), children_[at].end(),
                                      [&](size_t c) { return ticks_[c] >= kNearlyAll * ticks_[at]; });
      if (child == children_[at].end()) break;
      at = *child;
    }
    double rest = ticks_[at];
    if (IsShell(now_.processes[at].stat.comm)) {
      for (const size_t c : children_[at]) {
        if (ticks_[c] < least_ || ticks_[c] < kGoodPart * ticks_[at]) continue;
        rest -= ticks_[c];
        Descend(c);
      }
    }
    Add(at, rest);
  }

  const Snapshot& now_;
  double least_;
  std::vector<double> ticks_;  // with all below
  std::vector<std::vector<size_t>> children_;
  std::map<std::pair<int64_t, int64_t>, std::vector<size_t>> roots_;  // by session and group
  std::vector<Hog> hogs_;
};

}  // namespace

std::vector<Hog> FindHogs(const Snapshot& now, const std::vector<Spent>& spent, double least_ticks, int64_t self) {
  return Forest(now, spent, least_ticks, self).Find();
}

}  // namespace sawbill::host
