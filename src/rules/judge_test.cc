// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <random>

#include "rules/rules.h"

namespace sawbill::rules {
namespace {
using model::Cause;
using wave::Feature;
using wave::FeatureSet;

FeatureSet With(std::initializer_list<std::pair<Feature, double>> values) {
  FeatureSet f;
  for (const auto& [feature, v] : values) f.Set(feature, v);
  return f;
}

RuleSet Parsed(const std::string& rules) {
  Result<RuleSet> r = ParseRules("schema = \"sawbill.rules/1\"\n" + rules, "test", {}, false);
  EXPECT_TRUE(r.ok()) << r.status().message();
  return r.ok() ? *r : RuleSet{};
}

constexpr const char* kRule = R"(
[[rule]]
name = "r"
finding = "data-loading"
require = ["wait_share >= 8%"]
exclude = ["aliased == 1"]
support = [{ if = "worker_busy >= 80%", weight = 0.25 }, { if = "iowait >= 10%", weight = 0.1 }]
contra = [{ if = "workers < 1", weight = 0.3 }]
base = 0.5
score_min = 0.5
margin = 0.1
[[rule.cause]]
id = "few-workers"
require = ["worker_busy >= 80%"]
base = 0.6
[[rule.cause]]
id = "cpu-saturated"
require = ["cpu_util >= 90%"]
base = 0.5
[[rule.cause]]
id = "slow-storage"
require = ["iowait >= 10%"]
exclude = ["disk_util < 5%"]
base = 0.5
)";

TEST(Evaluate, AConditionIsTrueFalseOrUnknown) {
  const RuleSet set = Parsed(kRule);
  const Condition& c = set.rules[0].require[0];
  EXPECT_EQ(Evaluate(c, With({{Feature::kWaitShare, 0.08}})), Truth::kTrue);
  EXPECT_EQ(Evaluate(c, With({{Feature::kWaitShare, 0.0799}})), Truth::kFalse);
  EXPECT_EQ(Evaluate(c, With({{Feature::kWaitShare, 0.0}})), Truth::kFalse);
  EXPECT_EQ(Evaluate(c, FeatureSet()), Truth::kUnknown);
}

TEST(Evaluate, AMissingValueIsUnknownForEveryOperator) {
  Condition c;
  c.feature = Feature::kWorkers;
  for (const Op op : {Op::kLt, Op::kLe, Op::kGt, Op::kGe, Op::kEq, Op::kNe}) {
    c.op = op;
    EXPECT_EQ(Evaluate(c, FeatureSet()), Truth::kUnknown);
  }
}

TEST(Judge, ScoreIsTheSumThatOneDoesByHand) {
  const RuleSet set = Parsed(kRule);
  Verdict v =
      Judge(set.rules[0], With({{Feature::kWaitShare, 0.4}, {Feature::kWorkerBusy, 0.9}, {Feature::kIowait, 3}}));
  EXPECT_TRUE(v.fired);
  EXPECT_DOUBLE_EQ(v.score, 0.5 + 0.25);
  EXPECT_DOUBLE_EQ(v.confidence, 0.75);
  v = Judge(set.rules[0], With({{Feature::kWaitShare, 0.4}, {Feature::kIowait, 30}, {Feature::kWorkers, 0}}));
  EXPECT_FALSE(v.fired);
  EXPECT_DOUBLE_EQ(v.score, 0.5 + 0.1 - 0.3);
  EXPECT_EQ(v.confidence, 0);
}

TEST(Judge, ConfidenceStaysBelowCertainty) {
  const RuleSet set = Parsed(
      "[[rule]]\nname=\"r\"\nfinding=\"unused\"\nrequire=[\"cards >= 1\"]\nbase=1.0\n"
      "support=[{if=\"cards >= 1\", weight=1.0}]\n");
  const Verdict v = Judge(set.rules[0], With({{Feature::kCards, 1}}));
  EXPECT_DOUBLE_EQ(v.score, 2);
  EXPECT_DOUBLE_EQ(v.confidence, 0.99);
}

TEST(Judge, AnUnknownRequirementNeverFires) {
  const RuleSet set = Parsed(kRule);
  const Verdict v = Judge(set.rules[0], With({{Feature::kWorkerBusy, 1}, {Feature::kIowait, 50}}));
  EXPECT_GE(v.score, 0.5);
  EXPECT_FALSE(v.fired);
  EXPECT_FALSE(v.cause);
}

TEST(Judge, AnExclusionStopsOnlyWhenItIsTrue) {
  const RuleSet set = Parsed(kRule);
  EXPECT_TRUE(Judge(set.rules[0], With({{Feature::kWaitShare, 0.4}})).fired);
  EXPECT_TRUE(Judge(set.rules[0], With({{Feature::kWaitShare, 0.4}, {Feature::kAliased, 0}})).fired);
  EXPECT_FALSE(Judge(set.rules[0], With({{Feature::kWaitShare, 0.4}, {Feature::kAliased, 1}})).fired);
}

TEST(Judge, AScoreOfExactlyTheThresholdCountsInBinaryToo) {
  const RuleSet set = Parsed(
      "[[rule]]\nname=\"r\"\nfinding=\"unused\"\nrequire=[\"cards >= 1\"]\nbase=0.1\nscore_min=0.3\n"
      "support=[{if=\"cards >= 1\", weight=0.1},{if=\"cards >= 1\", weight=0.1}]\n");
  EXPECT_TRUE(Judge(set.rules[0], With({{Feature::kCards, 1}})).fired);
}

TEST(Judge, ACauseIsNamedOnlyIfItLeadsByTheMargin) {
  const RuleSet set = Parsed(kRule);
  // 0.6 against 0.5: a lead of exactly 0.1, which binary arithmetic would call less.
  Verdict v =
      Judge(set.rules[0], With({{Feature::kWaitShare, 0.4}, {Feature::kWorkerBusy, 0.9}, {Feature::kCpuUtil, 95}}));
  EXPECT_EQ(v.cause, Cause::kFewWorkers);
  ASSERT_EQ(v.causes.size(), 3u);
  EXPECT_EQ(v.causes[0].cause, Cause::kFewWorkers);
  EXPECT_TRUE(v.causes[1].possible);
  EXPECT_FALSE(v.causes[2].possible);
  // 0.5 against 0.5: none.
  v = Judge(set.rules[0], With({{Feature::kWaitShare, 0.4}, {Feature::kIowait, 30}, {Feature::kCpuUtil, 95}}));
  EXPECT_TRUE(v.fired);
  EXPECT_FALSE(v.cause);
}

TEST(Judge, NoCauseIsNamedWhereNoneIsPossible) {
  const RuleSet set = Parsed(kRule);
  const Verdict v = Judge(set.rules[0], With({{Feature::kWaitShare, 0.4}}));
  EXPECT_TRUE(v.fired);
  EXPECT_FALSE(v.cause);
}

TEST(Judge, AnExcludedCauseIsNoRival) {
  const RuleSet set = Parsed(kRule);
  const Verdict v = Judge(
      set.rules[0],
      With({{Feature::kWaitShare, 0.4}, {Feature::kIowait, 30}, {Feature::kDiskUtil, 1}, {Feature::kCpuUtil, 95}}));
  EXPECT_EQ(v.cause, Cause::kCpuSaturated);
}

TEST(Judge, ALonelyCauseMustBeLikelyByItself) {
  const RuleSet set = Parsed(
      "[[rule]]\nname=\"r\"\nfinding=\"degradation\"\nrequire=[\"trend_drop >= 15%\"]\n"
      "[[rule.cause]]\nid=\"neighbour\"\nbase=0.1\nsupport=[{if=\"foreign_share >= 25%\", weight=0.5}]\n");
  EXPECT_FALSE(Judge(set.rules[0], With({{Feature::kTrendDrop, 0.3}})).cause);
  EXPECT_EQ(Judge(set.rules[0], With({{Feature::kTrendDrop, 0.3}, {Feature::kForeignShare, 0.5}})).cause,
            Cause::kNeighbour);
}

TEST(Judge, ADisabledRuleDoesNotFire) {
  RuleSet set = Parsed(kRule);
  set.rules[0].enabled = false;
  EXPECT_FALSE(Judge(set.rules[0], With({{Feature::kWaitShare, 0.4}})).fired);
}

TEST(Judge, AThresholdRuleFiresByItsTestOrByItsRequirements) {
  const RuleSet bare =
      Parsed("[[rule]]\nname=\"r\"\nfinding=\"throttling\"\nlayer=\"threshold\"\nwhen=\"temp_c > 88\"\nfor=\"5m\"\n");
  EXPECT_FALSE(Judge(bare.rules[0], FeatureSet()).fired) << "nobody ran the test";
  EXPECT_FALSE(Judge(bare.rules[0], FeatureSet(), {Truth::kUnknown, kMissing}).fired);
  EXPECT_FALSE(Judge(bare.rules[0], FeatureSet(), {Truth::kFalse, 20}).fired);
  EXPECT_TRUE(Judge(bare.rules[0], FeatureSet(), {Truth::kTrue, 400}).fired);
  const Rule& held = *DefaultRules().Find("idle-held");
  EXPECT_TRUE(Judge(held, With({{Feature::kIdleHeldS, 7200}})).fired);
  EXPECT_FALSE(Judge(held, FeatureSet()).fired);
}

// traceml #188: a phase without timing was counted as 0 ms and blamed something else with confidence.
TEST(Judge, WithoutDiskAndCpuSeriesNoCauseOnTheHostIsNamed) {
  const Rule& rule = *DefaultRules().Find("data-loading");
  FeatureSet f = With({{Feature::kActiveS, 3600},
                       {Feature::kWaitShare, 0.4},
                       {Feature::kLowShare, 0.4},
                       {Feature::kSwing, 45},
                       {Feature::kPowerSwing, 0.5},
                       {Feature::kDipCv, 0.1}});
  const Verdict without = Judge(rule, f);
  EXPECT_FALSE(without.cause);
  for (const auto& c : without.causes) {
    if (c.cause == Cause::kCpuSaturated || c.cause == Cause::kSlowStorage) {
      EXPECT_TRUE(!c.possible || c.score < rule.score_min) << model::Name(c.cause);
    }
  }
  f.Set(Feature::kWorkerBusy, 0.95);
  f.Set(Feature::kWorkers, 4);
  EXPECT_GT(Judge(rule, f).score, without.score) << "the grade must be lower where the host was not seen";
}

TEST(Judge, MoreMissingDataNeverMakesARequirementTrue) {
  std::mt19937 rng(7);  // fixed seed: the same cases each time
  std::uniform_real_distribution<double> value(0, 2);
  for (int round = 0; round < 200; ++round) {
    FeatureSet full;
    for (size_t i = 0; i < wave::kFeatures; ++i) full.Set(static_cast<Feature>(i), value(rng) * 100);
    for (const Rule& rule : DefaultRules().rules) {
      if (rule.require.empty()) continue;
      FeatureSet less = full;
      less.Set(rule.require[rng() % rule.require.size()].feature, kMissing);
      EXPECT_FALSE(Judge(rule, less).fired) << rule.name;
    }
  }
}

}  // namespace
}  // namespace sawbill::rules
