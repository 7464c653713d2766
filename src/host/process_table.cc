// SPDX-License-Identifier: Apache-2.0
// One look: /proc/PID/stat of every process (whose child is it, what did it burn), then more of the few that matter.
//   - A driver's pid names a process only beyond doubt (holder_check.cc: PID namespaces, dead holders). In doubt, and
//   where
//     /proc shows nothing of it (hidepid, a container of another's), the row has the pid and the memory, and no name,
//     user or tree: a tenant without a name is better than a wrong one.
//   - Whose children are whose, and what children that ended have burnt: process_tree.cc.
//   - Who is a loader's worker: process_name.cc. When any process of a tree calls itself one, the others that only look
//     alike (TorchInductor's forks) are none.
//   - Cores allowed: the holder's own affinity and quota. But workers that a library pinned to one core share that
//     one, however many there are: with workers, the union of theirs.
//   - Hogs, which take the cores that a loader needs: hogs.cc.
//
// Rates are over the steady time between two looks; one that a process was born in counts it whole, but a holder's
// row has none at first sight. An unreadable /proc/PID/io (another user's, without privilege) leaves its columns empty.
#include "host/process_table.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "host/hogs.h"
#include "host/holder_check.h"
#include "host/process_facts.h"
#include "host/process_tree.h"
#include "host/scan.h"

namespace sawbill::host {
namespace {

using model::ProcessMetric;

constexpr double kMb = 1e6;

double& At(ProcessRow* row, ProcessMetric m) { return row->values[static_cast<size_t>(m)]; }

struct Tree {
  double ticks = 0, read_bytes = 0, written_bytes = 0;
  size_t named_workers = 0, likely_workers = 0;
  CpuSet worker_cpus;
  bool worker_cpus_known = true;
};

double OrZero(double v) { return IsMissing(v) ? 0 : v; }

}  // namespace

struct ProcessTable::Impl {
  Impl(sys::ProcFiles* f, const TableOptions& o)
      : files(f), options(o), check(f), facts(f, std::max(1U, o.clock_ticks)) {}

  sys::ProcFiles* files;
  TableOptions options;
  HolderCheck check;
  FactsCache facts;
  Snapshot before;
  std::optional<int64_t> before_us;
  // Of the look that is being taken.
  Snapshot now;
  std::vector<Spent> spent;
  double wall_s = 0;
  std::string text;

  void TakeSnapshot();
  void ReadIo();
  std::map<int, Tree> SumTrees();
  void AddMember(size_t at, Tree* tree);
  double Cores(double ticks) const { return wall_s > 0 ? ticks / options.clock_ticks / wall_s : kMissing; }
  double MbPerS(double bytes) const { return wall_s > 0 ? bytes / kMb / wall_s : kMissing; }
  void FillHolder(int at, const Tree& tree, ProcessRow* row);
  void AddHogs(std::vector<ProcessRow>* rows);
  ProcessRow HogRow(const Hog& hog);
};

void ProcessTable::Impl::TakeSnapshot() {
  now = {};
  now.processes.reserve(before.processes.size() + 16);
  for (const int64_t pid : files->ListNumbers("/proc")) {
    Process p;
    if (!files->Read("/proc/" + std::to_string(pid) + "/stat", &text)) continue;  // gone, or hidden
    if (ParseProcessStat(text, &p.stat) && p.stat.pid == pid) now.processes.push_back(std::move(p));
  }
}

/// Only of trees: it costs as much as the stat file again. What cannot be read (any more: a zombie's) stays as it was,
/// so that it can be taken off what its parent inherits.
void ProcessTable::Impl::ReadIo() {
  for (Process& p : now.processes) {
    if (p.owner < 0) continue;
    if (files->Read("/proc/" + std::to_string(p.stat.pid) + "/io", &text)) p.io = ParseProcessIo(text);
    if (p.io.known) continue;
    const int was = before.Find(p.stat.pid, p.stat.start_ticks);
    if (was >= 0 && p.stat.defunct()) p.io = before.processes[static_cast<size_t>(was)].io;
  }
}

void ProcessTable::Impl::AddMember(size_t at, Tree* tree) {
  const Process& p = now.processes[at];
  tree->ticks += OrZero(spent[at].ticks);
  tree->read_bytes += OrZero(spent[at].read_bytes);
  tree->written_bytes += OrZero(spent[at].written_bytes);
  if (p.holder || p.stat.defunct()) return;
  const Facts& own = facts.Get(p);
  Role parent_role = Role::kPlain;
  std::string_view parent_cmdline;
  if (p.parent >= 0 && now.processes[static_cast<size_t>(p.parent)].owner == p.owner) {
    const Facts& parent = facts.Get(now.processes[static_cast<size_t>(p.parent)]);
    parent_role = parent.role;
    parent_cmdline = parent.cmdline;
  }
  if (!LooksLikeWorker(own.role, own.cmdline, parent_role, parent_cmdline)) return;
  const bool named = own.role == Role::kNamedWorker;
  if (named && tree->named_workers++ == 0) {  // the others were none
    tree->worker_cpus.clear();
    tree->worker_cpus_known = true;
  }
  ++tree->likely_workers;
  if (!named && tree->named_workers > 0) return;
  tree->worker_cpus_known = tree->worker_cpus_known && !own.cpus.empty();
  tree->worker_cpus = Union(tree->worker_cpus, own.cpus);
}

std::map<int, Tree> ProcessTable::Impl::SumTrees() {
  std::map<int, Tree> trees;
  for (size_t i = 0; i < now.processes.size(); ++i) {
    if (now.processes[i].owner >= 0) AddMember(i, &trees[now.processes[i].owner]);
  }
  return trees;
}

void ProcessTable::Impl::FillHolder(int at, const Tree& tree, ProcessRow* row) {
  const Process& p = now.processes[static_cast<size_t>(at)];
  const Facts& f = facts.GetForRow(p);
  row->name = facts.Name(now, at);
  row->user = facts.User(p);
  row->identity = f.identity;
  At(row, ProcessMetric::kStarted) = f.started_s;
  if (p.stat.defunct()) return;
  const size_t workers = tree.named_workers > 0 ? tree.named_workers : tree.likely_workers;
  At(row, ProcessMetric::kWorkers) = static_cast<double>(workers);
  const CpuSet& cpus = workers > 0 && tree.worker_cpus_known ? tree.worker_cpus : f.cpus;
  const double allowed = cpus.empty() ? 0 : facts.allowances().Cores(cpus, f.membership);
  if (allowed > 0) At(row, ProcessMetric::kCoresAllowed) = allowed;
  if (before.Find(p.stat.pid, p.stat.start_ticks) < 0) return;  // first sight
  const Spent& own = spent[static_cast<size_t>(at)];
  At(row, ProcessMetric::kCpuCores) = Cores(tree.ticks);
  At(row, ProcessMetric::kMainCpuCores) = Cores(own.alone_ticks);
  if (IsPresent(own.read_bytes)) At(row, ProcessMetric::kReadMbS) = MbPerS(tree.read_bytes);
  if (IsPresent(own.written_bytes)) At(row, ProcessMetric::kWriteMbS) = MbPerS(tree.written_bytes);
}

ProcessRow ProcessTable::Impl::HogRow(const Hog& hog) {
  const Process& p = now.processes[static_cast<size_t>(hog.at)];
  const Facts& f = facts.GetForRow(p);
  ProcessRow row;
  row.values.fill(kMissing);
  row.pid = p.stat.pid;
  row.name = facts.Name(now, hog.at);
  row.user = facts.User(p);
  row.identity = f.identity;
  At(&row, ProcessMetric::kStarted) = f.started_s;
  At(&row, ProcessMetric::kCpuCores) = Cores(hog.ticks);
  At(&row, ProcessMetric::kMainCpuCores) = Cores(spent[static_cast<size_t>(hog.at)].alone_ticks);
  const double allowed = f.cpus.empty() ? 0 : facts.allowances().Cores(f.cpus, f.membership);
  if (allowed > 0) At(&row, ProcessMetric::kCoresAllowed) = allowed;
  return row;
}

void ProcessTable::Impl::AddHogs(std::vector<ProcessRow>* rows) {
  if (wall_s <= 0) return;
  const auto self = static_cast<int64_t>(ToU64(files->ReadLink("/proc/self").value_or("")).value_or(0));
  std::vector<Hog> hogs = FindHogs(now, spent, options.hog_cores * options.clock_ticks * wall_s, self);
  if (hogs.size() > options.most_hogs) hogs.resize(options.most_hogs);
  for (const Hog& hog : hogs) rows->push_back(HogRow(hog));
}

ProcessTable::ProcessTable(sys::ProcFiles* files, const TableOptions& options)
    : impl_(std::make_unique<Impl>(files, options)) {}
ProcessTable::~ProcessTable() = default;

std::vector<ProcessRow> ProcessTable::Read(int64_t steady_us, int64_t wall_ms,
                                           const std::vector<model::CardHolder>& holders) {
  Impl& t = *impl_;
  t.wall_s = t.before_us ? static_cast<double>(steady_us - *t.before_us) / 1e6 : 0;
  t.facts.Begin(steady_us, wall_ms);
  t.TakeSnapshot();
  std::set<int64_t> pids;
  for (const model::CardHolder& h : holders) pids.insert(h.pid);
  for (const int64_t pid : t.check.Confirm(t.before, t.now, pids, steady_us)) {
    t.now.processes[static_cast<size_t>(t.now.Find(pid))].holder = true;
  }
  AssignOwners(t.before, &t.now);
  t.ReadIo();
  t.spent = Differences(t.before, t.now);
  const std::map<int, Tree> trees = t.SumTrees();
  std::vector<ProcessRow> rows;
  for (const model::CardHolder& h : holders) {
    ProcessRow row;
    row.values.fill(kMissing);
    row.gpu = h.gpu;
    row.pid = h.pid;
    At(&row, ProcessMetric::kGpuMemMb) = h.gpu_mem_mb;
    At(&row, ProcessMetric::kSmUtil) = h.sm_util;
    const int at = t.now.Find(h.pid);
    if (at >= 0 && t.now.processes[static_cast<size_t>(at)].holder) t.FillHolder(at, trees.at(at), &row);
    rows.push_back(std::move(row));
  }
  t.AddHogs(&rows);
  t.facts.End(t.now);
  t.before = std::move(t.now);
  t.before_us = steady_us;
  return rows;
}

}  // namespace sawbill::host
