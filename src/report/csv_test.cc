// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <map>

#include "base/numbers.h"
#include "base/text.h"
#include "report/render.h"
#include "report/testdata/hostile_report.h"
#include "report/testdata/sample_reports.h"

namespace sawbill::report {
namespace {

using testing::HasSubstr;

std::vector<std::vector<std::string>> Rows(const std::string& csv) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (size_t i = 0; i < csv.size(); ++i) {
    const char c = csv[i];
    if (c == '"') {
      if (quoted && i + 1 < csv.size() && csv[i + 1] == '"') {
        rows.back().back() += csv[++i];
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

TEST(Csv, WithoutGroupsItIsTheLedgerOfAll) {
  const auto rows = Rows(RenderCsv(TwoCards(Lang::kEn)));
  ASSERT_EQ(rows.size(), 1 + model::kLines);
  EXPECT_THAT(rows[0], testing::ElementsAre("group", "line", "gpu_seconds", "share", "cost", "currency"));
  double seconds = 0, cost = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][0], "all");
    seconds += ParseDouble(rows[i][2]).value();
    cost += ParseDouble(rows[i][4]).value();
    EXPECT_EQ(rows[i][5], "USD");
  }
  EXPECT_NEAR(seconds, 17 * 3600, 1e-6);
  EXPECT_NEAR(cost, 1170.05, 1e-9);
}

TEST(Csv, AnUnknownCostIsEmptyAndHasNoCurrency) {
  const auto rows = Rows(RenderCsv(ForeignLog(Lang::kEn)));
  for (size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][4], "");
    EXPECT_EQ(rows[i][5], "");
  }
}

TEST(Csv, GroupsHaveTheirOwnLinesAndCosts) {
  Report r = TwelveCards(Lang::kEn);
  for (GroupRow& g : r.groups) {
    for (const double s : g.lines) g.line_costs.emplace_back(s / 3600 * 2.5);
  }
  const auto rows = Rows(RenderCsv(r));
  ASSERT_EQ(rows.size(), 1 + 3 * model::kLines);
  std::map<std::string, double> cost;
  for (size_t i = 1; i < rows.size(); ++i) cost[rows[i][0]] += ParseDouble(rows[i][4]).value();
  EXPECT_NEAR(cost["mei"], 7200, 1e-6);
  EXPECT_NEAR(cost["jan"], 7200, 1e-6);
  EXPECT_EQ(rows[1][1], "useful");
}

TEST(Csv, WithSeveralPricesAGroupsCostByLineIsNotGuessed) {
  Report r = TwelveCards(Lang::kEn);
  for (GpuRow& g : r.gpus) g.prices = {{r.period_from, r.period_to, 2.5, "reserved", "contract", ""}};
  EXPECT_EQ(Rows(RenderCsv(r))[1][4], "5112.000000") << "0.71 of 2,880 h at 2.5";
  r.gpus[3].prices[0].price_per_hour = 3;
  EXPECT_EQ(Rows(RenderCsv(r))[1][4], "");
}

TEST(Csv, HostileGroupNamesStayInTheirCell) {
  Report r = HostileReport(Lang::kEn);
  r.groups[0].key = "=cmd|' /C calc'!A0";
  const std::string csv = RenderCsv(r);
  for (const auto& row : Rows(csv)) EXPECT_EQ(row.size(), 6u);
  EXPECT_THAT(csv, HasSubstr("'=cmd"));
  EXPECT_EQ(csv.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace sawbill::report
