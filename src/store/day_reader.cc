// SPDX-License-Identifier: Apache-2.0
#include "store/day_reader.h"

#include <algorithm>
#include <limits>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "store/card_set.h"
#include "store/day_file.h"
#include "store/day_folder.h"
#include "store/day_plan.h"
#include "store/metric_table.h"
#include "store/run_view.h"
#include "store/text_tables.h"

namespace sawbill::store {
namespace {
using model::Odd;
using model::Recording;

constexpr TimeMs kMin = std::numeric_limits<TimeMs>::min();
constexpr TimeMs kMax = std::numeric_limits<TimeMs>::max();
constexpr int64_t kBytesPerThread = 8 << 20;  // under this, a thread costs more than it saves
constexpr double kBytesPerRow = 64;           // of a file in which none was looked at
constexpr double kMoreRows = 1.03;            // than the rows looked at let expect: to move a column costs more

TimeMs Less(TimeMs t, TimeMs by) { return t < kMin + by ? kMin : t - by; }
TimeMs More(TimeMs t, TimeMs by) { return t > kMax - by ? kMax : t + by; }

class HostFinder : public TrackFinder {
 public:
  explicit HostFinder(size_t expected_rows) : track(expected_rows) {}
  TrackColumns* Find(std::string_view, TimeMs, TimeMs* valid_from, TimeMs* valid_to) override {
    *valid_from = kMin;
    *valid_to = kMax;
    return &track;
  }
  TrackColumns track;
};

/// Reads one piece of one node after the other into a recording.
class PieceReader {
 public:
  struct Piece {
    TimeWindow window;
    bool first = false;
    int threads = 1;
    TimeMs limit_to = kMax;  // the user wants nothing later
    model::GpuMetricSet unread = 0;
  };
  PieceReader(sys::FileSystem* fs, const DayFolder& folder, const Piece& piece, Recording* out)
      : fs_(fs), folder_(folder), piece_(piece), window_(piece.window), out_(out) {}

  Status Node(size_t node) {
    node_ = node;
    const NodeFolder& n = folder_.nodes[node];
    CardSet cards(&n.inventory, n.name, ExpectedRows(DayKind::kGpu), &out_->quality);
    SAWBILL_RETURN_IF_ERROR(Gpus(&cards));
    SAWBILL_RETURN_IF_ERROR(LookBack(&cards));
    const size_t first_gpu = out_->gpus.size();
    cards.Finish(out_);
    for (size_t i = first_gpu; i < out_->gpus.size(); ++i) SortAndDeduplicate(&out_->gpus[i], &out_->quality);
    SAWBILL_RETURN_IF_ERROR(HostAndProcesses(&cards));
    AddRuns(n);
    for (const model::EventRow& e : n.events) {
      if (window_.Holds(e.t_ms)) out_->events.push_back(e);
    }
    return Status::Ok();
  }

 private:
  /// Files whose rows can lie in [from, to]. Those without a sound row belong to the first piece, to be counted.
  std::vector<const DayFile*> Files(DayKind kind, TimeMs from, TimeMs to) const {
    std::vector<const DayFile*> out;
    for (const DayFile& f : folder_.files) {
      if (f.node != node_ || f.kind != kind) continue;
      if (f.has_rows ? f.last >= from && f.first <= to : piece_.first) out.push_back(&f);
    }
    return out;
  }

  size_t ExpectedRows(DayKind kind) const {
    double rows = 0;
    size_t cards = 1;
    for (const DayFile* f : Files(kind, window_.from, window_.to)) {
      rows += static_cast<double>(f->text_bytes) / (f->row_bytes > 0 ? f->row_bytes : kBytesPerRow);
      cards = std::max(cards, f->cards.size());
    }
    return static_cast<size_t>(kMoreRows * rows / static_cast<double>(cards)) + 64;
  }

  TableContext Context(const DayFile& f, TimeWindow window, model::DataQuality* quality = nullptr) const {
    return {f.name, &folder_.nodes[node_].clock, window, quality != nullptr ? quality : &out_->quality, piece_.unread};
  }

  Status Read(const DayFile& f, ReadRange range, DayTable* table, model::DataQuality* quality = nullptr) const {
    if (quality == nullptr) quality = &out_->quality;
    table->CountFromStart(f.has_rows ? window_.Holds(f.first) && range.part == 0 : true);
    SAWBILL_RETURN_IF_ERROR(ReadDayFile(fs_, f, range, quality, table));
    // Later pieces do not look into this file.
    const TimeMs latest = table->latest();
    if (f.last_assumed && latest > f.last && latest > window_.to && latest <= piece_.limit_to &&
        window_.Holds(f.first)) {
      quality->Count(Odd::kBeyondDay, f.name);
    }
    return Status::Ok();
  }

  TimeWindow WithBefore(TimeMs back) const {
    TimeWindow w = window_;
    w.before = Less(w.from, back);
    return w;
  }

  Status Gpus(CardSet* cards) {
    const TimeWindow window = WithBefore(kSlackMs);
    for (const DayFile* f : Files(DayKind::kGpu, window.before, window.to)) {
      const ReadRange range{window.before, More(window.to, kSlackMs)};
      const bool parallel = piece_.threads > 1 && !f->compressed && folder_.nodes[node_].clock.empty() &&
                            f->text_bytes >= 2 * kBytesPerThread && f->last > window.from;
      if (parallel) {
        SAWBILL_RETURN_IF_ERROR(GpusParallel(*f, window, range, cards));
      } else {
        MetricTable table(MetricTable::Rows::kGpu, Context(*f, window), cards);
        SAWBILL_RETURN_IF_ERROR(Read(*f, range, &table));
      }
    }
    return Status::Ok();
  }

  Status GpusParallel(const DayFile& f, TimeWindow window, ReadRange range, CardSet* cards) {
    struct Part {
      model::DataQuality quality;
      std::unique_ptr<CardSet> cards;
      Status status;
    };
    const NodeFolder& n = folder_.nodes[node_];
    range.parts = static_cast<int>(std::min<int64_t>(piece_.threads, f.text_bytes / kBytesPerThread));
    std::vector<Part> parts(static_cast<size_t>(range.parts));
    // The first takes the rows of the others in at the end.
    const size_t all_rows = ExpectedRows(DayKind::kGpu), rows = all_rows / parts.size() + 64;
    const auto read = [&](int i) {
      Part& p = parts[static_cast<size_t>(i)];
      p.cards = std::make_unique<CardSet>(&n.inventory, n.name, i == 0 ? all_rows : rows, &p.quality);
      MetricTable table(MetricTable::Rows::kGpu, Context(f, window, &p.quality), p.cards.get());
      ReadRange mine = range;
      mine.part = i;
      p.status = Read(f, mine, &table, &p.quality);
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < range.parts; ++i) threads.emplace_back(read, i);
    read(0);
    for (std::thread& t : threads) t.join();
    for (Part& p : parts) {
      SAWBILL_RETURN_IF_ERROR(p.status);
      out_->quality.Merge(p.quality);
      cards->Join(p.cards.get(), piece_.threads);
    }
    return Status::Ok();
  }

  /// For cards whose last sample before the window is not close to it.
  Status LookBack(CardSet* cards) {
    if (window_.from == kMin || !cards->LacksBefore()) return Status::Ok();
    const NodeFolder& n = folder_.nodes[node_];
    model::DataQuality ignored;  // counted in the piece that these rows belong to
    CardSet earlier(&n.inventory, n.name, 1, &ignored);
    TimeWindow window = WithBefore(kLongestDayMs);
    window.to = window.from;
    for (const DayFile* f : Files(DayKind::kGpu, window.before, window.from)) {
      MetricTable table(MetricTable::Rows::kGpu, Context(*f, window, &ignored), &earlier);
      SAWBILL_RETURN_IF_ERROR(ReadDayFile(fs_, *f, {window.before, window.from}, &ignored, &table));
    }
    cards->TakeBefore(earlier);
    return Status::Ok();
  }

  /// Both at once where there is a thread for it.
  Status HostAndProcesses(CardSet* cards) {
    model::DataQuality host_quality, process_quality;  // what is odd is counted in the order of the kinds
    HostFinder finder(ExpectedRows(DayKind::kHost));
    Status host;
    const auto read_host = [&] { host = Host(&finder, &host_quality); };
    std::thread other;
    if (piece_.threads > 1) {
      other = std::thread(read_host);
    } else {
      read_host();
    }
    const size_t first = out_->processes.size();
    const Status processes = Processes(cards, &process_quality);
    if (other.joinable()) other.join();
    SAWBILL_RETURN_IF_ERROR(host);
    SAWBILL_RETURN_IF_ERROR(processes);
    const int32_t index = AddHost(&finder, &host_quality);
    for (size_t i = first; i < out_->processes.size(); ++i) out_->processes[i].host = index;
    out_->quality.Merge(host_quality);
    out_->quality.Merge(process_quality);
    return Status::Ok();
  }

  Status Host(HostFinder* finder, model::DataQuality* quality) const {
    const TimeWindow window = WithBefore(kSlackMs);
    for (const DayFile* f : Files(DayKind::kHost, window.before, window.to)) {
      MetricTable table(MetricTable::Rows::kHost, Context(*f, window, quality), finder);
      SAWBILL_RETURN_IF_ERROR(Read(*f, {window.before, More(window.to, kSlackMs)}, &table, quality));
    }
    return Status::Ok();
  }

  Status Processes(CardSet* cards, model::DataQuality* quality) {
    for (const DayFile* f : Files(DayKind::kProcess, window_.from, window_.to)) {
      if (f->row_bytes > 0 && !f->compressed) {
        const double rows = kMoreRows * static_cast<double>(f->text_bytes) / f->row_bytes;
        out_->processes.reserve(out_->processes.size() + static_cast<size_t>(rows));
      }
      ProcessTable table(Context(*f, window_, quality), cards, -1, out_);
      SAWBILL_RETURN_IF_ERROR(Read(*f, {window_.from, window_.to}, &table, quality));
    }
    return Status::Ok();
  }

  /// Index of the host of the node in the recording; -1 where nothing was read of it.
  int32_t AddHost(HostFinder* finder, model::DataQuality* quality) {
    if (finder->track.size() == 0) return -1;
    const auto index = static_cast<int32_t>(out_->hosts.size());
    model::HostTrack& track = out_->hosts.emplace_back();
    track.node = folder_.nodes[node_].name;
    finder->track.Finish(&track);
    SortAndDeduplicate(&track, quality);
    return index;
  }

  void AddRuns(const NodeFolder& n) {
    std::map<std::string, TimeMs> started, ended;
    for (const model::RunRow& r : n.runs) {
      started.try_emplace(r.run, r.t_ms);
      if (r.state == "end") ended[r.run] = r.t_ms;
    }
    for (const model::RunRow& r : n.runs) {
      const auto end = ended.find(r.run);
      const bool begun = r.t_ms <= window_.to || (r.state == "end" && started[r.run] <= window_.to);
      if (begun && (end == ended.end() || end->second > window_.from)) out_->runs.push_back(r);
    }
  }

  sys::FileSystem* fs_;
  const DayFolder& folder_;
  Piece piece_;
  TimeWindow window_;
  Recording* out_;
  size_t node_ = 0;
};

class DayFolderSource : public model::TelemetrySource {
 public:
  DayFolderSource(sys::FileSystem* fs, DayFolder folder, DataFolderOptions options)
      : fs_(fs), folder_(std::move(folder)), options_(std::move(options)) {
    plan_ = PlanPieces(folder_.files, {options_.from, options_.to, options_.max_piece_bytes}, options_.tz,
                       [&](const DayFile& f, double fraction) { return TimeAtFraction(fs_, f, fraction); });
    FindCards();
  }

  const std::vector<model::CardInfo>& cards() const override { return cards_; }
  model::TimeRange period() const override { return plan_.period; }
  const std::vector<model::TimeRange>& pieces() const override { return plan_.pieces; }

  Result<Recording> Read(size_t piece) const override {
    SAWBILL_CHECK(piece < plan_.pieces.size());
    // The outermost pieces are open where the user set no limit: the first sample has none before it.
    TimeWindow window;
    if (piece > 0 || options_.from) window.from = plan_.pieces[piece].from;
    if (piece + 1 < plan_.pieces.size() || options_.to) window.to = plan_.pieces[piece].to;
    if (piece == 0 && options_.from) window.from = *options_.from;
    if (piece + 1 == plan_.pieces.size() && options_.to) window.to = *options_.to;
    Recording out;
    out.source = folder_.dir;
    out.format = "sawbill day files";
    out.simulated = folder_.simulated;
    if (piece == 0) out.quality.Merge(folder_.quality);
    // Many pieces are read side by side: threads within each would only get into each other's way.
    const int threads = std::max(1, options_.piece_threads / static_cast<int>(plan_.pieces.size()));
    PieceReader reader(fs_, folder_, {window, piece == 0, threads, options_.to.value_or(kMax), options_.unread}, &out);
    for (size_t node = 0; node < folder_.nodes.size(); ++node) SAWBILL_RETURN_IF_ERROR(reader.Node(node));
    const auto by_time = [](const auto& a, const auto& b) { return a.t_ms < b.t_ms; };
    if (!std::is_sorted(out.processes.begin(), out.processes.end(), by_time)) {  // large; the sort needs as much again
      std::stable_sort(out.processes.begin(), out.processes.end(), by_time);
    }
    std::stable_sort(out.runs.begin(), out.runs.end(), by_time);
    std::stable_sort(out.events.begin(), out.events.end(), by_time);
    return out;
  }

  std::string description() const override {
    std::string nodes = folder_.nodes.size() == 1 ? "1 node" : std::to_string(folder_.nodes.size()) + " nodes";
    return "Sawbill day files in " + folder_.dir + " (" + nodes + ")";
  }

 private:
  void FindCards() {
    std::map<std::string, model::CardInfo> known;
    for (const NodeFolder& n : folder_.nodes) {
      for (const model::CardInfo& c : n.inventory.Rows()) known[c.key()] = c;
    }
    for (const DayFile& f : folder_.files) {
      const NodeFolder& n = folder_.nodes[f.node];
      for (const std::string& gpu : f.cards) {
        if (f.kind != DayKind::kGpu || n.inventory.At(gpu, f.first) != nullptr) continue;
        model::CardInfo card;
        card.node = n.name;
        card.gpu = gpu;
        known.emplace(card.key(), card);
      }
    }
    for (const auto& [key, card] : known) cards_.push_back(card);
    std::sort(cards_.begin(), cards_.end(), CardBefore);
  }

  sys::FileSystem* fs_;
  DayFolder folder_;
  DataFolderOptions options_;
  PiecePlan plan_;
  std::vector<model::CardInfo> cards_;
};

}  // namespace

Result<std::unique_ptr<model::TelemetrySource>> OpenDataFolder(sys::FileSystem* fs, const std::string& dir,
                                                               const DataFolderOptions& options) {
  if (options.from && options.to && *options.from >= *options.to) {
    return Status::Invalid("the period is empty: --from lies at or behind --to");
  }
  SAWBILL_ASSIGN_OR_RETURN(DayFolder folder, ScanFolder(fs, dir, {options.tz, options.to, options.only_this_folder}));
  if (folder.nodes.empty()) {
    return Status::NotFound(
        dir + " holds no day files (gpu-YYYY-MM-DD.csv); name another folder, or record with 'sawbill record'");
  }
  if (const std::string samples = SamplesElsewhere(fs, folder); !samples.empty())
    return OpenRunView(fs, folder, samples, options);
  return std::unique_ptr<model::TelemetrySource>(std::make_unique<DayFolderSource>(fs, std::move(folder), options));
}

bool IsDataFolder(sys::FileSystem* fs, const std::string& dir) {
  const Result<std::vector<NodeFolder>> nodes = FindNodes(fs, dir);
  return nodes.ok() && !nodes->empty();
}

}  // namespace sawbill::store
