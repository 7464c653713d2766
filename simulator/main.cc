// SPDX-License-Identifier: Apache-2.0
// sawbill-simulate: writes one scenario as a folder of day files with the truth beside them.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "base/status.h"
#include "base/text.h"
#include "base/time.h"
#include "simulator/play/commands.h"
#include "simulator/scenarios.h"

namespace sawbill::simulator {
namespace {

constexpr const char* kUsage =
    R"(usage: sawbill-simulate SCENARIO --out DIR [options]
       sawbill-simulate --list
       sawbill-simulate play SCENARIO [--speed X] [--pid-file FILE] [options] -- COMMAND
       sawbill-simulate stand-in [--workers W] [--load SHARE] [--main SHARE|follow] [--seconds S] [--pid-file FILE]

  --out DIR        folder to write into (made if missing)
  --seed N         default 1; the same seed gives the same bytes
  --band B         which parts of the ranges are drawn: all (default), train, dev, test
  --hours H        length of the recording (default: the scenario's)
  --cards N        default: the scenario's
  --card MODEL     v100 a100 h100 h200 l40s 3090 4090, or NVML's name (default: drawn from the seed)
  --workers W      loader workers of each rank
  --start TIME     of the first sample, RFC 3339 (default 2026-03-02T01:00:00Z)
  --price P        an hour of a card, for truth.json (default 10)
  --plain          .csv instead of .csv.gz

play:     the cards of the scenario, live, for any program that reads NVML (it gets the scripted libnvidia-ml.so.1).
  --speed X        times real time (default 1)
  --from S         begin at this second of the scenario
  --pid-file FILE  the training process has the number that stands in this file (default: one that is not there)
stand-in: a process that looks like a training job from outside and computes nothing: its W loader workers are busy for
          SHARE of the time (default 2 and 0.9); itself it sleeps.
  --main SHARE     the main process is busy so much of the time; with "follow" it spins while the first card works, as a
                   training process does that waits for the card
)";

struct Arguments {
  Options options;
  WriteSpec write;
  std::string scenario, out;
  bool list = false;
};

Result<double> Number(const std::string& flag, const std::string& text) {
  const auto value = ParseDouble(text);
  if (!value || *value < 0) return Status::Invalid(flag + ": not a number that fits: '" + text + "'");
  return *value;
}

Status Set(const std::string& flag, const std::string& value, Arguments* a) {
  if (flag == "--out") {
    a->out = value;
  } else if (flag == "--card") {
    a->options.card = FindCard(value);
    if (a->options.card == nullptr) return Status::Invalid("--card: unknown model '" + value + "'");
  } else if (flag == "--band") {
    const auto band = FindBand(value);
    if (!band) return Status::Invalid("--band: all, train, dev or test, not '" + value + "'");
    a->options.band = *band;
  } else if (flag == "--start") {
    const auto start = ParseRfc3339(value);
    if (!start) return Status::Invalid("--start: give RFC 3339, for example 2026-03-02T01:00:00Z");
    a->write.start_ms = *start;
  } else {
    SAWBILL_ASSIGN_OR_RETURN(const double number, Number(flag, value));
    if (flag == "--seed") {
      a->options.seed = static_cast<uint64_t>(number);
    } else if (flag == "--hours" && number > 0 && number <= 24 * 31) {
      a->options.hours = number;
    } else if (flag == "--cards" && number >= 1 && number <= 64) {
      a->options.cards = static_cast<int>(number);
    } else if (flag == "--workers" && number <= 512) {
      a->options.workers = static_cast<int>(number);
    } else if (flag == "--price") {
      a->write.price_per_gpu_hour = number;
    } else {
      return Status::Invalid(flag + ": unknown, or out of range");
    }
  }
  return Status::Ok();
}

Result<Arguments> Parse(const std::vector<std::string>& args) {
  Arguments a;
  a.write.start_ms = *ParseRfc3339("2026-03-02T01:00:00Z");
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--list") {
      a.list = true;
    } else if (args[i] == "--plain") {
      a.write.packing = Packing::kPlain;
    } else if (!StartsWith(args[i], "--")) {
      a.scenario = args[i];
    } else if (i + 1 == args.size()) {
      return Status::Invalid(args[i] + ": a value is missing");
    } else {
      SAWBILL_RETURN_IF_ERROR(Set(args[i], args[i + 1], &a));
      ++i;
    }
  }
  if (!a.list && (a.scenario.empty() || a.out.empty())) return Status::Invalid("a scenario and --out are needed");
  return a;
}

Status Save(const std::string& dir, const std::vector<OutFile>& files) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return Status::Io(dir + ": " + error.message());
  for (const OutFile& file : files) {
    std::ofstream out(dir + "/" + file.name, std::ios::binary);
    out.write(file.bytes.data(), static_cast<std::streamsize>(file.bytes.size()));
    out.close();
    if (!out) return Status::Io(dir + "/" + file.name + ": could not be written");
  }
  return Status::Ok();
}

Status Run(const std::vector<std::string>& args) {
  SAWBILL_ASSIGN_OR_RETURN(Arguments a, Parse(args));
  if (a.list) {
    for (const ScenarioInfo& info : Scenarios()) fmt::print("{:18} {}\n", info.name, info.help);
    return Status::Ok();
  }
  const ScenarioInfo* info = FindScenario(a.scenario);
  if (info == nullptr) return Status::Invalid("unknown scenario '" + a.scenario + "'; see --list");
  const Simulation s = Simulate(*info, a.options);
  a.write.seed = a.options.seed;
  a.write.util_window_s = s.measure.window_s > 0 ? s.measure.window_s : s.model->window_s;
  a.write.power_limit_share = s.measure.power_limit_share;
  const Readings readings = Measure(s.world, *s.model, s.measure, Rng(a.options.seed).Fork("instruments"));
  return Save(a.out, Render(s.world, readings, *s.model, s.truth, a.write));
}

}  // namespace
}  // namespace sawbill::simulator

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  using sawbill::simulator::PlayCommand;
  using sawbill::simulator::StandInCommand;
  if (!args.empty() && args[0] == "play") return PlayCommand({args.begin() + 1, args.end()});
  if (!args.empty() && args[0] == "stand-in") return StandInCommand({args.begin() + 1, args.end()});
  if (args.empty() || args[0] == "--help" || args[0] == "-h") {
    std::fputs(sawbill::simulator::kUsage, args.empty() ? stderr : stdout);
    return args.empty() ? 2 : 0;
  }
  const sawbill::Status status = sawbill::simulator::Run(args);
  if (!status.ok()) fmt::print(stderr, "sawbill-simulate: {}\n", status.message());
  return status.exit_code();
}
