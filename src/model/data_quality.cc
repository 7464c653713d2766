// SPDX-License-Identifier: Apache-2.0
#include "model/data_quality.h"

#include <algorithm>

namespace sawbill::model {
namespace {
constexpr OddInfo kRows[] = {
#define ODD(id, name, severity, en, zh) {name, Severity::severity, en, zh},
#include "model/data_quality.inc"
#undef ODD
};
constexpr const char* kSeverityNames[] = {"info", "low", "medium", "high"};
}  // namespace

std::string_view Name(Severity s) { return kSeverityNames[static_cast<size_t>(s)]; }
const OddInfo& Info(Odd o) { return kRows[static_cast<size_t>(o)]; }

void DataQuality::Count(Odd o, std::string_view where, int64_t n) {
  const auto i = static_cast<size_t>(o);
  if (counts_[i] == 0 && !where.empty()) details_[i] = std::string(where);
  counts_[i] += n;
}

void DataQuality::Merge(const DataQuality& other) {
  for (size_t i = 0; i < kOdds; ++i) {
    if (counts_[i] == 0) details_[i] = other.details_[i];
    counts_[i] += other.counts_[i];
  }
}

bool DataQuality::empty() const {
  return std::all_of(counts_.begin(), counts_.end(), [](int64_t n) { return n == 0; });
}

}  // namespace sawbill::model
