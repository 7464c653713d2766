// SPDX-License-Identifier: Apache-2.0
#include "store/recording_writer.h"

#include <algorithm>
#include <set>

namespace sawbill::store {
namespace {
using model::CardInfo;
using model::GpuMetric;
using model::Recording;

enum Kind { kGpuRow, kHostRow, kProcessRow, kRunRow, kEventRow };

constexpr int64_t kSilent = -1;  // the index of a row without a reading

/// A card that is there and gives no reading is known by rows without any: some of the times at which the others were
/// read, the last one among them, so that each day and each part of it has one. None where nothing else was read.
std::vector<TimeMs> LooksAtSilentCards(const Recording& piece, TimeMs after) {
  constexpr TimeMs kApartMs = 10 * 60'000;
  std::vector<TimeMs> all, looks;
  for (const model::GpuTrack& g : piece.gpus) all.insert(all.end(), g.t_ms.begin(), g.t_ms.end());
  std::sort(all.begin(), all.end());
  for (const TimeMs t : all) {
    if (t > after && (looks.empty() || t - looks.back() >= kApartMs || t == all.back())) looks.push_back(t);
  }
  looks.erase(std::unique(looks.begin(), looks.end()), looks.end());
  return looks;
}

/// Rows written between two flushes: few enough to keep memory small, enough to make writes large.
constexpr size_t kBatch = 4000;

}  // namespace

RecordingWriter::RecordingWriter(sys::FileSystem* fs, std::string dir, const TimeZone& tz,
                                 const std::vector<CardInfo>& cards)
    : fs_(fs), dir_(std::move(dir)), tz_(tz) {
  std::set<std::string> nodes;
  for (const CardInfo& c : cards) nodes.insert(c.node);
  folders_ = nodes.size() > 1;
}

Result<RecordingWriter::Node*> RecordingWriter::NodeOf(const std::string& name) {
  Node& node = nodes_[folders_ ? name : ""];
  if (node.writer != nullptr) return &node;
  FolderWriterOptions options;
  options.days.tz = tz_;
  options.start_and_stop_events = false;
  options.exact = true;
  const std::string dir = folders_ && !name.empty() ? sys::JoinPath(dir_, name) : dir_;
  SAWBILL_ASSIGN_OR_RETURN(node.writer, FolderWriter::Open(fs_, dir, options));
  return &node;
}

/// The card's cell in the `gpu` column: its own label, unless another card of the node has it at the same time.
std::string RecordingWriter::LabelOf(Node* node, const CardInfo& card) {
  const auto known = node->label_of.find(card.key());
  if (known != node->label_of.end()) return known->second;
  std::set<std::string> taken;
  for (const auto& [key, label] : node->label_of) taken.insert(label);
  std::string label = card.gpu;
  for (int i = 0; label.empty() || taken.count(label) > 0; ++i) label = std::to_string(i);
  node->label_of[card.key()] = label;
  return label;
}

Status RecordingWriter::NameCards(const Recording& piece, TimeMs after) {
  for (const model::GpuTrack& g : piece.gpus) {
    const auto first = std::upper_bound(g.t_ms.begin(), g.t_ms.end(), after);
    const std::vector<TimeMs> looks = g.size() == 0 ? LooksAtSilentCards(piece, after) : std::vector<TimeMs>();
    if (first == g.t_ms.end() && looks.empty()) continue;
    SAWBILL_ASSIGN_OR_RETURN(Node * node, NodeOf(g.card.node));
    CardInfo card = g.card;
    card.gpu = LabelOf(node, g.card);
    SAWBILL_RETURN_IF_ERROR(node->writer->UpdateInventory({card}, looks.empty() ? *first : looks.front()));
  }
  return Status::Ok();
}

std::vector<RecordingWriter::Row> RecordingWriter::RowsOf(const Recording& piece, TimeMs after) const {
  std::vector<Row> rows;
  const auto add = [&](TimeMs t, Kind kind, size_t track, int64_t index) {
    if (t > after) rows.push_back({t, kind, static_cast<int32_t>(track), index});
  };
  for (size_t k = 0; k < piece.gpus.size(); ++k) {
    for (size_t i = 0; i < piece.gpus[k].size(); ++i) add(piece.gpus[k].t_ms[i], kGpuRow, k, static_cast<int64_t>(i));
    if (piece.gpus[k].size() > 0) continue;
    for (const TimeMs t : LooksAtSilentCards(piece, after)) add(t, kGpuRow, k, kSilent);
  }
  for (size_t k = 0; k < piece.hosts.size(); ++k) {
    for (size_t i = 0; i < piece.hosts[k].size(); ++i)
      add(piece.hosts[k].t_ms[i], kHostRow, k, static_cast<int64_t>(i));
  }
  for (size_t i = 0; i < piece.processes.size(); ++i)
    add(piece.processes[i].t_ms, kProcessRow, 0, static_cast<int64_t>(i));
  for (size_t i = 0; i < piece.runs.size(); ++i) add(piece.runs[i].t_ms, kRunRow, 0, static_cast<int64_t>(i));
  for (size_t i = 0; i < piece.events.size(); ++i) add(piece.events[i].t_ms, kEventRow, 0, static_cast<int64_t>(i));
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.t_ms < b.t_ms; });
  return rows;
}

Result<RecordingWriter::Node*> RecordingWriter::NodeOfRow(const Recording& piece, const Row& row) {
  const auto i = static_cast<size_t>(row.index), k = static_cast<size_t>(row.track);
  switch (row.kind) {
    case kGpuRow:
      return NodeOf(piece.gpus[k].card.node);
    case kHostRow:
      return NodeOf(piece.hosts[k].node);
    case kRunRow:
      return NodeOf(piece.runs[i].node);
    case kEventRow:
      return NodeOf(piece.events[i].node);
    default:
      break;
  }
  const model::ProcessRow& p = piece.processes[i];
  if (p.card >= 0) return NodeOf(piece.gpus[static_cast<size_t>(p.card)].card.node);
  return NodeOf(p.host >= 0 ? piece.hosts[static_cast<size_t>(p.host)].node : "");
}

Status RecordingWriter::Write(const Recording& piece, const Row& row, Node* node) {
  const auto i = static_cast<size_t>(row.index), k = static_cast<size_t>(row.track);
  FolderWriter& w = *node->writer;
  if (row.kind == kGpuRow) {
    const model::GpuTrack& g = piece.gpus[k];
    GpuValues values;
    values.fill(kMissing);
    if (row.index == kSilent) return w.Gpu(row.t_ms, LabelOf(node, g.card), values);
    for (size_t m = 0; m < model::kGpuMetrics; ++m) values[m] = static_cast<double>(g.At(static_cast<GpuMetric>(m), i));
    values[static_cast<size_t>(GpuMetric::kEnergyJ)] = g.energy_j.empty() ? kMissing : g.energy_j[i];
    ++rows_.gpu;
    return w.Gpu(row.t_ms, LabelOf(node, g.card), values);
  }
  if (row.kind == kHostRow) {
    HostValues values;
    for (size_t m = 0; m < model::kHostMetrics; ++m)
      values[m] = static_cast<double>(piece.hosts[k].At(static_cast<model::HostMetric>(m), i));
    ++rows_.host;
    return w.Host(row.t_ms, values);
  }
  if (row.kind == kProcessRow) {
    const model::ProcessRow& p = piece.processes[i];
    ProcessSample s;
    if (p.card >= 0) s.gpu = LabelOf(node, piece.gpus[static_cast<size_t>(p.card)].card);
    s.pid = p.pid;
    s.user = piece.strings.Get(p.user);
    s.name = piece.strings.Get(p.name);
    s.job = piece.strings.Get(p.job);
    for (size_t m = 0; m < model::kProcessMetrics; ++m) s.values[m] = static_cast<double>(p.values[m]);
    s.values[static_cast<size_t>(model::ProcessMetric::kStarted)] = p.started_s;
    ++rows_.process;
    return w.Process(row.t_ms, s);
  }
  if (row.kind == kRunRow) {
    ++rows_.run;
    return w.Run(piece.runs[i]);
  }
  const model::EventRow& e = piece.events[i];
  ++rows_.event;
  return w.Event(e.t_ms, e.kind, e.gpu, e.detail);
}

Status RecordingWriter::Add(const Recording& piece, TimeMs after) {
  SAWBILL_RETURN_IF_ERROR(NameCards(piece, after));
  std::set<Node*> open;
  size_t since = 0;
  const auto flush = [&]() {
    for (Node* node : open) SAWBILL_RETURN_IF_ERROR(node->writer->EndTick());
    open.clear();
    since = 0;
    return Status::Ok();
  };
  for (const Row& row : RowsOf(piece, after)) {
    SAWBILL_ASSIGN_OR_RETURN(Node * node, NodeOfRow(piece, row));
    // One clock: the recording's own times, so that no step is seen where there was only a hole.
    if (open.insert(node).second) (void)node->writer->BeginTick({row.t_ms, row.t_ms});
    node->last = row.t_ms;
    SAWBILL_RETURN_IF_ERROR(Write(piece, row, node));
    if (++since >= kBatch) SAWBILL_RETURN_IF_ERROR(flush());
  }
  return flush();
}

Status RecordingWriter::Close() {
  for (auto& [name, node] : nodes_) SAWBILL_RETURN_IF_ERROR(node.writer->Close(node.last));
  return Status::Ok();
}

}  // namespace sawbill::store
