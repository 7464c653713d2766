// SPDX-License-Identifier: Apache-2.0
#include "ingest/stamp_forms.h"

#include <array>
#include <cstring>

#include "base/text.h"
#include "ingest/words.h"

namespace sawbill::ingest {
namespace {

/// "Dec 02 17:00:12", "Dec  2 17:00:12.123456" at the beginning of `line`; the year is left at 2000, a leap year.
bool TakeYearless(std::string_view line, Stamp* stamp) {
  std::string_view rest = line;
  const std::string_view month = TakeWord(&rest);
  if (month.size() != 3 || MonthNamed(month) == 0 || TakeWord(&rest).size() > 2 || TakeWord(&rest).size() < 8) {
    return false;
  }
  stamp->text = line.substr(0, line.size() - rest.size());
  std::array<char, 48> with_year;
  constexpr std::string_view kYear = " 2000";
  if (stamp->text.size() + kYear.size() > with_year.size()) return false;
  std::memcpy(with_year.data(), stamp->text.data(), stamp->text.size());
  std::memcpy(with_year.data() + stamp->text.size(), kYear.data(), kYear.size());
  const auto words = ReadTimeWords({with_year.data(), stamp->text.size() + kYear.size()}, DateOrder::kUntold);
  if (!words || words->zone || !words->odd_zone.empty()) return false;
  stamp->civil = words->civil;
  stamp->has_year = false;
  return true;
}

/// A date and a time in one word or two, or Unix seconds.
bool TakeYeared(std::string_view line, TimeCells* cells, Stamp* stamp) {
  if (line[0] < '0' || line[0] > '9') return false;
  std::string_view rest = line;
  for (int words = 1; words <= 2; ++words) {
    if (TakeWord(&rest).empty()) return false;
    stamp->text = line.substr(0, line.size() - rest.size());
    TimeMs t = 0;
    if (stamp->text.size() >= 10 && cells->Parse(stamp->text, &t)) return true;
  }
  return false;
}

}  // namespace

std::optional<Stamp> StampInFront(std::string_view line, TimeCells* cells) {
  const bool bracket = !line.empty() && line[0] == '[';
  std::string_view inside = line;
  if (bracket) {
    const size_t close = line.find(']');
    if (close == std::string_view::npos || close > 48) return std::nullopt;
    inside = line.substr(1, close - 1);
  }
  if (inside.size() < 10 || inside[0] == ' ') return std::nullopt;
  Stamp stamp;
  if (!TakeYearless(inside, &stamp) && !TakeYeared(inside, cells, &stamp)) return std::nullopt;
  if (bracket && stamp.text.size() != inside.size()) return std::nullopt;
  stamp.size = stamp.text.size() + (bracket ? 2 : 0);
  if (stamp.size < line.size()) {
    if (line[stamp.size] != ' ') return std::nullopt;
    ++stamp.size;
  }
  const size_t next = line.find_first_not_of(' ', stamp.size);
  if (next != std::string_view::npos && line[next] == ',') return std::nullopt;
  return stamp;
}

std::string_view TimeLine(std::string_view line, TimeCells* cells) {
  constexpr std::string_view kDecoration = "=-#*~_<>[]() \t";
  if (line.size() < 9 || line.size() > 160) return {};
  const size_t from = line.find_first_not_of(kDecoration), to = line.find_last_not_of(kDecoration);
  if (from == std::string_view::npos) return {};
  std::string_view text = line.substr(from, to - from + 1);
  if (StartsWith(text, "Every ") && text.rfind(": ") != std::string_view::npos) {
    text = Trim(text.substr(text.rfind(": ") + 2));
  } else if (const size_t colon = text.find(':'); colon <= 12 && text.find_first_of("0123456789") > colon) {
    text = Trim(text.substr(colon + 1));
  }
  TimeMs t = 0;
  return cells->Parse(text, &t) ? text : std::string_view();
}

}  // namespace sawbill::ingest
