// SPDX-License-Identifier: Apache-2.0
// Small cutters for the texts of /proc and /sys: lines, words, unsigned numbers, lists of processors. Nothing here
// allocates but the list: a look at the processes cuts thousands of lines.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sawbill::host {

/// Takes the first line off `text`; the last needs no newline. Nothing when `text` is empty.
inline std::optional<std::string_view> TakeLine(std::string_view* text) {
  if (text->empty()) return std::nullopt;
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return line;
}

/// Takes the first word (blanks and tabs part them) off `line`; empty when none is left.
inline std::string_view TakeWord(std::string_view* line) {
  const size_t begin = line->find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) {
    *line = {};
    return {};
  }
  line->remove_prefix(begin);
  const size_t end = line->find_first_of(" \t\n");
  const std::string_view word = line->substr(0, end);
  line->remove_prefix(word.size());
  return word;
}

/// The whole of `word`, digits only. "max", "-1" and "" are nothing.
inline std::optional<uint64_t> ToU64(std::string_view word) {
  uint64_t v = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), v);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return v;
}

inline std::optional<uint64_t> TakeU64(std::string_view* line) { return ToU64(TakeWord(line)); }

/// What stands behind `key` at the start of a line ("Uid:", "MemTotal:", "usage_usec"); empty when there is none.
std::string_view ValueOf(std::string_view text, std::string_view key);

/// "0-3,8,10-11" -> 0 1 2 3 8 10 11, ascending; empty for an empty or broken list.
using CpuSet = std::vector<int>;
CpuSet ParseCpuList(std::string_view list);
CpuSet Union(const CpuSet& a, const CpuSet& b);
CpuSet Intersection(const CpuSet& a, const CpuSet& b);

}  // namespace sawbill::host
