// SPDX-License-Identifier: Apache-2.0
// A tick asks the driver first and reads the host while the driver works. What is late comes with a later tick, under
// that tick's time; what does not come leaves no row, and a card without a row was not measured.
#include "collect/collector.h"

#include <algorithm>
#include <mutex>

#include "base/numbers.h"

namespace sawbill::collect {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::microseconds;

int64_t Since(Clock::time_point from) { return duration_cast<microseconds>(Clock::now() - from).count(); }

}  // namespace

/// Handed to the thread that reads process trees; /proc of a process that the kernel cannot wake may block for ever.
struct Collector::ProcessAsk {
  ProcessAsk(std::shared_ptr<sys::ProcFiles> f, const host::TableOptions& options)
      : files(std::move(f)), table(files.get(), options) {}
  std::shared_ptr<sys::ProcFiles> files;
  host::ProcessTable table;
  std::mutex mutex;
  std::vector<model::CardHolder> holders;
  int64_t steady_us = 0, took_us = 0;
  TimeMs wall = 0;
};

Collector::Collector(const CollectorOptions& options, Seams seams)
    : options_(options),
      seams_(std::move(seams)),
      watch_(seams_.source, options.watch),
      host_(seams_.files.get()),
      ask_(std::make_shared<ProcessAsk>(seams_.files, options.processes)),
      runs_(options.node),
      self_(options.budget) {
  processes_ = std::make_unique<Processes>(
      1,
      [ask = ask_](size_t) {
        std::vector<model::CardHolder> holders;
        int64_t steady_us = 0;
        TimeMs wall = 0;
        {
          const std::lock_guard<std::mutex> lock(ask->mutex);
          holders = ask->holders;
          steady_us = ask->steady_us;
          wall = ask->wall;
        }
        const auto from = Clock::now();
        auto rows = ask->table.Read(steady_us, wall, holders);
        const std::lock_guard<std::mutex> lock(ask->mutex);
        ask->took_us += Since(from);
        return rows;
      },
      options.watch.patience);
}

Collector::~Collector() = default;

void Collector::Event(const Now& now, const WatchEvent& e) {
  const auto detail = limiter_.Admit(now.steady_us, e.kind, e.gpu, e.detail);
  if (detail) (void)seams_.writer->Event(now.wall, e.kind, e.gpu, *detail);  // our own cells: cannot be wrong
}

void Collector::CountLate(const Now& now) {
  const int64_t interval_us = options_.interval_ms * 1000;
  if (ticks_ > 0) {
    const int64_t elapsed_us = now.steady_us - last_steady_us_;
    const int64_t missed = (elapsed_us + interval_us / 2) / interval_us - 1;
    if (missed > 0) {
      lost_ticks_ += missed;
      Event(now, {"late_tick", "", "lost=" + std::to_string(missed)});
    }
  }
  ++ticks_;
  last_steady_us_ = now.steady_us;
}

void Collector::Tick(const Now& now) {
  const auto deadline =
      Clock::now() +
      microseconds(static_cast<int64_t>(static_cast<double>(options_.interval_ms) * 1000 * options_.wait_share));
  seams_.writer->BeginTick({now.wall, now.boot_ms});
  for (const WatchEvent& e : std::exchange(waiting_, {})) (void)seams_.writer->Event(now.wall, e.kind, e.gpu, e.detail);
  CountLate(now);
  const bool want = now.steady_us >= next_process_us_ && processes_->Idle();
  if (want) next_process_us_ = now.steady_us + options_.process_every_ms * 1000 * self_.stretch();
  watch_.Begin(now.steady_us, want);

  auto from = Clock::now();
  const model::HostValues host = host_.Read(now.steady_us);
  (void)seams_.writer->Host(now.wall, host);
  cost_.host_us += Since(from);

  WatchTick tick = watch_.Finish(now.steady_us, deadline);
  cost_.driver_us += tick.driver_us;
  if (tick.opened) Opened(now);
  for (const WatchEvent& e : tick.events) Event(now, e);
  WriteCards(now, &tick);
  // Without a source the processes are still worth rows: hogs, and who would hold the cards.
  if (want && !watch_.open()) tick.holders.emplace();
  TakeProcesses(now, &tick);
  WatchSelf(now);
  from = Clock::now();
  Write(now);
  cost_.writing_us += Since(from);
  ++cost_.ticks;
}

void Collector::Opened(const Now& now) {
  std::vector<model::CardInfo> cards;
  for (const auto& slot : watch_.cards()) {
    if (slot.mig_parent || slot.info.uuid.empty()) continue;
    model::CardInfo info = slot.info;
    info.node = options_.node;
    const auto label = options_.labels.find(info.uuid);
    if (label != options_.labels.end()) info.label = label->second;
    cards.push_back(std::move(info));
  }
  const Status status = seams_.writer->UpdateInventory(cards, now.wall);
  if (!status.ok() && seams_.note) seams_.note(status.message());
}

void Collector::WriteCards(const Now& now, WatchTick* tick) {
  model::GpuValues nothing;
  nothing.fill(kMissing);
  std::vector<size_t> place(watch_.cards().size());
  size_t shown = 0;
  for (size_t k = 0; k < place.size(); ++k) {
    place[k] = shown;
    if (!watch_.cards()[k].mig_parent) ++shown;
  }
  last_.assign(shown, nothing);
  for (const WatchTick::Row& row : tick->rows) {
    last_[place[row.card]] = row.values;
    (void)seams_.writer->Gpu(now.wall, watch_.cards()[row.card].info.gpu, row.values);
  }
}

void Collector::TakeProcesses(const Now& now, WatchTick* tick) {
  if (tick->holders) {
    {
      const std::lock_guard<std::mutex> lock(ask_->mutex);
      ask_->holders = std::move(*tick->holders);
      ask_->steady_us = now.steady_us;
      ask_->wall = now.wall;
    }
    processes_->Start(0);
    processes_->Wait(Clock::now() + microseconds(options_.interval_ms * 100));
  }
  for (auto& [slot, rows] : processes_->Take()) {
    for (const host::ProcessRow& r : rows) {
      (void)seams_.writer->Process(now.wall, {r.gpu, r.pid, r.user, r.name, r.identity.job, r.values});
    }
    for (const model::RunRow& run : runs_.Observe(now.wall, rows)) (void)seams_.writer->Run(run);
    const std::lock_guard<std::mutex> lock(ask_->mutex);
    cost_.processes_us += std::exchange(ask_->took_us, 0);
  }
}

void Collector::WatchSelf(const Now& now) {
  if (now.steady_us < next_self_us_ || !seams_.self) return;
  next_self_us_ = now.steady_us + 60'000'000;
  if (!self_.Observe(now.steady_us, seams_.self())) return;
  Event(now, {"over_budget", "",
              "cpu_share=" + FormatFixed(*self_.cpu_share(), 4) + " process_every_s=" +
                  FormatFixed(static_cast<double>(options_.process_every_ms * self_.stretch()) / 1000, 0)});
}

void Collector::Write(const Now&) {
  const Status status = seams_.writer->EndTick();
  const bool paused = !status.ok();
  const std::string& dir = seams_.writer->dir();
  if (paused && !history_paused_ && seams_.note)
    seams_.note(Tr(options_.lang, Msg::kRecHistoryPaused, dir, status.message()));
  if (!paused && history_paused_ && seams_.note) seams_.note(Tr(options_.lang, Msg::kRecHistoryGoesOn, dir));
  history_paused_ = paused;
  history_trouble_ = status.message();
}

void Collector::SetPaused(bool paused, const Now& now) {
  if (paused == watch_.paused()) return;
  if (paused) {
    watch_.Pause();
  } else {
    watch_.Resume(now.steady_us);
  }
  waiting_.push_back({paused ? "paused" : "resumed", "", ""});
}

Status Collector::Stop(const Now& now) {
  watch_.Pause();
  return seams_.writer->Close(now.wall);
}

CollectorState Collector::state() const {
  CollectorState s;
  s.ticks = ticks_;
  s.lost_ticks = lost_ticks_;
  s.cost = cost_;
  s.source = watch_.info().name;
  s.driver = watch_.info().driver;
  s.status = watch_.status();
  s.open = watch_.open();
  s.simulated = watch_.info().simulated;
  s.paused = watch_.paused();
  s.history_paused = history_paused_;
  s.history_trouble = history_trouble_;
  for (size_t k = 0; k < watch_.cards().size(); ++k) {
    const auto& slot = watch_.cards()[k];
    if (!slot.mig_parent) s.cards.push_back({slot.info.gpu, slot.info.uuid, slot.info.name, watch_.CardTrouble(k)});
  }
  s.runs = runs_.open_runs();
  s.process_every_ms = options_.process_every_ms * self_.stretch();
  s.stretch = self_.stretch();
  s.cpu_share = self_.cpu_share();
  s.usage = seams_.self ? seams_.self() : sys::SelfUsage{};
  s.threads = watch_.threads() + processes_->threads();
  return s;
}

}  // namespace sawbill::collect
