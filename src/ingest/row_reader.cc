// SPDX-License-Identifier: Apache-2.0
#include "ingest/row_reader.h"

#include <algorithm>
#include <cstring>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/big_memory.h"
#include "ingest/cells.h"

namespace sawbill::ingest {
namespace {

constexpr size_t kStepRows = 4096;

/// Units are a few characters: comparing them here is cheaper than a call.
inline bool SameUnit(const char* p, const Column& c) {
  for (size_t i = 0; i < c.unit_size; ++i) {
    if (p[i] != c.unit[i]) return false;
  }
  return c.unit_size > 0;
}

}  // namespace

void RowReader::Prepare(size_t layout) {
  capacity_ = std::max(capacity_, kStepRows);
  const auto need = [this](auto& column, auto missing) {
    if (!column.empty()) return;
    MakeRoom(&column, room_);
    column.resize(capacity_, missing);
  };
  need(table_->t_ms, TimeMs{0});
  for (const Column& c : table_->layouts[layout].columns) {
    const auto slot = static_cast<size_t>(c.field.slot);
    if (c.field.target == Target::kNumber) need(table_->numbers[slot], static_cast<float>(kMissing));
    if (c.field.target == Target::kDouble) need(table_->doubles[slot], kMissing);
    if (c.field.target == Target::kText) need(table_->texts[slot].ids, 0U);
    if (c.field.target >= Target::kThrottleMask) {
      need(table_->numbers[static_cast<size_t>(Slot(model::GpuMetric::kThrottle))], static_cast<float>(kMissing));
    }
  }
}

/// Room is made for the whole file once; it is filled a step ahead of the rows, so that each page is touched once.
void RowReader::Grow() {
  capacity_ += kStepRows;
  if (capacity_ > room_) {
    room_ = 2 * capacity_;
    // The rows so far tell how many the file holds.
    if (context_.text_bytes > bytes_read_ && bytes_read_ > 0) {
      const double share = static_cast<double>(context_.text_bytes) / static_cast<double>(bytes_read_);
      room_ = std::max(room_, static_cast<size_t>(static_cast<double>(table_->rows) * share * 1.03) + kStepRows);
    }
  }
  const auto grow = [this](auto& column, auto missing) {
    if (column.empty()) return;
    MakeRoom(&column, room_);
    column.resize(capacity_, missing);
  };
  grow(table_->t_ms, TimeMs{0});
  for (auto& c : table_->numbers) grow(c, static_cast<float>(kMissing));
  for (auto& c : table_->doubles) grow(c, kMissing);
  for (auto& c : table_->texts) grow(c.ids, 0U);
}

/// Takes back what the first `cells` cells of a row that did not fit have written.
void RowReader::ClearRow(const Layout& layout, size_t cells) {
  const size_t n = table_->rows;
  table_->commas.Undo(n);
  for (size_t i = 0; i < cells; ++i) {
    const Field& f = layout.columns[i].field;
    const auto slot = static_cast<size_t>(f.slot);
    if (f.target == Target::kNumber) table_->numbers[slot][n] = static_cast<float>(kMissing);
    if (f.target == Target::kDouble) table_->doubles[slot][n] = kMissing;
    if (f.target == Target::kText) table_->texts[slot].ids[n] = 0;
    if (f.target >= Target::kThrottleMask)
      table_->numbers[static_cast<size_t>(Slot(model::GpuMetric::kThrottle))][n] = static_cast<float>(kMissing);
  }
}

/// One row into the next free slot; true when it fitted its layout to the last character.
bool RowReader::Read(size_t layout, std::string_view line) {
  const char* p = line.data();
  const char* const end = p + line.size();
  Layout& l = table_->layouts[layout];
  layout_ = layout;
  odd_ = {};
  throttle_flags_ = 0;
  throttle_seen_ = false;
  const size_t count = l.columns.size();
  bool ok = p < end;
  size_t i = 0;
  for (; ok && i < count; ++i) {
    ok = Cell(&l.columns[i], &p, end);
    if (!ok) break;
    const bool last = i + 1 == count;
    ok = last ? p == end : p < end && *p == ',';
    if (ok && !last) ++p;
  }
  if (!ok) {
    ClearRow(l, std::min(i + 1, count));
    return false;
  }
  if (throttle_seen_) {
    float* mask = &table_->numbers[static_cast<size_t>(Slot(model::GpuMetric::kThrottle))][table_->rows];
    if (IsMissing(*mask)) *mask = static_cast<float>(throttle_flags_);
  }
  if (times_.last_is_local()) ++table_->zoneless_rows;
  if (++table_->rows == capacity_) Grow();
  return true;
}

inline bool RowReader::Cell(Column* c, const char** p, const char* end) {
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

inline bool RowReader::NumberCell(Column* c, const char** p, const char* end, double* v) {
  const char* q = *p;
  while (q < end && *q == ' ') ++q;
  if (q == end || *q == ',') {
    odd_.not_supported += empty_is_odd_;
    *v = kMissing;
    *p = q;
    return true;
  }
  const char* const digits = q;
  if (TakeDecimal(&q, end, v)) {
    if (*v == 1) c->saw_point = c->saw_point || q - digits > 1;  // digits[1] is the point
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
    ++odd_.not_supported;
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
double RowReader::OddNumber(Column* c, std::string_view cell) {
  switch (MarkerOf(cell)) {
    case Marker::kEmpty:
      odd_.not_supported += empty_is_odd_;
      return kMissing;
    case Marker::kNotAvailable:
      ++odd_.not_supported;
      return kMissing;
    case Marker::kError:
      ++odd_.error;
      return kMissing;
    case Marker::kNone:
      break;
  }
  std::string_view rest;
  const auto commas = ReadCommaNumber(cell, &rest);
  const auto v =
      commas ? IsMissing(commas->decimal) ? commas->grouped : commas->decimal : ParseDoublePrefix(cell, &rest);
  rest = Trim(rest);
  const bool bare = v && rest.empty();
  auto factor =
      v && !bare && c->field.quantity != Quantity::kPlain ? UnitFactor(c->field.quantity, rest) : std::nullopt;
  if (bare) factor = c->bare_factor;
  if (!factor) return Bad(c, cell);
  if (commas) {
    const auto column = static_cast<size_t>(c - table_->layouts[layout_].columns.data());
    table_->commas.Add({table_->rows, layout_, column, {commas->decimal * *factor, commas->grouped * *factor}},
                       c->field, cell);
    if (*v == 1) c->saw_point = true;  // "1,0"
  }
  if (bare) {
    c->saw_bare = true;
    return *v * *factor;
  }
  c->saw_unit = true;
  if (rest.size() <= sizeof(c->unit)) {
    std::memcpy(c->unit, rest.data(), rest.size());
    c->unit_size = rest.size();
    c->unit_factor = *factor;
  }
  return *v * *factor;
}

double RowReader::Bad(const Column* c, std::string_view cell) {
  if (odd_.bad++ == 0) {
    odd_.layout = layout_;
    odd_.bad_column = static_cast<size_t>(c - table_->layouts[layout_].columns.data());
    odd_.bad_cell = cell;
  }
  return kMissing;
}

bool RowReader::ThrottleCell(const Column& c, const char** p, const char* end) {
  const char* stop = CellEnd(*p, end);
  if (stop == nullptr) return false;
  const std::string_view cell = Unquote(std::string_view(*p, static_cast<size_t>(stop - *p)));
  *p = stop;
  if (cut_ && stop == end) return cut_value_ = true;
  if (c.field.target == Target::kThrottleNames && cell == "none") {
    table_->numbers[static_cast<size_t>(Slot(model::GpuMetric::kThrottle))][table_->rows] = 0;
    return true;
  }
  float* mask = &table_->numbers[static_cast<size_t>(Slot(model::GpuMetric::kThrottle))][table_->rows];
  if (c.field.target == Target::kThrottleMask && !cell.empty() && cell == last_mask_) {  // hours of the same mask
    *mask = last_mask_value_;
    return true;
  }
  if (c.field.target == Target::kThrottleFlag && cell == "Not Active") return throttle_seen_ = true;
  const Marker marker = MarkerOf(cell);
  if (c.field.target != Target::kThrottleNames || !cell.empty()) {
    if (marker == Marker::kNotAvailable) return ++odd_.not_supported, true;
    if (marker == Marker::kError) return ++odd_.error, true;
  }
  if (cell.empty()) return true;
  if (c.field.target == Target::kThrottleNames) {
    const auto names = model::ParseThrottle(cell);
    if (names) *mask = static_cast<float>(*names);
    if (!names) Bad(&c, cell);
  } else if (c.field.target == Target::kThrottleFlag) {
    if (cell != "Active") return Bad(&c, cell), true;
    throttle_seen_ = true;
    throttle_flags_ |= model::Mask(static_cast<model::ThrottleBit>(c.field.slot));
  } else {
    const auto reasons = ReasonsFromHex(cell);
    if (!reasons) return Bad(&c, cell), true;
    *mask = last_mask_value_ = static_cast<float>(*reasons);
    last_mask_ = std::string(cell);
  }
  return true;
}

bool RowReader::ReadCut(size_t layout, std::string_view line, bool* value_left_out) {
  cut_ = true;
  cut_value_ = false;
  const bool taken = Read(layout, line);
  cut_ = false;
  *value_left_out = cut_value_;
  return taken;
}

/// Cells were taken as decimal where their form allows it; now all are known.
void RowReader::SettleCommas() {
  const CommaMeaning meaning = table_->commas.Meaning();
  for (const CommaCells::Cell& cell : table_->commas.cells()) {
    if (!cell.either() || meaning == CommaMeaning::kDecimal) continue;
    const Field& f = table_->layouts[cell.layout].columns[cell.column].field;
    const auto slot = static_cast<size_t>(f.slot);
    const double v = meaning == CommaMeaning::kGroups ? cell.value.grouped : kMissing;
    if (f.target == Target::kDouble) table_->doubles[slot][cell.row] = v;
    if (f.target == Target::kNumber) table_->numbers[slot][cell.row] = static_cast<float>(v);
  }
}

void RowReader::Finish() {
  SettleCommas();
  table_->times = times_.seen();
  const auto trim = [n = table_->rows](auto& column) {
    if (!column.empty()) column.resize(n);
  };
  trim(table_->t_ms);
  for (auto& c : table_->numbers) trim(c);
  for (auto& c : table_->doubles) trim(c);
  for (auto& c : table_->texts) trim(c.ids);
}

}  // namespace sawbill::ingest
