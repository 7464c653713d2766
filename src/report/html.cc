// SPDX-License-Identifier: Apache-2.0
// One page that can be mailed: no script, no font, no picture and no address to fetch. All words go through E(), which
// neutralises control characters and markup. Its size is bounded: many cards share a budget of points and rows.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/html_charts.h"
#include "report/render.h"
#include "report/view.h"

namespace sawbill::report {
namespace {

constexpr const char* kStyle =
#include "report/html_style.inc"
    ;
constexpr size_t kMostWaves = 16;
constexpr size_t kMostCardRows = 64;
constexpr size_t kMostFindings = 30;
constexpr size_t kMostRows = 60;   // runs, groups
constexpr size_t kMostSpans = 24;  // marks of evidence on one waveform
constexpr int kPointsInAll = 2400;

std::string E(std::string_view s) { return EscapeHtml(Sanitize(s)); }

/// A patch in the colour of a ledger line; the words beside it carry the meaning.
std::string Key(model::Line line) {
  return fmt::format("<span class=\"key\" style=\"background:var(--{})\"></span>", model::Name(line));
}

class Html {
 public:
  explicit Html(const Report& r) : v_(r), r_(r) {}
  std::string Page();

 private:
  void Add(std::string_view s) { out_ += s; }
  template <typename... Args>
  std::string T(Msg id, const Args&... args) const {
    return E(v_.T(id, args...));
  }
  void Section(const std::string& title, const std::string& note = "") {
    Add("<section><h2>" + title + (note.empty() ? "" : "<small>" + note + "</small>") + "</h2>");
  }
  void HeadRow(const std::vector<std::string>& titles, size_t text_columns = 1);
  void Header();
  void Money();
  void Findings();
  void OneFinding(size_t i);
  void Details(const Finding& f);
  void Actions(const Finding& f);
  void Ledger();
  void Waves();
  bool IsAbout(const Finding& f, const GpuRow& g) const;
  void OneWave(const GpuRow& g, int points);
  void StatsTable(const std::vector<size_t>& cards);
  void Groups();
  void Runs();
  void Limits();

  View v_;
  const Report& r_;
  std::string out_;
};

void Html::HeadRow(const std::vector<std::string>& titles, size_t text_columns) {
  Add("<thead><tr>");
  for (size_t i = 0; i < titles.size(); ++i) {
    Add(fmt::format(R"(<th scope="col"{}>{}</th>)", i < text_columns ? R"( class="text")" : "", titles[i]));
  }
  Add("</tr></thead>");
}

void Html::Header() {
  Add("<header>");
  if (r_.simulated) Add("<p class=\"banner\">" + T(Msg::kReportSimulated) + "</p>");
  Add("<h1><span>SAWBILL</span><span>" + T(Msg::kReportReceipt) + "</span></h1><div class=\"meta\">");
  const auto pair = [&](const std::string& left, const std::string& right) {
    Add("<div>" + left + "</div><div>" + right + "</div>");
  };
  if (!r_.source.empty()) pair(E(r_.source), E(v_.Format()));
  if (r_.period_to > r_.period_from) {
    pair(E(v_.Period() + " " + v_.Zone()), E(FormatDuration(r_.duration_s(), r_.lang)));
  } else {
    pair(T(Msg::kReportNoPeriod), "");
  }
  const std::optional<double> measured = v_.MeasuredShare();
  pair(E(v_.Cards()), measured ? T(Msg::kReportMeasured, v_.Hours(r_.gpu_hours), v_.Percent(*measured))
                               : T(Msg::kReportHoursOf, v_.Hours(r_.gpu_hours)));
  if (const std::string runs = v_.Runs(); !runs.empty()) pair(E(runs), "");
  if (const std::string only = v_.Selection(); !only.empty()) pair(E(only), "");
  Add("</div></header>");
}

void Html::Money() {
  const SavingView s = v_.TotalSaving();
  Add("<dl class=\"sum\"><div><dt>" + T(v_.priced() ? Msg::kReportTotalCost : Msg::kReportTotalHours) +
      "</dt><dd class=\"big\">" + v_.Total() + " <small>" + E(v_.unit()) + "</small></dd>");
  for (const PartCell& part : v_.parts()) {
    Add(fmt::format("<dd class=\"small soft\">{}: {} · {}</dd>", E(part.title), part.amount, part.percent));
  }
  Add("</div>");
  if (s.known || !r_.findings.empty()) {
    Add("<div class=\"save\"><dt>" + T(Msg::kReportCouldBeSaved) + "</dt><dd class=\"big\">" + E(s.amount) +
        " <small>" + E(s.unit) + "</small></dd>");
    if (s.known) {
      const std::string range = s.range.empty() ? "" : " · " + T(Msg::kReportRange) + " " + s.range;
      Add("<dd class=\"small soft\">" + E(s.share) + range + "</dd>");
    }
    for (const std::string& note : s.notes) Add("<dd class=\"small soft\">" + E(note) + "</dd>");
    Add("</div>");
  }
  Add("</dl>");
  if (!v_.ledger().empty()) {
    Add(LedgerSvg(v_, v_.T(Msg::kReportLedger)) + "<p class=\"legend\">");
    for (const LedgerCell& c : v_.ledger()) Add("<span>" + Key(c.line) + E(c.title) + " " + c.percent + "</span>");
    Add("</p>");
  }
  const std::vector<std::string> how = v_.BesideTotal();
  if (how.empty()) return;
  Add("<div class=\"price\">");
  for (const std::string& line : how) Add("<p>" + E(line) + "</p>");
  Add("</div>");
}

void Html::Details(const Finding& f) {
  if (f.wasted_gpu_seconds > 0 || f.period_s) {
    Add("<p class=\"small\">");
    if (f.wasted_gpu_seconds > 0) Add(T(Msg::kReportWasted, v_.Wasted(f)));
    if (f.wasted_gpu_seconds > 0 && f.period_s) Add(" · ");
    if (f.period_s) {
      Add(f.width_s ? T(Msg::kReportShape, FormatDuration(*f.period_s, r_.lang), FormatDuration(*f.width_s, r_.lang))
                    : T(Msg::kReportPeriod, FormatDuration(*f.period_s, r_.lang)));
    }
    Add("</p>");
  }
  if (!f.evidence.empty()) Add("<h4>" + T(Msg::kReportEvidence) + "</h4><ul>");
  for (const Evidence& e : f.evidence) {
    const std::string figures = v_.EvidenceFigures(e);
    Add("<li>" + E(e.statement));
    if (!figures.empty()) Add(" <span class=\"soft small\">" + E(figures) + "</span>");
    Add("</li>");
  }
  if (!f.evidence.empty()) Add("</ul>");
  if (f.because.empty()) return;
  Add("<h4>" + T(Msg::kReportBecause) + "</h4><ol class=\"chain\">");
  for (const std::string& step : f.because) Add("<li>" + E(step) + "</li>");
  Add("</ol>");
}

void Html::Actions(const Finding& f) {
  if (f.recommendations.empty()) return;
  Add("<h4>" + T(Msg::kReportActions) + "</h4>");
  for (const Recommendation& rec : f.recommendations) {
    const std::string change = v_.Change(rec);
    Add("<div class=\"action\">" + E(rec.action));
    if (!change.empty()) Add(" <code>" + E(change) + "</code>");
    Add(fmt::format("<br><span class=\"badge l{}\">{}</span>", std::clamp(rec.level, 1, 3), E(v_.Level(rec))));
    if (!rec.check_first.empty()) Add("<p class=\"small\">" + T(Msg::kReportCheckFirst, rec.check_first) + "</p>");
    Add("</div>");
  }
}

void Html::OneFinding(size_t i) {
  const Finding& f = r_.findings[i];
  const SavingView s = v_.Saving(i);
  Add(fmt::format(
      "<article class=\"finding\"><div class=\"finding-head\"><span class=\"num\">{}</span><div><h3>{}</h3>", i + 1,
      E(v_.Title(f))));
  const std::string where = v_.Where(f);
  Add("<p>" + E(v_.Cause(f)) + (where.empty() ? "" : " <span class=\"soft\">· " + E(where) + "</span>") + "</p></div>");
  Add(s.known ? "<div class=\"money\"><b>" + E(s.amount) + " " + E(s.unit) + "</b>"
              : "<div class=\"money soft\">" + E(s.amount));
  if (s.known) {
    Add("<div class=\"small soft\">" + (s.range.empty() ? "" : s.range + " · ") + E(s.share) + "</div>");
  }
  Add("</div></div>");
  for (const std::string& note : v_.NotesOf(i)) Add("<p class=\"small soft\">" + E(note) + "</p>");
  Details(f);
  Actions(f);
  Add("<p class=\"small soft\">" + E(v_.Facts(f)) + " · " + T(Msg::kReportBasis, v_.Tier(f)) + "</p></article>");
}

void Html::Findings() {
  const bool judged = !v_.NoVerdict();
  Section(T(judged ? Msg::kReportFindings : Msg::kReportNoVerdict),
          r_.findings.empty() ? "" : T(Msg::kReportFindingsHow));
  for (const std::string& line : v_.Verdict()) Add("<p>" + E(line) + "</p>");
  const size_t shown = std::min(r_.findings.size(), kMostFindings);
  for (size_t i = 0; i < shown; ++i) OneFinding(i);
  if (shown < r_.findings.size()) Add("<p>" + T(Msg::kReportMoreFindings, r_.findings.size() - shown) + "</p>");
  if (const std::string below = v_.BelowMinimum(); !below.empty()) Add("<p class=\"soft\">" + E(below) + "</p>");
  Add("</section>");
}

void Html::Ledger() {
  if (v_.ledger().empty()) return;
  Section(T(Msg::kReportLedger), T(Msg::kReportLedgerHow));
  Add("<div class=\"scroll\"><table>");
  std::vector<std::string> titles = {T(Msg::kReportLine), T(Msg::kReportHours), T(Msg::kReportShare)};
  if (v_.priced()) titles.push_back(E(v_.unit()));
  HeadRow(titles);
  const auto row = [&](const LedgerCell& c, const std::string& key) {
    Add("<tr><th scope=\"row\">" + key + E(c.title) + "</th><td>" + c.hours + "</td><td>" + c.percent + "</td>");
    Add(v_.priced() ? "<td>" + c.cost + "</td></tr>" : "</tr>");
  };
  Add("<tbody>");
  for (const LedgerCell& c : v_.ledger()) row(c, Key(c.line));
  Add("</tbody><tfoot>");
  row(v_.ledger_total(), "");
  Add("</tfoot></table></div>");
  if (!v_.UpperBound().empty()) {
    Add("<p class=\"small soft\">" + T(Msg::kReportUpperBound) + ": " + v_.UpperBoundAmount() + " " + E(v_.unit()) +
        " = " + E(v_.UpperBound()) + "</p>");
  }
  Add("</section>");
}

/// Findings name cards by index ("0") or with their node ("node/0"); an index alone means a card of the run's node.
bool Html::IsAbout(const Finding& f, const GpuRow& g) const {
  if (f.gpus.empty()) return true;
  const auto named = [&](const std::string& s) { return std::find(f.gpus.begin(), f.gpus.end(), s) != f.gpus.end(); };
  const std::string label = g.tag.empty() ? g.gpu : g.gpu + " (" + g.tag + ")";
  if (named(g.node + "/" + label)) return true;
  if (!named(label)) return false;
  bool one_node = true;
  for (const GpuRow& other : r_.gpus) one_node = one_node && other.node == g.node;
  for (const RunRow& run : r_.runs) one_node = one_node || (run.run == f.run && run.node == g.node);
  return one_node;
}

void Html::OneWave(const GpuRow& g, int points) {
  const double period = r_.duration_s();
  std::vector<SeenSpan> seen;
  for (const Finding& f : r_.findings) {
    if (!IsAbout(f, g)) continue;
    for (const Evidence& e : f.evidence) {
      const double from = Seconds(e.from - r_.period_from) / period, to = Seconds(e.to - r_.period_from) / period;
      if (to > from && from >= 0 && to <= 1 && seen.size() < kMostSpans) seen.push_back({from, to});
    }
  }
  const MetricStats* util = v_.Find(g, "sm_util");
  std::string words = v_.NoUtil(g);
  if (util != nullptr) {
    const StatCells s = v_.Stats(*util);
    words = v_.T(Msg::kReportStats, s.mean, s.median, s.p95);
    if (!s.low.empty()) words += v_.T(Msg::kReportStatsLow, s.low);
  }
  Add("<div class=\"card\"><div class=\"card-head\"><b>" + E(v_.CardName(g)) + "</b><span class=\"soft\">");
  for (size_t i = 0, next = 0; i < words.size(); i = next + 2) {
    next = std::min(words.find("  ", i), words.size());  // two blanks part the figures; a page would show one
    Add((i > 0 ? " · " : "") + E(words.substr(i, next - i)));
  }
  if (const std::string energy = v_.Energy(g); !energy.empty()) Add(" · " + E(v_.T(Msg::kReportEnergy) + " " + energy));
  Add("</span></div>");
  const std::string svg =
      WaveSvg(g, points, seen, Sanitize(v_.T(Msg::kReportWaveform) + ", " + v_.CardName(g) + ": " + words));
  if (!svg.empty()) {
    const TimeMs middle = r_.period_from + (r_.period_to - r_.period_from) / 2;
    Add(svg + "<div class=\"axis\"><span>" + v_.Clock(r_.period_from) + "</span><span>" + v_.Clock(middle) +
        "</span><span>" + v_.Clock(r_.period_to) + "</span></div>");
  }
  Add("</div>");
}

void Html::StatsTable(const std::vector<size_t>& cards) {
  Add("<div class=\"scroll\"><table>");
  HeadRow({T(Msg::kReportCard), T(Msg::kReportMetric), T(Msg::kReportMean), T(Msg::kReportMedian), "P95",
           T(Msg::kReportBelow20Long)},
          2);
  Add("<tbody>");
  for (const size_t i : cards) {
    const GpuRow& g = r_.gpus[i];
    std::string name = E(v_.CardName(g));
    for (const MetricStats& stats : g.stats) {
      const StatCells s = v_.Stats(stats);
      Add(fmt::format(
          "<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
          name, E(s.label), s.mean, s.median, s.p95, s.low));
      if (cards.size() > 1 && cards.size() <= 8) name.clear();
    }
  }
  Add("</tbody></table></div>");
}

void Html::Waves() {
  if (r_.gpus.empty()) return;
  Section(T(Msg::kReportWaveform));
  std::vector<size_t> cards = v_.WorstCards();
  const size_t n = cards.size();
  if (n <= kMostWaves) std::sort(cards.begin(), cards.end());
  const size_t drawn = std::min(n, kMostWaves);
  const int points = std::clamp(kPointsInAll / static_cast<int>(drawn), 120, 600);
  for (size_t i = 0; i < drawn; ++i) OneWave(r_.gpus[cards[i]], points);
  if (drawn < n) Add("<p class=\"small soft\">" + T(Msg::kReportWorstCards, drawn, n) + "</p>");
  const auto key = [&](const char* colour, Msg id) {
    Add(fmt::format("<span><span class=\"key\" style=\"background:var(--{})\"></span>{}</span>", colour, T(id)));
  };
  Add("<p class=\"legend\">");
  key("wave", Msg::kReportLegendMean);
  key("low", Msg::kReportLegendLow);
  key("hole", Msg::kReportUnmeasured);
  if (!r_.findings.empty()) key("warn", Msg::kReportLegendSeen);
  Add("</p>");
  if (cards.size() > kMostCardRows) cards.resize(kMostCardRows);
  StatsTable(cards);
  Add("</section>");
}

void Html::Groups() {
  if (v_.groups().empty()) return;
  Section(T(Msg::kReportGroups, v_.By()));
  Add("<div class=\"scroll\"><table>");
  std::vector<std::string> titles = {E(v_.By()), T(Msg::kReportHours), T(Msg::kReportUsefulColumn)};
  if (v_.priced()) titles.insert(titles.end(), {E(v_.unit()), T(Msg::kReportSaveColumn)});
  HeadRow(titles);
  const auto row = [&](const GroupCell& g) {
    Add("<tr><th scope=\"row\">" + E(g.key) + "</th><td>" + g.hours + "</td><td>" + g.useful + "</td>");
    Add(v_.priced() ? "<td>" + g.cost + "</td><td>" + g.saving + "</td></tr>" : "</tr>");
  };
  Add("<tbody>");
  const size_t shown = std::min(v_.groups().size(), kMostRows);
  for (size_t i = 0; i < shown; ++i) row(v_.groups()[i]);
  Add("</tbody><tfoot>");
  row(v_.groups_total());
  Add("</tfoot></table></div>");
  if (shown < v_.groups().size()) {
    Add("<p class=\"small soft\">" + T(Msg::kReportMoreGroups, v_.groups().size() - shown) + "</p>");
  }
  Add("</section>");
}

void Html::Runs() {
  if (r_.runs.size() < 2) return;
  Section(T(Msg::kReportRunsTitle));
  Add("<div class=\"scroll\"><table>");
  std::vector<std::string> titles = {T(Msg::kReportByRun), T(Msg::kReportByUser), T(Msg::kReportDuration)};
  if (v_.priced()) titles.push_back(E(v_.unit()));
  HeadRow(titles, 2);
  Add("<tbody>");
  const size_t shown = std::min(r_.runs.size(), kMostRows);
  for (size_t i = 0; i < shown; ++i) {
    const RunRow& run = r_.runs[i];
    Add("<tr><th scope=\"row\">" + E(run.run.empty() ? run.program : run.run) + "</th><td class=\"text\">" +
        E(run.user) + "</td><td>" + E(FormatDuration(run.duration_s(), r_.lang)) + "</td>");
    Add(v_.priced() ? "<td>" + v_.Amount(run.cost, 0) + "</td></tr>" : "</tr>");
  }
  Add("</tbody></table></div>");
  if (shown < r_.runs.size())
    Add("<p class=\"small soft\">" + T(Msg::kReportMoreGroups, r_.runs.size() - shown) + "</p>");
  Add("</section>");
}

void Html::Limits() {
  std::vector<std::string> limits;
  if (!r_.findings.empty()) limits = r_.cannot_judge;
  limits.insert(limits.end(), r_.limits.begin(), r_.limits.end());
  const auto list = [&](Msg title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    Section(T(title));
    Add("<ul>");
    for (const std::string& line : lines) Add("<li>" + E(line) + "</li>");
    Add("</ul></section>");
  };
  list(Msg::kReportLimits, limits);
  list(Msg::kReportDataQuality, v_.DataQuality());
}

std::string Html::Page() {
  Add(fmt::format(
      "<!doctype html>\n<html lang=\"{}\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><title>Sawbill · {}</title><style>{}</style></head>\n"
      "<body><main>",
      v_.lang() == Lang::kZh ? "zh-CN" : "en", E(v_.Period()), kStyle));
  Header();
  Money();
  Findings();
  Ledger();
  Waves();
  Groups();
  Runs();
  Limits();
  Add("<footer>Sawbill · " + T(Msg::kReportWritten, v_.Stamp(r_.generated) + " " + v_.Zone()) +
      "</footer></main></body></html>\n");
  return std::move(out_);
}

}  // namespace

std::string RenderHtml(const Report& r) { return Html(r).Page(); }

}  // namespace sawbill::report
