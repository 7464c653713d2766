// SPDX-License-Identifier: Apache-2.0
// Calls that may block for seconds or for ever (the driver, /proc of a stuck process), made from threads that can be
// given up. One slot for each card; a slot is never called twice at the same time, so a card whose call hangs costs
// that card's readings and nothing else: after `patience` another thread goes on with the cards behind it. A call that
// returns late delivers its result to the next Take. Normally one thread does all.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace sawbill::collect {

template <typename T>
class CallPool {
 public:
  using SteadyClock = std::chrono::steady_clock;
  using Millis = std::chrono::milliseconds;
  using Call = std::function<T(size_t slot)>;

  /// `call` must own (shared_ptr) whatever it uses: a call that hangs outlives the pool.
  CallPool(size_t slots, Call call, Millis patience) : state_(std::make_shared<State>()), patience_(patience) {
    state_->call = std::move(call);
    state_->slots.resize(slots);
  }
  CallPool(const CallPool&) = delete;
  CallPool& operator=(const CallPool&) = delete;
  ~CallPool() {
    std::unique_lock<std::mutex> lock(state_->mutex);
    state_->stop = true;
    state_->queue.clear();
    state_->work.notify_all();
    // Those that hang are left behind; they hold the state, and what `call` owns, until they return.
    state_->done.wait_for(lock, Millis(200), [&] { return state_->threads == 0; });
    lock.unlock();
    for (Thread& t : threads_) Part(&t);
  }

  /// Asks for a call of `slot`. Nothing happens when one is queued or running already.
  void Start(size_t slot) {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    Slot& s = state_->slots[slot];
    if (s.queued || s.running) return;
    s.queued = true;
    state_->queue.push_back(slot);
    if (state_->idle == 0 && !HasMover()) AddThread();
    state_->work.notify_one();
  }

  /// Until all calls have returned, or `deadline`.
  void Wait(SteadyClock::time_point deadline) {
    std::unique_lock<std::mutex> lock(state_->mutex);
    while (SteadyClock::now() < deadline) {
      if (state_->queue.empty() && !AnyRunning(SteadyClock::now() - 4 * patience_)) return;
      state_->done.wait_until(lock, std::min(deadline, SteadyClock::now() + patience_));
      // Whoever waits behind a call that does not return gets a thread of its own.
      if (!state_->queue.empty() && state_->idle == 0 && !HasMover()) AddThread();
    }
  }

  /// What was delivered since the last Take.
  std::vector<std::pair<size_t, T>> Take() {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    std::vector<std::pair<size_t, T>> out;
    for (size_t k = 0; k < state_->slots.size(); ++k) {
      if (state_->slots[k].result) out.emplace_back(k, *std::exchange(state_->slots[k].result, std::nullopt));
    }
    return out;
  }

  /// How long the running call of `slot` has lasted; zero when there is none.
  Millis Running(size_t slot) const {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    const Slot& s = state_->slots[slot];
    return s.running ? std::chrono::duration_cast<Millis>(SteadyClock::now() - s.since) : Millis(0);
  }
  bool Idle() const {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    for (const Slot& s : state_->slots) {
      if (s.queued || s.running) return false;
    }
    return true;
  }
  /// Calls are queued, or have run for less than `longest`: it pays to wait for them.
  bool Busy(Millis longest) const {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    return !state_->queue.empty() || AnyRunning(SteadyClock::now() - longest);
  }
  size_t threads() const {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    return state_->threads;
  }

 private:
  struct Slot {
    bool queued = false, running = false;
    SteadyClock::time_point since;
    std::optional<T> result;
  };
  struct State {
    mutable std::mutex mutex;
    std::condition_variable work, done;
    Call call;
    std::vector<Slot> slots;
    std::deque<size_t> queue;
    size_t threads = 0, idle = 0;
    bool stop = false;
  };
  struct Thread {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> left;
  };

  /// A running call that began less than `patience` ago: its thread will see to the queue.
  bool HasMover() const { return AnyRunning(SteadyClock::now() - patience_); }
  bool AnyRunning(SteadyClock::time_point since) const {
    for (const Slot& s : state_->slots) {
      if (s.running && s.since > since) return true;
    }
    return false;
  }
  void AddThread() {
    ++state_->threads;
    ++state_->idle;
    // Handles of those that were one too many.
    std::erase_if(threads_, [](Thread& t) { return *t.left && (Part(&t), true); });
    auto left = std::make_shared<std::atomic<bool>>(false);
    threads_.push_back({std::thread([state = state_, left] { Work(state, left.get()); }), left});
  }
  /// A thread that has left its work ends at once, and what libraries keep per thread is freed before the process ends
  /// (OpenSSL's error state); one that hangs is given up.
  static void Part(Thread* t) {
    if (*t->left) {
      t->thread.join();
    } else {
      t->thread.detach();
    }
  }

  static void Work(const std::shared_ptr<State>& state, std::atomic<bool>* left) {
    std::unique_lock<std::mutex> lock(state->mutex);
    while (true) {
      // More than one idle thread is one too many: it was needed while a call hung.
      const bool woken = state->work.wait_for(lock, std::chrono::seconds(state->idle > 1 ? 5 : 3600),
                                              [&] { return state->stop || !state->queue.empty(); });
      if (state->stop || (!woken && state->idle > 1)) break;
      if (!woken) continue;
      const size_t k = state->queue.front();
      state->queue.pop_front();
      Slot& slot = state->slots[k];  // slots never move: their number is fixed
      slot.queued = false;
      slot.running = true;
      slot.since = SteadyClock::now();
      --state->idle;
      lock.unlock();
      T result = state->call(k);
      lock.lock();
      ++state->idle;
      slot.running = false;
      if (!state->stop) slot.result = std::move(result);
      state->done.notify_all();
    }
    --state->idle;
    --state->threads;
    *left = true;
    state->done.notify_all();
  }

  std::shared_ptr<State> state_;
  std::vector<Thread> threads_;
  Millis patience_;
};

}  // namespace sawbill::collect
