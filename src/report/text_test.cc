// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "report/render.h"
#include "report/testdata/hostile_report.h"
#include "report/testdata/sample_reports.h"

namespace sawbill::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string StripColor(const std::string& s) {
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '\x1b') {
      i = s.find('m', i);
      continue;
    }
    out += s[i];
  }
  return out;
}

std::string TrimLines(const std::string& s) {
  std::string out;
  for (const std::string_view line : Split(s, '\n')) {
    const size_t end = line.find_last_not_of(' ');
    out += std::string(line.substr(0, end == std::string_view::npos ? 0 : end + 1)) + "\n";
  }
  return out;
}

std::vector<Report> AllSamples(Lang lang) {
  return {TwoCards(lang), ForeignLog(lang), TwelveCards(lang), HostileReport(lang), Report()};
}

TEST(Receipt, NoLineIsWiderThanThePage) {
  for (const Lang lang : {Lang::kEn, Lang::kZh}) {
    for (const Report& r : AllSamples(lang)) {
      for (const int columns : {40, 60, 71, 80, 100, 200}) {
        for (const int mode : {0, 1, 2, 3}) {
          TextStyle style;
          style.columns = columns;
          style.unicode = mode % 2 == 0;
          style.all = mode >= 2;
          for (const std::string& text : {RenderText(r, style), RenderDiagnosis(r, style)}) {
            for (const std::string_view line : Split(text, '\n')) {
              EXPECT_LE(DisplayWidth(line), std::min(columns, 100)) << columns << " columns: " << line;
            }
          }
        }
      }
    }
  }
}

TEST(Receipt, ASourceThatSaysItIsOursIsNotCalledSoTwice) {  // the id of the format is not translated
  Report r = TwoCards(Lang::kZh);
  r.format = "sawbill day files";
  r.source = "/data 中的 Sawbill 日文件（1 个节点）";
  EXPECT_THAT(RenderText(r, {}), Not(HasSubstr("sawbill day files")));
  r.source = "/data";
  EXPECT_THAT(RenderText(r, {}), HasSubstr("sawbill day files"));
}

TEST(Receipt, ColourOnlyDecorates) {
  TextStyle plain, colour;
  colour.color = true;
  for (const Lang lang : {Lang::kEn, Lang::kZh}) {
    for (const Report& r : AllSamples(lang)) {
      const std::string painted = RenderText(r, colour);
      EXPECT_THAT(painted, HasSubstr("\x1b["));
      EXPECT_EQ(TrimLines(StripColor(painted)), TrimLines(RenderText(r, plain)));
      EXPECT_THAT(RenderText(r, plain), Not(HasSubstr("\x1b")));
    }
  }
}

TEST(Receipt, AsciiModeHoldsNothingElseInEnglish) {
  TextStyle style;
  style.unicode = false;
  for (const Report& r : {TwoCards(Lang::kEn), ForeignLog(Lang::kEn), TwelveCards(Lang::kEn)}) {
    for (const std::string& text : {RenderText(r, style), RenderDiagnosis(r, style)}) {
      for (const char c : text) ASSERT_LT(static_cast<unsigned char>(c), 0x80) << text;
    }
  }
}

TEST(Receipt, NamesFromOutsideAreNeutralised) {
  for (const Lang lang : {Lang::kEn, Lang::kZh}) {
    TextStyle style;
    style.all = true;
    for (const std::string& text :
         {RenderText(HostileReport(lang), style), RenderDiagnosis(HostileReport(lang), style)}) {
      std::string lines = text;
      std::erase(lines, '\n');
      EXPECT_EQ(lines, Sanitize(lines)) << "control characters or broken UTF-8 got through";
      EXPECT_THAT(text, Not(HasSubstr("nan")));
      EXPECT_THAT(text, Not(HasSubstr("inf ")));
      for (const std::string_view line : Split(text, '\n')) EXPECT_FALSE(StartsWith(line, "## a"));
    }
  }
}

TEST(Receipt, SaysPlainlyThatARecordingIsSimulated) {
  EXPECT_THAT(RenderText(TwelveCards(Lang::kEn), {}), HasSubstr("SIMULATED RECORDING"));
  EXPECT_THAT(RenderText(TwoCards(Lang::kEn), {}), Not(HasSubstr("SIMULATED")));
  EXPECT_THAT(RenderHtml(TwelveCards(Lang::kEn)), HasSubstr("SIMULATED RECORDING"));
  EXPECT_THAT(RenderMarkdown(TwelveCards(Lang::kEn)), HasSubstr("SIMULATED RECORDING"));
}

TEST(Receipt, WithoutAPriceItShowsHoursAndHowToGiveOne) {
  const std::string text = RenderText(ForeignLog(Lang::kEn), {});
  EXPECT_THAT(text, HasSubstr("3.00 card-hours"));
  EXPECT_THAT(text, HasSubstr("--price 10"));
  EXPECT_THAT(text, HasSubstr("--price \"NVIDIA GeForce RTX 3090=10\""));
  EXPECT_THAT(text, Not(HasSubstr("USD")));
  EXPECT_THAT(text, Not(HasSubstr(" 0.00"))) << "no zero stands where nothing is known";
}

TEST(Receipt, NamesTheCardsThatLackAPriceAndOffersOnlyNamesThatCanHaveOne) {
  Report some = TwelveCards(Lang::kEn);
  some.cost.reset();
  some.unpriced = {"NVIDIA H100 80GB HBM3"};
  some.unpriced_cards = {{"node-b/0", "node-b", "0", "", some.unpriced[0], 720, false, some.unpriced[0]}};
  const std::string text = RenderText(some, {});
  EXPECT_THAT(text, HasSubstr("No price is known for NVIDIA H100 80GB HBM3, so hours"));
  EXPECT_THAT(text, HasSubstr("--price \"NVIDIA H100 80GB HBM3=10\""));
  Report nameless = ForeignLog(Lang::kEn);
  nameless.gpus[0].name.clear();
  nameless.unpriced = {"gpu 0"};
  nameless.unpriced_cards[0].name = nameless.unpriced_cards[0].selector = "";
  EXPECT_THAT(RenderText(nameless, {}), HasSubstr("--price 10\n"));
  EXPECT_THAT(RenderText(nameless, {}), Not(HasSubstr("gpu 0=")));
}

TEST(Receipt, OnANarrowPageTheLedgerKeepsItsNames) {
  TextStyle style;
  style.columns = 40;
  const std::string text = RenderText(TwoCards(Lang::kEn), style);
  for (const char* name : {"Useful work", "Data loading", "Checkpoint", "Not measured"})
    EXPECT_THAT(text, HasSubstr(name)) << text;
}

TEST(Receipt, ASpeedUpOfUsefulWorkAndAMixtureOfCashAndCapacityAreSaid) {
  Report r = TwoCards(Lang::kEn);
  r.findings[2].saving->speedup = true;
  r.findings[0].saving->capacity_share = r.total_saving->capacity_share = 0.4;
  r.findings[1].saving->counted_above = true;
  for (const std::string& page : {RenderText(r, {}), RenderMarkdown(r), RenderHtml(r)}) {
    EXPECT_THAT(page, HasSubstr("same work in less time"));
    EXPECT_THAT(page, HasSubstr("40 % of it is capacity"));
    EXPECT_THAT(page, HasSubstr("counted above"));
  }
}

TEST(Receipt, TheFormatIsNotSaidTwice) {
  Report r = ForeignLog(Lang::kEn);
  r.source = "smi.log (nvidia-smi csv)";
  const std::string text = RenderText(r, {});
  EXPECT_EQ(text.find("nvidia-smi csv"), text.rfind("nvidia-smi csv"));
}

TEST(Receipt, EnergyStandsBesideTheCard) {
  Report r = TwoCards(Lang::kEn);
  r.gpus[0].energy_kwh = 3.51;
  r.gpus[0].energy_method = "counter";
  for (const std::string& page : {RenderText(r, {}), RenderMarkdown(r), RenderHtml(r)}) {
    EXPECT_THAT(page, HasSubstr("3.51 kWh"));
  }
}

TEST(Receipt, SavingsAreInHoursWithoutAPrice) {
  Report r = TwoCards(Lang::kEn);
  r.cost.reset();
  for (Finding& f : r.findings) f.saving->low = f.saving->expected = f.saving->high = f.saving->alone = std::nullopt;
  r.total_saving->expected.reset();
  const std::string text = RenderText(r, {});
  EXPECT_THAT(text, HasSubstr("5.73 card-hours"));  // 0.337 of 17 h
  EXPECT_THAT(text, HasSubstr("4.45 card-hours"));  // 0.262 of it
  EXPECT_THAT(text, Not(HasSubstr("USD")));
}

TEST(Receipt, NothingFoundAndNoVerdictAreDifferentWords) {
  Report r = ForeignLog(Lang::kEn);
  const std::string blind = RenderText(r, {});
  EXPECT_THAT(blind, HasSubstr("NO VERDICT"));
  EXPECT_THAT(blind, HasSubstr("cannot be judged, because the samples are 60 s apart"));
  EXPECT_THAT(blind, Not(HasSubstr("Nothing worth a change")));
  r.cannot_judge.clear();
  const std::string healthy = RenderText(r, {});
  EXPECT_THAT(healthy, HasSubstr("Nothing worth a change was found"));
  EXPECT_THAT(healthy, Not(HasSubstr("NO VERDICT")));
}

TEST(Receipt, AnUpperBoundIsPrintedAsOne) {
  const std::string text = RenderText(TwoCards(Lang::kEn), {});
  EXPECT_THAT(text, HasSubstr("up to 44.46 USD"));
  EXPECT_THAT(text, Not(HasSubstr("0.00–44.46")));
}

TEST(Receipt, ListsThreeFindingsAndCountsTheRest) {
  const std::string brief = RenderText(TwelveCards(Lang::kEn), {});
  EXPECT_THAT(brief, HasSubstr(" 3  "));
  EXPECT_THAT(brief, Not(HasSubstr(" 4  The GPU")));
  EXPECT_THAT(brief, HasSubstr("2 more: sawbill diagnose"));
  TextStyle all;
  all.all = true;
  const std::string full = RenderText(TwelveCards(Lang::kEn), all);
  EXPECT_THAT(full, HasSubstr(" 4  The GPU waits for data"));
  EXPECT_THAT(full, HasSubstr("cannot be told"));
  EXPECT_THAT(RenderText(TwoCards(Lang::kEn), {}), HasSubstr("2 smaller ones below the minimum, 9.40 USD together"));
}

TEST(Receipt, LeavesOutLinesThatAreZero) {
  const std::string text = RenderText(TwoCards(Lang::kEn), {});
  EXPECT_THAT(text, HasSubstr("Data loading"));
  EXPECT_THAT(text, Not(HasSubstr("Evaluation")));
  EXPECT_THAT(text, Not(HasSubstr("Start-up")));
}

TEST(Receipt, ManyCardsAreTheWorstAndACount) {
  const std::string text = RenderText(TwelveCards(Lang::kEn), {});
  EXPECT_THAT(text, HasSubstr("The 6 least busy of 12 cards"));
  EXPECT_THAT(text, HasSubstr("node-b/5"));
  EXPECT_THAT(text, Not(HasSubstr("node-a/0 ▇")));
}

TEST(Receipt, TheRoughUpperBoundIsNamedAsSuch) {
  const std::string text = RenderText(TwoCards(Lang::kEn), {});
  EXPECT_THAT(text, HasSubstr("Rough upper bound of waste"));
  EXPECT_THAT(text, HasSubstr("498.44 USD"));
  EXPECT_THAT(RenderText(ForeignLog(Lang::kEn), {}), HasSubstr("0.76 card-hours"))
      << "of the 2 measured hours, not of 3";
}

TEST(Receipt, SmallBillsShowFourDecimals) {
  Report r = TwoCards(Lang::kEn);
  for (LedgerRow& row : r.ledger) row.cost = row.share * 0.0512;
  r.cost = 0.0512;
  EXPECT_THAT(RenderText(r, {}), HasSubstr("0.0512 USD"));
}

TEST(Receipt, AnEmptyReportIsPrintedWithoutACrash) {
  EXPECT_THAT(RenderText(Report(), {}), HasSubstr("no time is covered by samples"));
  EXPECT_THAT(RenderDiagnosis(Report(), {}), HasSubstr("DIAGNOSIS"));
}

TEST(Receipt, PeriodsAreShownInTheZoneOfTheReport) {
  Report r = TwoCards(Lang::kEn);
  EXPECT_THAT(RenderText(r, {}), HasSubstr("2026-03-14 09:00 – 17:30 UTC+08:00"));
  r.tz = "UTC";
  r.period_to = r.period_from + 90000;
  EXPECT_THAT(RenderText(r, {}), HasSubstr("2026-03-14 01:00:00 – 01:01:30 UTC"));
}

}  // namespace
}  // namespace sawbill::report
