// SPDX-License-Identifier: Apache-2.0
#include "simulator/play/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "simulator/play/player.h"
#include "simulator/play/words.h"

namespace sawbill::simulator {
namespace {

std::string ExePath() {
  char buffer[4096];
  const ssize_t n = ::readlink("/proc/self/exe", buffer, sizeof(buffer));
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : std::string();
}

}  // namespace

int PlayCommand(const std::vector<std::string>& args) {
  const Words w = SortWords(
      args, {"--speed", "--from", "--pid-file", "--seed", "--hours", "--cards", "--card", "--workers", "--state"});
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

}  // namespace sawbill::simulator
