// SPDX-License-Identifier: Apache-2.0
// "sawbill.report/1". Keys stand in the order of the contract, what came later behind them. A figure that is not known
// is null; a period or width that is not known, and a cause that cannot be told, are left out. NaN is never written.
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "report/render.h"
#include "report/rounding.h"

namespace sawbill::report {
namespace {

using Json = nlohmann::ordered_json;

Json Number(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }
Json Number(const std::optional<double>& v) { return v ? Number(*v) : Json(nullptr); }
/// Six decimals, as contracts.md has it for money; seconds and shares are not more exact than that either.
Json Rounded(double v) {
  const double rounded = std::nearbyint(v * 1e6) / 1e6;
  return Number(std::fabs(v) < 1e9 ? (rounded == 0 ? 0.0 : rounded) : v);
}
Json Rounded(const std::optional<double>& v) { return v ? Rounded(*v) : Json(nullptr); }
Json Time(TimeMs t) { return t == 0 ? Json(nullptr) : Json(FormatRfc3339(t)); }

Json Stats(const std::vector<MetricStats>& stats) {
  Json out = Json::object();
  for (const MetricStats& s : stats) {
    Json row = {{"mean", Rounded(s.mean)}, {"median", Rounded(s.median)}, {"p95", Rounded(s.p95)}};
    if (s.low_share) row["low_share"] = Rounded(s.low_share);
    out[s.metric] = std::move(row);
  }
  return out;
}

Json Gpu(const GpuRow& g) {
  Json prices = Json::array();
  for (const PriceSpan& p : g.prices) {
    prices.push_back({{"from", Time(p.from)},
                      {"to", Time(p.to)},
                      {"price_per_hour", Rounded(p.price_per_hour)},
                      {"contract", p.contract},
                      {"source", p.source}});
    if (!p.as_of.empty()) prices.back()["as_of"] = p.as_of;
  }
  Json idle = {{"share", Rounded(g.idle.share)}, {"pattern", g.idle.pattern}};
  if (g.idle.period_s) idle["period_s"] = Rounded(g.idle.period_s);
  if (g.idle.longest_s) idle["longest_s"] = Rounded(g.idle.longest_s);
  return {{"node", g.node},
          {"gpu", g.gpu},
          {"uuid", g.uuid},
          {"name", g.name},
          {"label", g.label},
          {"hours", Rounded(g.hours)},
          {"cost", Rounded(g.cost)},
          {"prices", std::move(prices)},
          {"idle", std::move(idle)},
          {"stats", Stats(g.stats)},
          {"measured_hours", Rounded(g.measured_hours)},
          {"energy_kwh", Rounded(g.energy_kwh)},
          {"energy_method", g.energy_method}};
}

Json Run(const RunRow& r) {
  return {{"run", r.run},
          {"job", r.job},
          {"user", r.user},
          {"project", r.project},
          {"program", r.program},
          {"node", r.node},
          {"gpus", r.gpus},
          {"from", Time(r.from)},
          {"to", Time(r.to)},
          {"duration_s", Rounded(r.duration_s())},
          {"cost", Rounded(r.cost)},
          {"exit_status", r.exit_status}};
}

Json SavingJson(const std::optional<Saving>& s) {
  if (!s) return nullptr;
  return {{"low", Rounded(s->low)},
          {"expected", Rounded(s->expected)},
          {"high", Rounded(s->high)},
          {"share", Rounded(s->share)},
          {"alone", Rounded(s->alone)},
          {"kind", s->kind},
          {"share_low", Rounded(s->share_low)},
          {"share_high", Rounded(s->share_high)},
          {"share_alone", Rounded(s->share_alone)},
          {"capacity_share", Rounded(s->capacity_share)},
          {"speedup", s->speedup},
          {"counted_above", s->counted_above}};
}

Json FindingJson(const Finding& f) {
  Json out = {{"id", model::Name(f.id)}};
  if (f.cause) out["cause"] = model::Name(*f.cause);
  out["run"] = f.run;
  out["gpus"] = f.gpus;
  out["confidence"] = Rounded(f.confidence);
  out["severity"] = model::Name(f.severity);
  out["evidence_tier"] = f.evidence_tier;
  out["wasted"] = {{"gpu_seconds", Rounded(f.wasted_gpu_seconds)}, {"cost", Rounded(f.wasted_cost)}};
  out["saving"] = SavingJson(f.saving);
  if (f.period_s && std::isfinite(*f.period_s)) out["period_s"] = Rounded(f.period_s);
  if (f.width_s && std::isfinite(*f.width_s)) out["width_s"] = Rounded(f.width_s);
  out["evidence"] = Json::array();
  for (const Evidence& e : f.evidence) {
    out["evidence"].push_back({{"metric", e.metric},
                               {"statement", e.statement},
                               {"value", Number(e.value)},
                               {"threshold", Number(e.threshold)},
                               {"from", Time(e.from)},
                               {"to", Time(e.to)}});
  }
  out["because"] = f.because;
  out["recommendations"] = Json::array();
  for (const Recommendation& rec : f.recommendations) {
    out["recommendations"].push_back({{"id", rec.id},
                                      {"level", rec.level},
                                      {"action", rec.action},
                                      {"key", rec.key},
                                      {"from", rec.from},
                                      {"to", rec.to},
                                      {"check_first", rec.check_first}});
  }
  out["runs"] = f.runs;
  return out;
}

Json Bill(const Report& r) {
  Json ledger = Json::array();
  std::vector<double> costs;
  for (const LedgerRow& row : r.ledger) costs.push_back(row.cost.value_or(kMissing));
  // Rounded as in the CSV, so that the column adds up to the bill to the last digit.
  const auto units = RoundUnits(costs, 6, r.cost);
  for (size_t i = 0; i < r.ledger.size(); ++i) {
    const LedgerRow& row = r.ledger[i];
    ledger.push_back({{"line", model::Name(row.line)},
                      {"gpu_seconds", Rounded(row.gpu_seconds)},
                      {"cost", units[i] ? Json(static_cast<double>(*units[i]) / 1e6) : Json(nullptr)},
                      {"share", Rounded(row.share)}});
  }
  return {{"gpu_hours", Rounded(r.gpu_hours)},
          {"cost", Rounded(r.cost)},
          {"waste_upper_bound", Rounded(r.waste_upper_bound)},
          {"ledger", std::move(ledger)},
          {"sm_util_mean", Rounded(r.sm_util_mean)}};
}

Json Groups(const Report& r) {
  Json out = Json::array();
  for (const GroupRow& g : r.groups) {
    Json lines = Json::object(), costs = Json::object();
    for (size_t i = 0; i < g.line_costs.size(); ++i) {
      costs[model::Name(static_cast<model::Line>(i))] = Rounded(g.line_costs[i]);
    }
    for (size_t i = 0; i < model::kLines; ++i) lines[model::Name(static_cast<model::Line>(i))] = Rounded(g.lines[i]);
    out.push_back({{"key", g.key},
                   {"gpu_hours", Rounded(g.gpu_hours)},
                   {"cost", Rounded(g.cost)},
                   {"saving", Rounded(g.saving)},
                   {"gpu_seconds", std::move(lines)},
                   {"costs", std::move(costs)}});
  }
  return out;
}

template <typename Rows, typename Make>
Json List(const Rows& rows, Make make) {
  Json out = Json::array();
  for (const auto& row : rows) out.push_back(make(row));
  return out;
}

Json Odd(const OddRow& o) {
  return {{"counter", o.counter},
          {"severity", model::Name(o.severity)},
          {"count", o.count},
          {"detail", o.detail},
          {"text", o.text}};
}

}  // namespace

std::string RenderJson(const Report& r) {
  Json out = {{"schema", "sawbill.report/1"},
              {"generated", FormatRfc3339(r.generated)},
              {"currency", r.currency},
              {"lang", LangCode(r.lang)}};
  // Of the period's own seconds, in the proportion of measured and unmeasured card time.
  const double card_s = r.observed_s + r.missing_s;
  const double observed = card_s > 0 ? r.duration_s() * r.observed_s / card_s : 0;
  out["period"] = {{"from", Time(r.period_from)},
                   {"to", Time(r.period_to)},
                   {"duration_s", Rounded(r.duration_s())},
                   {"observed_s", Rounded(observed)},
                   {"missing_s", Rounded(r.duration_s() - observed)}};
  out["gpus"] = List(r.gpus, Gpu);
  out["runs"] = List(r.runs, Run);
  out["bill"] = Bill(r);
  out["findings"] = List(r.findings, FindingJson);
  out["below_minimum"] = {{"count", r.below_minimum_count},
                          {"saving", Rounded(r.below_minimum_saving)},
                          {"share", Rounded(r.below_minimum_share)}};
  out["data_quality"] = List(r.data_quality, Odd);
  out["source"] = r.source;
  out["format"] = r.format;
  out["simulated"] = r.simulated;
  out["tz"] = r.tz;
  out["notes"] = r.limits;
  out["cannot_judge"] = r.cannot_judge;
  out["unpriced"] = r.unpriced;
  out["total_saving"] = SavingJson(r.total_saving);
  out["by"] = r.by;
  out["groups"] = Groups(r);
  out["unpriced_cards"] = List(r.unpriced_cards, [](const UnpricedCard& c) {
    return Json{{"node", c.node},
                {"gpu", c.gpu},
                {"uuid", c.uuid},
                {"name", c.name},
                {"hours", Rounded(c.hours)},
                {"lacks_share", c.lacks_share},
                {"selector", c.selector}};
  });
  out["unjudged_share"] = Rounded(r.unjudged_share);
  out["filtered"] = r.filtered;
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sawbill::report
