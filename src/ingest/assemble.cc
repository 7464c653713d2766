// SPDX-License-Identifier: Apache-2.0
//
// Time that runs back
// -------------------
// A log of one card in which time jumps back holds stretches that overlap. From the file alone a restarted logger, two
// loggers at once and a clock that was set back look alike, and only the first two keep true times. The stretches are
// merged by time: each second of the card counts once, so no hours are invented; where the clock was set back, as much
// time as it went back is missing from the hours, and the note says how much that can be at most. Stretches that lie
// over one another almost wholly, or rows that keep going to and fro, are two writers. Their samples come in near
// pairs, which would make the median interval (and with it the time that a sample speaks for) far too short: of each
// pair the later one is left out.
#include "ingest/assemble.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ingest/big_memory.h"
#include "ingest/cards.h"
#include "ingest/join_nearby.h"
#include "ingest/one_or_many.h"
#include "ingest/printed_time.h"
#include "ingest/track_rows.h"
#include "ingest/units.h"

namespace sawbill::ingest {
namespace {
using model::GpuTrack;
using model::Odd;
using model::Recording;

/// Local times of the hour that a zone passes twice: the second time round is told by time running back into it.
void SettleRepeatedHour(Table* table, const TimeZone& tz) {
  if (table->zoneless_rows == 0) return;
  TimeMs until = 0, shift = 0, before = table->rows > 0 ? table->t_ms[0] : 0;
  for (TimeMs& t : table->t_ms) {
    const TimeMs raw = t;
    if (shift != 0 && (raw >= until || raw < until - shift)) shift = 0;
    if (shift == 0 && raw < before - 10 * 60'000) {
      const int step_s = tz.OffsetSeconds(raw) - tz.OffsetSeconds(raw + 3'600'000);
      if (step_s > 0) {
        TimeMs low = raw, high = raw + 3'600'000;
        while (high - low > 1) {
          const TimeMs mid = low + (high - low) / 2;
          (tz.OffsetSeconds(mid) == tz.OffsetSeconds(raw) ? low : high) = mid;
        }
        shift = step_s * 1000LL;
        until = high;
      }
    }
    before = raw;
    t = raw + shift;
  }
}

struct Backwards {
  int64_t steps = 0, interleaved = 0;
  TimeMs first_at = 0, largest = 0, overlap = 0;
  bool two_writers = false;
};

/// Looks at one card's times in file order.
Backwards LookBack(const std::vector<TimeMs>& t) {
  Backwards b;
  if (t.empty()) return b;
  TimeMs stretch_from = t[0], high = t[0];
  std::vector<std::pair<TimeMs, TimeMs>> stretches;
  for (size_t i = 1; i < t.size(); ++i) {
    high = std::max(high, t[i - 1]);
    if (t[i] >= t[i - 1]) continue;
    if (b.steps++ == 0) b.first_at = t[i];
    b.largest = std::max(b.largest, t[i - 1] - t[i]);
    stretches.emplace_back(stretch_from, t[i - 1]);
    stretch_from = t[i];
  }
  if (b.steps == 0) return b;
  stretches.emplace_back(stretch_from, t.back());
  for (size_t i = 1; i < stretches.size(); ++i) {
    const auto [a_from, a_to] = stretches[i - 1];
    const auto [c_from, c_to] = stretches[i];
    const TimeMs overlap = std::max<TimeMs>(0, std::min(a_to, c_to) - std::max(a_from, c_from));
    const TimeMs shorter = std::max<TimeMs>(1, std::min(a_to - a_from, c_to - c_from));
    b.overlap += overlap;
    if (static_cast<double>(overlap) > 0.8 * static_cast<double>(shorter) && overlap > 60'000) b.two_writers = true;
  }
  if (b.steps > 3 && static_cast<double>(b.steps) > 0.02 * static_cast<double>(t.size())) b.two_writers = true;
  return b;
}

bool AnyMissing(const std::vector<float>& c) {
  return std::any_of(c.begin(), c.end(), [](float v) { return std::isnan(v); });
}

/// Leaves out samples without a single reading; returns how many.
int64_t DropEmptySamples(GpuTrack* g) {
  for (const auto& c : g->columns) {
    if (!c.empty() && !AnyMissing(c)) return 0;
  }
  std::vector<char> keep(g->size(), 0);
  MarkRowsWithReading(*g, &keep);
  const auto dropped = std::count(keep.begin(), keep.end(), 0);
  if (dropped > 0) KeepRows(keep, g);
  return dropped;
}

void LookOver(GpuTrack* g, const ReadContext& context, Recording* out, Backwards* worst, Joined* joined) {
  const Backwards b = LookBack(g->t_ms);
  if (b.steps > worst->steps) *worst = b;
  SortAndDeduplicate(g, &out->quality);
  if (const Joined j = JoinNearby(g); j.moved_ms > joined->moved_ms) *joined = j;
  Finish(context, g, out);
}

constexpr size_t kStepRows = 32 * 1024;

/// Moves (one card) or scatters (many) the columns into tracks.
void Scatter(Table* table, const Cards& cards, Recording* out) {
  const size_t first = out->gpus.size();
  for (const auto& card : cards.cards) {
    out->gpus.emplace_back();
    out->gpus.back().card = card;
  }
  if (cards.of_row.empty()) {
    GpuTrack& g = out->gpus[first];
    g.t_ms = std::move(table->t_ms);
    for (size_t m = 0; m < model::kGpuMetrics; ++m) g.columns[m] = std::move(table->numbers[m]);
    g.energy_j = std::move(table->doubles[kEnergySlot]);
    return;
  }
  std::vector<size_t> size(cards.cards.size());
  for (const int16_t card : cards.of_row) {
    if (card >= 0) ++size[static_cast<size_t>(card)];
  }
  const auto spread = [&](auto* from, auto to) {
    using T = typename std::remove_reference_t<decltype(*from)>::value_type;
    if (from->empty()) return;
    // In steps, so that what a step makes room for is still in the cache when it is written.
    std::vector<size_t> fresh(size.size());
    std::vector<T*> next(size.size());
    for (size_t k = 0; k < size.size(); ++k) MakeRoom(&to(k), size[k]);
    for (size_t at = 0; at < table->rows; at += kStepRows) {
      const size_t end = std::min(table->rows, at + kStepRows);
      std::fill(fresh.begin(), fresh.end(), 0);
      for (size_t i = at; i < end; ++i) {
        if (const int16_t card = cards.of_row[i]; card >= 0) ++fresh[static_cast<size_t>(card)];
      }
      for (size_t k = 0; k < size.size(); ++k) {
        const size_t before = to(k).size();
        to(k).resize(before + fresh[k]);
        next[k] = to(k).data() + before;
      }
      for (size_t i = at; i < end; ++i) {
        if (const int16_t card = cards.of_row[i]; card >= 0) *next[static_cast<size_t>(card)]++ = (*from)[i];
      }
    }
    *from = {};
  };
  spread(&table->t_ms, [&](size_t k) -> auto& { return out->gpus[first + k].t_ms; });
  for (size_t m = 0; m < model::kGpuMetrics; ++m) {
    spread(&table->numbers[m], [&](size_t k) -> auto& { return out->gpus[first + k].columns[m]; });
  }
  spread(&table->doubles[kEnergySlot], [&](size_t k) -> auto& { return out->gpus[first + k].energy_j; });
}

/// Facts of the cards from columns that repeat them in every row: the last value stands.
void FillFacts(const Table& table, Cards* cards) {
  const auto fill = [&](NumberSlot slot, std::optional<double> model::CardInfo::* fact, double most) {
    if (!table.has(slot)) return;
    const auto& v = table.number(slot);
    for (size_t i = 0; i < table.rows; ++i) {
      const int32_t card = cards->of_row.empty() ? 0 : cards->of_row[i];
      if (card >= 0 && v[i] > 0 && v[i] <= most) cards->cards[static_cast<size_t>(card)].*fact = v[i];
    }
  };
  fill(kMemoryTotalSlot, &model::CardInfo::memory_total_mb, 4e6);
  fill(kPowerLimitSlot, &model::CardInfo::power_limit_w, 3000);
  fill(kSmClockMaxSlot, &model::CardInfo::sm_clock_max_mhz, 6000);
}

/// Rows of a named card that share a stamp of many seconds: all of them are readings, and none is the other's double.
void SpreadCoarseStamps(const ReadContext& context, Recording* out) {
  TimeMs noted = 0;
  for (GpuTrack& g : out->gpus) {
    const TimeMs unit = StampUnit(g.t_ms);
    if (unit <= 1000) continue;
    SpreadOverStamps(unit, &g.t_ms);
    if (noted != unit) out->notes.push_back(Tr(context.lang, Msg::kIngestNoteStampsCoarse, unit / 1000));
    noted = unit;
  }
}

void NoteTime(const Table& table, const ReadContext& context, const Backwards& worst, Recording* out) {
  if (table.zoneless_rows > 0) {
    out->quality.Count(Odd::kZoneAssumed, context.file + ": " + context.tz->name(), table.zoneless_rows);
  }
  NoteTimes(table.times, context, out);
  const bool two = worst.two_writers || table.other_layout_rows > 0;
  if (two) {
    out->quality.Count(Odd::kTwoWriters, context.file + ": " +
                                             FormatRfc3339(worst.steps > 0      ? worst.first_at
                                                           : table.t_ms.empty() ? 0
                                                                                : table.t_ms[0]));
    out->notes.push_back(Tr(context.lang, Msg::kIngestNoteTwoWriters));
  }
  if (worst.steps > 0) {
    out->quality.Count(Odd::kTimeBackwards, context.file + ": " + FormatRfc3339(worst.first_at), worst.steps);
    out->notes.push_back(Tr(context.lang, Msg::kIngestNoteTimeBack, worst.steps, FormatRfc3339(worst.first_at),
                            FormatDuration(Seconds(worst.largest), context.lang),
                            FormatDuration(Seconds(worst.overlap), context.lang)));
  }
}

/// Two headings that differ over the same number of columns.
bool SameWidth(const Table& table) {
  for (size_t i = 0; i < table.layouts.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (table.layouts[i].columns.size() == table.layouts[k].columns.size()) return true;
    }
  }
  return false;
}

void NoteDropped(const Table& table, const ReadContext& context, Recording* out) {
  if (table.dropped_rows * 20 <= static_cast<int64_t>(table.rows)) return;
  out->notes.push_back(Tr(context.lang, Msg::kIngestNoteDropped, table.dropped_rows,
                          table.dropped_rows + static_cast<int64_t>(table.rows)));
}

}  // namespace

void AddFacts(const model::CardInfo& from, model::CardInfo* to) {
  using model::CardInfo;
  for (std::string CardInfo::* fact : {&CardInfo::node, &CardInfo::gpu, &CardInfo::uuid, &CardInfo::name,
                                       &CardInfo::driver, &CardInfo::label, &CardInfo::parent_uuid}) {
    if ((to->*fact).empty()) to->*fact = from.*fact;
  }
  for (std::optional<double> CardInfo::* fact :
       {&CardInfo::memory_total_mb, &CardInfo::power_limit_w, &CardInfo::sm_clock_max_mhz, &CardInfo::util_window_s,
        &CardInfo::share}) {
    if (!(to->*fact)) to->*fact = from.*fact;
  }
}

namespace {
/// Leaves out the second of each near pair where that closes the holes which pairs make. Returns how many were left
/// out. `before`: what the track covers now.
int64_t ThinPairs(const model::Coverage& before, GpuTrack* g) {
  const size_t n = g->size();
  if (n < 20) return 0;
  const double span = Seconds(g->t_ms.back() - g->t_ms.front());
  if (before.hole_s < 0.2 * span) return 0;
  std::vector<TimeMs> gaps(n - 1);
  for (size_t i = 1; i < n; ++i) gaps[i - 1] = g->t_ms[i] - g->t_ms[i - 1];
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() * 3 / 4), gaps.end());
  const TimeMs near = gaps[gaps.size() * 3 / 4] * 3 / 10;
  GpuTrack thin;
  thin.card = g->card;
  std::vector<size_t> kept;
  for (size_t i = 0; i < n; ++i) {
    if (kept.empty() || g->t_ms[i] - g->t_ms[kept.back()] > near) kept.push_back(i);
  }
  if (kept.size() * 100 < n * 45 || kept.size() == n) return 0;
  // Only what the other row of the pair tells as well is left out.
  for (const auto& column : g->columns) {
    if (column.empty()) continue;
    size_t lost = 0;
    for (size_t k = 0, i = 0; i < n; ++i) {
      while (k + 1 < kept.size() && kept[k + 1] <= i) ++k;
      lost += i != kept[k] && IsPresent(column[i]) && IsMissing(column[kept[k]]) ? 1 : 0;
    }
    if (lost * 20 > n) return 0;
  }
  const auto pick = [&](const auto& from, auto* to) {
    if (from.empty()) return;
    to->reserve(kept.size());
    for (const size_t i : kept) to->push_back(from[i]);
  };
  pick(g->t_ms, &thin.t_ms);
  if (model::Cover(thin.t_ms).hole_s > 0.25 * before.hole_s) return 0;
  for (size_t m = 0; m < model::kGpuMetrics; ++m) pick(g->columns[m], &thin.columns[m]);
  pick(g->energy_j, &thin.energy_j);
  *g = std::move(thin);
  return static_cast<int64_t>(n - kept.size());
}

void NoteIntervals(const model::Coverage& cover, Lang lang, Recording* out) {
  if (cover.other_interval_s <= 0) return;
  const auto seconds = [](double s) { return FormatShortest(std::round(s * 10) / 10); };
  std::string note =
      Tr(lang, Msg::kIngestNoteIntervals, seconds(cover.median_interval_s), seconds(cover.other_interval_s));
  if (std::find(out->notes.begin(), out->notes.end(), note) != out->notes.end()) return;  // of another card
  out->notes.push_back(std::move(note));
}
}  // namespace

void Finish(const ReadContext& context, GpuTrack* track, Recording* out) {
  model::DataQuality* quality = &out->quality;
  const std::string where = context.file + ": gpu " + track->card.gpu;
  if (track->size() == 1) quality->Count(Odd::kSingleSample, where);
  if (const int64_t n = DropEmptySamples(track); n > 0) quality->Count(Odd::kNoValues, where, n);
  model::Coverage cover = model::Cover(track->t_ms);
  if (const int64_t n = ThinPairs(cover, track); n > 0) {
    quality->Count(Odd::kDuplicateSample, where, n);
    cover = model::Cover(track->t_ms);
  }
  if (cover.holes > 0) quality->Count(Odd::kGap, where, cover.holes);
  NoteIntervals(cover, context.lang, out);
}

void ExplainTable(const Table& table, const ReadContext& context, Explanation* explanation) {
  for (const Layout& l : table.layouts) {
    for (ColumnTaken c : l.taken) {
      const Column& column = l.columns[static_cast<size_t>(c.column) - 1];
      if (column.unit_size > 0) c.unit = std::string(column.unit, column.unit_size);
      explanation->columns.push_back(std::move(c));
    }
  }
  explanation->time_format = DescribeNotation(table.times, context.dates.order);
  const bool local = table.times.local;
  explanation->zone =
      local ? Tr(context.lang, Msg::kIngestZoneAssumed, context.tz->name()) : Tr(context.lang, Msg::kIngestZoneInFile);
  explanation->rows = static_cast<int64_t>(table.rows);
}

Status AssembleCards(Table* table, const ReadContext& context, bool own, Recording* out, Explanation* explanation) {
  SettleRepeatedHour(table, *context.tz);
  if (!own) SettleUnits(table, context, &out->quality, &out->notes);
  CheckRanges(table, context, &out->quality);
  Cards cards;
  SAWBILL_RETURN_IF_ERROR(AssignCards(*table, context, &out->quality, &out->notes, &cards));
  if (cards.spread) SpreadOverStamps(std::max<TimeMs>(1000, StampUnit(table->t_ms)), &table->t_ms);
  FillFacts(*table, &cards);
  explanation->cards = cards.explanation;
  NoteDropped(*table, context, out);
  const TimeMs first = table->rows > 0 ? table->t_ms[0] : 0;
  Scatter(table, cards, out);
  if (cards.by_column && !cards.spread && !own) SpreadCoarseStamps(context, out);
  Backwards worst;
  Joined joined;
  for (GpuTrack& g : out->gpus) LookOver(&g, context, out, &worst, &joined);
  NoteJoined(joined, context, out);
  if (worst.two_writers && cards.inferred && cards.cards.size() > 1) {
    return Status::Unsupported(Tr(context.lang, Msg::kIngestTwoWritersNoCard, context.file));
  }
  if (worst.two_writers && SameWidth(*table)) {
    return Status::Unsupported(Tr(context.lang, Msg::kIngestTwoWritersHeadings, context.file));
  }
  if (table->t_ms.empty()) table->t_ms.push_back(first);
  NoteTime(*table, context, worst, out);
  return Status::Ok();
}

Status AssembleHost(Table* table, const ReadContext& context, Recording* out) {
  CheckRanges(table, context, &out->quality);
  out->hosts.emplace_back();
  model::HostTrack& h = out->hosts.back();
  Backwards worst = LookBack(table->t_ms);
  NoteTime(*table, context, worst, out);
  h.t_ms = std::move(table->t_ms);
  for (size_t m = 0; m < model::kHostMetrics; ++m)
    h.columns[m] = std::move(table->numbers[static_cast<size_t>(kFirstHostSlot) + m]);
  SortAndDeduplicate(&h, &out->quality);
  return Status::Ok();
}

Status AssembleProcesses(Table* table, const ReadContext& context, Recording* out) {
  CheckRanges(table, context, &out->quality);
  const auto text = [&](TextSlot slot, size_t i) -> const std::string& {
    const TextColumn& c = table->texts[slot];
    return c.Get(c.ids.empty() ? 0 : c.ids[i]);
  };
  const auto number = [&](NumberSlot slot, size_t i) {
    return table->has(slot) ? table->number(slot)[i] : static_cast<float>(kMissing);
  };
  std::map<std::string, int32_t> cards;
  for (size_t i = 0; i < table->rows; ++i) {
    const float pid = number(kPidSlot, i);
    if (!(pid >= 0 && pid < 16777216.0F)) {  // Linux: at most 2^22
      out->quality.Count(Odd::kBadRow, context.file + ": pid");
      continue;
    }
    model::ProcessRow r;
    r.t_ms = table->t_ms[i];
    r.host = -1;
    r.pid = static_cast<int64_t>(pid);
    r.user = out->strings.Intern(text(kUserText, i));
    r.name = out->strings.Intern(text(kProcessText, i));
    r.job = out->strings.Intern(text(kJobText, i));
    if (!table->doubles[kStartedSlot].empty()) r.started_s = table->doubles[kStartedSlot][i];
    for (size_t m = 0; m < model::kProcessMetrics; ++m)
      r.values[m] = number(kFirstProcessSlot + static_cast<int>(m), i);
    const std::string label = CardLabel(text(kGpuText, i));
    if (!label.empty()) {
      const auto [at, fresh] = cards.try_emplace(label, static_cast<int32_t>(out->gpus.size()));
      r.card = at->second;
      if (fresh) {
        out->gpus.emplace_back();
        out->gpus.back().card.gpu = label;
      }
    }
    out->processes.push_back(r);
  }
  std::stable_sort(out->processes.begin(), out->processes.end(),
                   [](const auto& a, const auto& b) { return a.t_ms < b.t_ms; });
  return Status::Ok();
}

}  // namespace sawbill::ingest
