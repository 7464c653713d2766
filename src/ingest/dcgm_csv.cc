// SPDX-License-Identifier: Apache-2.0
// Readings of DCGM that a script wrote down as CSV: one row for an entity and a time, headings as DCGM's own tools name
// its fields.
//
//   EntityId,GRACT,FBUSD,TimeStamp
//   0,0.814,5067,1661699140
//
// An EntityId does not say what it numbers. In the one public sample (A100, MIG profiles from 7g to 1g one after the
// other) it is 0 throughout, and GRACT reaches 0.97 on a seventh of the card: it is the instance's own.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/cells.h"
#include "ingest/printed_time.h"
#include "ingest/prom_formats.h"
#include "ingest/samples.h"
#include "ingest/time_cells.h"
#include "prom/series_table.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;

constexpr size_t kMostColumns = 64, kMostEntities = 1024;

struct Layout {
  int entity = -1, time = -1;
  std::vector<std::string> headings;
  std::vector<const prom::Meaning*> columns;  // null = left out
  bool sound() const {
    const auto known = [](const prom::Meaning* m) { return m != nullptr; };
    return entity >= 0 && time >= 0 && std::any_of(columns.begin(), columns.end(), known);
  }
};

Layout ParseHeadings(std::string_view line) {
  Layout out;
  if (StartsWith(line, "\xEF\xBB\xBF")) line.remove_prefix(3);
  for (const std::string_view cell : Split(line.substr(0, 2000), ',')) {
    const std::string_view heading = Trim(cell);
    const std::string lower = ToLower(heading);
    const int at = static_cast<int>(out.columns.size());
    if (lower == "entityid" || lower == "entity_id" || lower == "entity") out.entity = at;
    if (lower == "timestamp" || lower == "time") out.time = at;
    out.headings.emplace_back(heading);
    out.columns.push_back(prom::FindDcgmColumn(heading));
    if (out.columns.size() == kMostColumns) break;
  }
  return out;
}

class EntityReader {
 public:
  EntityReader(const ReadContext& context, model::Recording* out)
      : context_(context), out_(out), samples_(context, out), times_(context.tz, context.dates.order) {}

  Status Read(sys::LineReader* lines, Explanation* explanation) {
    std::string_view line;
    while (lines->Next(&line)) {
      if (line.empty() || (TakeHeadings(line) || Row(line))) continue;
      const Odd odd = lines->terminated() ? Odd::kBadRow : Odd::kTornLine;
      out_->quality.Count(odd, fmt::format("{}:{}", context_.file, lines->line_number()));
    }
    if (!lines->status().ok()) out_->quality.Count(Odd::kDamagedFile, context_.file);
    Explain(explanation);
    return samples_.Finish(explanation);
  }

 private:
  bool TakeHeadings(std::string_view line) {
    // Rows begin with a number almost always; a heading is looked for in the others.
    if (line[0] >= '0' && line[0] <= '9') return false;
    if (line.find("nti") == std::string_view::npos) return false;  // of "Entity"
    Layout layout = ParseHeadings(line);
    if (!layout.sound()) return false;
    if (layout_.sound()) out_->quality.Count(Odd::kRepeatedHeader, context_.file);
    layout_ = std::move(layout);
    return true;
  }

  /// Nothing of a row is taken before all of it is known to be sound.
  bool Row(std::string_view line) {
    if (!layout_.sound()) return false;
    // Cells are a few characters long: a plain loop beats a search for each comma.
    size_t n = 0;
    const char* from = line.data();
    const char* const end = from + line.size();
    for (const char* p = from;; ++p) {
      if (p != end && *p != ',') continue;
      cells_[n] = std::string_view(from, static_cast<size_t>(p - from));
      if (p != from && (*from <= ' ' || p[-1] <= ' ')) cells_[n] = Trim(cells_[n]);
      if (p == end || n + 1 == kMostColumns) break;
      from = p + 1;
      ++n;
    }
    if (n + 1 != layout_.columns.size()) return false;
    TimeMs t = 0;
    const std::string_view entity = cells_[static_cast<size_t>(layout_.entity)];
    if (entity.empty() || !times_.Parse(cells_[static_cast<size_t>(layout_.time)], &t)) return false;
    const int card = Card(entity);
    if (card < 0) return false;
    for (size_t i = 0; i <= n; ++i) {
      if (layout_.columns[i] != nullptr) Set(card, t, *layout_.columns[i], cells_[i]);
    }
    return true;
  }

  void Set(int card, TimeMs t, const prom::Meaning& meaning, std::string_view cell) {
    double plain = 0;
    const char* p = cell.data();
    const char* const end = p + cell.size();
    const bool decimal = TakeDecimal(&p, end, &plain) && p == end;
    const std::optional<double> v = decimal ? plain : ParseDouble(cell);
    if (!v || prom::IsDcgmBlank(*v)) {
      if (!cell.empty()) out_->quality.Count(v ? Odd::kNotSupported : Odd::kBadCell, context_.file);
      return samples_.Touch(card, t);
    }
    if (meaning.target == prom::Target::kCard)
      samples_.Set(card, t, static_cast<GpuMetric>(meaning.what), *v * meaning.factor);
  }

  int Card(std::string_view entity) {
    // Entities come in the same order sample after sample: the next is mostly the one that followed the last time.
    if (next_ >= cards_.size()) next_ = 0;
    if (next_ < cards_.size() && cards_[next_].first == entity) return cards_[next_++].second;
    for (size_t i = 0; i < cards_.size(); ++i) {
      if (cards_[i].first != entity) continue;
      next_ = i + 1;
      return cards_[i].second;
    }
    if (cards_.size() == kMostEntities) return -1;
    model::CardInfo info;
    info.gpu = StartsWith(entity, "GPU ") ? std::string(entity.substr(4)) : Sanitize(entity);
    cards_.emplace_back(entity, samples_.Card(info));
    next_ = cards_.size();
    return cards_.back().second;
  }

  void Explain(Explanation* e) {
    const Lang lang = context_.lang;
    for (size_t i = 0; i < layout_.headings.size(); ++i) {
      ColumnTaken c{static_cast<int>(i) + 1, layout_.headings[i], "", "", Tr(lang, Msg::kIngestHowHeading)};
      const prom::Meaning* m = layout_.columns[i];
      if (static_cast<int>(i) == layout_.entity) c.taken_as = "card";
      if (static_cast<int>(i) == layout_.time) c.taken_as = "timestamp";
      if (m != nullptr && m->target == prom::Target::kCard) {
        c.taken_as = model::Info(static_cast<GpuMetric>(m->what)).name;
        c.unit = model::Info(static_cast<GpuMetric>(m->what)).unit;
      }
      if (c.taken_as.empty()) c.how = Tr(lang, m == nullptr ? Msg::kIngestHowUnknown : Msg::kIngestHowIgnored);
      e->columns.push_back(std::move(c));
    }
    e->time_format = DescribeNotation(times_.seen(), context_.dates.order);
    const bool local = times_.seen().local;
    e->zone = local ? Tr(lang, Msg::kIngestZoneAssumed, context_.tz->name()) : Tr(lang, Msg::kIngestZoneInFile);
    NoteTimes(times_.seen(), context_, out_);
    e->cards = Tr(lang, Msg::kIngestCardsColumn, "EntityId", cards_.size());
    out_->notes.push_back(Tr(lang, Msg::kIngestPromNoteEntity));
  }

  const ReadContext& context_;
  model::Recording* const out_;
  Samples samples_;
  TimeCells times_;
  Layout layout_;
  std::array<std::string_view, kMostColumns> cells_;
  std::vector<std::pair<std::string, int>> cards_;
  size_t next_ = 0;
};

class DcgmEntityFormat : public Format {
 public:
  std::string_view name() const override { return "dcgm entity csv"; }
  double Certainty(std::string_view sample) const override {
    size_t lines = 0;
    for (std::string_view rest = sample; !rest.empty() && lines < 50; ++lines) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      if (ParseHeadings(rest.substr(0, end)).sound()) return 0.97;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return 0;
  }
  Status Read(sys::LineReader* lines, const ReadContext& context, model::Recording* out,
              Explanation* explanation) const override {
    EntityReader reader(context, out);
    return reader.Read(lines, explanation);
  }
};

}  // namespace

const Format& DcgmEntityCsv() {
  static const DcgmEntityFormat format;
  return format;
}

}  // namespace sawbill::ingest
