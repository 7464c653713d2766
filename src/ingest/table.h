// SPDX-License-Identifier: Apache-2.0
// A foreign table in memory: every row of the file in its order, by columns, before anything is said about cards.
// Whether a column is a ratio, which column tells the card, and where one sample ends can only be decided over the
// whole file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "ingest/comma_numbers.h"
#include "ingest/fields.h"
#include "ingest/format.h"
#include "ingest/text_column.h"
#include "ingest/time_cells.h"

namespace sawbill::ingest {

/// What one column of one layout is, and the unit memory that makes reading its cells cheap.
struct Column {
  Field field;
  double bare_factor = 1;  // of a cell without a unit: from the heading's unit
  char unit[12] = {};      // the unit last seen in a cell
  size_t unit_size = 0;
  double unit_factor = 1;
  bool heading_percent = false;  // the heading itself says "%" or "percent"
  bool heading_unit = false, saw_bare = false, saw_unit = false;
  bool saw_point = false;  // a cell of 1 was written "1.0"
};
/// The columns from one heading line (or from inference) to the next.
struct Layout {
  std::string header;  // the line itself; "" = inferred
  std::vector<Column> columns;
  std::vector<ColumnTaken> taken;  // parallel to `columns`
  bool processes = false;          // a list of processes, whose rows are no samples of cards
};
struct Segment {
  size_t first_row = 0;
  size_t layout = 0;
};

struct Table {
  size_t rows = 0;
  std::vector<TimeMs> t_ms;
  std::array<std::vector<float>, kNumberSlots> numbers;  // NaN where not read; empty = never there
  std::array<std::vector<double>, kDoubleSlots> doubles;
  std::array<TextColumn, kTextSlots> texts;
  std::vector<Layout> layouts;
  std::vector<Segment> segments;
  SeenTimes times;
  int64_t zoneless_rows = 0;
  int64_t other_layout_rows = 0;  // rows that fitted an earlier layout than the one above them
  int64_t dropped_rows = 0;       // left out, for whatever reason
  std::string unread_time;        // the first cell of a whole row that should hold a time and does not
  size_t unread_time_column = 0;  // from 1, as people count
  CommaCells commas;              // taken as decimal until all are known
  int64_t bad_cells = 0;
  std::string first_bad;  // the first of them, where it stands and in which column, ready to print
  bool has(NumberSlot s) const { return !numbers[static_cast<size_t>(s)].empty(); }
  const std::vector<float>& number(NumberSlot s) const { return numbers[static_cast<size_t>(s)]; }
};

/// The layout that a heading line gives, or nothing when the line is no heading (or tells no time: then `no_time`).
std::optional<Layout> LayoutOfHeader(std::string_view line, model::Scope scope, Lang lang, bool* no_time = nullptr);

/// How sure a sample is a table of ours, for Format::Certainty.
struct Sniffed {
  bool headed = false, inferred = false, no_time = false;
  Layout layout;
  int known = 0;    // columns with a meaning
  int unknown = 0;  // columns without
};
Sniffed Sniff(std::string_view sample, model::Scope scope);

/// Reads all lines into `table`; odd rows and cells are counted. `own` = a day file of ours, where an empty cell is no
/// oddity but the way to say "not read".
Status ReadTable(sys::LineReader* lines, const ReadContext& context, model::Scope scope, bool own, Table* table,
                 model::DataQuality* quality);

}  // namespace sawbill::ingest
