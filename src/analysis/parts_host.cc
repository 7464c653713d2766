// SPDX-License-Identifier: Apache-2.0
// Features of the host and of the job's processes: who prepares the data, and who is in the way.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/feature_parts.h"
#include "wave/stats.h"

namespace sawbill::analysis::parts {
namespace {

using model::HostMetric;
using model::ProcessMetric;
using wave::Feature;

constexpr double kReadsMbS = 0.5;  // less is logs and libraries

struct Mean {
  double sum = 0;
  int n = 0;
  void Add(double v) {
    if (IsMissing(v)) return;
    sum += v;
    ++n;
  }
  double value() const { return n > 0 ? sum / n : kMissing; }
};

struct ProcessMeans {
  Mean cores, main, workers, allowed, read;
};

bool Within(const model::TimeRange& r, TimeMs t) { return t > r.from && t <= r.to; }

double HostMean(const model::HostTrack& h, HostMetric m, model::TimeRange range) {
  Mean mean;
  const auto first = std::upper_bound(h.t_ms.begin(), h.t_ms.end(), range.from) - h.t_ms.begin();
  const auto last = std::upper_bound(h.t_ms.begin(), h.t_ms.end(), range.to) - h.t_ms.begin();
  for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) mean.Add(h.At(m, i));
  return mean.value();
}

/// Of the processes on `cards`; empty = all. Of some, only what tells how one of them works is set, not their sums.
void Processes(const model::Recording& r, const std::vector<size_t>& cards, RunAnalysis* a) {
  std::map<int64_t, ProcessMeans> by_pid;
  std::map<int64_t, size_t> lead_card;  // a process on several cards repeats its numbers on each
  for (const auto& h : a->run.holds) {
    const auto it = lead_card.try_emplace(h.pid, h.card).first;
    if (it->second != h.card) continue;
    if (!cards.empty() && std::find(cards.begin(), cards.end(), h.card) == cards.end()) continue;
    ProcessMeans& m = by_pid[h.pid];
    for (const size_t i : h.rows) {
      const auto& p = r.processes[i];
      if (!Within(a->active, p.t_ms)) continue;
      m.cores.Add(p.Value(ProcessMetric::kCpuCores));
      m.main.Add(p.Value(ProcessMetric::kMainCpuCores));
      m.workers.Add(p.Value(ProcessMetric::kWorkers));
      m.allowed.Add(p.Value(ProcessMetric::kCoresAllowed));
      m.read.Add(p.Value(ProcessMetric::kReadMbS));
    }
  }
  Mean main, allowed;
  double cores = 0, workers = 0, mains = 0, read = 0;
  bool cores_known = false, workers_known = false, read_known = false;
  for (const auto& [pid, m] : by_pid) {
    main.Add(m.main.value());
    allowed.Add(m.allowed.value());
    if (m.read.n > 0) {
      read += m.read.value();
      read_known = true;
    }
    if (m.cores.n > 0) {
      cores += m.cores.value();
      cores_known = true;
      if (m.main.n > 0) mains += m.main.value();
    }
    if (m.workers.n > 0) {
      workers += m.workers.value();
      workers_known = true;
    }
  }
  wave::FeatureSet& f = a->features;
  f.Set(Feature::kMainBusy, main.value());
  f.Set(Feature::kLogMainBusy, main.value());
  if (cards.empty()) {
    f.Set(Feature::kCoresAllowed, allowed.value());
    if (cores_known) f.Set(Feature::kTreeCores, cores);
    if (workers_known) f.Set(Feature::kWorkers, workers);
  }
  if (workers_known && main.n > 0) {
    // What is read while training goes on and nobody else could read it, the main process reads between its steps.
    // Where nothing tells what it reads (another user's process), only that it is not so can be known.
    const bool alone_and_busy = workers < 0.5 && main.value() >= 0.9;
    if (!alone_and_busy || read_known) f.Set(Feature::kInlineLoading, alone_and_busy && read >= kReadsMbS ? 1 : 0);
  }
}

}  // namespace

const model::HostTrack* HostOf(const model::Recording& r, const RunAnalysis& a) {
  for (const auto& h : r.hosts) {
    if (h.node == a.run.node) return &h;
  }
  return nullptr;
}

void Host(const model::Recording& r, RunAnalysis* a) {
  Processes(r, {}, a);
  wave::FeatureSet& f = a->features;
  if (const model::HostTrack* h = HostOf(r, *a); h != nullptr) {
    f.Set(Feature::kDiskReadMbS, HostMean(*h, HostMetric::kDiskReadMbS, a->active));
    f.Set(Feature::kDiskWriteMbS, HostMean(*h, HostMetric::kDiskWriteMbS, a->active));
    if (!f.Has(Feature::kCoresAllowed)) f.Set(Feature::kCoresAllowed, HostMean(*h, HostMetric::kCpuCount, a->active));
  }
  if (f.Has(Feature::kWorkers) && f.Get(Feature::kCoresAllowed) > 0) {
    f.Set(Feature::kWorkersPerCore, f.Get(Feature::kWorkers) / f.Get(Feature::kCoresAllowed));
  }
}

void HostOfLate(const model::Recording& r, const std::vector<PreparedCard>& cards, RunAnalysis* a) {
  Processes(r, a->late, a);
  Waits(r, cards, a);
  MainBlocked(a);
}

wave::Series Preparing(const model::Recording& r, const RunAnalysis& a) {
  struct Row {
    TimeMs t;
    int64_t pid;
    double cpu, workers;
  };
  std::vector<Row> rows;
  for (const auto& h : a.run.holds) {
    for (const size_t i : h.rows) {
      const model::ProcessRow& p = r.processes[i];
      const double cores = p.Value(ProcessMetric::kCpuCores), main = p.Value(ProcessMetric::kMainCpuCores),
                   workers = p.Value(ProcessMetric::kWorkers);
      if (!Within(a.active, p.t_ms) || IsMissing(cores) || IsMissing(main) || !(workers >= 0.5)) continue;
      rows.push_back({p.t_ms, p.pid, std::max(0.0, cores - main), workers});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& x, const Row& y) { return x.t < y.t; });
  wave::Series s;
  std::vector<TimeMs> times;
  for (size_t first = 0, last = 0; first < rows.size(); first = last) {
    double cpu = 0, workers = 0;
    for (; last < rows.size() && rows[last].t == rows[first].t; ++last) {
      const Row& row = rows[last];
      // A process on several cards repeats its numbers on each.
      const auto same = [&](const Row& before) { return before.pid == row.pid; };
      if (std::any_of(rows.begin() + static_cast<std::ptrdiff_t>(first),
                      rows.begin() + static_cast<std::ptrdiff_t>(last), same))
        continue;
      cpu += row.cpu;
      workers += row.workers;
    }
    times.push_back(rows[first].t);
    s.t_s.push_back(Seconds(rows[first].t - a.active.from));
    s.v.push_back(static_cast<float>(cpu / workers));
  }
  s.dt_s = model::Cover(times).dt_s;  // a row speaks for its interval, not for a hole before it
  return s;
}

wave::Series Written(const model::Recording& r, const RunAnalysis& a, HostMetric m) {
  const model::HostTrack* h = HostOf(r, a);
  if (h == nullptr) return {};
  wave::Series s = SeriesOf(*h, m, a.active, a.active.from);
  const bool any = std::any_of(s.v.begin(), s.v.end(), [](float v) { return IsPresent(v); });
  return any ? s : wave::Series{};
}

void Neighbours(const model::Recording& r, RunAnalysis* a) {
  // A second job counts as a load only where the driver says so (SM share); memory alone is no load.
  std::set<int64_t> own_pids;
  for (const auto& h : a->run.holds) own_pids.insert(h.pid);
  double own = 0, foreign = 0;
  bool known = false;
  // On one card: ranks that run beside each other on two cards are no neighbours of whoever follows on one of them.
  std::set<std::pair<int32_t, TimeMs>> own_times, foreign_times;
  const auto later = [](TimeMs t, const model::ProcessRow& p) { return t < p.t_ms; };
  const auto begin = std::upper_bound(r.processes.begin(), r.processes.end(), a->active.from, later);
  const auto end = std::upper_bound(begin, r.processes.end(), a->active.to, later);
  for (auto it = begin; it != end; ++it) {
    const model::ProcessRow& p = *it;
    if (p.card < 0) continue;
    if (std::find(a->run.cards.begin(), a->run.cards.end(), static_cast<size_t>(p.card)) == a->run.cards.end())
      continue;
    const float sm = p.Value(ProcessMetric::kSmUtil);
    if (IsPresent(sm)) known = true;
    if (own_pids.count(p.pid) != 0) {
      own_times.insert({p.card, p.t_ms});
    } else if (IsPresent(sm) && sm >= 5) {
      foreign_times.insert({p.card, p.t_ms});
    }
  }
  own = static_cast<double>(own_times.size());
  // Both on the card at once: the run before this one is no neighbour, however far apart the rows are.
  for (const auto& row : foreign_times) foreign += own_times.count(row) != 0 ? 1 : 0;
  if (own > 0 && (known || foreign_times.empty())) {
    a->features.Set(Feature::kNeighbourShare, std::min(1.0, foreign / own));
  }
}

bool Reads(const model::Recording& r, const RunAnalysis& a, model::TimeRange range) {
  constexpr double kHostReadsMbS = 10, kIowait = 10;
  Mean read;
  for (const auto& h : a.run.holds) {
    for (const size_t i : h.rows) {
      if (Within(range, r.processes[i].t_ms)) read.Add(r.processes[i].Value(ProcessMetric::kReadMbS));
    }
  }
  if (read.value() >= kReadsMbS) return true;
  const model::HostTrack* h = HostOf(r, a);
  return h != nullptr && (HostMean(*h, HostMetric::kDiskReadMbS, range) >= kHostReadsMbS ||
                          HostMean(*h, HostMetric::kNetRxMbS, range) >= kHostReadsMbS ||
                          HostMean(*h, HostMetric::kCpuIowait, range) >= kIowait);
}

void QuietStart(const model::Recording& r, RunAnalysis* a) {
  constexpr double kLeastS = 300;      // less is somebody who thinks, or ranks that wait for each other
  constexpr double kWorksCores = 0.1;  // whoever imports, installs, copies or compiles uses more on the mean
  const model::TimeRange before{a->run.range.from, a->active.from};
  if (a->active.empty() || before.seconds() < kLeastS) return;
  Mean cores, moved;
  for (const auto& h : a->run.holds) {
    for (const size_t i : h.rows) {
      const model::ProcessRow& p = r.processes[i];
      if (!Within(before, p.t_ms)) continue;
      cores.Add(p.Value(ProcessMetric::kCpuCores));
      moved.Add(p.Value(ProcessMetric::kReadMbS));
      moved.Add(p.Value(ProcessMetric::kWriteMbS));
    }
  }
  // Who waits for a download or a copy uses no core either: without those figures nothing is concluded.
  a->quiet_start = cores.n >= 3 && moved.n >= 3 && cores.value() < kWorksCores && moved.value() < kReadsMbS;
}

void States(const model::Recording&, const std::vector<PreparedCard>& cards, RunAnalysis* a) {
  wave::FeatureSet& f = a->features;
  const double life_s = a->run.range.seconds();
  f.Set(Feature::kLifeS, life_s);
  f.Set(Feature::kCards, static_cast<double>(a->run.cards.size()));
  f.Set(Feature::kActiveS, a->active.seconds());
  const PreparedCard& lead = cards[a->run.cards.front()];
  f.Set(Feature::kIntervalS, lead.coverage.median_interval_s);
  if (!a->active.empty() && a->run.start_known && !a->quiet_start) {
    // Compiling once is no fault of the start: what counts is the time to the first kernel.
    const double startup_s = Seconds(a->active.from - a->run.range.from) - a->warm_up_s;
    f.Set(Feature::kStartupS, std::max(0.0, startup_s));
    if (life_s > 0) f.Set(Feature::kStartupShare, std::max(0.0, startup_s) / life_s);
  }
  // Where no card tells its utilisation, that no work was seen says nothing.
  const bool would_show =
      std::any_of(a->run.cards.begin(), a->run.cards.end(), [&](size_t k) { return cards[k].has_util; });
  if (a->active.empty() && would_show && !a->unseen_work) {
    f.Set(Feature::kIdleHeldS, life_s);
    f.Set(Feature::kNotebookShare, 1);
  }
}

}  // namespace sawbill::analysis::parts
