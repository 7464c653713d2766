// SPDX-License-Identifier: Apache-2.0
//
// How a table is read
// -------------------
// A row is parsed straight into the next free slot of every column and becomes a row only when all its cells were taken
// and it ended where its layout ends; so a torn or merged row can never shift a value into a neighbour's column. A line
// that does not fit goes the slow way (OddLine), which finds out what it is:
//   NUL bytes       a hole that a second writer left: what stands before and after are two lines of their own
//   an open quote   a cell that holds a line break: lines are joined until it closes
//   a heading line  the columns are mapped anew from here on
//   another count   a row of an earlier layout (two writers), one with blank cells at its end, or a torn one: left out
//   anything else   text between the rows (the nvidia-smi table, "No devices were found"): left out
#include "ingest/table.h"

#include <algorithm>
#include <cstring>
#include <deque>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/big_memory.h"
#include "ingest/cells.h"
#include "ingest/infer.h"
#include "ingest/time_cells.h"

namespace sawbill::ingest {
namespace {
using model::Odd;

constexpr size_t kFirstCapacity = 4096;
constexpr size_t kMaxJoinedLines = 16;
constexpr size_t kMaxLayouts = 256;

/// Units are a few characters: comparing them here is cheaper than a call.
inline bool SameUnit(const char* p, const Column& c) {
  for (size_t i = 0; i < c.unit_size; ++i) {
    if (p[i] != c.unit[i]) return false;
  }
  return c.unit_size > 0;
}

class TableReader {
 public:
  TableReader(const ReadContext& context, model::Scope scope, bool own, Table* table, model::DataQuality* quality)
      : context_(context),
        scope_(scope),
        empty_is_odd_(own ? 0 : 1),
        table_(table),
        quality_(quality),
        times_(context.tz) {}

  Status Read(sys::LineReader* lines);

 private:
  void FindLayout();
  bool NextLine(std::string_view* line);
  void Line(std::string_view line);
  void OddLine(std::string_view line);
  void NulLine(std::string_view line);
  void OtherCount(std::string_view line, size_t cells);
  bool JoinQuoted(std::string_view line);
  bool Header(std::string_view line);
  void Use(size_t layout);

  bool Row(size_t layout, const char* p, const char* end);
  bool Cell(Column* c, const char** p, const char* end);
  bool NumberCell(Column* c, const char** p, const char* end, double* v);
  double OddNumber(Column* c, std::string_view cell);
  bool ThrottleCell(const Column& c, const char** p, const char* end);
  void Cut(double* v) {
    *v = kMissing;
    cut_value_ = true;
  }
  void Grow();
  void ClearRow();

  void Count(Odd o, int64_t n = 1) {
    if (quality_->count(o) == 0) {
      quality_->Count(o, context_.file + ":" + std::to_string(line_number_), n);
    } else {
      quality_->Count(o, {}, n);
    }
  }
  void Drop(Odd o) {
    Count(o);
    ++table_->dropped_rows;
  }

  const ReadContext& context_;
  const model::Scope scope_;
  const int empty_is_odd_;
  Table* const table_;
  model::DataQuality* const quality_;
  TimeCells times_;
  std::deque<std::string> ahead_;  // lines read before the layout was known
  sys::LineReader* lines_ = nullptr;
  size_t layout_ = SIZE_MAX;  // in use
  size_t capacity_ = 0;
  size_t bytes_ = 0;  // read so far
  int64_t line_number_ = 0;
  bool terminated_ = true;
  bool cut_ = false;        // the row being read ends where the file does, perhaps inside its last cell
  bool cut_value_ = false;  // and that cell was left empty for it
  std::string current_;     // the line taken from `ahead_`
  // Of the row being read; counted when it is committed.
  int not_supported_ = 0, error_ = 0, bad_ = 0;
  unsigned throttle_flags_ = 0;
  bool throttle_seen_ = false;
};

Status TableReader::Read(sys::LineReader* lines) {
  lines_ = lines;
  FindLayout();
  std::string_view line;
  while (NextLine(&line)) Line(line);
  if (!lines->status().ok()) {
    quality_->Count(Odd::kDamagedFile,
                    context_.file + ":" + std::to_string(line_number_) + ": " + lines->status().message());
  }
  table_->notations = times_.seen();
  const auto cut = [n = table_->rows](auto& column) {
    if (!column.empty()) column.resize(n);
  };
  cut(table_->t_ms);
  for (auto& c : table_->numbers) cut(c);
  for (auto& c : table_->doubles) cut(c);
  for (auto& c : table_->texts) cut(c.ids);
  return Status::Ok();
}

inline bool TableReader::NextLine(std::string_view* line) {
  if (ahead_.empty()) {
    if (!lines_->Next(line)) return false;
    line_number_ = lines_->line_number();
    bytes_ += line->size() + 1;
  } else {
    current_ = std::move(ahead_.front());
    ahead_.pop_front();
    *line = current_;
    ++line_number_;
  }
  terminated_ = !ahead_.empty() || lines_->terminated();
  return true;
}

/// Reads ahead until a heading line, or enough rows to infer the columns of a file without one.
void TableReader::FindLayout() {
  std::string_view line;
  size_t bytes = 0;
  int timed = 0;
  while (ahead_.size() < 2000 && bytes < (size_t{4} << 20) && timed < 500 && lines_->Next(&line)) {
    ahead_.emplace_back(line);
    bytes_ += line.size() + 1;
    bytes += line.size();
    if (LooksLikeRow(line)) {
      ++timed;
    } else if (const auto found = LayoutOfHeader(line, scope_, context_.lang); found) {
      // Line() maps it when it comes to it. Rows above it are read by the layout that they themselves give, if any.
      if (timed < 3) return;
      break;
    }
  }
  auto inferred = InferLayout({ahead_.begin(), ahead_.end()}, context_.lang);
  if (!inferred) return;
  for (const Column& c : inferred->columns) {
    if (c.field.target == Target::kUnknown) quality_->Count(Odd::kUnknownColumn, context_.file + ":1");
  }
  table_->layouts.push_back(std::move(*inferred));
  Use(0);
}

void TableReader::Use(size_t layout) {
  if (layout == layout_) return;
  layout_ = layout;
  const size_t n = std::max(capacity_, kFirstCapacity);
  for (const Column& c : table_->layouts[layout].columns) {
    const auto slot = static_cast<size_t>(c.field.slot);
    const auto need = [n](auto& column, auto missing) {
      if (column.empty()) column.resize(n, missing);
    };
    if (c.field.target == Target::kNumber) need(table_->numbers[slot], static_cast<float>(kMissing));
    if (c.field.target == Target::kDouble) need(table_->doubles[slot], kMissing);
    if (c.field.target == Target::kText) need(table_->texts[slot].ids, 0U);
    if (c.field.target >= Target::kThrottleMask) {
      need(table_->numbers[static_cast<size_t>(Slot(model::GpuMetric::kThrottle))], static_cast<float>(kMissing));
    }
  }
  if (capacity_ == 0) {
    capacity_ = n;
    table_->t_ms.resize(n);
  }
  table_->segments.push_back({table_->rows, layout});
}

void TableReader::Grow() {
  capacity_ *= 2;
  // Once a few thousand rows are there, their length tells how many the file holds.
  const size_t consumed = bytes_;
  if (context_.text_bytes > consumed && consumed > 0) {
    const double rows =
        static_cast<double>(table_->rows) * static_cast<double>(context_.text_bytes) / static_cast<double>(consumed);
    capacity_ = std::max(capacity_, static_cast<size_t>(rows * 1.03) + 1);
  }
  GrowTo(&table_->t_ms, capacity_, TimeMs{0});
  for (auto& c : table_->numbers) {
    if (!c.empty()) GrowTo(&c, capacity_, static_cast<float>(kMissing));
  }
  for (auto& c : table_->doubles) {
    if (!c.empty()) GrowTo(&c, capacity_, kMissing);
  }
  for (auto& c : table_->texts) {
    if (!c.ids.empty()) GrowTo(&c.ids, capacity_, 0U);
  }
}

void TableReader::ClearRow() {
  const size_t n = table_->rows;
  for (auto& c : table_->numbers) {
    if (!c.empty()) c[n] = static_cast<float>(kMissing);
  }
  for (auto& c : table_->doubles) {
    if (!c.empty()) c[n] = kMissing;
  }
  for (auto& c : table_->texts) {
    if (!c.ids.empty()) c.ids[n] = 0;
  }
}

void TableReader::Line(std::string_view line) {
  if (layout_ != SIZE_MAX && terminated_ && Row(layout_, line.data(), line.data() + line.size())) return;
  if (!Trim(line).empty()) OddLine(line);
}

/// One row into the next free slot; true when it fitted its layout to the last character.
bool TableReader::Row(size_t layout, const char* p, const char* const end) {
  Layout& l = table_->layouts[layout];
  not_supported_ = error_ = bad_ = 0;
  throttle_flags_ = 0;
  throttle_seen_ = false;
  const size_t count = l.columns.size();
  bool ok = p < end;
  for (size_t i = 0; ok && i < count; ++i) {
    ok = Cell(&l.columns[i], &p, end);
    if (!ok) break;
    const bool last = i + 1 == count;
    ok = last ? p == end : p < end && *p == ',';
    if (ok && !last) ++p;
  }
  if (!ok) {
    ClearRow();
    return false;
  }
  if (not_supported_ > 0) Count(Odd::kNotSupported, not_supported_);
  if (error_ > 0) Count(Odd::kErrorCell, error_);
  if (bad_ > 0) Count(Odd::kBadCell, bad_);
  if (throttle_seen_) {
    float* mask = &table_->numbers[static_cast<size_t>(Slot(model::GpuMetric::kThrottle))][table_->rows];
    if (IsMissing(*mask)) *mask = static_cast<float>(throttle_flags_);
  }
  if (times_.last() == kLocalNotation) ++table_->zoneless_rows;
  if (++table_->rows == capacity_) Grow();
  return true;
}

inline bool TableReader::Cell(Column* c, const char** p, const char* end) {
  const size_t n = table_->rows;
  double v = kMissing;
  switch (c->field.target) {
    case Target::kTime:
      return times_.Take(p, end, &table_->t_ms[n]) && !(cut_ && *p == end);
    case Target::kNumber:
      if (!NumberCell(c, p, end, &v)) return false;
      table_->numbers[static_cast<size_t>(c->field.slot)][n] = static_cast<float>(v);
      return true;
    case Target::kDouble:
      if (!NumberCell(c, p, end, &v)) return false;
      table_->doubles[static_cast<size_t>(c->field.slot)][n] = v;
      return true;
    case Target::kThrottleMask:
    case Target::kThrottleNames:
    case Target::kThrottleFlag:
      return ThrottleCell(*c, p, end);
    case Target::kText: {
      const char* stop = CellEnd(*p, end);
      if (stop == nullptr) return false;
      if (cut_ && stop == end) return false;  // half a uuid would be a card of its own
      const char* from = *p;
      const char* to = stop;
      while (from < to && *from == ' ') ++from;
      while (from < to && to[-1] == ' ') --to;
      std::string_view cell(from, static_cast<size_t>(to - from));
      if (!cell.empty() && (cell.front() == '"' || cell.back() == '\t')) cell = Unquote(cell);
      TextColumn& column = table_->texts[static_cast<size_t>(c->field.slot)];
      const uint32_t id = column.Intern(cell);
      if (id == TextColumn::kBroken) return false;
      column.ids[n] = id;
      *p = stop;
      return true;
    }
    case Target::kUnknown:
    case Target::kIgnored:
      break;
  }
  const char* stop = CellEnd(*p, end);
  if (stop == nullptr) return false;
  *p = stop;
  return true;
}

inline bool TableReader::NumberCell(Column* c, const char** p, const char* end, double* v) {
  const char* q = *p;
  while (q < end && *q == ' ') ++q;
  if (q == end || *q == ',') {
    not_supported_ += empty_is_odd_;
    *v = kMissing;
    *p = q;
    return true;
  }
  if (TakeDecimal(&q, end, v)) {
    while (q < end && *q == ' ') ++q;
    if (q == end || *q == ',') {
      *v *= c->bare_factor;
      c->saw_bare = true;
      *p = q;
      if (q == end && cut_) Cut(v);
      return true;
    }
    const size_t left = static_cast<size_t>(end - q);
    if (left >= c->unit_size && SameUnit(q, *c) && (left == c->unit_size || q[c->unit_size] == ',')) {
      *v *= c->unit_factor;
      *p = q + c->unit_size;
      return true;
    }
  }
  if (end - q > 5 && std::memcmp(q, "[N/A],", 6) == 0) {
    ++not_supported_;
    *v = kMissing;
    *p = q + 5;
    return true;
  }
  const char* stop = CellEnd(*p, end);
  if (stop == nullptr) return false;
  const std::string_view cell = Unquote(std::string_view(*p, static_cast<size_t>(stop - *p)));
  if (cell.find('\0') != std::string_view::npos) return false;
  *v = OddNumber(c, cell);
  if (stop == end && cut_) Cut(v);
  *p = stop;
  return true;
}

/// A cell that is no bare decimal: a marker, a unit not seen before, an exponent, or nothing readable.
double TableReader::OddNumber(Column* c, std::string_view cell) {
  switch (MarkerOf(cell)) {
    case Marker::kEmpty:
      not_supported_ += empty_is_odd_;
      return kMissing;
    case Marker::kNotAvailable:
      ++not_supported_;
      return kMissing;
    case Marker::kError:
      ++error_;
      return kMissing;
    case Marker::kNone:
      break;
  }
  std::string_view rest;
  const auto v = ParseDoublePrefix(cell, &rest);
  rest = Trim(rest);
  if (v && rest.empty()) {
    c->saw_bare = true;
    return *v * c->bare_factor;
  }
  const auto factor = v ? UnitFactor(c->field.quantity, rest) : std::nullopt;
  if (!factor || c->field.quantity == Quantity::kPlain) {
    ++bad_;
    return kMissing;
  }
  c->saw_unit = true;
  if (rest.size() <= sizeof(c->unit)) {
    std::memcpy(c->unit, rest.data(), rest.size());
    c->unit_size = rest.size();
    c->unit_factor = *factor;
  }
  return *v * *factor;
}

bool TableReader::ThrottleCell(const Column& c, const char** p, const char* end) {
  const char* stop = CellEnd(*p, end);
  if (stop == nullptr) return false;
  const std::string_view cell = Unquote(std::string_view(*p, static_cast<size_t>(stop - *p)));
  *p = stop;
  if (cut_ && stop == end) return cut_value_ = true;
  if (c.field.target == Target::kThrottleNames && cell == "none") {
    table_->numbers[static_cast<size_t>(Slot(model::GpuMetric::kThrottle))][table_->rows] = 0;
    return true;
  }
  const Marker marker = MarkerOf(cell);
  if (c.field.target != Target::kThrottleNames || !cell.empty()) {
    if (marker == Marker::kNotAvailable) return ++not_supported_, true;
    if (marker == Marker::kError) return ++error_, true;
  }
  if (cell.empty()) return true;
  float* mask = &table_->numbers[static_cast<size_t>(Slot(model::GpuMetric::kThrottle))][table_->rows];
  if (c.field.target == Target::kThrottleNames) {
    const auto names = model::ParseThrottle(cell);
    if (names) *mask = static_cast<float>(*names);
    if (!names) ++bad_;
  } else if (c.field.target == Target::kThrottleFlag) {
    const bool active = cell == "Active";
    if (!active && cell != "Not Active") return ++bad_, true;
    throttle_seen_ = true;
    if (active) throttle_flags_ |= model::Mask(static_cast<model::ThrottleBit>(c.field.slot));
  } else {
    const auto reasons = ReasonsFromHex(cell);
    if (reasons) *mask = static_cast<float>(*reasons);
    if (!reasons) ++bad_;
  }
  return true;
}

bool TableReader::Header(std::string_view line) {
  auto layout = LayoutOfHeader(line, scope_, context_.lang);
  if (!layout) return false;
  if (layout->processes) {
    layout_ = SIZE_MAX;  // until the next heading
    Count(Odd::kForeignText);
    return true;
  }
  for (size_t i = 0; i < table_->layouts.size(); ++i) {
    if (table_->layouts[i].header != layout->header) continue;
    Count(Odd::kRepeatedHeader);
    Use(i);
    return true;
  }
  if (table_->layouts.size() >= kMaxLayouts) return Drop(Odd::kBadRow), true;
  if (!table_->layouts.empty()) Count(Odd::kRepeatedHeader);
  for (const Column& c : layout->columns) {
    if (c.field.target == Target::kUnknown) Count(Odd::kUnknownColumn);
  }
  table_->layouts.push_back(std::move(*layout));
  Use(table_->layouts.size() - 1);
  return true;
}

void TableReader::OddLine(std::string_view line) {
  if (StartsWith(line, "\xEF\xBB\xBF")) return Line(line.substr(3));
  if (line.find('\0') != std::string_view::npos) return NulLine(line);
  const bool row = LooksLikeRow(line);
  if (!row && Header(line)) return;
  if (layout_ == SIZE_MAX) return Count(Odd::kForeignText);
  const std::vector<std::string_view> cells = SplitCells(line);
  if (cells.empty()) {
    if (!JoinQuoted(line)) Drop(terminated_ ? Odd::kBadRow : Odd::kTornLine);
    return;
  }
  const size_t expected = table_->layouts[layout_].columns.size();
  if (cells.size() == expected && expected > 1) {
    // The right number of cells, yet not taken: the last row, which may be cut in its last cell, or one with a bad
    // time.
    cut_ = !terminated_;
    cut_value_ = false;
    const bool taken = cut_ && Row(layout_, line.data(), line.data() + line.size());
    cut_ = false;
    if (!taken) return Drop(terminated_ ? Odd::kBadRow : Odd::kTornLine);
    if (cut_value_) Count(Odd::kTornLine);
    return;
  }
  if (!row) return !terminated_ && cells.size() > 1 ? Drop(Odd::kTornLine) : Count(Odd::kForeignText);
  OtherCount(line, cells.size());
}

/// A row with another number of cells than headings. It is never squeezed in: what is missing could be any of them.
void TableReader::OtherCount(std::string_view line, size_t cells) {
  const size_t expected = table_->layouts[layout_].columns.size();
  for (size_t i = 0; terminated_ && i < table_->layouts.size(); ++i) {
    if (table_->layouts[i].columns.size() != cells || !Row(i, line.data(), line.data() + line.size())) continue;
    layout_ = i;
    table_->segments.push_back({table_->rows - 1, i});
    ++table_->other_layout_rows;
    return;
  }
  std::string_view shorter = line;
  for (size_t extra = cells; extra > expected; --extra) {
    shorter = Trim(shorter);
    if (shorter.back() != ',') break;  // not blank: a row of more readings than headings
    shorter.remove_suffix(1);
    if (extra == expected + 1 && terminated_ && Row(layout_, shorter.data(), shorter.data() + shorter.size())) return;
  }
  if (!terminated_) return Drop(Odd::kTornLine);
  Drop(cells > expected ? Odd::kExtraCells : Odd::kMissingCells);
}

/// A run of NULs is a hole: a writer went on at its old place after the file had been cut. Both sides are lines.
void TableReader::NulLine(std::string_view line) {
  Count(Odd::kNulBytes, std::count(line.begin(), line.end(), '\0'));
  const bool terminated = terminated_;
  const std::string all(line);  // a row with an open quote reads on, which ends the life of `line`
  std::string_view rest = all;
  while (!rest.empty()) {
    const size_t nul = std::min(rest.find('\0'), rest.size());
    const std::string_view part = rest.substr(0, nul);
    rest.remove_prefix(std::min(rest.find_first_not_of('\0', nul), rest.size()));
    terminated_ = rest.empty() ? terminated : false;
    if (!Trim(part).empty()) Line(part);
  }
  terminated_ = terminated;
}

/// Joins lines while a quoted cell stays open. When it never closes, the lines behind are read as what they are.
bool TableReader::JoinQuoted(std::string_view line) {
  std::string joined(line);
  std::deque<std::string> taken;
  const int64_t from = line_number_;
  std::string_view next;
  while (taken.size() < kMaxJoinedLines && NextLine(&next)) {
    taken.emplace_back(next);
    joined.append(" ").append(next);
    if (SplitCells(joined).empty()) continue;
    if (terminated_ && Row(layout_, joined.data(), joined.data() + joined.size())) return true;
    break;
  }
  line_number_ = from;
  if (!taken.empty()) terminated_ = true;
  ahead_.insert(ahead_.begin(), std::make_move_iterator(taken.begin()), std::make_move_iterator(taken.end()));
  return false;
}

}  // namespace

Status ReadTable(sys::LineReader* lines, const ReadContext& context, model::Scope scope, bool own, Table* table,
                 model::DataQuality* quality) {
  return TableReader(context, scope, own, table, quality).Read(lines);
}

}  // namespace sawbill::ingest
