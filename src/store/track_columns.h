// SPDX-License-Identifier: Apache-2.0
// Columns of one card or host while its rows are being read. A column exists from its first reading on, so that what a
// machine never reports takes no memory; cells are NaN until they are written.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/time.h"
#include "model/recording.h"

namespace sawbill::store {

/// Samples in (from, to]; the last one in [before, from] is kept apart.
struct TimeWindow {
  TimeMs before = std::numeric_limits<TimeMs>::min();
  TimeMs from = std::numeric_limits<TimeMs>::min();
  TimeMs to = std::numeric_limits<TimeMs>::max();
  bool Holds(TimeMs t) const { return t > from && t <= to; }
};

class TrackColumns {
 public:
  static constexpr size_t kMaxMetrics =
      model::kGpuMetrics > model::kHostMetrics ? model::kGpuMetrics : model::kHostMetrics;
  static constexpr size_t kWideMetric = static_cast<size_t>(model::GpuMetric::kEnergyJ);

  explicit TrackColumns(size_t expected_rows);
  TrackColumns(const TrackColumns&) = delete;
  TrackColumns& operator=(const TrackColumns&) = delete;

  /// Begins a row in the window. Cells of the row begun last are set with Set()/SetWide().
  void Append(TimeMs t) {
    if (size_ == capacity_) Grow();
    t_ms_[size_++] = t;
    in_window_ = true;
  }
  /// Begins a row at or before the window's start; false (nothing begun) when a later one is known.
  bool AppendBefore(TimeMs t);
  /// Where the cells of the row begun last stand: columns[metric][row]; nullptr = Set() must make the column first.
  struct RowCells {
    float* const* columns;
    size_t row;
  };
  RowCells row_cells() { return in_window_ ? RowCells{data_.data(), size_ - 1} : RowCells{before_data_.data(), 0}; }
  void Set(size_t metric, float v) {
    if (!in_window_) {
      before_.values[metric] = v;
      return;
    }
    float* column = data_[metric];
    if (column == nullptr) column = Allocate(metric);
    column[size_ - 1] = v;
  }
  void SetWide(double v);
  /// Takes the row begun last back: it held no reading.
  void DropLast() {
    if (in_window_) {
      --size_;
      silent_ = true;
    } else {
      before_ = saved_;
    }
  }

  size_t size() const { return size_; }
  /// Rows of the window stood there without any reading: what they are about was seen, and told nothing.
  bool silent() const { return silent_; }
  bool has_before() const { return before_.t != kNever; }
  TimeMs before() const { return before_.t; }
  TimeMs first() const { return t_ms_[0]; }  // REQUIRES: size() > 0
  /// Takes the sample before the window from `other` if it is later than the one known here.
  void TakeBefore(const TrackColumns& other) {
    if (other.before_.t > before_.t) before_ = other.before_;
  }
  /// Adds the rows of `other`, which follow this one's.
  void Join(TrackColumns* other);

  /// Moves the samples out, the one before the window first.
  void Finish(model::GpuTrack* track);
  void Finish(model::HostTrack* track);

 private:
  static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  static constexpr TimeMs kNever = std::numeric_limits<TimeMs>::min();
  struct Before {
    TimeMs t = kNever;
    std::array<float, kMaxMetrics> values;
    double wide = kMissing;
  };
  void Grow();
  float* Allocate(size_t metric);
  void Trim();

  size_t expected_rows_, size_ = 0, capacity_ = 0;
  bool in_window_ = true, silent_ = false;
  std::vector<TimeMs> t_ms_;
  std::array<std::vector<float>, kMaxMetrics> columns_;
  std::array<float*, kMaxMetrics> data_{};
  std::array<float*, kMaxMetrics> before_data_{};  // all null: rows before the window are few
  std::vector<double> wide_;
  Before before_, saved_;
};

}  // namespace sawbill::store
