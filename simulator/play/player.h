// SPDX-License-Identifier: Apache-2.0
// Plays something (a simulated world, a recording) into the state file that the scripted libnvidia-ml.so.1 reads, in
// real time or faster, while a command runs on it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "model/metrics.h"
#include "model/recording.h"
#include "simulator/scenarios.h"

namespace sawbill::simulator {

struct PlayedProcess {
  int64_t pid = 0;
  std::string name;
  double mem_mib = kMissing, sm_util = kMissing;
};

struct PlayedCard {
  model::CardInfo info;  // name, uuid, memory, limit
  bool energy_counted = false;
};

/// What is to be played. Times are seconds since its start and do not go back.
class Played {
 public:
  virtual ~Played() = default;
  virtual double duration_s() const = 0;
  virtual const std::vector<PlayedCard>& cards() const = 0;
  virtual model::GpuValues Values(size_t card, double t_s) = 0;
  virtual std::vector<PlayedProcess> Processes(size_t card, double t_s) = 0;
};

/// `simulation` must outlive the result. Its first training process gets the pid that `pid` says (0: not there yet).
std::unique_ptr<Played> PlayWorld(const Simulation& simulation, uint64_t seed, std::function<int64_t()> pid);
/// The recording's cards; a sample holds from the one before it up to its own time, and nothing in holes.
std::unique_ptr<Played> PlayRecording(const model::Recording& recording);

struct PlaySpec {
  double speed = 1;
  double from_s = 0;
  std::string state_path;            // "" = a temporary file
  std::string library_dir;           // with libnvidia-ml.so.1, put in front of LD_LIBRARY_PATH
  std::vector<std::string> command;  // "" = only play
  std::function<void(double t_s, double duration_s)> progress;  // about once a second
};

/// Until the end of what is played, or of the command; gives the exit status of the command (0 without one).
Result<int> Play(Played* played, const PlaySpec& spec);

/// The folder of the scripted library, by where the program lies; "" = not found.
std::string FindLibraryDir(const std::string& exe_path);

}  // namespace sawbill::simulator
