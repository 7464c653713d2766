// SPDX-License-Identifier: Apache-2.0
// One foreign format = one small self-contained reader behind this interface. To add one: write its .h/.cc beside the
// others and name it in formats.cc; nothing else changes. Formats are recognised by content, never by a file's name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/messages.h"
#include "base/status.h"
#include "base/time.h"
#include "ingest/date_order.h"
#include "model/recording.h"
#include "sys/decompress.h"

namespace sawbill::ingest {

/// What a reader took one column of the file for: `--explain-format` prints it.
struct ColumnTaken {
  int column = 0;        // from 1, as people count
  std::string heading;   // as it stands in the file; "" in a file without headings
  std::string taken_as;  // our column name, "timestamp", "card", "uuid", ...; "" = left out
  std::string unit;      // "%", "MiB", ...; "" where the column has none
  std::string how;       // why it was taken so, ready to print
};

/// What a reader understood of a file, beside the samples themselves.
struct Explanation {
  std::vector<ColumnTaken> columns;
  std::string time_format;  // "YYYY/MM/DD hh:mm:ss.mmm", "Unix seconds", ...
  std::string zone;         // the zone of the times as they stand: "in the file", "Asia/Shanghai (assumed)"
  std::string cards;        // how rows were put to cards
  int64_t rows = 0;         // rows that became samples
};

/// What a reader may know beside the bytes.
struct ReadContext {
  const TimeZone* tz = nullptr;  // of times without a zone; never null
  std::string file;              // short name for places ("log.csv:17")
  Lang lang = Lang::kEn;         // of notes and explanations
  size_t text_bytes = 0;         // size of the whole text where it is known, to make room once
  TimeMs modified_ms = 0;        // when the file was last written; 0 = not known (a pipe)
  DatesTold dates;               // what the whole file tells of dates such as 02/12/2026
};

class Format {
 public:
  virtual ~Format() = default;
  /// "nvidia-smi csv": goes into Recording::format and reports.
  virtual std::string_view name() const = 0;
  /// 0 (certainly not this) to 1, from the first bytes of the file (decompressed, up to kSampleBytes).
  virtual double Certainty(std::string_view sample) const = 0;
  /// Reads everything. Odd data is counted in `out->quality`; an error means that the file cannot be used, and says
  /// why.
  virtual Status Read(sys::LineReader* lines, const ReadContext& context, model::Recording* out,
                      Explanation* explanation) const = 0;
};

inline constexpr size_t kSampleBytes = 64 * 1024;
/// Below this a file is not taken for that format.
inline constexpr double kLeastCertainty = 0.5;

/// Every format, in the order in which equal certainties are decided.
const std::vector<const Format*>& AllFormats();

}  // namespace sawbill::ingest
