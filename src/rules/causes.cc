// SPDX-License-Identifier: Apache-2.0
#include "rules/causes.h"

#include <array>

namespace sawbill::rules {

const std::vector<model::Cause>& CausesOf(model::FindingId id) {
  using model::Cause;
  using model::FindingId;
  static const auto* const kTable = [] {
    auto* t = new std::array<std::vector<Cause>, model::kFindingIds>;
    const auto set = [t](FindingId f, std::vector<Cause> causes) { (*t)[static_cast<size_t>(f)] = std::move(causes); };
    set(FindingId::kDataLoading, {Cause::kFewWorkers, Cause::kCpuSaturated, Cause::kSlowDecode, Cause::kSlowStorage,
                                  Cause::kHostContention, Cause::kHostToDevice});
    set(FindingId::kUnsaturated, {Cause::kSmallBatch, Cause::kFullPrecision, Cause::kHostBound, Cause::kDdpUnscaled});
    set(FindingId::kCheckpoint, {Cause::kSynchronousSave, Cause::kTooOften});
    set(FindingId::kEvaluation, {Cause::kTooOften, Cause::kTooLarge, Cause::kStarvedEvaluation});
    set(FindingId::kLogging, {Cause::kSynchronousLogging});
    set(FindingId::kImbalance, {Cause::kDataParallel, Cause::kStraggler});
    set(FindingId::kCommunication, {Cause::kAllReduceExposed});
    set(FindingId::kKernelInefficiency, {Cause::kSmallKernels});
    set(FindingId::kThrottling, {Cause::kThermal, Cause::kPower});
    set(FindingId::kDegradation, {Cause::kDataPhase, Cause::kFragmentation, Cause::kNeighbour, Cause::kHeat});
    set(FindingId::kRestartLoop, {Cause::kCrash, Cause::kOutOfMemory});
    set(FindingId::kHang, {Cause::kCollectiveDeadlock, Cause::kDeadRank});
    set(FindingId::kIdleHeld, {Cause::kNotebook, Cause::kForgottenJob});
    set(FindingId::kUnused, {Cause::kGap, Cause::kOverAllocated});
    set(FindingId::kSharedGpu, {Cause::kNeighbour});
    return t;
  }();
  return (*kTable)[static_cast<size_t>(id)];
}

}  // namespace sawbill::rules
