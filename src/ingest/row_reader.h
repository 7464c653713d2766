// SPDX-License-Identifier: Apache-2.0
// One line of text into the next free row of a table. A row is only there once its last cell was taken and the line
// ended with it, so that a torn or merged line cannot shift a value into a neighbour's column.
#pragma once

#include <string>
#include <string_view>

#include "ingest/table.h"
#include "ingest/time_cells.h"

namespace sawbill::ingest {

class RowReader {
 public:
  /// `own` = a day file of ours, where an empty cell is the way to say "not read".
  RowReader(const ReadContext& context, bool own, Table* table)
      : context_(context), empty_is_odd_(own ? 0 : 1), table_(table), times_(context.tz, context.dates.order) {}

  /// Makes room for the columns of a layout. REQUIRES: called before Read() with that layout.
  void Prepare(size_t layout);
  /// Reads a line by a layout; true when it fitted to the last character and is a row now.
  bool Read(size_t layout, std::string_view line);
  /// The same for a line that may be cut inside its last cell: that cell is left empty unless it ends with its unit.
  bool ReadCut(size_t layout, std::string_view line, bool* value_left_out);
  /// Settles what only all rows together say, and gives back the room that was not used.
  void Finish();

  /// Odd cells of the row last read.
  struct OddCells {
    int not_supported = 0, error = 0, bad = 0;
    size_t layout = 0, bad_column = 0;  // of the first bad one, from 0
    std::string_view bad_cell;          // and how it stands; valid as long as its line
  };
  const OddCells& odd_cells() const { return odd_; }
  /// Bytes of text so far, from which the number of rows of the whole is estimated.
  void set_bytes_read(size_t n) { bytes_read_ = n; }

 private:
  bool Cell(Column* c, const char** p, const char* end);
  bool NumberCell(Column* c, const char** p, const char* end, double* v);
  double OddNumber(Column* c, std::string_view cell);
  bool ThrottleCell(const Column& c, const char** p, const char* end);
  void Cut(double* v) {
    *v = kMissing;
    cut_value_ = true;
  }
  double Bad(const Column* c, std::string_view cell);
  void SettleCommas();
  void Grow();
  void ClearRow(const Layout& layout, size_t cells);

  const ReadContext& context_;
  const int empty_is_odd_;
  Table* const table_;
  TimeCells times_;
  size_t layout_ = 0;    // of the row being read
  size_t capacity_ = 0;  // rows that every column has now
  size_t room_ = 0;      // rows that it has room for
  size_t bytes_read_ = 0;
  bool cut_ = false;        // the row being read may be cut inside its last cell
  bool cut_value_ = false;  // and that cell was left empty for it
  OddCells odd_;
  unsigned throttle_flags_ = 0;
  bool throttle_seen_ = false;
  std::string last_mask_;  // the hexadecimal mask last read
  float last_mask_value_ = 0;
};

}  // namespace sawbill::ingest
