// SPDX-License-Identifier: Apache-2.0
#include "ingest/text_column.h"

#include "ingest/cells.h"

namespace sawbill::ingest {

uint32_t TextColumn::Find(std::string_view s) {
  if (s.find('\0') != std::string_view::npos) return kBroken;
  const auto fresh = static_cast<uint32_t>(values_.size());
  const auto [it, added] = known_.try_emplace(std::string(s), MarkerOf(s) == Marker::kNone ? fresh : 0);
  if (added && it->second == fresh) {
    values_.push_back(it->first);
    after_.push_back(0);
  }
  after_[last_] = it->second;
  return last_ = it->second;
}

}  // namespace sawbill::ingest
