// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace sawbill {
namespace {

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 1;
  bool valid = false;
};

/// The character at the front of `s` (not empty). An invalid byte stands for itself, alone. Refuses overlong forms,
/// surrogates and what lies beyond U+10FFFF, as UTF-8 does.
CodePoint Decode(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(s[i])); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  size_t n = 0;
  uint32_t v = 0, least = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    n = 2, v = lead & 0x1F, least = 0x80;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    n = 3, v = lead & 0x0F, least = 0x800;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    n = 4, v = lead & 0x07, least = 0x10000;
  }
  if (n == 0 || s.size() < n) return {lead, 1, false};
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {lead, 1, false};
    v = (v << 6) | (byte(i) & 0x3F);
  }
  if (v < least || v > 0x10FFFF || (v >= 0xD800 && v <= 0xDFFF)) return {lead, 1, false};
  return {v, n, true};
}

struct Range {
  uint32_t first, last;
};

template <size_t N>
bool In(const std::array<Range, N>& sorted, uint32_t c) {
  const auto after = std::upper_bound(sorted.begin(), sorted.end(), c, [](uint32_t x, Range r) { return x < r.first; });
  return after != sorted.begin() && c <= std::prev(after)->last;
}

// Unicode's East Asian Width W and F, rounded to blocks where the gaps are unassigned.
constexpr std::array<Range, 52> kWide = {{
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x23F0, 0x23F0},
    {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
    {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},
    {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27B0, 0x27B0},   {0x27BF, 0x27BF},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},
    {0x2E80, 0x303E},   {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x16FE0, 0x18CFF}, {0x1B000, 0x1B2FF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F1E6, 0x1F202},
    {0x1F210, 0x1FAFF}, {0x20000, 0x3FFFD},
}};

// Narrow symbols that stand among the emoji of 1F210..1FAFF (East Asian Width N).
constexpr std::array<Range, 4> kNarrowAmongEmoji = {{
    {0x1F54F, 0x1F54F},
    {0x1F650, 0x1F67F},
    {0x1F700, 0x1F77F},
    {0x1F800, 0x1F8FF},
}};

// Combining marks of the scripts one meets in names, joiners, direction marks, variation selectors.
constexpr std::array<Range, 33> kZeroWidth = {{
    {0x0000, 0x001F},   {0x007F, 0x009F},   {0x00AD, 0x00AD},   {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},
    {0x0610, 0x061A},   {0x064B, 0x065F},   {0x0670, 0x0670},   {0x06D6, 0x06DC}, {0x0900, 0x0902}, {0x093C, 0x093C},
    {0x0941, 0x0948},   {0x094D, 0x094D},   {0x0E31, 0x0E31},   {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1160, 0x11FF},
    {0x1AB0, 0x1AFF},   {0x1DC0, 0x1DFF},   {0x200B, 0x200F},   {0x2028, 0x202E}, {0x2060, 0x2069}, {0x20D0, 0x20FF},
    {0x302A, 0x302D},   {0x3099, 0x309A},   {0xFE00, 0xFE0F},   {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB},
    {0x1D165, 0x1D169}, {0x1F3FB, 0x1F3FF}, {0xE0000, 0xE01EF},
}};

int Width(const CodePoint& c) {
  if (!c.valid) return 1;
  if (c.value >= 0x20 && c.value < 0x7F) return 1;
  if (In(kZeroWidth, c.value)) return 0;
  return In(kWide, c.value) && !In(kNarrowAmongEmoji, c.value) ? 2 : 1;
}

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

/// Punctuation that may not begin a line; a text reads badly where 。 stands alone.
bool MayNotBegin(uint32_t c) {
  constexpr std::u32string_view kClosing = U"、。，．：；！？）」』】》〉〕｝…—·%,.:;!?)]}’”";
  return kClosing.find(static_cast<char32_t>(c)) != std::u32string_view::npos;
}
bool MayNotEnd(uint32_t c) {
  constexpr std::u32string_view kOpening = U"（「『【《〈〔｛([{‘“";
  return kOpening.find(static_cast<char32_t>(c)) != std::u32string_view::npos;
}

/// Bytes of `s` up to the first place where a line may end, `s` not beginning with a blank.
size_t UnbreakableBytes(std::string_view s) {
  CodePoint last = Decode(s);
  size_t n = last.bytes;
  while (n < s.size() && !IsBlank(s[n])) {
    const CodePoint c = Decode(s.substr(n));
    const bool joins = Width(c) == 0 || MayNotBegin(c.value) || MayNotEnd(last.value);
    if (!joins && (Width(last) == 2 || Width(c) == 2)) break;
    if (Width(c) != 0) last = c;
    n += c.bytes;
  }
  return n;
}

void WrapParagraph(std::string_view s, int width, std::vector<std::string>* lines) {
  std::string line;
  int columns = 0;
  while (true) {
    size_t blanks = 0;
    while (blanks < s.size() && IsBlank(s[blanks])) ++blanks;
    if (blanks == s.size()) break;
    const std::string_view piece = s.substr(blanks, UnbreakableBytes(s.substr(blanks)));
    const int piece_columns = DisplayWidth(piece);
    if (columns > 0 && columns + static_cast<int>(blanks) + piece_columns > width) {
      lines->push_back(std::move(line));
      line.clear();
      columns = 0;
    } else {
      line.append(blanks, ' ');
      columns += static_cast<int>(blanks);
    }
    line.append(piece);
    columns += piece_columns;
    s.remove_prefix(blanks + piece.size());
  }
  lines->push_back(std::move(line));
}

bool IsControl(uint32_t c) {
  // Beside C0, DEL and C1: line separators, and the direction marks with which a name can pose as another.
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/// Edit distance where a swap of neighbours counts once, for it is the commonest slip.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

int DisplayWidth(std::string_view s) {
  int width = 0;
  while (!s.empty()) {
    const CodePoint c = Decode(s);
    width += Width(c);
    s.remove_prefix(c.bytes);
  }
  return width;
}

std::string Pad(std::string_view s, int width, Align align) {
  const int missing = width - DisplayWidth(s);
  std::string out(s);
  if (missing > 0) out.insert(align == Align::kLeft ? out.size() : 0, static_cast<size_t>(missing), ' ');
  return out;
}

std::string Ellipsize(std::string_view s, int width) {
  if (width <= 0) return "";
  if (DisplayWidth(s) <= width) return std::string(s);
  int columns = 0;
  size_t n = 0;
  while (n < s.size()) {
    const CodePoint c = Decode(s.substr(n));
    if (columns + Width(c) > width - 1) break;
    columns += Width(c);
    n += c.bytes;
  }
  return std::string(s.substr(0, n)) + "…";
}

std::vector<std::string> Wrap(std::string_view s, int width) {
  std::vector<std::string> lines;
  for (const std::string_view paragraph : Split(s, '\n')) WrapParagraph(paragraph, width, &lines);
  return lines;
}

std::string Sanitize(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  while (!s.empty()) {
    const CodePoint c = Decode(s);
    if (!c.valid) {
      out += "\xEF\xBF\xBD";
    } else if (IsControl(c.value)) {
      out += '?';
    } else {
      out += s.substr(0, c.bytes);
    }
    s.remove_prefix(c.bytes);
  }
  return out;
}

std::string_view Trim(std::string_view s) {
  // By hand: find_first_not_of calls memchr for every character, and readers trim every cell.
  const auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

std::string ToLower(std::string_view s) {
  std::string out(s);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::vector<std::string_view> Split(std::string_view s, char sep) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = s.find(sep);
    parts.push_back(s.substr(0, at));
    if (at == std::string_view::npos) return parts;
    s.remove_prefix(at + 1);
  }
}

std::string Join(const std::vector<std::string>& parts, std::string_view sep) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += sep;
    out += parts[i];
  }
  return out;
}

bool StartsWith(std::string_view s, std::string_view prefix) { return s.substr(0, prefix.size()) == prefix; }

bool EndsWith(std::string_view s, std::string_view suffix) {
  return s.size() >= suffix.size() && s.substr(s.size() - suffix.size()) == suffix;
}

std::string EscapeHtml(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (const char c : s) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string EscapeCsv(std::string_view s) {
  if (s.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(s);
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

bool GlobMatch(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos, star_t = 0;  // the last '*', and where the text that it takes ends
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_t = t;
    } else if (p < pattern.size() && pattern[p] == '?') {
      ++p;
      t += Decode(text.substr(t)).bytes;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      star_t += Decode(text.substr(star_t)).bytes;
      p = star + 1;
      t = star_t;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string Nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  size_t best_distance = 4;
  for (const std::string& candidate : candidates) {
    if (candidate.size() + 3 < word.size() || word.size() + 3 < candidate.size()) continue;
    const size_t distance = EditDistance(word, candidate);
    if (distance < best_distance && distance * 2 < word.size()) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best != nullptr ? *best : "";
}

}  // namespace sawbill
