// SPDX-License-Identifier: Apache-2.0
// What a card can be asked, what it refused, and how one round of asking ended.
//
// A driver that is asked each second for what it does not have writes a line to the kernel's log each second (vGPU
// guests did). So a refusal is remembered for each question and card, and the question put again after an hour: a MIG
// mode or a driver may have changed. Opening anew forgets all refusals.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gpu/nvml_api.h"
#include "gpu/source.h"

namespace sawbill::gpu {

enum class Ask : uint8_t {
  kUtilization,
  kSamples,
  kMemoryV2,
  kMemoryV1,
  kTemperature,
  kPowerUsage,
  kEnergy,
  kSmClock,
  kMemClock,
  kThrottle,
  kGpm,
  kGpmPcie,
  kGpmNvlink,
  kPcieTxSlow,
  kPcieRxSlow,
  kFieldValues,  // the call as a whole; its entries follow
  kFieldPower,
  kFieldEnergy,
  kFieldEcc,
  kFieldNvlinkTx,
  kFieldNvlinkRx,
  kFieldPcieTx,
  kFieldPcieRx,
  kDetailList,
  kComputeList,
  kGraphicsList,
  kMpsList,
  kProcessesUtil,
  kProcessUtil,
  kCount
};

inline constexpr int64_t kRetryAbsentUs = int64_t{3600} * 1000 * 1000;
/// Rights may be given back within minutes (a container's device rules after a reload), so they are tried more often.
inline constexpr int64_t kRetryPermissionUs = int64_t{60} * 1000 * 1000;

/// What one card answered, so far. THREAD: quick readings, slow ones and those of holders put different questions and
/// may note their answers at the same time; Exclude comes before all.
class AskLog {
 public:
  /// Questions that make no sense for this card (power of a MIG instance) are never asked, and not counted.
  void Exclude(Ask ask) { at(ask).excluded = true; }
  bool Due(Ask ask, int64_t now_us);
  /// Refused because the card or the driver does not have it, not for want of rights.
  bool Absent(Ask ask) const { return at(ask).absent; }
  void Note(Ask ask, CodeClass answer, int64_t now_us);
  /// Found while opening, which has no clock: counts from the first question that is not put for it.
  void NoteAbsentAtOpening(Ask ask);
  /// Fields that a card can give at all, of 12: "0 of 12 available" is said of a card that refuses everything.
  void Coverage(int* supported, int* asked) const;

 private:
  struct State {
    bool excluded = false;
    std::atomic<bool> good = false, absent = false;
    std::atomic<int64_t> refused_until_us = 0;  // 0 = not refused, -1 = since opening
  };
  State& at(Ask ask) { return states_[static_cast<size_t>(ask)]; }
  const State& at(Ask ask) const { return states_[static_cast<size_t>(ask)]; }
  std::array<State, static_cast<size_t>(Ask::kCount)> states_;
};

/// One round of questions to one card. After an answer that says that the card or the library is gone, no more are put.
class Attempt {
 public:
  Attempt(AskLog* log, int64_t now_us) : log_(log), now_us_(now_us) {}
  bool Wants(Ask ask) const { return !over_ && log_->Due(ask, now_us_); }
  bool Absent(Ask ask) const { return log_->Absent(ask); }
  /// Takes note of an answer; true when it was success.
  bool Took(Ask ask, int code);
  bool over() const { return over_; }
  int64_t now_us() const { return now_us_; }
  /// Sets outcome, code and coverage. `whole`: the questions were so many that 999 to all of them means a lost card.
  void Finish(bool whole, CardReading* reading) const;

 private:
  AskLog* log_;
  int64_t now_us_;
  bool over_ = false;
  int gone_code_ = 0, first_failure_ = 0;
  int answers_ = 0, successes_ = 0, absent_ = 0, unknown_ = 0, invalid_ = 0;
};

}  // namespace sawbill::gpu
