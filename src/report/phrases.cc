// SPDX-License-Identifier: Apache-2.0
// The part of View that makes words: periods, names of cards, titles and verdicts.
#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/text.h"
#include "model/metrics.h"
#include "report/view.h"

namespace sawbill::report {
namespace {

constexpr double kShowSecondsBelow_s = 600;
constexpr size_t kNamedCards = 6;

/// A name as it may stand between double quotes on a command line.
std::string Shell(std::string_view name) {
  std::string out = Sanitize(name);
  std::erase_if(out, [](char c) { return c == '"' || c == '\\' || c == '$' || c == '`'; });
  return out;
}

std::string Unit(const model::MetricInfo& info) {
  const std::string_view unit = info.unit;
  if (unit == "percent" || unit == "ratio") return "%";
  if (unit == "Celsius") return "°C";
  return std::string(unit);
}

}  // namespace

std::string View::Stamp(TimeMs t) const {
  const CivilTime c = tz_.ToLocal(t);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", c.year, c.month, c.day, c.hour, c.minute, c.second);
}

std::string View::Span(TimeMs from, TimeMs to) const {
  const bool seconds = Seconds(to - from) < kShowSecondsBelow_s;
  const std::string a = Stamp(from), b = Stamp(to);
  const size_t end = seconds ? 19 : 16;
  const bool same_day = a.substr(0, 10) == b.substr(0, 10);
  return a.substr(0, end) + " – " + (same_day ? b.substr(11, end - 11) : b.substr(0, end));
}

std::string View::Clock(TimeMs t, bool seconds) const {
  const std::string s = Stamp(t);
  const size_t end = seconds || r_->duration_s() < kShowSecondsBelow_s ? 19 : 16;
  const size_t begin = tz_.LocalDay(r_->period_from) != tz_.LocalDay(r_->period_to) ? 5 : 11;
  return s.substr(begin, end - begin);
}

std::string View::Zone() const {
  const int offset_s = tz_.OffsetSeconds(r_->period_from);
  const std::string name = Sanitize(tz_.name());
  if (name == "UTC") return name;
  const int minutes = std::abs(offset_s) / 60;
  const std::string utc = fmt::format("UTC{}{:02}:{:02}", offset_s < 0 ? '-' : '+', minutes / 60, minutes % 60);
  return name.empty() || name[0] == '+' || name[0] == '-' ? utc : fmt::format("{} ({})", name, utc);
}

std::string View::Cards() const {
  std::vector<std::pair<std::string, int>> counts;
  for (const GpuRow& g : r_->gpus) {
    const std::string name = g.name.empty() ? T(Msg::kReportUnknownModel) : Sanitize(g.name);
    const auto it = std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == name; });
    if (it != counts.end()) {
      ++it->second;
    } else {
      counts.emplace_back(name, 1);
    }
  }
  std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [name, n] : counts) parts.push_back(fmt::format("{} × {}", n, name));
  return parts.empty() ? T(Msg::kReportNoCards) : Join(parts, ", ");
}

std::optional<double> View::MeasuredShare() const {
  const double all = r_->observed_s + r_->missing_s;
  if (!(all > 0) || !std::isfinite(all)) return std::nullopt;
  return r_->observed_s / all;
}

std::string View::CardName(const GpuRow& g) const {
  bool one_node = true;
  for (const GpuRow& other : r_->gpus) one_node = one_node && other.node == g.node;
  std::string name = one_node || g.node.empty() ? "GPU " + g.gpu : g.node + "/" + g.gpu;
  if (!g.tag.empty()) name += " (" + g.tag + ")";
  if (!g.label.empty()) name += " · " + g.label;
  return Sanitize(name);
}

std::string View::Runs() const {
  if (r_->runs.empty()) return "";
  if (r_->runs.size() > 1) return T(Msg::kReportRuns, r_->runs.size());
  const RunRow& run = r_->runs.front();
  std::vector<std::string> parts;
  parts.push_back(T(Msg::kReportRun, run.run.empty() ? run.program : run.run));
  if (!run.run.empty() && !run.program.empty() && run.program != run.run) parts.push_back(run.program);
  if (!run.job.empty() && run.job != run.run) parts.push_back(T(Msg::kReportJob, run.job));
  if (!run.user.empty()) parts.push_back(run.user);
  if (!run.project.empty()) parts.push_back(run.project);
  if (!run.exit_status.empty()) parts.push_back(T(Msg::kReportExit, run.exit_status));
  return Sanitize(Join(parts, " · "));
}

std::string View::Title(const Finding& f) const { return std::string(model::Title(f.id, lang())); }

std::string View::Cause(const Finding& f) const {
  return f.cause ? std::string(model::Title(*f.cause, lang())) : T(Msg::kReportCauseUnknown);
}

std::string View::Where(const Finding& f) const {
  std::vector<std::string> parts;
  if (!f.gpus.empty() && f.gpus.size() < r_->gpus.size()) {
    const size_t n = f.gpus.size();
    parts.push_back(n > kNamedCards ? T(Msg::kReportOnCardCount, n, r_->gpus.size())
                                    : T(n == 1 ? Msg::kReportOnCard : Msg::kReportOnCards, Join(f.gpus, ", ")));
  }
  if (f.runs > 1) {
    parts.push_back(T(Msg::kReportRunsOfJob, f.runs));
  } else if (!f.run.empty() && r_->runs.size() > 1) {
    parts.push_back(T(Msg::kReportRun, f.run));
  }
  return Sanitize(Join(parts, " · "));
}

std::string View::Level(const Recommendation& rec) const {
  // What has no setting to change is no configuration: looking closer, or a decision about the card.
  if (rec.level <= 1) return T(rec.key.empty() ? Msg::kReportLevel1Look : Msg::kReportLevel1);
  if (rec.level == 2) return T(rec.key.empty() ? Msg::kReportLevel2Card : Msg::kReportLevel2);
  return T(Msg::kReportLevel3);
}

std::string View::Format() const {
  // "gpu.csv (nvidia-smi csv)" has said it.
  const bool said = r_->source.find("(" + r_->format + ")") != std::string::npos;
  // "Sawbill day files in ..." says it as well, in whatever language; the id is not translated.
  const bool days = r_->format == "sawbill day files" && r_->source.find("Sawbill") != std::string::npos;
  return said || days ? "" : r_->format;
}

std::string View::Energy(const GpuRow& g) const {
  if (!g.energy_kwh || !std::isfinite(*g.energy_kwh)) return "";
  return T(g.energy_method == "counter" ? Msg::kReportEnergyCounter : Msg::kReportEnergyPower,
           FormatGrouped(*g.energy_kwh, *g.energy_kwh < 10 ? 2 : 1));
}

std::string View::Change(const Recommendation& rec) const {
  if (rec.key.empty() || rec.to.empty()) return "";
  return Sanitize(rec.from.empty() ? fmt::format("{} → {}", rec.key, rec.to)
                                   : fmt::format("{}: {} → {}", rec.key, rec.from, rec.to));
}

std::string View::Rhythm(const Finding& f) const {
  if (!f.period_s) return "";
  return f.width_s ? T(Msg::kReportShape, FormatDuration(*f.period_s, r_->lang), FormatDuration(*f.width_s, r_->lang))
                   : T(Msg::kReportPeriod, FormatDuration(*f.period_s, r_->lang));
}

std::string View::Tier(const Finding& f) const {
  if (f.evidence_tier == "steps") return T(Msg::kReportTierSteps);
  return T(f.evidence_tier == "host" ? Msg::kReportTierHost : Msg::kReportTierNvml);
}

std::string View::Facts(const Finding& f) const {
  const std::string confidence = Percent(f.confidence, 0), severity = Severity(f.severity);
  if (!f.cause) return T(Msg::kReportFactsNoCause, model::Name(f.id), confidence, severity);
  return T(Msg::kReportFacts, model::Name(f.id), model::Name(*f.cause), confidence, severity);
}

std::string View::Severity(model::Severity s) const {
  constexpr Msg kNames[] = {Msg::kReportSeverityInfo, Msg::kReportSeverityLow, Msg::kReportSeverityMedium,
                            Msg::kReportSeverityHigh};
  return T(kNames[static_cast<size_t>(s)]);
}

std::string View::EvidenceFigures(const Evidence& e) const {
  std::vector<std::string> parts;
  const auto figure = [](double v) { return FormatShortest(std::round(v * 1000) / 1000); };
  if (e.value && std::isfinite(*e.value)) {
    std::string s = e.metric.empty() ? figure(*e.value) : e.metric + " " + figure(*e.value);
    if (e.threshold && std::isfinite(*e.threshold)) s += T(Msg::kReportThreshold, figure(*e.threshold));
    parts.push_back(s);
  }
  const bool seconds = Seconds(e.to - e.from) < kShowSecondsBelow_s;
  if (e.to > e.from) parts.push_back(Clock(e.from, seconds) + " – " + Clock(e.to, seconds));
  return Sanitize(Join(parts, T(Msg::kReportComma)));
}

std::string View::By() const {
  constexpr std::pair<std::string_view, Msg> kNames[] = {
      {"run", Msg::kReportByRun},         {"user", Msg::kReportByUser},   {"job", Msg::kReportByJob},
      {"project", Msg::kReportByProject}, {"label", Msg::kReportByLabel}, {"gpu", Msg::kReportByGpu},
      {"node", Msg::kReportByNode},       {"day", Msg::kReportByDay},     {"month", Msg::kReportByMonth}};
  for (const auto& [key, id] : kNames) {
    if (key == r_->by) return T(id);
  }
  return Sanitize(r_->by);
}

StatCells View::Stats(const MetricStats& s) const {
  const std::optional<model::GpuMetric> id = model::FindGpuMetric(s.metric);
  std::string label = Sanitize(s.metric), unit;
  double scale = 1;
  int decimals = 0;
  if (id) {
    const model::MetricInfo& info = model::Info(*id);
    label = lang() == Lang::kZh ? info.label_zh : info.label_en;
    unit = Unit(info);
    if (std::string_view(info.unit) == "ratio") scale = 100;
  } else {
    decimals = 2;
  }
  const auto cell = [&](double v) {
    if (!std::isfinite(v)) return std::string("—");
    const std::string number = FormatGrouped(v * scale, decimals);
    if (unit.empty()) return number;
    return unit == "%" && lang() == Lang::kZh ? number + unit : number + " " + unit;
  };
  const std::string low = s.low_share ? Percent(*s.low_share, 0) : "";
  return {label, cell(s.mean), cell(s.median), cell(s.p95), low};
}

std::vector<std::string> View::Verdict() const {
  if (!r_->findings.empty()) return {};
  std::vector<std::string> lines;
  for (const std::string& s : r_->cannot_judge) lines.push_back(Sanitize(s));
  if (!lines.empty() && !NoVerdict()) lines.push_back(T(Msg::kReportNothingElse));
  if (lines.empty())
    lines.push_back(T(r_->below_minimum_count > 0 ? Msg::kReportNothingAboveMinimum : Msg::kReportNothingFound));
  return lines;
}

bool View::NoVerdict() const {
  if (!r_->findings.empty() || r_->cannot_judge.empty()) return false;
  // One sentence about the part that was not judged leaves a verdict on the rest, where that is most of it.
  return r_->cannot_judge.size() > 1 || r_->unjudged_share <= 0 || r_->unjudged_share >= 0.5;
}

std::string View::BelowMinimum() const {
  if (r_->below_minimum_count <= 0) return "";
  const std::string sum = priced_ && !r_->below_minimum_saving
                              ? Percent(r_->below_minimum_share)
                              : Amount(r_->below_minimum_saving, r_->below_minimum_share) + " " + unit_;
  return T(r_->below_minimum_count == 1 ? Msg::kReportBelowMinimumOne : Msg::kReportBelowMinimum,
           r_->below_minimum_count, sum);
}

std::string View::UpperBoundAmount() const {
  if (priced_) return r_->waste_upper_bound ? Amount(r_->waste_upper_bound, 0) : "";
  const std::optional<double> measured = MeasuredShare();  // time that nobody measured is no waste
  return r_->sm_util_mean && measured ? Amount(std::nullopt, *measured * (1 - *r_->sm_util_mean)) : "";
}

std::string View::UpperBound() const {
  if (UpperBoundAmount().empty()) return "";
  const std::string mean = r_->sm_util_mean ? Percent(*r_->sm_util_mean) : "?";
  return T(priced_ ? Msg::kReportUpperBoundHow : Msg::kReportUpperBoundHowHours, mean);
}

std::string View::NoUtil(const GpuRow& g) const {
  if (g.samples == 1 && g.measured_hours <= 0) return T(Msg::kReportOneSample);
  if (!g.util_read || g.measured_hours > 0) return T(g.samples > 0 ? Msg::kReportNoUtil : Msg::kReportNoSample);
  return T(Msg::kReportNoTimeCovered);
}

/// The time of a card is that of its node: a card that was away is paid for, and so is one at which nobody looked.
std::vector<std::string> View::SeenInPart() const {
  constexpr size_t kMostNamed = 3;
  constexpr double kLeastUnseenS = 60, kLeastUnseenShare = 0.05;
  std::vector<std::string> lines;
  size_t more = 0;
  for (const GpuRow& g : r_->gpus) {
    const double unseen_s = g.hours * 3600 - Seconds(g.seen_to - g.seen_from);
    if (r_->filtered || g.samples == 0 || unseen_s < std::max(kLeastUnseenS, kLeastUnseenShare * g.hours * 3600))
      continue;
    if (lines.size() == kMostNamed) {
      ++more;
    } else if (g.samples == 1) {
      lines.push_back(T(Msg::kReportSeenOnce, CardName(g), Stamp(g.seen_from), Hours(g.hours)));
    } else {
      lines.push_back(T(Msg::kReportSeenPart, CardName(g), Span(g.seen_from, g.seen_to), Hours(g.hours)));
    }
  }
  if (more > 0) lines.push_back(T(Msg::kReportSeenPartMore, more));
  if (!lines.empty()) lines.push_back(T(Msg::kReportSeenHow));
  return lines;
}

std::vector<std::string> View::BesideTotal() const {
  std::vector<std::string> lines = SeenInPart();
  for (std::string& line : WithoutPrice()) lines.push_back(std::move(line));
  for (const std::string& note : r_->price_notes) lines.push_back(note);
  return lines;
}

std::vector<std::string> View::WithoutPrice() const {
  if (r_->unpriced_cards.empty() && priced_) return {};
  const bool instances =
      !r_->unpriced_cards.empty() && std::all_of(r_->unpriced_cards.begin(), r_->unpriced_cards.end(),
                                                 [](const UnpricedCard& c) { return c.lacks_share; });
  if (priced_ || instances) return NotInTotal();
  // Only a model's name can be given a price; "gpu 0" of a log without names cannot.
  std::string model;
  for (const UnpricedCard& c : r_->unpriced_cards) {
    if (model.empty()) model = Shell(c.name);
  }
  const bool some = r_->unpriced_cards.size() < r_->gpus.size();
  std::vector<std::string> names;
  for (const std::string& name : r_->unpriced) names.push_back(Sanitize(name));
  const std::string list = Join(names, T(Msg::kReportComma));
  return {some && !list.empty() ? T(Msg::kReportNoPriceFor, list) : T(Msg::kReportNoPrice),
          model.empty() ? T(Msg::kReportHowToPriceAny) : T(Msg::kReportHowToPrice, model)};
}

/// Some cards have a price and others none: named one by one, with a selector that leaves the priced ones alone.
std::vector<std::string> View::NotInTotal() const {
  std::vector<std::string> cards, instances, flags;
  for (const UnpricedCard& c : r_->unpriced_cards) {
    const std::string label = Sanitize(c.name.empty() ? c.label : c.label + " (" + c.name + ")");
    (c.lacks_share ? instances : cards).push_back(T(Msg::kReportCardAndHours, label, Hours(c.hours)));
    const std::string flag = "--price \"" + Shell(c.selector) + "=10\"";
    if (!c.lacks_share && std::find(flags.begin(), flags.end(), flag) == flags.end()) flags.push_back(flag);
  }
  std::vector<std::string> lines;
  const std::string_view semicolon = Text(lang(), Msg::kReportAlso);
  if (!cards.empty()) {
    lines.push_back(T(Msg::kReportNotInTotal, Join(cards, semicolon)));
    lines.push_back(T(Msg::kReportHowToPriceOne, Join(flags, " ")));
  }
  if (!instances.empty()) lines.push_back(T(Msg::kReportLacksShare, Join(instances, semicolon)));
  return lines;
}

std::vector<std::string> View::DataQuality() const {
  std::vector<const OddRow*> rows;
  for (const OddRow& row : r_->data_quality) {
    if (row.count > 0) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const OddRow* a, const OddRow* b) {
    return a->severity != b->severity ? a->severity > b->severity : a->count > b->count;
  });
  std::vector<std::string> lines;
  for (const OddRow* row : rows) {
    const std::string& what = row->text.empty() ? row->counter : row->text;
    std::string line = T(Msg::kReportOdd, FormatGrouped(static_cast<double>(row->count), 0), what);
    if (!row->detail.empty()) line += T(Msg::kReportOddFirst, row->detail);
    lines.push_back(Sanitize(line));
  }
  return lines;
}

}  // namespace sawbill::report
