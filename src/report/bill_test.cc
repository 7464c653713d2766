// SPDX-License-Identifier: Apache-2.0
// Whose price a second has, what is in the total and what is not, and what is said where there is no verdict.
#include <gmock/gmock.h>

#include "analysis/recording_builder.h"
#include "report/build.h"
#include "report/render.h"
#include "report/view.h"

namespace sawbill::report {
namespace {

using analysis::RecordingBuilder;
using model::GpuMetric;
using model::Index;
using model::Line;
using testing::HasSubstr;
using testing::Not;

constexpr TimeMs kStart = 1767225600000;  // 2026-01-01T00:00:00Z, where built recordings begin

Report Bill(const model::Recording& r, const std::string& toml, BuildOptions o = {}) {
  money::PriceBook book;
  const Status added = book.AddToml("currency = \"USD\"\n" + toml, "prices.toml");
  SAWBILL_CHECK(added.ok());
  analysis::Options options;
  options.cuts = book.Changes();
  const analysis::FixedSource source(r);
  const Result<analysis::Analysis> a = analysis::Analyze(source, options);
  SAWBILL_CHECK(a.ok());
  o.prices = &book;
  Result<Report> report = Build(*a, o);
  SAWBILL_CHECK(report.ok());
  return std::move(report).value();
}

double LineCost(const Report& r, Line line) { return r.ledger[Index(line)].cost.value_or(-1); }

double LedgerCost(const Report& r) {
  double sum = 0;
  for (const LedgerRow& row : r.ledger) sum += row.cost.value_or(0);
  return sum;
}

const char* const kAnyTen = "[[price]]\nany = true\nper_hour = 10\n";

model::Recording WorksThenIdles() {
  RecordingBuilder::Job j;
  j.to_s = 1800;
  return RecordingBuilder().Card("97x1801 0x1800").Constant(GpuMetric::kMemUsedMb, 60000).Process({0}, j).Build();
}

TEST(Prices, AChangeInTheMiddleOfARunBillsEachPartAtItsOwnPrice) {
  const Report r = Bill(WorksThenIdles(),
                        std::string(kAnyTen) + "[[price]]\nany = true\nper_hour = 20\nfrom = 2026-01-01T00:20:00Z\n");
  const TimeMs change = kStart + 20 * 60'000;
  EXPECT_NEAR(*r.cost, 10 * Seconds(change - r.period_from) / 3600 + 20 * Seconds(r.period_to - change) / 3600, 1e-9);
  EXPECT_NEAR(LedgerCost(r), *r.cost, 1e-9);
  // All of the unused half hour lies behind the change.
  const double unused_h = r.ledger[Index(Line::kUnused)].gpu_seconds / 3600;
  EXPECT_GT(unused_h, 0.45);
  EXPECT_NEAR(LineCost(r, Line::kUnused), 20 * unused_h, 1e-9);
  double spans = 0;
  for (const PriceSpan& p : r.gpus[0].prices) spans += p.price_per_hour * Seconds(p.to - p.from) / 3600;
  EXPECT_NEAR(spans, *r.cost, 1e-6);
}

// A fleet of one on-demand and three spot cards was billed all at one price, 2.6 times off.
TEST(Prices, EachCardOfAMixedFleetHasItsOwnPriceModelAndSource) {
  const model::Recording recording =
      RecordingBuilder().Card("97x3601").Card("97x3601").Card("97x3601").Card("97x3601").Build();
  const Report r = Bill(recording,
                        "[[price]]\nany = true\nper_hour = 1\ncontract = \"spot\"\nsource = \"feed of 2026-01-01\"\n"
                        "[[price]]\ngpu = \"2\"\nper_hour = 4\ncontract = \"on-demand\"\nsource = \"price list\"\n");
  EXPECT_NEAR(*r.cost, 3 * 1 + 4, 1e-6);
  EXPECT_NEAR(LedgerCost(r), *r.cost, 1e-9);
  for (size_t k = 0; k < 4; ++k) {
    ASSERT_EQ(r.gpus[k].prices.size(), 1U);
    EXPECT_EQ(r.gpus[k].prices[0].contract, k == 2 ? "on-demand" : "spot") << k;
    EXPECT_EQ(r.gpus[k].prices[0].source, k == 2 ? "price list" : "feed of 2026-01-01") << k;
    EXPECT_NEAR(*r.gpus[k].cost, k == 2 ? 4 : 1, 1e-6) << k;
  }
}

TEST(Prices, AnUnpricedCardIsNamedAndTheRestIsTheTotal) {
  const model::Recording r = RecordingBuilder().Card("97x3601").Card("97x3601").Build();
  const Report report = Bill(r, "[[price]]\ngpu = \"1\"\nper_hour = 3\n");
  EXPECT_NEAR(*report.cost, 3, 1e-6);
  EXPECT_NEAR(LedgerCost(report), 3, 1e-6);
  EXPECT_FALSE(report.gpus[0].cost.has_value());
  ASSERT_EQ(report.unpriced_cards.size(), 1U);
  EXPECT_EQ(report.unpriced_cards[0].gpu, "0");
  EXPECT_NEAR(report.unpriced_cards[0].hours, 1, 1e-6);
  EXPECT_EQ(report.unpriced_cards[0].selector, "gpu:0") << "the model's name would change the price of card 1";
  EXPECT_THAT(RenderText(report, {}), AllOf(HasSubstr("Not in the total"), HasSubstr("--price \"gpu:0=10\"")));
}

TEST(Prices, WithoutAnyPriceAModelsNameIsProposed) {
  const Report r = Bill(RecordingBuilder().Card("97x3601").Build(), "");
  EXPECT_FALSE(r.cost.has_value());
  EXPECT_EQ(r.unpriced_cards[0].selector, "NVIDIA A100-SXM4-80GB");
  EXPECT_THAT(RenderText(r, {}), HasSubstr("--price \"NVIDIA A100-SXM4-80GB=10\""));
}

model::Recording Instances(std::optional<double> share) {
  model::Recording r = RecordingBuilder().Card("0x1801").Card("97x1801").Card("97x1801").Build();
  r.gpus[0].card.uuid = "GPU-parent";
  for (size_t k = 1; k < 3; ++k) {
    model::CardInfo& c = r.gpus[k].card;
    c.gpu = "0." + std::to_string(k) + ".0";
    c.uuid = "MIG-" + c.gpu;
    c.name = "NVIDIA A100-SXM4-80GB MIG 3g.40gb";
    c.parent_uuid = "GPU-parent";
    c.share = share;
  }
  return r;
}

TEST(Mig, AnInstanceCostsItsShareOfTheCard) {
  for (const char* price : {kAnyTen, "[[price]]\nmodel = \"NVIDIA A100-SXM4-80GB\"\nper_hour = 10\n"}) {
    const Report r = Bill(Instances(0.43), price);
    ASSERT_EQ(r.gpus.size(), 2U) << "the card itself is not billed";
    EXPECT_NEAR(*r.cost, 2 * 0.5 * 10 * 0.43, 1e-6);
    EXPECT_NEAR(r.gpus[0].prices[0].price_per_hour, 4.3, 1e-9);
  }
}

TEST(Mig, APriceThatNamesTheInstanceIsOfTheInstance) {
  const Report r = Bill(Instances(0.43), "[[price]]\nmodel = \"NVIDIA A100-SXM4-80GB MIG 3g.40gb\"\nper_hour = 5\n");
  EXPECT_NEAR(*r.cost, 2 * 0.5 * 5, 1e-6);
}

TEST(Mig, WithoutAShareItIsNotInTheTotalAndThatIsSaid) {
  const Report r = Bill(Instances(std::nullopt), kAnyTen);
  EXPECT_FALSE(r.cost.has_value());
  ASSERT_EQ(r.unpriced_cards.size(), 2U);
  EXPECT_TRUE(r.unpriced_cards[0].lacks_share);
  EXPECT_THAT(RenderText(r, {}), HasSubstr("column share"));
}

model::Recording Idle(int cards) {
  RecordingBuilder b;
  for (int k = 0; k < cards; ++k) b.Card("0x7201").Constant(GpuMetric::kMemUsedMb, 500);
  RecordingBuilder::Job nobody;  // elsewhere, so that processes are known
  b.Card("97x7201").Constant(GpuMetric::kMemUsedMb, 60000);
  nobody.to_s = 7200;
  return b.Process({static_cast<size_t>(cards)}, nobody).Build();
}

std::string PricesOf(const std::string& zero, const std::string& one) {
  const auto price = [](const char* gpu, const std::string& rest) {
    return "[[price]]\ngpu = \"" + std::string(gpu) + "\"\n" + rest;
  };
  return price("0", zero) + price("1", one) + price("2", "per_hour = 1\n");
}

TEST(SavingKind, IsThatOfTheLargerPartOfTheMoneyWhicheverCardComesFirst) {
  const std::string cheap = "per_hour = 10\n", dear = "per_hour = 100\n", reserved = "contract = \"reserved\"\n";
  Report r = Bill(Idle(2), PricesOf(cheap, dear + reserved));
  ASSERT_TRUE(r.total_saving.has_value());
  EXPECT_EQ(r.total_saving->kind, "capacity");
  EXPECT_NEAR(r.total_saving->capacity_share, 100.0 / 110, 0.001);
  r = Bill(Idle(2), PricesOf(cheap + reserved, dear));
  EXPECT_EQ(r.total_saving->kind, "cash");
  EXPECT_NEAR(r.total_saving->capacity_share, 10.0 / 110, 0.001);
}

TEST(SavingKind, AMixtureIsSaid) {
  const Report r = Bill(Idle(2), PricesOf("per_hour = 2\n", "per_hour = 3\ncontract = \"own\"\n"));
  EXPECT_NEAR(r.total_saving->capacity_share, 0.6, 0.001);
  EXPECT_THAT(RenderText(r, {}), HasSubstr("60 % of it is capacity"));
}

TEST(Savings, TogetherNeverExceedWhatWasLost) {
  const Report r = Bill(Idle(2), kAnyTen);
  double lost = 0;
  for (const LedgerRow& row : r.ledger) {
    if (row.line != Line::kUseful && row.line != Line::kUnmeasured) lost += *row.cost;
  }
  EXPECT_LE(*r.total_saving->high, lost + 1e-9);
}

TEST(Verdict, TimeThatCouldNotBeJudgedIsNeverCalledNothingFound) {
  // Utilisation only: whether the idle 40 minutes are a free card or a waiting one, nobody can tell.
  model::Recording r = RecordingBuilder().Card("95x1200 0x2400").Build();
  r.gpus[0].columns[static_cast<size_t>(GpuMetric::kPowerW)].clear();
  const Report report = Bill(r, kAnyTen);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_NEAR(report.unjudged_share, 2.0 / 3, 0.01);
  const std::string text = RenderText(report, {});
  EXPECT_THAT(text, AllOf(HasSubstr("NO VERDICT"), HasSubstr("67 % of the card time"), HasSubstr("GPU memory")));
  EXPECT_THAT(text, Not(HasSubstr("Nothing worth a change")));
}

TEST(Verdict, ASmallerPartIsNamedAndTheRestJudged) {
  const Report r =
      Bill(RecordingBuilder().Card("97x1800 _x900 97x1800").Constant(GpuMetric::kMemUsedMb, 60000).Build(), kAnyTen);
  EXPECT_NEAR(r.unjudged_share, 0.2, 0.01);
  const std::string text = RenderText(r, {});
  EXPECT_THAT(text, AllOf(HasSubstr("20 % has no sample"), HasSubstr("In the rest nothing")));
  EXPECT_THAT(text, Not(HasSubstr("NO VERDICT")));
}

TEST(Verdict, WhatIsBelowTheMinimumIsNotCalledNothing) {
  BuildOptions o;
  o.min_saving_amount = 1000;
  const std::string text = RenderText(Bill(Idle(1), kAnyTen, o), {});
  EXPECT_THAT(text, AllOf(HasSubstr("no single fix"), HasSubstr("below the minimum")));
  EXPECT_THAT(text, Not(HasSubstr("Nothing worth")));
}

TEST(Labels, NodesAndUuidsTellCardsOfOneIndexApart) {
  model::Recording r = RecordingBuilder().Card("97x601").Card("97x601").Card("97x601").Build();
  r.gpus[0].card.uuid = "GPU-5a3b1111-77c2";
  r.gpus[1].card.uuid = "GPU-5a3b1113-77c2";
  r.gpus[1].card.gpu = "0";
  r.gpus[2].card.gpu = "1";
  BuildOptions o;
  o.by = "gpu";
  const Report one_node = Bill(r, kAnyTen, o);
  std::vector<std::string> keys;
  for (const GroupRow& g : one_node.groups) keys.push_back(g.key);
  EXPECT_THAT(keys, testing::UnorderedElementsAre("gpu0 (GPU-5a3b1111)", "gpu0 (GPU-5a3b1113)", "gpu1"));
  EXPECT_THAT(RenderText(one_node, {}), HasSubstr("GPU 0 (GPU-5a3b1113)"));
}

TEST(Labels, FindingsNameTheNode) {
  model::Recording r = Idle(2);
  for (auto& g : r.gpus) g.card.gpu = "0";
  r.gpus[0].card.node = "n1";
  r.gpus[1].card.node = "n2";
  r.gpus[2].card.node = "n3";
  const Report report = Bill(r, kAnyTen);
  bool named = false;
  for (const Finding& f : report.findings) {
    for (const std::string& gpu : f.gpus) named = named || gpu == "n1/0";
  }
  EXPECT_TRUE(named);
}

TEST(Groups, KnowWhatEachLineCosts) {
  BuildOptions o;
  o.by = "gpu";
  const Report r = Bill(Idle(2), PricesOf("per_hour = 2\n", "per_hour = 3\n"), o);
  for (const GroupRow& g : r.groups) {
    ASSERT_EQ(g.line_costs.size(), model::kLines) << g.key;
    double sum = 0;
    for (const Money& m : g.line_costs) sum += *m;
    EXPECT_NEAR(sum, *g.cost, 1e-9) << g.key;
  }
}

TEST(Currency, TheRemedyFitsTheMistake) {
  const auto refusal = [](const std::vector<const char*>& currencies) {
    money::PriceBook book;
    for (const char* c : currencies) SAWBILL_CHECK(book.AddFlag("10", c).ok());
    BuildOptions o;
    o.prices = &book;
    return Build(analysis::Analysis(), o).status().message();
  };
  EXPECT_THAT(refusal({"CNY"}), HasSubstr("give --currency CNY"));
  EXPECT_THAT(refusal({"CNY", "USD"}), AllOf(HasSubstr("CNY, USD"), Not(HasSubstr("--currency"))));
}

// F5: a price that is stale, or of another time, is labelled with its day.
TEST(F5, AnOldPriceIsLabelledWithItsDayAndItsAge) {
  const auto priced = [](const std::string& as_of, Lang lang = Lang::kEn) {
    BuildOptions o;
    o.lang = lang;
    return Bill(WorksThenIdles(),
                "[[price]]\nany = true\nper_hour = 2.5\nsource = \"price page\"\n" +
                    (as_of.empty() ? "" : "as_of = " + as_of + "\n"),
                o);
  };
  // The recording is of 2026-01-01.
  EXPECT_THAT(priced("2025-12-20").price_notes,
              testing::ElementsAre("Price: 2.5 USD a card-hour (price page), of 2025-12-20."));
  EXPECT_THAT(priced("2025-10-03").price_notes, testing::ElementsAre(HasSubstr("Price: 2.5 USD")));  // 90 days
  EXPECT_THAT(priced("2025-10-02").price_notes,
              testing::ElementsAre(testing::AllOf(HasSubstr("Old price: 2.5 USD a card-hour (price page) is of "
                                                            "2025-10-02, 91 days before the end"),
                                                  HasSubstr("Check it"))));
  EXPECT_THAT(
      priced("2026-07-01").price_notes,
      testing::ElementsAre(HasSubstr("Later price: 2.5 USD a card-hour (price page) is of 2026-07-01, 180 days")));
  EXPECT_THAT(priced("2025-01-01", Lang::kZh).price_notes,
              testing::ElementsAre(HasSubstr(
                  "价格较旧：每卡时 2.5 USD（price page）是 2025-01-01 的价格，比所计费时段的末尾早 365 天")));
  EXPECT_TRUE(priced("").price_notes.empty());  // who gives no day is told nothing of it

  const Report old = priced("2025-01-01");
  EXPECT_THAT(RenderText(old, {}), HasSubstr("Old price: 2.5 USD"));
  EXPECT_THAT(RenderMarkdown(old), HasSubstr("Old price: 2.5 USD"));
  EXPECT_THAT(RenderHtml(old), HasSubstr("Old price: 2.5 USD"));
  EXPECT_THAT(RenderJson(old), HasSubstr("\"as_of\": \"2025-01-01\""));
  EXPECT_NEAR(*old.cost, 2.5 * Seconds(old.period_to - old.period_from) / 3600, 1e-9);  // said, and billed all the same
}

TEST(F5, ThePriceThatCameLaterInTheSameRunIsNamedBesideTheEarlier) {
  const Report r = Bill(WorksThenIdles(),
                        "[[price]]\nany = true\nper_hour = 10\nas_of = 2025-12-01\nsource = \"a\"\n"
                        "[[price]]\nany = true\nper_hour = 20\nas_of = 2025-06-01\nsource = \"b\"\n"
                        "from = 2026-01-01T00:20:00Z\n");
  ASSERT_EQ(r.price_notes.size(), 2U);
  EXPECT_THAT(r.price_notes[0], HasSubstr("Price: 10 USD a card-hour (a), of 2025-12-01."));
  EXPECT_THAT(r.price_notes[1], HasSubstr("Old price: 20 USD a card-hour (b) is of 2025-06-01, 214 days"));
}

}  // namespace
}  // namespace sawbill::report
