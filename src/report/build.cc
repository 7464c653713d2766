// SPDX-License-Identifier: Apache-2.0
#include "report/build.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "advise/actions.h"
#include "ledger/apportion.h"

namespace sawbill::report {
namespace {

using analysis::AccountKey;
using analysis::Analysis;
using model::Line;

constexpr TimeMs kDayMs = 86400000;

/// What a card-second costs, for each entry of the account: the time-weighted price of the card on that day.
class Rates {
 public:
  Rates(const Analysis& a, const BuildOptions& o) : a_(a), o_(o) {}

  /// Per card-hour; nothing where any part of the stretch has no price.
  std::optional<double> PerHour(const AccountKey& key) {
    const auto [it, fresh] = cache_.try_emplace(key);
    if (fresh) it->second = Compute(key);
    return it->second;
  }

 private:
  std::optional<double> Compute(const AccountKey& key) const {
    if (o_.prices == nullptr) return std::nullopt;
    const TimeMs midnight = static_cast<TimeMs>(key.day) * kDayMs;
    const TimeMs local_from = midnight - 1000LL * o_.tz.OffsetSeconds(midnight);
    model::TimeRange day{std::max(a_.period.from, local_from), std::min(a_.period.to, local_from + kDayMs)};
    std::string job;
    if (key.run >= 0) {
      const auto& run = a_.runs[static_cast<size_t>(key.run)];
      job = run.job;
      day = {std::max(day.from, run.range.from), std::min(day.to, run.range.to)};
    }
    if (day.empty()) day = {local_from, local_from + kDayMs};
    double sum = 0, seconds = 0;
    for (const auto& i : o_.prices->Lookup(a_.cards[key.card].card, job, day)) {
      if (i.price == nullptr) return std::nullopt;
      sum += i.price->per_hour * i.range.seconds();
      seconds += i.range.seconds();
    }
    return seconds > 0 ? std::optional<double>(sum / seconds) : std::nullopt;
  }

  const Analysis& a_;
  const BuildOptions& o_;
  std::map<AccountKey, std::optional<double>> cache_;
};

Money Add(Money a, Money b) { return a && b ? Money(*a + *b) : std::nullopt; }

class Builder {
 public:
  Builder(const Analysis& a, const BuildOptions& o) : a_(a), o_(o), rates_(a, o) {}

  Result<Report> Run() {
    SAWBILL_RETURN_IF_ERROR(CheckCurrency());
    Head();
    Cards();
    for (const auto& run : a_.runs) AddRun(run);
    Ledger();
    SAWBILL_RETURN_IF_ERROR(Groups());
    Findings();
    Quality();
    return std::move(r_);
  }

 private:
  Status CheckCurrency() const {
    if (o_.prices == nullptr) return Status::Ok();
    for (const auto& p : o_.prices->prices()) {
      if (!p.currency.empty() && p.currency != o_.currency) {
        return Status::Invalid("a price is in " + p.currency + " and the report in " + o_.currency +
                               "; currencies are never mixed: give --currency " + p.currency +
                               " or prices in one currency");
      }
    }
    return Status::Ok();
  }

  void Head() {
    r_.generated = o_.generated;
    r_.currency = o_.currency;
    r_.lang = o_.lang;
    r_.tz = o_.tz.name();
    r_.source = a_.source;
    r_.format = a_.format;
    r_.simulated = a_.simulated;
    r_.period_from = a_.period.from;
    r_.period_to = a_.period.to;
    r_.cannot_judge = a_.cannot_judge;
    r_.limits = a_.notes;
    for (const std::string& l : a_.limits) r_.limits.push_back(l);
  }

  /// Cost of seconds spread over account entries; nothing where a part has no price.
  Money CostOf(const std::map<AccountKey, double>& seconds) {
    double sum = 0;
    for (const auto& [key, s] : seconds) {
      if (s <= 0) continue;
      const auto rate = rates_.PerHour(key);
      if (!rate) return std::nullopt;
      sum += money::Cost(*rate, s);
    }
    return sum;
  }

  void Cards() {
    double weighted_util = 0, util_weight = 0, bound = 0;
    bool bound_known = true;
    for (size_t k = 0; k < a_.cards.size(); ++k) {
      const analysis::CardFacts& c = a_.cards[k];
      GpuRow g;
      g.node = c.card.node;
      g.gpu = c.card.gpu;
      g.uuid = c.card.uuid;
      g.name = c.card.name;
      g.label = c.card.label;
      g.hours = c.period_s / 3600;
      g.measured_hours = c.covered_s / 3600;
      g.wave = c.wave;
      g.wave_low = c.wave_low;
      g.cost = Money(0.0);
      for (const auto& [key, lines] : a_.account) {
        if (key.card != k) continue;
        const auto rate = rates_.PerHour(key);
        g.cost = rate && g.cost ? Money(*g.cost + money::Cost(*rate, ledger::Sum(lines))) : std::nullopt;
      }
      if (o_.prices != nullptr) {
        for (const auto& i : o_.prices->Lookup(c.card, "", a_.period)) {
          if (i.price == nullptr) continue;
          g.prices.push_back({i.range.from, i.range.to, i.price->per_hour, i.price->contract, i.price->source});
        }
      }
      if (!g.cost) Unpriced(c.card.name.empty() ? "gpu " + c.card.gpu : c.card.name);
      Stats(c, &g);
      if (c.energy_s > 0) {
        g.energy_kwh = c.energy_j / 3.6e6;
        g.energy_method = c.energy_counted ? "counter" : "integrated";
      }
      for (const auto& [metric, d] : c.stats) {
        if (metric != model::GpuMetric::kSmUtil) continue;
        weighted_util += d.sum;
        util_weight += d.weight_s;
        // Only measured time can be judged: the bound is over the hours that were seen.
        if (g.cost && g.hours > 0) {
          bound += money::WasteUpperBound(*g.cost / g.hours, d.weight_s / 3600, d.Mean() / 100);
        } else {
          bound_known = false;
        }
      }
      r_.observed_s += c.covered_s;
      r_.missing_s += std::max(0.0, c.period_s - c.covered_s);
      r_.gpu_hours += g.hours;
      r_.cost = k == 0 ? g.cost : Add(r_.cost, g.cost);
      r_.gpus.push_back(std::move(g));
    }
    if (util_weight > 0) r_.sm_util_mean = weighted_util / util_weight / 100;
    if (r_.cost && bound_known && util_weight > 0) r_.waste_upper_bound = bound;
  }

  void Unpriced(const std::string& name) {
    if (std::find(r_.unpriced.begin(), r_.unpriced.end(), name) == r_.unpriced.end()) r_.unpriced.push_back(name);
  }

  static void Stats(const analysis::CardFacts& c, GpuRow* g) {
    for (const auto& [metric, d] : c.stats) {
      MetricStats s;
      s.metric = model::Info(metric).name;
      s.mean = d.Mean();
      s.median = d.Quantile(0.5);
      s.p95 = d.Quantile(0.95);
      if (metric == model::GpuMetric::kSmUtil) {
        s.low_share = d.low_s / d.weight_s;
        g->idle.share = s.low_share;
        g->idle.pattern = c.idle_pattern;
        g->idle.period_s = c.idle_period_s;
        g->idle.longest_s = c.longest_idle_s;
      }
      g->stats.push_back(std::move(s));
    }
  }

  void AddRun(const analysis::RunFacts& run) {
    RunRow row;
    row.run = run.run;
    row.job = run.job;
    row.user = run.user;
    row.program = run.program;
    row.node = run.node;
    for (const size_t k : run.cards) row.gpus.push_back(a_.cards[k].card.gpu);
    row.from = run.range.from;
    row.to = run.range.to;
    std::map<AccountKey, double> seconds;
    for (const auto& [key, lines] : a_.account) {
      if (key.run >= 0 && &a_.runs[static_cast<size_t>(key.run)] == &run) seconds[key] = ledger::Sum(lines);
    }
    row.cost = CostOf(seconds);
    r_.runs.push_back(std::move(row));
  }

  void Ledger() {
    const model::LineSeconds lines = a_.Lines();
    const double total = ledger::Sum(lines);
    std::array<double, model::kLines> cost{};
    bool priced = true;
    for (const auto& [key, l] : a_.account) {
      const auto rate = rates_.PerHour(key);
      if (!rate) {
        priced = priced && ledger::Sum(l) <= 0;
        continue;
      }
      for (size_t i = 0; i < model::kLines; ++i) cost[i] += money::Cost(*rate, l[i]);
    }
    for (size_t i = 0; i < model::kLines; ++i) {
      LedgerRow row;
      row.line = static_cast<Line>(i);
      row.gpu_seconds = lines[i];
      row.share = total > 0 ? lines[i] / total : 0;
      if (priced && r_.cost) row.cost = cost[i];
      r_.ledger.push_back(row);
    }
  }

  std::optional<std::string> GroupKey(const AccountKey& key) const {
    const auto& card = a_.cards[key.card].card;
    const analysis::RunFacts* run = key.run >= 0 ? &a_.runs[static_cast<size_t>(key.run)] : nullptr;
    const CivilTime day = CivilFromUtc(static_cast<TimeMs>(key.day) * kDayMs);
    const auto or_dash = [](const std::string& s) { return s.empty() ? std::string("-") : s; };
    if (o_.by == "gpu") return card.node.empty() ? "gpu" + card.gpu : card.node + "/gpu" + card.gpu;
    if (o_.by == "node") return or_dash(card.node);
    if (o_.by == "label") return or_dash(card.label);
    if (o_.by == "run") return run != nullptr ? run->run + (run->job.empty() ? "" : " " + run->job) : "-";
    if (o_.by == "user") return run != nullptr ? or_dash(run->user) : "-";
    if (o_.by == "job") return run != nullptr ? or_dash(run->job) : "-";
    if (o_.by == "project") return "-";
    if (o_.by == "day") return fmt::format("{:04}-{:02}-{:02}", day.year, day.month, day.day);
    if (o_.by == "month") return fmt::format("{:04}-{:02}", day.year, day.month);
    return std::nullopt;
  }

  Status Groups() {
    r_.by = o_.by;
    if (o_.by.empty()) return Status::Ok();
    std::map<std::string, GroupRow> groups;
    for (const auto& [key, lines] : a_.account) {
      const auto name = GroupKey(key);
      if (!name)
        return Status::Invalid("--by " + o_.by + ": give one of run user job project label gpu node day month");
      auto [it, fresh] = groups.try_emplace(*name);
      GroupRow& g = it->second;
      if (fresh) {
        g.key = *name;
        g.cost = Money(0.0);
        g.saving = Money(0.0);
      }
      const double s = ledger::Sum(lines);
      g.gpu_hours += s / 3600;
      for (size_t i = 0; i < model::kLines; ++i) g.lines[i] += lines[i];
      const auto rate = rates_.PerHour(key);
      g.cost = rate && g.cost ? Money(*g.cost + money::Cost(*rate, s)) : std::nullopt;
    }
    for (const analysis::Finding& f : a_.findings) {
      if (!f.saving || f.wasted_s <= 0) continue;
      for (const auto& [key, s] : f.wasted_by) {
        const auto name = GroupKey(key);
        const auto rate = rates_.PerHour(key);
        if (!name) continue;
        GroupRow& g = groups[*name];
        const double saved_s = s / f.wasted_s * f.saving->expected_s;
        g.saving = rate && g.saving ? Money(*g.saving + money::Cost(*rate, saved_s)) : std::nullopt;
      }
    }
    for (auto& [name, g] : groups) r_.groups.push_back(std::move(g));
    if (o_.by != "day" && o_.by != "month") {
      std::stable_sort(r_.groups.begin(), r_.groups.end(),
                       [](const GroupRow& x, const GroupRow& y) { return x.gpu_hours > y.gpu_hours; });
    }
    return Status::Ok();
  }

  /// Average price of what the finding is about, to turn saved card-seconds into money.
  std::optional<double> FindingRate(const analysis::Finding& f) {
    double sum = 0, seconds = 0;
    const auto add = [&](const AccountKey& key, double s) {
      const auto rate = rates_.PerHour(key);
      if (!rate) return false;
      sum += *rate * s;
      seconds += s;
      return true;
    };
    if (f.wasted_s > 0) {
      for (const auto& [key, s] : f.wasted_by) {
        if (!add(key, s)) return std::nullopt;
      }
    } else {
      for (const auto& [key, lines] : a_.account) {
        if (key.run == f.run && !add(key, ledger::Sum(lines))) return std::nullopt;
      }
    }
    return seconds > 0 ? std::optional<double>(sum / seconds) : std::nullopt;
  }

  static void AddTo(std::optional<Saving>* total, const Saving& s) {
    if (!*total) {
      *total = s;
      return;
    }
    Saving& t = **total;
    t.share_low += s.share_low;
    t.share += s.share;
    t.share_high = std::min(1.0, t.share_high + s.share_high);
    t.low = Add(t.low, s.low);
    t.expected = Add(t.expected, s.expected);
    t.high = Add(t.high, s.high);
    if (s.kind != t.kind) t.kind = "capacity";
  }

  bool Below(const Finding& x) const {
    if (!x.saving) return false;
    if (o_.min_saving_amount && x.saving->high) return *x.saving->high < *o_.min_saving_amount;
    return x.saving->share_high < o_.min_saving_share;
  }

  /// Cases that are each too small, or whose saving cannot be told, are summed by kind and cause over runs and jobs: a
  /// thousand small leaks of one kind are one thing to fix.
  std::vector<analysis::Finding> Grouped(double total_s) {
    std::vector<analysis::Finding> listed;
    std::vector<analysis::Finding> groups;
    for (const analysis::Finding& f : a_.findings) {
      if (f.saving && !Below(Convert(f, total_s))) {
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

  void Findings() {
    const double total_s = r_.gpu_hours * 3600;
    r_.below_minimum_saving = r_.cost ? Money(0.0) : std::nullopt;
    for (const analysis::Finding& f : Grouped(total_s)) {
      Finding x = Convert(f, total_s);
      if (Below(x)) {
        r_.below_minimum_count += f.runs;
        r_.below_minimum_share += x.saving->share;
        r_.below_minimum_saving = Add(r_.below_minimum_saving, x.saving->expected);
        continue;
      }
      if (x.saving) AddTo(&r_.total_saving, *x.saving);
      r_.findings.push_back(std::move(x));
    }
  }

  Finding Convert(const analysis::Finding& f, double total_s) {
    Finding x;
    x.id = f.id;
    x.cause = f.cause;
    if (f.run >= 0) x.run = a_.runs[static_cast<size_t>(f.run)].run;
    x.runs = f.runs;
    for (const size_t k : f.cards) x.gpus.push_back(a_.cards[k].card.gpu);
    x.confidence = f.confidence;
    x.evidence_tier = f.tier;
    x.wasted_gpu_seconds = f.wasted_s;
    x.wasted_cost = CostOf(f.wasted_by);
    x.period_s = f.period_s;
    x.width_s = f.width_s;
    x.because = f.because;
    for (const auto& e : f.evidence)
      x.evidence.push_back({e.metric, e.statement, e.value, e.threshold, e.range.from, e.range.to});
    for (auto& rec : advise::Recommend(f, x.gpus, o_.lang)) {
      x.recommendations.push_back({rec.id, rec.level, rec.action, rec.key, rec.from, rec.to, rec.check_first});
    }
    double weight = total_s > 0 ? f.wasted_s / total_s : 0;
    if (f.saving && total_s > 0) {
      Saving s;
      s.share_low = f.saving->low_s / total_s;
      s.share = f.saving->expected_s / total_s;
      s.share_high = f.saving->high_s / total_s;
      s.share_alone = f.saving->alone_s / total_s;
      if (const auto rate = FindingRate(f)) {
        s.low = money::Cost(*rate, f.saving->low_s);
        s.expected = money::Cost(*rate, f.saving->expected_s);
        s.high = money::Cost(*rate, f.saving->high_s);
        s.alone = money::Cost(*rate, f.saving->alone_s);
      }
      s.kind = Contract(f) == "reserved" || Contract(f) == "own" ? "capacity" : "cash";
      weight = s.share;
      x.saving = std::move(s);
    }
    x.severity = weight >= 0.2    ? model::Severity::kHigh
                 : weight >= 0.08 ? model::Severity::kMedium
                 : weight >= 0.02 ? model::Severity::kLow
                                  : model::Severity::kInfo;
    if (f.id == model::FindingId::kHang) x.severity = model::Severity::kHigh;
    return x;
  }

  /// A saved hour of a prepaid card is capacity, not cash.
  std::string Contract(const analysis::Finding& f) const {
    if (o_.prices == nullptr || f.cards.empty()) return "";
    for (const auto& i : o_.prices->Lookup(a_.cards[f.cards.front()].card, "", a_.period)) {
      if (i.price != nullptr) return i.price->contract;
    }
    return "";
  }

  void Quality() {
    for (size_t i = 0; i < model::kOdds; ++i) {
      const auto odd = static_cast<model::Odd>(i);
      if (a_.quality.count(odd) == 0) continue;
      const model::OddInfo& info = model::Info(odd);
      r_.data_quality.push_back({info.name, info.severity, a_.quality.count(odd), a_.quality.detail(odd),
                                 o_.lang == Lang::kZh ? info.zh : info.en});
    }
    std::stable_sort(r_.data_quality.begin(), r_.data_quality.end(),
                     [](const OddRow& a, const OddRow& b) { return a.severity > b.severity; });
  }

  const Analysis& a_;
  const BuildOptions& o_;
  Rates rates_;
  Report r_;
};

}  // namespace

Result<Report> Build(const Analysis& a, const BuildOptions& o) { return Builder(a, o).Run(); }

}  // namespace sawbill::report
