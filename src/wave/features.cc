// SPDX-License-Identifier: Apache-2.0
#include "wave/features.h"

namespace sawbill::wave {
namespace {
constexpr FeatureInfo kRows[] = {
#define F(id, name, unit, en, zh, from) {name, unit, en, zh, from},
#include "wave/features.inc"
#undef F
};
}  // namespace

const FeatureInfo& Info(Feature f) { return kRows[static_cast<size_t>(f)]; }

std::optional<Feature> FindFeature(std::string_view name) {
  for (size_t i = 0; i < kFeatures; ++i) {
    if (name == kRows[i].name) return static_cast<Feature>(i);
  }
  return std::nullopt;
}

}  // namespace sawbill::wave
