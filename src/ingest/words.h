// SPDX-License-Identifier: Apache-2.0
// Words and readings of text that was printed for people: "97W", "1835MiB", "29%", "N/A", "ERR!". Nothing here
// allocates for a sound reading.
#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

#include "ingest/format.h"
#include "model/data_quality.h"
#include "sys/decompress.h"

namespace sawbill::ingest {

/// Counts odd data with the place of its first case ("log.txt:17").
class Tally {
 public:
  /// All must outlive this.
  Tally(const ReadContext& context, const sys::LineReader& lines, model::DataQuality* quality)
      : context_(context), lines_(lines), quality_(quality) {}
  void Count(model::Odd odd, int64_t n = 1);

 private:
  const ReadContext& context_;
  const sys::LineReader& lines_;
  model::DataQuality* const quality_;
};

/// The next run of characters that are no blanks; "" at the end.
inline std::string_view TakeWord(std::string_view* rest) {
  size_t from = 0;
  while (from < rest->size() && ((*rest)[from] == ' ' || (*rest)[from] == '\t')) ++from;
  size_t to = from;
  while (to < rest->size() && (*rest)[to] != ' ' && (*rest)[to] != '\t') ++to;
  const std::string_view word = rest->substr(from, to - from);
  rest->remove_prefix(to);
  return word;
}

/// A number with an optional unit behind it ("97W", "1835 MiB", "0.156"). NaN where there is none: what says so ("N/A",
/// "-", "ERR!", "[Not Supported]", "??") and what is no reading at all is counted. KiB and GiB are given in MiB.
double TakeReading(std::string_view word, Tally* tally);
/// A whole number from 0 to 10^9, without unit; -1 for anything else.
int64_t WholeNumber(std::string_view word);

/// The text without terminal colours ("\x1b[1;36m"); `buffer` is used when there are any.
std::string_view WithoutColours(std::string_view text, std::string* buffer);

/// What a process is called in a report: its executable or script, never its path or arguments.
std::string_view ProcessName(std::string_view command);

/// Columns that a format always has, for Explanation.
void ExplainFixed(std::initializer_list<std::array<const char*, 3>> heading_taken_unit, const ReadContext& context,
                  Explanation* explanation);

/// "nothing in it can be read", with what was counted.
Status NothingRead(std::string_view format, const ReadContext& context, const model::DataQuality& quality);

}  // namespace sawbill::ingest
