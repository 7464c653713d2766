// SPDX-License-Identifier: Apache-2.0
#include "ingest/mon_columns.h"

#include <cstring>

#include "base/text.h"

namespace sawbill::ingest {

void Words::Split(std::string_view line, size_t most) {
  // A comma parts as well: dmon has --format csv.
  const auto parts = [](char c) { return c == ' ' || c == '\t' || c == ','; };
  count = 0;
  const char* p = line.data();
  const char* const end = p + line.size();
  while (count < most) {
    while (end - p >= 4 && std::memcmp(p, "    ", 4) == 0) p += 4;  // columns are padded: half of a line is blank
    while (p < end && parts(*p)) ++p;
    if (p == end) return;
    const char* from = p;
    // Digits and letters stand behind the comma, so that most characters cost one comparison.
    while (p < end && (*p > ',' || !parts(*p))) ++p;
    if (count + 1 == most) p = end;  // the last takes the rest
    word[count++] = std::string_view(from, static_cast<size_t>(p - from));
  }
}

int MonHeading::Map(const std::string_view* names, size_t count) {
  columns_.clear();
  int unknown = 0;
  const bool first = explanation_->columns.empty();
  for (size_t i = 0; i < count; ++i) {
    const MonColumn* found = nullptr;
    for (const MonColumn& c : known_) {
      if (c.heading == names[i]) found = &c;
    }
    columns_.push_back(found);
    if (!first) continue;
    ColumnTaken taken;
    taken.column = static_cast<int>(i) + 1;
    taken.heading = Sanitize(names[i]);
    taken.how = Tr(context_.lang, found == nullptr             ? Msg::kIngestHowUnknown
                                  : found->taken_as[0] == '\0' ? Msg::kIngestHowIgnored
                                                               : Msg::kIngestHowHeading);
    if (found != nullptr) {
      taken.taken_as = found->taken_as;
      taken.unit = found->unit;
    }
    unknown += found == nullptr ? 1 : 0;
    explanation_->columns.push_back(std::move(taken));
  }
  return unknown;
}

}  // namespace sawbill::ingest
