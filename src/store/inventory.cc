// SPDX-License-Identifier: Apache-2.0
#include "store/inventory.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/numbers.h"
#include "base/text.h"
#include "store/csv_line.h"

namespace sawbill::store {

const char* const kInventoryHeader =
    "gpu,uuid,name,memory_total_mb,power_limit_w,driver,from,node,label,parent_uuid,share,sm_clock_max_mhz,util_window_"
    "s";

namespace {
using model::CardInfo;
using model::Odd;

/// Unix seconds as in day files; RFC 3339 or a civil time, for rows that people write by hand.
std::optional<TimeMs> ParseFrom(std::string_view cell, const TimeZone& tz) {
  if (const auto t = ParseTimestamp(cell)) return t;
  if (const auto t = ParseRfc3339(cell)) return t;
  if (const auto c = ParseCivil(cell)) return tz.FromLocal(*c);
  return std::nullopt;
}

struct Columns {
  std::vector<std::string> names;
  int Find(std::string_view name) const {
    const auto it = std::find(names.begin(), names.end(), name);
    return it == names.end() ? -1 : static_cast<int>(it - names.begin());
  }
};

class RowParser {
 public:
  RowParser(const TimeZone& tz, const std::string& where, model::DataQuality* quality)
      : tz_(tz), where_(where), quality_(quality) {}

  void Header(const std::vector<std::string_view>& cells) {
    columns_.names.assign(cells.begin(), cells.end());
    for (const std::string& name : columns_.names) {
      if (("," + std::string(kInventoryHeader) + ",").find("," + name + ",") == std::string::npos) {
        quality_->Count(Odd::kUnknownColumn, where_ + ": " + name);
      }
    }
  }

  std::optional<CardInfo> Row(const std::vector<std::string_view>& cells, int64_t line) {
    cells_ = &cells;
    at_ = where_ + ":" + std::to_string(line);
    CardInfo c;
    c.gpu = Text("gpu");
    if (columns_.names.empty() || c.gpu.empty() || cells.size() > columns_.names.size()) {
      quality_->Count(Odd::kBadRow, at_);
      return std::nullopt;
    }
    c.uuid = Text("uuid");
    c.name = Text("name");
    c.driver = Text("driver");
    c.node = Text("node");
    c.label = Text("label");
    c.parent_uuid = Text("parent_uuid");
    c.memory_total_mb = Number("memory_total_mb");
    c.power_limit_w = Number("power_limit_w");
    c.share = Number("share");
    c.sm_clock_max_mhz = Number("sm_clock_max_mhz");
    c.util_window_s = Number("util_window_s");
    if (const std::string from = Text("from"); !from.empty()) {
      const auto t = ParseFrom(from, tz_);
      if (!t) quality_->Count(Odd::kBadCell, at_);
      c.from = t.value_or(0);
    }
    return c;
  }

 private:
  std::string Text(std::string_view name) const {
    const int i = columns_.Find(name);
    return i < 0 || static_cast<size_t>(i) >= cells_->size() ? ""
                                                             : std::string(Trim((*cells_)[static_cast<size_t>(i)]));
  }
  std::optional<double> Number(std::string_view name) const {
    const std::string cell = Text(name);
    if (cell.empty()) return std::nullopt;
    const std::optional<double> v = ParseDouble(cell);
    if (!v || *v < 0) quality_->Count(Odd::kBadCell, at_);
    return v && *v >= 0 ? v : std::nullopt;
  }

  const TimeZone& tz_;
  const std::string& where_;
  model::DataQuality* quality_;
  Columns columns_;
  const std::vector<std::string_view>* cells_ = nullptr;
  std::string at_;
};

bool SameCard(const CardInfo& a, const CardInfo& b) {
  return a.uuid == b.uuid && a.name == b.name && a.driver == b.driver && a.parent_uuid == b.parent_uuid &&
         a.memory_total_mb == b.memory_total_mb && a.power_limit_w == b.power_limit_w && a.share == b.share &&
         a.sm_clock_max_mhz == b.sm_clock_max_mhz && a.util_window_s == b.util_window_s && a.label == b.label;
}

std::string FormatRow(const CardInfo& c) {
  RowText row;
  const auto number = [&](const std::optional<double>& v) {
    if (v) {
      row.AddText(FormatShortest(*v));
    } else {
      row.AddEmpty();
    }
  };
  row.AddText(c.gpu);
  row.AddText(c.uuid);
  row.AddText(c.name);
  number(c.memory_total_mb);
  number(c.power_limit_w);
  row.AddText(c.driver);
  std::string from;
  if (c.from != 0) AppendTimestamp(c.from, &from);
  row.AddText(from);
  for (const std::string* s : {&c.node, &c.label, &c.parent_uuid}) row.AddText(*s);
  number(c.share);
  number(c.sm_clock_max_mhz);
  number(c.util_window_s);
  return row.text() + "\n";
}

/// What was last known of the same card: under the same index, else under any.
const CardInfo* Latest(const std::vector<CardInfo>& all, const CardInfo* same_index, const CardInfo& card) {
  if (same_index != nullptr && same_index->uuid == card.uuid) return same_index;
  const CardInfo* latest = nullptr;
  for (const CardInfo& row : all) {
    if (card.uuid.empty() || row.uuid != card.uuid) continue;
    if (latest == nullptr || row.from >= latest->from) latest = &row;
  }
  return latest;
}

/// A driver that is being reloaded, or a card that fails, answers some questions and not others: what a card is does
/// not change with that. The label is the owner's.
void KeepKnown(const CardInfo& before, CardInfo* card) {
  for (std::string CardInfo::* text : {&CardInfo::name, &CardInfo::driver, &CardInfo::label, &CardInfo::parent_uuid}) {
    if ((card->*text).empty()) card->*text = before.*text;
  }
  for (std::optional<double> CardInfo::* number :
       {&CardInfo::memory_total_mb, &CardInfo::power_limit_w, &CardInfo::share, &CardInfo::sm_clock_max_mhz,
        &CardInfo::util_window_s}) {
    if (!(card->*number)) card->*number = before.*number;
  }
}

/// The last header line of `text`: rows that follow must match it.
std::string LastHeader(std::string_view text) {
  std::string header;
  for (const std::string_view line : Split(text, '\n')) {
    if (StartsWith(line, "gpu,")) header = std::string(EndsWith(line, "\r") ? line.substr(0, line.size() - 1) : line);
  }
  return header;
}

}  // namespace

Inventory Inventory::Parse(std::string_view text, const std::string& node, const TimeZone& tz, const std::string& where,
                           model::DataQuality* quality) {
  Inventory out;
  RowParser parser(tz, where, quality);
  std::vector<std::string_view> cells;
  std::vector<std::string> scratch;
  int64_t number = 0;
  bool first = true;
  if (StartsWith(text, "\xef\xbb\xbf")) text.remove_prefix(3);
  for (std::string_view line : Split(text, '\n')) {
    ++number;
    if (EndsWith(line, "\r")) line.remove_suffix(1);
    if (Trim(line).empty()) continue;
    if (!SplitCells(line, &cells, &scratch)) {
      quality->Count(Odd::kBadRow, where + ":" + std::to_string(number));
      continue;
    }
    if (std::find(cells.begin(), cells.end(), std::string_view("gpu")) != cells.end()) {
      parser.Header(cells);
      continue;
    }
    std::optional<CardInfo> card = parser.Row(cells, number);
    if (!card) continue;
    if (card->node.empty()) card->node = node;
    if (first) out.node_ = card->node;
    if (!first && out.node_ != card->node) out.node_.clear();
    first = false;
    out.cards_[card->gpu].push_back(std::move(*card));
  }
  for (auto& [gpu, rows] : out.cards_) {
    std::stable_sort(rows.begin(), rows.end(), [](const CardInfo& a, const CardInfo& b) { return a.from < b.from; });
  }
  return out;
}

const CardInfo* Inventory::At(std::string_view gpu, TimeMs t, TimeMs* valid_from, TimeMs* valid_to) const {
  if (valid_from != nullptr) *valid_from = std::numeric_limits<TimeMs>::min();
  if (valid_to != nullptr) *valid_to = std::numeric_limits<TimeMs>::max();
  const auto it = cards_.find(gpu);
  if (it == cards_.end()) return nullptr;
  const std::vector<CardInfo>& rows = it->second;
  auto after = std::upper_bound(rows.begin(), rows.end(), t, [](TimeMs x, const CardInfo& c) { return x < c.from; });
  if (after == rows.begin()) ++after;  // before the first row: that row
  if (valid_from != nullptr && after - 1 != rows.begin()) *valid_from = (after - 1)->from;
  if (valid_to != nullptr && after != rows.end()) *valid_to = after->from;
  return &*(after - 1);
}

std::vector<CardInfo> Inventory::Rows() const {
  std::vector<CardInfo> out;
  for (const auto& [gpu, rows] : cards_) out.insert(out.end(), rows.begin(), rows.end());
  return out;
}

Status UpdateInventory(sys::FileSystem* fs, const std::string& dir, const std::vector<CardInfo>& cards, TimeMs now,
                       const TimeZone& tz) {
  const std::string path = sys::JoinPath(dir, kInventoryName);
  std::string text;
  if (fs->Stat(path).ok()) {
    SAWBILL_ASSIGN_OR_RETURN(const std::unique_ptr<sys::FileBytes> old, fs->Map(path));
    text = std::string(old->bytes());
  }
  model::DataQuality ignored;  // the reader counts it where a report can show it
  const Inventory have = Inventory::Parse(text, "", tz, path, &ignored);
  std::string rows;
  const std::vector<CardInfo> all = have.Rows();
  for (CardInfo card : cards) {
    const CardInfo* last = have.At(card.gpu, std::numeric_limits<TimeMs>::max());
    card.from = last == nullptr ? 0 : now;
    if (const CardInfo* before = Latest(all, last, card)) KeepKnown(*before, &card);
    if (last == nullptr || !SameCard(*last, card)) rows += FormatRow(card);
  }
  if (rows.empty()) return Status::Ok();
  if (!text.empty() && text.back() != '\n') text += '\n';
  if (LastHeader(text) != kInventoryHeader) text += std::string(kInventoryHeader) + "\n";
  return fs->WriteAtomically(path, text + rows);
}

}  // namespace sawbill::store
