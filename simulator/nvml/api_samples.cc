// SPDX-License-Identifier: Apache-2.0
// The driver's ring buffers, and values by field id.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simulator/nvml/api.h"

namespace sawbill::nvml {
namespace {
using nvmlsim::Fault;
using nvmlsim::FaultKind;
using nvmlsim::Field;
using nvmlsim::OnCard;
using nvmlsim::View;
using nvmlsim::World;

struct RingKind {
  Field field;
  double scale;
  bool power;  // has the window of power; else that of utilisation
};
constexpr RingKind kRings[] = {{Field::kPower, 1000, true}, {Field::kSmUtil, 1, false},  {Field::kMemUtil, 1, false},
                               {Field::kEncUtil, 1, false}, {Field::kDecUtil, 1, false}, {Field::kSmClock, 1, true},
                               {Field::kMemClock, 1, true}};

/// Samples newer than `last_seen_us`, oldest first, at most `room` of them.
u32 FillRing(const View& v, const RingKind& kind, u64 last_seen_us, u32 room, Sample* samples) {
  const double window_s = kind.power ? v.facts().power_window_s : v.facts().util_window_s;
  const auto newest = static_cast<long>(std::floor(v.t_s() / window_s + 1e-9));
  u32 count = 0;
  for (long k = std::max(newest - v.facts().samples + 1, 1l); k <= newest && count < room; ++k) {
    const double end_s = static_cast<double>(k) * window_s;
    const auto stamp = static_cast<u64>(World::Get().TimeUs(end_s) + 0.5);
    const double value = v.Mean(kind.field, end_s - window_s, end_s);
    if (stamp <= last_seen_us || !(value >= 0)) continue;
    Value out{};
    out.uiVal = static_cast<u32>(std::min(value * kind.scale, 4e9) + 0.5);
    samples[count++] = {stamp, out};
  }
  return count;
}

struct Answer {
  Return code = kNotSupported;
  ValueType type = kValueU32;
  Value value{};
};
Answer Number(double value, ValueType type = kValueU32) {
  Answer a;
  a.type = type;
  if (!(value >= 0)) {
    a.code = kNoData;
    return a;
  }
  a.code = kSuccess;
  if (type == kValueU32) {
    a.value.uiVal = static_cast<u32>(std::min(value, 4e9) + 0.5);
  } else {
    a.value.ullVal = static_cast<u64>(std::min(value, 9e18) + 0.5);
  }
  return a;
}
Answer If(bool there, const Answer& answer) { return there ? answer : Answer{}; }

double ReasonNs(const View& v, u64 bits) { return v.source().ReasonSeconds(v.place(), bits, v.t_s()) * 1e9; }

u64 PolicyBits(u32 policy) {
  switch (policy) {
    case kPolicyPower:
      return kReasonSwPowerCap;
    case kPolicyThermal:
      return kReasonSwThermal | kReasonHwThermal;
    case kPolicySyncBoost:
      return kReasonSyncBoost;
    case kPolicyBoardLimit:
      return kReasonHwPowerBrake;
    case kPolicyLowUtilization:
      return kReasonGpuIdle;
    case kPolicyReliability:
      return kReasonHwSlowdown;
    case kPolicyAppClocks:
      return kReasonAppClocks;
    default:
      return 0;
  }
}

/// KiB on a link, or on all.
Answer NvLinkKib(const View& v, Field field, u32 scope, double overhead) {
  const int links = v.model().nvlinks;
  if (links == 0) return {};
  if (scope != kAllLinks && scope >= static_cast<u32>(links)) return {kInvalidArgument};
  const double kib = v.Counter(field) * 1e6 / 1024 * overhead;
  return Number(scope == kAllLinks ? kib : kib / links, kValueU64);
}

Answer PcieBytes(const View& v, Field field) {
  const double bytes = v.Counter(field) * 1e6;
  return v.facts().pcie_bytes_wrap_32 ? Number(std::fmod(bytes, 4294967296.0)) : Number(bytes, kValueU64);
}

Answer PowerField(const View& v, u32 id, u32 scope) {
  if (scope == kPowerMemory || scope > kPowerMemory) return {};
  if (scope == kPowerModule) return {};  // one chip a module: nothing but the GPU's own scope
  switch (id) {
    case kFieldPowerAverageMw:
      return If(!v.model().instant_power, Number(v.Mean(Field::kPower, v.t_s() - 1, v.t_s()) * 1000));
    case kFieldPowerInstantMw:
      return Number(v.Now(Field::kPower) * 1000);
    case kFieldPowerMinLimitMw:
      return Number(v.model().min_limit_w * 1000);
    case kFieldPowerMaxLimitMw:
      return Number(v.model().limit_w * 1000);
    case kFieldPowerDefaultLimitMw:
      return Number(v.facts().default_limit_w * 1000);
    default:
      return Number(v.Now(Field::kPowerLimit) * 1000);
  }
}

Answer EccField(const View& v, u32 id) {
  if (!v.facts().ecc) return {};
  switch (id) {
    case kFieldEccCurrent:
    case kFieldEccPending:
      return Number(1);
    case kFieldEccSbeVolatile:
    case kFieldEccSbeAggregate:
      return Number(v.Now(Field::kEccCorrected), kValueU64);
    default:
      return Number(v.Now(Field::kEccUncorrected), kValueU64);
  }
}

/// Under MIG with instances remapped rows are withdrawn.
Answer RemapField(const View& v, Field field) {
  return If(v.model().architecture >= kArchAmpere && v.facts().ecc && !v.facts().mig, Number(v.Now(field)));
}

Answer LinkField(const View& v, u32 id, u32 scope) {
  const int links = v.model().nvlinks;
  switch (id) {
    case kFieldNvLinkCount:
      return Number(links);
    case kFieldNvLinkSpeedMbps:
      return If(links > 0, Number(v.model().nvlink_mb_s));
    case kFieldNvLinkScopedSpeedMbps:
      return scope < static_cast<u32>(links) ? Number(v.model().nvlink_mb_s) : Answer{kInvalidArgument};
    case kFieldNvLinkScopedState:
      return scope < static_cast<u32>(links) ? Number(1) : Answer{kInvalidArgument};
    case kFieldNvLinkDataTxKib:
      return NvLinkKib(v, Field::kNvLinkTx, scope, 1);
    case kFieldNvLinkDataRxKib:
      return NvLinkKib(v, Field::kNvLinkRx, scope, 1);
    case kFieldNvLinkRawTxKib:
      return NvLinkKib(v, Field::kNvLinkTx, scope, 1.08);
    case kFieldNvLinkRawRxKib:
      return NvLinkKib(v, Field::kNvLinkRx, scope, 1.08);
    default:
      return {};
  }
}

Answer FieldAnswer(const View& v, u32 id, u32 scope) {
  if (id >= kFieldEccCurrent && id <= kFieldEccDbeAggregate) return EccField(v, id);
  if (id >= kFieldPowerAverageMw && id <= kFieldPowerRequestedLimitMw && id != kFieldEnergyMj2)
    return PowerField(v, id, scope);
  if (id >= kFieldPolicyPowerNs && id <= kFieldPolicyReliabilityNs) {
    return Number(ReasonNs(v, PolicyBits(id - kFieldPolicyPowerNs)), kValueU64);
  }
  switch (id) {
    case kFieldPolicyBaseClocksNs:
      return Number(0, kValueU64);
    case kFieldMemoryTemp:
      return If(v.model().memory_temp, Number(v.Now(Field::kMemTemp)));
    case kFieldEnergyMj:
    case kFieldEnergyMj2:
      return Number((v.Counter(Field::kPower) + v.facts().energy_base_j) * 1000, kValueU64);
    case kFieldPcieReplay:
      return Number(v.Now(Field::kPcieReplay));
    case kFieldPcieReplayRollover:
      return Number(0);
    case kFieldRemappedCorrectable:
      return RemapField(v, Field::kRemappedCorrected);
    case kFieldRemappedUncorrectable:
      return RemapField(v, Field::kRemappedUncorrected);
    case kFieldRemappedPending:
      return RemapField(v, Field::kRemapPending);
    case kFieldRemappedFailure:
      return RemapField(v, Field::kRemapFailed);
    case kFieldPcieTxBytes:
      return PcieBytes(v, Field::kPcieTx);
    case kFieldPcieRxBytes:
      return PcieBytes(v, Field::kPcieRx);
    case kFieldResetStatus:
    case kFieldDrainAndResetStatus:
      return Number(0);
    default:
      return LinkField(v, id, scope);
  }
}

/// One entry: its own faults ("field:186") and what the card does not support come first.
void FillField(const View& v, FieldValue* entry) {
  World& world = World::Get();
  const std::string call = fmt::format("field:{}", entry->fieldId);
  const Fault* fault = world.FaultOf(FaultKind::kCode, call, v.place().card, v.t_s());
  Answer a;
  if (fault != nullptr && fault->call != "*") {
    a.code = static_cast<Return>(fault->code);
  } else if (v.Supports(call)) {
    a = FieldAnswer(v, entry->fieldId, entry->scopeId);
  }
  entry->timestamp = static_cast<i64>(world.TimeUs(v.t_s()));
  entry->latencyUsec = 5;
  entry->nvmlReturn = a.code;
  if (a.code != kSuccess) return;
  entry->valueType = a.type;
  entry->value = a.value;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetSamples(Device device, int type, u64 last_seen_us, ValueType* value_type, u32* count,
                            Sample* samples) {
  return OnCard(__func__, device, [&](const View& v) {
    if (value_type == nullptr || count == nullptr) return kInvalidArgument;
    if (type < 0 || type >= static_cast<int>(std::size(kRings))) return kInvalidArgument;
    const RingKind& kind = kRings[type];
    if (v.facts().mig && !kind.power) return kNotSupported;
    *value_type = kValueU32;
    if (samples == nullptr) {
      *count = static_cast<u32>(v.facts().samples);
      return kSuccess;
    }
    *count = FillRing(v, kind, last_seen_us, *count, samples);
    return *count > 0 ? kSuccess : kNotFound;
  });
}

Return nvmlDeviceGetFieldValues(Device device, int count, FieldValue* values) {
  return OnCard(__func__, device, [&](const View& v) {
    if (count <= 0 || values == nullptr) return kInvalidArgument;
    for (int i = 0; i < count; ++i) FillField(v, &values[i]);
    return kSuccess;  // also when every entry failed
  });
}

Return nvmlDeviceClearFieldValues(Device device, int, FieldValue*) {
  return OnCard(__func__, device, [](const View&) { return kNoPermission; });
}

Return nvmlDeviceGetViolationStatus(Device device, int policy, ViolationTime* time) {
  return OnCard(__func__, device, [&](const View& v) {
    if (time == nullptr || policy < 0) return kInvalidArgument;
    time->referenceTime = static_cast<u64>(World::Get().TimeUs(v.t_s()));
    time->violationTime = static_cast<u64>(ReasonNs(v, PolicyBits(static_cast<u32>(policy))));
    return kSuccess;
  });
}

}  // extern "C"
}  // namespace sawbill::nvml
