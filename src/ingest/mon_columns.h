// SPDX-License-Identifier: Apache-2.0
// Tables of blank-separated columns under "#" headings, as monitors print them: what `nvidia-smi dmon`, `nvidia-smi
// pmon` and `dcgmi dmon` have in common.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "ingest/format.h"
#include "ingest/printed_time.h"
#include "ingest/words.h"

namespace sawbill::ingest {

/// The words of one row: at most as many as any selection of columns has.
struct Words {
  static constexpr size_t kMost = 96;
  std::array<std::string_view, kMost> word;
  size_t count = 0;
  void Split(std::string_view line, size_t most = kMost);
};

/// What a monitor's column is read as.
struct MonColumn {
  std::string_view heading;
  const char* taken_as;  // "" = known and not needed
  const char* unit;
  int metric;     // of the reader's own list; -1 = none
  double factor;  // to our unit
};

/// Maps the names of a heading line to rows of `known` (which must outlive this); what is not there gets nullptr, and
/// is explained once.
class MonHeading {
 public:
  MonHeading(std::span<const MonColumn> known, const ReadContext& context, Explanation* explanation)
      : known_(known), context_(context), explanation_(explanation) {}
  /// `names`: from the first column that is not date or time. Returns how many are unknown for the first time.
  int Map(const std::string_view* names, size_t count);
  const MonColumn* at(size_t i) const { return i < columns_.size() ? columns_[i] : nullptr; }
  size_t size() const { return columns_.size(); }

 private:
  const std::span<const MonColumn> known_;
  const ReadContext& context_;
  Explanation* const explanation_;
  std::vector<const MonColumn*> columns_;
};

/// Like TakeReading for a word that is most often a short whole number or "-".
inline double MonReading(std::string_view word, Tally* tally) {
  double v = 0;
  for (const char c : word) {
    if (c < '0' || c > '9' || word.size() > 9) return TakeReading(word, tally);
    v = v * 10 + (c - '0');
  }
  return word.empty() ? TakeReading(word, tally) : v;
}

}  // namespace sawbill::ingest
