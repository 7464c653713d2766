// SPDX-License-Identifier: Apache-2.0
// A month of 8 cards is 2 GB of text, so this is where the time of a report goes. Three thoughts make it fast:
//   1. cell ends are found 64 bytes at a time for a block of lines that fits the first cache, before any cell is read,
//   so
//      the cells of a row do not wait for each other (cell_ends.cc);
//   2. a cell of at most 8 characters becomes a number without a loop or an unforeseeable branch (number_scan.h), four
//      cells at a time where the processor can (cell_groups.cc);
//   3. rows of one tick share their timestamp, and cards come in the same order each tick.
// Whatever is not as expected (another number of cells, '\r', a sign, an exponent, a word) goes to the careful reader:
// the line to DayTable::Line(), or the one cell to CarefulCell(). Both give the same results; metric_table_test.cc
// compares them.
#include "store/metric_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/numbers.h"
#include "base/text.h"
#include "model/metrics.h"
#include "store/cell_ends.h"
#include "store/csv_line.h"

namespace sawbill::store {
namespace {
using model::Odd;

constexpr size_t kBlockBytes = 8192;

bool SaysNotAvailable(std::string_view cell) {
  return cell.find("N/A") != std::string_view::npos || cell.find("Not Supported") != std::string_view::npos;
}

CellColumn MakeColumn(uint32_t index, uint8_t metric, const model::MetricInfo& info) {
  return {index, metric, static_cast<float>(info.min), static_cast<float>(info.max), FixedFormat(info.decimals)};
}

}  // namespace

MetricTable::MetricTable(Rows rows, TableContext context, TrackFinder* finder)
    : DayTable(std::move(context)),
      rows_(rows),
      finder_(finder),
      ends_(1 + kBlockBytes + kEndsSlack),
      line_ends_(kBlockBytes + kEndsSlack) {}

void MetricTable::OnHeader(const std::vector<std::string_view>& names) {
  columns_.clear();
  key_column_ = -1;
  time_length_ = 0;  // the clock may have been set here
  std::vector<std::string_view> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i];
    if (name == "timestamp" || std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
    seen.push_back(name);
    const auto index = static_cast<uint32_t>(i);
    if (rows_ == Rows::kGpu && name == "gpu") {
      key_column_ = static_cast<int>(i);
    } else if (const auto m = model::FindGpuMetric(name); rows_ == Rows::kGpu && m) {
      const model::MetricInfo& info = model::Info(*m);
      const Target target = *m == model::GpuMetric::kThrottle  ? Target::kThrottle
                            : *m == model::GpuMetric::kEnergyJ ? Target::kWide
                                                               : Target::kFloat;
      columns_.push_back({MakeColumn(index, static_cast<uint8_t>(*m), info), target});
      columns_.back().kept = (context().unread & model::Bit(*m)) == 0;
    } else if (const auto h = model::FindHostMetric(name); rows_ == Rows::kHost && h) {
      const model::MetricInfo& info = model::Info(*h);
      columns_.push_back({MakeColumn(index, static_cast<uint8_t>(*h), info), Target::kFloat});
    } else {
      CountUnknownColumn(name);
    }
  }
  GroupColumns();
}

void MetricTable::GroupColumns() {
  in_groups_.clear();
  others_.clear();
  std::vector<CellColumn> grouped;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const bool in_group = columns_[i].target == Target::kFloat;
    (in_group ? in_groups_ : others_).push_back(i);
    if (in_group) grouped.push_back(columns_[i]);
  }
  groups_.Set(grouped, column_count());
}

void MetricTable::Lines(std::string_view text) {
  if (!kFastNumbers) return DayTable::Lines(text);
  // So that ends[i - 1] + 1 is the start of cell i for the first cell of a block, too (it wraps to 0).
  ends_[0] = std::numeric_limits<uint32_t>::max();
  uint32_t* const ends = ends_.data() + 1;
  while (!text.empty()) {
    const std::string_view block = text.substr(0, std::min(kBlockBytes, text.size()));
    const size_t lines = FindEnds(block, ends, line_ends_.data());
    if (lines == 0) {  // a line longer than a block
      const size_t end = std::min(text.find('\n'), text.size());
      at(text.data());
      Line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      continue;
    }
    size_t row = 0, first_end = 0;
    for (size_t i = 0; i < lines; ++i) {
      const uint32_t line_end = line_ends_[i];
      // A row with the expected number of cells has its line's end in the expected place.
      size_t last_end = first_end + std::max<size_t>(column_count(), 1) - 1;
      const bool expected = last_end < kBlockBytes && ends[last_end] == line_end;
      at(block.data() + row);
      if (!expected || !FastRow(block.data() + row, ends + first_end, block.data())) {
        Line(block.substr(row, line_end - row));
      }
      if (!expected) {
        for (last_end = first_end; ends[last_end] != line_end;) ++last_end;
      }
      first_end = last_end + 1;
      row = line_end + size_t{1};
    }
    text.remove_prefix(row);
  }
}

void MetricTable::SetPlace(TimeMs t) {
  t_ = t;
  place_ = window().Holds(t) ? Place::kIn : t <= window().from && t >= window().before ? Place::kBefore : Place::kSkip;
}

bool MetricTable::FastTime(const char* begin, const char* end) {
  const auto length = static_cast<size_t>(end - begin);
  if (length == time_length_ && length >= 8 && Load8(begin) == Load8(time_text_.data()) &&
      Load8(end - 8) == Load8(time_text_.data() + length - 8)) {
    return true;
  }
  time_length_ = 0;
  TimeMs raw = 0;
  uint32_t high = 0, low = 0;
  unsigned high_decimals = 0, low_decimals = 0;
  if (length == 14 && ScanFixed(begin + 8, 8, &high, &high_decimals) && high_decimals == 0 &&
      ScanFixed(end, 6, &low, &low_decimals) && low_decimals == 3) {
    raw = TimeMs{high} * 100000 + low;
    std::memcpy(time_text_.data(), begin, length);
    time_length_ = length;
  } else {
    const std::optional<TimeMs> t = ParseTimestamp({begin, length});
    if (!t) return false;
    raw = *t;
  }
  SetPlace(FixTime(raw));
  return true;
}

bool MetricTable::FastTrack(const char* begin, const char* end, TrackColumns** track) {
  uint64_t key = 0;
  if (rows_ == Rows::kGpu) {
    const auto length = static_cast<size_t>(end - begin);
    if (length == 0 || length > 8) return false;
    key = Load8(end - 8) >> (64 - 8 * length);
  }
  const auto fits = [&](const Slot& s) { return s.key == key && t_ >= s.valid_from && t_ < s.valid_to; };
  if (next_slot_ >= slots_.size()) next_slot_ = 0;
  if (slots_.empty() || !fits(slots_[next_slot_])) {
    auto it = std::find_if(slots_.begin(), slots_.end(), fits);
    if (it == slots_.end()) {
      const std::string_view gpu = rows_ == Rows::kGpu ? std::string_view(begin, static_cast<size_t>(end - begin)) : "";
      for (const char c : gpu) {
        if ((c < '0' || c > '9') && c != '.') return false;
      }
      Slot slot{key, nullptr, 0, 0};
      slot.track = finder_->Find(gpu, t_, &slot.valid_from, &slot.valid_to);
      slots_.push_back(slot);
      it = slots_.end() - 1;
    }
    next_slot_ = static_cast<size_t>(it - slots_.begin());
  }
  *track = slots_[next_slot_++].track;
  return true;
}

bool MetricTable::FastRow(const char* row, const uint32_t* ends, const char* base) {
  // Cells are read as the 8 bytes before their end.
  if (time_column() < 0 || row - readable() < 16) return false;
  const auto begin_of = [&](size_t i) { return base + static_cast<uint32_t>((ends + i)[-1] + 1); };
  const char* const row_end = base + ends[column_count() - 1];
  if (row_end[-1] == '\r' || static_cast<unsigned>(*row) - '0' > 9) return false;
  const auto time = static_cast<size_t>(time_column());
  if (!FastTime(begin_of(time), base + ends[time])) return false;
  if (place_ == Place::kSkip) return true;
  TrackColumns* track = nullptr;
  if (rows_ == Rows::kGpu && key_column_ < 0) return false;
  const auto key = static_cast<size_t>(std::max(key_column_, 0));
  if (!FastTrack(begin_of(key), base + ends[key], &track)) return false;
  if (place_ == Place::kIn) {
    track->Append(t_);
  } else if (!track->AppendBefore(t_)) {
    return true;
  }
  if (FastCells(ends, base, track) == 0) {
    track->DropLast();
    CountOddRow(Odd::kNoValues);
  }
  return true;
}

size_t MetricTable::FastCells(const uint32_t* ends, const char* base, TrackColumns* track) {
  const TrackColumns::RowCells cells = track->row_cells();
  uint64_t left = groups_.Read({ends, base, cells.columns, cells.row});
  size_t values = in_groups_.size();
  if (left != 0) values -= static_cast<size_t>(std::popcount(left));  // a call where the processor may lack it
  const auto one = [&](const Column& c) {
    const char* const end = base + ends[c.index];
    const char* const begin = base + static_cast<uint32_t>((ends + c.index)[-1] + 1);
    const auto length = static_cast<size_t>(end - begin);
    if (length == 0) return;
    float v = 0;
    double wide = 0;
    if (c.target == Target::kFloat && length <= 8 && ScanInFormat(end, length, c.format, &v) && v >= c.min &&
        v <= c.max) {
      Put(c, track, v);
      ++values;
    } else if (c.target == Target::kWide && ScanWide(end, length, c.format, &wide) && wide <= c.max) {
      track->SetWide(wide);
      ++values;
    } else {
      values += UnusualCell(c, begin, end, track) ? 1 : 0;
    }
  };
  for (; left != 0; left &= left - 1) one(columns_[in_groups_[static_cast<size_t>(std::countr_zero(left))]]);
  for (const size_t i : others_) one(columns_[i]);
  return values;
}

bool MetricTable::UnusualCell(const Column& column, const char* begin, const char* end, TrackColumns* track) {
  auto length = static_cast<size_t>(end - begin);
  if (length >= 2 && *begin == '"' && end[-1] == '"') {  // needless quotes
    ++begin;
    --end;
    length -= 2;
    if (length == 0) return false;
  }
  uint32_t mantissa = 0;
  unsigned decimals = 0;
  double wide = 0;
  if (column.target == Target::kFloat && length <= 8 && ScanFixed(end, length, &mantissa, &decimals)) {
    const auto v = static_cast<float>(mantissa * kTenth[decimals]);
    if (v >= column.min && v <= column.max) {
      Put(column, track, v);
      return true;
    }
  } else if (column.target == Target::kThrottle && length == 4 && std::memcmp(begin, "none", 4) == 0) {
    Put(column, track, 0);
    return true;
  } else if (column.target == Target::kWide && ScanLong(begin, end, &wide) && wide <= column.max) {
    track->SetWide(wide);
    return true;
  }
  return CarefulCell(column, {begin, length}, track);
}

bool MetricTable::CarefulCell(const Column& column, std::string_view cell, TrackColumns* track) {
  if (column.target == Target::kThrottle) {
    if (cell != throttle_text_) {
      const std::optional<unsigned> mask = model::ParseThrottle(Trim(cell));
      if (!mask) {
        if (!Trim(cell).empty()) CountOddRow(SaysNotAvailable(cell) ? Odd::kNotSupported : Odd::kBadCell);
        return false;
      }
      throttle_text_ = std::string(cell);
      throttle_mask_ = static_cast<float>(*mask);
    }
    Put(column, track, throttle_mask_);
    return true;
  }
  if (Trim(cell).empty()) return false;
  const std::optional<double> v = ParseDouble(cell);
  if (!v) {
    CountOddRow(SaysNotAvailable(cell) ? Odd::kNotSupported : Odd::kBadCell);
    return false;
  }
  if (static_cast<float>(*v) < column.min || static_cast<float>(*v) > column.max) {
    CountOddRow(Odd::kOutOfRange);
    return false;
  }
  if (column.target == Target::kWide) {
    track->SetWide(*v);
  } else {
    Put(column, track, static_cast<float>(*v));
  }
  return true;
}

void MetricTable::OnRow(TimeMs t, const std::vector<std::string_view>& cells) {
  SetPlace(t);
  time_length_ = 0;
  if (place_ == Place::kSkip) return;
  if (rows_ == Rows::kGpu && (key_column_ < 0 || Trim(cells[static_cast<size_t>(key_column_)]).empty())) {
    return CountOddRow(Odd::kBadRow);
  }
  const std::string_view gpu = rows_ == Rows::kGpu ? Trim(cells[static_cast<size_t>(key_column_)]) : "";
  TimeMs valid_from = 0, valid_to = 0;
  TrackColumns* const track = finder_->Find(gpu, t, &valid_from, &valid_to);
  if (place_ == Place::kIn) {
    track->Append(t);
  } else if (!track->AppendBefore(t)) {
    return;
  }
  size_t values = 0;
  for (const Column& c : columns_) values += CarefulCell(c, cells[c.index], track) ? 1 : 0;
  if (values > 0) return;
  track->DropLast();
  CountOddRow(Odd::kNoValues);
}

}  // namespace sawbill::store
