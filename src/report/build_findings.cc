// SPDX-License-Identifier: Apache-2.0
#include "report/build_findings.h"

#include <algorithm>

#include "advise/actions.h"
#include "ledger/apportion.h"

namespace sawbill::report {
namespace {

using analysis::AccountKey;

Money Add(Money a, Money b) { return a && b ? Money(*a + *b) : std::nullopt; }

class FindingsBuilder {
 public:
  FindingsBuilder(const analysis::Analysis& a, const BuildOptions& o, const CardLabels& labels, Rates* rates, Report* r)
      : a_(a), o_(o), labels_(labels), rates_(rates), r_(*r), total_s_(r->gpu_hours * 3600) {}

  void Run() {
    r_.below_minimum_saving = r_.cost ? Money(0.0) : std::nullopt;
    double useful_high = 0, useful_share = 0;
    for (const analysis::Finding& f : Grouped()) {
      Finding x = Convert(f);
      if (Below(x)) {
        r_.below_minimum_count += f.runs;
        r_.below_minimum_share += x.saving->share;
        r_.below_minimum_saving = Add(r_.below_minimum_saving, x.saving->expected);
        continue;
      }
      if (x.saving) AddTotal(*x.saving);
      if (x.saving && x.saving->speedup) {
        useful_high += x.saving->high.value_or(0);
        useful_share += x.saving->share_high;
      }
      r_.findings.push_back(std::move(x));
    }
    CapTotal(useful_high, useful_share);
  }

 private:
  void AddTotal(const Saving& s) {
    std::optional<Saving>& total = r_.total_saving;
    if (!total) {
      total = s;
      total->counted_above = false;
      total->alone = s.expected;
      total->share_alone = s.share;
      weight_ = Weight(s);
      return;
    }
    Saving& t = *total;
    const double w = Weight(s);
    if (weight_ + w > 0) t.capacity_share = (t.capacity_share * weight_ + s.capacity_share * w) / (weight_ + w);
    weight_ += w;
    t.share_low += s.share_low;
    t.share += s.share;
    t.share_high += s.share_high;
    t.low = Add(t.low, s.low);
    t.expected = Add(t.expected, s.expected);
    t.high = Add(t.high, s.high);
    t.share_alone = t.share;
    t.alone = t.expected;
    t.speedup = t.speedup || s.speedup;
    t.kind = t.capacity_share > 0.5 ? "capacity" : "cash";
  }

  static double Weight(const Saving& s) {
    return s.expected.value_or(s.share) > 0 ? s.expected.value_or(s.share) : s.high.value_or(s.share_high);
  }

  /// Several findings may stand on one line of the account: together they cannot bring back more than was lost there,
  /// and with what speeds up useful work no more than the bill.
  void CapTotal(double useful_high, double useful_share) {
    if (!r_.total_saving) return;
    double lost = 0, lost_share = 0;
    for (const LedgerRow& row : r_.ledger) {
      if (row.line == model::Line::kUseful || row.line == model::Line::kUnmeasured) continue;
      lost += row.cost.value_or(0);
      lost_share += row.share;
    }
    Saving& t = *r_.total_saving;
    const auto cap = [](double high, double low, double most) { return std::max(low, std::min(high, most)); };
    t.share_high = cap(t.share_high, t.share, std::min(1.0, useful_share + lost_share));
    if (t.high && t.expected && r_.cost) t.high = cap(*t.high, *t.expected, std::min(*r_.cost, useful_high + lost));
  }

  /// The money filter. What another fix brings back already is judged by what it would save alone.
  bool Below(const Finding& x) const {
    if (!x.saving) return false;
    const Saving& s = *x.saving;
    if (o_.min_saving_amount && s.high) return std::max(*s.high, s.alone.value_or(0)) < *o_.min_saving_amount;
    return std::max(s.share_high, s.share_alone) < o_.min_saving_share;
  }

  /// Cases that are each too small, or whose saving cannot be told, are summed by kind and cause over runs and jobs: a
  /// thousand small leaks of one kind are one thing to fix.
  std::vector<analysis::Finding> Grouped() {
    std::vector<analysis::Finding> listed;
    std::vector<analysis::Finding> groups;
    for (const analysis::Finding& f : a_.findings) {
      if (f.saving && !Below(Convert(f))) {
        listed.push_back(f);
        continue;
      }
      const auto it = std::find_if(groups.begin(), groups.end(), [&](const analysis::Finding& g) {
        return g.id == f.id && g.cause == f.cause && g.saving.has_value() == f.saving.has_value();
      });
      if (it == groups.end()) {
        groups.push_back(f);
      } else {
        analysis::MergeFinding(&*it, f);
      }
    }
    for (analysis::Finding& g : groups) listed.push_back(std::move(g));
    analysis::OrderGreedy(&listed);
    return listed;
  }

  Finding Convert(const analysis::Finding& f) {
    Finding x;
    x.id = f.id;
    x.cause = f.cause;
    if (f.run >= 0) x.run = a_.runs[static_cast<size_t>(f.run)].run;
    x.runs = f.runs;
    for (const size_t k : f.cards) x.gpus.push_back(labels_.Label(k));
    x.confidence = f.confidence;
    x.evidence_tier = f.tier;
    x.wasted_gpu_seconds = f.wasted_s;
    x.wasted_cost = PricedCost(f.wasted_by, rates_).cost;
    x.period_s = f.period_s;
    x.width_s = f.width_s;
    x.because = f.because;
    for (const auto& e : f.evidence)
      x.evidence.push_back({e.metric, e.statement, e.value, e.threshold, e.range.from, e.range.to});
    for (auto& rec : advise::Recommend(f, x.gpus, o_.lang)) {
      x.recommendations.push_back({rec.id, rec.level, rec.action, rec.key, rec.from, rec.to, rec.check_first});
    }
    double weight = total_s_ > 0 ? f.wasted_s / total_s_ : 0;
    if (f.saving && total_s_ > 0) {
      x.saving = SavingOf(f);
      weight = std::max(x.saving->share, x.saving->counted_above ? x.saving->share_alone : 0.0);
    }
    x.severity = weight >= 0.2    ? model::Severity::kHigh
                 : weight >= 0.08 ? model::Severity::kMedium
                 : weight >= 0.02 ? model::Severity::kLow
                                  : model::Severity::kInfo;
    if (f.id == model::FindingId::kHang) x.severity = model::Severity::kHigh;
    return x;
  }

  Saving SavingOf(const analysis::Finding& f) {
    const analysis::SavingEstimate& e = *f.saving;
    Saving s;
    s.share_low = e.low_s / total_s_;
    s.share = e.expected_s / total_s_;
    s.share_high = e.high_s / total_s_;
    s.share_alone = e.alone_s / total_s_;
    s.speedup = e.speedup;
    s.counted_above = e.high_s <= 0 && e.alone_s > 0;
    const Priced p = PricedCost(Where(f), rates_);
    const double seconds = p.priced_s + p.unpriced_s;
    if (p.priced_s > 0) {
      // Saved seconds cost what the finding's own seconds cost.
      const double rate = *p.cost / seconds;
      s.low = rate * e.low_s;
      s.expected = rate * e.expected_s;
      s.high = rate * e.high_s;
      s.alone = rate * e.alone_s;
      if (r_.cost.value_or(0) > 0) {
        s.share_low = *s.low / *r_.cost;
        s.share = *s.expected / *r_.cost;
        s.share_high = *s.high / *r_.cost;
        s.share_alone = *s.alone / *r_.cost;
      }
      s.capacity_share = *p.cost > 0 ? p.prepaid_cost / *p.cost : p.prepaid_s / p.priced_s;
    }
    s.kind = s.capacity_share > 0.5 ? "capacity" : "cash";
    return s;
  }

  /// The seconds whose price a saving has: those of the finding, else those of its run.
  std::map<AccountKey, double> Where(const analysis::Finding& f) const {
    if (f.wasted_s > 0) return f.wasted_by;
    std::map<AccountKey, double> out;
    for (const auto& [key, lines] : a_.account) {
      if (key.run == f.run) out[key] = ledger::Sum(lines);
    }
    return out;
  }

  const analysis::Analysis& a_;
  const BuildOptions& o_;
  const CardLabels& labels_;
  Rates* rates_;
  Report& r_;
  double total_s_;
  double weight_ = 0;  // of the total so far
};

}  // namespace

Priced PricedCost(const std::map<AccountKey, double>& seconds, Rates* rates) {
  Priced p;
  double cost = 0;
  for (const auto& [key, s] : seconds) {
    if (s <= 0) continue;
    const auto& rate = rates->Of(key);
    if (!rate) {
      p.unpriced_s += s;
      continue;
    }
    p.priced_s += s;
    cost += money::Cost(rate->per_hour, s);
    if (!rate->prepaid) continue;
    p.prepaid_s += s;
    p.prepaid_cost += money::Cost(rate->per_hour, s);
  }
  if (p.priced_s > 0 || p.unpriced_s <= 0) p.cost = cost;
  return p;
}

void BuildFindings(const analysis::Analysis& a, const BuildOptions& o, const CardLabels& labels, Rates* rates,
                   Report* r) {
  FindingsBuilder(a, o, labels, rates, r).Run();
}

}  // namespace sawbill::report
