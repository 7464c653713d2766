// SPDX-License-Identifier: Apache-2.0
// `sawbill diagnose`: for whoever wants to check a finding, its evidence and its reasoning in full.
#include "report/page.h"
#include "report/render.h"
#include "report/text_parts.h"
#include "report/view.h"

namespace sawbill::report {

std::string RenderDiagnosis(const Report& r, const TextStyle& style) {
  const View v(r);
  Page p(style);
  PrintTitle(&p, v, Msg::kReportDiagnosis);
  PrintSource(&p, v);
  const SavingView saving = v.TotalSaving();
  p.Sides(0, {v.T(v.priced() ? Msg::kReportTotalCost : Msg::kReportTotalHours), Ink::kBold},
          {v.Total() + " " + v.unit(), Ink::kBold});
  if (saving.known) {
    const std::string range = saving.range.empty() ? "" : " (" + saving.range + ")";
    p.Sides(0, {v.T(Msg::kReportCouldBeSaved), Ink::kBold},
            {fmt::format("{}{} {}, {}", saving.amount, range, saving.unit, saving.share), Ink::kBold});
    for (const std::string& note : saving.notes) p.Paragraph(note, 0, {}, Ink::kDim);
  }
  for (const std::string& line : v.BesideTotal()) p.Paragraph(line, 0, {}, Ink::kYellow);
  p.Blank();
  if (r.findings.empty()) {
    PrintVerdict(&p, v);
  } else {
    p.Heading(v.T(Msg::kReportFindings), v.T(Msg::kReportFindingsHow));
    for (size_t i = 0; i < r.findings.size(); ++i) {
      PrintFinding(&p, v, i, true);
      p.Blank();
    }
    const std::string below = v.BelowMinimum();
    if (!below.empty()) {
      p.Paragraph(below, 0, " + ", Ink::kDim);
      p.Blank();
    }
  }
  PrintLimits(&p, v, true);
  p.Rule(true);
  return p.Take();
}

}  // namespace sawbill::report
