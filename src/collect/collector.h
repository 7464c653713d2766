// SPDX-License-Identifier: Apache-2.0
// The tick: cards, host, processes, runs, events -> day files. Time is an argument: app/ owns the clock and the loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/messages.h"
#include "collect/event_limiter.h"
#include "collect/gpu_watch.h"
#include "collect/run_tracker.h"
#include "collect/self_watch.h"
#include "host/host_reader.h"
#include "host/process_table.h"
#include "store/folder_writer.h"

namespace sawbill::collect {

struct CollectorOptions {
  int64_t interval_ms = 1000;
  int64_t process_every_ms = 10'000;
  double wait_share = 0.6;  // of the interval: the longest that a tick waits for the driver
  WatchOptions watch;
  SelfBudget budget;
  host::TableOptions processes;
  std::string node;
  std::map<std::string, std::string> labels;  // the owner's tags, by uuid
  Lang lang = Lang::kEn;                      // of notes
};

/// One reading of all three clocks. `boot_ms` counts suspended time, `steady_us` does not matter if it does.
struct Now {
  TimeMs wall = 0;
  int64_t boot_ms = 0;
  int64_t steady_us = 0;
};

/// The recorder as others see it (collector.json, `sawbill doctor`, metrics).
struct CollectorState {
  int64_t ticks = 0, lost_ticks = 0;
  TickCost cost;
  std::string source, driver;
  gpu::SourceStatus status;
  bool open = false, paused = false, history_paused = false, simulated = false;
  std::string history_trouble;
  struct Card {
    std::string gpu, uuid, name, trouble;
  };
  std::vector<Card> cards;
  size_t runs = 0;
  int64_t process_every_ms = 0;
  int stretch = 1;
  std::optional<double> cpu_share;
  sys::SelfUsage usage;
  size_t threads = 0;
};

/// THREAD: one at a time.
class Collector {
 public:
  struct Seams {
    std::shared_ptr<gpu::Source> source;
    std::shared_ptr<sys::ProcFiles> files;
    store::FolderWriter* writer = nullptr;
    std::function<sys::SelfUsage()> self;
    std::function<void(const std::string&)> note;  // for a person: said once, not every tick
  };
  Collector(const CollectorOptions& options, Seams seams);
  ~Collector();

  void Tick(const Now& now);
  /// Lets go of the cards (`sawbill pause`); host and runs go on.
  void SetPaused(bool paused, const Now& now);
  /// Lets go of the cards and writes the rest; an error when it could not be written.
  Status Stop(const Now& now);
  CollectorState state() const;
  /// The readings of the last tick, in the order of state().cards; NaN where a card gave none.
  const std::vector<model::GpuValues>& last() const { return last_; }

 private:
  using Processes = CallPool<std::vector<host::ProcessRow>>;
  struct ProcessAsk;

  void CountLate(const Now& now);
  void WriteCards(const Now& now, WatchTick* tick);
  void TakeProcesses(const Now& now, WatchTick* tick);
  void Write(const Now& now);
  void WatchSelf(const Now& now);
  void Event(const Now& now, const WatchEvent& e);
  void Opened(const Now& now);

  CollectorOptions options_;
  Seams seams_;
  GpuWatch watch_;
  host::HostReader host_;
  std::shared_ptr<ProcessAsk> ask_;
  std::unique_ptr<Processes> processes_;
  RunTracker runs_;
  SelfWatch self_;
  EventLimiter limiter_;
  TickCost cost_;
  std::vector<model::GpuValues> last_;
  int64_t ticks_ = 0, lost_ticks_ = 0, last_steady_us_ = 0, next_process_us_ = 0, next_self_us_ = 0;
  bool history_paused_ = false;
  std::string history_trouble_;
  std::vector<WatchEvent> waiting_;  // said between ticks
};

}  // namespace sawbill::collect
