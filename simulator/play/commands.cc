// SPDX-License-Identifier: Apache-2.0
#include "simulator/play/commands.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>

#include "base/numbers.h"
#include "base/text.h"
#include "simulator/play/player.h"
#include "sys/waiter.h"

namespace sawbill::simulator {
namespace {

constexpr int kUsage = 2;

int Fail(const std::string& text) {
  fmt::print(stderr, "sawbill-simulate: {}\n", text);
  return kUsage;
}

std::string ExePath() {
  char buffer[4096];
  const ssize_t n = ::readlink("/proc/self/exe", buffer, sizeof(buffer));
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : std::string();
}

/// "--flag value" pairs in front of "--", what stands alone, and what stands behind.
struct Words {
  std::map<std::string, std::string> flags;
  std::vector<std::string> words, command;
  std::string wrong;
};

Words Sort(const std::vector<std::string>& args, const std::vector<std::string>& known) {
  Words out;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--") {
      out.command.assign(args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
      return out;
    }
    if (!StartsWith(args[i], "--")) {
      out.words.push_back(args[i]);
      continue;
    }
    bool is_known = false;
    for (const std::string& k : known) is_known = is_known || args[i] == k;
    if (!is_known || i + 1 == args.size()) {
      out.wrong = is_known ? args[i] + ": a value is missing" : args[i] + ": unknown";
      return out;
    }
    out.flags[args[i]] = args[i + 1];
    ++i;
  }
  return out;
}

double NumberOr(const Words& w, const std::string& flag, double other) {
  const auto it = w.flags.find(flag);
  return it == w.flags.end() ? other : ParseDouble(it->second).value_or(-1);
}

/// A loader worker: busy for `load` of each tenth of a second, until its parent is gone.
[[noreturn]] void Work(double load) {
  ::prctl(PR_SET_NAME, "pt_data_worker");  // as PyTorch names its own
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  volatile double sink = 0;
  while (true) {
    const int64_t begin_us = sys::SteadyNowUs();
    while (static_cast<double>(sys::SteadyNowUs() - begin_us) < load * 100'000) {
      for (int i = 0; i < 1000; ++i) sink = sink + i;
    }
    ::usleep(static_cast<useconds_t>((1 - load) * 100'000));
  }
}

}  // namespace

int PlayCommand(const std::vector<std::string>& args) {
  const Words w =
      Sort(args, {"--speed", "--from", "--pid-file", "--seed", "--hours", "--cards", "--card", "--workers", "--state"});
  if (!w.wrong.empty()) return Fail(w.wrong);
  const ScenarioInfo* info = w.words.size() == 1 ? FindScenario(w.words[0]) : nullptr;
  if (info == nullptr) return Fail("play: name one scenario (sawbill-simulate --list)");
  Options options;
  options.seed = static_cast<uint64_t>(std::max(0.0, NumberOr(w, "--seed", 1)));
  if (w.flags.contains("--hours")) options.hours = NumberOr(w, "--hours", 1);
  if (w.flags.contains("--cards")) options.cards = static_cast<int>(NumberOr(w, "--cards", 1));
  if (w.flags.contains("--workers")) options.workers = static_cast<int>(NumberOr(w, "--workers", 1));
  if (w.flags.contains("--card")) {
    options.card = FindCard(w.flags.at("--card"));
    if (options.card == nullptr) return Fail("--card: unknown model");
  }
  PlaySpec spec;
  spec.speed = NumberOr(w, "--speed", 1);
  spec.from_s = NumberOr(w, "--from", 0);
  if (spec.speed <= 0 || spec.from_s < 0) return Fail("--speed and --from: not a number that fits");
  if (w.flags.contains("--state")) spec.state_path = w.flags.at("--state");
  spec.command = w.command;
  spec.library_dir = FindLibraryDir(ExePath());
  if (spec.library_dir.empty()) return Fail("libnvidia-ml.so.1 of the simulator is not beside this program");
  const Simulation simulation = Simulate(*info, options);
  std::function<int64_t()> pid;
  if (w.flags.contains("--pid-file")) {
    pid = [path = w.flags.at("--pid-file")]() -> int64_t {
      std::ifstream in(path);
      int64_t number = 0;
      return in >> number ? number : 0;
    };
  }
  const auto played = PlayWorld(simulation, options.seed, pid);
  const auto code = Play(played.get(), spec);
  if (!code.ok()) {
    fmt::print(stderr, "sawbill-simulate: {}\n", code.status().message());
    return code.status().exit_code();
  }
  return *code;
}

int StandInCommand(const std::vector<std::string>& args) {
  const Words w = Sort(args, {"--workers", "--load", "--seconds", "--pid-file"});
  if (!w.wrong.empty() || !w.words.empty()) return Fail(w.wrong.empty() ? w.words[0] + ": unknown" : w.wrong);
  const double workers = NumberOr(w, "--workers", 2), load = NumberOr(w, "--load", 0.9),
               seconds = NumberOr(w, "--seconds", 60);
  if (workers < 0 || workers > 256 || load < 0 || load > 1 || seconds < 0)
    return Fail("stand-in: a value is out of range");
  for (int k = 0; k < static_cast<int>(workers); ++k) {
    if (::fork() == 0) Work(load);
  }
  if (w.flags.contains("--pid-file")) std::ofstream(w.flags.at("--pid-file")) << ::getpid() << "\n";
  sys::Waiter waiter({SIGTERM, SIGINT});
  const auto event = waiter.Wait(sys::SteadyNowUs() + static_cast<int64_t>(seconds * 1e6));
  if (w.flags.contains("--pid-file")) ::unlink(w.flags.at("--pid-file").c_str());
  return event.woke == sys::Waiter::Woke::kSignal ? 128 + event.signal : 0;
}

}  // namespace sawbill::simulator
