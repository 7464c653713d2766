// SPDX-License-Identifier: Apache-2.0
// Text for terminals and tables: widths by display columns (CJK is two), control characters neutralised.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sawbill {

/// Terminal columns that `s` (UTF-8) takes; an invalid byte counts as one.
int DisplayWidth(std::string_view s);
enum class Align { kLeft, kRight };
/// Pads with blanks to `width` columns; a longer text is kept whole.
std::string Pad(std::string_view s, int width, Align align = Align::kLeft);
/// At most `width` columns, with an ellipsis where something was cut. Never cuts inside a character.
std::string Ellipsize(std::string_view s, int width);
/// Breaks into lines of at most `width` columns at blanks, and between CJK characters. A longer word stands alone.
std::vector<std::string> Wrap(std::string_view s, int width);
/// Control characters (ESC, newline, ...) become '?', and invalid UTF-8 becomes U+FFFD: for names that come from
/// outside.
std::string Sanitize(std::string_view s);
std::string_view Trim(std::string_view s);
std::string ToLower(std::string_view s);  // ASCII only
std::vector<std::string_view> Split(std::string_view s, char sep);
std::string Join(const std::vector<std::string>& parts, std::string_view sep);
bool StartsWith(std::string_view s, std::string_view prefix);
bool EndsWith(std::string_view s, std::string_view suffix);
/// & < > " ' for HTML.
std::string EscapeHtml(std::string_view s);
/// A CSV cell: quoted if it holds a comma, quote or line break.
std::string EscapeCsv(std::string_view s);
/// Shell-style match with '*' and '?', case-sensitive.
bool GlobMatch(std::string_view pattern, std::string_view text);
/// The candidate nearest to `word` (edit distance <= 3 and under half its length), or "": for "did you mean".
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sawbill
