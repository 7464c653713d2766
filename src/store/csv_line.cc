// SPDX-License-Identifier: Apache-2.0
#include "store/csv_line.h"

#include <charconv>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::store {
namespace {

/// Reads a quoted cell at the start of `s` into `out`; sets `s` to what follows its closing quote.
bool Unquote(std::string_view* s, std::string* out) {
  s->remove_prefix(1);
  while (true) {
    const size_t quote = s->find('"');
    if (quote == std::string_view::npos) return false;
    out->append(s->substr(0, quote));
    s->remove_prefix(quote + 1);
    if (s->empty() || s->front() != '"') return true;
    out->push_back('"');
    s->remove_prefix(1);
  }
}

}  // namespace

bool SplitCells(std::string_view line, std::vector<std::string_view>* cells, std::vector<std::string>* scratch) {
  cells->clear();
  if (line.find('"') == std::string_view::npos) {
    while (true) {
      const size_t comma = line.find(',');
      cells->push_back(line.substr(0, comma));
      if (comma == std::string_view::npos) return true;
      line.remove_prefix(comma + 1);
    }
  }
  scratch->clear();
  std::vector<int> from_scratch;  // views into `scratch` are taken when it no longer grows
  while (true) {
    from_scratch.push_back(-1);
    if (!line.empty() && line.front() == '"') {
      from_scratch.back() = static_cast<int>(scratch->size());
      if (!Unquote(&line, &scratch->emplace_back())) return false;
      if (!line.empty() && line.front() != ',') return false;
      cells->emplace_back();
    } else {
      const size_t comma = line.find(',');
      cells->push_back(line.substr(0, comma));
      line.remove_prefix(comma == std::string_view::npos ? line.size() : comma);
    }
    if (line.empty()) break;
    line.remove_prefix(1);
  }
  for (size_t i = 0; i < cells->size(); ++i) {
    if (from_scratch[i] >= 0) (*cells)[i] = (*scratch)[static_cast<size_t>(from_scratch[i])];
  }
  return true;
}

bool IsHeaderLine(std::string_view line) {
  constexpr std::string_view kFirst = "timestamp";
  if (line.substr(0, kFirst.size()) == kFirst) return line.size() == kFirst.size() || line[kFirst.size()] == ',';
  if (line.empty() || line.front() < 'a' || line.front() > 'z') return false;
  bool found = false;
  for (const std::string_view cell : Split(line, ',')) {
    if (cell == kFirst) found = true;
    if (ParseDouble(cell)) return false;
  }
  return found;
}

std::optional<TimeMs> ParseTimestamp(std::string_view cell) {
  if (cell.empty() || cell.front() < '0' || cell.front() > '9') return std::nullopt;
  const std::optional<double> seconds = ParseDouble(cell);
  constexpr double kLatest = 32503680000.0;  // the year 3000: milliseconds written by mistake are no instant
  if (!seconds || *seconds < 0 || *seconds > kLatest) return std::nullopt;
  return std::llround(*seconds * 1000.0);
}

void AppendTimestamp(TimeMs t, std::string* out) {
  char buffer[24];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), t / 1000);
  (void)error;
  out->append(buffer, end);
  const auto ms = static_cast<int>(t % 1000);
  out->push_back('.');
  out->push_back(static_cast<char>('0' + ms / 100));
  out->push_back(static_cast<char>('0' + ms / 10 % 10));
  out->push_back(static_cast<char>('0' + ms % 10));
}

void RowText::AddNumber(double v, int decimals) {
  Next();
  if (!std::isfinite(v)) return;
  char buffer[400];
  char* const room = buffer + sizeof(buffer);
  auto [end, error] = std::to_chars(buffer, room, v, std::chars_format::fixed, decimals);
  if (error != std::errc()) return;
  double printed = 0;
  if (exact_ && std::from_chars(buffer, end, printed).ec == std::errc() &&
      static_cast<float>(printed) != static_cast<float>(v)) {
    // Readings are held in single precision: its shortest digits are those that stood in the source.
    end = std::to_chars(buffer, room, static_cast<float>(v), std::chars_format::fixed).ptr;
  }
  const std::string_view s(buffer, static_cast<size_t>(end - buffer));
  text_.append(s.find_first_not_of("-0.") == std::string_view::npos && s.front() == '-' ? s.substr(1) : s);
}

void RowText::AddInt(int64_t v) {
  Next();
  char buffer[24];
  text_.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), v).ptr);
}

void RowText::AddText(std::string_view s) {
  Next();
  text_.append(EscapeCsv(Sanitize(s)));
}

}  // namespace sawbill::store
