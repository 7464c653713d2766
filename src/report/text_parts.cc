// SPDX-License-Identifier: Apache-2.0
#include "report/text_parts.h"

#include <algorithm>

#include "base/text.h"

namespace sawbill::report {
namespace {

constexpr size_t kBriefLimits = 3;
constexpr size_t kBriefOdd = 2;

std::string Figure(const SavingView& s) { return s.unit.empty() ? s.amount : s.amount + " " + s.unit; }

/// The range and the share stand under the figure, so that the eye goes down one column.
std::string UnderFigure(const SavingView& s) {
  if (!s.known) return "";
  return s.range.empty() ? s.share : s.range + "  " + s.share;
}

void PrintAction(Page* p, const View& v, const Recommendation& rec, bool full) {
  std::string text = rec.action;
  const std::string change = v.Change(rec);
  if (!change.empty()) text += v.T(Msg::kReportInBrackets, change);
  p->Paragraph(text, 4, "→ ", Ink::kGreen);
  p->Paragraph(v.Level(rec), 6, {}, Ink::kDim);
  if (!rec.check_first.empty() && (full || rec.level > 1)) {
    p->Paragraph(v.T(Msg::kReportCheckFirst, rec.check_first), 6, {}, Ink::kDim);
  }
}

void PrintFull(Page* p, const View& v, const Finding& f, const SavingView& saving) {
  p->Paragraph(v.Facts(f), 4, {}, Ink::kDim);
  p->Paragraph(v.T(Msg::kReportBasis, v.Tier(f)), 4, {}, Ink::kDim);
  if (f.wasted_gpu_seconds > 0) p->Paragraph(v.T(Msg::kReportWasted, v.Wasted(f)), 4);
  if (saving.known && !saving.up_to) {
    const std::string alone = v.Amount(f.saving->alone, f.saving->share_alone);
    if (alone != saving.amount) p->Paragraph(v.T(Msg::kReportAlone, alone + " " + saving.unit), 4);
  }
  if (const std::string rhythm = v.Rhythm(f); !rhythm.empty()) p->Paragraph(rhythm, 4);
  if (!f.evidence.empty()) p->Paragraph(v.T(Msg::kReportEvidence), 4, {}, Ink::kBold);
  for (const Evidence& e : f.evidence) {
    const std::string figures = v.EvidenceFigures(e);
    p->Paragraph(figures.empty() ? e.statement : e.statement + v.T(Msg::kReportFigures, figures), 4, "• ");
  }
  if (!f.because.empty()) p->Paragraph(v.T(Msg::kReportBecause), 4, {}, Ink::kBold);
  for (size_t i = 0; i < f.because.size(); ++i) p->Paragraph(f.because[i], 4, i == 0 ? "  " : "→ ");
  if (!f.recommendations.empty()) p->Paragraph(v.T(Msg::kReportActions), 4, {}, Ink::kBold);
  for (const Recommendation& rec : f.recommendations) PrintAction(p, v, rec, true);
}

}  // namespace

void PrintTitle(Page* p, const View& v, Msg kind) {
  const std::string name = "SAWBILL";
  const std::string paper = p->Clean(v.T(kind));
  const int rule = p->width() - DisplayWidth(name) - DisplayWidth(paper) - 2;
  std::string line;
  for (int i = 0; i < rule; ++i) line += p->unicode() ? "═" : "=";
  p->Line({{name, Ink::kBold}, {" " + line + " ", Ink::kDim}, {paper, Ink::kBold}});
  if (v.r().simulated) p->Paragraph(v.T(Msg::kReportSimulated), 0, {}, Ink::kBanner);
}

void PrintSource(Page* p, const View& v) {
  const Report& r = v.r();
  p->Sides(0, {r.source, Ink::kPlain}, {v.Format(), Ink::kDim});
  if (r.period_to > r.period_from) {
    p->Sides(0, {v.Period() + " " + v.Zone(), Ink::kPlain}, {FormatDuration(r.duration_s(), r.lang), Ink::kPlain});
  } else {
    p->Paragraph(v.T(Msg::kReportNoPeriod), 0);
  }
  const std::optional<double> measured = v.MeasuredShare();
  p->Sides(0, {v.Cards(), Ink::kPlain},
           {measured ? v.T(Msg::kReportMeasured, v.Hours(r.gpu_hours), v.Percent(*measured))
                     : v.T(Msg::kReportHoursOf, v.Hours(r.gpu_hours)),
            Ink::kPlain});
  const std::string runs = v.Runs();
  if (!runs.empty()) p->Paragraph(runs, 0);
  if (!v.Selection().empty()) p->Paragraph(v.Selection(), 0, {}, Ink::kDim);
}

void PrintFinding(Page* p, const View& v, size_t index, bool full) {
  const Finding& f = v.r().findings[index];
  const SavingView saving = v.Saving(index);
  std::string cause = v.Cause(f);
  const std::string where = v.Where(f);
  if (!where.empty()) cause += " · " + where;
  const std::string number = fmt::format("{:>2}  ", index + 1);
  p->Item(0, number, {v.Title(f), Ink::kBold}, {Figure(saving), saving.known ? Ink::kBold : Ink::kPlain});
  p->Item(0, "    ", {cause, Ink::kPlain}, {UnderFigure(saving), Ink::kDim});
  for (const std::string& note : v.NotesOf(index)) p->Paragraph(note, 4, {}, Ink::kDim);
  if (full) return PrintFull(p, v, f, saving);
  if (!f.evidence.empty()) p->Paragraph(f.evidence.front().statement, 4, {}, Ink::kPlain);
  if (!f.recommendations.empty()) PrintAction(p, v, f.recommendations.front(), false);
}

void PrintVerdict(Page* p, const View& v) {
  const std::vector<std::string> verdict = v.Verdict();
  if (verdict.empty()) return;
  const bool judged = !v.NoVerdict();
  p->Heading(v.T(judged ? Msg::kReportFindings : Msg::kReportNoVerdict));
  for (const std::string& line : verdict) p->Paragraph(line, 1, judged ? "" : "• ");
  const std::string below = v.BelowMinimum();
  if (!below.empty()) p->Paragraph(below, 1);
  p->Blank();
}

void PrintLimits(Page* p, const View& v, bool full) {
  std::vector<std::string> limits;
  if (!v.r().findings.empty()) limits = v.r().cannot_judge;
  limits.insert(limits.end(), v.r().limits.begin(), v.r().limits.end());
  if (!limits.empty()) {
    p->Heading(v.T(Msg::kReportLimits));
    const size_t shown = full ? limits.size() : std::min(limits.size(), kBriefLimits);
    for (size_t i = 0; i < shown; ++i) p->Paragraph(limits[i], 1, "• ");
    if (shown < limits.size()) p->Paragraph(v.T(Msg::kReportMore, limits.size() - shown), 3, {}, Ink::kDim);
    p->Blank();
  }
  const std::vector<std::string> odd = v.DataQuality();
  if (odd.empty()) return;
  p->Heading(v.T(Msg::kReportDataQuality));
  const size_t shown = full ? odd.size() : std::min(odd.size(), kBriefOdd);
  for (size_t i = 0; i < shown; ++i) p->Paragraph(odd[i], 1, "• ");
  if (shown < odd.size()) p->Paragraph(v.T(Msg::kReportMore, odd.size() - shown), 3, {}, Ink::kDim);
  p->Blank();
}

}  // namespace sawbill::report
