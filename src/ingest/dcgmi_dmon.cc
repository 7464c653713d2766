// SPDX-License-Identifier: Apache-2.0
//
//   #Entity         GPUTL       GRACT
//   ID
//   GPU 0           91          0.156
//   GPU-I 3         N/A         0.156
//
// Written from DCGM's source (dcgmi/DeviceMonitor.cpp, 4.6) and what people posted of older versions ("# Entity", names
// to the right); no file of our own: unverified. It prints no times. Lines stamped on their way (`ts`, a loop with
// `date`) are read, everything else is refused. GPU-I numbers are DCGM's own, not the GI of nvidia-smi: instances are
// labelled "0.i3", below the card whose row stands above. A field that an entity lacks is printed as blanks, so that
// such a row has fewer words than headings; then the columns' places tell.
#include "ingest/dcgmi_dmon.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/mon_columns.h"
#include "ingest/samples.h"
#include "prom/series_table.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;

constexpr int kNotRead = -1, kTotalMb = -2;
constexpr size_t kMostCards = 4096;
constexpr int Id(GpuMetric m) { return static_cast<int>(m); }
constexpr char kStamped[] =
    "`dcgmi dmon -e 203,252,155,1001,1002,1004 | while read -r l; do echo \"$(date +%FT%T%z) $l\"; done`";

constexpr MonColumn kFields[] = {{"GPUTL", "sm_util", "%", Id(GpuMetric::kSmUtil), 1},
                                 {"MCUTL", "mem_util", "%", Id(GpuMetric::kMemUtil), 1},
                                 {"FBUSD", "mem_used_mb", "MiB", Id(GpuMetric::kMemUsedMb), 1},
                                 {"FBTTL", "memory_total_mb", "MiB", kTotalMb, 1},
                                 {"FBFRE", "", "MiB", kNotRead, 1},
                                 {"TMPTR", "temp_c", "C", Id(GpuMetric::kTempC), 1},
                                 {"POWER", "power_w", "W", Id(GpuMetric::kPowerW), 1},
                                 {"TOTEC", "energy_j", "mJ", Id(GpuMetric::kEnergyJ), 1e-3},
                                 {"SMCLK", "sm_clock_mhz", "MHz", Id(GpuMetric::kSmClockMhz), 1},
                                 {"MMCLK", "mem_clock_mhz", "MHz", Id(GpuMetric::kMemClockMhz), 1},
                                 {"GRACT", "gr_active", "ratio", Id(GpuMetric::kGrActive), 1},
                                 {"SMACT", "sm_active", "ratio", Id(GpuMetric::kSmActive), 1},
                                 {"SMOCC", "sm_occupancy", "ratio", Id(GpuMetric::kSmOccupancy), 1},
                                 {"TENSO", "tensor_active", "ratio", Id(GpuMetric::kTensorActive), 1},
                                 {"DRAMA", "dram_active", "ratio", Id(GpuMetric::kDramActive), 1},
                                 {"PCITX", "pcie_tx_mb_s", "B/s", Id(GpuMetric::kPcieTxMbS), 1e-6},
                                 {"PCIRX", "pcie_rx_mb_s", "B/s", Id(GpuMetric::kPcieRxMbS), 1e-6},
                                 {"NVLTX", "nvlink_tx_mb_s", "B/s", Id(GpuMetric::kNvlinkTxMbS), 1e-6},
                                 {"NVLRX", "nvlink_rx_mb_s", "B/s", Id(GpuMetric::kNvlinkRxMbS), 1e-6}};

/// The names behind "#Entity" or "# Entity"; empty = no heading line.
std::string_view FieldNames(std::string_view line) {
  line = Trim(line);
  if (line.empty() || line.front() != '#') return {};
  std::string_view rest = line.substr(1);
  return TakeWord(&rest) == "Entity" ? rest : std::string_view();
}

class DcgmiMonitor {
 public:
  DcgmiMonitor(sys::LineReader* lines, const ReadContext& context, model::Recording* out, Explanation* explanation)
      : lines_(*lines),
        context_(context),
        out_(out),
        explanation_(explanation),
        tally_(context, *lines, &out->quality),
        samples_(context, out),
        times_(context),
        columns_(kFields, context, explanation) {}
  Status Read();

 private:
  void Line(std::string_view line);
  bool HeadingLine(std::string_view line);
  int Entity(std::string_view kind, int64_t id);
  bool ByPlace(std::string_view line);
  void SetTotal(int card, double total_mb);
  void Row(TimeMs t, int card, size_t from);

  sys::LineReader& lines_;
  const ReadContext& context_;
  model::Recording* const out_;
  Explanation* const explanation_;
  Tally tally_;
  Samples samples_;
  PrintedTimes times_;
  MonHeading columns_;
  Words words_;
  std::vector<size_t> places_;  // where each name begins in its line
  struct Known {
    char kind;
    int64_t parent, id;
    int card;
    std::string label;
    bool total = false;
  };
  std::vector<Known> known_;
  int64_t parent_ = -1, rows_ = 0, undated_ = 0;
};

bool DcgmiMonitor::HeadingLine(std::string_view line) {
  std::string_view names = FieldNames(line);
  if (names.empty()) return false;
  const bool again = columns_.size() > 0;
  words_.Split(names);
  places_.clear();
  for (size_t i = 0; i < words_.count; ++i) {
    places_.push_back(static_cast<size_t>(words_.word[i].data() - Trim(line).data()));
  }
  const int unknown = columns_.Map(words_.word.data(), words_.count);
  if (unknown > 0) tally_.Count(Odd::kUnknownColumn, unknown);
  if (again) out_->quality.Count(Odd::kRepeatedHeader);
  return true;
}

int DcgmiMonitor::Entity(std::string_view kind, int64_t id) {
  const char k = kind == "GPU" ? 'g' : kind == "GPU-I" ? 'i' : kind == "GPU-CI" ? 'c' : 0;
  if (k == 0 || id < 0) return -1;
  if (k == 'g') parent_ = id;
  const int64_t parent = k == 'g' ? -1 : parent_;
  for (const Known& e : known_) {
    if (e.kind == k && e.id == id && e.parent == parent) return e.card;
  }
  if (known_.size() >= kMostCards) return -1;
  model::CardInfo card;
  // A part of a card has a point in its label; where no card's row stands above, the card has no number.
  card.gpu = k == 'g' ? std::to_string(id) : fmt::format("{}.{}{}", parent < 0 ? "mig" : std::to_string(parent), k, id);
  known_.push_back({k, parent, id, samples_.Card(card), card.gpu});
  return known_.back().card;
}

/// Cuts the row where the names begin; false when a word lies across a cut.
bool DcgmiMonitor::ByPlace(std::string_view line) {
  for (size_t i = 0; i < places_.size(); ++i) {
    const size_t from = places_[i], to = i + 1 < places_.size() ? places_[i + 1] : line.size();
    words_.word[i] = {};
    if (from >= line.size()) continue;
    if (from == 0 || line[from - 1] != ' ') return false;
    words_.word[i] = Trim(line.substr(from, std::min(to, line.size()) - from));
    if (words_.word[i].find(' ') != std::string_view::npos) return false;
  }
  words_.count = places_.size();
  return true;
}

void DcgmiMonitor::SetTotal(int card, double total_mb) {
  for (Known& e : known_) {
    if (e.card != card || e.total || !(total_mb > 0 && total_mb <= 4e6)) continue;
    model::CardInfo facts;
    facts.gpu = e.label;
    facts.memory_total_mb = total_mb;
    samples_.Card(facts);
    e.total = true;
  }
}

void DcgmiMonitor::Row(TimeMs t, int card, size_t from) {
  bool any = false;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const MonColumn* c = columns_.at(i);
    if (c == nullptr || c->metric == kNotRead) continue;
    const double v = MonReading(words_.word[from + i], &tally_);
    if (IsMissing(v)) continue;
    if (prom::IsDcgmBlank(v)) {
      tally_.Count(Odd::kNotSupported);
      continue;
    }
    any = true;
    if (c->metric == kTotalMb) {
      SetTotal(card, v);
    } else {
      samples_.Set(card, t, static_cast<GpuMetric>(c->metric), v * c->factor);
    }
  }
  if (!any) samples_.Touch(card, t);
}

void DcgmiMonitor::Line(std::string_view line) {
  line = Trim(line);
  if (line.empty() || HeadingLine(line)) return;
  TimeMs t = 0;
  const bool stamped = times_.TakePrefix(&line, &t);
  line = Trim(line);
  if (HeadingLine(line)) return;
  std::string_view rest = line;
  const std::string_view kind = TakeWord(&rest);
  if (kind == "ID" || kind == "Id") return;  // the line of units
  const int64_t id = WholeNumber(TakeWord(&rest));
  if (columns_.size() == 0 || id < 0) return tally_.Count(Odd::kForeignText);
  words_.Split(rest);
  if (words_.count != columns_.size() && !(words_.count < columns_.size() && ByPlace(line))) {
    if (!lines_.terminated()) return tally_.Count(Odd::kTornLine);
    // "GPU 0 LINK 3", switches, CPUs: entities that are no cards have other columns or names.
    return tally_.Count(words_.count < columns_.size() ? Odd::kMissingCells : Odd::kExtraCells);
  }
  if (!stamped) {
    ++undated_;
    return;
  }
  const int card = Entity(kind, id);
  if (card < 0) return tally_.Count(Odd::kForeignText);
  ++rows_;
  Row(t, card, 0);
}

Status DcgmiMonitor::Read() {
  std::string_view line;
  while (lines_.Next(&line)) Line(line);
  if (!lines_.status().ok()) out_->quality.Count(Odd::kDamagedFile, context_.file + ": " + lines_.status().message());
  times_.Report(out_, explanation_);
  if (rows_ == 0 && undated_ > 0) {
    return Status::Unsupported(Tr(context_.lang, Msg::kIngestNoDates, context_.file, "dcgmi dmon", kStamped));
  }
  if (rows_ == 0) return NothingRead("dcgmi dmon", context_, out_->quality);
  if (undated_ > 0) out_->quality.Count(Odd::kBadRow, context_.file + ": row without a date", undated_);
  explanation_->rows = rows_;
  explanation_->cards = Tr(context_.lang, Msg::kIngestCardsColumn, "Entity", samples_.cards());
  return samples_.Finish(explanation_);
}

class DcgmiDmonFormat : public Format {
 public:
  std::string_view name() const override { return "dcgmi dmon"; }
  double Certainty(std::string_view sample) const override {
    for (int i = 0; i < 40 && !sample.empty(); ++i) {
      std::string_view line = sample.substr(0, sample.find('\n'));
      sample.remove_prefix(std::min(line.size() + 1, sample.size()));
      const size_t hash = line.find('#');
      if (hash == std::string_view::npos || hash > 40) continue;
      if (!FieldNames(line.substr(hash)).empty()) return 0.97;
    }
    return 0;
  }
  Status Read(sys::LineReader* lines, const ReadContext& context, model::Recording* out,
              Explanation* explanation) const override {
    return DcgmiMonitor(lines, context, out, explanation).Read();
  }
};

}  // namespace

const Format& DcgmiDmon() {
  static const DcgmiDmonFormat format;
  return format;
}

}  // namespace sawbill::ingest
