// SPDX-License-Identifier: Apache-2.0
// Lines of Prometheus text: exposition format 0.0.4 and OpenMetrics 1.0, as exporters really write them. Reading is in
// two steps: SplitPromLine finds the series, the value and the time and copies nothing; ParseSeries takes a series
// apart, which a reader needs once for each series and not for each sample.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sawbill::prom {

enum class LineKind {
  kBlank,
  kComment,  // "#" and what follows it; "# EOF" too
  kSample,
  kBadValue,  // a series, and behind it something that is no number ("N/A")
  kOther
};

struct PromLine {
  std::string_view series;  // `name{label="text"}` as it stands
  double value = 0;         // NaN for "NaN"; infinities as they are
  bool has_time = false;
  double time = 0;  // as it stands: ms in 0.0.4, seconds in OpenMetrics; TimeMsOf() tells which
};

/// `line` without its line end; "\r" and blanks around it do not matter. Exemplars are cut off.
/// dcgm-exporter does not escape label values: a quote ends one only where a comma or the closing brace follows.
LineKind SplitPromLine(std::string_view line, PromLine* out);

struct SeriesName {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;
  /// "" when there is no such label. The case of names does not matter: exporters changed it (UUID and uuid).
  std::string_view Label(std::string_view key) const;
};

/// `name`, `name{a="b"}`, or `{"name in quotes",a="b"}` (names beyond ASCII, Prometheus 3). Takes a page apart that
/// somebody shortened with "..." among the labels. False when it is no series; reuses the memory of `*out`.
bool ParseSeries(std::string_view series, SeriesName* out);

/// A value in Go's notation: "1e3", "0x1p4", "NaN", "+Inf". False when it is none.
bool ParsePromValue(std::string_view text, double* value);

/// A time in seconds or milliseconds, told apart by its size: no sound time is both. In milliseconds; INT64_MIN for
/// what is no time since 2001.
int64_t TimeMsOf(double time);

}  // namespace sawbill::prom
