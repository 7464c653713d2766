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
#include <deque>

#include "base/text.h"
#include "ingest/cells.h"
#include "ingest/infer.h"
#include "ingest/row_reader.h"
#include "ingest/time_cells.h"

namespace sawbill::ingest {
namespace {
using model::Odd;

constexpr size_t kMaxJoinedLines = 16;
constexpr size_t kMaxLayouts = 256;

class TableReader {
 public:
  TableReader(const ReadContext& context, model::Scope scope, bool own, Table* table, model::DataQuality* quality)
      : context_(context), scope_(scope), table_(table), quality_(quality), rows_(context, own, table) {}

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
  bool Row(size_t layout, std::string_view line);
  void CountOddCells();
  void BadCells(const RowReader::OddCells& odd);
  void CommasUntold();
  void KeepUnreadTime();

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
  Table* const table_;
  model::DataQuality* const quality_;
  RowReader rows_;
  sys::LineReader* lines_ = nullptr;
  std::deque<std::string> ahead_;        // lines read before the layout was known, or given back
  std::vector<std::string_view> cells_;  // of an odd line
  std::string current_;                  // the line taken from `ahead_`
  size_t layout_ = SIZE_MAX;             // in use; SIZE_MAX = none
  size_t bytes_ = 0;                     // read so far
  int64_t line_number_ = 0;
  bool terminated_ = true;  // the current line has its line end
};

Status TableReader::Read(sys::LineReader* lines) {
  lines_ = lines;
  FindLayout();
  std::string_view line;
  while (NextLine(&line)) Line(line);
  if (!lines->status().ok()) {
    const std::string& why = lines->status().message();
    const bool cut = why.find("ends early") != std::string::npos;
    quality_->Count(Odd::kDamagedFile, context_.file + ":" + std::to_string(line_number_) + ": " +
                                           (cut ? Tr(context_.lang, Msg::kIngestCutOff) : why));
  }
  rows_.Finish();
  CommasUntold();
  return Status::Ok();
}

inline bool TableReader::NextLine(std::string_view* line) {
  if (ahead_.empty()) {
    if (!lines_->Next(line)) return false;
    line_number_ = lines_->line_number();
    bytes_ += line->size() + 1;
    rows_.set_bytes_read(bytes_);
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
  rows_.Prepare(layout);
  table_->segments.push_back({table_->rows, layout});
}

inline bool TableReader::Row(size_t layout, std::string_view line) {
  if (!rows_.Read(layout, line)) return false;
  CountOddCells();
  return true;
}

inline void TableReader::CountOddCells() {
  const RowReader::OddCells& odd = rows_.odd_cells();
  if (odd.not_supported > 0) Count(Odd::kNotSupported, odd.not_supported);
  if (odd.error > 0) Count(Odd::kErrorCell, odd.error);
  if (odd.bad > 0) BadCells(odd);
}

void TableReader::BadCells(const RowReader::OddCells& odd) {
  table_->bad_cells += odd.bad;
  if (quality_->count(Odd::kBadCell) > 0) return quality_->Count(Odd::kBadCell, {}, odd.bad);
  const ColumnTaken& column = table_->layouts[odd.layout].taken[odd.bad_column];
  table_->first_bad = Tr(context_.lang, Msg::kIngestDetailCell, fmt::format("{}:{}", context_.file, line_number_),
                         column.column, column.heading, Ellipsize(Sanitize(odd.bad_cell), 48));
  quality_->Count(Odd::kBadCell, table_->first_bad, odd.bad);
}

/// Cells that can be forty or forty thousand, and that nothing in the file decides.
void TableReader::CommasUntold() {
  const CommaCells& commas = table_->commas;
  if (commas.Meaning() != CommaMeaning::kUntold) return;
  for (const CommaCells::Cell& cell : commas.cells()) {
    if (!cell.either()) continue;
    if (table_->bad_cells++ == 0) {
      const ColumnTaken& column = table_->layouts[cell.layout].taken[cell.column];
      table_->first_bad = Tr(context_.lang, Msg::kIngestDetailCell, context_.file, column.column, column.heading,
                             commas.first_either());
    }
    quality_->Count(Odd::kBadCell, table_->first_bad);
  }
}

void TableReader::Line(std::string_view line) {
  if (layout_ != SIZE_MAX && terminated_ && Row(layout_, line)) return;
  if (!Trim(line).empty()) OddLine(line);
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
  SplitCells(line, &cells_);
  if (!row && std::any_of(cells_.begin(), cells_.end(), MayNameTime) && Header(line)) return;
  if (layout_ == SIZE_MAX) return Count(Odd::kForeignText);
  const size_t cells = cells_.size();
  if (cells == 0) {
    if (!JoinQuoted(line)) Drop(terminated_ ? Odd::kBadRow : Odd::kTornLine);
    return;
  }
  const size_t expected = table_->layouts[layout_].columns.size();
  if (cells == expected && expected > 1) {
    // The right number of cells, yet not taken: the last row, which may be cut in its last cell, or one with a bad
    // time.
    if (terminated_) {
      KeepUnreadTime();
      return Drop(Odd::kBadRow);
    }
    bool value_left_out = false;
    if (!rows_.ReadCut(layout_, line, &value_left_out)) return Drop(Odd::kTornLine);
    CountOddCells();
    if (value_left_out) Count(Odd::kTornLine);
    return;
  }
  if (!row) return !terminated_ && cells > 1 ? Drop(Odd::kTornLine) : Count(Odd::kForeignText);
  OtherCount(line, cells);
}

/// For the refusal of a file whose times nobody can read: the first such cell of the row in `cells_`.
void TableReader::KeepUnreadTime() {
  if (!table_->unread_time.empty()) return;
  const Layout& l = table_->layouts[layout_];
  for (size_t i = 0; i < l.columns.size(); ++i) {
    TimeMs t = 0;
    if (l.columns[i].field.target != Target::kTime || TimeCells(context_.tz, context_.dates.order).Parse(cells_[i], &t))
      continue;
    table_->unread_time = Ellipsize(Sanitize(cells_[i]), 48);
    table_->unread_time_column = i + 1;
    return;
  }
}

/// A row with another number of cells than headings. It is never squeezed in: what is missing could be any of them.
void TableReader::OtherCount(std::string_view line, size_t cells) {
  const size_t expected = table_->layouts[layout_].columns.size();
  for (size_t i = 0; terminated_ && i < table_->layouts.size(); ++i) {
    if (table_->layouts[i].columns.size() != cells || !Row(i, line)) continue;
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
    if (extra == expected + 1 && terminated_ && Row(layout_, shorter)) return;
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
    if (terminated_ && Row(layout_, joined)) return true;
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
