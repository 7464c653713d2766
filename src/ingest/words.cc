// SPDX-License-Identifier: Apache-2.0
#include "ingest/words.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/cells.h"

namespace sawbill::ingest {
using model::Odd;

void Tally::Count(Odd odd, int64_t n) {
  if (quality_->count(odd) > 0) return quality_->Count(odd, {}, n);
  quality_->Count(odd, context_.file + ":" + std::to_string(lines_.line_number()), n);
}

namespace {

/// NaN, after counting why.
double NoReading(std::string_view word, Tally* tally) {
  const Marker marker = word == "??" || word == "?" ? Marker::kNotAvailable : MarkerOf(word);
  switch (marker) {
    case Marker::kEmpty:
      break;
    case Marker::kNotAvailable:
      tally->Count(Odd::kNotSupported);
      break;
    case Marker::kError:
      tally->Count(Odd::kErrorCell);
      break;
    case Marker::kNone:
      tally->Count(Odd::kBadCell);
  }
  return kMissing;
}

}  // namespace

double TakeReading(std::string_view word, Tally* tally) {
  word = Trim(word);
  const char* p = word.data();
  const char* const end = p + word.size();
  double value = 0;
  if (!TakeDecimal(&p, end, &value)) {
    std::string_view rest;
    const auto long_number = ParseDoublePrefix(word, &rest);
    if (!long_number) return NoReading(word, tally);
    value = *long_number;
    p = end - rest.size();
  }
  if (p == end) return value;
  const std::string_view unit = Trim(std::string_view(p, static_cast<size_t>(end - p)));
  // Anything but a unit behind the number is a torn or merged cell ("97W3"), which is no reading.
  constexpr std::string_view kUnits[] = {"%", "W", "C", "MiB", "GiB", "KiB", "MB", "M", "MHz", "KB/s", "MB/s"};
  if (std::find(std::begin(kUnits), std::end(kUnits), unit) == std::end(kUnits)) return NoReading(word, tally);
  if (unit == "GiB") return value * 1024;
  if (unit == "KiB") return value / 1024;
  return value;
}

int64_t WholeNumber(std::string_view word) {
  if (word.empty() || word.size() > 9) return -1;
  int64_t n = 0;
  for (const char c : word) {
    if (c < '0' || c > '9') return -1;
    n = n * 10 + (c - '0');
  }
  return n;
}

std::string_view WithoutColours(std::string_view text, std::string* buffer) {
  size_t at = text.find('\x1b');
  if (at == std::string_view::npos) return text;
  buffer->clear();
  while (at != std::string_view::npos) {
    buffer->append(text.substr(0, at));
    // CSI: "\x1b[" up to a letter; charset: "\x1b(B", which terminfo writes after each colour.
    size_t stop = at + 1;
    if (stop < text.size() && text[stop] == '(') {
      stop += 2;
    } else {
      while (stop < text.size() && !((text[stop] | 0x20) >= 'a' && (text[stop] | 0x20) <= 'z')) ++stop;
      ++stop;
    }
    text.remove_prefix(std::min(stop, text.size()));
    at = text.find('\x1b');
  }
  return buffer->append(text);
}

std::string_view ProcessName(std::string_view command) {
  command = Trim(command);
  // A Windows path may hold blanks, so only what follows its last backslash is looked at.
  if (const size_t back = command.rfind('\\'); back != std::string_view::npos) return command.substr(back + 1);
  std::string_view first = command.substr(0, command.find(' '));
  // nvidia-smi cuts long names at their left: what is left of "...ython3 /data/a/train.py" begins anywhere.
  if (StartsWith(first, "...") && first.size() < command.size() && first.find('/') == std::string_view::npos) {
    first = Trim(command.substr(first.size()));
    first = first.substr(0, first.find(' '));
  }
  if (const size_t slash = first.rfind('/'); slash != std::string_view::npos && slash + 1 < first.size()) {
    first.remove_prefix(slash + 1);
  }
  return first;
}

void ExplainFixed(std::initializer_list<std::array<const char*, 3>> heading_taken_unit, const ReadContext& context,
                  Explanation* explanation) {
  for (const auto& [heading, taken, unit] : heading_taken_unit) {
    ColumnTaken c;
    c.column = static_cast<int>(explanation->columns.size()) + 1;
    c.heading = heading;
    c.taken_as = taken;
    c.unit = unit;
    c.how = Tr(context.lang, *taken == '\0' ? Msg::kIngestHowIgnored : Msg::kIngestHowHeading);
    explanation->columns.push_back(std::move(c));
  }
}

Status NothingRead(std::string_view format, const ReadContext& context, const model::DataQuality& quality) {
  std::string seen;
  for (size_t i = 0; i < model::kOdds; ++i) {
    const auto odd = static_cast<Odd>(i);
    if (quality.count(odd) == 0) continue;
    const model::OddInfo& info = model::Info(odd);
    if (!seen.empty()) seen += ", ";
    seen += fmt::format("{} × {}", quality.count(odd), context.lang == Lang::kZh ? info.zh : info.en);
  }
  if (!seen.empty()) seen = Tr(context.lang, Msg::kIngestSeen, seen);
  return Status::Unsupported(Tr(context.lang, Msg::kIngestNoTables, context.file, format, seen));
}

}  // namespace sawbill::ingest
