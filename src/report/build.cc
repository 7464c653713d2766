// SPDX-License-Identifier: Apache-2.0
#include "report/build.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/numbers.h"
#include "base/text.h"
#include "ledger/apportion.h"
#include "report/build_findings.h"
#include "report/price_notes.h"

namespace sawbill::report {
namespace {

using analysis::AccountKey;
using analysis::Analysis;
using model::Index;
using model::Line;

constexpr TimeMs kDayMs = 86400000;
constexpr double kWorthSaying = 0.10;  // of the card time without a verdict

class Builder {
 public:
  Builder(const Analysis& a, const BuildOptions& o) : a_(a), o_(o), rates_(a, o.tz, o.prices), labels_(Infos(a)) {}

  Result<Report> Run() {
    SAWBILL_RETURN_IF_ERROR(CheckCurrency());
    Head();
    Cards();
    for (const auto& run : a_.runs) AddRun(run);
    Ledger();
    SAWBILL_RETURN_IF_ERROR(Groups());
    BuildFindings(a_, o_, labels_, &rates_, &r_);
    Unjudged();
    Quality();
    return std::move(r_);
  }

 private:
  static std::vector<model::CardInfo> Infos(const Analysis& a) {
    std::vector<model::CardInfo> out;
    for (const auto& c : a.cards) out.push_back(c.card);
    return out;
  }

  Status CheckCurrency() const {
    if (o_.prices == nullptr) return Status::Ok();
    std::set<std::string> named;
    for (const auto& p : o_.prices->prices()) {
      if (!p.currency.empty()) named.insert(p.currency);
    }
    if (named.empty() || named == std::set<std::string>{o_.currency}) return Status::Ok();
    if (named.size() == 1) return Status::Invalid(Tr(o_.lang, Msg::kReportOtherCurrency, *named.begin(), o_.currency));
    const std::vector<std::string> all(named.begin(), named.end());
    return Status::Invalid(Tr(o_.lang, Msg::kReportCurrencies, Join(all, ", ")));
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
    r_.filtered = a_.filtered;
    r_.cannot_judge = a_.cannot_judge;
    r_.limits = a_.notes;
    for (const std::string& l : a_.limits) r_.limits.push_back(l);
    r_.price_notes = PriceNotes(a_, rates_, o_.currency, o_.lang);
  }

  /// Cost of the seconds that have a price; nothing where there are seconds and none has one.
  Money CostOf(const std::map<AccountKey, double>& seconds) { return PricedCost(seconds, &rates_).cost; }

  void Cards() {
    double weighted_util = 0, util_weight = 0, bound = 0;
    std::vector<char> priced(a_.cards.size(), 0);
    std::vector<double> unpriced_s(a_.cards.size(), 0);
    for (size_t k = 0; k < a_.cards.size(); ++k) {
      const analysis::CardFacts& c = a_.cards[k];
      std::map<AccountKey, double> seconds;
      for (const auto& [key, lines] : a_.account) {
        if (key.card == k) seconds[key] = ledger::Sum(lines);
      }
      const Priced p = PricedCost(seconds, &rates_);
      unpriced_s[k] = p.unpriced_s;
      priced[k] = p.unpriced_s <= 0 ? 1 : 0;
      // A card of other jobs, or one that only its MIG instances stood for, is not in this report.
      if (c.period_s <= 0 && (a_.filtered || c.split)) continue;
      GpuRow g = Card(k);
      if (p.priced_s > 0 || p.unpriced_s > 0 || HasPrice(k)) g.cost = p.cost;
      for (const auto& [metric, d] : c.stats) {
        if (metric != model::GpuMetric::kSmUtil) continue;
        weighted_util += d.sum;
        util_weight += d.weight_s;
        // Only measured time can be judged: the bound is over the hours that were seen.
        if (p.priced_s <= 0 || c.period_s <= 0) continue;
        const double per_hour = *p.cost / (p.priced_s / 3600), part = p.priced_s / c.period_s;
        bound += money::WasteUpperBound(per_hour, part * d.weight_s / 3600, d.Mean() / 100);
      }
      r_.observed_s += c.covered_s;
      r_.missing_s += std::max(0.0, c.period_s - c.covered_s);
      r_.gpu_hours += g.hours;
      if (g.cost) r_.cost = r_.cost.value_or(0) + *g.cost;
      r_.gpus.push_back(std::move(g));
    }
    if (util_weight > 0) r_.sm_util_mean = weighted_util / util_weight / 100;
    if (r_.cost && util_weight > 0) r_.waste_upper_bound = bound;
    const std::vector<model::CardInfo> infos = Infos(a_);
    for (size_t k = 0; k < infos.size(); ++k) {
      if (unpriced_s[k] > 0) Unpriced(k, unpriced_s[k], money::SelectorFor(k, infos, priced));
    }
  }

  /// Of a card that covers no time, nothing is to be paid where a price is known; without one there is no amount.
  bool HasPrice(size_t k) const {
    model::TimeRange range = a_.period;
    range.to = std::max(range.to, range.from + 1);
    const auto spans = rates_.Spans(k, "", range);
    return std::any_of(spans.begin(), spans.end(), [](const Rates::Span& s) { return s.rate.has_value(); });
  }

  GpuRow Card(size_t k) const {
    const analysis::CardFacts& c = a_.cards[k];
    GpuRow g;
    g.node = c.card.node;
    g.gpu = c.card.gpu;
    g.uuid = c.card.uuid;
    g.name = c.card.name;
    g.label = c.card.label;
    g.tag = labels_.Tag(k);
    g.hours = c.period_s / 3600;
    g.measured_hours = c.covered_s / 3600;
    g.samples = c.samples;
    g.seen_from = c.seen.from;
    g.seen_to = c.seen.to;
    g.util_read = c.util_read;
    g.wave = c.wave;
    g.wave_low = c.wave_low;
    for (const Rates::Span& s : rates_.Spans(k, "", a_.period)) {
      if (!s.rate) continue;
      const money::Price& p = *s.price;
      g.prices.push_back({s.range.from, s.range.to, s.rate->per_hour, p.contract, p.source, p.as_of});
    }
    Stats(c, &g);
    if (c.energy_s > 0) {
      g.energy_kwh = c.energy_j / 3.6e6;
      g.energy_method = c.energy_counted ? "counter" : "integrated";
    }
    return g;
  }

  void Unpriced(size_t k, double seconds, const std::string& selector) {
    const model::CardInfo& c = a_.cards[k].card;
    r_.unpriced_cards.push_back(
        {labels_.Label(k), c.node, c.gpu, c.uuid, c.name, seconds / 3600, rates_.LacksShare(k), selector});
    const std::string name = c.name.empty() ? "gpu " + c.gpu : c.name;
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
    row.project = run.project;
    row.exit_status = run.exit_status;
    for (const size_t k : run.cards)
      row.gpus.push_back(a_.cards[k].card.gpu + (labels_.Tag(k).empty() ? "" : " (" + labels_.Tag(k) + ")"));
    row.from = run.range.from;
    row.to = run.range.to;
    std::map<AccountKey, double> seconds;
    for (const auto& [key, lines] : a_.account) {
      if (key.run >= 0 && &a_.runs[static_cast<size_t>(key.run)] == &run) seconds[key] = ledger::Sum(lines);
    }
    if (r_.cost || !seconds.empty()) row.cost = CostOf(seconds);
    r_.runs.push_back(std::move(row));
  }

  void Ledger() {
    const model::LineSeconds lines = a_.Lines();
    const double total = ledger::Sum(lines);
    std::array<double, model::kLines> cost{};
    for (const auto& [key, l] : a_.account) {
      const auto& rate = rates_.Of(key);
      for (size_t i = 0; rate && i < model::kLines; ++i) cost[i] += money::Cost(rate->per_hour, l[i]);
    }
    for (size_t i = 0; i < model::kLines; ++i) {
      LedgerRow row;
      row.line = static_cast<Line>(i);
      row.gpu_seconds = lines[i];
      row.share = total > 0 ? lines[i] / total : 0;
      if (r_.cost) row.cost = cost[i];
      r_.ledger.push_back(row);
    }
    if (total > 0) r_.unjudged_share = (lines[Index(Line::kUnmeasured)] + lines[Index(Line::kUnexplained)]) / total;
  }

  std::optional<std::string> GroupKey(const AccountKey& key) const {
    const auto& card = a_.cards[key.card].card;
    const analysis::RunFacts* run = key.run >= 0 ? &a_.runs[static_cast<size_t>(key.run)] : nullptr;
    const CivilTime day = CivilFromUtc(static_cast<TimeMs>(key.day) * kDayMs);
    const auto or_dash = [](const std::string& s) { return s.empty() ? std::string("-") : s; };
    if (o_.by == "gpu") {
      const std::string& tag = labels_.Tag(key.card);
      return (card.node.empty() ? "" : card.node + "/") + "gpu" + card.gpu + (tag.empty() ? "" : " (" + tag + ")");
    }
    if (o_.by == "node") return or_dash(card.node);
    if (o_.by == "label") return or_dash(card.label);
    if (o_.by == "run") return run != nullptr ? run->run + (run->job.empty() ? "" : " " + run->job) : "-";
    if (o_.by == "user") return run != nullptr ? or_dash(run->user) : "-";
    if (o_.by == "job") return run != nullptr ? or_dash(run->job) : "-";
    if (o_.by == "project") return run != nullptr ? or_dash(run->project) : "-";
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
      if (fresh) g.key = *name;
      g.gpu_hours += ledger::Sum(lines) / 3600;
      for (size_t i = 0; i < model::kLines; ++i) g.lines[i] += lines[i];
      const auto& rate = rates_.Of(key);
      if (!rate) continue;
      g.cost = g.cost.value_or(0) + money::Cost(rate->per_hour, ledger::Sum(lines));
      g.line_costs.resize(model::kLines, Money(0.0));
      for (size_t i = 0; i < model::kLines; ++i) *g.line_costs[i] += money::Cost(rate->per_hour, lines[i]);
      if (!g.saving) g.saving = 0;
    }
    for (auto& [name, g] : groups) {
      if (g.line_costs.empty() && r_.cost) g.line_costs.resize(model::kLines);
    }
    for (const analysis::Finding& f : a_.findings) {
      if (!f.saving || f.wasted_s <= 0) continue;
      for (const auto& [key, s] : f.wasted_by) {
        const auto name = GroupKey(key);
        const auto& rate = rates_.Of(key);
        if (!name || !rate) continue;
        GroupRow& g = groups[*name];
        g.saving = g.saving.value_or(0) + money::Cost(rate->per_hour, s / f.wasted_s * f.saving->expected_s);
      }
    }
    for (auto& [name, g] : groups) r_.groups.push_back(std::move(g));
    if (o_.by != "day" && o_.by != "month") {
      std::stable_sort(r_.groups.begin(), r_.groups.end(),
                       [](const GroupRow& x, const GroupRow& y) { return x.gpu_hours > y.gpu_hours; });
    }
    return Status::Ok();
  }

  /// Time without a verdict is said to be that: "nothing was found" would be a verdict on it.
  void Unjudged() {
    const model::LineSeconds lines = a_.Lines();
    const double total = ledger::Sum(lines);
    if (total <= 0 || r_.unjudged_share < kWorthSaying) return;
    const auto percent = [](double share) { return FormatFixed(100 * share, share < 0.1 ? 1 : 0); };
    const double unmeasured = lines[Index(Line::kUnmeasured)] / total;
    std::vector<std::string> why;
    if (unmeasured >= 0.02) why.push_back(Tr(o_.lang, Msg::kReportUnjudgedUnmeasured, percent(unmeasured)));
    for (const auto& [share, reason] : Unexplained(total)) {
      if (share >= 0.02) why.push_back(Tr(o_.lang, Msg::kReportUnjudgedUnexplained, percent(share), reason));
    }
    const std::string text =
        Tr(o_.lang, Msg::kReportUnjudged, percent(r_.unjudged_share), Join(why, Text(o_.lang, Msg::kReportAlso)));
    if (r_.findings.empty()) {
      r_.cannot_judge.push_back(text);
    } else {
      r_.limits.insert(r_.limits.begin(), text);
    }
  }

  static bool HasStats(const analysis::CardFacts& c, model::GpuMetric m) {
    return std::any_of(c.stats.begin(), c.stats.end(), [m](const auto& s) { return s.first == m; });
  }

  /// Shares of the time that are unexplained, each with what was not recorded that would have told more. Cards without
  /// utilisation (MIG parents) have that reason, whatever else is missing.
  std::vector<std::pair<double, std::string>> Unexplained(double total) const {
    double with = 0, without = 0;
    std::vector<std::string> blind;
    for (size_t k = 0; k < a_.cards.size(); ++k) {
      double s = 0;
      for (const auto& [key, lines] : a_.account) s += key.card == k ? lines[Index(Line::kUnexplained)] : 0;
      const bool util = HasStats(a_.cards[k], model::GpuMetric::kSmUtil);
      (util ? with : without) += s;
      if (!util && s > 0) blind.push_back(labels_.Label(k));
    }
    const bool some = std::any_of(a_.cards.begin(), a_.cards.end(),
                                  [](const auto& c) { return HasStats(c, model::GpuMetric::kSmUtil); });
    constexpr size_t kMostNamed = 4;
    const std::string of_cards =
        blind.size() > kMostNamed
            ? Tr(o_.lang, Msg::kReportBlindUtilMany, blind.size(), a_.cards.size())
            : Tr(o_.lang, Msg::kReportBlindUtilOf, Join(blind, Text(o_.lang, Msg::kReportListComma)));
    return {{without / total, some ? of_cards : std::string(Text(o_.lang, Msg::kReportBlindUtil))},
            {with / total, std::string(Text(o_.lang, Blind()))}};
  }

  /// What was not recorded of cards with utilisation that would have told more.
  Msg Blind() const {
    const bool memory = std::any_of(a_.cards.begin(), a_.cards.end(),
                                    [](const auto& c) { return HasStats(c, model::GpuMetric::kMemUsedMb); });
    const bool processes = std::any_of(a_.runs.begin(), a_.runs.end(), [](const auto& r) { return !r.assumed; });
    if (!memory && !processes) return Msg::kReportBlindMemory;
    return processes ? Msg::kReportBlindNothing : Msg::kReportBlindProcesses;
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
  CardLabels labels_;
  Report r_;
};

}  // namespace

Result<Report> Build(const Analysis& a, const BuildOptions& o) { return Builder(a, o).Run(); }

}  // namespace sawbill::report
