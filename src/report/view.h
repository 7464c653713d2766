// SPDX-License-Identifier: Apache-2.0
// What the text, Markdown and HTML reports have in common: the same figures, rounded once, and the same phrases. Where
// no price is known every amount is in card-hours, so that a page never shows an invented or a zero price.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/messages.h"
#include "base/time.h"
#include "report/report.h"

namespace sawbill::report {

enum class Part { kUseful, kLost, kUnexplained, kUnmeasured };

struct LedgerCell {
  model::Line line = model::Line::kUseful;
  Part part = Part::kUseful;
  double share = 0;
  std::string title, hours, percent, cost;
};

/// A line of the summary above the ledger: figures that are sums of the ledger's printed ones.
struct PartCell {
  Part part = Part::kUseful;
  std::string title, amount, percent;
};

struct SavingView {
  bool known = false;
  bool up_to = false;              // only an upper bound is known: never shown as an expectation
  std::vector<std::string> notes;  // what must be known with the figure: capacity or cash, the same work in less time
  std::string amount;              // "34.00", "up to 40.20", or "cannot be told"
  std::string unit;                // "USD", "card-hours"; empty when not known
  std::string range;               // "26.10–40.20", empty for an upper bound
  std::string share;               // "20 %"
};

struct StatCells {
  std::string label, mean, median, p95, low;  // low: "" where the metric has none
};

struct GroupCell {
  std::string key, hours, cost, saving, useful;
};

class View {
 public:
  explicit View(const Report& r);

  const Report& r() const { return *r_; }
  Lang lang() const { return r_->lang; }
  bool priced() const { return priced_; }
  const std::string& unit() const { return unit_; }

  template <typename... Args>
  std::string T(Msg id, const Args&... args) const {
    return Tr(r_->lang, id, args...);
  }

  /// Money, or card-hours of `share` of all cards' time where no price is known. Without the unit.
  std::string Amount(const Money& money, double share) const;
  std::string Total() const { return Amount(r_->cost, 1); }
  /// "98.7 %" of 0.987.
  std::string Percent(double share, int decimals = 1) const;
  std::string Hours(double h) const;

  /// "2026-03-14 09:00 – 17:30"; seconds are shown for periods under ten minutes.
  std::string Period() const { return Span(r_->period_from, r_->period_to); }
  std::string Span(TimeMs from, TimeMs to) const;
  std::string Clock(TimeMs t, bool seconds = false) const;  // the day only where the period holds several
  std::string Zone() const;                                 // "Asia/Shanghai (UTC+08:00)"
  std::string Stamp(TimeMs t) const;                        // "2026-03-14 09:00:12"
  /// "2 × NVIDIA A100-SXM4-80GB, 1 × ...".
  std::string Cards() const;
  std::optional<double> MeasuredShare() const;
  /// "GPU 0", or "node/0" where several nodes are in the report; the owner's label behind it.
  std::string CardName(const GpuRow& g) const;
  /// The one run of the report in words, or how many there are; "" for none.
  std::string Runs() const;
  /// "That all figures are of the selected runs only", or "".
  std::string Selection() const { return r_->filtered ? T(Msg::kReportFilteredNote) : ""; }
  /// The format, unless the source names it already.
  std::string Format() const;
  /// "0.52 kWh (counter)", "" where power was not recorded.
  std::string Energy(const GpuRow& g) const;

  /// Lines that are not zero: useful first, then losses by size, what is unexplained and unmeasured last.
  const std::vector<LedgerCell>& ledger() const { return ledger_; }
  const LedgerCell& ledger_total() const { return ledger_total_; }
  const std::vector<PartCell>& parts() const { return parts_; }
  /// "USER" of `--by user`.
  std::string By() const;
  const std::vector<GroupCell>& groups() const { return groups_; }
  const GroupCell& groups_total() const { return groups_total_; }

  SavingView Saving(size_t finding) const;
  SavingView TotalSaving() const { return Describe(r_->total_saving); }
  /// Notes of a finding's saving that do not stand at the total already.
  std::vector<std::string> NotesOf(size_t finding) const;
  /// What the finding's seconds cost, or their hours.
  std::string Wasted(const Finding& f) const;
  /// "The GPU waits for data" / "too few loader workers" / "cards 0, 3 · run r-17".
  std::string Title(const Finding& f) const;
  std::string Cause(const Finding& f) const;
  std::string Where(const Finding& f) const;
  std::string Level(const Recommendation& rec) const;   // "level 1: safe configuration"
  std::string Change(const Recommendation& rec) const;  // "num_workers: 2 → 8", or ""
  std::string Rhythm(const Finding& f) const;           // "Every 5 s, for 2 s", or ""
  std::string Tier(const Finding& f) const;
  std::string Facts(const Finding& f) const;  // id, cause, confidence, severity
  std::string Severity(model::Severity s) const;
  std::string EvidenceFigures(const Evidence& e) const;  // "sm_util 12.3 (threshold 20), 09:10 – 09:20"

  StatCells Stats(const MetricStats& s) const;
  /// In place of the statistics of utilisation, where there are none: why.
  std::string NoUtil(const GpuRow& g) const;
  const MetricStats* Find(const GpuRow& g, std::string_view metric) const;
  /// Indices of r().gpus, lowest mean utilisation first; cards without it last.
  std::vector<size_t> WorstCards() const;
  /// Why nothing is listed: nothing worth a change, or no verdict. Empty when there are findings.
  std::vector<std::string> Verdict() const;
  bool NoVerdict() const;            // nothing was found and most could not be judged
  std::string BelowMinimum() const;  // "" when there is none
  std::string UpperBound() const;    // the explanation of the rough upper bound; "" when it cannot be given
  std::string UpperBoundAmount() const;
  /// What the total must not be read without: cards that were there for a part of the time only, what has no price and
  /// how to give it one, and of which day the prices are.
  std::vector<std::string> BesideTotal() const;
  /// Worst first.
  std::vector<std::string> DataQuality() const;

 private:
  void BuildLedger();
  void BuildGroups();
  void BuildSavings();
  std::vector<std::string> NotInTotal() const;
  std::vector<std::string> WithoutPrice() const;
  std::vector<std::string> SeenInPart() const;
  SavingView Describe(const std::optional<report::Saving>& s) const;

  const Report* r_;
  TimeZone tz_;
  bool priced_ = false;
  int decimals_ = 2;
  std::string unit_;
  std::vector<LedgerCell> ledger_;
  LedgerCell ledger_total_;
  std::vector<PartCell> parts_;
  std::vector<GroupCell> groups_;
  GroupCell groups_total_;
  std::vector<SavingView> savings_;
};

}  // namespace sawbill::report
