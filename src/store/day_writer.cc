// SPDX-License-Identifier: Apache-2.0
// How a day file grows.
//
//   - O_APPEND, never O_TRUNC. The day is the local day of the row itself, so a step of the clock over midnight, back
//   or
//     forth, appends to the right file, and a restart at 00:00:00 empties nothing.
//   - On opening, the tail is looked at. A last line without '\n' is a record that a crash cut off: its last number may
//     have lost digits, so it is taken away (and counted), not completed.
//   - If the header in effect at the end of the file is not ours (an older version, or none), ours is written before
//   the
//     next row; readers map the columns anew from there. No backup files, no second history.
//   - Header and rows of a tick go out in one write. If that fails (disk full, quota, I/O error) the file is cut back
//   to
//     its last whole record, the rows stay in memory, and the next tick tries again, in order.
#include "store/day_writer.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sawbill::store {
namespace {

/// Size of `bytes` without a torn record at its end. NUL bytes before the end are part of it.
size_t SoundSize(std::string_view bytes) {
  const size_t end = bytes.rfind('\n');
  return end == std::string_view::npos ? 0 : end + 1;
}

/// The last header line of `bytes`, which ends with '\n' or is empty; "" if there is none.
std::string_view LastHeader(std::string_view bytes) {
  constexpr std::string_view kStart = "timestamp,";
  size_t at = bytes.rfind("\ntimestamp,");
  if (at == std::string_view::npos) {
    if (bytes.substr(0, kStart.size()) != kStart) return {};
    at = 0;
  } else {
    ++at;
  }
  std::string_view line = bytes.substr(at, bytes.find('\n', at) - at);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace

const std::string& DayWriter::DayOf(TimeMs t) {
  if (!day_.empty() && t >= day_from_ && t < day_to_) return day_;
  CivilTime c = options_.tz.ToLocal(t);
  c.hour = c.minute = c.second = c.millisecond = 0;
  day_ = options_.tz.LocalDay(t);
  day_from_ = options_.tz.FromLocal(c);
  const CivilTime next = CivilFromUtc(UtcFromCivil(c) + 86'400'000);
  day_to_ = options_.tz.FromLocal(next);
  // Where midnight itself is skipped or comes twice, do not trust the bounds for more than this row.
  if (t < day_from_ || t >= day_to_) day_from_ = t, day_to_ = t + 1;
  return day_;
}

Status DayWriter::Append(TimeMs t, const RowText& row) {
  if (row.cells() + 1 != Columns(kind_).size()) {
    return Status::Invalid("a row of " + std::string(Name(kind_)) + " has " + std::to_string(row.cells() + 1) +
                           " cells instead of " + std::to_string(Columns(kind_).size()));
  }
  Row r;
  r.day = DayOf(t);
  AppendTimestamp(t, &r.text);
  r.text += ',';
  r.text += row.text();
  r.text += '\n';
  r.step = std::exchange(step_, false);
  pending_bytes_ += r.text.size();
  pending_.push_back(std::move(r));
  while (paused_ && pending_bytes_ > options_.max_pending_bytes && pending_.size() > 1) {
    pending_bytes_ -= pending_.front().text.size();
    pending_[1].step = pending_[1].step || pending_.front().step;
    pending_.pop_front();
    ++dropped_rows_;
  }
  return Status::Ok();
}

Status DayWriter::OpenDay(const std::string& day) {
  if (file_ != nullptr && file_day_ == day) return Status::Ok();
  file_.reset();
  const std::string path = sys::JoinPath(dir_, MakeDayFileName(kind_, day));
  SAWBILL_ASSIGN_OR_RETURN(file_, fs_->OpenAppend(path));
  file_day_ = day;
  sound_size_ = 0;
  header_ours_ = false;
  if (file_->size() == 0) return Status::Ok();
  const Result<std::unique_ptr<sys::FileBytes>> bytes = fs_->Map(path);
  if (!bytes.ok()) {
    file_.reset();
    return bytes.status();
  }
  const std::string_view text = (*bytes)->bytes();
  sound_size_ = static_cast<int64_t>(SoundSize(text));
  header_ours_ = LastHeader(text.substr(0, static_cast<size_t>(sound_size_))) == HeaderLine(kind_);
  if (static_cast<size_t>(sound_size_) < text.size()) ++torn_records_;
  return Status::Ok();
}

/// Writes the first `count` pending rows, all of `day`.
Status DayWriter::WriteRows(const std::string& day, size_t count) {
  SAWBILL_RETURN_IF_ERROR(OpenDay(day));
  // What a failed write or a crash left behind the last whole record.
  if (file_->size() > sound_size_) SAWBILL_RETURN_IF_ERROR(file_->Truncate(sound_size_));
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if ((i == 0 && !header_ours_) || pending_[i].step) text += HeaderLine(kind_) + "\n";
    text += pending_[i].text;
  }
  if (const Status status = file_->Append(text); !status.ok()) {
    // If even this fails, the next attempt begins with it.
    if (file_->size() > sound_size_) (void)file_->Truncate(sound_size_);
    return status;
  }
  header_ours_ = true;
  sound_size_ = file_->size();
  return Status::Ok();
}

Status DayWriter::Flush() {
  // After a long pause, parts of this size: one that fits now is better than a whole that does not.
  constexpr size_t kRowsAtOnce = 256;
  while (!pending_.empty()) {
    const std::string day = pending_.front().day;
    size_t count = 0;
    while (count < pending_.size() && count < kRowsAtOnce && pending_[count].day == day) ++count;
    const Status status = WriteRows(day, count);
    paused_ = !status.ok();
    if (!status.ok()) return status;
    for (size_t i = 0; i < count; ++i) {
      pending_bytes_ -= pending_.front().text.size();
      pending_.pop_front();
    }
  }
  paused_ = false;
  return Status::Ok();
}

Status DayWriter::Sync() { return file_ == nullptr ? Status::Ok() : file_->Sync(); }

}  // namespace sawbill::store
