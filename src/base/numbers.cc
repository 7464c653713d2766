// SPDX-License-Identifier: Apache-2.0
#include "base/numbers.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace sawbill {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void SkipBlanks(std::string_view* s) {
  while (!s->empty() && IsBlank(s->front())) s->remove_prefix(1);
}

/// std::from_chars knows no '+', and knows "inf" and "nan", which are no readings.
bool TakeSign(std::string_view* s) {
  SkipBlanks(s);
  if (!s->empty() && s->front() == '+') {
    s->remove_prefix(1);
    if (!s->empty() && s->front() == '-') return false;
  }
  const std::string_view digits = !s->empty() && s->front() == '-' ? s->substr(1) : *s;
  if (digits.empty()) return false;
  return IsDigit(digits[0]) || (digits[0] == '.' && digits.size() > 1 && IsDigit(digits[1]));
}

std::string_view NonFinite(double v) {
  if (std::isnan(v)) return "nan";
  return v > 0 ? "inf" : "-inf";
}

}  // namespace

std::optional<double> ParseDoublePrefix(std::string_view s, std::string_view* rest) {
  double v = 0;
  const char* p = s.data();
  if (TakeDecimal(&p, s.data() + s.size(), &v)) {  // nearly every number in a log
    if (rest != nullptr) *rest = s.substr(static_cast<size_t>(p - s.data()));
    return v;
  }
  if (!TakeSign(&s)) return std::nullopt;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (error != std::errc() || !std::isfinite(v)) return std::nullopt;
  if (rest != nullptr) *rest = s.substr(static_cast<size_t>(end - s.data()));
  return v;
}

std::optional<double> ParseDouble(std::string_view s) {
  std::string_view rest;
  const std::optional<double> v = ParseDoublePrefix(s, &rest);
  if (!v) return std::nullopt;
  SkipBlanks(&rest);
  return rest.empty() ? v : std::nullopt;
}

std::optional<int64_t> ParseInt(std::string_view s) {
  if (!TakeSign(&s)) return std::nullopt;
  int64_t v = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (error != std::errc()) return std::nullopt;
  std::string_view rest = s.substr(static_cast<size_t>(end - s.data()));
  SkipBlanks(&rest);
  if (!rest.empty()) return std::nullopt;
  return v;
}

std::string FormatFixed(double v, int decimals) {
  if (!std::isfinite(v)) return std::string(NonFinite(v));
  decimals = std::clamp(decimals, 0, 64);
  char buffer[400];  // the largest double has 309 digits before the point
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), v, std::chars_format::fixed, decimals);
  if (error != std::errc()) return "nan";
  std::string out(buffer, end);
  if (out[0] == '-' && out.find_first_not_of("-0.") == std::string::npos) out.erase(0, 1);
  return out;
}

std::string FormatShortest(double v) {
  if (!std::isfinite(v)) return std::string(NonFinite(v));
  if (v == 0) return "0";
  char buffer[64];
  // Left to itself, to_chars writes 100000 as "1e+05": one character shorter, and no friend of any reader.
  const double magnitude = std::fabs(v);
  const bool plain = magnitude >= 1e-5 && magnitude < 1e15;
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof(buffer), v, plain ? std::chars_format::fixed : std::chars_format::general);
  return error == std::errc() ? std::string(buffer, end) : "nan";
}

std::string FormatGrouped(double v, int decimals) {
  std::string out = FormatFixed(v, decimals);
  if (!std::isfinite(v)) return out;
  const size_t first = out[0] == '-' ? 1 : 0;
  const size_t point = std::min(out.find('.'), out.size());
  for (size_t i = point; i > first + 3;) {
    i -= 3;
    out.insert(i, 1, ',');
  }
  return out;
}

}  // namespace sawbill
