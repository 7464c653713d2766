// SPDX-License-Identifier: Apache-2.0
#include "app/run_money.h"

#include <algorithm>
#include <utility>

#include "app/pipeline.h"
#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::app {
namespace {

constexpr TimeMs kMinute = 60'000;
constexpr TimeMs kTitleEvery = 5'000;

/// 1, 5, 15 and 30 minutes, then every half hour.
TimeMs LineAt(size_t n) {
  constexpr TimeMs first[] = {kMinute, 5 * kMinute, 15 * kMinute, 30 * kMinute};
  return n < std::size(first) ? first[n] : static_cast<TimeMs>(n - std::size(first) + 2) * 30 * kMinute;
}

constexpr int kBudgetSteps[] = {50, 80, 100};

}  // namespace

std::string RunMoney::Money(double amount) const { return FormatGrouped(amount, 2) + " " + settings_.currency; }

std::optional<double> RunMoney::Cost(TimeMs now) const {
  std::optional<double> cost;
  for (const model::CardInfo& card : cards_) {
    for (const money::PriceInterval& p : settings_.prices.Lookup(card, plan_.job, {started_, now})) {
      if (p.price != nullptr && p.price->currency == settings_.currency)
        cost = cost.value_or(0) + money::Cost(p.price->per_hour, p.range.seconds());
    }
  }
  return cost;
}

double RunMoney::PerHour(TimeMs now) const {
  double sum = 0;
  for (const model::CardInfo& card : cards_) {
    const auto prices = settings_.prices.Lookup(card, plan_.job, {now - 1, now});
    if (!prices.empty() && prices.back().price != nullptr && prices.back().price->currency == settings_.currency)
      sum += prices.back().price->per_hour;
  }
  return sum;
}

RunMoney::~RunMoney() {
  // A terminal that keeps no stack of titles at least gets rid of ours.
  if (titled_) env_->err->Write("\033]0;\007\033[23;0t");
}

void RunMoney::Title(const std::string& text) {
  const auto term = env_->Var("TERM");
  if (!env_->err_is_terminal || !term || *term == "dumb" || *term == "linux") return;
  if (!std::exchange(titled_, true)) env_->err->Write("\033[22;0t");  // the title that stands there, onto the stack
  env_->err->Write("\033]0;" + Sanitize(text) + "\007");
}

void RunMoney::Tick(TimeMs now) {
  if (cards_.empty()) return;
  const auto cost = Cost(now);
  const TimeMs elapsed = now - started_;
  const std::string so_far =
      cost ? Tr(settings_.lang, Msg::kRecSoFar, FormatDuration(Seconds(elapsed), settings_.lang), Money(*cost),
                Money(PerHour(now)), cards_.size())
           : Tr(settings_.lang, Msg::kRecSoFarHours, FormatDuration(Seconds(elapsed), settings_.lang),
                FormatFixed(Seconds(elapsed) / 3600 * static_cast<double>(cards_.size()), 2), cards_.size());
  if (now - last_title_ >= kTitleEvery) {
    last_title_ = now;
    Title(so_far);
  }
  if (env_->err_is_terminal && elapsed >= LineAt(lines_)) {
    while (elapsed >= LineAt(lines_)) ++lines_;
    Note(env_, so_far);
  }
  if (cost && plan_.budget) CheckBudget(now, *cost);
  if (!cost && plan_.budget && !std::exchange(projected_, true))
    Note(env_, std::string(Text(settings_.lang, Msg::kRecNoPrice)));
}

void RunMoney::CheckBudget(TimeMs now, double cost) {
  const double budget = *plan_.budget, per_hour = PerHour(now);
  if (!projected_ && per_hour > 0) {
    projected_ = true;
    const double hours = budget / per_hour;
    Note(env_, Tr(settings_.lang, Msg::kRecBudgetLasts, Money(budget), FormatDuration(hours * 3600, settings_.lang),
                  Money(per_hour)));
    if (plan_.job_end && *plan_.job_end > started_) {
      const double projected = cost + money::Cost(per_hour, Seconds(*plan_.job_end - now));
      Note(env_, Tr(settings_.lang, projected > budget ? Msg::kRecProjectedOver : Msg::kRecProjected, Money(projected),
                    Money(budget)));
    }
  }
  const int percent = static_cast<int>(100 * cost / budget);
  int reached = -1;
  for (const int step : kBudgetSteps) {
    if (percent >= step) reached = step;
  }
  if (reached <= budget_told_) return;
  budget_told_ = reached;
  Note(env_, reached >= 100 ? Tr(settings_.lang, Msg::kRecBudgetSpent, Money(budget), Money(cost))
                            : Tr(settings_.lang, Msg::kRecBudgetShare, reached, Money(budget), Money(cost)));
}

}  // namespace sawbill::app
