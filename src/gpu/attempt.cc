// SPDX-License-Identifier: Apache-2.0
#include "gpu/attempt.h"

#include <algorithm>
#include <initializer_list>

namespace sawbill::gpu {
namespace {

/// The twelve fields of a card, each with the questions that can answer it.
const std::initializer_list<std::initializer_list<Ask>> kFields = {
    {Ask::kUtilization},
    {Ask::kSamples},
    {Ask::kMemoryV2, Ask::kMemoryV1},
    {Ask::kTemperature},
    {Ask::kFieldPower, Ask::kPowerUsage},
    {Ask::kSmClock},
    {Ask::kMemClock},
    {Ask::kThrottle},
    {Ask::kFieldEnergy, Ask::kEnergy},
    {Ask::kGpm},
    {Ask::kFieldNvlinkRx, Ask::kGpmNvlink},
    {Ask::kFieldPcieRx, Ask::kGpmPcie, Ask::kPcieRxSlow},
};

}  // namespace

bool AskLog::Due(Ask ask, int64_t now_us) {
  State& s = at(ask);
  if (s.refused_until_us < 0) s.refused_until_us = now_us + kRetryAbsentUs;
  return !s.excluded && (s.refused_until_us == 0 || now_us >= s.refused_until_us);
}

void AskLog::NoteAbsentAtOpening(Ask ask) {
  at(ask).absent = true;
  at(ask).refused_until_us = -1;
}

void AskLog::Note(Ask ask, CodeClass answer, int64_t now_us) {
  State& s = at(ask);
  s.refused_until_us = 0;
  s.absent = answer == CodeClass::kAbsent;
  if (answer == CodeClass::kOk) s.good = true;
  if (answer == CodeClass::kAbsent || answer == CodeClass::kPermission) {
    s.good = false;
    s.refused_until_us = now_us + (answer == CodeClass::kAbsent ? kRetryAbsentUs : kRetryPermissionUs);
  }
}

void AskLog::Coverage(int* supported, int* asked) const {
  *supported = *asked = 0;
  for (const auto& questions : kFields) {
    const auto excluded = [this](Ask a) { return at(a).excluded; };
    const auto good = [this](Ask a) { return !at(a).excluded && at(a).good; };
    if (std::all_of(questions.begin(), questions.end(), excluded)) continue;
    ++*asked;
    if (std::any_of(questions.begin(), questions.end(), good)) ++*supported;
  }
}

bool Attempt::Took(Ask ask, int code) {
  const CodeClass answer = Classify(code);
  ++answers_;
  log_->Note(ask, answer, now_us_);
  if (answer == CodeClass::kOk) {
    ++successes_;
    return true;
  }
  if (first_failure_ == 0) first_failure_ = code;
  if (answer == CodeClass::kAbsent) ++absent_;
  if (answer == CodeClass::kUnknown) ++unknown_;
  if (code == nvml::kInvalidArgument) ++invalid_;
  if (answer == CodeClass::kCardGone || answer == CodeClass::kLibraryGone) {
    over_ = true;
    gone_code_ = code;
  }
  return false;
}

void Attempt::Finish(bool whole, CardReading* reading) const {
  log_->Coverage(&reading->supported, &reading->asked);
  const auto lost = [reading](int code) {
    reading->outcome = Outcome::kLost;
    reading->code = code;
  };
  const int telling = answers_ - absent_;
  if (over_ && Classify(gone_code_) == CodeClass::kLibraryGone) {
    reading->outcome = Outcome::kReopen;
    reading->code = gone_code_;
  } else if (over_) {
    lost(gone_code_);
  } else if (whole && telling > 0 && unknown_ == telling) {
    lost(nvml::kUnknown);
  } else if (whole && telling > 0 && invalid_ == telling) {
    lost(nvml::kInvalidArgument);  // the handle of a MIG instance that is no more
  } else if ((whole || successes_ == 0) && std::all_of(reading->values.begin(), reading->values.end(), IsMissing)) {
    reading->outcome = Outcome::kEmpty;
    reading->code = first_failure_;
  }
}

}  // namespace sawbill::gpu
