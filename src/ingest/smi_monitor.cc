// SPDX-License-Identifier: Apache-2.0
//
// Both print two lines of headings, names and units, and print them again every so many rows:
//
//   #Date       Time        gpu    pwr  gtemp  mtemp     sm    mem
//   #YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %
//    20240104   13:54:35      0    631     63     57    100     10
//
// Date and time are there only with `-o DT`. Without them rows are as far apart as -d said, which stands nowhere: such
// a file is refused, unless each line was stamped on its way (`ts`, a loop with `date`), which is read. With `-o T`
// rows have a time of day: a line with a date above them (what `date` printed) says of which day. Seen on drivers 590
// to 610 without date, and as people posted it with date.
//
// Process utilisation comes from a ring buffer of the driver that has held stale rows and garbage for dead processes
// (4000 %, 2287971552 %): what is no percentage is left empty, and the process keeps its row.
#include "ingest/smi_monitor.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/mon_columns.h"
#include "ingest/samples.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using model::ProcessMetric;

constexpr int Id(GpuMetric m) { return static_cast<int>(m); }
constexpr int Id(ProcessMetric m) { return static_cast<int>(m); }
constexpr int kNotRead = -1;
constexpr size_t kMostCards = 4096;
constexpr size_t kLeastRowBytes = 80;  // of pmon: its columns are padded

/// What a line that begins with "#" says.
struct Heading {
  bool names = false, units = false;
  bool date = false, time = false;
  size_t first = 0;  // the word "gpu"
};

Heading ReadHeading(std::string_view line, Words* words) {
  Heading h;
  line = Trim(line);
  if (line.empty() || line.front() != '#') return h;
  words->Split(line.substr(1));
  for (size_t i = 0; i < std::min<size_t>(words->count, 3); ++i) {
    const std::string_view w = words->word[i];
    h.date = h.date || w == "Date";
    h.time = h.time || w == "Time";
    h.units = h.units || w == "Idx";
    if (w != "gpu") continue;
    h.names = true;
    h.first = i;
    break;
  }
  h.names = h.names && h.first == static_cast<size_t>(h.date) + static_cast<size_t>(h.time);
  return h;
}

/// The "#..." behind a stamp.
std::string_view FromHash(std::string_view line) {
  const size_t hash = line.find('#');
  return hash == std::string_view::npos || hash > 40 ? std::string_view() : line.substr(hash);
}

/// Is it the first column behind the card of any of their groups? `--format csv,nounit` prints no units to go by.
bool NamesReading(std::string_view word) {
  for (const std::string_view name : {"pid", "pwr", "sm", "mclk", "pviol", "fb", "sbecc", "rxpci"}) {
    if (word == name) return true;
  }
  return false;
}

/// 0.97 when names and units of such a table stand near the top; `pmon` tells which of the two it has to be.
double MonitorCertainty(std::string_view sample, bool pmon) {
  Words words;
  bool names = false, has_pid = false, named = false, named_pid = false;
  for (int line_number = 0; line_number < 400 && !sample.empty(); ++line_number) {
    const std::string_view line = sample.substr(0, sample.find('\n'));
    sample.remove_prefix(std::min(line.size() + 1, sample.size()));
    const std::string_view heading = FromHash(line);
    if (heading.empty()) continue;
    const Heading h = ReadHeading(heading, &words);
    if (names && h.units) return has_pid == pmon ? (line_number < 20 ? 0.97 : 0.6) : 0;
    names = h.names;
    if (names) has_pid = words.count > h.first + 1 && words.word[h.first + 1] == "pid";
    if (!names || named || words.count < h.first + 3 || !NamesReading(words.word[h.first + 1])) continue;
    named = line_number < 20;
    named_pid = has_pid;
  }
  return named && named_pid == pmon ? 0.9 : 0;
}

class Monitor {
 public:
  Monitor(sys::LineReader* lines, const ReadContext& context, bool pmon, model::Recording* out,
          Explanation* explanation)
      : lines_(*lines),
        context_(context),
        pmon_(pmon),
        out_(out),
        explanation_(explanation),
        tally_(context, *lines, &out->quality),
        samples_(context, out),
        times_(context),
        columns_(pmon ? std::span<const MonColumn>(kProcessColumns) : kCardColumns, context, explanation) {}
  Status Read();

 private:
  void Line(std::string_view line);
  void HeadingLine(std::string_view line);
  bool Time(TimeMs stamp, TimeMs* t);
  void CardRow(TimeMs t, int card, size_t from);
  void ProcessRow(TimeMs t, int card, size_t from);
  int Card(int64_t index);

  // Columns of dmon's groups p, u, c, v, m, e and t. `mem` is the controller, `fb` the memory in use.
  static constexpr MonColumn kCardColumns[] = {{"gpu", "card", "", kNotRead, 1},
                                               {"pwr", "power_w", "W", Id(GpuMetric::kPowerW), 1},
                                               {"gtemp", "temp_c", "C", Id(GpuMetric::kTempC), 1},
                                               {"mtemp", "", "C", kNotRead, 1},
                                               {"sm", "sm_util", "%", Id(GpuMetric::kSmUtil), 1},
                                               {"mem", "mem_util", "%", Id(GpuMetric::kMemUtil), 1},
                                               {"enc", "", "%", kNotRead, 1},
                                               {"dec", "", "%", kNotRead, 1},
                                               {"jpg", "", "%", kNotRead, 1},
                                               {"ofa", "", "%", kNotRead, 1},
                                               {"mclk", "mem_clock_mhz", "MHz", Id(GpuMetric::kMemClockMhz), 1},
                                               {"pclk", "sm_clock_mhz", "MHz", Id(GpuMetric::kSmClockMhz), 1},
                                               {"pviol", "", "%", kNotRead, 1},
                                               {"tviol", "", "bool", kNotRead, 1},
                                               {"fb", "mem_used_mb", "MiB", Id(GpuMetric::kMemUsedMb), 1},
                                               {"bar1", "", "MB", kNotRead, 1},
                                               {"ccpm", "", "MB", kNotRead, 1},
                                               {"sbecc", "", "errs", kNotRead, 1},
                                               {"dbecc", "", "errs", kNotRead, 1},
                                               {"pci", "", "errs", kNotRead, 1},
                                               {"rxpci", "pcie_rx_mb_s", "MB/s", Id(GpuMetric::kPcieRxMbS), 1},
                                               {"txpci", "pcie_tx_mb_s", "MB/s", Id(GpuMetric::kPcieTxMbS), 1}};
  static constexpr int kPid = 100, kCommand = 101;
  static constexpr MonColumn kProcessColumns[] = {
      {"gpu", "card", "", kNotRead, 1}, {"pid", "process", "", kPid, 1},
      {"type", "", "", kNotRead, 1},    {"sm", "process sm_util", "%", Id(ProcessMetric::kSmUtil), 1},
      {"mem", "", "%", kNotRead, 1},    {"enc", "", "%", kNotRead, 1},
      {"dec", "", "%", kNotRead, 1},    {"jpg", "", "%", kNotRead, 1},
      {"ofa", "", "%", kNotRead, 1},    {"fb", "process gpu_mem_mb", "MiB", Id(ProcessMetric::kGpuMemMb), 1},
      {"ccpm", "", "MB", kNotRead, 1},  {"command", "process name", "", kCommand, 1}};

  sys::LineReader& lines_;
  const ReadContext& context_;
  const bool pmon_;
  model::Recording* const out_;
  Explanation* const explanation_;
  Tally tally_;
  Samples samples_;
  PrintedTimes times_;
  MonHeading columns_;
  Words words_;
  Heading heading_;
  bool stamped_ = false;  // lines carry a stamp that is not dmon's own
  std::vector<int> cards_;
  int64_t rows_ = 0, undated_ = 0;
};

void Monitor::HeadingLine(std::string_view line) {
  const Heading h = ReadHeading(line, &words_);
  if (!h.names) return;  // units, or a comment
  const bool again = columns_.size() > 0;
  heading_ = h;
  const int unknown = columns_.Map(words_.word.data() + h.first, words_.count - h.first);
  if (unknown > 0) tally_.Count(Odd::kUnknownColumn, unknown);
  if (again) out_->quality.Count(Odd::kRepeatedHeader);
}

int Monitor::Card(int64_t index) {
  const auto i = static_cast<size_t>(index);
  if (i >= kMostCards) return -1;
  if (i >= cards_.size()) cards_.resize(i + 1, -1);
  if (cards_[i] < 0) {
    model::CardInfo card;
    card.gpu = std::to_string(index);
    cards_[i] = samples_.Card(card);
  }
  return cards_[i];
}

void Monitor::CardRow(TimeMs t, int card, size_t from) {
  bool any = false;
  for (size_t i = 1; i < columns_.size(); ++i) {
    const MonColumn* c = columns_.at(i);
    if (c == nullptr || c->metric == kNotRead) continue;
    const double v = MonReading(words_.word[from + i], &tally_);
    samples_.Set(card, t, static_cast<GpuMetric>(c->metric), v);
    any = any || IsPresent(v);
  }
  if (!any) samples_.Touch(card, t);
}

void Monitor::ProcessRow(TimeMs t, int card, size_t from) {
  model::ProcessValues values;
  values.fill(kMissing);
  int64_t pid = -1;
  std::string_view name;
  for (size_t i = 1; i < columns_.size(); ++i) {
    const MonColumn* c = columns_.at(i);
    if (c == nullptr || c->metric == kNotRead) continue;
    const std::string_view word = words_.word[from + i];
    if (c->metric == kPid) {
      if (word == "-") return;  // no process on this card
      pid = WholeNumber(word);
    } else if (c->metric == kCommand) {
      name = ProcessName(word);
    } else if (word != "-") {  // nothing in this interval: usual for most processes, not worth counting
      values[static_cast<size_t>(c->metric)] = MonReading(word, &tally_);
    }
  }
  if (pid < 0) return tally_.Count(Odd::kBadRow);
  samples_.Process(t, card, "", pid, name, "", values);
}

bool Monitor::Time(TimeMs stamp, TimeMs* t) {
  if (stamped_) {
    *t = stamp;
    return true;
  }
  if (heading_.time && !heading_.date && times_.has_day()) {
    if (times_.ParseTimeOfDay(words_.word[0], t)) return true;
    tally_.Count(Odd::kBadRow);
    return false;
  }
  if (!heading_.date || !heading_.time) {
    ++undated_;
    return false;
  }
  if (times_.ParseDateAndTime(words_.word[0], words_.word[1], t)) return true;
  tally_.Count(Odd::kBadRow);
  return false;
}

void Monitor::Line(std::string_view line) {
  line = Trim(line);
  if (line.empty()) return;
  if (line.front() == '#') return HeadingLine(line);
  TimeMs stamp = 0;
  const bool own_time = heading_.date || heading_.time;
  stamped_ = !own_time && times_.TakePrefix(&line, &stamp);
  if (stamped_) {
    line = Trim(line);
    if (!line.empty() && line.front() == '#') return HeadingLine(line);
  }
  const size_t from = heading_.first;
  if ((columns_.size() == 0 || (heading_.time && !heading_.date && line.find(':') != 2)) && times_.TakeDay(line))
    return;
  if (columns_.size() == 0) return tally_.Count(Odd::kForeignText);
  const size_t expected = from + columns_.size();
  words_.Split(line, pmon_ ? std::min(expected, Words::kMost) : Words::kMost);
  const int64_t index = words_.count > from ? WholeNumber(words_.word[from]) : -1;
  if (index < 0) return tally_.Count(lines_.terminated() ? Odd::kForeignText : Odd::kTornLine);
  if (words_.count != expected) {
    if (!lines_.terminated()) return tally_.Count(Odd::kTornLine);
    return tally_.Count(words_.count < expected ? Odd::kMissingCells : Odd::kExtraCells);
  }
  TimeMs t = 0;
  if (!Time(stamp, &t)) return;
  const int card = Card(index);
  if (card < 0) return tally_.Count(Odd::kBadRow);
  ++rows_;
  if (pmon_) return ProcessRow(t, card, from);
  CardRow(t, card, from);
}

Status Monitor::Read() {
  if (pmon_) out_->processes.reserve(context_.text_bytes / kLeastRowBytes);
  std::string_view line;
  while (lines_.Next(&line)) Line(line);
  if (!lines_.status().ok()) out_->quality.Count(Odd::kDamagedFile, context_.file + ": " + lines_.status().message());
  times_.Report(out_, explanation_);
  const char* name = pmon_ ? "nvidia-smi pmon" : "nvidia-smi dmon";
  if (rows_ == 0 && undated_ > 0) {
    return Status::Unsupported(Tr(context_.lang, Msg::kIngestNoDates, context_.file, name,
                                  pmon_ ? "`nvidia-smi pmon -o DT`" : "`nvidia-smi dmon -s pucmt -o DT`"));
  }
  if (rows_ == 0) return NothingRead(name, context_, out_->quality);
  if (undated_ > 0) out_->quality.Count(Odd::kBadRow, context_.file + ": row without a date", undated_);
  explanation_->rows = rows_;
  explanation_->cards = Tr(context_.lang, Msg::kIngestCardsColumn, "gpu", samples_.cards());
  return samples_.Finish(explanation_);
}

class MonitorFormat : public Format {
 public:
  explicit MonitorFormat(bool pmon) : pmon_(pmon) {}
  std::string_view name() const override { return pmon_ ? "nvidia-smi pmon" : "nvidia-smi dmon"; }
  double Certainty(std::string_view sample) const override { return MonitorCertainty(sample, pmon_); }
  Status Read(sys::LineReader* lines, const ReadContext& context, model::Recording* out,
              Explanation* explanation) const override {
    return Monitor(lines, context, pmon_, out, explanation).Read();
  }

 private:
  const bool pmon_;
};

}  // namespace

const Format& SmiDmon() {
  static const MonitorFormat format(false);
  return format;
}
const Format& SmiPmon() {
  static const MonitorFormat format(true);
  return format;
}

}  // namespace sawbill::ingest
