// SPDX-License-Identifier: Apache-2.0
// A source of card readings through its whole life: missing, late, open, cards lost and back, sight lost, reloaded,
// paused. One bad field, card or process never costs the others; what cannot be read is not measured, never idle.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collect/call_pool.h"
#include "gpu/source.h"
#include "model/recording.h"

namespace sawbill::collect {

struct WatchOptions {
  std::chrono::milliseconds patience{150};   // a call that lasts longer gets company
  std::chrono::milliseconds open_wait{300};  // of a tick for an Open that is under way
  int64_t first_retry_us = 1'000'000;        // after a failed Open; doubles
  int64_t most_retry_us = 60'000'000;
  int64_t lost_retry_us = 5'000'000;         // after the loss of a card; doubles
  int64_t most_lost_retry_us = 600'000'000;  // opening anew disturbs the other cards for a moment
  int64_t slow_every_us = 5'000'000;
  bool wait_for_all = false;    // in a tick for the slow readings and process lists as well: for tests
  int64_t hang_us = 5'000'000;  // a call that lasts longer is reported as hanging
};

struct WatchEvent {
  std::string kind, gpu, detail;
};

/// What one tick brought.
struct WatchTick {
  struct Row {
    size_t card = 0;  // index into cards()
    model::GpuValues values;
  };
  std::vector<Row> rows;
  std::vector<WatchEvent> events;
  bool opened = false;                                    // cards() is new
  std::optional<std::vector<model::CardHolder>> holders;  // when a round of process lists is complete
  int64_t driver_us = 0;                                  // spent waiting for the driver
};

/// THREAD: one at a time.
class GpuWatch {
 public:
  GpuWatch(std::shared_ptr<gpu::Source> source, const WatchOptions& options);
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  /// Begins the readings of a tick; to be followed by Finish, with other work between them.
  void Begin(int64_t steady_us, bool want_holders);
  /// Waits at most until `deadline` for what is quick.
  WatchTick Finish(int64_t steady_us, std::chrono::steady_clock::time_point deadline);

  /// Lets go of library and device files (a call that hangs keeps them); Resume opens again at the next Begin.
  void Pause();
  void Resume(int64_t steady_us);
  bool paused() const { return paused_; }
  bool open() const { return open_; }

  const gpu::SourceStatus& status() const { return status_; }
  const std::vector<gpu::Source::CardSlot>& cards() const { return cards_; }
  gpu::SourceInfo info() const { return info_; }
  /// Why a card gives nothing now: "" = it is read; "lost", "hanging", "suspended", "no_fields".
  std::string CardTrouble(size_t card) const;
  /// The instant at which a closed source is tried again; 0 = open or opening.
  int64_t next_open_us() const { return open_ || opening_ ? 0 : next_open_us_; }
  size_t threads() const;

 private:
  struct CardState {
    bool lost = false, hanging = false, no_fields = false;
    int lost_code = 0;
  };
  using Readings = CallPool<gpu::CardReading>;

  void StartOpen();
  void TakeOpen(int64_t steady_us, WatchTick* tick);
  void OnOpened(WatchTick* tick);
  void OnFailed(const gpu::SourceStatus& status, int64_t steady_us, WatchTick* tick);
  void CloseSource();
  bool Usable(size_t card) const;
  void TakeQuick(int64_t steady_us, WatchTick* tick);
  void TakeSlow(WatchTick* tick);
  void TakeHolders(WatchTick* tick);
  void Lose(size_t card, int code, int64_t steady_us, WatchTick* tick);
  void Emit(WatchTick* tick, std::string kind, size_t card, std::string detail);

  std::shared_ptr<gpu::Source> source_;
  WatchOptions options_;
  bool open_ = false, opening_ = false, paused_ = false;
  gpu::SourceStatus status_;
  std::optional<gpu::Trouble> told_;  // the trouble that the last event named
  std::string driver_;                // of the last Open that succeeded
  bool opened_before_ = false;
  std::vector<gpu::Source::CardSlot> cards_;
  gpu::SourceInfo info_;
  std::vector<CardState> states_;
  std::set<std::string> lost_uuids_;  // across Opens, so that a return is noticed
  int64_t next_open_us_ = 0, retry_us_ = 0, lost_retry_us_ = 0, next_lost_us_ = 0, next_slow_us_ = 0;
  std::shared_ptr<std::atomic<int64_t>> now_us_;
  std::unique_ptr<CallPool<gpu::SourceStatus>> opener_;
  std::unique_ptr<CallPool<std::vector<gpu::CardEvent>>> events_;
  std::unique_ptr<Readings> quick_, slow_, holders_;
  bool holders_wanted_ = false, round_open_ = false;
  std::vector<model::CardHolder> round_;
};

}  // namespace sawbill::collect
