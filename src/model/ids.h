// SPDX-License-Identifier: Apache-2.0
// The ONE list of findings, causes and ledger lines. Rules, ledger, reports, translations, metrics and docs read it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/messages.h"

namespace sawbill::model {

/// Lines of the account. Each second of each card stands on these, its fractions adding up to it.
enum class Line {
  kUseful,
  kUnsaturated,
  kDataLoading,
  kCheckpoint,
  kEvaluation,
  kLogging,
  kImbalance,
  kCommunication,
  kThrottling,
  kStartup,
  kIdleHeld,
  kUnused,
  kUnmeasured,
  kUnexplained,
  kCount
};
inline constexpr size_t kLines = static_cast<size_t>(Line::kCount);
std::string_view Name(Line line);              // "data-loading"
std::string_view Title(Line line, Lang lang);  // "Data loading"
std::optional<Line> FindLine(std::string_view name);
/// Card-seconds on each line.
using LineSeconds = std::array<double, kLines>;
inline size_t Index(Line l) { return static_cast<size_t>(l); }

enum class FindingId {
  kDataLoading,
  kUnsaturated,
  kCheckpoint,
  kEvaluation,
  kLogging,
  kImbalance,
  kCommunication,
  kKernelInefficiency,
  kThrottling,
  kDegradation,
  kStartup,
  kRestartLoop,
  kHang,
  kIdleHeld,
  kUnused,
  kSharedGpu,
  kCount
};
inline constexpr size_t kFindingIds = static_cast<size_t>(FindingId::kCount);
struct FindingInfo {
  const char* name;  // "data-loading"
  Line line;         // the line that its seconds stand on
  bool own_line;     // false: it stands on lines of others (contracts.md)
  const char* title_en;
  const char* title_zh;
};
const FindingInfo& Info(FindingId id);
std::string_view Name(FindingId id);
std::string_view Title(FindingId id, Lang lang);
std::optional<FindingId> FindFinding(std::string_view name);

/// Causes by id. `Causes(id)` lists those that a finding may name; "" is never among them (absent = cannot be told).
enum class Cause {
  kFewWorkers,
  kCpuSaturated,
  kSlowDecode,
  kSlowStorage,
  kHostContention,
  kHostToDevice,  // data-loading
  kSmallBatch,
  kFullPrecision,
  kHostBound,
  kDdpUnscaled,  // unsaturated
  kSynchronousSave,
  kTooOften,
  kTooLarge,
  kStarvedEvaluation,
  kSynchronousLogging,  // interruptions
  kDataParallel,
  kStraggler,
  kAllReduceExposed,
  kSmallKernels,
  kThermal,
  kPower,
  kDataPhase,
  kFragmentation,
  kNeighbour,
  kHeat,
  kCrash,
  kOutOfMemory,
  kCollectiveDeadlock,
  kDeadRank,
  kNotebook,
  kForgottenJob,
  kGap,
  kOverAllocated,
  kCount
};
std::string_view Name(Cause c);
std::string_view Title(Cause c, Lang lang);
std::optional<Cause> FindCause(std::string_view name);

}  // namespace sawbill::model
