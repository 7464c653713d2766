// SPDX-License-Identifier: Apache-2.0
// States: closed -> opening -> open -> closed. Opening runs on a thread of its own (without persistence mode the driver
// takes seconds, a wedged one for ever). While open, each card is read, lost, hanging or without fields on its own.
//
// A lost card (off the bus) is never called again with its old handle. To see whether it is back everything must be
// opened anew, since indices shift; that is tried ever more seldom. When all cards fail in the same way in one tick it
// is not the cards: a container lost its device files, or the library lost the driver. Then the source is closed and
// tried again, and the time until it answers is not measured.
#include "collect/gpu_watch.h"

#include <algorithm>
#include <atomic>

#include "base/numbers.h"

namespace sawbill::collect {
namespace {

using Clock = std::chrono::steady_clock;

std::string Trouble(const gpu::SourceStatus& s) {
  std::string detail = std::string("trouble=") + gpu::Name(s.trouble);
  if (s.code != 0) detail += " code=" + std::to_string(s.code);
  return detail;
}

}  // namespace

GpuWatch::GpuWatch(std::shared_ptr<gpu::Source> source, const WatchOptions& options)
    : source_(std::move(source)), options_(options), now_us_(std::make_shared<std::atomic<int64_t>>(0)) {
  opener_ = std::make_unique<CallPool<gpu::SourceStatus>>(
      1, [source = source_](size_t) { return source->Open(); }, options_.patience);
  retry_us_ = options_.first_retry_us;
  lost_retry_us_ = options_.lost_retry_us;
}

GpuWatch::~GpuWatch() { CloseSource(); }

size_t GpuWatch::threads() const {
  size_t n = opener_->threads();
  for (const auto* pool : {quick_.get(), slow_.get(), holders_.get()}) n += pool != nullptr ? pool->threads() : 0;
  return n;
}

std::string GpuWatch::CardTrouble(size_t card) const {
  if (cards_[card].suspended) return "suspended";
  if (states_[card].lost) return "lost";
  if (states_[card].hanging) return "hanging";
  return states_[card].no_fields ? "no_fields" : "";
}

// A suspended card is asked all the same: the source then looks whether it woke, without touching it.
bool GpuWatch::Usable(size_t card) const { return !states_[card].lost; }

void GpuWatch::Emit(WatchTick* tick, std::string kind, size_t card, std::string detail) {
  tick->events.push_back({std::move(kind), card < cards_.size() ? cards_[card].info.gpu : "", std::move(detail)});
}

void GpuWatch::StartOpen() {
  opening_ = true;
  opener_->Start(0);
}

void GpuWatch::Begin(int64_t steady_us, bool want_holders) {
  now_us_->store(steady_us);
  holders_wanted_ = holders_wanted_ || want_holders;
  if (paused_) return;
  if (open_ && next_lost_us_ != 0 && steady_us >= next_lost_us_ && quick_->Idle() && slow_->Idle() &&
      holders_->Idle()) {
    CloseSource();
    next_open_us_ = 0;
  }
  if (!open_ && !opening_ && steady_us >= next_open_us_) StartOpen();
  if (!open_) return;
  for (size_t k = 0; k < cards_.size(); ++k) {
    if (Usable(k)) quick_->Start(k);
  }
  events_->Start(0);
  if (steady_us >= next_slow_us_) {
    next_slow_us_ = steady_us + options_.slow_every_us;
    for (size_t k = 0; k < cards_.size(); ++k) {
      if (Usable(k)) slow_->Start(k);
    }
  }
  if (std::exchange(holders_wanted_, false)) {
    round_.clear();
    round_open_ = true;
    for (size_t k = 0; k < cards_.size(); ++k) {
      if (Usable(k)) holders_->Start(k);
    }
  }
}

WatchTick GpuWatch::Finish(int64_t steady_us, Clock::time_point deadline) {
  WatchTick tick;
  const auto from = Clock::now();
  if (opening_) {
    opener_->Wait(std::min(deadline, from + options_.open_wait));
    TakeOpen(steady_us, &tick);
  } else if (open_) {
    quick_->Wait(deadline);
    if (options_.wait_for_all) {
      slow_->Wait(deadline);
      holders_->Wait(deadline);
      events_->Wait(deadline);
    }
    TakeQuick(steady_us, &tick);
    if (open_) TakeSlow(&tick);
    if (open_) TakeHolders(&tick);
    if (open_) {
      for (auto& [slot, events] : events_->Take()) {
        for (gpu::CardEvent& e : events)
          tick.events.push_back({std::move(e.kind), std::move(e.gpu), std::move(e.detail)});
      }
    }
  }
  tick.driver_us = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - from).count();
  return tick;
}

void GpuWatch::TakeOpen(int64_t steady_us, WatchTick* tick) {
  auto results = opener_->Take();
  if (results.empty()) return;
  opening_ = false;
  status_ = results.back().second;
  if (!status_.ok()) {
    OnFailed(status_, steady_us, tick);
    return;
  }
  if (paused_) {  // asked for while it opened
    source_->Close();
    return;
  }
  OnOpened(tick);
  // A card that is off the bus may not even be counted any more: it is missed all the same.
  if (!lost_uuids_.empty() || std::any_of(states_.begin(), states_.end(), [](const CardState& s) { return s.lost; })) {
    next_lost_us_ = steady_us + lost_retry_us_;
    lost_retry_us_ = std::min(2 * lost_retry_us_, options_.most_lost_retry_us);
  } else {
    next_lost_us_ = 0;
    lost_retry_us_ = options_.lost_retry_us;
  }
}

void GpuWatch::OnFailed(const gpu::SourceStatus& status, int64_t steady_us, WatchTick* tick) {
  next_open_us_ = steady_us + retry_us_;
  retry_us_ = std::min(2 * retry_us_, options_.most_retry_us);
  if (told_ == status.trouble) return;  // said once, not every minute
  told_ = status.trouble;
  tick->events.push_back({"driver_lost", "", Trouble(status)});
}

void GpuWatch::OnOpened(WatchTick* tick) {
  open_ = true;
  tick->opened = true;
  cards_ = source_->cards();
  info_ = source_->info();
  states_.assign(cards_.size(), {});
  retry_us_ = options_.first_retry_us;
  next_slow_us_ = 0;
  if (std::exchange(told_, std::nullopt)) tick->events.push_back({"driver_back", "", "driver=" + info_.driver});
  if (opened_before_ && driver_ != info_.driver)
    tick->events.push_back({"driver_reload", "", "from=" + driver_ + " to=" + info_.driver});
  opened_before_ = true;
  driver_ = info_.driver;
  for (size_t k = 0; k < cards_.size(); ++k) {
    const std::string& uuid = cards_[k].info.uuid;
    if (cards_[k].lost_code != 0) {
      states_[k].lost = true;
      states_[k].lost_code = cards_[k].lost_code;
      if (uuid.empty() || lost_uuids_.insert(uuid).second)
        Emit(tick, "gpu_lost", k, "code=" + std::to_string(cards_[k].lost_code));
    } else if (lost_uuids_.erase(uuid) > 0) {
      Emit(tick, "gpu_back", k, "uuid=" + uuid);
    }
  }
  const auto pool = [&](gpu::CardReading (gpu::Source::*read)(size_t, int64_t)) {
    return std::make_unique<Readings>(
        cards_.size(),
        [source = source_, now = now_us_, read](size_t card) { return (source.get()->*read)(card, now->load()); },
        options_.patience);
  };
  quick_ = pool(&gpu::Source::ReadQuick);
  slow_ = pool(&gpu::Source::ReadSlow);
  holders_ = pool(&gpu::Source::ReadHolders);
  events_ = std::make_unique<CallPool<std::vector<gpu::CardEvent>>>(
      1, [source = source_](size_t) { return source->TakeEvents(); }, options_.patience);
}

void GpuWatch::CloseSource() {
  quick_.reset();
  slow_.reset();
  holders_.reset();
  events_.reset();
  if (open_) source_->Close();
  open_ = false;
}

void GpuWatch::Lose(size_t card, int code, int64_t steady_us, WatchTick* tick) {
  states_[card].lost = true;
  states_[card].lost_code = code;
  if (!cards_[card].info.uuid.empty()) lost_uuids_.insert(cards_[card].info.uuid);
  Emit(tick, "gpu_lost", card, "code=" + std::to_string(code));
  if (next_lost_us_ == 0) {
    next_lost_us_ = steady_us + lost_retry_us_;
    lost_retry_us_ = std::min(2 * lost_retry_us_, options_.most_lost_retry_us);
  }
}

void GpuWatch::TakeQuick(int64_t steady_us, WatchTick* tick) {
  auto readings = quick_->Take();
  // The source as a whole, before any card is blamed.
  size_t gone = 0;
  int code = 0;
  bool reopen = false, woke = false;
  for (const auto& [card, r] : readings) {
    woke = woke || (r.outcome == gpu::Outcome::kReopen && r.code == 0);
    if (r.outcome == gpu::Outcome::kReopen) reopen = true;
    if (r.outcome == gpu::Outcome::kReopen || r.outcome == gpu::Outcome::kLost) {
      ++gone;
      code = r.code;
    }
  }
  size_t usable = 0;
  for (size_t k = 0; k < cards_.size(); ++k) usable += Usable(k) ? 1 : 0;
  if (woke) {  // a card that slept is there: enumerate anew, nothing was lost
    CloseSource();
    next_open_us_ = 0;
    return;
  }
  if (reopen || (gone > 0 && gone == usable && (usable > 1 || code == 999 || code == 4))) {
    CloseSource();
    status_ = {};
    status_.trouble = reopen ? (code == 18  ? gpu::Trouble::kMismatch
                                : code == 9 ? gpu::Trouble::kNoDriver
                                            : gpu::Trouble::kOther)
                             : gpu::Trouble::kLostSight;
    status_.code = code;
    OnFailed(status_, steady_us, tick);
    return;
  }
  for (auto& [card, r] : readings) {
    CardState& state = states_[card];
    state.hanging = false;
    if (r.outcome == gpu::Outcome::kLost) {
      Lose(card, r.code, steady_us, tick);
      continue;
    }
    if (r.outcome == gpu::Outcome::kNotNew || r.outcome == gpu::Outcome::kSuspended) continue;
    if (r.outcome == gpu::Outcome::kEmpty && !std::exchange(state.no_fields, true)) {
      Emit(tick, "no_readings", card, "supported=" + std::to_string(r.supported) + " asked=" + std::to_string(r.asked));
    }
    if (r.outcome == gpu::Outcome::kOk) state.no_fields = false;
    if (!cards_[card].mig_parent) tick->rows.push_back({card, r.values});
  }
  for (size_t k = 0; k < cards_.size(); ++k) {
    const int64_t running_us = quick_->Running(k).count() * 1000;
    if (running_us > options_.hang_us && !std::exchange(states_[k].hanging, true)) {
      Emit(tick, "call_hangs", k, "seconds=" + FormatFixed(static_cast<double>(running_us) / 1e6, 1));
    }
  }
}

void GpuWatch::TakeSlow(WatchTick* tick) {
  for (auto& [card, r] : slow_->Take()) {
    if (r.outcome != gpu::Outcome::kOk) continue;
    for (WatchTick::Row& row : tick->rows) {
      if (row.card != card) continue;
      for (size_t m = 0; m < row.values.size(); ++m) {
        if (IsMissing(row.values[m])) row.values[m] = r.values[m];
      }
    }
  }
}

void GpuWatch::TakeHolders(WatchTick* tick) {
  auto readings = holders_->Take();
  if (readings.empty() && (!round_open_ || holders_->Busy(4 * options_.patience))) return;
  for (auto& [card, r] : readings) round_.insert(round_.end(), r.holders.begin(), r.holders.end());
  // A card whose call hangs does not keep the rows of the others back.
  if (holders_->Busy(4 * options_.patience)) return;
  round_open_ = false;
  tick->holders = std::exchange(round_, {});
}

void GpuWatch::Pause() {
  paused_ = true;
  if (!opening_) CloseSource();
}

void GpuWatch::Resume(int64_t steady_us) {
  paused_ = false;
  next_open_us_ = steady_us;
}

}  // namespace sawbill::collect
