// SPDX-License-Identifier: Apache-2.0
// What the host and the job's workers did while the card waited. A cause that was there for a third of the run is not
// thinned by the rest of it, and a save that writes for seconds says nothing of the loader: each moment counts as much
// as the card was idle then, outside interruptions. Where some cards of a job keep the others waiting, theirs count.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/feature_parts.h"

namespace sawbill::analysis::parts {
namespace {

using model::HostMetric;
using model::ProcessMetric;
using wave::Feature;

/// Seconds in which the lead card was idle, and seconds that count, up to a time.
class WaitClock {
 public:
  WaitClock(const PreparedCard& card, const CardInRun& in_run) {
    double idle = 0, all = 0;
    ForPlain(in_run, [&](size_t i) {
      const double dt = card.dt(i);
      all += dt;
      idle += std::clamp(1 - card.util[i] / 100.0, 0.0, 1.0) * dt;
      t_.push_back(card.t(i));
      idle_s_.push_back(idle);
      all_s_.push_back(all);
    });
    // Where the card hardly waited, the plain mean.
    constexpr double kHardly = 0.02;
    waits_ = idle > kHardly * all;
  }
  /// Of (from, to].
  double Weight(TimeMs from, TimeMs to) const { return At(to) - At(from); }

 private:
  /// Up to `t`. Rows come in the order of their times: the next answer stands near the last one.
  double At(TimeMs t) const {
    constexpr size_t kNear = 16;
    size_t n = last_;
    for (size_t steps = 0; steps < kNear && n < t_.size() && t_[n] <= t; ++steps) ++n;
    for (size_t steps = 0; steps < kNear && n > 0 && t_[n - 1] > t; ++steps) --n;
    if ((n < t_.size() && t_[n] <= t) || (n > 0 && t_[n - 1] > t)) {
      n = static_cast<size_t>(std::upper_bound(t_.begin(), t_.end(), t) - t_.begin());
    }
    last_ = n;
    return n == 0 ? 0.0 : (waits_ ? idle_s_ : all_s_)[n - 1];
  }

  std::vector<TimeMs> t_;
  std::vector<double> idle_s_, all_s_;
  mutable size_t last_ = 0;
  bool waits_ = false;
};

struct ProcessInWaits {
  MeanOfReadings tree, beside, workers;  // cores of all, of all but the main process; number
};

/// The job's processes while the card waited. `windows`: the times of the rows of the process that has most of them.
std::map<int64_t, ProcessInWaits> Processes(const model::Recording& r, const RunAnalysis& a, const WaitClock& clock,
                                            std::vector<TimeMs>* windows) {
  std::map<int64_t, ProcessInWaits> by_pid;
  std::map<int64_t, size_t> lead_card;  // a process on several cards repeats its numbers on each
  for (const auto& h : a.run.holds) {
    if (lead_card.try_emplace(h.pid, h.card).first->second != h.card) continue;
    std::vector<TimeMs> times;
    for (const size_t i : h.rows) times.push_back(r.processes[i].t_ms);
    const model::Coverage cover = model::Cover(times);  // a row speaks for its interval, not for a hole before it
    for (size_t k = 0; k < times.size(); ++k) {
      const auto& p = r.processes[h.rows[k]];
      const double w = clock.Weight(p.t_ms - static_cast<TimeMs>(cover.dt_s[k] * 1000), p.t_ms);
      const double cores = p.Value(ProcessMetric::kCpuCores), main = p.Value(ProcessMetric::kMainCpuCores);
      ProcessInWaits& m = by_pid[h.pid];
      m.tree.Add(cores, w);
      m.beside.Add(IsMissing(main) ? kMissing : cores - main, w);
      m.workers.Add(p.Value(ProcessMetric::kWorkers), w);
    }
    if (times.size() > windows->size()) *windows = std::move(times);
  }
  return by_pid;
}

struct HostInWaits {
  MeanOfReadings cpu_util, iowait, disk_util, net_rx, cores, used;
  MeanOfReadings used_by_rows;  // cores, weighted by the whole window of the process row it lies in
};

HostInWaits OfHost(const model::HostTrack& h, const RunAnalysis& a, const WaitClock& clock,
                   const std::vector<TimeMs>& windows) {
  HostInWaits m;
  const auto first = std::upper_bound(h.t_ms.begin(), h.t_ms.end(), a.active.from) - h.t_ms.begin();
  const auto last = std::upper_bound(h.t_ms.begin(), h.t_ms.end(), a.active.to) - h.t_ms.begin();
  // Of this run only: a day has many runs. The row before tells what the first one speaks for.
  const std::ptrdiff_t begin = std::max<std::ptrdiff_t>(0, first - 1);
  const model::Coverage cover = model::Cover({h.t_ms.begin() + begin, h.t_ms.begin() + std::max(begin, last)});
  size_t k = 0;
  double share = 0;  // of the window, that the card waited
  for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
    const TimeMs t = h.t_ms[i];
    const double dt = cover.dt_s[i - static_cast<size_t>(begin)];
    const double w = clock.Weight(t - static_cast<TimeMs>(dt * 1000), t);
    const double count = h.At(HostMetric::kCpuCount, i), used = count * h.At(HostMetric::kCpuUtil, i) / 100.0;
    m.cpu_util.Add(h.At(HostMetric::kCpuUtil, i), w);
    m.iowait.Add(h.At(HostMetric::kCpuIowait, i), w);
    m.disk_util.Add(h.At(HostMetric::kDiskUtil, i), w);
    m.net_rx.Add(h.At(HostMetric::kNetRxMbS, i), w);
    m.cores.Add(count, w);
    m.used.Add(used, w);
    const size_t before = k;
    while (k < windows.size() && windows[k] < t) ++k;
    if (k == 0 || k >= windows.size()) continue;
    if (k != before || share == 0) {
      share = clock.Weight(windows[k - 1], windows[k]) / std::max(1e-3, Seconds(windows[k] - windows[k - 1]));
    }
    m.used_by_rows.Add(used, share * dt);
  }
  return m;
}

}  // namespace

void Waits(const model::Recording& r, const std::vector<PreparedCard>& cards, RunAnalysis* a) {
  if (a->cards.empty()) return;
  const auto is_late = [&](size_t card) { return std::find(a->late.begin(), a->late.end(), card) != a->late.end(); };
  const auto late = std::find_if(a->cards.begin(), a->cards.end(), [&](const CardInRun& k) { return is_late(k.card); });
  const CardInRun& lead = late == a->cards.end() ? a->cards.front() : *late;
  const WaitClock clock(cards[lead.card], lead);
  std::set<int64_t> waiting;  // the processes that the card waits for
  for (const auto& h : a->run.holds) {
    if (a->late.empty() || is_late(h.card)) waiting.insert(h.pid);
  }
  std::vector<TimeMs> windows;
  double tree = 0, beside = 0, workers = 0;
  bool tree_known = false, beside_known = false;
  for (const auto& [pid, m] : Processes(r, *a, clock, &windows)) {
    tree += m.tree.known() ? m.tree.value() : 0;
    tree_known = tree_known || m.tree.known();
    if (!waiting.contains(pid)) continue;
    beside += m.beside.known() ? m.beside.value() : 0;
    beside_known = beside_known || m.beside.known();
    workers += m.workers.known() ? m.workers.value() : 0;
  }
  wave::FeatureSet& f = a->features;
  if (beside_known && workers >= 0.5) f.Set(Feature::kWorkerBusy, std::clamp(beside / workers, 0.0, 2.0));
  const model::HostTrack* h = HostOf(r, *a);
  if (h != nullptr) {
    const HostInWaits m = OfHost(*h, *a, clock, windows);
    f.Set(Feature::kCpuUtil, m.cpu_util.value());
    f.Set(Feature::kIowait, m.iowait.value());
    f.Set(Feature::kDiskUtil, m.disk_util.value());
    f.Set(Feature::kNetRxMbS, m.net_rx.value());
    const double cores = m.cores.value(), used = m.used.value();
    const double io_cores = m.iowait.known() ? cores * m.iowait.value() / 100.0 : kMissing;
    // On a host of many cores the share of all of them hides that each worker waits.
    if (IsPresent(io_cores)) f.Set(Feature::kLoaderIowait, std::min(2.0, io_cores / std::max(1.0, workers)));
    if (IsPresent(used)) f.Set(Feature::kCoresFree, std::max(0.0, cores - used - (IsPresent(io_cores) ? io_cores : 0)));
    // Both sides over the same windows: in dips of a second the workers of a row of ten seconds look idle, and the
    // host's own second does not.
    if (tree_known && m.used_by_rows.known() && cores > 0) {
      const double foreign = std::max(0.0, m.used_by_rows.value() - tree);
      f.Set(Feature::kForeignCores, foreign);
      f.Set(Feature::kForeignShare, foreign / cores);
    }
  }
  if (f.Has(Feature::kWorkerBusy) && f.Has(Feature::kCoresFree)) {
    f.Set(Feature::kWorkersRest, f.Get(Feature::kWorkerBusy) < 0.4 && f.Get(Feature::kCoresFree) >= 1 ? 1 : 0);
  }
  if (f.Has(Feature::kWorkers) && f.Has(Feature::kMainBusy)) {
    const bool storage =
        f.Get(Feature::kIowait) >= 10 || f.Get(Feature::kLoaderIowait) >= 0.25 || f.Get(Feature::kDiskUtil) >= 70;
    const bool none = f.Get(Feature::kWorkers) < 0.5 && f.Get(Feature::kMainBusy) < 0.7;
    // While a card waits for a batch, one worker at least prepares it (they deliver in order): half a core of all of
    // them together is less, unless they sleep in reads or get no core, which must be known.
    const bool idle = workers >= 0.5 && beside_known && beside < 0.5 && f.Get(Feature::kMainBusy) < 0.93 &&
                      f.Get(Feature::kCoresFree) >= 1 && f.Has(Feature::kIowait) && f.Has(Feature::kDiskUtil) &&
                      f.Get(Feature::kNetRxMbS) < 2;
    f.Set(Feature::kNobodyPrepares, (none || idle) && !storage ? 1 : 0);
  }
}

}  // namespace sawbill::analysis::parts
