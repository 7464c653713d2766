// SPDX-License-Identifier: Apache-2.0
// GitHub-flavoured Markdown, for pull requests, tickets and wikis. Everything that comes from outside is escaped.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/render.h"
#include "report/sparkline.h"
#include "report/view.h"

namespace sawbill::report {
namespace {

constexpr size_t kMostCards = 32;
constexpr int kWaveWidth = 48;

bool IsWord(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Text in a paragraph or a table cell. An underscore within a word ("num_workers") starts no emphasis and stays
/// readable.
std::string Md(std::string_view raw) {
  const std::string s = Sanitize(raw);
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    const bool inside_word = i > 0 && i + 1 < s.size() && IsWord(s[i - 1]) && IsWord(s[i + 1]);
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (std::string_view("\\`*[]|~$").find(c) != std::string_view::npos || (c == '_' && !inside_word)) out += '\\';
      out += c;
    }
  }
  return out;
}

void Cells(std::string* out, const std::vector<std::string>& cells) { *out += "| " + Join(cells, " | ") + " |\n"; }

void Head(std::string* out, const std::vector<std::string>& titles) {
  Cells(out, titles);
  for (size_t i = 0; i < titles.size(); ++i) *out += i == 0 ? "| :-- " : "| --: ";
  *out += "|\n";
}

void Heading(std::string* out, const std::string& title) {
  *out += (EndsWith(*out, "\n\n") ? "## " : "\n## ") + Md(title) + "\n\n";
}

void MoneyTable(std::string* out, const View& v) {
  Head(out, {v.T(v.priced() ? Msg::kReportTotalCost : Msg::kReportTotalHours),
             fmt::format("{} {}", v.Total(), Md(v.unit())), ""});
  for (const PartCell& part : v.parts()) Cells(out, {Md(part.title), part.amount, part.percent});
  const SavingView s = v.TotalSaving();
  if (s.known) {
    const std::string range = s.range.empty() ? "" : " (" + s.range + ")";
    Cells(out,
          {"**" + v.T(Msg::kReportCouldBeSaved) + "**", "**" + s.amount + " " + Md(s.unit) + "**" + range, s.share});
  } else if (!v.r().findings.empty()) {
    Cells(out, {v.T(Msg::kReportCouldBeSaved), s.amount, ""});
  }
  *out += "\n";
  for (const std::string& note : s.notes) *out += Md(note) + "\n\n";
  for (const std::string& line : v.BesideTotal()) *out += Md(line) + "  \n";
}

void OneFinding(std::string* out, const View& v, size_t i) {
  const Finding& f = v.r().findings[i];
  const SavingView s = v.Saving(i);
  *out += fmt::format("### {}. {}: {}{}\n\n", i + 1, Md(v.Title(f)), s.amount, s.unit.empty() ? "" : " " + Md(s.unit));
  std::string line = Md(v.Cause(f));
  const std::string where = v.Where(f);
  if (!where.empty()) line += " · " + Md(where);
  if (!s.range.empty()) line += " · " + s.range + " " + Md(s.unit);
  if (s.known) line += " · " + s.share;
  *out += line + "\n\n" + Md(v.Facts(f)) + " · " + Md(v.T(Msg::kReportBasis, v.Tier(f))) + "\n\n";
  for (const std::string& note : v.NotesOf(i)) *out += Md(note) + "\n\n";
  if (f.wasted_gpu_seconds > 0) *out += Md(v.T(Msg::kReportWasted, v.Wasted(f))) + "\n\n";
  if (const std::string rhythm = v.Rhythm(f); !rhythm.empty()) *out += Md(rhythm) + "\n\n";
  if (!f.evidence.empty()) *out += "**" + v.T(Msg::kReportEvidence) + "**\n\n";
  for (const Evidence& e : f.evidence) {
    const std::string figures = v.EvidenceFigures(e);
    *out += "- " + Md(figures.empty() ? e.statement : e.statement + v.T(Msg::kReportFigures, figures)) + "\n";
  }
  if (!f.because.empty()) {
    *out += "\n**" + v.T(Msg::kReportBecause) + "**\n\n";
    for (size_t k = 0; k < f.because.size(); ++k) *out += fmt::format("{}. {}\n", k + 1, Md(f.because[k]));
  }
  if (!f.recommendations.empty()) *out += "\n**" + v.T(Msg::kReportActions) + "**\n\n";
  for (const Recommendation& rec : f.recommendations) {
    const std::string change = v.Change(rec);
    *out += "- " + Md(change.empty() ? rec.action : rec.action + v.T(Msg::kReportInBrackets, change)) + "  \n  _" +
            Md(v.Level(rec)) + "_\n";
    if (!rec.check_first.empty()) *out += "  - " + Md(v.T(Msg::kReportCheckFirst, rec.check_first)) + "\n";
  }
  *out += "\n";
}

void Findings(std::string* out, const View& v) {
  const std::vector<std::string> verdict = v.Verdict();
  const bool judged = !v.NoVerdict();
  Heading(out, v.T(judged ? Msg::kReportFindings : Msg::kReportNoVerdict));
  for (const std::string& line : verdict) *out += (judged ? "" : "- ") + Md(line) + "\n";
  for (size_t i = 0; i < v.r().findings.size(); ++i) OneFinding(out, v, i);
  const std::string below = v.BelowMinimum();
  if (!below.empty()) *out += (verdict.empty() ? "" : "\n") + Md(below) + "\n";
}

void Ledger(std::string* out, const View& v) {
  if (v.ledger().empty()) return;
  Heading(out, v.T(Msg::kReportLedger));
  const auto row = [&](const LedgerCell& c, const std::string& mark) {
    std::vector<std::string> cells = {mark + Md(c.title) + mark, mark + c.hours + mark, mark + c.percent + mark};
    if (v.priced()) cells.push_back(mark + c.cost + mark);
    Cells(out, cells);
  };
  std::vector<std::string> titles = {v.T(Msg::kReportLine), v.T(Msg::kReportHours), v.T(Msg::kReportShare)};
  if (v.priced()) titles.push_back(Md(v.unit()));
  Head(out, titles);
  for (const LedgerCell& c : v.ledger()) row(c, "");
  row(v.ledger_total(), "**");
  if (!v.UpperBound().empty()) {
    *out += fmt::format("\n{}: {} {} = {}\n", Md(v.T(Msg::kReportUpperBound)), v.UpperBoundAmount(), Md(v.unit()),
                        Md(v.UpperBound()));
  }
}

void CardTable(std::string* out, const View& v) {
  if (v.r().gpus.empty()) return;
  Heading(out, v.T(Msg::kReportWaveform));
  std::vector<size_t> cards = v.WorstCards();
  const size_t n = cards.size();
  if (n > kMostCards) cards.resize(kMostCards);
  if (n <= kMostCards) std::sort(cards.begin(), cards.end());
  Head(out, {v.T(Msg::kReportCard), v.T(Msg::kReportMetric), v.T(Msg::kReportMean), v.T(Msg::kReportMedian), "P95",
             v.T(Msg::kReportBelow20Long)});
  for (const size_t i : cards) {
    const GpuRow& g = v.r().gpus[i];
    std::string name = Md(v.CardName(g));
    for (const MetricStats& stats : g.stats) {
      const StatCells s = v.Stats(stats);
      Cells(out, {name, Md(s.label), s.mean, s.median, s.p95, s.low});
      name.clear();
    }
    if (g.stats.empty()) Cells(out, {name, Md(v.NoUtil(g)), "", "", "", ""});
    if (const std::string energy = v.Energy(g); !energy.empty()) {
      Cells(out, {name, Md(v.T(Msg::kReportEnergy) + ": " + energy), "", "", "", ""});
    }
  }
  *out += "\n```text\n";
  for (const size_t i : cards) {
    if (v.r().gpus[i].wave.empty()) continue;
    std::string name = v.CardName(v.r().gpus[i]);
    std::replace(name.begin(), name.end(), '`', '\'');  // nothing may close the fence
    *out += Pad(Ellipsize(name, 24), 24) + " " +
            Sparkline(Resample(v.r().gpus[i].wave, kWaveWidth, Pool::kMean), true) + "\n";
  }
  *out += "```\n\n" + v.T(Msg::kReportLegend) + v.T(Msg::kReportLegendGap) + "\n";
  if (n > kMostCards) *out += "\n" + v.T(Msg::kReportWorstCards, kMostCards, n) + "\n";
}

void Groups(std::string* out, const View& v) {
  if (v.groups().empty()) return;
  Heading(out, v.T(Msg::kReportGroups, v.By()));
  const auto cells = [&](const GroupCell& g) {
    std::vector<std::string> row = {Md(g.key), g.hours, g.useful};
    if (v.priced()) row.insert(row.end(), {g.cost, g.saving});
    return row;
  };
  std::vector<std::string> titles = {"", v.T(Msg::kReportHours), v.T(Msg::kReportUsefulColumn)};
  if (v.priced()) titles.insert(titles.end(), {Md(v.unit()), v.T(Msg::kReportSaveColumn)});
  Head(out, titles);
  for (const GroupCell& g : v.groups()) Cells(out, cells(g));
  Cells(out, cells(v.groups_total()));
}

void Limits(std::string* out, const View& v) {
  std::vector<std::string> limits;
  if (!v.r().findings.empty()) limits = v.r().cannot_judge;
  limits.insert(limits.end(), v.r().limits.begin(), v.r().limits.end());
  if (!limits.empty()) Heading(out, v.T(Msg::kReportLimits));
  for (const std::string& line : limits) *out += "- " + Md(line) + "\n";
  const std::vector<std::string> odd = v.DataQuality();
  if (!odd.empty()) Heading(out, v.T(Msg::kReportDataQuality));
  for (const std::string& line : odd) *out += "- " + Md(line) + "\n";
}

}  // namespace

std::string RenderMarkdown(const Report& r) {
  const View v(r);
  std::string out = "# Sawbill · " + v.T(Msg::kReportReceipt) + "\n\n";
  if (r.simulated) out += "> **" + v.T(Msg::kReportSimulated) + "**\n\n";
  std::vector<std::string> lines;
  if (!r.source.empty()) lines.push_back(v.Format().empty() ? r.source : r.source + " · " + v.Format());
  lines.push_back(r.period_to > r.period_from
                      ? v.Period() + " " + v.Zone() + " · " + FormatDuration(r.duration_s(), r.lang)
                      : v.T(Msg::kReportNoPeriod));
  const std::optional<double> measured = v.MeasuredShare();
  lines.push_back(v.Cards() + " · " +
                  (measured ? v.T(Msg::kReportMeasured, v.Hours(r.gpu_hours), v.Percent(*measured))
                            : v.T(Msg::kReportHoursOf, v.Hours(r.gpu_hours))));
  if (const std::string runs = v.Runs(); !runs.empty()) lines.push_back(runs);
  if (const std::string only = v.Selection(); !only.empty()) lines.push_back(only);
  for (std::string& line : lines) line = Md(line);
  out += Join(lines, "  \n") + "\n\n";
  MoneyTable(&out, v);
  Findings(&out, v);
  Ledger(&out, v);
  CardTable(&out, v);
  Groups(&out, v);
  Limits(&out, v);
  return out;
}

}  // namespace sawbill::report
