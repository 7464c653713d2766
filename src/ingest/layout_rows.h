// SPDX-License-Identifier: Apache-2.0
// The rows and columns of one layout of a table, for decisions that are made for each heading line by itself.
#pragma once

#include "ingest/table.h"

namespace sawbill::ingest {

/// Calls f(first row, last row) for each stretch that layout `l` covers.
template <typename F>
void ForRowsOf(const Table& table, size_t l, F f) {
  for (size_t s = 0; s < table.segments.size(); ++s) {
    if (table.segments[s].layout != l) continue;
    const size_t to = s + 1 < table.segments.size() ? table.segments[s + 1].first_row : table.rows;
    f(table.segments[s].first_row, to);
  }
}

inline const Column* FindColumn(const Layout& l, NumberSlot slot) {
  for (const Column& c : l.columns) {
    if (c.field.target == Target::kNumber && c.field.slot == slot) return &c;
  }
  return nullptr;
}

}  // namespace sawbill::ingest
