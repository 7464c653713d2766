// SPDX-License-Identifier: Apache-2.0
#include "report/build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analysis/recording_builder.h"
#include "report/render.h"

namespace sawbill::report {
namespace {

using analysis::RecordingBuilder;

Report Make(model::Recording r, const std::vector<std::string>& prices, BuildOptions o = {}) {
  const analysis::FixedSource source(std::move(r));
  const Result<analysis::Analysis> a = analysis::Analyze(source, {});
  SAWBILL_CHECK(a.ok());
  money::PriceBook book;
  for (const std::string& p : prices) SAWBILL_CHECK(book.AddFlag(p, o.currency).ok());
  o.prices = &book;
  Result<Report> report = Build(*a, o);
  SAWBILL_CHECK(report.ok());
  return std::move(report).value();
}

std::string Starving(int teeth) {
  std::string wave = "0x21 ";
  for (int i = 0; i < teeth; ++i) wave += "100x6 0x4 ";
  return wave;
}

model::Recording Sawtooth() {
  RecordingBuilder::Job j;
  j.to_s = 3601;
  j.workers = 2;
  j.tree_cores = 2.5;
  j.main_cores = 0.5;
  return RecordingBuilder().Card(Starving(358)).Constant(model::GpuMetric::kMemUsedMb, 60000).Process({0}, j).Build();
}

TEST(Build, TheLedgerAddsUpToTheBill) {
  const Report r = Make(Sawtooth(), {"10"});
  double cost = 0, seconds = 0;
  for (const LedgerRow& row : r.ledger) {
    ASSERT_TRUE(row.cost.has_value());
    EXPECT_GE(*row.cost, 0);
    cost += *row.cost;
    seconds += row.gpu_seconds;
  }
  ASSERT_TRUE(r.cost.has_value());
  EXPECT_NEAR(cost, *r.cost, 1e-6);
  EXPECT_NEAR(seconds, r.gpu_hours * 3600, 1e-6);
  EXPECT_NEAR(*r.cost, 10.0, 0.01);
  EXPECT_EQ(r.ledger.size(), model::kLines);
}

TEST(Build, TheUpperBoundIsTheClassicFormula) {
  const Report r = Make(Sawtooth(), {"10"});
  ASSERT_TRUE(r.waste_upper_bound.has_value());
  EXPECT_NEAR(*r.waste_upper_bound, 10.0 * (3600 - 358 * 6) / 3600, 0.02);
}

TEST(Build, WithoutAPriceHoursAreShownAndMoneyIsAbsent) {
  const Report r = Make(Sawtooth(), {});
  EXPECT_FALSE(r.cost.has_value());
  EXPECT_FALSE(r.waste_upper_bound.has_value());
  EXPECT_NEAR(r.gpu_hours, 1, 0.01);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_FALSE(r.findings[0].saving->expected.has_value());
  EXPECT_GT(r.findings[0].saving->share, 0.3);
  EXPECT_EQ(r.unpriced, std::vector<std::string>{"NVIDIA A100-SXM4-80GB"});
}

TEST(Build, WhatIsTooSmallToMatterIsCountedAndNotListed) {
  BuildOptions o;
  o.min_saving_amount = 100.0;
  const Report r = Make(Sawtooth(), {"10"}, o);
  EXPECT_TRUE(r.findings.empty());
  EXPECT_EQ(r.below_minimum_count, 1);
  EXPECT_NEAR(*r.below_minimum_saving, 3.9, 0.2);
}

TEST(Build, NoCardsWithAPriceMakeAnEmptyBillAndNoNegativeCost) {
  const Report r = Make(model::Recording{}, {"10"});
  EXPECT_EQ(r.gpu_hours, 0);
  for (const LedgerRow& row : r.ledger) EXPECT_EQ(row.gpu_seconds, 0);
}

TEST(Build, ACardThatWasSeenForAPartOnlyIsBilledAndSaysSo) {
  model::Recording r = RecordingBuilder().Card("95x3600").Card("95x3600").Card("95x3600").Build();
  const auto keep = [](size_t from, size_t to, model::GpuTrack* g) {
    const auto cut = [&](auto* v) {
      if (!v->empty()) *v = {v->begin() + static_cast<long>(from), v->begin() + static_cast<long>(to)};
    };
    cut(&g->t_ms);
    for (auto& column : g->columns) cut(&column);
    cut(&g->energy_j);
  };
  keep(1000, 1001, &r.gpus[1]);
  keep(0, 600, &r.gpus[2]);
  const Report report = Make(std::move(r), {"10"});
  ASSERT_EQ(report.gpus.size(), 3U);
  EXPECT_EQ(report.gpus[0].samples, 3600);
  EXPECT_EQ(report.gpus[1].samples, 1);
  EXPECT_EQ(report.gpus[2].samples, 600);
  EXPECT_EQ(report.gpus[2].seen_from, report.gpus[0].seen_from);
  EXPECT_EQ(report.gpus[2].seen_to - report.gpus[2].seen_from, 599'000);
  ASSERT_TRUE(report.cost.has_value());
  EXPECT_NEAR(*report.cost, 30, 0.05);
  const std::string text = RenderText(report, {});
  EXPECT_NE(text.find("GPU 1 was seen once only"), std::string::npos) << text;
  EXPECT_NE(text.find("GPU 2 was seen"), std::string::npos) << text;
  EXPECT_EQ(text.find("GPU 0 was seen"), std::string::npos) << text;
  EXPECT_NE(text.find("one sample only, which covers no time"), std::string::npos) << text;
}

TEST(Build, NoTimeAndNoPriceIsNoAmount) {
  const Report unpriced = Make(RecordingBuilder().Card("95x1").Build(), {});
  EXPECT_FALSE(unpriced.cost.has_value());
  const std::string text = RenderText(unpriced, {});
  EXPECT_EQ(text.find("TOTAL COST"), std::string::npos) << text;
  EXPECT_NE(text.find("one sample only"), std::string::npos) << text;
  EXPECT_EQ(text.find("was not recorded"), std::string::npos) << text;
  const Report priced = Make(RecordingBuilder().Card("95x1").Build(), {"10"});
  ASSERT_TRUE(priced.cost.has_value());
  EXPECT_EQ(*priced.cost, 0);
}

TEST(Build, EachCardsUnexplainedTimeHasItsOwnReason) {
  RecordingBuilder b;
  model::Recording r = b.Card("40x3600").Card("40x3600").Build();
  auto& util = r.gpus[0].columns[static_cast<size_t>(model::GpuMetric::kSmUtil)];
  std::fill(util.begin(), util.end(), static_cast<float>(kMissing));
  const std::string text = RenderText(Make(std::move(r), {"10"}), {});
  EXPECT_NE(text.find("utilisation was recorded of card 0; 30 % is unexplained"), std::string::npos) << text;
}

TEST(Build, GroupsHoldTheWholeBill) {
  for (const char* by : {"run", "user", "job", "gpu", "node", "day", "month", "label"}) {
    BuildOptions o;
    o.by = by;
    const Report r = Make(Sawtooth(), {"10"}, o);
    double cost = 0;
    for (const GroupRow& g : r.groups) cost += *g.cost;
    EXPECT_NEAR(cost, *r.cost, 1e-6) << by;
  }
}

TEST(Build, SavingsAddUpToTheTotal) {
  const Report r = Make(Sawtooth(), {"10"});
  double sum = 0;
  for (const Finding& f : r.findings) sum += f.saving ? *f.saving->expected : 0;
  ASSERT_TRUE(r.total_saving.has_value());
  EXPECT_NEAR(*r.total_saving->expected, sum, 1e-9);
}

TEST(Build, TwoCurrenciesAreRefused) {
  const analysis::FixedSource source(Sawtooth());
  const Result<analysis::Analysis> a = analysis::Analyze(source, {});
  ASSERT_TRUE(a.ok());
  money::PriceBook book;
  ASSERT_TRUE(book.AddFlag("10", "CNY").ok());
  BuildOptions o;
  o.currency = "USD";
  o.prices = &book;
  EXPECT_FALSE(Build(*a, o).ok());
}

TEST(Build, EnergyComesFromTheCounterElseFromPowerAndIsNeverZeroForLackOfACounter) {
  // 250 W for an hour without a counter: 0.25 kWh, integrated.
  model::Recording r = RecordingBuilder().Card("99x3601").Constant(model::GpuMetric::kPowerW, 250).Build();
  const Report integrated = Make(r, {});
  ASSERT_TRUE(integrated.gpus[0].energy_kwh.has_value());
  EXPECT_NEAR(*integrated.gpus[0].energy_kwh, 0.25, 1e-6);
  EXPECT_EQ(integrated.gpus[0].energy_method, "integrated");
  for (size_t i = 0; i < r.gpus[0].size(); ++i) r.gpus[0].energy_j.push_back(1e6 + 187.0 * static_cast<double>(i));
  const Report counted = Make(r, {});
  EXPECT_NEAR(*counted.gpus[0].energy_kwh, 187.0 * 3600 / 3.6e6, 1e-6);
  EXPECT_EQ(counted.gpus[0].energy_method, "counter");
  model::Recording none = RecordingBuilder().Card("99x600").Build();
  none.gpus[0].columns[static_cast<size_t>(model::GpuMetric::kPowerW)].clear();
  EXPECT_FALSE(Make(none, {}).gpus[0].energy_kwh.has_value());
}

}  // namespace
}  // namespace sawbill::report
