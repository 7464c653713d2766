// SPDX-License-Identifier: Apache-2.0
// Names of day files and their columns, generated from the metric catalog: writer, reader and docs use the same list.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sawbill::store {

enum class DayKind { kGpu, kHost, kProcess, kStep, kRun, kEvent, kMinute, kCount };
inline constexpr size_t kDayKinds = static_cast<size_t>(DayKind::kCount);
std::string_view Name(DayKind kind);
std::optional<DayKind> FindDayKind(std::string_view name);

/// The columns that this version writes, in order; the first is "timestamp".
const std::vector<std::string>& Columns(DayKind kind);
/// Columns(kind) joined by ',', without a line end.
const std::string& HeaderLine(DayKind kind);
/// Columns of minute-*.csv: timestamp, gpu, covered_s, <metric>_mean/_min/_max, sm_util_p50, sm_util_p95, low_s.
std::vector<std::string> MinuteColumns();

struct DayFileName {
  DayKind kind = DayKind::kGpu;
  std::string day;     // "2026-01-02"
  std::string suffix;  // "", ".gz" or ".zst"
};
/// "gpu-2026-01-02.csv.zst"; nothing for any other name.
std::optional<DayFileName> ParseDayFileName(std::string_view name);
std::string MakeDayFileName(DayKind kind, std::string_view day, std::string_view suffix = "");

}  // namespace sawbill::store
