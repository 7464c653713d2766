// SPDX-License-Identifier: Apache-2.0
//
// Cards of rows
// -------------
// 1. A column that tells the card: uuid, index, `gpu`, pci.bus_id. Of several the one that tells most cards apart,
// because a
//    masked uuid or an `index` that a script printed once for each container is 0 for all of them; equal ones in that
//    order.
//    A column for the node (hostname) stands before all of them: cards of two nodes are two cards, whatever their
//    index, and where nothing but the node is told, the rows of each node are taken by 2.
// 2. No such column: nvidia-smi prints the cards of one sample one after another, stamped up to 110 ms apart, then
// waits.
//    The k is searched for which a threshold between the n/k largest gaps and the rest cuts the file into bursts of k
//    rows. A burst of another length lost rows, and which card lost one cannot be told: it is left out and counted.
// 3. No bursts, but a constant fact (memory.total, name) that repeats with a period: that period is the number of
// cards.
// 4. Nothing of this while many rows share their time: refused, because any answer would be made up.
// Rows that share whole seconds may be one card that was read several times a second: one_or_many.cc tells.
#include "ingest/cards.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/one_or_many.h"

namespace sawbill::ingest {
namespace {
using model::CardInfo;
using model::Odd;

constexpr size_t kMostCards = 4096;
bool IsMaskedUuid(std::string_view s) { return s.find_first_not_of("GPUMIGgpu-0") == std::string_view::npos; }

const char* SlotName(TextSlot s) {
  switch (s) {
    case kUuidText:
      return "uuid";
    case kIndexText:
      return "index";
    case kGpuText:
      return "gpu";
    default:
      return "pci.bus_id";
  }
}

/// How many cards the column tells apart; 0 when it is there but no identity (names, utilisation under "gpu", masked).
size_t CardsTold(const Table& table, TextSlot slot) {
  const TextColumn& c = table.texts[slot];
  if (c.ids.empty() || c.distinct() < 2) return 0;
  size_t sound = 0;
  for (uint32_t id = 1; id < c.distinct(); ++id) {
    const std::string& v = c.Get(id);
    const bool ok = slot == kUuidText ? !IsMaskedUuid(v) : slot == kBusIdText ? v.size() >= 7 : !CardLabel(v).empty();
    sound += ok ? 1 : 0;
  }
  if (sound + 1 < c.distinct() && (slot == kGpuText || slot == kIndexText)) return 0;
  if (slot == kGpuText && sound > 16) {
    // "gpu" above a column of percentages: cards are sampled equally often, percentages are not.
    std::vector<size_t> count(c.distinct());
    for (const uint32_t id : c.ids) ++count[id];
    const auto [least, most] = std::minmax_element(count.begin() + 1, count.end());
    if (*most > 20 * *least) return 0;
  }
  return sound;
}

/// The label that `index` or `gpu` gives a row, for rows whose uuid is masked; "" where there is none.
std::string IndexLabel(const Table& table, size_t row) {
  for (const TextSlot slot : {kIndexText, kGpuText}) {
    const TextColumn& c = table.texts[slot];
    if (!c.ids.empty() && !CardLabel(c.Get(c.ids[row])).empty()) return CardLabel(c.Get(c.ids[row]));
  }
  return "";
}

/// Cards that have no uuid of their own while others have one: they are known by their index.
size_t CardsMasked(const Table& table) {
  const TextColumn& c = table.texts[kUuidText];
  if (c.ids.empty()) return 0;
  std::set<std::string> labels;
  for (size_t i = 0; i < table.rows; ++i) {
    if (!IsMaskedUuid(c.Get(c.ids[i]))) continue;
    if (std::string label = IndexLabel(table, i); !label.empty()) labels.insert(std::move(label));
    if (labels.size() > kMostInferred) return 0;
  }
  return labels.size();
}

/// The last non-empty text of each card.
void FillTexts(const Table& table, const Cards& cards, TextSlot slot, std::vector<std::string>* out) {
  const TextColumn& c = table.texts[slot];
  out->assign(cards.cards.size(), "");
  if (c.ids.empty()) return;
  std::vector<uint32_t> last(cards.cards.size());
  for (size_t i = 0; i < table.rows; ++i) {
    const int32_t card = cards.of_row.empty() ? 0 : cards.of_row[i];
    if (card >= 0 && c.ids[i] != 0) last[static_cast<size_t>(card)] = c.ids[i];
  }
  for (size_t k = 0; k < last.size(); ++k) {
    std::string& text = (*out)[k] = Sanitize(c.Get(last[k]));
    // A quote within a quoted cell stands twice.
    for (size_t at = text.find("\"\""); at != std::string::npos; at = text.find("\"\"", at + 1)) text.erase(at, 1);
  }
}

/// "0.2.0" as numbers, for order.
std::vector<int64_t> LabelParts(const std::string& label) {
  std::vector<int64_t> parts;
  for (const std::string_view p : Split(label, '.')) parts.push_back(ParseInt(p).value_or(INT64_MAX));
  return parts;
}

/// By node, then by label as numbers.
void Order(Cards* cards) {
  std::vector<size_t> order(cards->cards.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const CardInfo &x = cards->cards[a], &y = cards->cards[b];
    if (x.node != y.node) return x.node < y.node;
    return LabelParts(x.gpu) < LabelParts(y.gpu);
  });
  std::vector<CardInfo> sorted;
  std::vector<int16_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<int16_t>(i);
    sorted.push_back(std::move(cards->cards[order[i]]));
  }
  cards->cards = std::move(sorted);
  for (int16_t& c : cards->of_row) c = c < 0 ? c : place[static_cast<size_t>(c)];
}

void Describe(const Table& table, Cards* cards) {
  std::vector<std::string> uuid, index, gpu, bus, name, driver, node;
  FillTexts(table, *cards, kUuidText, &uuid);
  FillTexts(table, *cards, kIndexText, &index);
  FillTexts(table, *cards, kGpuText, &gpu);
  FillTexts(table, *cards, kBusIdText, &bus);
  FillTexts(table, *cards, kNameText, &name);
  FillTexts(table, *cards, kDriverText, &driver);
  FillTexts(table, *cards, kNodeText, &node);
  for (size_t k = 0; k < cards->cards.size(); ++k) {
    CardInfo& c = cards->cards[k];
    if (!IsMaskedUuid(uuid[k])) c.uuid = uuid[k];
    if (c.uuid.empty() && (StartsWith(gpu[k], "GPU-") || StartsWith(gpu[k], "MIG-"))) c.uuid = gpu[k];
    if (c.gpu.empty()) c.gpu = CardLabel(index[k]);
    if (c.gpu.empty()) c.gpu = CardLabel(gpu[k]);
    c.name = name[k];
    if (c.name.empty() && CardLabel(gpu[k]).empty() && c.uuid != gpu[k]) c.name = gpu[k];
    c.driver = driver[k];
    c.node = node[k];
  }
  // The uuid of two cards at once is nobody's: their index told them apart.
  std::map<std::pair<std::string, std::string>, size_t> seen;
  for (size_t k = 0; k < cards->cards.size(); ++k) {
    CardInfo& c = cards->cards[k];
    if (c.uuid.empty()) continue;
    const auto [it, fresh] = seen.try_emplace({c.node, c.uuid}, k);
    if (fresh) continue;
    cards->cards[it->second].uuid.clear();
    c.uuid.clear();
    ++cards->uuid_twice;
  }
  // Cards known by uuid or bus id alone are labelled in the order in which the file names them.
  int next = 0;
  for (CardInfo& c : cards->cards) {
    if (c.gpu.empty()) c.gpu = std::to_string(next);
    ++next;
  }
}

/// The uuid of each index that only ever stood beside one: columns may come and go within a file, and a row without the
/// uuid is then of that card. Empty where no row lacks one.
std::map<std::string, std::string> UuidsOfIndices(const Table& table) {
  const TextColumn& c = table.texts[kUuidText];
  if (std::find(c.ids.begin(), c.ids.end(), 0U) == c.ids.end()) return {};
  std::map<std::string, std::set<std::string>> all;
  for (size_t i = 0; i < table.rows; ++i) {
    if (!IsMaskedUuid(c.Get(c.ids[i]))) all[IndexLabel(table, i)].insert(c.Get(c.ids[i]));
  }
  std::map<std::string, std::string> out;
  for (const auto& [label, uuids] : all) {
    if (!label.empty() && uuids.size() == 1) out[label] = *uuids.begin();
  }
  return out;
}

/// Rows to cards by a column (and the node, where one is named).
Status ByColumn(const Table& table, TextSlot slot, const ReadContext& context, model::DataQuality* quality,
                Cards* out) {
  const TextColumn& c = table.texts[slot];
  const TextColumn& node = table.texts[kNodeText];
  std::map<std::pair<uint32_t, std::string>, int32_t> known;
  std::vector<int32_t> by_id(c.distinct(), -2);  // without nodes: one look-up for each value
  const std::map<std::string, std::string> uuids = slot == kUuidText ? UuidsOfIndices(table) : decltype(uuids)();
  out->of_row.resize(table.rows, int16_t{-1});
  int64_t lost = 0;
  for (size_t i = 0; i < table.rows; ++i) {
    const uint32_t id = c.ids[i];
    int32_t card = node.ids.empty() ? by_id[id] : -2;
    if (card == -2) {
      const std::string& text = c.Get(id);
      std::string label = slot == kUuidText || slot == kBusIdText ? text : CardLabel(text);
      bool masked = slot == kUuidText && IsMaskedUuid(text);
      if (masked) label = IndexLabel(table, i);
      if (const auto known_as = uuids.find(label); text.empty() && known_as != uuids.end()) {
        label = known_as->second;
        masked = false;
      }
      if (masked && !label.empty()) label.insert(0, 1, '#');  // apart from every uuid
      const auto key = std::make_pair(node.ids.empty() ? 0U : node.ids[i], label);
      const auto [it, fresh] = known.try_emplace(key, static_cast<int32_t>(out->cards.size()));
      card = label.empty() ? -1 : it->second;
      if (label.empty() && fresh) known.erase(it);
      if (card >= 0 && fresh) {
        if (out->cards.size() == kMostCards)
          return Status::Unsupported(
              Tr(context.lang, Msg::kIngestTooManyCards, context.file, SlotName(slot), kMostCards));
        out->cards.emplace_back();
        if (slot == kIndexText || slot == kGpuText) out->cards.back().gpu = label;
        if (masked) out->cards.back().gpu = label.substr(1);
      }
      if (node.ids.empty() && !masked && !text.empty()) by_id[id] = card;
    }
    out->of_row[i] = static_cast<int16_t>(card);
    lost += card < 0 ? 1 : 0;
  }
  if (lost > 0) quality->Count(Odd::kBadRow, context.file + ": " + SlotName(slot), lost);
  return Status::Ok();
}

/// The period with which a fact of the cards repeats over the whole file; 0 when it is constant or does not repeat.
template <typename T>
size_t PeriodOf(const std::vector<T>& v) {
  const auto same = [](const T& a, const T& b) { return a == b || (a != a && b != b); };
  if (v.size() < 4) return 0;
  for (size_t p = 1; p <= kMostInferred && 2 * p <= v.size(); ++p) {
    bool holds = true;
    for (size_t i = p; holds && i < v.size(); ++i) holds = same(v[i], v[i - p]);
    if (holds) return p == 1 ? 0 : p;
  }
  return 0;
}

size_t FactPeriod(const Table& table) {
  for (const NumberSlot slot : {kMemoryTotalSlot, kPowerLimitSlot, kSmClockMaxSlot}) {
    if (!table.has(slot)) continue;
    if (const size_t p = PeriodOf(table.number(slot))) return p;
  }
  const auto& names = table.texts[kNameText].ids;
  return names.empty() ? 0 : PeriodOf(names);
}

/// The number of cards that a `count` column states for every row, or 0.
size_t StatedCount(const Table& table) {
  if (!table.has(kCardCountSlot)) return 0;
  const auto& c = table.number(kCardCountSlot);
  for (const float v : c) {
    if (!(v >= 1 && v <= static_cast<float>(kMostInferred)) || v != c[0]) return 0;
  }
  return c.empty() ? 0 : static_cast<size_t>(c[0]);
}

void NoteStretches(const std::vector<TimeMs>& t, const Stretches& s, const ReadContext& context,
                   std::vector<std::string>* notes) {
  constexpr size_t kMostTold = 3;
  for (size_t i = 1; i < s.list.size() && i <= kMostTold; ++i) {
    notes->push_back(
        Tr(context.lang, Msg::kIngestNoteStretch, FormatRfc3339(t[s.list[i].from]), s.list[i - 1].k, s.list[i].k));
  }
}

/// One card for every row, and why that may be said.
void OneFastCard(const OneOrMany& judged, const ReadContext& context, std::vector<std::string>* notes, Cards* out) {
  const std::string_view why =
      Text(context.lang, judged.sharing == Sharing::kOneVaries ? Msg::kIngestOneVaries : Msg::kIngestOneAlike);
  out->cards.resize(1);
  out->cards[0].gpu = "0";
  out->spread = true;
  out->inferred = true;
  notes->push_back(judged.unit_ms > 1000
                       ? Tr(context.lang, Msg::kIngestNoteSpreadStamps, judged.most, judged.unit_ms / 1000)
                       : Tr(context.lang, Msg::kIngestNoteSpread, judged.most, why));
  out->explanation = Tr(context.lang, Msg::kIngestCardsOneFast, why);
}

Status ByOrder(const Table& table, const ReadContext& context, model::DataQuality* quality,
               std::vector<std::string>* notes, Cards* out) {
  const std::vector<TimeMs>& t = table.t_ms;
  const size_t stated = StatedCount(table), fact_period = FactPeriod(table);
  if (stated == 0 && fact_period == 0) {
    const OneOrMany judged = JudgeSharedSeconds(table);
    if (judged.one()) return OneFastCard(judged, context, notes, out), Status::Ok();
    if (judged.sharing == Sharing::kUntold && judged.unit_ms > 1000)
      return Status::Unsupported(
          Tr(context.lang, Msg::kIngestOneOrManyStamps, context.file, judged.most, judged.unit_ms / 1000));
    if (judged.sharing == Sharing::kUntold && FindBursts(t).k > 1)
      return Status::Unsupported(Tr(context.lang, Msg::kIngestOneOrMany, context.file, judged.k));
  }
  size_t shared = 0, back = 0;
  for (size_t i = 1; i < t.size(); ++i) {
    shared += t[i] == t[i - 1] ? 1 : 0;
    back += t[i] < t[i - 1] ? 1 : 0;
  }
  const Bursts b = FindBursts(t, stated);
  const size_t period = b.k == 1 ? fact_period : 0;
  const Stretches stretches = stated == 0 && period == 0 ? FindStretches(t, b) : Stretches{};
  shared = std::max(shared, stretches.close_rows);
  int64_t lost = 0;
  size_t k = b.k;
  if (!stretches.list.empty()) {
    for (const Stretch& s : stretches.list) k = std::max(k, s.k);
    lost = ByStretches(t, stretches, &out->of_row);
    NoteStretches(t, stretches, context, notes);
  } else if (b.k > 1) {
    lost = ByBursts(t, b, &out->of_row);
  } else if (period > 1) {
    k = period;
    out->of_row.resize(t.size(), int16_t{-1});
    for (size_t i = 0; i < t.size(); ++i) out->of_row[i] = static_cast<int16_t>(i % k);
  } else if (shared * 5 > t.size()) {
    return Status::Unsupported(Tr(context.lang, Msg::kIngestTimesShared, context.file, shared, t.size(),
                                  back > 3 ? Text(context.lang, Msg::kIngestTimesSharedBack) : std::string_view()));
  }
  out->inferred = true;
  out->cards.resize(k);
  for (size_t i = 0; i < k; ++i) out->cards[i].gpu = std::to_string(i);
  if (k == 1) out->of_row.clear();
  if (k > 1) {
    quality->Count(Odd::kIndexInferred, context.file, static_cast<int64_t>(t.size()));
    notes->push_back(Tr(context.lang, Msg::kIngestNoteIndexInferred, k));
  }
  if (lost > 0) {
    quality->Count(Odd::kBadRow, Tr(context.lang, Msg::kIngestDetailBurst, context.file, k), lost);
    notes->push_back(Tr(context.lang, Msg::kIngestNoteBurstsLost, lost, k));
  }
  out->explanation = k == 1       ? Tr(context.lang, Msg::kIngestCardsOne)
                     : period > 1 ? Tr(context.lang, Msg::kIngestCardsPeriod, k)
                                  : Tr(context.lang, Msg::kIngestCardsOrder, k,
                                       stretches.list.empty() ? b.threshold_ms : stretches.threshold_ms);
  return Status::Ok();
}

/// How many nodes the rows name.
size_t NodesTold(const Table& table) {
  const TextColumn& c = table.texts[kNodeText];
  return c.ids.empty() ? 0 : std::set<uint32_t>(c.ids.begin(), c.ids.end()).size();
}

/// Rows of several nodes and no column that tells the card: the rows of each node by their order.
Status ByNode(const Table& table, const ReadContext& context, model::DataQuality* quality,
              std::vector<std::string>* notes, Cards* out) {
  std::map<uint32_t, std::vector<size_t>> rows_of;
  for (size_t i = 0; i < table.rows; ++i) rows_of[table.texts[kNodeText].ids[i]].push_back(i);
  out->of_row.assign(table.rows, int16_t{-1});
  int64_t lost = 0;
  for (const auto& [node, rows] : rows_of) {
    std::vector<TimeMs> t;
    size_t shared = 0;
    for (const size_t i : rows) {
      shared += !t.empty() && t.back() == table.t_ms[i] ? 1 : 0;
      t.push_back(table.t_ms[i]);
    }
    const Bursts b = FindBursts(t);
    if (b.k == 1 && shared * 5 > t.size()) {
      return Status::Unsupported(
          Tr(context.lang, Msg::kIngestTimesShared, context.file, shared, t.size(), std::string_view()));
    }
    std::vector<int16_t> card(t.size(), 0);
    if (b.k > 1) {
      card.clear();
      lost += ByBursts(t, b, &card);
    }
    const size_t first = out->cards.size();
    for (size_t k = 0; k < rows.size(); ++k) {
      if (card[k] >= 0) out->of_row[rows[k]] = static_cast<int16_t>(first + static_cast<size_t>(card[k]));
    }
    for (size_t k = 0; k < b.k; ++k) {
      out->cards.emplace_back();
      out->cards.back().gpu = std::to_string(k);
    }
  }
  out->inferred = true;
  quality->Count(Odd::kIndexInferred, context.file, static_cast<int64_t>(table.rows));
  if (lost > 0) quality->Count(Odd::kBadRow, context.file, lost);
  notes->push_back(Tr(context.lang, Msg::kIngestNoteNodeCards, rows_of.size(), out->cards.size()));
  out->explanation = Tr(context.lang, Msg::kIngestCardsNodes, out->cards.size(), rows_of.size());
  return Status::Ok();
}

/// Rows in which `index` and `gpu` name different cards.
int64_t Disagreements(const Table& table) {
  const TextColumn &a = table.texts[kIndexText], &b = table.texts[kGpuText];
  if (a.ids.empty() || b.ids.empty()) return 0;
  std::vector<std::string> labels_a, labels_b;
  for (uint32_t id = 0; id < a.distinct(); ++id) labels_a.push_back(CardLabel(a.Get(id)));
  for (uint32_t id = 0; id < b.distinct(); ++id) labels_b.push_back(CardLabel(b.Get(id)));
  int64_t n = 0;
  for (size_t i = 0; i < table.rows; ++i) {
    const std::string &x = labels_a[a.ids[i]], &y = labels_b[b.ids[i]];
    n += !x.empty() && !y.empty() && x != y ? 1 : 0;
  }
  return n;
}

/// One value in the only column for the card, yet each time stands k times: that column does not tell the card.
bool SaysOneButIsMany(const Table& table, size_t told) {
  if (told != 1 || table.rows < 4) return false;
  size_t shared = 0;
  for (size_t i = 1; i < table.rows; ++i) shared += table.t_ms[i] == table.t_ms[i - 1] ? 1 : 0;
  const Bursts b = FindBursts(table.t_ms);
  if (shared * 2 < table.rows || b.k == 1 || b.share <= 0.95) return false;
  const Sharing sharing = JudgeSharedSeconds(table).sharing;  // where that tells nothing the column is believed
  return FactPeriod(table) > 1 || sharing == Sharing::kMany || sharing == Sharing::kNotAsked;
}

/// Rows of the one card that a column names, several to a whole second: they were read one after another.
bool IsReadSeveralTimesASecond(const Table& table) {
  const OneOrMany judged = JudgeSharedSeconds(table);
  return judged.one() || judged.sharing == Sharing::kUntold;
}

}  // namespace

std::string CardLabel(std::string_view cell) {
  cell = Trim(cell);
  for (const std::string_view prefix : {"GPU", "gpu", "cuda:", "nvidia"}) {
    if (StartsWith(cell, prefix)) {
      cell = cell.substr(prefix.size());
      while (!cell.empty() &&
             (cell.front() == ' ' || cell.front() == '_' || cell.front() == ':' || cell.front() == '#'))
        cell.remove_prefix(1);
      break;
    }
  }
  if (cell.size() > 12) return "";
  size_t dots = 0;
  for (size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] == '.') {
      if (i == 0 || i + 1 == cell.size() || cell[i + 1] == '.') return "";
      ++dots;
    } else if (cell[i] < '0' || cell[i] > '9') {
      return "";
    }
  }
  if (cell.empty() || (dots != 0 && dots != 2) || (dots == 0 && cell.size() > 4)) return "";
  return std::string(cell);
}

Status AssignCards(const Table& table, const ReadContext& context, model::DataQuality* quality,
                   std::vector<std::string>* notes, Cards* out) {
  TextSlot slot = kUuidText;
  size_t told = 0, masked = 0;
  for (const TextSlot candidate : {kUuidText, kIndexText, kGpuText, kBusIdText}) {
    size_t n = CardsTold(table, candidate);
    if (candidate == kUuidText && n > 0) n += masked = CardsMasked(table);
    if (n > told) {
      told = n;
      slot = candidate;
    }
  }
  const size_t nodes = NodesTold(table);
  if (nodes < 2 && SaysOneButIsMany(table, told)) {
    quality->Count(Odd::kIndexDisagrees, context.file, static_cast<int64_t>(table.rows));
    notes->push_back(Tr(context.lang, Msg::kIngestNoteOneForMany, SlotName(slot)));
    SAWBILL_RETURN_IF_ERROR(ByOrder(table, context, quality, notes, out));
    std::vector<std::string> name;
    FillTexts(table, *out, kNameText, &name);
    for (size_t k = 0; k < name.size(); ++k) out->cards[k].name = name[k];
    return Status::Ok();
  }
  if (told == 0) {
    SAWBILL_RETURN_IF_ERROR((nodes < 2 ? ByOrder : ByNode)(table, context, quality, notes, out));
  } else {
    SAWBILL_RETURN_IF_ERROR(ByColumn(table, slot, context, quality, out));
    out->by_column = true;
    out->explanation = nodes < 2
                           ? Tr(context.lang, Msg::kIngestCardsColumn, SlotName(slot), out->cards.size())
                           : Tr(context.lang, Msg::kIngestCardsColumnNodes, SlotName(slot), out->cards.size(), nodes);
  }
  if (const int64_t n = Disagreements(table); n > 0) {
    quality->Count(Odd::kIndexDisagrees, context.file + ": gpu, index", n);
    notes->push_back(Tr(context.lang, Msg::kIngestNoteIndexDisagrees, SlotName(slot), n));
  }
  if (slot == kUuidText && told > 0 && masked > 0) notes->push_back(Tr(context.lang, Msg::kIngestNoteMasked));
  Describe(table, out);
  if (out->uuid_twice > 0) quality->Count(Odd::kIndexDisagrees, context.file + ": uuid, index", out->uuid_twice);
  Order(out);
  const bool all_first =
      out->cards.size() == 1 && std::all_of(out->of_row.begin(), out->of_row.end(), [](int16_t c) { return c == 0; });
  if (all_first) out->of_row.clear();
  out->spread = out->spread || (all_first && told == 1 && IsReadSeveralTimesASecond(table));
  return Status::Ok();
}

}  // namespace sawbill::ingest
