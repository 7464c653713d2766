// SPDX-License-Identifier: Apache-2.0
// The script: cards, processes, MIG instances, events and faults as TOML. docs/simulator.md lists every key.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "simulator/nvml/source.h"
#include "simulator/nvml/wave.h"

namespace sawbill::nvmlsim {

enum class FaultKind { kCode, kLost, kDriver, kSlow, kHang, kGarbage, kMissing, kStalePids, kStride32 };

struct Fault {
  FaultKind kind = FaultKind::kCode;
  double at_s = 0, until_s = kForever;
  int card = -1;           // as numbered in the script; -1: every one
  std::string call = "*";  // pattern of the call's name, or of "field:186", "gpm:5"
  int code = 999;
  double slow_ms = 0;
  bool wild = false;      // garbage: impossible values, not untouched ones
  int return_index = -1;  // lost: the index at which the card comes back
  bool counted = false;   // lost: the card still counts, and its handle fails
  bool At(double t_s) const { return t_s >= at_s && t_s < until_s; }
};

/// The driver's ring holds these beside the true ones while a "stale_pids" fault lasts.
inline constexpr unsigned kStalePid = 4194300;

struct ProcessScript {
  std::string pid;  // "123", "env:NAME", "file:PATH", "self"
  int offset = 0;   // of `count` processes: the k-th
  char type = 'C';
  int instance = -1;
  std::string name;
  double from_s = 0, until_s = kForever;
  Wave mem_mib{0}, sm_util{0}, mem_util{0}, enc_util{0}, dec_util{0};
};

struct UnitScript {  // a card or an instance
  std::array<Wave, kFields> waves;
  bool has_mem_used = false;  // else: the sum of its processes
};

struct CardScript {
  UnitScript unit;
  std::vector<UnitScript> instances;  // as CardFacts::instances
  std::vector<ProcessScript> processes;
};

struct Script {
  SystemFacts system;
  bool has_cards = false;
  std::vector<CardFacts> facts;
  std::vector<CardScript> cards;
  std::vector<EventNow> events;
  std::vector<Fault> faults;
};

/// `where` names the text in errors: a path.
Result<Script> ParseScript(std::string_view text, const std::string& where);
std::unique_ptr<Source> MakeScriptSource(std::shared_ptr<const Script> script);

/// Names, ids and places of the k-th card that a script or state file leaves open. Always the same for the same index.
void FillIdentity(const CardModel& model, int index, CardFacts* facts);
std::string MakeUuid(std::string_view prefix, unsigned long long seed);

/// Waves of a whole card that follow from its utilisation: power, clocks, temperature, GPM ratios, ...
void DeriveWaves(const CardFacts& facts, const Wave& sm_util, const std::array<bool, kFields>& given,
                 std::array<Wave, kFields>* waves);

}  // namespace sawbill::nvmlsim
