// SPDX-License-Identifier: Apache-2.0
#include "app/recorder.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>

#include "app/pipeline.h"
#include "app/when.h"
#include "base/numbers.h"
#include "base/text.h"
#include "collect/collector.h"
#include "store/run_spool.h"
#include "sys/child.h"
#include "sys/self.h"
#include "sys/waiter.h"

namespace sawbill::app {
namespace {

constexpr const char* kSimulatedText = "Recorded from a scripted libnvidia-ml.so.1: no real card was measured.\n";
constexpr int64_t kStatusEveryUs = 60'000'000;
constexpr int kLockTries = 4;

/// Of the pause files that count, the latest end; 0 = none.
TimeMs PausedUntil(const RecorderSpec& spec, Environment* env) {
  TimeMs until = 0;
  for (const std::string& dir : spec.pause_in) {
    const std::string path = sys::JoinPath(dir, collect::kPauseName);
    if (!env->fs->Stat(path).ok()) continue;
    const auto bytes = env->fs->Map(path);
    const auto seconds = bytes.ok() ? ParseDouble((*bytes)->bytes()) : std::nullopt;
    if (seconds && *seconds < 1e11) until = std::max(until, static_cast<TimeMs>(*seconds * 1000));
  }
  return until;
}

class Loop {
 public:
  Loop(const RecorderSpec& spec, Environment* env, std::unique_ptr<store::FolderWriter> writer)
      : spec_(spec),
        env_(env),
        writer_(std::move(writer)),
        inbox_(env->fs, writer_.get()),
        waiter_({SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD}, spec.parent_fd) {
    collect::CollectorOptions o;
    o.interval_ms = spec.interval_ms;
    o.process_every_ms = spec.process_every_ms;
    o.node = sys::HostName();
    o.labels = spec.labels;
    o.lang = spec.lang;
    const long ticks = ::sysconf(_SC_CLK_TCK);
    if (ticks > 0) o.processes.clock_ticks = static_cast<uint32_t>(ticks);
    o.processes.page_bytes = ::sysconf(_SC_PAGESIZE);
    facts_.pid = ::getpid();
    facts_.started = sys::WallNow();
    facts_.interval_s = static_cast<double>(spec.interval_ms) / 1000;
    facts_.version = SAWBILL_VERSION;
    facts_.node = o.node;
    collector_ = std::make_unique<collect::Collector>(
        o, collect::Collector::Seams{env->make_source(spec.nvml, spec.dcgm), env->make_proc_files(), writer_.get(),
                                     [] { return sys::ReadSelfUsage(); },
                                     [this](const std::string& text) { Note(env_, text); }});
  }

  int Run() {
    const int64_t begin_us = sys::SteadyNowUs();
    int64_t next_us = begin_us;  // the first tick at once: a job of two seconds is seen as well
    bool stop = false;
    while (!stop) {
      const auto event = waiter_.Wait(next_us);
      // However short it is, a record holds one tick: it says at least why there is no card.
      stop = event.woke == sys::Waiter::Woke::kPipeClosed ||
             (event.woke == sys::Waiter::Woke::kSignal && (event.signal == SIGTERM || event.signal == SIGINT));
      if (stop && collector_->state().ticks > 0) break;
      if (!stop && event.woke == sys::Waiter::Woke::kSignal) {
        if (event.signal == SIGCHLD && housekeeper_ > 0 && sys::PollChild(housekeeper_)) housekeeper_ = 0;
        continue;
      }
      const collect::Now now = Clocks();
      const bool was_open = was_open_;
      if (spec_.for_ms && now.steady_us - begin_us >= *spec_.for_ms * 1000) break;
      SetPaused(now);
      if (spec_.run && !std::exchange(run_told_, true)) {
        model::RunRow row = *spec_.run;
        row.t_ms = now.wall;
        row.node = facts_.node;
        (void)writer_->Run(row);  // our own cells: written with the tick
      }
      if (!spec_.run) inbox_.Take(now.wall);
      collector_->Tick(now);
      inbox_.Settle();
      last_tick_us_ = now.steady_us;
      Tell(now);
      KeepHouse(now);
      // The tick that opened the source read no card yet: short runs would lose their first second.
      next_us = was_open_ && !was_open ? now.steady_us + std::min<int64_t>(100'000, spec_.interval_ms * 1000)
                                       : NextTick(now.steady_us);
    }
    const collect::Now now = Clocks();
    // The time since the last tick is measured, too: a command rarely ends on the second.
    if (now.steady_us - last_tick_us_ > 50'000) collector_->Tick(now);
    WriteStatus(now);
    if (!spec_.run) inbox_.Take(now.wall);
    const Status stopped = collector_->Stop(now);
    inbox_.Settle();
    if (live_width_ > 0) env_->err->Write("\n");
    if (stopped.ok()) return 0;
    return Fail(env_, Status(StatusKind::kIo, Tr(spec_.lang, Msg::kRecCannotRecord, spec_.dir, stopped.message())));
  }

 private:
  static collect::Now Clocks() { return {sys::WallNow(), sys::BootNowMs(), sys::SteadyNowUs()}; }

  /// On whole multiples of the interval by the wall clock, but at least half an interval from the tick before.
  int64_t NextTick(int64_t before_us) const {
    const int64_t interval_us = spec_.interval_ms * 1000;
    const int64_t steady_us = sys::SteadyNowUs(), wall_us = sys::WallNow() * 1000;
    int64_t next = steady_us + interval_us - wall_us % interval_us;
    while (next - before_us < interval_us / 2) next += interval_us;
    return next;
  }

  void SetPaused(const collect::Now& now) {
    const bool pause = PausedUntil(spec_, env_) > now.wall;
    if (pause == collector_->state().paused) return;
    collector_->SetPaused(pause, now);
    WriteStatus(now);
  }

  void WriteStatus(const collect::Now& now) {
    facts_.updated = now.wall;
    // Only for others to look at: a full disk is reported by the day files.
    (void)env_->fs->WriteAtomically(sys::JoinPath(spec_.dir, collect::kStatusName),
                                    collect::StatusJson(facts_, collector_->state()));
    next_status_us_ = now.steady_us + kStatusEveryUs;
  }

  /// What is going on, for those who look: the status file, and one line on a terminal.
  void Tell(const collect::Now& now) {
    const auto state = collector_->state();
    // Closed to be opened anew with the next tick: what that brings is worth saying.
    const bool between = !state.open && state.status.ok() && !state.paused;
    const bool changed = !between && (state.open != was_open_ || state.status.trouble != was_trouble_);
    if (changed) {
      was_open_ = state.open;
      was_trouble_ = state.status.trouble;
      // Readers look for this file: a receipt of it says SIMULATED.
      if (state.simulated) (void)env_->fs->WriteAtomically(sys::JoinPath(spec_.dir, "SIMULATED"), kSimulatedText);
      if (!spec_.quiet) {
        if (live_width_ > 0) env_->err->Write("\n");
        Note(env_, state.open ? Tr(spec_.lang, Msg::kRecCards, state.cards.size(), state.source, spec_.dir)
                              : gpu::Explain(state.status, spec_.lang));
      }
    }
    if (changed || now.steady_us >= next_status_us_) WriteStatus(now);
    if (spec_.quiet || !env_->err_is_terminal) return;
    double sum = 0;
    int read = 0;
    for (const model::GpuValues& v : collector_->last()) {
      const double util = v[static_cast<size_t>(model::GpuMetric::kSmUtil)];
      if (IsMissing(util)) continue;
      sum += util;
      ++read;
    }
    const std::string mean = read > 0 ? FormatFixed(sum / read, 0) + " %" : "-";
    const std::string rss_mb =
        state.usage.rss_bytes ? FormatFixed(static_cast<double>(*state.usage.rss_bytes) / 1048576.0, 1) : "-";
    const std::string line = Tr(
        spec_.lang, Msg::kRecLive, FormatDuration(Seconds(now.wall - facts_.started), spec_.lang), read, mean,
        state.cpu_share ? FormatFixed(100 * *state.cpu_share, 2) + " %" : std::string("-"), rss_mb, state.lost_ticks);
    env_->err->Write("\r" + Pad(Ellipsize(line, env_->columns - 1), live_width_));
    live_width_ = std::max(live_width_, DisplayWidth(line));
  }

  /// Rollups and compression of closed days need memory for a moment: in a process of their own, at low priority.
  void KeepHouse(const collect::Now& now) {
    if (!spec_.housekeeping || housekeeper_ > 0 || env_->exe_path.empty()) return;
    const std::string hour = spec_.tz.LocalDay(now.wall);
    if (hour == housekept_) return;
    // Two hours and a little after midnight the day before is closed (store/maintain.h).
    if (!housekept_.empty() && spec_.tz.LocalDay(now.wall - 130LL * 60 * 1000) == housekept_) return;
    housekept_ = hour;
    sys::SpawnOptions o;
    o.mask = &waiter_.old_mask();
    o.own_group = true;
    o.output_path = "/dev/null";
    o.set_vars["SAWBILL_HOUSEKEEPING"] = "1";
    std::vector<std::string> argv = {env_->exe_path, "record", "--data", spec_.dir, "--tz", spec_.tz.name()};
    if (spec_.keep_days) argv.insert(argv.end(), {"--keep-days", std::to_string(*spec_.keep_days)});
    const auto pid = sys::Spawn(argv, o);
    if (pid.ok()) housekeeper_ = *pid;
  }

  const RecorderSpec& spec_;
  Environment* env_;
  std::unique_ptr<store::FolderWriter> writer_;
  store::RunInbox inbox_;
  sys::Waiter waiter_;  // before the collector: its threads inherit the mask
  std::unique_ptr<collect::Collector> collector_;
  collect::StatusFacts facts_;
  int64_t next_status_us_ = 0, last_tick_us_ = 0, housekeeper_ = 0;
  std::string housekept_;
  bool was_open_ = false, run_told_ = false;
  gpu::Trouble was_trouble_ = gpu::Trouble::kNone;
  int live_width_ = 0;
};

Result<int64_t> Stretch(const std::string& flag, const std::string& text, int64_t least_ms, int64_t most_ms,
                        Lang lang) {
  const auto ms = ParseDuration(text);
  if (!ms || *ms < least_ms || *ms > most_ms) {
    return Status::Invalid(
        Tr(lang, Msg::kRecBadStretch, flag, text, FormatShortest(Seconds(least_ms)), FormatShortest(Seconds(most_ms))));
  }
  return *ms;
}

}  // namespace

Result<RecorderSpec> ResolveRecorder(const Options& o, const Settings& s) {
  RecorderSpec spec;
  spec.dir = s.data_dir;
  spec.nvml = o.nvml.value_or("");
  spec.dcgm = o.dcgm.value_or("");
  spec.labels = s.labels;
  spec.tz = s.tz;
  spec.lang = s.lang;
  spec.quiet = o.quiet;
  if (o.interval) {
    SAWBILL_ASSIGN_OR_RETURN(spec.interval_ms, Stretch("--interval", *o.interval, 100, 60'000, s.lang));
  }
  spec.process_every_ms = std::max<int64_t>(spec.process_every_ms, spec.interval_ms);
  if (o.process_interval) {
    SAWBILL_ASSIGN_OR_RETURN(spec.process_every_ms,
                             Stretch("--process-interval", *o.process_interval, spec.interval_ms, 3'600'000, s.lang));
  }
  if (o.duration) {
    SAWBILL_ASSIGN_OR_RETURN(spec.for_ms, Stretch("--for", *o.duration, 1, 100LL * 366 * 86'400'000, s.lang));
  }
  if (o.keep_days) {
    const auto days = ParseInt(*o.keep_days);
    if (!days || *days < 1 || *days > 100'000) return Status::Invalid(Tr(s.lang, Msg::kRecBadDays, *o.keep_days));
    spec.keep_days = *days;
  }
  return spec;
}

int RunRecorder(const RecorderSpec& spec, Environment* env) {
  // A thread's own heap would cost more than all that is kept in it.
  ::mallopt(M_ARENA_MAX, 1);
  store::FolderWriterOptions o;
  o.days.tz = spec.tz;
  auto writer = store::FolderWriter::Open(env->fs, spec.dir, o);
  // Who only looks whether a recorder is there (FindRecorder) holds the lock for a moment.
  sys::Waiter waiter({});
  for (int k = 0; k < kLockTries && !writer.ok() && writer.status().kind() == StatusKind::kUnavailable; ++k) {
    waiter.Wait(sys::SteadyNowUs() + 50'000);
    writer = store::FolderWriter::Open(env->fs, spec.dir, o);
  }
  if (!writer.ok()) {
    const Status& why = writer.status();
    if (why.kind() == StatusKind::kUnavailable) return Fail(env, why);
    return Fail(env, Status(StatusKind::kIo, Tr(spec.lang, Msg::kRecCannotRecord, spec.dir, why.message())));
  }
  if (!(*writer)->network_file_system().empty())
    Note(env, Tr(spec.lang, Msg::kRecNetworkDisk, spec.dir, (*writer)->network_file_system()));
  Loop loop(spec, env, std::move(writer).value());
  return loop.Run();
}

std::optional<collect::StatusSeen> FindRecorder(const std::string& dir, const Environment& env) {
  const auto bytes = env.fs->Map(sys::JoinPath(dir, collect::kStatusName));
  if (!bytes.ok()) return std::nullopt;
  auto seen = collect::ParseStatus((*bytes)->bytes());
  if (!seen) return std::nullopt;
  // The file outlives its writer; the lock does not, wherever its process runs (another container may have it).
  const auto lock = env.fs->Lock(sys::JoinPath(dir, ".recorder.lock"));
  if (lock.ok() || lock.status().kind() != StatusKind::kUnavailable) return std::nullopt;
  return seen;
}

std::vector<collect::StatusSeen> FindRecorders(const std::string& data_dir, const Environment& env) {
  std::vector<std::string> dirs = {data_dir};
  for (size_t depth = 0, i = 0; depth < 2; ++depth) {  // runs/<run>, runs/<job>/<node>
    for (const size_t end = dirs.size(); i < end; ++i) {
      const std::string below = i == 0 ? sys::JoinPath(dirs[i], "runs") : dirs[i];
      const auto list = env.fs->List(below);
      if (!list.ok()) continue;
      for (const sys::FileInfo& f : *list) {
        if (f.is_directory) dirs.push_back(sys::JoinPath(below, f.name));
      }
    }
  }
  std::vector<collect::StatusSeen> out;
  for (const std::string& dir : dirs) {
    if (auto seen = FindRecorder(dir, env)) out.push_back(std::move(*seen));
  }
  return out;
}

}  // namespace sawbill::app
