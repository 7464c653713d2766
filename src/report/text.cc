// SPDX-License-Identifier: Apache-2.0
// The receipt. What a reader wants is at the top: what it cost, what of it was lost, what can be had back. Below stand
// the waveform, the account, and what to change, dearest first. Figures are at the right edge, as on any bill.
#include "base/text.h"

#include <algorithm>
#include <cmath>

#include "report/page.h"
#include "report/render.h"
#include "report/sparkline.h"
#include "report/text_parts.h"
#include "report/view.h"

namespace sawbill::report {
namespace {

constexpr size_t kWideCards = 3;    // up to here each card has a waveform over the whole width
constexpr size_t kListedCards = 8;  // above it only the worst are drawn
constexpr size_t kWorstCards = 6;
constexpr size_t kBriefFindings = 3;
constexpr size_t kBriefGroups = 10;
constexpr int kWideGroups = 54;  // columns that the share of useful time needs beside the money
constexpr int kWideLedger = 54;  // below it the ledger has no column for shares
constexpr int kStatWidth = 8;

Ink PartInk(Part part) {
  constexpr Ink kInks[] = {Ink::kGreen, Ink::kRed, Ink::kDim, Ink::kDim};
  return kInks[static_cast<size_t>(part)];
}

/// Label left, then amount, unit and share in columns at the right edge, as wide as their widest.
class MoneyTable {
 public:
  void Add(const Piece& label, std::string amount, std::string unit, std::string share, Ink ink) {
    rows_.push_back({label, std::move(amount), std::move(unit), std::move(share), ink});
  }
  void Print(Page* p) const {
    int amount = 0, unit = 0, share = 0;
    for (const Line& row : rows_) {
      amount = std::max(amount, DisplayWidth(p->Clean(row.amount)));
      unit = std::max(unit, DisplayWidth(p->Clean(row.unit)));
      share = std::max(share, DisplayWidth(p->Clean(row.share)));
    }
    unit = std::min(unit, kMostUnit);
    for (const Line& row : rows_) {
      const std::string currency = Pad(p->Cut(p->Clean(row.unit), unit), unit);
      p->Row(0, row.label, {{row.amount, amount + 1, row.ink}, {currency, unit + 1, row.ink}, {row.share, share + 3}});
    }
  }

 private:
  static constexpr int kMostUnit = 10;  // "card-hours"; currencies have three
  struct Line {
    Piece label;
    std::string amount, unit, share;
    Ink ink;
  };
  std::vector<Line> rows_;
};

void PrintMoney(Page* p, const View& v) {
  MoneyTable table;
  table.Add({v.T(v.priced() ? Msg::kReportTotalCost : Msg::kReportTotalHours), Ink::kBold}, v.Total(), v.unit(), "",
            Ink::kBold);
  for (const PartCell& part : v.parts()) {
    table.Add({"  " + part.title}, part.amount, "", part.percent, PartInk(part.part));
  }
  const SavingView saving = v.TotalSaving();
  if (saving.known) {
    table.Add({v.T(Msg::kReportCouldBeSaved), Ink::kBold}, saving.amount, saving.unit, saving.share, Ink::kBold);
    if (!saving.range.empty()) table.Add({"  " + v.T(Msg::kReportRange)}, saving.range, "", "", Ink::kPlain);
  } else if (!v.r().findings.empty()) {
    table.Add({v.T(Msg::kReportCouldBeSaved), Ink::kBold}, saving.amount, "", "", Ink::kPlain);
  }
  table.Print(p);
  for (const std::string& note : saving.notes) p->Paragraph(note, 2, {}, Ink::kDim);
  for (const std::string& line : v.BesideTotal()) p->Paragraph(line, 0, {}, Ink::kYellow);
  p->Blank();
}

std::string StatWords(const View& v, const StatCells& s) {
  std::string words = v.T(Msg::kReportStats, s.mean, s.median, s.p95);
  if (!s.low.empty()) words += v.T(Msg::kReportStatsLow, s.low);
  return words;
}

/// What the signs of the drawn waveforms mean, naming only those that occur.
struct Legend {
  bool mark = false, gap = false;
  void See(const std::vector<float>& mean, const std::string& marks) {
    mark = mark || !marks.empty();
    gap = gap || std::any_of(mean.begin(), mean.end(), [](float x) { return std::isnan(x); });
  }
};

void PrintLegend(Page* p, const View& v, const Legend& legend, int indent) {
  std::string text = v.T(p->unicode() ? Msg::kReportLegend : Msg::kReportLegendAscii);
  if (legend.mark) text += v.T(p->unicode() ? Msg::kReportLegendMark : Msg::kReportLegendMarkAscii);
  if (legend.gap) text += v.T(p->unicode() ? Msg::kReportLegendGap : Msg::kReportLegendGapAscii);
  p->Paragraph(text, indent, {}, Ink::kDim);
}

void PrintWideCard(Page* p, const View& v, const GpuRow& g, Legend* legend) {
  const MetricStats* util = v.Find(g, "sm_util");
  p->Sides(1, {v.CardName(g), Ink::kBold}, {util != nullptr ? StatWords(v, v.Stats(*util)) : v.NoUtil(g), Ink::kPlain});
  for (const char* metric : {"sm_active", "power_w"}) {
    if (const MetricStats* s = v.Find(g, metric)) {
      const StatCells cells = v.Stats(*s);
      p->Sides(1, {"  " + cells.label, Ink::kDim}, {StatWords(v, cells), Ink::kDim});
    }
  }
  if (const std::string energy = v.Energy(g); !energy.empty()) {
    p->Sides(1, {"  " + v.T(Msg::kReportEnergy), Ink::kDim}, {energy, Ink::kDim});
  }
  const int width = p->width() - 1;
  const std::vector<float> mean = Resample(g.wave, width, Pool::kMean);
  if (mean.empty()) return;
  const std::string marks = LowMarks(mean, Resample(g.wave_low, width, Pool::kMin), p->unicode());
  p->Line({{" "}, {Sparkline(mean, p->unicode()), Ink::kCyan}});
  if (!marks.empty()) p->Line({{" "}, {marks, Ink::kRed}});
  legend->See(mean, marks);
}

void PrintCompactCards(Page* p, const View& v, const std::vector<size_t>& cards, Legend* legend) {
  int name_width = 6;
  for (const size_t i : cards) name_width = std::max(name_width, DisplayWidth(p->Clean(v.CardName(v.r().gpus[i]))));
  name_width = std::min(name_width, std::max(10, p->width() / 4));
  const int wave_width = std::max(p->width() - 1 - name_width - 1 - 4 * kStatWidth, 0);
  p->Row(1, {""},
         {{v.T(Msg::kReportMean), kStatWidth, Ink::kDim},
          {v.T(Msg::kReportMedian), kStatWidth, Ink::kDim},
          {"P95", kStatWidth, Ink::kDim},
          {v.T(Msg::kReportBelow20), kStatWidth, Ink::kDim}});
  for (const size_t i : cards) {
    const GpuRow& g = v.r().gpus[i];
    const MetricStats* util = v.Find(g, "sm_util");
    StatCells s{"", "—", "—", "—", "—"};
    if (util != nullptr) s = v.Stats(*util);
    const std::vector<float> mean = Resample(g.wave, wave_width, Pool::kMean);
    const std::string marks = LowMarks(mean, Resample(g.wave_low, wave_width, Pool::kMin), p->unicode());
    const std::string name = p->Cut(p->Clean(v.CardName(g)), name_width);
    const std::string blank(static_cast<size_t>(std::max(wave_width, 0)), ' ');
    const Piece space{" "};
    p->Line({space,
             {Pad(name, name_width), Ink::kBold},
             space,
             {mean.empty() ? blank : Sparkline(mean, p->unicode()), Ink::kCyan},
             {Pad(s.mean, kStatWidth, Align::kRight)},
             {Pad(s.median, kStatWidth, Align::kRight)},
             {Pad(s.p95, kStatWidth, Align::kRight)},
             {Pad(s.low.empty() ? "—" : s.low, kStatWidth, Align::kRight)}});
    if (!marks.empty()) p->Line({{std::string(static_cast<size_t>(name_width) + 2, ' ')}, {marks, Ink::kRed}});
    legend->See(mean, marks);
  }
}

void PrintWaves(Page* p, const View& v, bool all) {
  const Report& r = v.r();
  if (r.gpus.empty()) return;
  p->Heading(v.T(Msg::kReportWaveform), r.period_to > r.period_from ? v.Span(r.period_from, r.period_to) : "");
  Legend legend;
  const size_t n = r.gpus.size();
  if (n <= kWideCards) {
    for (const GpuRow& g : r.gpus) PrintWideCard(p, v, g, &legend);
  } else {
    std::vector<size_t> cards = v.WorstCards();
    const bool some = n > kListedCards && !all;
    if (some) {
      cards.resize(kWorstCards);
    } else {
      std::sort(cards.begin(), cards.end());
    }
    PrintCompactCards(p, v, cards, &legend);
    if (some) p->Paragraph(v.T(Msg::kReportWorstCards, kWorstCards, n), 1, {}, Ink::kDim);
  }
  const bool drawn = std::any_of(r.gpus.begin(), r.gpus.end(), [](const GpuRow& g) { return !g.wave.empty(); });
  if (drawn) PrintLegend(p, v, legend, 1);
  p->Blank();
}

/// Signs and colours of the bar, in the order of the ledger's rows. Further losses share the last sign.
struct BarSign {
  std::string sign;
  Ink ink;
};

std::vector<BarSign> BarSigns(const View& v, bool unicode) {
  constexpr const char* kLoss[] = {"▓", "▒", "░", "▞", "╱"};
  constexpr const char* kLossAscii[] = {"=", "+", "-", ":", "/"};
  constexpr Ink kInks[] = {Ink::kRed, Ink::kYellow, Ink::kMagenta, Ink::kBlue, Ink::kCyan};
  std::vector<BarSign> signs;
  size_t loss = 0;
  for (const LedgerCell& cell : v.ledger()) {
    switch (cell.part) {
      case Part::kUseful:
        signs.push_back({unicode ? "█" : "#", Ink::kGreen});
        break;
      case Part::kLost:
        signs.push_back({(unicode ? kLoss : kLossAscii)[loss], kInks[loss]});
        loss = std::min<size_t>(loss + 1, std::size(kLoss) - 1);
        break;
      case Part::kUnexplained:
        signs.push_back({"?", Ink::kDim});
        break;
      case Part::kUnmeasured:
        signs.push_back({unicode ? "·" : ".", Ink::kDim});
        break;
    }
  }
  return signs;
}

void PrintLedger(Page* p, const View& v) {
  if (v.ledger().empty()) return;
  p->Heading(v.T(Msg::kReportLedger), v.T(Msg::kReportLedgerHow));
  const std::vector<BarSign> signs = BarSigns(v, p->unicode());
  std::vector<double> shares;
  for (const LedgerCell& cell : v.ledger()) shares.push_back(cell.share);
  const std::vector<int> cells = BarCells(shares, p->width() - 1);
  std::vector<Piece> bar = {{" "}};
  for (size_t i = 0; i < cells.size(); ++i) {
    std::string run;
    for (int k = 0; k < cells[i]; ++k) run += signs[i].sign;
    bar.push_back({run, signs[i].ink});
  }
  p->Line(bar);
  // Of a narrow page the names need all that hours and money leave: the bar shows the shares.
  const bool narrow = p->width() < kWideLedger;
  const int wide = p->width() >= 72 ? 14 : narrow ? 9 : 11;
  const auto row = [&](const Piece& label, const std::string& hours, const std::string& percent,
                       const std::string& cost, Ink ink) {
    std::vector<Cell> columns = {{hours, wide, ink}};
    if (!narrow) columns.push_back({percent, wide, ink});
    if (v.priced()) columns.push_back({cost, wide + 2, ink});
    p->Row(1, label, columns);
  };
  row({""}, v.T(Msg::kReportHours), v.T(Msg::kReportShare), v.unit(), Ink::kDim);
  for (size_t i = 0; i < v.ledger().size(); ++i) {
    const LedgerCell& cell = v.ledger()[i];
    row({signs[i].sign + " " + cell.title, signs[i].ink}, cell.hours, cell.percent, cell.cost, Ink::kPlain);
  }
  const LedgerCell& total = v.ledger_total();
  row({"  " + total.title, Ink::kBold}, total.hours, total.percent, total.cost, Ink::kBold);
  if (!v.UpperBound().empty()) {
    p->Blank();
    p->Item(1, "", {v.T(Msg::kReportUpperBound), Ink::kDim}, {v.UpperBoundAmount() + " " + v.unit(), Ink::kDim});
    p->Paragraph(v.UpperBound(), 1, {}, Ink::kDim);
  }
  p->Blank();
}

void PrintGroups(Page* p, const View& v, bool all) {
  const std::vector<GroupCell>& groups = v.groups();
  if (groups.empty()) return;
  p->Heading(v.T(Msg::kReportGroups, v.By()));
  const int wide = p->width() >= 72 ? 12 : 9;
  const auto row = [&](const GroupCell& g, Ink ink) {
    std::vector<Cell> columns = {{g.hours, wide, ink}};
    if (p->width() >= kWideGroups) columns.push_back({g.useful, wide, ink});
    if (v.priced()) {
      columns.push_back({g.cost, wide + 2, ink});
      columns.push_back({g.saving, wide + 2, ink});
    }
    p->Row(1, {g.key, ink}, columns);
  };
  row({"", v.T(Msg::kReportHours), v.unit(), v.T(Msg::kReportSaveColumn), v.T(Msg::kReportUsefulColumn)}, Ink::kDim);
  const size_t shown = all ? groups.size() : std::min(groups.size(), kBriefGroups);
  for (size_t i = 0; i < shown; ++i) row(groups[i], Ink::kPlain);
  if (shown < groups.size()) p->Paragraph(v.T(Msg::kReportMoreGroups, groups.size() - shown), 1, {}, Ink::kDim);
  row(v.groups_total(), Ink::kBold);
  p->Blank();
}

void PrintFindings(Page* p, const View& v, bool all) {
  const size_t n = v.r().findings.size();
  if (n == 0) return PrintVerdict(p, v);
  p->Heading(v.T(Msg::kReportFindings), v.T(Msg::kReportFindingsHow));
  const size_t shown = all ? n : std::min(n, kBriefFindings);
  for (size_t i = 0; i < shown; ++i) {
    PrintFinding(p, v, i, all);
    p->Blank();
  }
  const std::string below = v.BelowMinimum();
  if (shown < n) p->Paragraph(v.T(Msg::kReportMoreFindings, n - shown), 0, " + ", Ink::kBold);
  if (!below.empty()) p->Paragraph(below, 0, " + ", Ink::kDim);
  if (shown < n || !below.empty()) p->Blank();
}

}  // namespace

std::string RenderText(const Report& r, const TextStyle& style) {
  const View v(r);
  Page p(style);
  PrintTitle(&p, v, Msg::kReportReceipt);
  PrintSource(&p, v);
  p.Blank();
  PrintMoney(&p, v);
  PrintFindings(&p, v, style.all);
  PrintLedger(&p, v);
  PrintWaves(&p, v, style.all);
  PrintGroups(&p, v, style.all);
  PrintLimits(&p, v, style.all);
  p.Rule(true);
  return p.Take();
}

}  // namespace sawbill::report
