// SPDX-License-Identifier: Apache-2.0
#include "app/run_money.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sawbill::app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr TimeMs kStart = 1'772'400'000'000, kHour = 3'600'000;

struct Till {
  RunPlan plan;
  Settings s;
  Environment env;
  MemStream err;
  std::unique_ptr<RunMoney> money;
  explicit Till(const char* price, std::optional<double> budget = std::nullopt) {
    plan.budget = budget;
    env.err = &err;
    if (price != nullptr) {
      EXPECT_TRUE(s.prices.AddFlag(price, "USD").ok());
    }
    money = std::make_unique<RunMoney>(plan, s, &env, kStart);
    model::CardInfo card;
    card.name = "NVIDIA H100 80GB HBM3";
    money->SetCards(std::vector<model::CardInfo>(8, card));
  }
  std::string At(double hours) {
    err.Clear();
    money->Tick(kStart + static_cast<TimeMs>(hours * static_cast<double>(kHour)));
    return err.text();
  }
};

TEST(RunMoney, EightCardsAtTwoAnHourAreSixteenAnHour) {
  Till t("2");
  EXPECT_NEAR(*t.money->Cost(kStart + 3 * kHour), 48, 1e-9);
  EXPECT_NEAR(t.money->PerHour(kStart + 3 * kHour), 16, 1e-9);
}

TEST(RunMoney, WithoutAPriceThereIsNoCost) {
  Till t(nullptr);
  EXPECT_FALSE(t.money->Cost(kStart + kHour));
  t.env.err_is_terminal = true;
  EXPECT_THAT(t.At(1), HasSubstr("8.00 card-hours"));
}

TEST(RunMoney, SaysHowLongABudgetLastsAndWhenItIsSpent) {
  Till t("2", 160);
  EXPECT_THAT(t.At(0.001), HasSubstr("160.00 USD lasts 10 h, at 16.00 USD an hour"));
  EXPECT_THAT(t.At(4.9), IsEmpty());
  EXPECT_THAT(t.At(5.1), HasSubstr("50 % of the budget"));
  EXPECT_THAT(t.At(5.2), IsEmpty());  // once
  EXPECT_THAT(t.At(8.1), HasSubstr("80 % of the budget"));
  EXPECT_THAT(t.At(10.01), HasSubstr("is spent (160.16 USD)"));
}

TEST(RunMoney, ProjectsTheCostWhereTheSchedulerSaysTheEnd) {
  Till t("2", 100);
  const_cast<RunPlan&>(t.plan).job_end = kStart + 10 * kHour;
  EXPECT_THAT(t.At(0.001), HasSubstr("160.00 USD, MORE than the budget of 100.00 USD"));
}

TEST(RunMoney, LinesComeAtGrowingDistancesAndOnATerminalOnly) {
  Till t("2");
  EXPECT_THAT(t.At(1), IsEmpty());
  Till u("2");
  u.env.err_is_terminal = true;
  int lines = 0;
  for (int second = 1; second <= 7200; ++second) lines += u.At(second / 3600.0).empty() ? 0 : 1;
  EXPECT_EQ(lines, 3 + 4);  // 1, 5, 15 minutes, then 30, 60, 90, 120
}

TEST(RunMoney, TheTitleIsTakenBack) {
  Till t("2");
  t.env.err_is_terminal = true;
  t.env.vars["TERM"] = "xterm";
  EXPECT_THAT(t.At(0.01), HasSubstr("\033[22;0t\033]0;"));  // the one before is kept by the terminal, once
  EXPECT_THAT(t.At(0.02), AllOf(HasSubstr("\033]0;"), Not(HasSubstr("\033[22;0t"))));
  t.err.Clear();
  t.money.reset();
  EXPECT_EQ(t.err.text(), "\033]0;\007\033[23;0t");
}

}  // namespace
}  // namespace sawbill::app
