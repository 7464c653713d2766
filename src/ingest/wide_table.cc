// SPDX-License-Identifier: Apache-2.0
//
// Which number is a card
// ----------------------
// A number beside "gpu", "card", "device" or "cuda" is one ("gpu0_util", "GPU 0 utilization", "temp_gpu_1"). A number
// alone ("util_0", "util1") is one where at least two count up from 0 or 1 and no reading stands without one: "temp_2"
// beside "temp" is a second sensor. In each case the heading must name a known reading without the number. A table with
// a column for the card is none of these, whatever else it numbers.
#include "ingest/wide_table.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "ingest/cells.h"
#include "ingest/wide_csv.h"

namespace sawbill::ingest {
namespace {

constexpr int kMostCards = 256;
constexpr size_t kLinesLookedAt = 200;

/// The number of a card in `word`, which has nothing but its digits; -1 for anything else.
int NumberOf(std::string_view word) {
  const int64_t n = word.size() <= 3 ? WholeNumber(word) : -1;
  return n < kMostCards ? static_cast<int>(n) : -1;
}

bool NamesCard(std::string_view word) {
  for (const std::string_view name : {"gpu", "card", "device", "dev", "cuda"}) {
    if (word == name) return true;
  }
  return false;
}

/// A heading in words, and its unit as it stands ("[MiB]", "%").
struct HeadingWords {
  std::vector<std::string> words;  // in lower case
  std::string unit;
};
HeadingWords SplitHeading(std::string_view cell) {
  HeadingWords h;
  const size_t unit = std::min(cell.find_first_of("[(%"), cell.size());
  h.unit = std::string(Trim(cell.substr(unit)));
  std::string word;
  const auto end = [&] {
    if (!word.empty()) h.words.push_back(std::move(word));
    word.clear();
  };
  for (const char c : ToLower(cell.substr(0, unit))) {
    if (std::string_view("_ -/.:#\t").find(c) != std::string_view::npos) {
      end();
    } else {
      word += c;
    }
  }
  end();
  return h;
}

/// Where the number stands: words [from, to), or the digits at the end of word `from` when `inside`.
struct NumberAt {
  size_t from = 0, to = 0;
  int card = -1;
  bool named = false, inside = false;
};

std::optional<NumberAt> FindNumber(const std::vector<std::string>& words) {
  std::optional<NumberAt> bare;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& w = words[i];
    const size_t letters = std::min(w.find_first_of("0123456789"), w.size());
    const int n = NumberOf(std::string_view(w).substr(letters));
    if (n < 0) continue;
    if (letters > 0 && NamesCard(std::string_view(w).substr(0, letters))) return NumberAt{i, i + 1, n, true, false};
    if (letters == 0 && i > 0 && NamesCard(words[i - 1])) return NumberAt{i - 1, i + 1, n, true, false};
    const bool last = i + 1 == words.size();
    if (letters > 0 && !last) continue;
    if (bare) return std::nullopt;  // two numbers, and neither is said to be the card
    bare = NumberAt{i, i + 1, n, false, letters > 0};
  }
  return bare;
}

/// May a column be told by a heading with this meaning?
bool IsOfACard(const Field& f) {
  switch (f.target) {
    case Target::kNumber:
      return f.slot < kCardCountSlot;
    case Target::kDouble:
    case Target::kThrottleMask:
    case Target::kThrottleNames:
    case Target::kThrottleFlag:
      return true;
    case Target::kText:
      return f.slot == kUuidText || f.slot == kNameText || f.slot == kBusIdText;
    default:
      return false;
  }
}
bool IsReading(const Field& f) { return IsOfACard(f) && f.target != Target::kText; }

/// What each column of such a table is.
struct WideColumn {
  int card = -1;        // -1 = of none
  size_t long_at = 0;   // its place in the long table, behind the columns that all cards share
  bool shared = false;  // time, node, driver: repeated in each row
};
struct WidePlan {
  std::vector<WideColumn> columns;
  std::vector<std::string> shared, own;  // headings of the long table
  std::vector<int> cards;
  std::string first, last;
  std::vector<std::string> left_out;
  int64_t unknown = 0;  // with a card, and of no meaning that is known
};

bool CountUp(const std::set<int>& cards) {
  return cards.size() >= 2 && *cards.begin() <= 1 &&
         *cards.rbegin() - *cards.begin() + 1 == static_cast<int>(cards.size());
}

/// The headings that name their card, in the order of the columns; empty when this is no such table.
std::map<size_t, CardHeading> CardColumns(const std::vector<std::string_view>& cells) {
  std::map<size_t, CardHeading> out;
  bool time = false, named = false, plain_reading = false;
  std::set<int> numbers;
  for (size_t i = 0; i < cells.size(); ++i) {
    const Field f = ReadHeading(cells[i], model::Scope::kGpu).field;
    time = time || f.target == Target::kTime;
    if (f.target == Target::kText && (f.slot == kIndexText || f.slot == kGpuText || f.slot == kUuidText)) return {};
    plain_reading = plain_reading || IsReading(f);
    if (f.target != Target::kUnknown) continue;
    auto heading = ReadCardHeading(cells[i]);
    if (!heading) continue;
    named = named || heading->named;
    numbers.insert(heading->card);
    out.emplace(i, std::move(*heading));
  }
  if (named) std::erase_if(out, [](const auto& column) { return !column.second.named; });
  const bool reading = std::any_of(out.begin(), out.end(), [](const auto& column) {
    return IsReading(ReadHeading(column.second.rest, model::Scope::kGpu).field);
  });
  if (!time || !reading || (!named && (plain_reading || !CountUp(numbers)))) return {};
  return out;
}

std::optional<WidePlan> PlanOf(std::string_view line) {
  const std::vector<std::string_view> cells = SplitCells(line);
  if (cells.size() < 2) return std::nullopt;
  const auto of_cards = CardColumns(cells);
  if (of_cards.empty()) return std::nullopt;
  WidePlan p;
  std::set<int> cards;
  std::set<std::pair<int, size_t>> seen;
  for (size_t i = 0; i < cells.size(); ++i) {
    WideColumn c;
    const auto at = of_cards.find(i);
    const Field f = ReadHeading(cells[i], model::Scope::kGpu).field;
    if (at != of_cards.end()) {
      const auto known = std::find(p.own.begin(), p.own.end(), at->second.rest);
      c.long_at = static_cast<size_t>(known - p.own.begin());
      if (seen.insert({at->second.card, c.long_at}).second) {
        if (known == p.own.end()) p.own.push_back(at->second.rest);
        c.card = at->second.card;
        cards.insert(c.card);
        if (p.first.empty()) p.first.assign(cells[i]);
        p.last.assign(cells[i]);
      } else {
        p.left_out.emplace_back(cells[i]);
      }
    } else if (f.target == Target::kTime || f.target == Target::kText) {
      c.shared = true;
      p.shared.emplace_back(cells[i]);
    } else if (f.target == Target::kUnknown && FindNumber(SplitHeading(cells[i]).words)) {
      ++p.unknown;
    } else if (f.target != Target::kIgnored && !Trim(cells[i]).empty()) {
      p.left_out.emplace_back(cells[i]);
    }
    p.columns.push_back(c);
  }
  p.cards.assign(cards.begin(), cards.end());
  return p;
}

class Expander {
 public:
  Expander(const WidePlan& plan, std::string* out) : plan_(plan), out_(*out) {
    for (size_t k = 0; k < plan.cards.size(); ++k) place_[plan.cards[k]] = k;
    for (const std::string& h : plan.shared) out_ += '"' + h + "\",";
    out_ += "index";
    for (const std::string& h : plan.own) out_ += ",\"" + h + '"';
    out_ += '\n';
  }
  /// `cut` = the line may be cut inside its last cell, which then is left empty.
  void Row(const std::vector<std::string_view>& cells, bool cut);

 private:
  const WidePlan& plan_;
  std::string& out_;
  std::map<int, size_t> place_;
  std::vector<std::string_view> grid_;
};

void Expander::Row(const std::vector<std::string_view>& cells, bool cut) {
  const size_t width = plan_.own.size();
  grid_.assign(plan_.cards.size() * width, std::string_view());
  for (size_t i = 0; i < cells.size(); ++i) {
    const WideColumn& c = plan_.columns[i];
    if (c.card < 0 || (cut && i + 1 == cells.size())) continue;
    grid_[place_[c.card] * width + c.long_at] = cells[i];
  }
  for (size_t k = 0; k < plan_.cards.size(); ++k) {
    const auto own = grid_.begin() + static_cast<std::ptrdiff_t>(k * width);
    // A card without a single cell was not there: its row would be a reading that failed.
    if (std::all_of(own, own + static_cast<std::ptrdiff_t>(width), [](std::string_view v) { return Trim(v).empty(); }))
      continue;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (plan_.columns[i].shared) out_.append(cells[i]) += ',';
    }
    out_ += std::to_string(plan_.cards[k]);
    for (size_t m = 0; m < width; ++m) (out_ += ',').append(own[static_cast<std::ptrdiff_t>(m)]);
    out_ += '\n';
  }
}

/// The heading line of such a table near the beginning of the text; "" when there is none.
std::string_view HeadingLine(std::string_view sample, std::optional<WidePlan>* plan) {
  for (size_t n = 0; n < kLinesLookedAt && !sample.empty(); ++n) {
    std::string_view line = sample.substr(0, sample.find('\n'));
    sample.remove_prefix(std::min(line.size() + 1, sample.size()));
    if (StartsWith(line, "\xEF\xBB\xBF")) line.remove_prefix(3);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.find(',') == std::string_view::npos || line.find_first_of("0123456789") == std::string_view::npos)
      continue;
    *plan = PlanOf(line);
    if (*plan) return line;
  }
  return {};
}

}  // namespace

std::optional<CardHeading> ReadCardHeading(std::string_view cell) {
  const HeadingWords h = SplitHeading(Unquote(cell));
  const auto at = FindNumber(h.words);
  if (!at) return std::nullopt;
  CardHeading out;
  out.card = at->card;
  out.named = at->named;
  // "gpu_0_clock" is gpu_clock where "clock" alone is no name.
  for (const bool with_gpu : {false, true}) {
    if (with_gpu && !at->named) break;
    std::vector<std::string> rest;
    for (size_t i = 0; i < h.words.size(); ++i) {
      if (i == at->from && with_gpu) rest.emplace_back("gpu");
      if (i == at->from && at->inside) rest.push_back(h.words[i].substr(0, h.words[i].find_first_of("0123456789")));
      if (i < at->from || i >= at->to) rest.push_back(h.words[i]);
    }
    out.rest = Join(rest, "_");
    if (out.rest.empty()) continue;
    if (!h.unit.empty()) out.rest += " " + h.unit;
    if (IsOfACard(ReadHeading(out.rest, model::Scope::kGpu).field)) return out;
  }
  return std::nullopt;
}

std::optional<WideTable> TakeWideTable(std::string_view sample, std::string_view bytes, const ReadContext& context) {
  std::optional<WidePlan> plan;
  const std::string heading(HeadingLine(sample, &plan));
  if (!plan) return std::nullopt;
  WideTable out;
  out.first = Sanitize(plan->first);
  out.last = Sanitize(plan->last);
  out.cards = plan->cards.size();
  for (const std::string& h : plan->left_out) out.left_out.push_back(Sanitize(h));
  sys::LineReader lines(sys::OpenBytes(bytes));
  Tally tally(context, lines, &out.quality);
  std::string_view line;
  while (lines.Next(&line)) {
    if (StartsWith(line, "\xEF\xBB\xBF")) line.remove_prefix(3);
    if (line == heading) break;
    if (!Trim(line).empty()) tally.Count(model::Odd::kForeignText);
  }
  if (plan->unknown > 0) tally.Count(model::Odd::kUnknownColumn, plan->unknown);
  Expander expander(*plan, &out.text);
  ReadWideRows(&lines, plan->columns.size(), heading, &tally, [&](const std::vector<std::string_view>& cells) {
    if (!lines.terminated()) tally.Count(model::Odd::kTornLine);
    expander.Row(cells, !lines.terminated());
  });
  if (!lines.status().ok()) {
    out.quality.Count(model::Odd::kDamagedFile, context.file + ": " + lines.status().message());
  }
  return out;
}

}  // namespace sawbill::ingest
