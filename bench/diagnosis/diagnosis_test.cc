// SPDX-License-Identifier: Apache-2.0
// One run of each scenario through the whole program: what is wrong is named with its cause, nothing else is, and the
// account balances. Simulated; the bench beside it prints the scores over many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>
#include <string>

#include "base/time.h"
#include "bench/diagnosis/baselines.h"
#include "bench/diagnosis/poorer.h"
#include "bench/diagnosis/product.h"
#include "bench/diagnosis/score.h"
#include "simulator/scenarios.h"
#include "simulator/write.h"

namespace sawbill::bench {
namespace {

/// What cannot be told today from outside: a level of evaluation that looks like the gaps of training.
const std::set<std::string> kMissed = {"host-bound-and-evaluation"};

class EachScenario : public testing::TestWithParam<const simulator::ScenarioInfo*> {};

TEST_P(EachScenario, IsNamedWithItsCauseAndNothingElseIs) {
  simulator::Options options;
  options.seed = 1001;
  options.band = simulator::Band::kTrain;
  const simulator::Simulation s = simulator::Simulate(*GetParam(), options);
  simulator::WriteSpec write;
  write.start_ms = *ParseRfc3339("2026-03-02T01:00:00Z");
  write.packing = simulator::Packing::kPlain;
  write.util_window_s = s.measure.window_s > 0 ? s.measure.window_s : s.model->window_s;
  write.power_limit_share = s.measure.power_limit_share;
  const auto readings = simulator::Measure(s.world, *s.model, s.measure, simulator::Rng(1001).Fork("instruments"));
  const std::vector<simulator::OutFile> files = simulator::Render(s.world, readings, *s.model, s.truth, write);
  for (const PoorerRecord& record : PoorerRecords()) {
    const PoorerScore poorer = ScorePoorer(s, AskSawbill(MakePoorer(files, record), 10));
    EXPECT_EQ(poorer.on_healthy, 0) << record.name;
    EXPECT_EQ(poorer.wrong_cause, 0) << record.name;
  }
  const Answer answer = AskSawbill(files, 10);
  const RunScore score = Score(s, answer, 10);
  EXPECT_FALSE(score.crashed) << answer.error;
  EXPECT_FALSE(score.unbalanced);
  EXPECT_EQ(score.wrong, 0) << score.got;
  if (kMissed.contains(GetParam()->name)) return;
  EXPECT_EQ(score.hits, score.expected) << score.got;
  EXPECT_EQ(score.cause_right, score.cause_asked) << score.got;
  for (const double distance : score.ledger_distance) EXPECT_LT(distance, 0.15);
}

std::vector<const simulator::ScenarioInfo*> All() {
  std::vector<const simulator::ScenarioInfo*> out;
  for (const auto& info : simulator::Scenarios()) {
    if (std::string(info.name) != "demo") out.push_back(&info);
  }
  return out;
}

std::string NameOf(const testing::TestParamInfo<const simulator::ScenarioInfo*>& info) {
  std::string name = info.param->name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Simulated, EachScenario, testing::ValuesIn(All()), NameOf);

TEST(Baselines, FisherFindsASineAndNothingInWhiteNoise) {
  simulator::Rng rng(7);
  std::vector<double> sine, noise;
  for (int i = 0; i < 600; ++i) {
    noise.push_back(rng.Normal());
    sine.push_back(std::sin(2 * std::numbers::pi * i / 20) + rng.Normal());
  }
  EXPECT_NEAR(FisherG(sine).period, 20, 0.5);
  EXPECT_LT(FisherG(sine).p_value, 1e-6);
  EXPECT_GT(FisherG(noise).p_value, 0.01);
}

TEST(Band, PartsOfARangeAreDisjointAndCoverIt) {
  std::set<int> tenths[4];
  for (const auto band : {simulator::Band::kTrain, simulator::Band::kDev, simulator::Band::kTest}) {
    simulator::Rng rng(3);
    rng.Restrict(band);
    for (int i = 0; i < 2000; ++i) tenths[static_cast<int>(band)].insert(static_cast<int>(rng.Uniform(0, 10)));
  }
  EXPECT_THAT(tenths[1], testing::ElementsAre(1, 3, 5, 6, 8));
  EXPECT_THAT(tenths[2], testing::ElementsAre(2, 7));
  EXPECT_THAT(tenths[3], testing::ElementsAre(0, 4, 9));
}

}  // namespace
}  // namespace sawbill::bench
