// SPDX-License-Identifier: Apache-2.0
#include "report/view.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "report/rounding.h"

namespace sawbill::report {
namespace {

Part PartOf(model::Line line) {
  switch (line) {
    case model::Line::kUseful:
      return Part::kUseful;
    case model::Line::kUnexplained:
      return Part::kUnexplained;
    case model::Line::kUnmeasured:
      return Part::kUnmeasured;
    default:
      return Part::kLost;
  }
}

Msg PartTitle(Part p) {
  constexpr Msg kTitles[] = {Msg::kReportUseful, Msg::kReportLost, Msg::kReportUnexplained, Msg::kReportUnmeasured};
  return kTitles[static_cast<size_t>(p)];
}

bool IsZero(std::optional<int64_t> u) { return !u || *u == 0; }

}  // namespace

View::View(const Report& r) : r_(&r) {
  if (const std::optional<TimeZone> tz = TimeZone::Load(r.tz.empty() ? "UTC" : r.tz)) tz_ = *tz;
  priced_ = r.cost.has_value() && std::isfinite(*r.cost);
  decimals_ = priced_ && *r.cost != 0 && std::fabs(*r.cost) < 1 ? 4 : 2;
  unit_ = priced_ ? Sanitize(r.currency) : T(Msg::kReportCardHours);
  BuildLedger();
  BuildGroups();
  BuildSavings();
}

std::string View::Amount(const Money& money, double share) const {
  if (priced_) return money && std::isfinite(*money) ? FormatGrouped(*money, decimals_) : "—";
  const double hours = share * r_->gpu_hours;
  return std::isfinite(hours) ? FormatGrouped(hours, decimals_) : "—";
}

std::string View::Percent(double share, int decimals) const {
  if (!std::isfinite(share)) return "—";
  return FormatFixed(share * 100, decimals) + (lang() == Lang::kZh ? "%" : " %");
}

std::string View::Hours(double h) const { return std::isfinite(h) ? FormatGrouped(h, 2) : "—"; }

/// Hours, shares and costs are three columns; each adds up to its own total.
void View::BuildLedger() {
  std::vector<const LedgerRow*> rows;
  for (const LedgerRow& row : r_->ledger) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const LedgerRow* a, const LedgerRow* b) {
    const Part pa = PartOf(a->line), pb = PartOf(b->line);
    return pa != pb ? pa < pb : pa == Part::kLost && a->gpu_seconds > b->gpu_seconds;
  });
  std::vector<double> hours, shares, costs;
  for (const LedgerRow* row : rows) {
    hours.push_back(row->gpu_seconds / 3600);
    shares.push_back(row->share * 100);
    costs.push_back(row->cost.value_or(kMissing));
  }
  const auto hour_units = RoundUnits(hours, 2, r_->gpu_hours);
  const auto percent_units = RoundUnits(shares, 1, 100);
  const auto cost_units = priced_ ? RoundUnits(costs, decimals_, r_->cost) : hour_units;
  int64_t hour_sum = 0, percent_sum = 0, cost_sum = 0;
  const auto percent = [&](int64_t u) { return Percent(static_cast<double>(u) / 1000); };
  for (size_t i = 0; i < rows.size(); ++i) {
    hour_sum += hour_units[i].value_or(0);
    percent_sum += percent_units[i].value_or(0);
    cost_sum += cost_units[i].value_or(0);
    if (IsZero(hour_units[i]) && IsZero(percent_units[i]) && IsZero(cost_units[i])) continue;
    const model::Line line = rows[i]->line;
    ledger_.push_back({line, PartOf(line), rows[i]->share, std::string(model::Title(line, lang())),
                       FormatUnits(hour_units[i], 2, true), percent(percent_units[i].value_or(0)),
                       FormatUnits(cost_units[i], decimals_, true)});
  }
  ledger_total_ = {model::Line::kUseful,
                   Part::kUseful,
                   1,
                   T(Msg::kReportSum),
                   FormatUnits(hour_sum, 2, true),
                   percent(percent_sum),
                   FormatUnits(cost_sum, decimals_, true)};
  for (const Part part : {Part::kUseful, Part::kLost, Part::kUnexplained, Part::kUnmeasured}) {
    int64_t amount = 0, share = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (PartOf(rows[i]->line) != part) continue;
      amount += cost_units[i].value_or(0);
      share += percent_units[i].value_or(0);
    }
    if (amount == 0 && share == 0) continue;
    parts_.push_back({part, T(PartTitle(part)), FormatUnits(amount, decimals_, true), percent(share)});
  }
}

void View::BuildGroups() {
  std::vector<double> hours, costs;
  for (const GroupRow& g : r_->groups) {
    hours.push_back(g.gpu_hours);
    costs.push_back(g.cost.value_or(kMissing));
  }
  const auto hour_units = RoundUnits(hours, 2, r_->gpu_hours);
  const auto cost_units = RoundUnits(costs, decimals_, r_->cost);
  int64_t hour_sum = 0, cost_sum = 0;
  for (size_t i = 0; i < r_->groups.size(); ++i) {
    const GroupRow& g = r_->groups[i];
    double seconds = 0;
    for (const double s : g.lines) seconds += s;
    const double useful = seconds > 0 ? g.lines[model::Index(model::Line::kUseful)] / seconds : kMissing;
    hour_sum += hour_units[i].value_or(0);
    cost_sum += cost_units[i].value_or(0);
    groups_.push_back({g.key.empty() ? "—" : Sanitize(g.key), FormatUnits(hour_units[i], 2, true),
                       FormatUnits(cost_units[i], decimals_, true),
                       g.saving ? FormatGrouped(*g.saving, decimals_) : "—", Percent(useful, 0)});
  }
  groups_total_ = {T(Msg::kReportSum), FormatUnits(hour_sum, 2, true), FormatUnits(cost_sum, decimals_, true), "", ""};
}

SavingView View::Describe(const std::optional<report::Saving>& s) const {
  SavingView v;
  if (!s) {
    v.amount = T(Msg::kReportCannotBeTold);
    return v;
  }
  v.known = true;
  v.unit = unit_;
  // Less than a percent of the other kind is not worth a word.
  const bool mixed = s->capacity_share > 0.01 && s->capacity_share < 0.99;
  if (mixed) {
    v.notes.push_back(T(Msg::kReportCapacityPart, Percent(s->capacity_share, 0)));
  } else if (s->kind == "capacity") {
    v.notes.push_back(T(Msg::kReportCapacity));
  }
  if (s->speedup) v.notes.push_back(T(Msg::kReportSpeedup));
  if (s->counted_above) {
    v.amount = T(Msg::kReportCountedAbove);
    v.unit.clear();
    v.notes.clear();
    return v;
  }
  // A lower bound of nothing means that only the upper end is evidence; an expectation in between would be a guess.
  v.up_to = s->share_low <= 0 && s->share_high > 0;
  const std::string high = Amount(s->high, s->share_high);
  if (v.up_to) {
    v.amount = T(Msg::kReportUpTo, high);
    v.share = T(Msg::kReportUpTo, Percent(s->share_high, 0));
  } else {
    v.amount = Amount(s->expected, s->share);
    v.range = Amount(s->low, s->share_low) + "–" + high;
    v.share = Percent(s->share, 0);
  }
  return v;
}

/// Greedy savings add up to the saving of all fixes together; where all are listed, so do the printed ones.
void View::BuildSavings() {
  std::vector<double> values;
  bool summable = r_->total_saving.has_value();
  for (const Finding& f : r_->findings) {
    savings_.push_back(Describe(f.saving));
    summable = summable && savings_.back().known && !savings_.back().up_to && (!priced_ || f.saving->expected);
    if (summable) values.push_back(priced_ ? *f.saving->expected : f.saving->share * r_->gpu_hours);
  }
  if (!summable || TotalSaving().up_to || (priced_ && !r_->total_saving->expected)) return;
  const double total = priced_ ? *r_->total_saving->expected : r_->total_saving->share * r_->gpu_hours;
  const auto units = RoundUnits(values, decimals_, total);
  for (size_t i = 0; i < units.size(); ++i) {
    if (!r_->findings[i].saving->counted_above) savings_[i].amount = FormatUnits(units[i], decimals_, true);
  }
}

SavingView View::Saving(size_t finding) const { return savings_[finding]; }

std::vector<std::string> View::NotesOf(size_t finding) const {
  const std::vector<std::string> told = TotalSaving().notes;
  std::vector<std::string> out;
  for (const std::string& note : savings_[finding].notes) {
    const bool speedup = note == T(Msg::kReportSpeedup);
    if (speedup || std::find(told.begin(), told.end(), note) == told.end()) out.push_back(note);
  }
  return out;
}

std::string View::Wasted(const Finding& f) const {
  const std::string hours = T(Msg::kReportHoursOf, Hours(f.wasted_gpu_seconds / 3600));
  if (!priced_ || !f.wasted_cost) return hours;
  return FormatGrouped(*f.wasted_cost, decimals_) + " " + unit_ + T(Msg::kReportInBrackets, hours);
}

const MetricStats* View::Find(const GpuRow& g, std::string_view metric) const {
  for (const MetricStats& s : g.stats) {
    if (s.metric == metric) return &s;
  }
  return nullptr;
}

std::vector<size_t> View::WorstCards() const {
  std::vector<size_t> order(r_->gpus.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto mean = [&](size_t i) {
    const MetricStats* s = Find(r_->gpus[i], "sm_util");
    return s != nullptr && std::isfinite(s->mean) ? s->mean : 1e9;
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return mean(a) < mean(b); });
  return order;
}

}  // namespace sawbill::report
