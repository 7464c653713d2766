// SPDX-License-Identifier: Apache-2.0
//
// Ratio or percent
// ----------------
// Decided for each heading line by itself, over its whole column:
// - a "%" in the heading or in a cell is believed, and so is a unit "ratio"; but fractions under a heading that says
//   percent, none above 1, over which the power rises as it only does under load, are ratios all the same;
// - fractions and nothing above 1 are ratios; so are fractions below 1 between whole percents, where two sources were
//   merged (0.91 of one and 91 of the other are the same load);
// - only zeros and ones say nothing by themselves: a card at 1 % and a card at 100 % read alike. What else stands in
//   the rows decides: the other column of utilisation, then the power (no card draws half of its limit at 1 %). Without
//   those, "1" is what a driver prints, a percent; "1.0" is a number that was computed, and a card does not stay at
//   exactly 1 % for most of a log, so a column that is mostly 1.0 holds ratios. What is left cannot be told.
#include "ingest/ratio.h"

#include <algorithm>
#include <cmath>

#include "ingest/layout_rows.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;

enum class Scale { kPercent, kRatio, kUntold };
struct Verdict {
  Scale scale = Scale::kPercent;
  Msg why = Msg::kIngestOnesPoint;
  bool note = false;  // worth telling
};

/// What stands in the rows of one layout.
struct Values {
  size_t zeros = 0, ones = 0, below = 0, above = 0, above_fraction = 0;
  bool only_ones() const { return ones > 0 && below == 0 && above == 0; }
};

Values LookAt(const Table& table, NumberSlot slot, size_t layout) {
  Values n;
  const auto& v = table.number(slot);
  ForRowsOf(table, layout, [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      n.zeros += v[i] == 0 ? 1 : 0;
      n.ones += v[i] == 1 ? 1 : 0;
      n.below += v[i] > 0 && v[i] < 1 ? 1 : 0;
      n.above += v[i] > 1 ? 1 : 0;
      n.above_fraction += v[i] > 1 && v[i] != std::floor(v[i]) ? 1 : 0;
    }
  });
  return n;
}

/// Does the column say its unit itself?
bool SaysUnit(const Column& c) { return c.saw_unit || c.heading_percent || c.bare_factor != 1; }

/// Mean power where the column is 1 and where it is 0; NaN where there are no three such rows. The limit is the mean of
/// what is known of it, NaN without.
struct Power {
  double at_one = kMissing, at_zero = kMissing, limit = kMissing;
};

/// Means of the power in the rows whose value of `slot` is busy, and in those that are quiet.
template <typename Busy, typename Quiet>
Power PowerWhere(const Table& table, NumberSlot slot, size_t layout, Busy busy, Quiet quiet) {
  const NumberSlot power = Slot(GpuMetric::kPowerW);
  Power p;
  if (!table.has(power)) return p;
  double sum[3] = {}, n[3] = {};
  const auto add = [&](int k, float x) {
    if (IsMissing(x)) return;
    sum[k] += static_cast<double>(x);
    ++n[k];
  };
  ForRowsOf(table, layout, [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      const float v = table.number(slot)[i];
      if (busy(v)) add(0, table.number(power)[i]);
      if (quiet(v)) add(1, table.number(power)[i]);
      if (busy(v) && table.has(kPowerLimitSlot)) add(2, table.number(kPowerLimitSlot)[i]);
    }
  });
  if (n[0] >= 3) p.at_one = sum[0] / n[0];
  if (n[1] >= 3) p.at_zero = sum[1] / n[1];
  if (n[2] >= 3) p.limit = sum[2] / n[2];
  return p;
}

Power PowerAt(const Table& table, NumberSlot slot, size_t layout) {
  return PowerWhere(table, slot, layout, [](float v) { return v == 1; }, [](float v) { return v == 0; });
}

/// A card at 1 % is within a few watts of an idle one; a card at 100 % draws far more than that, or half of its limit.
Scale ByPower(const Power& p) {
  constexpr double kBusyW = 200, kMoreW = 100;  // above what any known card draws without work
  if (IsMissing(p.at_one)) return Scale::kUntold;
  const bool known_idle = IsPresent(p.at_zero);
  if (known_idle && p.at_one >= 2 * p.at_zero && p.at_one - p.at_zero >= kMoreW) return Scale::kRatio;
  if (IsPresent(p.limit) ? p.at_one >= 0.5 * p.limit : p.at_one >= kBusyW) return Scale::kRatio;
  if (known_idle && std::fabs(p.at_one - p.at_zero) < 0.1 * p.at_zero + 2) return Scale::kPercent;
  if (IsPresent(p.limit) && p.at_one < 0.25 * p.limit) return Scale::kPercent;
  return Scale::kUntold;
}

/// Power in the upper half of what a column of fractions holds, and near its bottom, as PowerAt() has it for 1 and 0.
Power PowerOver(const Table& table, NumberSlot slot, size_t layout) {
  const std::vector<float>& v = table.number(slot);
  float most = 0;
  ForRowsOf(table, layout, [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) most = v[i] > most ? v[i] : most;
  });
  return PowerWhere(
      table, slot, layout, [&](float x) { return x >= 0.5F * most; }, [&](float x) { return x <= 0.1F * most; });
}

/// Of a column of zeros and fractions below 1, below a heading that says percent.
Verdict JudgeFractions(const Table& table, NumberSlot slot, size_t layout) {
  if (ByPower(PowerOver(table, slot, layout)) == Scale::kRatio) return {Scale::kRatio, Msg::kIngestOnesPower, true};
  return {Scale::kPercent, Msg::kIngestOnesPower, true};
}

/// Of a column that holds nothing but zeros and ones.
Verdict Judge(const Table& table, NumberSlot slot, size_t layout, const Column& c, const Values& n) {
  const NumberSlot sm = Slot(GpuMetric::kSmUtil), other = slot == sm ? Slot(GpuMetric::kMemUtil) : sm;
  const Column* beside = table.has(other) ? FindColumn(table.layouts[layout], other) : nullptr;
  if (beside != nullptr && !SaysUnit(*beside)) {
    const Values o = LookAt(table, other, layout);
    if (o.above > 0) return {Scale::kPercent, Msg::kIngestOnesOther, c.saw_point};
    if (o.below > 0) return {Scale::kRatio, Msg::kIngestOnesOther, true};
  }
  if (const Scale by_power = ByPower(PowerAt(table, slot, layout)); by_power != Scale::kUntold)
    return {by_power, Msg::kIngestOnesPower, by_power == Scale::kRatio || c.saw_point};
  if (!c.saw_point) return {};
  if (n.ones >= n.zeros) return {Scale::kRatio, Msg::kIngestOnesPoint, true};
  return {Scale::kUntold, Msg::kIngestOnesPoint, true};
}

}  // namespace

void RatiosToPercent(Table* table, NumberSlot slot, const ReadContext& context, model::DataQuality* quality,
                     std::vector<std::string>* notes) {
  if (!table->has(slot)) return;
  std::vector<float>& v = table->numbers[static_cast<size_t>(slot)];
  const char* name = model::Info(static_cast<GpuMetric>(slot)).name;
  int64_t converted = 0;
  bool fractions = false, untold = false;
  for (size_t l = 0; l < table->layouts.size(); ++l) {
    const Column* c = FindColumn(table->layouts[l], slot);
    if (c == nullptr) continue;
    const bool says_percent = c->heading_percent && !c->saw_unit && c->bare_factor == 1;
    if (SaysUnit(*c) && !says_percent) continue;
    const Values n = LookAt(*table, slot, l);
    const auto place = static_cast<size_t>(c - table->layouts[l].columns.data());
    if (says_percent) {
      if (n.below == 0 || n.above > 0) continue;
      const Verdict verdict = JudgeFractions(*table, slot, l);
      const bool ratio = verdict.scale == Scale::kRatio;
      notes->push_back(Tr(context.lang, ratio ? Msg::kIngestNotePercentIsRatio : Msg::kIngestNotePercentTiny,
                          table->layouts[l].taken[place].heading));
      if (!ratio) continue;
      ForRowsOf(*table, l, [&](size_t from, size_t to) {
        for (size_t i = from; i < to; ++i) {
          converted += IsMissing(v[i]) ? 0 : 1;
          v[i] *= 100;
        }
      });
      continue;
    }
    Verdict verdict{n.below > 0 && n.above_fraction == 0 ? Scale::kRatio : Scale::kPercent};
    fractions = fractions || verdict.scale == Scale::kRatio;
    if (n.only_ones()) verdict = Judge(*table, slot, l, *c, n);
    if (verdict.note) {
      const Msg said = verdict.scale == Scale::kRatio     ? Msg::kIngestNoteOnesRatio
                       : verdict.scale == Scale::kPercent ? Msg::kIngestNoteOnesPercent
                                                          : Msg::kIngestNoteOnesLeft;
      const std::string& heading = table->layouts[l].taken[place].heading;
      notes->push_back(Tr(context.lang, said, heading.empty() ? name : heading, Text(context.lang, verdict.why)));
    }
    if (verdict.scale == Scale::kPercent) continue;
    const bool ratio = verdict.scale == Scale::kRatio;
    untold = untold || !ratio;
    ForRowsOf(*table, l, [&](size_t from, size_t to) {
      for (size_t i = from; i < to; ++i) {
        if (IsMissing(v[i]) || (n.above > 0 && !(v[i] > 0 && v[i] < 1))) continue;
        v[i] = ratio ? v[i] * 100 : static_cast<float>(kMissing);
        converted += ratio ? 1 : 0;
      }
    });
  }
  if (untold && std::all_of(v.begin(), v.end(), [](float x) { return IsMissing(x); })) v.clear();
  if (converted == 0) return;
  quality->Count(Odd::kRatioAsPercent, context.file + ": " + name, converted);
  if (fractions) notes->push_back(Tr(context.lang, Msg::kIngestNoteRatio, name));
}

}  // namespace sawbill::ingest
