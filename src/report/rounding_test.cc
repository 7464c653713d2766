// SPDX-License-Identifier: Apache-2.0
#include "report/rounding.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/numbers.h"
#include "report/render.h"
#include "report/testdata/sample_reports.h"
#include "report/view.h"

namespace sawbill::report {
namespace {

using testing::ElementsAre;

/// A printed figure in units of its last decimal.
int64_t Units(std::string s) {
  std::erase_if(s, [](char c) { return c == '.' || c == ',' || c == '%' || c == ' '; });
  return ParseInt(s).value();
}

TEST(RoundToSum, GivesTheMissingUnitToWhatLostMost) {
  EXPECT_THAT(RoundToSum({33.334, 33.333, 33.333}, 2), ElementsAre("33.34", "33.33", "33.33"));
  EXPECT_THAT(RoundToSum({0.5, 0.5, 1.0}, 0), ElementsAre("1", "0", "1"));
}

TEST(RoundToSum, LeavesZeroAtZeroAndWholeFiguresAsTheyAre) {
  EXPECT_THAT(RoundToSum({0, 0.29, 0, 0.71}, 2), ElementsAre("0.00", "0.29", "0.00", "0.71"));
}

TEST(RoundToSum, NothingIsMadeOfAMissingFigure) {
  EXPECT_THAT(RoundToSum({kMissing, 1.5, std::numeric_limits<double>::infinity()}, 1), ElementsAre("—", "1.5", "—"));
  EXPECT_TRUE(RoundToSum({}, 2).empty());
}

TEST(RoundUnits, FollowsAGivenTotalThatIsTheSumButForNoise) {
  const auto units = RoundUnits({1.004, 1.0}, 2, 2.005000001);
  EXPECT_EQ(*units[0] + *units[1], 201);
  const auto own = RoundUnits({1.004, 1.0}, 2, 3.5);
  EXPECT_EQ(*own[0] + *own[1], 200) << "a total that is something else is not spread over the rows";
}

TEST(RoundToSum, ColumnsAddUpAndNoFigureIsOffByAUnit) {
  std::mt19937_64 random(20260314);
  for (int round = 0; round < 3000; ++round) {
    const int decimals = static_cast<int>(random() % 5);
    const double scale = std::pow(10.0, decimals), size = std::pow(10.0, static_cast<double>(random() % 7));
    std::vector<double> values(1 + random() % 20);
    double sum = 0;
    for (double& v : values) {
      v = random() % 4 == 0 ? 0 : std::uniform_real_distribution<double>(0, size)(random);
      sum += v;
    }
    const std::vector<std::string> printed = RoundToSum(values, decimals);
    int64_t total = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      total += Units(printed[i]);
      EXPECT_LT(std::fabs(static_cast<double>(Units(printed[i])) - values[i] * scale), 1 + 1e-6) << printed[i];
      if (values[i] == 0) {
        EXPECT_EQ(Units(printed[i]), 0);
      }
    }
    EXPECT_EQ(total, Units(FormatFixed(sum, decimals)));
  }
}

TEST(View, LedgerAndSummaryAddUpToTheBill) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 500; ++round) {
    Report r = TwoCards(Lang::kEn);
    r.gpu_hours = std::uniform_real_distribution<double>(0.01, 5000)(random);
    r.cost = r.gpu_hours * std::uniform_real_distribution<double>(0.05, 20)(random);
    double sum = 0;
    for (LedgerRow& row : r.ledger)
      sum += row.share = random() % 3 == 0 ? 0 : std::uniform_real_distribution<double>(0, 1)(random);
    if (sum == 0) continue;
    for (LedgerRow& row : r.ledger) {
      row.share /= sum;
      row.gpu_seconds = row.share * r.gpu_hours * 3600;
      row.cost = row.share * *r.cost;
    }
    const View v(r);
    int64_t hours = 0, percent = 0, cost = 0, part_cost = 0, part_percent = 0;
    for (const LedgerCell& c : v.ledger()) {
      hours += Units(c.hours);
      percent += Units(c.percent);
      cost += Units(c.cost);
    }
    for (const PartCell& p : v.parts()) {
      part_cost += Units(p.amount);
      part_percent += Units(p.percent);
    }
    EXPECT_EQ(hours, Units(v.ledger_total().hours));
    EXPECT_EQ(percent, 1000);
    EXPECT_EQ(cost, Units(v.ledger_total().cost));
    EXPECT_EQ(v.ledger_total().cost, v.Total()) << "the account and the bill print the same total";
    EXPECT_EQ(v.ledger_total().hours, v.Hours(r.gpu_hours));
    EXPECT_EQ(part_cost, cost);
    EXPECT_EQ(part_percent, 1000);
  }
}

}  // namespace
}  // namespace sawbill::report
