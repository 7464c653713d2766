// SPDX-License-Identifier: Apache-2.0
// The list of features that rules may name: facts about a run or a card, computed from its samples, each with a unit
// and a sentence. A feature that the data does not carry is absent, and a condition on it is neither true nor false.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/messages.h"
#include "base/numbers.h"

namespace sawbill::wave {

enum class Feature {
#define F(id, name, unit, en, zh, from) id,
#include "wave/features.inc"
#undef F
  kCount
};
inline constexpr size_t kFeatures = static_cast<size_t>(Feature::kCount);
struct FeatureInfo {
  const char* name;
  const char* unit;  // ratio (printed as percent), percent, s, W, count, cores, mb_s, MHz
  const char* en;    // what it is, as a noun phrase: "share of time lost to waits"
  const char* zh;
  const char* from;  // how it is had, from which columns: "gpu: mean sm_util"
};
const FeatureInfo& Info(Feature f);
std::optional<Feature> FindFeature(std::string_view name);

/// Values by feature; NaN = cannot be told from this data.
class FeatureSet {
 public:
  FeatureSet() { values_.fill(kMissing); }
  double Get(Feature f) const { return values_[static_cast<size_t>(f)]; }
  bool Has(Feature f) const { return IsPresent(Get(f)); }
  void Set(Feature f, double v) { values_[static_cast<size_t>(f)] = v; }

 private:
  std::array<double, kFeatures> values_;
};

}  // namespace sawbill::wave
