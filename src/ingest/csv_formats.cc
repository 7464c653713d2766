// SPDX-License-Identifier: Apache-2.0
#include "ingest/csv_formats.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ingest/assemble.h"
#include "ingest/cells.h"
#include "ingest/table.h"

namespace sawbill::ingest {
namespace {
using model::Recording;
using model::Scope;

bool IsGpuDay(std::string_view sample) {
  return StartsWith(FirstLine(sample), "timestamp,gpu,sm_util,mem_util,mem_used_mb,");
}
bool IsHostDay(std::string_view sample) { return StartsWith(FirstLine(sample), "timestamp,cpu_count,"); }
bool IsProcessDay(std::string_view sample) { return StartsWith(FirstLine(sample), "timestamp,gpu,pid,"); }

/// Does the layout carry nvidia-smi's own field names ("utilization.gpu [%]"), or units in cells?
bool IsNvidiaSmi(const Sniffed& s) {
  if (s.inferred) return true;
  for (const ColumnTaken& c : s.layout.taken) {
    if (c.heading.find('.') != std::string::npos || c.heading.find('[') != std::string::npos) return true;
  }
  return false;
}

/// "timestamp,cpu_util,mem_used_mb": memory beside a processor, and nothing that only a card has.
bool OfAHost(const Sniffed& s) {
  bool cpu = false, card = false;
  for (size_t i = 0; i < s.layout.columns.size(); ++i) {
    const std::string heading = ToLower(s.layout.taken[i].heading);
    cpu = cpu || StartsWith(heading, "cpu") || StartsWith(heading, "ram");
    const Field& f = s.layout.columns[i].field;
    const bool memory = f.target == Target::kNumber && (f.slot == Slot(model::GpuMetric::kMemUsedMb) ||
                                                        f.slot == kMemoryTotalSlot || f.slot == kMemoryFreeSlot);
    card = card || (f.target == Target::kNumber && !memory) || f.target == Target::kText;
  }
  return cpu && !card;
}

/// What stood in the file that made it unusable, for the refusal.
Status NothingRead(const Table& table, const ReadContext& context, const model::DataQuality& quality) {
  if (const double step_s = CoarseEpochStepS(table.unread_time); step_s > 0) {
    return Status::Unsupported(
        Tr(context.lang, Msg::kIngestTimeDigits, context.file, table.unread_time_column, table.unread_time, step_s));
  }
  if (!table.unread_time.empty()) {
    const bool order_untold = ReadTimeWords(table.unread_time, DateOrder::kEither).has_value();
    return Status::Unsupported(Tr(context.lang, order_untold ? Msg::kIngestDateOrderUntold : Msg::kIngestTimeUnread,
                                  context.file, table.unread_time_column, table.unread_time));
  }
  std::string seen;
  for (size_t i = 0; i < model::kOdds; ++i) {
    const auto o = static_cast<model::Odd>(i);
    if (quality.count(o) == 0) continue;
    if (!seen.empty()) seen += ", ";
    seen += fmt::format("{} × {}", quality.count(o), context.lang == Lang::kZh ? model::Info(o).zh : model::Info(o).en);
  }
  if (!seen.empty()) seen = Tr(context.lang, Msg::kIngestSeen, seen);
  const Msg what = table.layouts.empty() ? Msg::kIngestNoHeadings : Msg::kIngestNoRows;
  return Status::Unsupported(Tr(context.lang, what, context.file, seen));
}

bool HasReading(const Table& table) {
  for (size_t m = 0; m < model::kGpuMetrics; ++m) {
    if (!table.numbers[m].empty()) return true;
  }
  return !table.doubles[kEnergySlot].empty();
}

bool AnyReading(const Table& table) {
  const auto any = [](const auto& column) {
    return std::any_of(column.begin(), column.end(), [](auto v) { return !std::isnan(v); });
  };
  for (size_t m = 0; m < model::kGpuMetrics; ++m) {
    if (any(table.numbers[m])) return true;
  }
  return any(table.doubles[kEnergySlot]);
}

/// What commas inside quotes were taken for: "" where there are none.
std::string CommasSaid(const Table& table, Lang lang) {
  const CommaCells& commas = table.commas;
  if (commas.cells().empty()) return "";
  const CommaMeaning meaning = commas.Meaning();
  if (meaning == CommaMeaning::kUntold && commas.first_either().empty()) return "";
  const auto heading = [&](const CommaCells::Cell& c) -> const ColumnTaken& {
    return table.layouts[c.layout].taken[c.column];
  };
  if (meaning != CommaMeaning::kUntold) {
    const ColumnTaken& column = heading(commas.cells().front());
    return Tr(lang, meaning == CommaMeaning::kDecimal ? Msg::kIngestNoteDecimalComma : Msg::kIngestNoteThousands,
              commas.first(), column.column, column.heading);
  }
  const auto either =
      std::find_if(commas.cells().begin(), commas.cells().end(), [](const CommaCells::Cell& c) { return c.either(); });
  const ColumnTaken& column = heading(*either);
  return Tr(lang, Msg::kIngestNoteCommaUntold, commas.first_either(), column.column, column.heading,
            FormatShortest(either->value.decimal), FormatShortest(either->value.grouped));
}

void NoteInference(const Table& table, const ReadContext& context, Recording* out) {
  if (table.layouts.empty() || !table.layouts[0].header.empty()) return;
  std::string taken, left;
  for (const ColumnTaken& c : table.layouts[0].taken) {
    std::string& to = c.taken_as.empty() ? left : taken;
    if (!to.empty()) to += ", ";
    to += std::to_string(c.column);
    if (!c.taken_as.empty()) to += " = " + c.taken_as;
  }
  out->notes.push_back(Tr(context.lang, Msg::kIngestNoteInferred, taken));
  if (!left.empty()) out->notes.push_back(Tr(context.lang, Msg::kIngestNoteLeftOut, left));
}

void NotePower(const Table& table, const ReadContext& context, Recording* out) {
  for (const Layout& l : table.layouts) {
    for (size_t i = 0; i < l.columns.size(); ++i) {
      const Field& f = l.columns[i].field;
      if (f.target != Target::kNumber || f.slot != Slot(model::GpuMetric::kPowerW) || f.rank < 2) continue;
      out->notes.push_back(Tr(context.lang, Msg::kIngestNotePower, l.taken[i].heading));
      return;
    }
  }
}

/// Of columns under one heading the first was read; which they are, since they may well be several cards.
void NoteTwice(const Layout& l, const ReadContext& context, Recording* out) {
  for (size_t i = 0; i < l.columns.size(); ++i) {
    const Target target = l.columns[i].field.target;
    if (target == Target::kUnknown || target == Target::kIgnored || target == Target::kTime) continue;
    std::string columns;
    size_t count = 0;
    for (const ColumnTaken& c : l.taken) {
      if (c.heading != l.taken[i].heading) continue;
      columns += (count++ > 0 ? ", " : "") + std::to_string(c.column);
    }
    if (count < 2) continue;
    out->notes.push_back(
        Tr(context.lang, Msg::kIngestNoteTwice, l.taken[i].heading, count, columns, l.taken[i].column));
  }
}

Status ReadCards(sys::LineReader* lines, const ReadContext& context, bool own, Recording* out,
                 Explanation* explanation) {
  Table table;
  SAWBILL_RETURN_IF_ERROR(ReadTable(lines, context, Scope::kGpu, own, &table, &out->quality));
  ExplainTable(table, context, explanation);
  if (table.rows == 0) return NothingRead(table, context, out->quality);
  // A document that explains field names has a heading line for each; a log keeps its own.
  constexpr size_t kManyLayouts = 8, kFewRows = 50;
  if (table.layouts.size() > kManyLayouts && table.rows < kFewRows * table.layouts.size()) {
    return Status::Unsupported(Tr(context.lang, Msg::kIngestManyHeadings, context.file, table.layouts.size()));
  }
  if (!HasReading(table)) {
    return Status::Unsupported(Tr(context.lang, Msg::kIngestNoReading, context.file));
  }
  const std::string commas = CommasSaid(table, context.lang);
  if (table.bad_cells > 0 && !AnyReading(table)) {
    std::string message = Tr(context.lang, Msg::kIngestNoCellReadable, context.file, table.bad_cells, table.first_bad);
    if (!commas.empty()) message += (context.lang == Lang::kZh ? "" : " ") + commas;
    return Status::Unsupported(message);
  }
  if (!commas.empty()) out->notes.push_back(commas);
  NoteInference(table, context, out);
  NotePower(table, context, out);
  for (const Layout& l : table.layouts) {
    if (!l.header.empty()) NoteTwice(l, context, out);
  }
  return AssembleCards(&table, context, own, out, explanation);
}

class NvidiaSmiFormat : public Format {
 public:
  std::string_view name() const override { return "nvidia-smi csv"; }
  double Certainty(std::string_view sample) const override {
    const Sniffed s = Sniff(sample, Scope::kGpu);
    if ((!s.headed && !s.inferred) || !IsNvidiaSmi(s)) return 0;
    const double known = static_cast<double>(s.known) / std::max(1, s.known + s.unknown);
    return s.headed ? 0.6 + 0.35 * known : 0.5 + 0.3 * known;
  }
  Status Read(sys::LineReader* lines, const ReadContext& context, Recording* out, Explanation* e) const override {
    return ReadCards(lines, context, false, out, e);
  }
};

class ScriptLogFormat : public Format {
 public:
  std::string_view name() const override { return "script log csv"; }
  double Certainty(std::string_view sample) const override {
    const Sniffed s = Sniff(sample, Scope::kGpu);
    if (!s.headed || IsNvidiaSmi(s) || OfAHost(s)) return 0;
    return 0.5 + 0.4 * static_cast<double>(s.known) / std::max(1, s.known + s.unknown);
  }
  Status Read(sys::LineReader* lines, const ReadContext& context, Recording* out, Explanation* e) const override {
    return ReadCards(lines, context, false, out, e);
  }
};

class GpuDayFormat : public Format {
 public:
  std::string_view name() const override { return "sawbill gpu day file"; }
  double Certainty(std::string_view sample) const override { return IsGpuDay(sample) ? 1 : 0; }
  Status Read(sys::LineReader* lines, const ReadContext& context, Recording* out, Explanation* e) const override {
    return ReadCards(lines, context, true, out, e);
  }
};

class HostDayFormat : public Format {
 public:
  std::string_view name() const override { return "sawbill host day file"; }
  double Certainty(std::string_view sample) const override { return IsHostDay(sample) ? 1 : 0; }
  Status Read(sys::LineReader* lines, const ReadContext& context, Recording* out, Explanation* e) const override {
    Table table;
    SAWBILL_RETURN_IF_ERROR(ReadTable(lines, context, Scope::kHost, true, &table, &out->quality));
    ExplainTable(table, context, e);
    if (table.rows == 0) return NothingRead(table, context, out->quality);
    return AssembleHost(&table, context, out);
  }
};

class ProcessDayFormat : public Format {
 public:
  std::string_view name() const override { return "sawbill process day file"; }
  double Certainty(std::string_view sample) const override { return IsProcessDay(sample) ? 1 : 0; }
  Status Read(sys::LineReader* lines, const ReadContext& context, Recording* out, Explanation* e) const override {
    Table table;
    SAWBILL_RETURN_IF_ERROR(ReadTable(lines, context, Scope::kProcess, true, &table, &out->quality));
    ExplainTable(table, context, e);
    if (table.rows == 0) return NothingRead(table, context, out->quality);
    return AssembleProcesses(&table, context, out);
  }
};

}  // namespace

const Format& NvidiaSmiCsv() {
  static const NvidiaSmiFormat format;
  return format;
}
const Format& ScriptLog() {
  static const ScriptLogFormat format;
  return format;
}
const Format& GpuDayFile() {
  static const GpuDayFormat format;
  return format;
}
const Format& HostDayFile() {
  static const HostDayFormat format;
  return format;
}
const Format& ProcessDayFile() {
  static const ProcessDayFormat format;
  return format;
}

}  // namespace sawbill::ingest
