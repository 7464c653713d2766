// SPDX-License-Identifier: Apache-2.0
#include "money/price_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::money {
namespace {

using testing::HasSubstr;

constexpr TimeMs kHour = 3'600'000;
constexpr TimeMs kDay = 24 * kHour;

model::CardInfo Card(const std::string& name) {
  model::CardInfo c;
  c.node = "n1", c.gpu = "0", c.uuid = "GPU-aaaa", c.name = name, c.label = "team-a";
  return c;
}

Price Of(const std::string& kind, const std::string& selector, double per_hour, TimeMs from = 0) {
  Price p;
  p.selector_kind = kind, p.selector = selector, p.per_hour = per_hour, p.currency = "USD", p.from = from;
  return p;
}

/// The one price of a card over an hour; NaN where none is known.
double PriceOf(const PriceBook& book, const model::CardInfo& card, const std::string& job = "") {
  const auto cut = book.Lookup(card, job, {100 * kDay, 100 * kDay + kHour});
  EXPECT_EQ(cut.size(), 1U);
  return cut.empty() || cut[0].price == nullptr ? kMissing : cut[0].price->per_hour;
}

double CostOf(const std::vector<PriceInterval>& cut) {
  double sum = 0;
  for (const auto& i : cut) sum += i.price == nullptr ? 0 : Cost(i.price->per_hour, i.range.seconds());
  return sum;
}

TEST(PriceBook, UnknownCardHasNoPriceAndIsNotZero) {
  PriceBook book;
  book.Add(Of("model", "NVIDIA H100 80GB HBM3", 17));
  EXPECT_TRUE(std::isnan(PriceOf(book, Card("NVIDIA A100-SXM4-80GB"))));
  EXPECT_EQ(PriceOf(book, Card("NVIDIA H100 80GB HBM3")), 17);
}

TEST(PriceBook, PartOfANameIsNotAMatch) {
  PriceBook book;
  book.Add(Of("model", "NVIDIA B200", 5));
  EXPECT_TRUE(std::isnan(PriceOf(book, Card("NVIDIA GB200"))));
  EXPECT_TRUE(std::isnan(PriceOf(book, Card("nvidia b200"))));
  EXPECT_EQ(PriceOf(book, Card("  NVIDIA B200 ")), 5);
}

TEST(PriceBook, GlobsOnlyWhereTheSelectorIsOne) {
  PriceBook book;
  book.Add(Of("model", "NVIDIA A100*", 3));
  EXPECT_EQ(PriceOf(book, Card("NVIDIA A100-SXM4-80GB")), 3);
  EXPECT_TRUE(std::isnan(PriceOf(book, Card("My NVIDIA A100"))));
}

TEST(PriceBook, ACardWithoutTheFieldIsNotMatchedByAGlob) {
  PriceBook book;
  book.Add(Of("job", "*", 3));
  book.Add(Of("label", "*", 4));
  model::CardInfo card = Card("X");
  card.label = "";
  EXPECT_TRUE(std::isnan(PriceOf(book, card)));
  EXPECT_EQ(PriceOf(book, card, "train"), 3);
}

TEST(PriceBook, RanksGoFromUuidDownToAny) {
  const std::vector<Price> by_rank = {Of("any", "", 1),         Of("model", "M", 2),   Of("gpu", "0", 3),
                                      Of("node", "n1", 4),      Of("job", "train", 5), Of("label", "team-a", 6),
                                      Of("uuid", "GPU-aaaa", 7)};
  PriceBook forward, backward;
  for (size_t i = 0; i < by_rank.size(); ++i) {
    forward.Add(by_rank[i]);
    EXPECT_EQ(PriceOf(forward, Card("M"), "train"), static_cast<double>(i + 1));
    backward.Add(by_rank[by_rank.size() - 1 - i]);
    EXPECT_EQ(PriceOf(backward, Card("M"), "train"), 7);
  }
}

TEST(PriceBook, TheWholeCardsPriceIsNotTakenForItsMigInstances) {
  // Seven instances at the price of the whole card each would be seven times the bill.
  PriceBook book;
  book.Add(Of("uuid", "GPU-parent", 9));
  model::CardInfo card = Card("M");
  card.parent_uuid = "GPU-parent";
  EXPECT_TRUE(std::isnan(PriceOf(book, card)));
}

TEST(PriceBook, LaterAdditionWinsOverAnEqualOne) {
  PriceBook book;
  book.Add(Of("model", "M", 2));
  book.Add(Of("model", "M", 3));
  EXPECT_EQ(PriceOf(book, Card("M")), 3);
}

TEST(PriceBook, AFlagWinsOverAFileWhateverItsRank) {
  PriceBook book;
  book.Add(Of("uuid", "GPU-aaaa", 7));
  ASSERT_TRUE(book.AddFlag("10", "USD").ok());
  EXPECT_EQ(PriceOf(book, Card("M")), 10);
}

TEST(PriceBook, PriceChangeInTheMiddleOfARunCutsIt) {
  // F5: 12:00 to 16:00, the price changes at 14:00.
  const TimeMs noon = UtcFromCivil({2026, 3, 14, 12, 0, 0, 0});
  PriceBook book;
  book.Add(Of("model", "M", 20, noon + 2 * kHour));  // the newest first: order in the file does not matter
  book.Add(Of("model", "M", 10));
  const auto cut = book.Lookup(Card("M"), "", {noon, noon + 4 * kHour});
  ASSERT_EQ(cut.size(), 2U);
  EXPECT_EQ(cut[0].range.to, noon + 2 * kHour);
  EXPECT_EQ(cut[1].range.from, noon + 2 * kHour);
  EXPECT_EQ(cut[0].price->per_hour, 10);
  EXPECT_EQ(cut[1].price->per_hour, 20);
  EXPECT_DOUBLE_EQ(CostOf(cut), 60);
}

TEST(PriceBook, BeforeTheFirstFromDateThereIsNoPrice) {
  PriceBook book;
  book.Add(Of("model", "M", 20, 100 * kDay));
  const auto cut = book.Lookup(Card("M"), "", {99 * kDay, 101 * kDay});
  ASSERT_EQ(cut.size(), 2U);
  EXPECT_EQ(cut[0].price, nullptr);
  EXPECT_EQ(cut[1].price->per_hour, 20);
}

TEST(PriceBook, AChangeThatDoesNotConcernTheCardDoesNotCut) {
  PriceBook book;
  book.Add(Of("any", "", 1));
  book.Add(Of("uuid", "GPU-aaaa", 7));
  book.Add(Of("any", "", 2, 100 * kDay));  // beaten by the uuid's price before and after
  book.Add(Of("model", "other", 3, 100 * kDay));
  EXPECT_EQ(book.Lookup(Card("M"), "", {99 * kDay, 101 * kDay}).size(), 1U);
}

TEST(PriceBook, AnEmptyStretchCostsNothing) {
  PriceBook book;
  book.Add(Of("any", "", 1));
  EXPECT_TRUE(book.Lookup(Card("M"), "", {kDay, kDay}).empty());
  EXPECT_TRUE(book.Lookup(Card("M"), "", {2 * kDay, kDay}).empty());
}

TEST(PriceBook, IntervalsTileTheRangeAndCostsAreNeverNegative) {
  // F3: whatever the prices, the pieces are the range, each instant priced once.
  const std::vector<std::string> kinds = {"any", "model", "uuid", "label", "node"};
  const std::vector<std::string> selectors = {"M", "GPU-aaaa", "team-a", "n1", "*", "other"};
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (int round = 0; round < 2000; ++round) {
    PriceBook book;
    for (size_t n = below(8); n > 0; --n) {
      book.Add(Of(kinds[below(kinds.size())], selectors[below(selectors.size())], static_cast<double>(below(50)),
                  static_cast<TimeMs>(below(40)) * kHour));
    }
    const TimeMs from = static_cast<TimeMs>(below(40)) * kHour / 2,
                 to = from + static_cast<TimeMs>(1 + below(80)) * kHour / 2;
    const auto cut = book.Lookup(Card("M"), "", {from, to});
    ASSERT_FALSE(cut.empty());
    ASSERT_EQ(cut.front().range.from, from);
    ASSERT_EQ(cut.back().range.to, to);
    for (size_t i = 0; i < cut.size(); ++i) {
      ASSERT_FALSE(cut[i].range.empty());
      if (i > 0) {
        ASSERT_EQ(cut[i].range.from, cut[i - 1].range.to);
        ASSERT_NE(cut[i].price, cut[i - 1].price);
      }
      if (cut[i].price != nullptr) {
        ASSERT_GE(Cost(cut[i].price->per_hour, cut[i].range.seconds()), 0);
      }
    }
  }
}

TEST(PriceFlag, ForEveryCardModelOrSelector) {
  PriceBook book;
  for (const char* v :
       {"10", "NVIDIA H100 80GB HBM3=17", "label:team-b=3", "node:n2=4", "uuid:GPU-b=2", "job:x=1", "gpu:3=6"}) {
    EXPECT_TRUE(book.AddFlag(v, "EUR").ok()) << v;
  }
  const auto& p = book.prices();
  EXPECT_EQ(p[0].selector_kind, "any");
  EXPECT_EQ(p[1].selector_kind, "model");
  EXPECT_EQ(p[1].selector, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(p[2].selector_kind + p[2].selector, "labelteam-b");
  EXPECT_EQ(p[6].per_hour, 6);
  EXPECT_EQ(p[6].currency, "EUR");
  EXPECT_EQ(p[6].source, "--price");
}

TEST(PriceFlag, ZeroIsFreeAndNegativeIsRefused) {
  PriceBook book;
  EXPECT_TRUE(book.AddFlag("0", "USD").ok());
  EXPECT_TRUE(book.AddFlag("-0", "USD").ok());
  EXPECT_FALSE(std::signbit(book.prices()[1].per_hour));
  const Status negative = book.AddFlag("X=-3", "USD");
  EXPECT_EQ(negative.exit_code(), 2);
  EXPECT_THAT(negative.message(), HasSubstr("cannot be negative"));
}

TEST(PriceFlag, WhatIsNoNumberIsRefusedWithAnExample) {
  for (const char* v : {"", "nan", "inf", "ten", "$10", "10,5", "X=", "=3", "1e300", "12 34"}) {
    PriceBook book;
    const Status s = book.AddFlag(v, "USD");
    EXPECT_EQ(s.kind(), StatusKind::kInvalid) << v;
    EXPECT_THAT(s.message(), HasSubstr("--price")) << v;
    EXPECT_TRUE(book.prices().empty()) << v;
  }
}

TEST(PriceFlag, MisspeltSelectorIsNamedWithTheNearest) {
  PriceBook book;
  EXPECT_THAT(book.AddFlag("lable:team-a=3", "USD").message(), HasSubstr("did you mean 'label'?"));
  EXPECT_THAT(book.AddFlag("GPU-1234=3", "USD").message(), HasSubstr("uuid:GPU-1234"));
}

std::string TomlError(const std::string& text) {
  PriceBook book;
  const Status s = book.AddToml(text, "p.toml");
  EXPECT_FALSE(s.ok()) << text;
  EXPECT_TRUE(book.prices().empty()) << "an error adds nothing";
  return s.message();
}

TEST(PriceFile, ReadsEveryKey) {
  PriceBook book;
  const Status s = book.AddToml(
      "schema = \"sawbill.prices/1\"\ncurrency = \"CNY\"\ntz = \"+08:00\"\n"
      "[[price]]\nmodel = \" NVIDIA A40 \"\nper_hour = 4\ncontract = \"reserved\"\nsource = \"invoice 7\"\n"
      "as_of = 2026-02-01\nfrom = 2026-03-01\n"
      "[[price]]\nany = true\nper_hour = 2.5\ncurrency = \"USD\"\nfrom = 2026-03-01T14:00:00+01:00\n"
      "[[price]]\nlabel = \"t\"\nper_hour = 0\nfrom = \"2026-03-01 14:00\"\n",
      "p.toml", 1);
  ASSERT_TRUE(s.ok()) << s.message();
  const auto& p = book.prices();
  ASSERT_EQ(p.size(), 3U);
  EXPECT_EQ(p[0].selector, "NVIDIA A40");
  EXPECT_EQ(p[0].currency, "CNY");
  EXPECT_EQ(p[0].contract, "reserved");
  EXPECT_EQ(p[0].source, "invoice 7");
  EXPECT_EQ(p[0].as_of, "2026-02-01");
  EXPECT_EQ(FormatRfc3339(p[0].from), "2026-02-28T16:00:00.000Z");
  EXPECT_EQ(FormatRfc3339(p[1].from), "2026-03-01T13:00:00.000Z");
  EXPECT_EQ(p[1].currency, "USD");
  EXPECT_EQ(p[1].source, "p.toml") << "a price without a source has its file for one";
  EXPECT_EQ(FormatRfc3339(p[2].from), "2026-03-01T06:00:00.000Z");
  EXPECT_EQ(p[2].per_hour, 0);
  EXPECT_EQ(p[2].layer, 1);
}

TEST(PriceFile, ErrorsNameLineColumnAndTheNearestWord) {
  const std::string head = "currency = \"USD\"\n[[price]]\n";
  EXPECT_THAT(TomlError(head + "modle = \"X\"\nper_hour = 1\n"),
              HasSubstr("p.toml:3:1: unknown key 'modle'; did you mean 'model'?"));
  EXPECT_THAT(TomlError(head + "model = \"X\"\nper_hour = -1\n"), HasSubstr("p.toml:4:12: a price cannot be negative"));
  EXPECT_THAT(TomlError(head + "model = \"X\"\nper_hour = nan\n"),
              HasSubstr("p.toml:4:12: a price is a finite number"));
  EXPECT_THAT(TomlError(head + "model = \"X\"\nper_hour = \"1\"\n"), HasSubstr("number without quotes"));
  EXPECT_THAT(TomlError(head + "model = \"X\"\nper_hour = 1\ncontract = \"spott\"\n"),
              HasSubstr("did you mean 'spot'?"));
  EXPECT_THAT(TomlError(head + "model = \"X\"\nnode = \"n\"\nper_hour = 1\n"), HasSubstr("one selector"));
  EXPECT_THAT(TomlError(head + "model = \"X\"\n"), HasSubstr("p.toml:2:1: this [[price]] has no per_hour"));
  EXPECT_THAT(TomlError(head + "per_hour = 1\n"), HasSubstr("for which cards"));
  EXPECT_THAT(TomlError("[[price]]\nmodel = \"X\"\nper_hour = 1\n"), HasSubstr("no currency"));
  EXPECT_THAT(TomlError("curency = \"USD\"\n"),
              HasSubstr("p.toml:1:1: unknown key 'curency'; did you mean 'currency'?"));
  EXPECT_THAT(TomlError("currency = \"dollars\"\n"), HasSubstr("USD or CNY"));
  EXPECT_THAT(TomlError("tz = \"Mars/Base\"\n"), HasSubstr("unknown time zone"));
  EXPECT_THAT(TomlError("schema = \"sawbill.prices/9\"\n"), HasSubstr("sawbill.prices/1"));
  EXPECT_THAT(TomlError("[price]\nmodel = \"X\"\n"), HasSubstr("[[price]]"));
  EXPECT_THAT(TomlError("a = = 3\n"), HasSubstr("p.toml:1:"));
  EXPECT_THAT(TomlError(head + "model = \"X\"\nper_hour = 1\nfrom = 7\n"), HasSubstr("p.toml:5:8"));
}

TEST(PriceFile, EntriesOfAConfigAreReadWithoutJudgingItsOtherKeys) {
  PriceBook book;
  ASSERT_TRUE(book.AddTomlEntries("lang = \"zh\"\n[[price]]\nany = true\nper_hour = 3\n", "sawbill.toml", "CNY").ok());
  ASSERT_EQ(book.prices().size(), 1U);
  EXPECT_EQ(book.prices()[0].currency, "CNY");
}

TEST(PriceFile, ShippedExampleParsesAsItStandsAndWithItsCommentsTakenAway) {
  const std::string path = std::string(SAWBILL_SOURCE_DIR) + "/prices/example.toml";
  std::ifstream in(path);
  ASSERT_TRUE(in.good()) << path;
  std::string line, plain, bare;
  while (std::getline(in, line)) {
    plain += line + "\n";
    // "#key = value" and "#[[price]]" are settings; "# text" is a comment.
    if (StartsWith(line, "#") && line.size() > 1 && line[1] != ' ') line = line.substr(1);
    bare += line + "\n";
  }
  PriceBook as_shipped, without_comments;
  const Status shipped = as_shipped.AddToml(plain, path);
  EXPECT_TRUE(shipped.ok()) << shipped.message();
  EXPECT_TRUE(as_shipped.prices().empty()) << "placeholders must not price anything";
  const Status bared = without_comments.AddToml(bare, path);
  EXPECT_TRUE(bared.ok()) << bared.message();
  EXPECT_GE(without_comments.prices().size(), 6U);
}

// The worked figures that must come out.
TEST(Money, WasteUpperBoundOf15AnHourFor100HoursAt65PercentIs525) {
  EXPECT_EQ(FormatFixed(WasteUpperBound(15, 100, 0.65), 2), "525.00");
}
TEST(Money, From65To85PercentSaves352Point94) {
  const double hours = RoughHoursAfter(100, 0.65, 0.85);
  EXPECT_EQ(FormatFixed(hours, 2), "76.47");
  EXPECT_EQ(FormatFixed(Cost(15, (100 - hours) * 3600), 2), "352.94");
  EXPECT_EQ(FormatFixed(Cost(15, (100 - 76.5) * 3600), 1), "352.5");
}
TEST(Money, SixtyHoursAtTenAre600AndAbout39HoursSave35Percent) {
  EXPECT_EQ(FormatFixed(Cost(10, 60 * 3600), 2), "600.00");
  EXPECT_EQ(FormatFixed(RoughHoursAfter(60, 0.55, 0.83), 1), "39.8");
  EXPECT_EQ(FormatFixed(Cost(10, 39 * 3600), 2), "390.00");
  EXPECT_EQ(FormatFixed(100 * (1 - Cost(10, 39 * 3600) / Cost(10, 60 * 3600)), 0), "35");
}
TEST(Money, NoCardsCostNothingEvenWithAPriceSet) {
  EXPECT_EQ(Cost(17, 0), 0);
  EXPECT_FALSE(std::signbit(WasteUpperBound(17, 0, 0)));
  EXPECT_EQ(WasteUpperBound(17, 10, 1.0), 0);
}

}  // namespace
}  // namespace sawbill::money
