// SPDX-License-Identifier: Apache-2.0
//
// Inference of columns
// --------------------
// Cells with a unit say what quantity they are. Which field of that quantity is told by how it behaves: of two MiB
// columns a constant larger one is the total; two that add up to a constant are used and free, and the one that comes
// near zero is used. Constants add up to a constant whatever they are, and tell nothing. Two percent columns are
// utilization.gpu and utilization.memory, or one of them is the fan. The memory controller is never busy while no
// kernel runs, so a zero in one under a non-zero in the other tells which is which; else the one that is never below
// the other and rises with it. Power that goes with one of two and not with the other tells the load from a fan. A
// column that fits nothing alone is left out. Without units (nounits) far less can be told: two decimals are power,
// large constants memory.total; two columns of 0-100 are taken as utilisation only when those rules confirm their
// order.
#include "ingest/infer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/numbers.h"
#include "base/text.h"
#include "ingest/cells.h"
#include "ingest/time_cells.h"

namespace sawbill::ingest {
namespace {

/// One column of the sample, as far as numbers go.
struct Seen {
  std::vector<double> values;  // NaN where a cell is no number
  std::map<std::string, int> units;
  std::string unit;  // of most cells; "" = none
  int numbers = 0, decimals = 0, markers = 0, texts = 0, hex = 0, uuid = 0, bus = 0, letters = 0;
  double least = INFINITY, most = -INFINITY;
  bool constant() const { return numbers > 0 && least == most; }
  bool whole() const { return decimals == 0; }
};

void Add(Seen* s, std::string_view cell) {
  s->values.push_back(kMissing);
  if (MarkerOf(cell) != Marker::kNone) {
    ++s->markers;
    return;
  }
  std::string_view rest;
  const auto v = ParseDoublePrefix(cell, &rest);
  rest = Trim(rest);
  const bool unit = rest == "%" || UnitFactor(Quantity::kMemory, rest) || UnitFactor(Quantity::kPower, rest) ||
                    UnitFactor(Quantity::kClock, rest);
  if (v && (rest.empty() || unit) && !StartsWith(cell, "0x")) {
    ++s->numbers;
    ++s->units[std::string(rest)];
    if (cell.find('.') != std::string_view::npos) ++s->decimals;
    s->values.back() = *v;
    s->least = std::min(s->least, *v);
    s->most = std::max(s->most, *v);
    return;
  }
  ++s->texts;
  if (StartsWith(cell, "0x")) ++s->hex;
  if (StartsWith(cell, "GPU-") || StartsWith(cell, "MIG-")) ++s->uuid;
  if (cell.size() >= 12 && cell.find(':') != std::string_view::npos && cell[cell.size() - 2] == '.') ++s->bus;
  for (const char* maker : {"NVIDIA", "Tesla", "GeForce", "Quadro", "RTX", "TITAN"}) {
    if (cell.find(maker) != std::string_view::npos) {
      ++s->letters;
      break;
    }
  }
}

/// The layout being inferred. A column's meaning is set once.
class Inference {
 public:
  Inference(size_t columns, Lang lang) : lang_(lang) {
    layout_.columns.resize(columns);
    for (size_t i = 0; i < columns; ++i) {
      layout_.taken.push_back({static_cast<int>(i) + 1, "", "", "", Tr(lang, Msg::kIngestHowUntold)});
    }
  }
  bool open(size_t i) const { return layout_.columns[i].field.target == Target::kUnknown; }
  void Take(size_t i, const Field& f, std::string_view unit, Msg how) {
    Column& c = layout_.columns[i];
    c.field = f;
    c.heading_unit = !unit.empty();
    layout_.taken[i].taken_as = f.taken_as;
    layout_.taken[i].unit = f.unit;
    layout_.taken[i].how = Tr(lang_, how);
  }
  void Ignore(size_t i, Msg how) {
    layout_.columns[i].field.target = Target::kIgnored;
    layout_.taken[i].how = Tr(lang_, how);
  }
  Layout& layout() { return layout_; }

 private:
  Layout layout_;
  Lang lang_;
};

Field FieldNamed(const char* heading) { return ReadHeading(heading, model::Scope::kGpu).field; }

std::vector<size_t> OpenOf(const Inference& in, const std::vector<Seen>& seen, Quantity q) {
  std::vector<size_t> out;
  for (size_t i = 0; i < seen.size(); ++i) {
    if (in.open(i) && !seen[i].unit.empty() && UnitFactor(q, seen[i].unit)) out.push_back(i);
  }
  return out;
}

/// +1 when `a` is utilization.gpu and `b` utilization.memory, -1 for the other way round, 0 when it cannot be told.
int UtilisationOrder(const Seen& a, const Seen& b) {
  int b_alone = 0, a_alone = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (a.values[i] == 0 && b.values[i] > 0) ++b_alone;
    if (b.values[i] == 0 && a.values[i] > 0) ++a_alone;
  }
  if (a_alone >= 3 && a_alone > 4 * b_alone) return 1;
  if (b_alone >= 3 && b_alone > 4 * a_alone) return -1;
  return 0;
}

/// How two columns go together, from -1 to 1; NaN where one of them does not move.
double Correlation(const Seen& a, const Seen& b) {
  double n = 0, sa = 0, sb = 0, aa = 0, bb = 0, ab = 0;
  for (size_t i = 0; i < std::min(a.values.size(), b.values.size()); ++i) {
    const double x = a.values[i], y = b.values[i];
    if (IsMissing(x) || IsMissing(y)) continue;
    ++n, sa += x, sb += y, aa += x * x, bb += y * y, ab += x * y;
  }
  const double va = aa - sa * sa / n, vb = bb - sb * sb / n;
  return n >= 10 && va > 1e-9 && vb > 1e-9 ? (ab - sa * sb / n) / std::sqrt(va * vb) : kMissing;
}

/// `a` is at least `b` in nearly every row, and more in some.
bool Covers(const Seen& a, const Seen& b) {
  size_t n = 0, below = 0, above = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (IsMissing(a.values[i]) || IsMissing(b.values[i])) continue;
    ++n;
    below += a.values[i] < b.values[i] ? 1 : 0;
    above += a.values[i] > b.values[i] ? 1 : 0;
  }
  return above >= 3 && below * 50 <= n;
}

size_t Above(const Seen& a, const Seen& b) {
  size_t n = 0;
  for (size_t i = 0; i < a.values.size(); ++i) n += a.values[i] > b.values[i] ? 1 : 0;
  return n;
}

/// A fan does not follow a load to the very percent; two columns of an idle card do.
bool AlikeMostly(const Seen& a, const Seen& b) {
  size_t n = 0, alike = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (IsMissing(a.values[i]) || IsMissing(b.values[i])) continue;
    ++n;
    alike += a.values[i] == b.values[i] ? 1 : 0;
  }
  return n > 0 && alike * 10 >= n * 9;
}

/// Which of two percentages is utilization.gpu and which utilization.memory: their places in the pair, -1 = none told.
struct PairTold {
  int gpu = -1, memory = -1;
};
PairTold TellPair(const Seen& a, const Seen& b, const Seen* power) {
  constexpr double kGoesWith = 0.5, kDoesNot = 0.3;
  const auto goes = [&](const Seen& x) { return power == nullptr ? kMissing : Correlation(x, *power); };
  const double with_a = goes(a), with_b = goes(b);
  const auto not_with = [](double r) { return IsMissing(r) || std::fabs(r) < kDoesNot; };
  if (with_a >= kGoesWith && not_with(with_b)) return {0, -1};
  if (with_b >= kGoesWith && not_with(with_a)) return {1, -1};
  if (const int order = UtilisationOrder(a, b); order != 0) return order > 0 ? PairTold{0, 1} : PairTold{1, 0};
  const double together = Correlation(a, b);
  if (together >= kGoesWith && Covers(a, b)) return {0, 1};
  if (together >= kGoesWith && Covers(b, a)) return {1, 0};
  return {};
}

/// The only column of watts that moves.
const Seen* PowerIn(const std::vector<Seen>& seen) {
  const Seen* power = nullptr;
  for (const Seen& s : seen) {
    if (s.unit.empty() || !UnitFactor(Quantity::kPower, s.unit) || s.constant()) continue;
    if (power != nullptr) return nullptr;
    power = &s;
  }
  return power;
}

void Percents(Inference* in, const std::vector<Seen>& seen) {
  const std::vector<size_t> c = OpenOf(*in, seen, Quantity::kPercent);
  if (c.size() == 1) in->Take(c[0], FieldNamed("utilization.gpu"), "%", Msg::kIngestHowOnlyPercent);
  if (c.size() != 2) return;
  const Seen &a = seen[c[0]], &b = seen[c[1]];
  PairTold told = TellPair(a, b, PowerIn(seen));
  // A load that stays on its level tells no more than that it lies above the other: the usual order, and that one only.
  if (told.gpu < 0 && Covers(a, b)) told.gpu = 0;
  if (told.memory < 0 && AlikeMostly(a, b)) told = Above(b, a) > Above(a, b) ? PairTold{1, 0} : PairTold{0, 1};
  const bool usual = told.gpu == 0 && told.memory == 1;
  const Msg how = told.memory < 0 ? Msg::kIngestHowUtilLoad
                  : usual         ? Msg::kIngestHowUtilOrder
                                  : Msg::kIngestHowUtilSwapped;
  if (told.gpu >= 0) in->Take(c[static_cast<size_t>(told.gpu)], FieldNamed("utilization.gpu"), "%", how);
  if (told.memory >= 0) in->Take(c[static_cast<size_t>(told.memory)], FieldNamed("utilization.memory"), "%", how);
}

/// Do `a` and `b` add up to the same sum in every row?
bool SumConstant(const Seen& a, const Seen& b) {
  if (a.constant() || b.constant()) return false;  // then they tell nothing
  double least = INFINITY, most = -INFINITY;
  for (size_t i = 0; i < a.values.size(); ++i) {
    const double sum = a.values[i] + b.values[i];
    if (IsMissing(sum)) continue;
    least = std::min(least, sum);
    most = std::max(most, sum);
  }
  return most - least <= 4 && most > 0;
}

void Memories(Inference* in, const std::vector<Seen>& seen, std::vector<size_t> c) {
  const Field used = FieldNamed("memory.used"), total = FieldNamed("memory.total"), free = FieldNamed("memory.free");
  // The total: constant, and at least as large as every other.
  if (c.size() >= 2) {
    const auto top =
        *std::max_element(c.begin(), c.end(), [&](size_t a, size_t b) { return seen[a].most < seen[b].most; });
    const bool rest_varies = std::any_of(c.begin(), c.end(), [&](size_t i) { return i != top && !seen[i].constant(); });
    if (seen[top].constant() && (rest_varies || c.size() > 2)) {
      in->Take(top, total, seen[top].unit, Msg::kIngestHowTotal);
      c.erase(std::find(c.begin(), c.end(), top));
    }
  }
  if (c.size() == 1) {
    const bool told = !seen[c[0]].constant() || seen[c[0]].most < 1024;
    if (told) in->Take(c[0], used, seen[c[0]].unit, Msg::kIngestHowOnlyMemory);
    return;
  }
  if (c.size() != 2) return;
  const Seen &a = seen[c[0]], &b = seen[c[1]];
  if (!SumConstant(a, b)) return;
  const double sum = a.least + b.most;
  const bool a_used = a.least < 0.05 * sum && b.least > a.least, b_used = b.least < 0.05 * sum && a.least > b.least;
  if (a_used == b_used) return;
  in->Take(c[a_used ? 0 : 1], used, a.unit, Msg::kIngestHowUsedFree);
  in->Take(c[a_used ? 1 : 0], free, a.unit, Msg::kIngestHowUsedFree);
}

void Powers(Inference* in, const std::vector<Seen>& seen) {
  const std::vector<size_t> c = OpenOf(*in, seen, Quantity::kPower);
  if (c.size() == 1) in->Take(c[0], FieldNamed("power.draw"), seen[c[0]].unit, Msg::kIngestHowUnit);
  if (c.size() != 2) return;
  for (size_t k = 0; k < 2; ++k) {
    const Seen &draw = seen[c[k]], &limit = seen[c[1 - k]];
    if (!limit.constant() || draw.constant() || draw.least >= limit.most) continue;
    in->Take(c[k], FieldNamed("power.draw"), draw.unit, Msg::kIngestHowUnit);
    in->Take(c[1 - k], FieldNamed("power.limit"), limit.unit, Msg::kIngestHowTotal);
    return;
  }
}

void Texts(Inference* in, const std::vector<Seen>& seen) {
  for (size_t i = 0; i < seen.size(); ++i) {
    const Seen& s = seen[i];
    if (!in->open(i) || s.texts == 0 || s.texts < s.numbers) continue;
    if (s.uuid * 2 > s.texts)
      in->Take(i, FieldNamed("uuid"), "", Msg::kIngestHowText);
    else if (s.bus * 2 > s.texts)
      in->Take(i, FieldNamed("pci.bus_id"), "", Msg::kIngestHowText);
    else if (s.letters * 2 > s.texts)
      in->Take(i, FieldNamed("name"), "", Msg::kIngestHowText);
  }
}

/// Cards count up from 0 within each sample and start again.
bool IsCardNumber(const Seen& s) {
  if (!s.unit.empty() || !s.whole() || s.numbers < 4 || s.least != 0 || s.most < 1 || s.most > 31) return false;
  size_t broken = 0;
  for (size_t i = 1; i < s.values.size(); ++i) {
    const double step = s.values[i] - s.values[i - 1];
    if (step != 1 && !(s.values[i] == 0 && s.values[i - 1] == s.most)) ++broken;
  }
  return broken * 50 < s.values.size();
}

/// A temperature is whole, between 15 and 110, and does not jump.
bool IsTemperature(const Seen& s) {
  if (!s.unit.empty() || s.numbers == 0 || s.least < 15 || s.most > 110 || !s.whole()) return false;
  size_t jumps = 0;
  for (size_t i = 1; i < s.values.size(); ++i) jumps += std::fabs(s.values[i] - s.values[i - 1]) > 30 ? 1 : 0;
  return jumps * 10 <= s.values.size();
}

/// Columns without a unit: in a file with units these are card, temperature and text; in one without, everything.
void Bare(Inference* in, const std::vector<Seen>& seen, bool units) {
  std::vector<size_t> hot, memories, percents, watts;
  for (size_t i = 0; i < seen.size(); ++i) {
    const Seen& s = seen[i];
    if (!in->open(i) || s.numbers == 0 || !s.unit.empty() || s.numbers < s.texts) continue;
    if (IsCardNumber(s)) {
      in->Take(i, FieldNamed("index"), "", Msg::kIngestHowCounting);
    } else if (IsTemperature(s)) {
      hot.push_back(i);
    } else if (!units && s.whole() && s.most > 110) {
      memories.push_back(i);
    } else if (!units && s.decimals * 2 > s.numbers && s.least > 1 && s.most < 1500) {
      watts.push_back(i);
    } else if (!units && s.whole() && s.least >= 0 && s.most <= 100 && !s.constant()) {
      percents.push_back(i);
    }
  }
  if (watts.size() == 1) in->Take(watts[0], FieldNamed("power.draw"), "", Msg::kIngestHowRange);
  const Seen* power = watts.size() == 1 ? &seen[watts[0]] : nullptr;
  const PairTold told = percents.size() == 2 ? TellPair(seen[percents[0]], seen[percents[1]], power) : PairTold{};
  const int order = told.memory < 0 ? 0 : told.gpu == 0 ? 1 : -1;
  if (told.gpu >= 0 && told.memory < 0)
    in->Take(percents[static_cast<size_t>(told.gpu)], FieldNamed("utilization.gpu"), "", Msg::kIngestHowUtilLoad);
  if (order != 0) {
    in->Take(percents[order > 0 ? 0 : 1], FieldNamed("utilization.gpu"), "", Msg::kIngestHowUtilSwapped);
    in->Take(percents[order > 0 ? 1 : 0], FieldNamed("utilization.memory"), "", Msg::kIngestHowUtilSwapped);
  }
  if (percents.size() == 1 && seen[percents[0]].most > 31) {
    in->Take(percents[0], FieldNamed("utilization.gpu"), "", Msg::kIngestHowOnlyPercent);
  }
  // Without units a steady 85 could be degrees or percent; it is degrees once the percents are known.
  if (hot.size() == 1 && (units || order != 0))
    in->Take(hot[0], FieldNamed("temperature.gpu"), "", Msg::kIngestHowRange);
  if (memories.size() >= 2) Memories(in, seen, memories);
}

}  // namespace

bool LooksLikeRow(std::string_view line) {
  static const TimeZone utc = TimeZone::Utc();
  TimeCells times(&utc, DateOrder::kEither);
  const char* p = line.data();
  const char* const end = p + line.size();
  for (int i = 0; i < 6; ++i) {
    const char* stop = CellEnd(p, end);
    if (stop == nullptr) return false;
    TimeMs t = 0;
    if (times.Parse(std::string_view(p, static_cast<size_t>(stop - p)), &t)) {
      // A large number is a time only where logs put theirs: first, or behind the card.
      if ((times.last() & kEpochNotations) == 0 || i < 2) return stop < end || i > 0;
    }
    if (stop == end) return false;
    p = stop + 1;
  }
  return false;
}

namespace {

/// A heading line that names a time and no reading that is known is another program's table, and no file without
/// headings: what it calls "accuracy" is no utilisation, whatever its values look like.
bool IsAnothersTable(const std::vector<std::string_view>& lines) {
  const auto names_time = [](std::string_view cell) {
    return ReadHeading(cell, model::Scope::kGpu).field.target == Target::kTime;
  };
  for (const std::string_view line : lines) {
    if (LooksLikeRow(line)) return false;
    const std::vector<std::string_view> cells = SplitCells(line);
    if (cells.size() > 1 && std::any_of(cells.begin(), cells.end(), names_time)) return true;
  }
  return false;
}

}  // namespace

std::optional<Layout> InferLayout(const std::vector<std::string_view>& lines, Lang lang) {
  if (IsAnothersTable(lines)) return std::nullopt;
  std::map<size_t, std::vector<std::vector<std::string_view>>> by_count;
  for (const std::string_view line : lines) {
    if (!LooksLikeRow(line)) continue;
    std::vector<std::string_view> cells = SplitCells(line);
    if (cells.size() >= 2 && cells.size() <= 300) by_count[cells.size()].push_back(std::move(cells));
  }
  if (by_count.empty()) return std::nullopt;
  const auto& rows = std::max_element(by_count.begin(), by_count.end(), [](const auto& a, const auto& b) {
                       return a.second.size() < b.second.size();
                     })->second;
  const size_t columns = rows[0].size();
  std::vector<Seen> seen(columns);
  std::vector<size_t> timed(columns);
  const TimeZone utc = TimeZone::Utc();
  for (const auto& cells : rows) {
    for (size_t i = 0; i < columns; ++i) {
      TimeMs t = 0;
      if (i < 6 && TimeCells(&utc, DateOrder::kEither).Parse(cells[i], &t)) ++timed[i];
      Add(&seen[i], cells[i]);
    }
  }
  bool units = false;
  for (Seen& s : seen) {
    for (const auto& [unit, n] : s.units) {
      if (!unit.empty() && n * 2 > s.numbers) s.unit = unit;
    }
    units = units || !s.unit.empty();
  }
  Inference in(columns, lang);
  const auto time = std::max_element(timed.begin(), timed.end());
  if (*time * 2 <= rows.size()) return std::nullopt;
  in.Take(static_cast<size_t>(time - timed.begin()), FieldNamed("timestamp"), "", Msg::kIngestHowTime);
  for (size_t i = 0; i < columns; ++i) {
    if (in.open(i) && seen[i].texts == 0 && seen[i].numbers == 0) in.Ignore(i, Msg::kIngestHowNothing);
    if (in.open(i) && seen[i].hex * 2 > seen[i].texts && seen[i].hex > 0) in.Ignore(i, Msg::kIngestHowUntold);
  }
  Texts(&in, seen);
  Percents(&in, seen);
  Memories(&in, seen, OpenOf(in, seen, Quantity::kMemory));
  Powers(&in, seen);
  const std::vector<size_t> clocks = OpenOf(in, seen, Quantity::kClock);
  if (clocks.size() == 1) in.Take(clocks[0], FieldNamed("clocks.sm"), seen[clocks[0]].unit, Msg::kIngestHowUnit);
  Bare(&in, seen, units);
  const auto told = std::any_of(in.layout().columns.begin(), in.layout().columns.end(), [](const Column& c) {
    return c.field.target == Target::kNumber && c.field.slot < kMemoryTotalSlot;
  });
  if (!told) return std::nullopt;
  return std::move(in.layout());
}

}  // namespace sawbill::ingest
