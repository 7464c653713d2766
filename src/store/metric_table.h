// SPDX-License-Identifier: Apache-2.0
// gpu-*.csv and host-*.csv into columns, fast. See metric_table.cc.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "store/cell_groups.h"
#include "store/day_table.h"
#include "store/number_scan.h"
#include "store/track_columns.h"

namespace sawbill::store {

/// Where rows go: the track of a card at a time, or the host's one track.
class TrackFinder {
 public:
  virtual ~TrackFinder() = default;
  /// Never null. [`valid_from`, `valid_to`): the times for which the answer is the same.
  virtual TrackColumns* Find(std::string_view gpu, TimeMs t, TimeMs* valid_from, TimeMs* valid_to) = 0;
};

class MetricTable : public DayTable {
 public:
  enum class Rows { kGpu, kHost };
  MetricTable(Rows rows, TableContext context, TrackFinder* finder);

 protected:
  void OnHeader(const std::vector<std::string_view>& names) override;
  void OnRow(TimeMs t, const std::vector<std::string_view>& cells) override;
  void Lines(std::string_view text) override;

 private:
  enum class Target : uint8_t { kFloat, kWide, kThrottle };
  struct Column : CellColumn {
    Target target;
  };
  struct Slot {
    uint64_t key;
    TrackColumns* track;
    TimeMs valid_from, valid_to;
  };
  enum class Place { kSkip, kBefore, kIn };

  bool FastRow(const char* row, const uint32_t* ends, const char* base);
  bool FastTime(const char* begin, const char* end);
  bool FastTrack(const char* begin, const char* end, TrackColumns** track);
  size_t FastCells(const uint32_t* ends, const char* base, TrackColumns* track);
  void GroupColumns();
  bool UnusualCell(const Column& column, const char* begin, const char* end, TrackColumns* track);
  bool CarefulCell(const Column& column, std::string_view cell, TrackColumns* track);
  static void Put(const Column& column, TrackColumns* track, float v) {
    if (column.kept) track->Set(column.metric, v);
  }
  void SetPlace(TimeMs t);

  Rows rows_;
  TrackFinder* finder_;
  std::vector<Column> columns_;
  CellGroups groups_;
  std::vector<size_t> in_groups_, others_;  // indices into columns_
  int key_column_ = -1;
  std::vector<Slot> slots_;
  size_t next_slot_ = 0;
  TimeMs t_ = 0;
  Place place_ = Place::kSkip;
  std::array<char, 16> time_text_{};  // the timestamp that t_ was read from: rows of one tick share it
  size_t time_length_ = 0;
  std::string throttle_text_ = "none";
  float throttle_mask_ = 0;
  std::vector<uint32_t> ends_, line_ends_;
};

}  // namespace sawbill::store
