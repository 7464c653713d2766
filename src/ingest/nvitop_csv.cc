// SPDX-License-Identifier: Apache-2.0
//
// Headings are "<tag>/<scope>/<metric (unit)>/<mean|min|max|last>", where scope is "host", "gpu:3", "cuda:0 (gpu:3)",
// or one of these below "pid:12345"; beside them "<tag>/timestamp" (Unix seconds) and "<tag>/duration (s)". Written
// from nvitop's source (api/collector.py, 1.6); no file of our own: unverified.
//
// mean, min and max run on from the start of the recording (only clear() ends that), so that a mean late in a long file
// hardly moves and would hide every wave. `last` is taken where it is there; else the mean of each interval is computed
// from two running means and their durations. min and max cannot be undone, and are left out.
#include "ingest/nvitop_csv.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/printed_time.h"
#include "ingest/samples.h"
#include "ingest/wide_csv.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::HostMetric;
using model::Odd;
using model::ProcessMetric;

constexpr size_t kMostColumns = 20'000, kMostCards = 4096;

enum class Kind { kLeftOut, kTime, kLocalTime, kDuration, kCard, kTotal, kHost, kProcess };
enum class Stat { kNone, kMean, kLast, kOther };

struct Meaning {
  std::string_view metric;
  Kind kind;
  int id;
  double factor;
  const char* taken_as;
  const char* unit;
};
constexpr Meaning kCardMetrics[] = {
    {"memory_used (MiB)", Kind::kCard, static_cast<int>(GpuMetric::kMemUsedMb), 1, "mem_used_mb", "MiB"},
    {"memory_total (MiB)", Kind::kTotal, 0, 1, "memory_total_mb", "MiB"},
    {"gpu_utilization (%)", Kind::kCard, static_cast<int>(GpuMetric::kSmUtil), 1, "sm_util", "%"},
    {"memory_utilization (%)", Kind::kCard, static_cast<int>(GpuMetric::kMemUtil), 1, "mem_util", "%"},
    {"temperature (C)", Kind::kCard, static_cast<int>(GpuMetric::kTempC), 1, "temp_c", "C"},
    {"power_usage (W)", Kind::kCard, static_cast<int>(GpuMetric::kPowerW), 1, "power_w", "W"}};
constexpr Meaning kHostMetrics[] = {
    {"cpu_percent (%)", Kind::kHost, static_cast<int>(HostMetric::kCpuUtil), 1, "cpu_util", "%"},
    {"memory_used (GiB)", Kind::kHost, static_cast<int>(HostMetric::kMemUsedMb), 1024, "host mem_used_mb", "GiB"}};
// cpu_percent of a process is in percent of one core, and of the process alone.
constexpr Meaning kProcessMetrics[] = {
    {"gpu_memory (MiB)", Kind::kProcess, static_cast<int>(ProcessMetric::kGpuMemMb), 1, "process gpu_mem_mb", "MiB"},
    {"gpu_sm_utilization (%)", Kind::kProcess, static_cast<int>(ProcessMetric::kSmUtil), 1, "process sm_util", "%"},
    {"cpu_percent (%)", Kind::kProcess, static_cast<int>(ProcessMetric::kMainCpuCores), 0.01, "process main_cpu_cores",
     "%"}};

struct Column {
  Kind kind = Kind::kLeftOut;
  int id = 0;
  double factor = 1;
  Stat stat = Stat::kNone;
  std::string series;  // heading without its stat: `last` and `mean` of one thing are rivals
  int card = -1;
  size_t process = 0;
  double running = 0;  // mean times duration, so far
  bool started = false;
};

/// "gpu:3" or "cuda:0 (gpu:3)" -> "3"; the MIG device "gpu:(0, 1)" -> "0.d1".
std::string CardOf(std::string_view scope) {
  const size_t at = scope.find("gpu:");
  if (at == std::string_view::npos) return "";
  std::string_view rest = scope.substr(at + 4);
  const bool mig = StartsWith(rest, "(");
  std::string label;
  for (const char c : rest) {
    if (c >= '0' && c <= '9') {
      label += c;
    } else if (mig && c == ',') {
      label += ".d";
    } else if (c != '(' && c != ' ') {
      break;
    }
  }
  return label.size() > 12 ? "" : label;
}

class NvitopTable {
 public:
  NvitopTable(sys::LineReader* lines, const ReadContext& context, model::Recording* out, Explanation* explanation)
      : lines_(*lines),
        context_(context),
        out_(out),
        explanation_(explanation),
        tally_(context, *lines, &out->quality),
        samples_(context, out),
        times_(context) {}
  Status Read(std::string_view name);

 private:
  struct Process {
    int64_t pid;
    int card;
    model::ProcessValues values;
  };
  void Headings(const std::vector<std::string>& headings);
  void Understand(std::string_view heading, Column* column, const char** as, const char** unit);
  int Card(std::string_view scope);
  size_t ProcessOn(int64_t pid, int card);
  void Row(const std::vector<std::string_view>& cells);
  double Reading(Column* column, std::string_view cell, double duration_s);

  sys::LineReader& lines_;
  const ReadContext& context_;
  model::Recording* const out_;
  Explanation* const explanation_;
  Tally tally_;
  Samples samples_;
  PrintedTimes times_;
  std::string tag_;
  std::vector<Column> columns_;
  int time_ = -1, duration_ = -1, host_ = -1;
  std::vector<Process> processes_;
  double duration_before_ = 0;
  bool running_means_ = false;
  int64_t rows_ = 0;
};

int NvitopTable::Card(std::string_view scope) {
  model::CardInfo card;
  card.gpu = CardOf(scope);
  return card.gpu.empty() || samples_.cards() >= kMostCards ? -1 : samples_.Card(card);
}

size_t NvitopTable::ProcessOn(int64_t pid, int card) {
  for (size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].pid == pid && processes_[i].card == card) return i;
  }
  processes_.push_back({pid, card, {}});
  return processes_.size() - 1;
}

void NvitopTable::Understand(std::string_view heading, Column* column, const char** as, const char** unit) {
  if (heading == "time") {
    column->kind = Kind::kLocalTime;
    *as = "timestamp";
    return;
  }
  if (!StartsWith(heading, tag_)) return;
  std::string_view rest = heading.substr(tag_.size());
  const size_t last = rest.rfind('/');
  const std::string_view stat = last == std::string_view::npos ? std::string_view() : rest.substr(last + 1);
  if (stat == "mean" || stat == "last" || stat == "min" || stat == "max") {
    column->stat = stat == "mean" ? Stat::kMean : stat == "last" ? Stat::kLast : Stat::kOther;
    rest = rest.substr(0, last);
  }
  if (rest == "timestamp" || rest == "duration (s)") {
    column->kind = rest == "timestamp" ? Kind::kTime : Kind::kDuration;
    *as = rest == "timestamp" ? "timestamp" : "duration";
    return;
  }
  if (column->stat == Stat::kNone || column->stat == Stat::kOther) return;
  const size_t slash = rest.rfind('/');
  if (slash == std::string_view::npos) return;
  const std::string_view metric = rest.substr(slash + 1);
  std::string_view scope = rest.substr(0, slash);
  int64_t pid = -1;
  if (StartsWith(scope, "pid:")) {
    const size_t end = scope.find('/');
    if (end == std::string_view::npos) return;
    pid = WholeNumber(scope.substr(4, end - 4));
    if (pid < 0) return;
    scope = scope.substr(end + 1);
  }
  // A deeper tag ("train/batch") repeats what this one says, over other intervals.
  if (scope.find('/') != std::string_view::npos || (scope != "host" && CardOf(scope).empty())) return;
  const auto find = [&](const auto& table) {
    for (const Meaning& m : table) {
      if (m.metric != metric) continue;
      column->kind = m.kind, column->id = m.id, column->factor = m.factor;
      *as = m.taken_as, *unit = m.unit;
    }
  };
  pid >= 0 ? find(kProcessMetrics) : scope == "host" ? find(kHostMetrics) : find(kCardMetrics);
  if (column->kind == Kind::kLeftOut) return;
  column->series.assign(rest);
  if (scope != "host") column->card = Card(scope);
  if (column->kind == Kind::kProcess) column->process = ProcessOn(pid, column->card);
}

void NvitopTable::Headings(const std::vector<std::string>& headings) {
  for (const std::string& h : headings) {
    if (!EndsWith(h, "/timestamp")) continue;
    tag_ = h.substr(0, h.size() - std::string_view("timestamp").size());
    break;
  }
  std::vector<std::string> with_last;
  columns_.resize(headings.size());
  for (size_t i = 0; i < headings.size(); ++i) {
    const char *as = "", *unit = "";
    Column& c = columns_[i];
    Understand(headings[i], &c, &as, &unit);
    if (c.stat == Stat::kLast && c.kind != Kind::kLeftOut) with_last.push_back(c.series);
    if (c.kind == Kind::kTime || (c.kind == Kind::kLocalTime && time_ < 0)) time_ = static_cast<int>(i);
    if (c.kind == Kind::kDuration) duration_ = static_cast<int>(i);
    ColumnTaken taken;
    taken.column = static_cast<int>(i) + 1;
    taken.heading = Sanitize(headings[i]);
    taken.taken_as = as;
    taken.unit = unit;
    taken.how = Tr(context_.lang, *as == '\0' ? Msg::kIngestHowUnknown : Msg::kIngestHowHeading);
    if (explanation_->columns.size() < 500) explanation_->columns.push_back(std::move(taken));
  }
  std::sort(with_last.begin(), with_last.end());
  for (size_t i = 0; i < columns_.size(); ++i) {
    Column& c = columns_[i];
    if (c.stat != Stat::kMean || !std::binary_search(with_last.begin(), with_last.end(), c.series)) continue;
    c.kind = Kind::kLeftOut;
    if (i < explanation_->columns.size()) {
      explanation_->columns[i].taken_as.clear();
      explanation_->columns[i].how = Tr(context_.lang, Msg::kIngestHowRival, Sanitize(c.series) + "/last");
    }
  }
}

double NvitopTable::Reading(Column* c, std::string_view cell, double duration_s) {
  const double v = WideReading(cell, &tally_);
  if (c->stat != Stat::kMean || IsMissing(v) || IsMissing(duration_s)) return v * c->factor;
  const double total = v * duration_s, before = c->running;
  const double span = duration_s - duration_before_;
  const bool goes_on = c->started && span > 0;  // else the collector was cleared: the mean is of this interval
  c->running = total;
  c->started = true;
  if (!goes_on) return v * c->factor;
  running_means_ = true;
  // The difference of two large numbers: what rounding puts below zero is zero.
  const double mean = (total - before) / span;
  return (mean < 0 && mean > -0.01 ? 0.0 : mean > 100 && mean < 100.01 ? 100.0 : mean) * c->factor;
}

void NvitopTable::Row(const std::vector<std::string_view>& cells) {
  TimeMs t = 0;
  if (time_ < 0 || !times_.Parse(Unquote(cells[static_cast<size_t>(time_)]), &t)) return tally_.Count(Odd::kBadRow);
  const double duration_s = duration_ < 0 ? kMissing : WideReading(cells[static_cast<size_t>(duration_)], &tally_);
  ++rows_;
  for (Process& p : processes_) p.values.fill(kMissing);
  for (size_t i = 0; i < columns_.size(); ++i) {
    Column& c = columns_[i];
    if (c.kind < Kind::kCard) continue;
    const double v = Reading(&c, cells[i], duration_s);
    if (IsMissing(v)) continue;
    if (c.kind == Kind::kHost) {
      if (host_ < 0) host_ = samples_.Host("");
      samples_.SetHost(host_, t, static_cast<HostMetric>(c.id), v);
    } else if (c.kind == Kind::kProcess) {
      processes_[c.process].values[static_cast<size_t>(c.id)] = v;
    } else if (c.card >= 0 && c.kind == Kind::kCard) {
      samples_.Set(c.card, t, static_cast<GpuMetric>(c.id), v);
    } else if (c.card >= 0 && !c.started && v > 0 && v <= 4e6) {
      model::CardInfo facts;
      facts.gpu = CardOf(c.series);
      facts.memory_total_mb = v;
      samples_.Card(facts);
      c.kind = Kind::kLeftOut;  // a fact: once is enough
    }
  }
  for (const Process& p : processes_) {
    const bool any = std::any_of(p.values.begin(), p.values.end(), [](double v) { return IsPresent(v); });
    if (any) samples_.Process(t, p.card, "", p.pid, "", "", p.values);
  }
  if (IsPresent(duration_s)) duration_before_ = duration_s;
}

Status NvitopTable::Read(std::string_view name) {
  std::string_view line;
  if (!lines_.Next(&line)) return NothingRead(name, context_, out_->quality);
  const std::string heading_line(line);
  const std::vector<std::string> headings = WideHeadings(heading_line);
  if (headings.empty() || headings.size() > kMostColumns) return NothingRead(name, context_, out_->quality);
  Headings(headings);
  ReadWideRows(&lines_, headings.size(), heading_line, &tally_, [this](const auto& cells) { Row(cells); });
  if (!lines_.status().ok()) out_->quality.Count(Odd::kDamagedFile, context_.file + ": " + lines_.status().message());
  times_.Report(out_, explanation_);
  if (running_means_) out_->notes.push_back(Tr(context_.lang, Msg::kIngestNoteRunningMeans));
  if (rows_ == 0) return NothingRead(name, context_, out_->quality);
  explanation_->rows = rows_;
  explanation_->cards = Tr(context_.lang, Msg::kIngestCardsColumn, "gpu:N", samples_.cards());
  return samples_.Finish(explanation_);
}

class NvitopFormat : public Format {
 public:
  std::string_view name() const override { return "nvitop csv"; }
  double Certainty(std::string_view sample) const override {
    const std::string_view head = sample.substr(0, sample.find('\n'));
    const auto has = [&](std::string_view part) { return head.find(part) != std::string_view::npos; };
    const bool stats = has("/mean") || has("/last");
    return has("gpu:") && has("/timestamp") && stats && (has("/gpu_utilization (%)") || has("/memory_used (MiB)"))
               ? 0.97
               : 0;
  }
  Status Read(sys::LineReader* lines, const ReadContext& context, model::Recording* out,
              Explanation* explanation) const override {
    return NvitopTable(lines, context, out, explanation).Read(name());
  }
};

}  // namespace

const Format& NvitopCsv() {
  static const NvitopFormat format;
  return format;
}

}  // namespace sawbill::ingest
