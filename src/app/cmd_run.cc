// SPDX-License-Identifier: Apache-2.0
// `sawbill run`: CMD and the recorder are two processes beside each other; a fault of the one does not touch the other.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include "app/commands.h"
#include "app/pipeline.h"
#include "app/recorder.h"
#include "app/run_beside.h"
#include "app/run_cards.h"
#include "app/run_child.h"
#include "app/run_money.h"
#include "app/run_plan.h"
#include "base/numbers.h"
#include "base/text.h"
#include "host/family.h"
#include "store/day_reader.h"
#include "store/folder_writer.h"

namespace sawbill::app {
namespace {

constexpr int64_t kRecorderPatienceUs = 10'000'000;

class Run {
 public:
  Run(const Options& options, const Settings& settings, RunPlan plan, Environment* env)
      : options_(options),
        settings_(settings),
        plan_(std::move(plan)),
        env_(env),
        lang_(settings.lang),
        files_(env->make_proc_files()),
        waiter_(SupervisedSignals()),
        started_(sys::WallNow()),
        money_(plan_, settings_, env, started_),
        cards_(plan_, settings_, env, files_) {}

  int All() {
    if (plan_.records) {
      daemon_.emplace(plan_, settings_, env_);
      if (!daemon_->found()) daemon_.reset();
      if (daemon_ && !options_.quiet) Note(env_, Tr(lang_, Msg::kRecUsesDaemon, settings_.data_dir));
      if (!daemon_) StartRecorder();
    }
    const int code = plan_.attach ? WatchProcess() : RunCommand();
    if (failed_) return code;
    ended_ = sys::WallNow();
    StopRecorder();
    if (plan_.records && !never_recorded_) WriteRun();
    if (plan_.receipt && plan_.records) Receipt();
    return code;
  }

 private:
  /// Where the samples are.
  const std::string& SamplesDir() const { return daemon_ ? settings_.data_dir : plan_.dir; }

  void StartRecorder() {
    int ends[2] = {-1, -1};
    const Status made = env_->fs->MakeDirs(plan_.dir);
    if (!made.ok() || env_->exe_path.empty() || ::pipe2(ends, O_CLOEXEC) != 0) {
      Note(env_, Tr(lang_, Msg::kRecNoRecorderStart, made.ok() ? "pipe" : made.message()));
      never_recorded_ = true;
      return;
    }
    sys::SpawnOptions o;
    o.mask = &waiter_.old_mask();
    o.own_group = true;
    o.output_path = Log();
    o.keep_fds = {ends[0]};
    o.set_vars["SAWBILL_PARENT_FD"] = std::to_string(ends[0]);
    o.set_vars["SAWBILL_RUN_ID"] = plan_.id;
    o.set_vars["SAWBILL_RUN_JOB"] = plan_.job;
    o.set_vars["SAWBILL_RUN_PROJECT"] = plan_.project;
    o.set_vars["SAWBILL_RUN_PROGRAM"] = Program();
    std::vector<std::string> argv = {env_->exe_path, "record", "--data", plan_.dir, "--tz", settings_.tz.name()};
    const auto pass = [&](const char* flag, const std::optional<std::string>& value) {
      if (value) argv.insert(argv.end(), {flag, *value});
    };
    pass("--interval", options_.interval);
    pass("--process-interval", options_.process_interval);
    pass("--nvml", options_.nvml);
    pass("--dcgm", options_.dcgm);
    pass("--config", options_.config);
    const auto pid = sys::Spawn(argv, o);
    ::close(ends[0]);
    if (!pid.ok()) {
      ::close(ends[1]);
      Note(env_, Tr(lang_, Msg::kRecNoRecorderStart, pid.status().message()));
      return;
    }
    recorder_ = *pid;
    recorder_pipe_ = ends[1];
  }

  std::string Program() const { return options_.child.empty() ? "" : sys::BaseName(options_.child.front()); }
  std::string Log() const { return sys::JoinPath(plan_.dir, "recorder.log"); }

  void CheckRecorder() {
    if (recorder_ == 0) return;
    const auto state = sys::PollChild(recorder_);
    if (!state || state->kind == sys::ChildState::Kind::kStopped || state->kind == sys::ChildState::Kind::kContinued)
      return;
    recorder_ = 0;
    if (recorder_pipe_ < 0) return;
    const bool killed = state->kind == sys::ChildState::Kind::kSignaled;
    Note(env_, killed ? Tr(lang_, Msg::kRecRecorderKilled, state->value)
                      : Tr(lang_, Msg::kRecRecorderDied, state->value, Log()));
  }

  void StopRecorder() {
    if (recorder_pipe_ >= 0) ::close(std::exchange(recorder_pipe_, -1));
    const int64_t end_us = sys::SteadyNowUs() + kRecorderPatienceUs;
    while (recorder_ != 0 && sys::SteadyNowUs() < end_us) {
      waiter_.Wait(sys::SteadyNowUs() + 20'000);
      CheckRecorder();
    }
    if (recorder_ == 0) return;
    ::kill(static_cast<pid_t>(recorder_), SIGKILL);
    (void)sys::WaitChild(recorder_);
    recorder_ = 0;
  }

  int RunCommand() {
    sys::SpawnOptions o;
    o.mask = &waiter_.old_mask();
    if (options_.job) o.set_vars["SAWBILL_JOB"] = *options_.job;
    if (options_.project) o.set_vars["SAWBILL_PROJECT"] = *options_.project;
    const auto pid = sys::Spawn(options_.child, o);
    if (!pid.ok()) {
      failed_ = true;
      StopRecorder();
      (void)Fail(env_, Status::NotFound(Tr(lang_, Msg::kRecCannotRun, pid.status().message())));
      return pid.status().kind() == StatusKind::kNotFound ? 127 : 126;
    }
    watched_ = *pid;
    if (daemon_) daemon_->Tell(Row("start"));
    const Supervised end = Supervise(*pid, &waiter_, [this] { EverySecond(); }, [this] { CheckRecorder(); });
    exit_status_ = end.exit_status;
    return end.exit_code;
  }

  int WatchProcess() {
    watched_ = *plan_.attach;
    const host::ProcessKey key = host::FindProcess(files_.get(), watched_);
    if (!key.alive) {
      failed_ = true;
      StopRecorder();
      return Fail(env_, Status::NotFound(Tr(lang_, Msg::kRecNoProcess, watched_)));
    }
    cards_.AttachedTo(watched_);
    if (daemon_) daemon_->Tell(Row("start"));
    Watch([&] { return host::FindProcess(files_.get(), watched_).started_ticks == key.started_ticks; }, &waiter_,
          [this] {
            EverySecond();
            CheckRecorder();
          });
    return 0;
  }

  void EverySecond() {
    if (second_++ % 10 == 0 || family_.empty()) {
      for (const int64_t pid : host::Family(files_.get(), watched_)) family_.insert(pid);
    }
    if (daemon_) daemon_->Look();
    if (options_.quiet || !plan_.records) return;
    if (!money_.has_cards()) {
      const auto seen = FindRecorder(SamplesDir(), *env_);
      money_.SetCards(seen ? cards_.Visible(cards_.Of(*seen)) : std::vector<model::CardInfo>());
    }
    money_.Tick(sys::WallNow());
  }

  model::RunRow Row(const std::string& state) {
    model::RunRow row;
    row.run = plan_.id;
    row.job = plan_.job;
    row.project = plan_.project;
    row.user = sys::UserName(static_cast<uint32_t>(::getuid()));
    row.node = sys::HostName();
    row.program = Program();
    row.state = state;
    row.t_ms = started_;
    if (state == "end") {
      row.t_ms = ended_;
      row.exit_status = exit_status_;
    }
    // In a folder of many, the row says which cards the run is billed for.
    if (daemon_) row.gpus = Join(BilledGpus(state), "|");
    return row;
  }

  std::vector<std::string> BilledGpus(const std::string& state) {
    const std::vector<model::CardInfo> cards = cards_.Visible(cards_.Of(daemon_->seen()));
    std::set<std::string> used;
    if (plan_.bill == Bill::kUsed && state == "end") {
      const auto source = OpenSamples(settings_.data_dir);
      if (source.ok()) {
        for (std::string& uuid : RunCards::Used(**source, family_)) used.insert(std::move(uuid));
      }
    }
    std::vector<std::string> out;
    for (const model::CardInfo& c : cards) {
      if (used.empty() || used.contains(c.uuid)) out.push_back(c.gpu);
    }
    return out;
  }

  void WriteRun() {
    store::FolderWriterOptions o;
    o.days.tz = settings_.tz;
    o.start_and_stop_events = false;
    auto writer = store::FolderWriter::Open(env_->fs, plan_.dir, o);
    if (!writer.ok()) return Note(env_, writer.status().message());
    // Without a daemon the run's recorder wrote the start, before the rows of its own.
    if (daemon_) (void)(*writer)->Run(Row("start"));
    const model::RunRow end = Row("end");
    (void)(*writer)->Run(end);
    const Status written = (*writer)->EndTick();
    if (!written.ok()) Note(env_, written.message());
    if (!daemon_) return;
    daemon_->LastLook();
    daemon_->LeaveSign();
    daemon_->Tell(end);
  }

  Result<std::unique_ptr<model::TelemetrySource>> OpenSamples(const std::string& dir) const {
    store::DataFolderOptions o;
    o.tz = settings_.tz;
    o.lang = settings_.lang;
    o.from = started_;
    o.to = ended_;
    return store::OpenDataFolder(env_->fs, dir, o);
  }

  void Receipt() {
    // The job of several nodes stands in a folder a node.
    const std::string dir = daemon_ ? settings_.data_dir : plan_.shared ? sys::DirName(plan_.dir) : plan_.dir;
    const auto source = OpenSamples(dir);
    if (!source.ok() || (*source)->cards().empty()) {
      if (!never_recorded_) return Note(env_, Tr(lang_, Msg::kRecNoCards, WhyNoCards()));
      return Note(env_, Tr(lang_, Msg::kRecNoRecord, plan_.dir));
    }
    if ((*source)->period().seconds() <= 0) return Note(env_, std::string(Text(lang_, Msg::kRecTooShort)));
    Options report = options_;
    report.command = "run";
    report.files = {dir};
    report.gpus.clear();
    std::vector<std::string> wanted =
        plan_.bill == Bill::kUsed ? RunCards::Used(**source, family_) : std::vector<std::string>();
    if (plan_.bill == Bill::kUsed && wanted.empty()) Note(env_, std::string(Text(lang_, Msg::kRecUsedUnknown)));
    if (wanted.empty()) {
      for (const model::CardInfo& c : cards_.Visible((*source)->cards())) wanted.push_back(c.uuid);
      if (wanted.empty()) return Note(env_, Tr(lang_, Msg::kRecSeesNoCard, Sanitize(cards_.visible_value())));
    }
    if (wanted.size() < (*source)->cards().size()) report.gpus = wanted;
    Settings settings = settings_;
    settings.from = started_;
    settings.to = ended_;
    settings.last_ms.reset();
    settings.whole_period = true;  // what no sample speaks for stands on the bill as not measured
    env_->now = ended_;
    // stdout is the command's.
    Stream* const out = std::exchange(env_->out, env_->err);
    const bool terminal = std::exchange(env_->out_is_terminal, env_->err_is_terminal);
    (void)ReportAll(report, settings, false, env_);
    env_->out = out;
    env_->out_is_terminal = terminal;
    if (options_.quiet) return;
    Note(env_, Tr(lang_, Msg::kRecRecordIn, plan_.dir));
    if (daemon_) Note(env_, Tr(lang_, Msg::kRecSamplesIn, settings_.data_dir));
  }

  /// In the words of the source, from the status file that the recorder left.
  std::string WhyNoCards() const {
    const auto bytes = env_->fs->Map(sys::JoinPath(SamplesDir(), collect::kStatusName));
    const auto seen = bytes.ok() ? collect::ParseStatus((*bytes)->bytes()) : std::nullopt;
    if (!seen) return Log();
    if (seen->source_status.ok()) return std::string(Text(lang_, Msg::kRecTooShort));
    return gpu::Explain(seen->source_status, lang_);
  }

  const Options& options_;
  const Settings& settings_;
  const RunPlan plan_;
  Environment* env_;
  const Lang lang_;
  std::shared_ptr<sys::ProcFiles> files_;
  sys::Waiter waiter_;
  TimeMs started_, ended_ = 0;
  RunMoney money_;
  RunCards cards_;
  std::optional<BesideRecorder> daemon_;
  int64_t recorder_ = 0, watched_ = 0, second_ = 0;
  int recorder_pipe_ = -1;
  std::set<int64_t> family_;
  std::string exit_status_;
  bool failed_ = false, never_recorded_ = false;
};

}  // namespace

int CmdRun(const Options& options, const Settings& settings, Environment* env) {
  if (!env->make_source) return Fail(env, Status::Unsupported("run: no clock here"));
  auto plan = MakeRunPlan(options, settings, *env);
  if (!plan.ok()) return Fail(env, plan.status());
  // The recorder's own flags are judged here: its process could only say so in its log.
  const auto spec = ResolveRecorder(options, settings);
  if (!spec.ok()) return Fail(env, spec.status());
  Run run(options, settings, std::move(plan).value(), env);
  return run.All();
}

}  // namespace sawbill::app
