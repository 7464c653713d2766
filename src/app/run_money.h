// SPDX-License-Identifier: Apache-2.0
// What a run burns while it runs: said now and then on a terminal, and against a budget. The job's own output owns the
// terminal, so the figure that moves stands in the window's title, and a line is printed only at growing distances.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/environment.h"
#include "app/run_plan.h"
#include "app/settings.h"
#include "collect/collector.h"

namespace sawbill::app {

class RunMoney {
 public:
  RunMoney(const RunPlan& plan, const Settings& settings, Environment* env, TimeMs started)
      : plan_(plan), settings_(settings), env_(env), started_(started) {}
  /// The cards that are billed, once they are known.
  void SetCards(std::vector<model::CardInfo> cards) { cards_ = std::move(cards); }
  bool has_cards() const { return !cards_.empty(); }
  /// About once a second.
  void Tick(TimeMs now);
  ~RunMoney();
  RunMoney(const RunMoney&) = delete;
  RunMoney& operator=(const RunMoney&) = delete;

  /// Cost from the start to `now`; nothing when no card has a price.
  std::optional<double> Cost(TimeMs now) const;
  /// Of all cards with a price, an hour, at `now`.
  double PerHour(TimeMs now) const;

 private:
  void Title(const std::string& text);
  void CheckBudget(TimeMs now, double cost);
  std::string Money(double amount) const;

  const RunPlan& plan_;
  const Settings& settings_;
  Environment* env_;
  TimeMs started_, last_title_ = 0;
  std::vector<model::CardInfo> cards_;
  size_t lines_ = 0;
  int budget_told_ = -1;
  bool titled_ = false, projected_ = false;
};

}  // namespace sawbill::app
