// SPDX-License-Identifier: Apache-2.0
#include "store/track_columns.h"

#include <algorithm>
#include <utility>

#include "sys/self.h"

namespace sawbill::store {
namespace {
constexpr size_t kStepRows = 1024;
// A row goes to 20 columns of each card: were they all as far from the start of a page, the same few lines of the first
// cache would have to hold them.
constexpr size_t kOffsetRows = 76;
constexpr size_t kLargeBytes = 64 * 1024;

template <typename T>
void PutFirst(std::vector<T>* v, T value) {
  if (!v->empty()) v->insert(v->begin(), value);
}
template <typename T>
void MakeRoom(std::vector<T>* v, size_t rows) {
  v->reserve(rows);
  if (rows * sizeof(T) >= kLargeBytes) sys::AdviseHugePages(v->data(), rows * sizeof(T));
}

}  // namespace

TrackColumns::TrackColumns(size_t expected_rows)
    : expected_rows_((expected_rows / kStepRows + 1) * kStepRows + kOffsetRows) {
  before_.values.fill(kNaN);
}

bool TrackColumns::AppendBefore(TimeMs t) {
  if (t < before_.t) return false;
  saved_ = before_;
  in_window_ = false;
  before_.t = t;
  before_.values.fill(kNaN);
  before_.wide = kMissing;
  return true;
}

void TrackColumns::SetWide(double v) {
  if (!in_window_) {
    before_.wide = v;
    return;
  }
  if (wide_.empty()) {
    MakeRoom(&wide_, std::max(expected_rows_, capacity_));
    wide_.resize(capacity_, kMissing);
  }
  wide_[size_ - 1] = v;
}

void TrackColumns::Grow() {
  if (t_ms_.empty()) MakeRoom(&t_ms_, expected_rows_);
  capacity_ += kStepRows;
  t_ms_.resize(capacity_);
  for (size_t m = 0; m < kMaxMetrics; ++m) {
    if (data_[m] == nullptr) continue;
    columns_[m].resize(capacity_, kNaN);
    data_[m] = columns_[m].data();
  }
  if (!wide_.empty()) wide_.resize(capacity_, kMissing);
}

float* TrackColumns::Allocate(size_t metric) {
  std::vector<float>& column = columns_[metric];
  MakeRoom(&column, std::max(expected_rows_, capacity_));
  column.resize(capacity_, kNaN);
  data_[metric] = column.data();
  return data_[metric];
}

void TrackColumns::Trim() {
  t_ms_.resize(size_);
  for (size_t m = 0; m < kMaxMetrics; ++m) {
    if (data_[m] != nullptr) columns_[m].resize(size_);
  }
  if (!wide_.empty()) wide_.resize(size_);
  capacity_ = size_;
}

void TrackColumns::Join(TrackColumns* other) {
  TakeBefore(*other);
  silent_ = silent_ || other->silent_;
  if (other->size_ == 0) return;
  Trim();
  other->Trim();
  t_ms_.insert(t_ms_.end(), other->t_ms_.begin(), other->t_ms_.end());
  const size_t rows = t_ms_.size();
  for (size_t m = 0; m < kMaxMetrics; ++m) {
    if (data_[m] == nullptr && other->data_[m] == nullptr) continue;
    columns_[m].resize(size_, kNaN);
    if (other->data_[m] != nullptr) {
      columns_[m].insert(columns_[m].end(), other->columns_[m].begin(), other->columns_[m].end());
    } else {
      columns_[m].resize(rows, kNaN);
    }
    data_[m] = columns_[m].data();
  }
  if (!wide_.empty() || !other->wide_.empty()) {
    wide_.resize(size_, kMissing);
    wide_.insert(wide_.end(), other->wide_.begin(), other->wide_.end());
    wide_.resize(rows, kMissing);
  }
  size_ = capacity_ = rows;
}

void TrackColumns::Finish(model::GpuTrack* track) {
  Trim();
  if (has_before()) {
    PutFirst(&t_ms_, before_.t);
    for (size_t m = 0; m < kMaxMetrics; ++m) PutFirst(&columns_[m], before_.values[m]);
    PutFirst(&wide_, before_.wide);
  }
  track->t_ms = std::move(t_ms_);
  for (size_t m = 0; m < model::kGpuMetrics; ++m) track->columns[m] = std::move(columns_[m]);
  track->energy_j = std::move(wide_);
}

void TrackColumns::Finish(model::HostTrack* track) {
  Trim();
  if (has_before()) {
    PutFirst(&t_ms_, before_.t);
    for (size_t m = 0; m < kMaxMetrics; ++m) PutFirst(&columns_[m], before_.values[m]);
  }
  track->t_ms = std::move(t_ms_);
  for (size_t m = 0; m < model::kHostMetrics; ++m) track->columns[m] = std::move(columns_[m]);
}

}  // namespace sawbill::store
