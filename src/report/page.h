// SPDX-License-Identifier: Apache-2.0
// Lines for a terminal: nothing is wider than the page, no control character of a name gets through, colours decorate
// only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/render.h"

namespace sawbill::report {

enum class Ink { kPlain, kBold, kDim, kGreen, kRed, kYellow, kBlue, kMagenta, kCyan, kBanner };

struct Piece {
  std::string text;
  Ink ink = Ink::kPlain;
};

/// Cell of a table row: right-aligned to `width` columns; the first cell of a row takes what is left.
struct Cell {
  std::string text;
  int width = 0;
  Ink ink = Ink::kPlain;
};

class Page {
 public:
  explicit Page(const TextStyle& style);

  int width() const { return width_; }
  bool unicode() const { return style_.unicode; }
  /// Sanitised; without Unicode also with dashes, arrows and signs in ASCII.
  std::string Clean(std::string_view s) const;
  std::string Cut(std::string_view s, int width) const;

  void Blank();
  /// Pieces side by side, cut at the page's edge.
  void Line(const std::vector<Piece>& pieces);
  void Rule(bool strong = false);
  /// "TITLE ───────", with `right` at the end of the rule.
  void Heading(std::string_view title, std::string_view right = {});
  /// Wrapped; the first line begins with `bullet` at `indent`, the others hang under its text.
  void Paragraph(std::string_view text, int indent, std::string_view bullet = {}, Ink ink = Ink::kPlain);
  /// Left and right edge of one line, or of two where they do not fit.
  void Sides(int indent, const Piece& left, const Piece& right);
  /// A label that wraps in the room left of a figure at the right edge, hanging under `bullet`.
  void Item(int indent, std::string_view bullet, const Piece& text, const Piece& right);
  void Row(int indent, const Piece& label, const std::vector<Cell>& cells);

  std::string Take() { return std::move(out_); }

 private:
  std::string Paint(const std::string& s, Ink ink) const;
  std::vector<std::string> WrapHard(std::string_view text, int width) const;
  void End();

  TextStyle style_;
  int width_;
  std::string out_;
};

}  // namespace sawbill::report
