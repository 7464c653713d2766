// SPDX-License-Identifier: Apache-2.0
#include "prom/exposition.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::prom {
namespace {

constexpr std::array<bool, 256> kNameChars = [] {
  std::array<bool, 256> t{};
  for (unsigned c = '0'; c <= '9'; ++c) t[c] = true;
  for (unsigned c = 'a'; c <= 'z'; ++c) t[c] = true;
  for (unsigned c = 'A'; c <= 'Z'; ++c) t[c] = true;
  t['_'] = t[':'] = true;
  return t;
}();
bool IsNameChar(char c) { return kNameChars[static_cast<unsigned char>(c)]; }
bool IsBlank(char c) { return c == ' ' || c == '\t'; }

std::string_view TakeName(std::string_view* rest) {
  size_t n = 0;
  while (n < rest->size() && IsNameChar((*rest)[n])) ++n;
  const std::string_view name = rest->substr(0, n);
  rest->remove_prefix(n);
  return name;
}

void SkipBlanks(std::string_view* rest) {
  while (!rest->empty() && IsBlank(rest->front())) rest->remove_prefix(1);
}

std::string_view TakeWord(std::string_view* rest) {
  SkipBlanks(rest);
  size_t n = 0;
  while (n < rest->size() && !IsBlank((*rest)[n])) ++n;
  const std::string_view word = rest->substr(0, n);
  rest->remove_prefix(n);
  SkipBlanks(rest);
  return word;
}

/// Whether the text after a quote goes on as it must after a label value: with `}`, or with `, name=` (or `,}`).
bool ValueEnds(std::string_view after) {
  SkipBlanks(&after);
  if (after.empty()) return false;
  if (after.front() == '}') return true;
  if (after.front() != ',') return false;
  after.remove_prefix(1);
  SkipBlanks(&after);
  if (!after.empty() && (after.front() == '}' || after.front() == '"')) return true;
  if (StartsWith(after, "...")) return true;
  const std::string_view name = TakeName(&after);
  SkipBlanks(&after);
  return !name.empty() && !after.empty() && after.front() == '=';
}

/// From behind the opening quote to behind the closing one.
bool TakeValue(std::string_view* rest, std::string* value) {
  value->clear();
  for (size_t i = 0; i < rest->size(); ++i) {
    const char c = (*rest)[i];
    const char next = i + 1 < rest->size() ? (*rest)[i + 1] : '\0';
    if (c == '\\' && (next == '\\' || next == 'n' || (next == '"' && !ValueEnds(rest->substr(i + 2))))) {
      value->push_back(next == 'n' ? '\n' : next);
      ++i;
    } else if (c == '"' && ValueEnds(rest->substr(i + 1))) {
      rest->remove_prefix(i + 1);
      return true;
    } else {
      value->push_back(c);
    }
  }
  return false;
}

/// A name in quotes: a metric's (first, alone) or a label's (before '=').
bool TakeQuotedName(std::string_view* rest, std::string* name) {
  name->clear();
  rest->remove_prefix(1);
  for (size_t i = 0; i < rest->size(); ++i) {
    if ((*rest)[i] == '"') {
      rest->remove_prefix(i + 1);
      return true;
    }
    if ((*rest)[i] == '\\' && i + 1 < rest->size()) ++i;
    name->push_back((*rest)[i]);
  }
  return false;
}

/// From behind '{' to behind '}'.
bool TakeLabels(std::string_view* rest, SeriesName* out) {
  size_t count = 0;
  std::string quoted;
  for (;;) {
    SkipBlanks(rest);
    if (rest->empty()) return false;
    if (rest->front() == '}') {
      rest->remove_prefix(1);
      out->labels.resize(count);
      return true;
    }
    if (rest->front() == ',') {
      rest->remove_prefix(1);
      continue;
    }
    if (StartsWith(*rest, "...")) {  // pages shortened for documents
      rest->remove_prefix(3);
      continue;
    }
    const bool in_quotes = rest->front() == '"';
    if (in_quotes && !TakeQuotedName(rest, &quoted)) return false;
    const std::string_view name = in_quotes ? std::string_view(quoted) : TakeName(rest);
    SkipBlanks(rest);
    if (name.empty() || rest->empty()) return false;
    if (in_quotes && rest->front() != '=') {
      if (!out->name.empty()) return false;
      out->name = quoted;
      continue;
    }
    if (rest->front() != '=') return false;
    rest->remove_prefix(1);
    SkipBlanks(rest);
    if (rest->empty() || rest->front() != '"') return false;
    rest->remove_prefix(1);
    if (count == out->labels.size()) out->labels.emplace_back();
    out->labels[count].first.assign(name);
    if (!TakeValue(rest, &out->labels[count].second)) return false;
    ++count;
  }
}

/// What stands behind the series: a value, a time perhaps, an exemplar perhaps.
LineKind TakeTail(std::string_view rest, PromLine* out) {
  const std::string_view value = TakeWord(&rest);
  if (value.empty()) return LineKind::kOther;
  const bool number = ParsePromValue(value, &out->value);
  out->has_time = !rest.empty() && rest.front() != '#';
  if (out->has_time) {
    const std::optional<double> time = ParseDouble(TakeWord(&rest));
    if (!time) return LineKind::kOther;
    out->time = *time;
  }
  if (!rest.empty() && rest.front() != '#') return LineKind::kOther;
  return number ? LineKind::kSample : LineKind::kBadValue;
}

/// The place behind the brace that closes the labels, npos when there is none.
size_t EndOfLabels(std::string_view line, size_t open) {
  // Without an exemplar the last brace is the labels', and no value needs to be looked into.
  const bool exemplar = std::memchr(line.data(), '#', line.size()) != nullptr;
  if (!exemplar) {
    const size_t close = line.rfind('}');
    return close == std::string_view::npos || close < open ? std::string_view::npos : close + 1;
  }
  std::string_view rest = line.substr(open + 1);
  SeriesName unused;
  if (!TakeLabels(&rest, &unused)) return std::string_view::npos;
  return line.size() - rest.size();
}

}  // namespace

LineKind SplitPromLine(std::string_view line, PromLine* out) {
  while (!line.empty() && (IsBlank(line.front()) || line.front() == '\r')) line.remove_prefix(1);
  while (!line.empty() && (IsBlank(line.back()) || line.back() == '\r')) line.remove_suffix(1);
  if (line.empty()) return LineKind::kBlank;
  if (line.front() == '#') return LineKind::kComment;
  std::string_view rest = line;
  const std::string_view name = TakeName(&rest);
  if (name.empty() && rest.front() != '{') return LineKind::kOther;
  if (!name.empty() && name.front() >= '0' && name.front() <= '9') return LineKind::kOther;
  size_t end = name.size();
  SkipBlanks(&rest);
  if (!rest.empty() && rest.front() == '{') {
    end = EndOfLabels(line, line.size() - rest.size());
    if (end == std::string_view::npos) return LineKind::kOther;
  } else if (rest.size() + name.size() == line.size()) {
    return LineKind::kOther;  // a word that ends with another sign, or stands alone
  }
  out->series = line.substr(0, end);
  return TakeTail(line.substr(end), out);
}

std::string_view SeriesName::Label(std::string_view key) const {
  for (const auto& [label, text] : labels) {
    if (label.size() == key.size() && ToLower(label) == key) return text;
  }
  return {};
}

bool ParseSeries(std::string_view series, SeriesName* out) {
  std::string_view rest = series;
  out->name.assign(TakeName(&rest));
  SkipBlanks(&rest);
  if (rest.empty()) {
    out->labels.clear();
    return !out->name.empty();
  }
  if (rest.front() != '{') return false;
  rest.remove_prefix(1);
  if (!TakeLabels(&rest, out)) return false;
  SkipBlanks(&rest);
  return rest.empty() && !out->name.empty();
}

bool ParsePromValue(std::string_view text, double* value) {
  if (text.empty()) return false;
  if (const std::optional<double> plain = ParseDouble(text)) {
    *value = *plain;
    return true;
  }
  const bool minus = text.front() == '-';
  std::string_view word = text;
  if (minus || text.front() == '+') word.remove_prefix(1);
  const std::string lower = ToLower(word);
  if (lower == "nan") {
    *value = kMissing;
    return true;
  }
  if (lower == "inf" || lower == "infinity") {
    *value = minus ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return true;
  }
  if (!StartsWith(lower, "0x")) return false;
  const char* const end = lower.data() + lower.size();
  double v = 0;
  const auto [at, error] = std::from_chars(lower.data() + 2, end, v, std::chars_format::hex);
  if (error != std::errc() || at != end || !std::isfinite(v)) return false;
  *value = minus ? -v : v;
  return true;
}

int64_t TimeMsOf(double time) {
  // 2001 to 5138, in either unit; no two of these ranges overlap.
  constexpr double kLeast = 1e9, kMost = 1e11;
  if (time >= kLeast && time < kMost) return std::llround(time * 1000);
  return time >= kLeast * 1e3 && time < kMost * 1e3 ? std::llround(time) : INT64_MIN;
}

}  // namespace sawbill::prom
