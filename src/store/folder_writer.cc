// SPDX-License-Identifier: Apache-2.0
#include "store/folder_writer.h"

#include <utility>

#include "base/numbers.h"
#include "store/inventory.h"

namespace sawbill::store {
namespace {
constexpr const char* kLockName = ".recorder.lock";
}  // namespace

FolderWriter::FolderWriter(sys::FileSystem* fs, std::string dir, const FolderWriterOptions& options)
    : fs_(fs), dir_(std::move(dir)), options_(options) {
  row_.set_exact(options.exact);
  for (size_t k = 0; k < kDayKinds; ++k) {
    writers_[k] = std::make_unique<DayWriter>(fs, dir_, static_cast<DayKind>(k), options.days);
  }
}

Result<std::unique_ptr<FolderWriter>> FolderWriter::Open(sys::FileSystem* fs, const std::string& dir,
                                                         const FolderWriterOptions& options) {
  SAWBILL_RETURN_IF_ERROR(fs->MakeDirs(dir));
  std::unique_ptr<FolderWriter> out(new FolderWriter(fs, dir, options));
  const std::string lock = sys::JoinPath(dir, kLockName);
  Result<std::unique_ptr<sys::FileLock>> held = fs->Lock(lock);
  if (!held.ok()) {
    if (held.status().kind() != StatusKind::kUnavailable) return held.status();
    return Status::Unavailable("another recorder writes to " + dir + " (" + held.status().message() +
                               "); stop it, or record into another folder with --data");
  }
  out->lock_ = std::move(held).value();
  out->network_ = fs->NetworkFileSystem(dir);
  return out;
}

std::optional<ClockStep> FolderWriter::BeginTick(Tick tick) {
  now_ = tick.wall;
  const std::optional<ClockStep> step = clock_.Observe(tick);
  if (step) {
    for (const auto& w : writers_) w->MarkClockStep();
    // The events' cells are our own: this cannot fail.
    (void)Event(tick.wall, "clock_step", "", step->detail());
  }
  if (!std::exchange(started_, true) && options_.start_and_stop_events)
    (void)Event(tick.wall, "collector_start", "", "");
  return step;
}

Status FolderWriter::Gpu(TimeMs t, std::string_view gpu, const GpuValues& values) {
  MakeGpuRow(gpu, values, &row_);
  return writer(DayKind::kGpu).Append(t, row_);
}

Status FolderWriter::Host(TimeMs t, const HostValues& values) {
  MakeHostRow(values, &row_);
  return writer(DayKind::kHost).Append(t, row_);
}

Status FolderWriter::Process(TimeMs t, const ProcessSample& sample) {
  MakeProcessRow(sample, &row_);
  return writer(DayKind::kProcess).Append(t, row_);
}

Status FolderWriter::Run(const model::RunRow& run) {
  MakeRunRow(run, &row_);
  return writer(DayKind::kRun).Append(run.t_ms, row_);
}

Status FolderWriter::Event(TimeMs t, std::string_view kind, std::string_view gpu, std::string_view detail) {
  MakeEventRow(kind, gpu, detail, &row_);
  return writer(DayKind::kEvent).Append(t, row_);
}

Status FolderWriter::EndTick() {
  // Events first: a reader must know of a clock step before it meets rows behind it.
  Status first_error = writer(DayKind::kEvent).Flush();
  for (const auto& w : writers_) {
    if (w->kind() == DayKind::kEvent) continue;
    const Status status = w->Flush();
    if (first_error.ok()) first_error = status;
  }
  const bool was_paused = std::exchange(paused_, !first_error.ok());
  if (paused_) {
    if (!was_paused) paused_since_ = now_;
    return first_error;
  }
  if (was_paused) {
    const int64_t dropped = dropped_rows() - std::exchange(dropped_before_pause_, dropped_rows());
    SAWBILL_RETURN_IF_ERROR(Event(
        now_, "disk_full", "",
        "paused_s=" + FormatFixed(Seconds(now_ - paused_since_), 1) + " dropped_rows=" + std::to_string(dropped)));
    return writer(DayKind::kEvent).Flush();
  }
  return Status::Ok();
}

Status FolderWriter::Close(TimeMs t) {
  if (started_ && options_.start_and_stop_events) (void)Event(t, "collector_stop", "", "");
  SAWBILL_RETURN_IF_ERROR(EndTick());
  for (const auto& w : writers_) SAWBILL_RETURN_IF_ERROR(w->Sync());
  return Status::Ok();
}

Status FolderWriter::UpdateInventory(const std::vector<model::CardInfo>& cards, TimeMs now) {
  return store::UpdateInventory(fs_, dir_, cards, now, options_.days.tz);
}

size_t FolderWriter::pending_rows() const {
  size_t n = 0;
  for (const auto& w : writers_) n += w->pending_rows();
  return n;
}

int64_t FolderWriter::dropped_rows() const {
  int64_t n = 0;
  for (const auto& w : writers_) n += w->dropped_rows();
  return n;
}

int64_t FolderWriter::torn_records() const {
  int64_t n = 0;
  for (const auto& w : writers_) n += w->torn_records();
  return n;
}

}  // namespace sawbill::store
