// SPDX-License-Identifier: Apache-2.0
// Odd data is neither an error nor a value: it is counted by name and shown in every report. Adding a counter: one row
// in data_quality.inc (name, severity, English, Chinese).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/messages.h"

namespace sawbill::model {

enum class Severity { kInfo, kLow, kMedium, kHigh };
std::string_view Name(Severity s);  // "info" ...

enum class Odd {
#define ODD(id, name, severity, en, zh) id,
#include "model/data_quality.inc"
#undef ODD
  kCount
};
inline constexpr size_t kOdds = static_cast<size_t>(Odd::kCount);
struct OddInfo {
  const char* name;
  Severity severity;
  const char* en;
  const char* zh;
};
const OddInfo& Info(Odd o);

/// Counts with the place of the first case. Merging adds.
class DataQuality {
 public:
  /// `where`: "gpu-2026-01-02.csv:17" or any short detail; only the first is kept.
  void Count(Odd o, std::string_view where = {}, int64_t n = 1);
  void Merge(const DataQuality& other);
  int64_t count(Odd o) const { return counts_[static_cast<size_t>(o)]; }
  const std::string& detail(Odd o) const { return details_[static_cast<size_t>(o)]; }
  bool empty() const;

 private:
  std::array<int64_t, kOdds> counts_{};
  std::array<std::string, kOdds> details_;
};

}  // namespace sawbill::model
