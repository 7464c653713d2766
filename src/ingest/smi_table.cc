// SPDX-License-Identifier: Apache-2.0
//
// The table
// ---------
// A line with the time, a head with the versions, then for each card two lines (three from driver 450 on, the third
// with the MIG mode), under MIG a table of the instances, and a table of the processes. Widths have changed with almost
// every branch (a name of 19 columns in 2017, of 31 from 535 on), so nothing here counts columns: lines are told by
// what stands in their cells. Seen on drivers 580 to 610; layouts back to 367 as people posted them.
//
// - Under MIG "GPU-Util" is N/A: no utilisation is known, for the card or its instances. Instances carry memory alone.
// - An index is no card: in a container that moves, card 0 of the next table is another one. The bus address tells.
// - The time stands before its table. With `date` in the loop two times do, and the later one (the table's own) counts.
#include "ingest/smi_table.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/printed_time.h"
#include "ingest/samples.h"
#include "ingest/words.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using model::ProcessMetric;

constexpr char kRecordCsv[] =
    "`nvidia-smi --query-gpu=timestamp,index,uuid,utilization.gpu,memory.used,power.draw --format=csv -l 1`";

constexpr size_t kMostCards = 4096;

bool Holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The cells between bars; what stands behind the last bar is none.
struct Cells {
  std::array<std::string_view, 6> cell;
  size_t count = 0;
};
Cells CellsOf(std::string_view line) {
  Cells cells;
  size_t from = 1;
  while (cells.count < cells.cell.size()) {
    const size_t bar = line.find('|', from);
    if (bar == std::string_view::npos) break;
    cells.cell[cells.count++] = line.substr(from, bar - from);
    from = bar + 1;
  }
  return cells;
}

class TableLoop {
 public:
  TableLoop(sys::LineReader* lines, const ReadContext& context, model::Recording* out)
      : lines_(*lines),
        context_(context),
        out_(out),
        tally_(context, *lines, &out->quality),
        samples_(context, out),
        times_(context) {}
  Status Read(std::string_view name, Explanation* explanation);

 private:
  enum class Part { kNone, kCards, kInstances, kProcesses };
  struct Known {
    std::string bus;
    int card = -1;
    bool facts = false;  // power limit and memory were given
  };

  void Line(std::string_view line);
  void Row(std::string_view line);
  void NewTable(std::string_view line);
  void CardNames(const Cells& cells);
  void CardReadings(const Cells& cells);
  void Instance(const Cells& cells);
  void Process(std::string_view line);
  model::CardInfo Labelled(std::string label) const;
  int InstanceCard(int64_t gpu, std::string_view gi, std::string_view ci);

  sys::LineReader& lines_;
  const ReadContext& context_;
  model::Recording* const out_;
  Tally tally_;
  Samples samples_;
  PrintedTimes times_;

  Part part_ = Part::kNone;
  bool rows_ = false;  // the line of "=" was seen: rows follow
  bool has_gi_ = false;
  bool pending_ = false, timed_ = false;
  TimeMs pending_ms_ = 0, t_ms_ = 0;
  int64_t tables_ = 0, timeless_ = 0;
  std::string driver_;
  std::vector<std::vector<Known>> by_index_;  // every bus address seen under an index
  std::vector<int> now_;                      // the card of each index in this table
  Known* card_ = nullptr;                     // named, its readings are awaited
  int64_t index_ = 0;
};

model::CardInfo TableLoop::Labelled(std::string label) const {
  model::CardInfo card;
  card.gpu = std::move(label);
  card.driver = driver_;
  return card;
}

void TableLoop::NewTable(std::string_view line) {
  ++tables_;
  timed_ = pending_;
  t_ms_ = pending_ms_;
  pending_ = false;
  if (!timed_) ++timeless_;
  part_ = Part::kCards;
  rows_ = false;
  card_ = nullptr;
  now_.assign(now_.size(), -1);
  // "Driver Version: 580.95.05"; from 610 on Windows "KMD Version: 610.62".
  for (const std::string_view key : {"Driver Version:", "KMD Version:"}) {
    const size_t at = line.find(key);
    if (at == std::string_view::npos) continue;
    std::string_view rest = line.substr(at + key.size());
    const std::string_view version = TakeWord(&rest);
    if (version != "N/A" && version.size() < 24) driver_.assign(version);
    return;
  }
}

/// "|   0  NVIDIA A40                     On  |   00000000:31:00.0 Off |                    0 |"
void TableLoop::CardNames(const Cells& cells) {
  if (card_ != nullptr) tally_.Count(Odd::kTornLine);  // the card before has no readings
  card_ = nullptr;
  std::string_view left = cells.cell[0], right = cells.cell[1];
  index_ = WholeNumber(TakeWord(&left));
  if (index_ < 0 || index_ > 4095) return tally_.Count(Odd::kTornLine);
  std::string_view bus = TakeWord(&right);
  if (EndsWith(bus, ".0")) bus.remove_suffix(2);  // the function; a label with a point would be a MIG instance's
  const auto i = static_cast<size_t>(index_);
  if (by_index_.size() <= i) by_index_.resize(i + 1);
  if (now_.size() <= i) now_.resize(i + 1, -1);
  auto& seen = by_index_[i];
  auto at = std::find_if(seen.begin(), seen.end(), [&](const Known& k) { return k.bus == bus; });
  if (at == seen.end()) {
    std::string label = std::to_string(index_);
    if (!seen.empty()) {
      if (samples_.cards() >= kMostCards) return tally_.Count(Odd::kBadRow);
      out_->notes.push_back(Tr(context_.lang, Msg::kIngestNoteCardMoved, label, Sanitize(bus)));
      label.assign(bus);
    }
    model::CardInfo card = Labelled(std::move(label));
    // The last word is the persistence mode or, on Windows, the driver model.
    left = Trim(left);
    const size_t blank = left.rfind(' ');
    if (blank != std::string_view::npos) card.name.assign(Trim(left.substr(0, blank)));
    seen.push_back({std::string(bus), samples_.Card(card), false});
    at = seen.end() - 1;
  }
  card_ = &*at;
  now_[i] = card_->card;
}

/// "| 38%   44C    P2             97W /  250W |    1366MiB /   8192MiB |      7%      Default |"
void TableLoop::CardReadings(const Cells& cells) {
  if (card_ == nullptr) return tally_.Count(Odd::kTornLine);
  const Known& known = *card_;
  std::string_view left = cells.cell[0];
  TakeWord(&left);  // fan
  const std::string_view temp = TakeWord(&left);
  TakeWord(&left);  // performance state
  const size_t slash = left.find('/'), memory_slash = cells.cell[1].find('/');
  std::string_view load = cells.cell[2];
  const auto reading = [&](std::string_view word, GpuMetric metric) {
    const double v = TakeReading(word, &tally_);
    samples_.Set(known.card, t_ms_, metric, v);
  };
  samples_.Touch(known.card, t_ms_);
  reading(temp, GpuMetric::kTempC);
  reading(left.substr(0, std::min(slash, left.size())), GpuMetric::kPowerW);
  reading(cells.cell[1].substr(0, std::min(memory_slash, cells.cell[1].size())), GpuMetric::kMemUsedMb);
  reading(TakeWord(&load), GpuMetric::kSmUtil);
  if (!card_->facts && slash != std::string_view::npos && memory_slash != std::string_view::npos) {
    model::CardInfo facts = Labelled("");
    const double cap = TakeReading(left.substr(slash + 1), &tally_);
    const double total = TakeReading(cells.cell[1].substr(memory_slash + 1), &tally_);
    if (cap > 0 && cap <= 3000) facts.power_limit_w = cap;
    if (total > 0 && total <= 4e6) facts.memory_total_mb = total;
    facts.gpu = card_ == &by_index_[static_cast<size_t>(index_)].front() ? std::to_string(index_) : card_->bus;
    samples_.Card(facts);
    card_->facts = true;
  }
  card_ = nullptr;
}

int TableLoop::InstanceCard(int64_t gpu, std::string_view gi, std::string_view ci) {
  const int64_t g = WholeNumber(gi), c = WholeNumber(ci);
  if (gpu < 0 || gpu > 4095) return -1;
  if (g < 0 || c < 0) {  // "N/A": the card itself
    const auto i = static_cast<size_t>(gpu);
    return i < now_.size() ? now_[i] : -1;
  }
  if (samples_.cards() >= kMostCards) return -1;
  return samples_.Card(Labelled(fmt::format("{}.{}.{}", gpu, g, c)));
}

/// "|  0    2   0   0  |           11091MiB / 40448MiB    | 60      0 |  3   0    3    0    3 |", and below it BAR1.
void TableLoop::Instance(const Cells& cells) {
  std::string_view ids = cells.cell[0];
  const std::string_view gpu = TakeWord(&ids), gi = TakeWord(&ids), ci = TakeWord(&ids);
  if (gpu.empty()) return;
  const size_t slash = cells.cell[1].find('/');
  const int64_t index = WholeNumber(gpu);
  if (index < 0 || WholeNumber(gi) < 0 || WholeNumber(ci) < 0 || slash == std::string_view::npos) {
    return tally_.Count(Odd::kTornLine);
  }
  const int card = InstanceCard(index, gi, ci);
  if (card < 0) return tally_.Count(Odd::kBadRow);
  samples_.Set(card, t_ms_, GpuMetric::kMemUsedMb, TakeReading(cells.cell[1].substr(0, slash), &tally_));
  const double total = TakeReading(cells.cell[1].substr(slash + 1), &tally_);
  if (total > 0 && total <= 4e6) {
    model::CardInfo facts = Labelled(fmt::format("{}.{}.{}", index, gi, ci));
    facts.memory_total_mb = total;
    samples_.Card(facts);
  }
}

/// "|    0   N/A  N/A          851083      C   /opt/conda/envs/aucum/bin/python       1826MiB |", before driver 450
/// without GI and CI.
void TableLoop::Process(std::string_view line) {
  std::string_view rest = line.substr(1, line.rfind('|') - 1);
  const std::string_view first = TakeWord(&rest);
  const int64_t gpu = WholeNumber(first);
  if (gpu < 0) {
    if (first != "No" && !first.empty()) tally_.Count(Odd::kForeignText);  // "No running processes found"
    return;
  }
  const std::string_view gi = has_gi_ ? TakeWord(&rest) : "N/A", ci = has_gi_ ? TakeWord(&rest) : "N/A";
  const int64_t pid = WholeNumber(TakeWord(&rest));
  TakeWord(&rest);  // C, G, C+G, M+C
  rest = Trim(rest);
  const size_t blank = rest.rfind(' ');
  if (pid < 0 || blank == std::string_view::npos) return tally_.Count(Odd::kTornLine);
  model::ProcessValues values;
  values.fill(kMissing);
  values[static_cast<size_t>(ProcessMetric::kGpuMemMb)] = TakeReading(rest.substr(blank + 1), &tally_);
  samples_.Process(t_ms_, InstanceCard(gpu, gi, ci), "", pid, ProcessName(rest.substr(0, blank)), "", values);
}

void TableLoop::Row(std::string_view line) {
  if (line.size() < 3 || line.find('|', 1) == std::string_view::npos) return tally_.Count(Odd::kTornLine);
  if (part_ == Part::kProcesses) return Process(line);
  const Cells cells = CellsOf(line);
  if (part_ == Part::kInstances) return cells.count >= 2 ? Instance(cells) : tally_.Count(Odd::kTornLine);
  if (cells.count < 3) return tally_.Count(Odd::kTornLine);
  if (Trim(cells.cell[0]).empty()) return;  // the third line: MIG mode
  if (Holds(cells.cell[1], "/")) return CardReadings(cells);
  if (Holds(cells.cell[1], ":")) return CardNames(cells);
  // GB10 and other unified memory: "Not Supported" instead of used and total.
  if (card_ != nullptr && Holds(cells.cell[0], "/")) return CardReadings(cells);
  tally_.Count(Odd::kTornLine);
}

void TableLoop::Line(std::string_view line) {
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  if (line.empty()) return;
  if (line.front() == '+') return;
  if (line.front() != '|') {
    TimeMs t = 0;
    if (!times_.Parse(line, &t)) return tally_.Count(Odd::kForeignText);
    pending_ = true;
    pending_ms_ = t;
    return;
  }
  if (Holds(line, "NVIDIA-SMI")) return NewTable(line);
  if (StartsWith(line, "|==")) {
    rows_ = true;
    return;
  }
  if (StartsWith(line, "|--") || part_ == Part::kNone) return;
  if (Holds(line, "MIG devices:") || Holds(line, "Processes:")) {
    part_ = Holds(line, "MIG") ? Part::kInstances : Part::kProcesses;
    rows_ = false;
    has_gi_ = false;
    return;
  }
  if (!rows_) {
    has_gi_ = has_gi_ || (part_ == Part::kProcesses && Holds(line, " GI "));
    return;
  }
  if (timed_) Row(line);
}

Status TableLoop::Read(std::string_view name, Explanation* explanation) {
  std::string_view line;
  while (lines_.Next(&line)) Line(line);
  if (!lines_.status().ok()) out_->quality.Count(Odd::kDamagedFile, context_.file + ": " + lines_.status().message());
  ExplainFixed({{"Temp", "temp_c", "C"},
                {"Pwr:Usage", "power_w", "W"},
                {"Cap", "power_limit_w", "W"},
                {"Memory-Usage", "mem_used_mb", "MiB"},
                {"GPU-Util", "sm_util", "%"},
                {"Fan", "", ""},
                {"Perf", "", ""}},
               context_, explanation);
  times_.Report(out_, explanation);
  if (tables_ > 0 && timeless_ == tables_) {
    return Status::Unsupported(Tr(context_.lang, Msg::kIngestNoDates, context_.file, "nvidia-smi", kRecordCsv));
  }
  if (samples_.cards() == 0) return NothingRead(name, context_, out_->quality);
  if (timeless_ > 0) out_->quality.Count(Odd::kBadRow, context_.file + ": table without a time", timeless_);
  explanation->cards = Tr(context_.lang, Msg::kIngestCardsColumn, "GPU", samples_.cards());
  return samples_.Finish(explanation);
}

class SmiTableFormat : public Format {
 public:
  std::string_view name() const override { return "nvidia-smi table"; }

  /// By how much of the text is table: scripts print one before a CSV log, and training logs hold one at their top.
  double Certainty(std::string_view sample) const override {
    if (!Holds(sample, "| NVIDIA-SMI ") || !Holds(sample, "GPU-Util")) return 0;
    size_t table = 0, all = 0;
    while (!sample.empty()) {
      std::string_view line = sample.substr(0, sample.find('\n'));
      sample.remove_prefix(std::min(line.size() + 1, sample.size()));
      line = Trim(line);
      all += line.size();
      if (!line.empty() && (line.front() == '|' || line.front() == '+')) table += line.size();
    }
    return 0.45 + 0.52 * static_cast<double>(table) / static_cast<double>(std::max<size_t>(all, 1));
  }

  Status Read(sys::LineReader* lines, const ReadContext& context, model::Recording* out,
              Explanation* explanation) const override {
    return TableLoop(lines, context, out).Read(name(), explanation);
  }
};

}  // namespace

const Format& SmiTable() {
  static const SmiTableFormat format;
  return format;
}

}  // namespace sawbill::ingest
