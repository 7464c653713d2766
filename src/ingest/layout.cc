// SPDX-License-Identifier: Apache-2.0
// Heading lines, and the first look at a file.
#include <algorithm>

#include "base/text.h"
#include "ingest/cells.h"
#include "ingest/infer.h"
#include "ingest/table.h"

namespace sawbill::ingest {
namespace {

/// Of several columns for one place only the best named one is read.
void DropRivals(Layout* l, Lang lang) {
  const size_t n = l->columns.size();
  for (size_t i = 0; i < n; ++i) {
    const Field a = l->columns[i].field;
    if (a.target == Target::kUnknown || a.target == Target::kIgnored) continue;
    for (size_t k = 0; k < n; ++k) {
      const Field& b = l->columns[k].field;
      if (k == i || b.target != a.target || b.slot != a.slot) continue;
      if (b.rank < a.rank || (b.rank == a.rank && k < i)) {
        l->taken[i].taken_as.clear();
        l->taken[i].how = Tr(lang, Msg::kIngestHowRival, l->taken[k].heading);
        l->columns[i].field = Field{};
        l->columns[i].field.target = Target::kIgnored;
        break;
      }
    }
  }
}

bool IsOfProcesses(const std::string& name) {
  return name == "process_name" || StartsWith(name, "used_gpu_memory") || StartsWith(name, "max_memory_usage");
}

std::string How(const Heading& h, Lang lang) {
  if (h.field.target == Target::kUnknown) return Tr(lang, Msg::kIngestHowUnknown);
  if (h.field.target == Target::kIgnored) return Tr(lang, Msg::kIngestHowIgnored);
  return Tr(lang, Msg::kIngestHowHeading);
}

}  // namespace

std::optional<Layout> LayoutOfHeader(std::string_view line, model::Scope scope, Lang lang, bool* no_time) {
  if (no_time != nullptr) *no_time = false;
  if (StartsWith(line, "\xEF\xBB\xBF")) line.remove_prefix(3);
  const std::vector<std::string_view> cells = SplitCells(line);
  if (cells.size() < 2 && no_time == nullptr) return std::nullopt;
  Layout l;
  l.header = std::string(line);
  size_t known = 0, named = 0;
  bool time = false, processes = false;
  const bool gputil = scope == model::Scope::kGpu && std::any_of(cells.begin(), cells.end(), IsOfGpuUtil);
  for (size_t i = 0; i < cells.size(); ++i) {
    Heading h = ReadHeading(cells[i], scope);
    if (gputil && h.field.target == Target::kUnknown) h.field = GpuUtilField(cells[i]).value_or(h.field);
    processes = processes || (scope == model::Scope::kGpu && IsOfProcesses(h.name));
    Column c;
    c.field = h.field;
    c.heading_unit = !h.unit.empty();
    c.heading_percent =
        cells[i].find('%') != std::string_view::npos || ToLower(cells[i]).find("percent") != std::string::npos;
    if (!h.unit.empty()) c.bare_factor = UnitFactor(h.field.quantity, h.unit).value_or(1);
    // Energy without a unit is nvidia-smi's field, which counts millijoules.
    if (h.unit.empty() && h.field.quantity == Quantity::kEnergy) c.bare_factor = 0.001;
    const bool taken = h.field.target != Target::kUnknown && h.field.target != Target::kIgnored;
    l.columns.push_back(c);
    l.taken.push_back(
        {static_cast<int>(i) + 1, h.name, taken ? h.field.taken_as : "", taken ? h.field.unit : "", How(h, lang)});
    time = time || h.field.target == Target::kTime;
    known += h.field.target != Target::kUnknown ? 1 : 0;
    named += taken ? 1 : 0;
  }
  // --query-compute-apps lists processes: its "mem_utilization" is no card's. Rows below such a heading are no samples.
  l.processes = processes && time;
  if (l.processes) return l;
  // Half of the cells must be names that we know: a sentence with a "time" in it is no heading.
  if (named == 0 || known * 2 < cells.size()) return std::nullopt;
  if (!time) {
    if (no_time != nullptr) *no_time = named >= 2 || (named == 1 && cells.size() == 1);
    return std::nullopt;
  }
  if (named < 2) return std::nullopt;
  DropRivals(&l, lang);
  return l;
}

Sniffed Sniff(std::string_view sample, model::Scope scope) {
  Sniffed s;
  std::vector<std::string_view> lines = Split(sample, '\n');
  if (lines.size() > 1) lines.pop_back();  // cut by the end of the sample, or empty
  if (lines.size() > 2000) lines.resize(2000);
  int rows = 0;
  bool first = true;
  for (std::string_view& line : lines) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (LooksLikeRow(line)) {
      ++rows;
      continue;
    }
    bool no_time = false;
    auto layout = LayoutOfHeader(line, scope, Lang::kEn, &no_time);
    s.no_time = s.no_time || (first && no_time);
    first = first && Trim(line).empty();
    if (!layout) continue;
    if (layout->processes) {
      rows = 0;  // what stands below is no sample, whatever it looks like
      break;
    }
    s.headed = true;
    s.layout = std::move(*layout);
    break;
  }
  if (!s.headed && rows > 0) {
    auto inferred = InferLayout(lines, Lang::kEn);
    s.inferred = inferred.has_value();
    if (inferred) s.layout = std::move(*inferred);
  }
  for (const Column& c : s.layout.columns) ++(c.field.target == Target::kUnknown ? s.unknown : s.known);
  return s;
}

}  // namespace sawbill::ingest
