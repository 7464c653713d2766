// SPDX-License-Identifier: Apache-2.0
#include "simulator/play/player.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "simulator/nvml/catalogue.h"
#include "simulator/nvml/state.h"
#include "sys/child.h"
#include "sys/file.h"
#include "sys/waiter.h"

namespace sawbill::simulator {
namespace {

using model::GpuMetric;
using nvmlsim::Field;

constexpr int64_t kStepUs = 100'000;
constexpr double kSampleEvery = 0.2;  // of played time: finer than any driver's utilisation window
constexpr double kMibPerMb = 1;       // the column is called _mb and holds MiB, as NVML's is read

struct Mapped {
  GpuMetric from;
  Field to;
};
constexpr Mapped kMapped[] = {
    {GpuMetric::kSmUtil, Field::kSmUtil},
    {GpuMetric::kMemUtil, Field::kMemUtil},
    {GpuMetric::kMemUsedMb, Field::kMemUsed},
    {GpuMetric::kTempC, Field::kTemp},
    {GpuMetric::kPowerW, Field::kPower},
    {GpuMetric::kSmClockMhz, Field::kSmClock},
    {GpuMetric::kMemClockMhz, Field::kMemClock},
    {GpuMetric::kPcieRxMbS, Field::kPcieRx},
    {GpuMetric::kPcieTxMbS, Field::kPcieTx},
    {GpuMetric::kNvlinkRxMbS, Field::kNvLinkRx},
    {GpuMetric::kNvlinkTxMbS, Field::kNvLinkTx},
    {GpuMetric::kSmActive, Field::kSmActive},
    {GpuMetric::kSmOccupancy, Field::kSmOccupancy},
    {GpuMetric::kTensorActive, Field::kTensorActive},
    {GpuMetric::kDramActive, Field::kDramActive},
    {GpuMetric::kGrActive, Field::kGrActive},
};

/// Our bit order to NVML's clock event reasons.
double NvmlReasons(double mask) {
  constexpr unsigned reason[] = {0x1, 0x4, 0x8, 0x40, 0x80, 0x20, 0x2, 0x10, 0x100};
  if (IsMissing(mask)) return kMissing;
  unsigned out = 0;
  for (unsigned bit = 0; bit < std::size(reason); ++bit) {
    if ((static_cast<unsigned>(mask) & (1U << bit)) != 0) out |= reason[bit];
  }
  return out;
}

template <size_t N>
void CopyText(const std::string& from, char (&to)[N]) {
  std::memset(to, 0, N);
  std::memcpy(to, from.data(), std::min(from.size(), N - 1));
}

/// The catalogue's own, else the one whose name shares most words with it: facts such as fans and links must come from
/// somewhere; what the recording says (name, memory, limit) stands above them.
const nvmlsim::CardModel* NearestModel(const std::string& name) {
  if (const auto* exact = nvmlsim::FindModel(name)) return exact;
  const nvmlsim::CardModel* best = nvmlsim::FindModel("H100");
  size_t most = 0;
  const auto words = Split(name, ' ');
  for (const nvmlsim::CardModel& m : nvmlsim::Catalogue()) {
    size_t shared = 0;
    for (const std::string_view w : words) {
      if (w.size() > 1 && ToLower(w) != "nvidia" && ToLower(m.name).find(ToLower(w)) != std::string::npos) ++shared;
    }
    if (shared > most) {
      most = shared;
      best = &m;
    }
  }
  return best;
}

class Stage {
 public:
  Stage(Played* played, nvmlsim::StateWriter* writer) : played_(played), writer_(writer) {
    for (size_t k = 0; k < played->cards().size(); ++k) {
      const model::CardInfo& info = played->cards()[k].info;
      nvmlsim::CardState& card = writer->next().cards[k];
      CopyText(std::string(NearestModel(info.name)->key), card.model);
      CopyText(info.uuid, card.uuid);
      CopyText(info.name, card.name);
      card.memory_mib = info.memory_total_mb.value_or(0) * kMibPerMb;
      card.default_limit_w = info.power_limit_w.value_or(0);
      card.unit.total.fill(kMissing);
    }
  }

  void Show(double t_s) {
    const double dt_s = std::max(0.0, t_s - last_s_);
    nvmlsim::State& state = writer_->next();
    state.time_s = t_s;
    for (size_t k = 0; k < played_->cards().size(); ++k) ShowCard(k, t_s, dt_s, &state.cards[k]);
    writer_->Publish();
    last_s_ = t_s;
  }

 private:
  void ShowCard(size_t k, double t_s, double dt_s, nvmlsim::CardState* card) {
    const model::GpuValues values = played_->Values(k, t_s);
    for (const Mapped& m : kMapped) {
      const double v = values[static_cast<size_t>(m.from)];
      const auto field = static_cast<size_t>(m.to);
      card->unit.value[field] = v;
      // A counter of what the recording does not have is not there: it must not stand still at 0.
      double& total = card->unit.total[field];
      if (IsPresent(v)) total = (IsPresent(total) ? total : 0) + v * dt_s;
    }
    card->unit.value[static_cast<size_t>(Field::kThrottle)] =
        NvmlReasons(values[static_cast<size_t>(GpuMetric::kThrottle)]);
    const auto& limit = played_->cards()[k].info.power_limit_w;
    card->unit.value[static_cast<size_t>(Field::kPowerLimit)] = limit.value_or(kMissing);
    const auto value = [&](GpuMetric m) { return static_cast<float>(values[static_cast<size_t>(m)]); };
    while (next_sample_[k] <= t_s) {
      writer_->AddSample(static_cast<int>(k), {next_sample_[k], value(GpuMetric::kSmUtil), value(GpuMetric::kMemUtil),
                                               value(GpuMetric::kPowerW), 0});
      next_sample_[k] = std::max(next_sample_[k] + kSampleEvery, t_s - 20);
    }
    card->process_count = 0;
    for (const PlayedProcess& p : played_->Processes(k, t_s)) {
      if (card->process_count == nvmlsim::kStateProcesses || p.pid <= 0) continue;
      nvmlsim::ProcessState& to = card->processes[card->process_count++];
      to = {};
      to.pid = static_cast<uint32_t>(p.pid);
      to.instance = -1;
      to.type = 'C';
      CopyText(p.name, to.name);
      to.mem_mib = p.mem_mib;
      to.sm_util = IsPresent(p.sm_util) ? p.sm_util : 0;
    }
  }

  Played* played_;
  nvmlsim::StateWriter* writer_;
  double last_s_ = 0;
  std::array<double, nvmlsim::kStateCards> next_sample_ = {};
};

int ExitCode(const sys::ChildState& s) { return s.kind == sys::ChildState::Kind::kSignaled ? 128 + s.value : s.value; }

}  // namespace

Result<int> Play(Played* played, const PlaySpec& spec) {
  if (played->cards().size() > nvmlsim::kStateCards)
    return Status::Unsupported("at most 16 cards can be played, not " + std::to_string(played->cards().size()));
  std::string path = spec.state_path;
  if (path.empty()) path = "/tmp/sawbill-play-" + std::to_string(::getpid()) + ".state";
  SAWBILL_ASSIGN_OR_RETURN(const auto writer,
                           nvmlsim::StateWriter::Create(path, static_cast<int>(played->cards().size())));
  Stage stage(played, writer.get());
  sys::Waiter waiter({SIGCHLD, SIGINT, SIGTERM});
  const int64_t begin_us = sys::SteadyNowUs();
  const auto now_s = [&] {
    return spec.from_s + spec.speed * static_cast<double>(sys::SteadyNowUs() - begin_us) / 1e6;
  };
  writer->next().start_ms = static_cast<double>(sys::WallNow());
  stage.Show(spec.from_s);
  int64_t pid = 0;
  if (!spec.command.empty()) {
    sys::SpawnOptions o;
    o.mask = &waiter.old_mask();
    o.set_vars["SAWBILL_SIM_STATE"] = path;
    o.set_vars["SAWBILL_SIM_SCRIPT"] = "";  // of another play
    const char* before = ::getenv("LD_LIBRARY_PATH");
    o.set_vars["LD_LIBRARY_PATH"] =
        spec.library_dir + (before != nullptr && *before != '\0' ? std::string(":") + before : "");
    auto started = sys::Spawn(spec.command, o);
    if (!started.ok()) {
      ::unlink(path.c_str());
      return started.status();
    }
    pid = *started;
  }
  int64_t next_us = begin_us, told_us = 0;
  std::optional<int> code;
  while (!code) {
    next_us = std::max(next_us + kStepUs, sys::SteadyNowUs());
    const auto event = waiter.Wait(next_us);
    const double t = now_s();
    if (event.woke == sys::Waiter::Woke::kSignal && event.signal == SIGCHLD && pid != 0) {
      const auto state = sys::PollChild(pid);
      if (state && state->kind != sys::ChildState::Kind::kStopped && state->kind != sys::ChildState::Kind::kContinued)
        code = ExitCode(*state);
    } else if (event.woke == sys::Waiter::Woke::kSignal && pid != 0) {
      if (!event.from_kernel) ::kill(static_cast<pid_t>(pid), event.signal);  // what is typed reaches it by itself
    } else if (event.woke == sys::Waiter::Woke::kSignal) {
      code = 128 + event.signal;
    }
    stage.Show(std::min(t, played->duration_s()));
    if (spec.progress && sys::SteadyNowUs() - told_us >= 1'000'000) {
      told_us = sys::SteadyNowUs();
      spec.progress(std::min(t, played->duration_s()), played->duration_s());
    }
    if (!code && pid == 0 && t >= played->duration_s()) code = 0;
  }
  ::unlink(path.c_str());
  return *code;
}

std::string FindLibraryDir(const std::string& exe_path) {
  const std::string dir = sys::DirName(exe_path);
  for (const std::string& place : {sys::JoinPath(dir, "simulator/nvml"), sys::JoinPath(dir, "nvml"),
                                   sys::JoinPath(sys::DirName(dir), "lib/sawbill"), std::string("/usr/lib/sawbill")}) {
    if (::access(sys::JoinPath(place, "libnvidia-ml.so.1").c_str(), R_OK) == 0) return place;
  }
  return "";
}

}  // namespace sawbill::simulator
