// SPDX-License-Identifier: Apache-2.0
#include "report/page.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace sawbill::report {
namespace {

constexpr int kNarrowest = 40;
constexpr int kWidest = 100;  // longer lines are hard to read, and the eye loses the way from label to figure

constexpr std::pair<std::string_view, std::string_view> kAscii[] = {
    {"–", "-"},  {"—", "-"},   {"−", "-"}, {"→", "->"},     {"×", "x"},     {"·", "."},  {"…", "..."},
    {"“", "\""}, {"”", "\""},  {"’", "'"}, {"‘", "'"},      {"≥", ">="},    {"≤", "<="}, {"°", ""},
    {"─", "-"},  {"═", "="},   {"▾", "v"}, {"•", "*"},      {"µ", "u"},     {"█", "#"},  {"▁", "_"},
    {"±", "+-"}, {"∞", "inf"}, {"≈", "~"}, {"\u00A0", " "}, {"\uFFFD", "?"}};

const char* Code(Ink ink) {
  constexpr const char* kCodes[] = {"", "1", "2", "32", "31", "33", "34", "35", "36", "1;7"};
  return kCodes[static_cast<size_t>(ink)];
}

size_t CharBytes(std::string_view s) {
  size_t n = 1;
  while (n < s.size() && (static_cast<unsigned char>(s[n]) & 0xC0) == 0x80) ++n;
  return n;
}

std::string Repeat(std::string_view s, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += s;
  return out;
}

}  // namespace

Page::Page(const TextStyle& style) : style_(style), width_(std::clamp(style.columns, kNarrowest, kWidest)) {}

std::string Page::Clean(std::string_view s) const {
  std::string out = Sanitize(s);
  if (style_.unicode) return out;
  for (const auto& [from, to] : kAscii) {
    for (size_t at = out.find(from); at != std::string::npos; at = out.find(from, at + to.size())) {
      out.replace(at, from.size(), to);
    }
  }
  return out;
}

std::string Page::Cut(std::string_view s, int width) const {
  if (DisplayWidth(s) <= width) return std::string(s);
  if (style_.unicode) return Ellipsize(s, width);
  std::string out = Ellipsize(s, std::max(width - 1, 1));
  return Clean(out.substr(0, out.size() - std::string_view("…").size()) + (width > 1 ? ".." : "."));
}

std::string Page::Paint(const std::string& s, Ink ink) const {
  if (!style_.color || ink == Ink::kPlain || s.empty()) return s;
  return std::string("\x1b[") + Code(ink) + "m" + s + "\x1b[0m";
}

void Page::End() {
  // Blanks at the end of a line are noise in every file that keeps a receipt.
  while (!out_.empty() && out_.back() == ' ') out_.pop_back();
  out_ += '\n';
}

void Page::Blank() { out_ += '\n'; }

void Page::Line(const std::vector<Piece>& pieces) {
  int room = width_;
  for (const Piece& piece : pieces) {
    const std::string text = Cut(Clean(piece.text), room);
    room -= DisplayWidth(text);
    out_ += Paint(text, piece.ink);
    if (room <= 0) break;
  }
  End();
}

void Page::Rule(bool strong) {
  Line({{Repeat(style_.unicode ? (strong ? "═" : "─") : (strong ? "=" : "-"), width_), Ink::kDim}});
}

void Page::Heading(std::string_view title, std::string_view right) {
  std::string left = Cut(Clean(title), width_ - 4);
  std::string note = Clean(right);
  const int note_width = note.empty() ? 0 : DisplayWidth(note) + 1;
  int rule = width_ - DisplayWidth(left) - 1 - note_width;
  if (rule < 3) {
    note.clear();
    rule = width_ - DisplayWidth(left) - 1;
  }
  std::vector<Piece> pieces = {{left + " ", Ink::kBold}, {Repeat(style_.unicode ? "─" : "-", rule), Ink::kDim}};
  if (!note.empty()) pieces.push_back({" " + note, Ink::kDim});
  Line(pieces);
}

std::vector<std::string> Page::WrapHard(std::string_view text, int width) const {
  std::vector<std::string> lines;
  for (const std::string& line : Wrap(Clean(text), width)) {
    std::string_view rest = line;
    while (DisplayWidth(rest) > width) {
      size_t n = 0;
      while (n < rest.size()) {
        const size_t next = n + CharBytes(rest.substr(n));
        if (n > 0 && DisplayWidth(rest.substr(0, next)) > width) break;
        n = next;
      }
      lines.emplace_back(rest.substr(0, n));
      rest.remove_prefix(n);
    }
    lines.emplace_back(rest);
  }
  return lines;
}

void Page::Paragraph(std::string_view text, int indent, std::string_view bullet, Ink ink) {
  const std::string head = Clean(bullet);
  const int hang = indent + DisplayWidth(head);
  const std::vector<std::string> lines = WrapHard(text, std::max(width_ - hang, 10));
  for (size_t i = 0; i < lines.size(); ++i) {
    out_ += i == 0 ? std::string(static_cast<size_t>(indent), ' ') + head : std::string(static_cast<size_t>(hang), ' ');
    out_ += Paint(lines[i], ink);
    End();
  }
}

void Page::Sides(int indent, const Piece& left, const Piece& right) {
  const std::string l = Clean(left.text), r = Clean(right.text);
  const int gap = width_ - indent - DisplayWidth(l) - DisplayWidth(r);
  if (r.empty() || gap < 2) {
    if (!l.empty()) Paragraph(l, indent, {}, left.ink);
    if (!r.empty()) Paragraph(r, indent, {}, right.ink);
    return;
  }
  out_ += std::string(static_cast<size_t>(indent), ' ') + Paint(l, left.ink) +
          std::string(static_cast<size_t>(gap), ' ') + Paint(r, right.ink);
  End();
}

void Page::Item(int indent, std::string_view bullet, const Piece& text, const Piece& right) {
  const std::string head = Clean(bullet), figure = Clean(right.text);
  const int hang = indent + DisplayWidth(head);
  const int room = width_ - hang - (figure.empty() ? 0 : DisplayWidth(figure) + 2);
  if (room < 16) {  // the figure gets a line of its own
    Paragraph(text.text, indent, bullet, text.ink);
    if (!figure.empty()) Line({{Pad(figure, width_, Align::kRight), right.ink}});
    return;
  }
  const std::vector<std::string> lines = WrapHard(text.text, room);
  for (size_t i = 0; i < lines.size(); ++i) {
    out_ += i == 0 ? std::string(static_cast<size_t>(indent), ' ') + head : std::string(static_cast<size_t>(hang), ' ');
    out_ += Paint(lines[i], text.ink);
    if (i == 0 && !figure.empty()) {
      const int gap = width_ - hang - DisplayWidth(lines[0]) - DisplayWidth(figure);
      out_ += std::string(static_cast<size_t>(std::max(gap, 1)), ' ') + Paint(figure, right.ink);
    }
    End();
  }
}

void Page::Row(int indent, const Piece& label, const std::vector<Cell>& cells) {
  int room = width_ - indent;
  for (const Cell& cell : cells) room -= cell.width;
  const std::string name = Cut(Clean(label.text), std::max(room - 1, 1));
  out_ += std::string(static_cast<size_t>(indent), ' ') + Paint(Pad(name, std::max(room, 1)), label.ink);
  for (const Cell& cell : cells) {
    out_ += Paint(Pad(Cut(Clean(cell.text), cell.width), cell.width, Align::kRight), cell.ink);
  }
  End();
}

}  // namespace sawbill::report
