// SPDX-License-Identifier: Apache-2.0
// GPM (Hopper and newer): two samples, and means between them. A sample is what the counters were.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simulator/nvml/api.h"

namespace sawbill::nvml {
namespace {
using nvmlsim::Fault;
using nvmlsim::FaultKind;
using nvmlsim::Field;
using nvmlsim::Give;
using nvmlsim::GpmSampleState;
using nvmlsim::kFields;
using nvmlsim::OnCard;
using nvmlsim::OnPlace;
using nvmlsim::OnSystem;
using nvmlsim::Place;
using nvmlsim::View;
using nvmlsim::World;

struct Metric {
  u32 id;
  Field field;
  double scale;
  const char* unit;
};
constexpr double kMibPerMb = 1e6 / 1048576;
constexpr Metric kMetrics[] = {
    {kGpmGraphicsUtil, Field::kGrActive, 100, "%"},
    {kGpmSmUtil, Field::kSmActive, 100, "%"},
    {kGpmSmOccupancy, Field::kSmOccupancy, 100, "%"},
    {kGpmIntegerUtil, Field::kIntActive, 100, "%"},
    {kGpmAnyTensorUtil, Field::kTensorActive, 100, "%"},
    {kGpmHmmaTensorUtil, Field::kTensorActive, 100, "%"},
    {kGpmDramBwUtil, Field::kDramActive, 100, "%"},
    {kGpmFp64Util, Field::kFp64Active, 100, "%"},
    {kGpmFp32Util, Field::kFp32Active, 100, "%"},
    {kGpmFp16Util, Field::kFp16Active, 100, "%"},
    {kGpmPcieTxMibPerS, Field::kPcieTx, kMibPerMb, "MiB/s"},
    {kGpmPcieRxMibPerS, Field::kPcieRx, kMibPerMb, "MiB/s"},
    {kGpmNvLinkTotalRxMibPerS, Field::kNvLinkRx, kMibPerMb, "MiB/s"},
    {kGpmNvLinkTotalTxMibPerS, Field::kNvLinkTx, kMibPerMb, "MiB/s"},
};

GpmSampleState* Known(World& world, GpmSample sample) {
  auto* state = reinterpret_cast<GpmSampleState*>(sample);
  return world.gpm_samples.contains(state) ? state : nullptr;
}

Return Take(const View& v, Place place, GpmSample sample) {
  World& world = World::Get();
  GpmSampleState* state = Known(world, sample);
  if (state == nullptr) return kInvalidArgument;
  state->taken = true;
  state->place = place;
  state->t_s = v.t_s();
  for (size_t i = 0; i < kFields; ++i) {
    state->total[i] = v.source().Total(place, static_cast<Field>(i), v.t_s());
    state->nan_s[i] = v.source().NanSeconds(place, static_cast<Field>(i), v.t_s());
  }
  return kSuccess;
}

void Answer(World& world, const GpmSampleState& a, const GpmSampleState& b, GpmMetric* out) {
  const std::string call = fmt::format("gpm:{}", out->metricId);
  const auto& facts = world.source->cards()[static_cast<size_t>(a.place.card)];
  const View view(*world.source, a.place, b.t_s, false);
  const Fault* fault = world.FaultOf(FaultKind::kCode, call, a.place.card, world.Now());
  const auto* row =
      std::find_if(std::begin(kMetrics), std::end(kMetrics), [&](auto& m) { return m.id == out->metricId; });
  out->metricInfo = {};
  if (fault != nullptr && fault->call != "*") {
    out->nvmlReturn = static_cast<Return>(fault->code);
    return;
  }
  const bool has_links = facts.model->nvlinks > 0 || out->metricId < kGpmNvLinkTotalRxMibPerS;
  if (row == std::end(kMetrics) || !has_links || !view.Supports(call)) {
    out->nvmlReturn = kNotSupported;
    return;
  }
  const auto i = static_cast<size_t>(row->field);
  out->nvmlReturn = kSuccess;
  // The real one answers NaN, with success, when it has no count.
  const bool unknown = b.nan_s[i] - a.nan_s[i] > 1e-9;
  out->value = unknown ? kMissing : (b.total[i] - a.total[i]) / (b.t_s - a.t_s) * row->scale;
  out->metricInfo.unit = const_cast<char*>(row->unit);
}

}  // namespace

extern "C" {

Return nvmlGpmQueryDeviceSupport(Device device, GpmSupport* support) {
  return OnPlace(__func__, device, [&](const View& v) {
    if (support == nullptr) return kInvalidArgument;
    if (support->version != kGpmVersion) return kArgumentVersionMismatch;
    support->isSupportedDevice = v.facts().gpm ? 1 : 0;
    return kSuccess;
  });
}
Return nvmlGpmSampleAlloc(GpmSample* sample) {
  return OnSystem(__func__, [&](World& w) {
    if (sample == nullptr) return kInvalidArgument;
    auto fresh = std::make_unique<GpmSampleState>();
    GpmSampleState* state = fresh.get();
    w.gpm_samples.emplace(state, std::move(fresh));
    *sample = reinterpret_cast<GpmSample>(state);
    return kSuccess;
  });
}
Return nvmlGpmSampleFree(GpmSample sample) {
  return OnSystem(__func__,
                  [&](World& w) { return w.gpm_samples.erase(Known(w, sample)) == 1 ? kSuccess : kInvalidArgument; });
}
Return nvmlGpmSampleGet(Device device, GpmSample sample) {
  return OnPlace(__func__, device,
                 [&](const View& v) { return v.facts().gpm ? Take(v, v.place(), sample) : kNotSupported; });
}
Return nvmlGpmMigSampleGet(Device device, u32 gpu_instance_id, GpmSample sample) {
  return OnCard(__func__, device, [&](const View& v) {
    if (!v.facts().gpm || !v.facts().mig) return kNotSupported;
    for (size_t i = 0; i < v.facts().instances.size(); ++i) {
      if (v.facts().instances[i].gpu_instance == static_cast<int>(gpu_instance_id)) {
        return Take(v, {v.place().card, static_cast<int>(i)}, sample);
      }
    }
    return kInvalidArgument;
  });
}
Return nvmlGpmMetricsGet(GpmMetricsGet* get) {
  return OnSystem(__func__, [&](World& w) {
    if (get == nullptr) return kInvalidArgument;
    if (get->version != kGpmVersion) return kArgumentVersionMismatch;
    const GpmSampleState* a = Known(w, get->sample1);
    const GpmSampleState* b = Known(w, get->sample2);
    if (a == nullptr || b == nullptr || !a->taken || !b->taken) {
      return kInvalidArgument;
    }
    if (a->place.card != b->place.card || a->place.instance != b->place.instance || b->t_s <= a->t_s) {
      return kInvalidArgument;
    }
    if (const Fault* f = w.FaultOf(FaultKind::kCode, "nvmlGpmMetricsGet", a->place.card, w.Now())) {
      return static_cast<Return>(f->code);
    }
    for (u32 i = 0; i < get->numMetrics; ++i) Answer(w, *a, *b, &get->metrics[i]);
    return kSuccess;
  });
}
Return nvmlGpmQueryIfStreamingEnabled(Device device, u32* state) {
  return OnCard(__func__, device, [&](const View& v) { return v.facts().gpm ? Give(0, state) : kNotSupported; });
}
Return nvmlGpmSetStreamingEnabled(Device device, u32) {
  return OnCard(__func__, device, [](const View& v) { return v.facts().gpm ? kNoPermission : kNotSupported; });
}

}  // extern "C"
}  // namespace sawbill::nvml
