// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/text.h"
#include "rules/causes.h"
#include "rules/rules.h"

namespace sawbill::rules {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Result<RuleSet> Parse(const std::string& text, RuleSet base = {}) {
  return ParseRules(text, "my.toml", std::move(base), false);
}

/// Rules that begin in line 2.
Result<RuleSet> Rules(const std::string& rules, RuleSet base = {}) {
  return Parse("schema = \"sawbill.rules/1\"\n" + rules, std::move(base));
}
std::string Wrong(const std::string& rules, RuleSet base = {}) {
  const Result<RuleSet> r = Rules(rules, std::move(base));
  EXPECT_FALSE(r.ok()) << rules;
  return r.ok() ? "" : r.status().message();
}

constexpr const char* kGood =
    "[[rule]]\nname = \"r\"\nfinding = \"data-loading\"\nrequire = [\"wait_share >= 8%\"]\n";  // lines 2-5

TEST(ParseRules, AllKeysOfARuleAreRead) {
  const Result<RuleSet> r = Rules(R"([[rule]]
name = "starving"
finding = "data-loading"
layer = "composite"
enabled = true
require = ["active_s >= 3m", "wait_share >= 6%"]
exclude = ["aliased == 1"]
support = [{ if = "worker_busy >= 80%", weight = 0.25 }]
contra = [{ if = "workers < 1", weight = 1 }]
base = 0.55
score_min = 0.7
margin = 0.2
note = "why"
note_zh = "为何"
[[rule.cause]]
id = "few-workers"
require = ["worker_busy >= 80%"]
exclude = ["cpu_util >= 90%"]
support = [{ if = "cores_free >= 1", weight = 0.2 }]
contra = [{ if = "iowait >= 20%", weight = 0.3 }]
base = 0.6
)");
  ASSERT_TRUE(r.ok()) << r.status().message();
  const Rule* rule = r->Find("starving");
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->finding, model::FindingId::kDataLoading);
  EXPECT_EQ(rule->where, "my.toml");
  EXPECT_EQ(rule->line, 2);
  EXPECT_FALSE(rule->built_in);
  ASSERT_EQ(rule->require.size(), 2u);
  EXPECT_EQ(rule->require[0].line, 7);
  EXPECT_EQ(rule->require[1].text, "wait_share >= 6%");
  ASSERT_EQ(rule->contra.size(), 1u);
  EXPECT_DOUBLE_EQ(rule->contra[0].weight, 1);
  EXPECT_DOUBLE_EQ(rule->base, 0.55);
  EXPECT_DOUBLE_EQ(rule->score_min, 0.7);
  EXPECT_DOUBLE_EQ(rule->margin, 0.2);
  EXPECT_EQ(rule->note_zh, "为何");
  ASSERT_EQ(rule->causes.size(), 1u);
  EXPECT_EQ(rule->causes[0].exclude.size(), 1u);
  EXPECT_DOUBLE_EQ(rule->causes[0].base, 0.6);
  EXPECT_EQ(r->Find("other"), nullptr);
}

TEST(ParseRules, ThresholdAndTrendRulesHaveATest) {
  const Result<RuleSet> r = Rules(R"([[rule]]
name = "low"
finding = "idle-held"
layer = "threshold"
when = "sm_util < 30%"
for = "5m"
[[rule]]
name = "slower"
finding = "degradation"
layer = "trend"
when = "sm_util falls 15%"
window = "15m"
against = "1h"
)");
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_DOUBLE_EQ(r->Find("low")->test->for_s, 300);
  EXPECT_DOUBLE_EQ(r->Find("low")->test->value, 30);
  EXPECT_DOUBLE_EQ(r->Find("slower")->test->window_s, 900);
  EXPECT_DOUBLE_EQ(r->Find("slower")->test->against_s, 3600);
}

TEST(ParseRules, AFileOnTopChangesARuleKeyByKey) {
  const Result<RuleSet> base = Rules(std::string(kGood) +
                                     "base = 0.55\n[[rule.cause]]\nid = \"few-workers\"\nbase = 0.6\n"
                                     "require = [\"worker_busy >= 80%\"]\n[[rule.cause]]\nid = \"cpu-saturated\"\n");
  ASSERT_TRUE(base.ok()) << base.status().message();
  const Result<RuleSet> r = Rules(R"([[rule]]
name = "r"
score_min = 0.8
support = [{ if = "swing >= 20%", weight = 0.3 }]
[[rule.cause]]
id = "few-workers"
base = 0.9
[[rule.cause]]
id = "cpu-saturated"
enabled = false
[[rule.cause]]
id = "slow-storage"
base = 0.8
[[rule]]
name = "mine"
finding = "unused"
require = ["unused_s >= 1h"]
)",
                                  *base);
  ASSERT_TRUE(r.ok()) << r.status().message();
  ASSERT_EQ(r->rules.size(), 2u);
  const Rule& changed = *r->Find("r");
  EXPECT_DOUBLE_EQ(changed.score_min, 0.8);
  EXPECT_DOUBLE_EQ(changed.base, 0.55) << "not named, so it stays";
  EXPECT_EQ(changed.require.size(), 1u);
  EXPECT_EQ(changed.support.size(), 1u);
  ASSERT_EQ(changed.causes.size(), 2u);
  EXPECT_DOUBLE_EQ(changed.causes[0].base, 0.9);
  EXPECT_EQ(changed.causes[0].require.size(), 1u);
  EXPECT_EQ(changed.causes[1].cause, model::Cause::kSlowStorage);
  EXPECT_TRUE(r->Find("mine")->enabled);
}

TEST(ParseRules, ARuleOfTheBaseCanBeTurnedOff) {
  const Result<RuleSet> r = Rules("[[rule]]\nname = \"logging\"\nenabled = false\n", DefaultRules());
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_FALSE(r->Find("logging")->enabled);
  EXPECT_FALSE(r->Find("logging")->built_in);
  EXPECT_TRUE(r->Find("evaluation")->built_in);
  EXPECT_EQ(r->rules.size(), DefaultRules().rules.size());
}

TEST(ParseRules, AnEmptyFileOnTopChangesNothing) {
  const Result<RuleSet> r = Rules("", DefaultRules());
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_EQ(r->rules.size(), DefaultRules().rules.size());
}

struct Mistake {
  const char* name;
  std::string rules;
  const char* place;
  const char* says;
};
class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, IsToldWithItsPlace) {
  const std::string message = Wrong(GetParam().rules);
  EXPECT_THAT(message, StartsWith(std::string("my.toml:") + GetParam().place + ": "));
  EXPECT_THAT(message, HasSubstr(GetParam().says));
  EXPECT_THAT(message, Not(HasSubstr("\n"))) << "one mistake, one line";
}

const std::string kRule = kGood;  // NOLINT: tests
INSTANTIATE_TEST_SUITE_P(
    All, Mistakes,
    ::testing::Values(
        Mistake{"Syntax", "[[rule]\nname = 1\n", "2:8", "this is not TOML"},
        Mistake{"UnknownKey", kRule + "suport = []\n", "6:1", "did you mean 'support'?"},
        Mistake{"UnknownTopKey", "[[rules]]\nname = \"r\"\n", "2:3", "did you mean 'rule'?"},
        Mistake{"SingleBrackets", "[rule]\nname = \"r\"\n", "2:1", "[[rule]]"},
        Mistake{"NoName", "[[rule]]\nfinding = \"unused\"\nrequire = [\"cards > 1\"]\n", "2:1", "needs name"},
        Mistake{"BadName", "[[rule]]\nname = \"a b\"\nfinding = \"unused\"\n", "3:8", "is no name of a rule"},
        Mistake{"TwiceTheSameName", kRule + kRule, "7:8", "stands in line 2 already"},
        Mistake{"NewRuleWithoutFinding", "[[rule]]\nname = \"new\"\n", "3:8", "needs finding"},
        Mistake{"UnknownFinding", "[[rule]]\nname = \"r\"\nfinding = \"chekpoint\"\nrequire = [\"cards > 1\"]\n",
                "4:11", "did you mean 'checkpoint'?"},
        Mistake{"UnknownFeature", kRule + "exclude = [\"aliasd == 1\"]\n", "6:13", "did you mean 'aliased'?"},
        Mistake{"BadOperator", kRule + "exclude = [\"aliased = 1\"]\n", "6:21", "did you mean '=='?"},
        Mistake{"BadUnit", kRule + "exclude = [\"aliased == 1s\"]\n", "6:24", "does not take the unit 's'"},
        Mistake{"SecondItemOfAList", kRule + "exclude = [\"aliased == 1\",\n  \"swing >= 5s\"]\n", "7:13", "unit 's'"},
        Mistake{"ConditionOfAnotherType", kRule + "exclude = [1]\n", "6:12", "a condition in quotes"},
        Mistake{"ListOfAnotherType", kRule + "exclude = \"aliased == 1\"\n", "6:11", "must be a list"},
        Mistake{"WeightAboveOne", kRule + "support = [{ if = \"aliased == 1\", weight = 25 }]\n", "6:44", "0 to 1"},
        Mistake{"WeightBelowZero", kRule + "contra = [{ if = \"aliased == 1\", weight = -0.1 }]\n", "6:43", "0 to 1"},
        Mistake{"WeightNan", kRule + "contra = [{ if = \"aliased == 1\", weight = nan }]\n", "6:43", "0 to 1"},
        Mistake{"NoWeight", kRule + "support = [{ if = \"aliased == 1\" }]\n", "6:12", "needs weight"},
        Mistake{"NoIf", kRule + "support = [{ weight = 0.1 }]\n", "6:12", "needs if"},
        Mistake{"EvidenceKey", kRule + "support = [{ if = \"aliased == 1\", wieght = 0.1, weight = 0.1 }]\n", "6:35",
                "did you mean 'weight'?"},
        Mistake{"EvidenceAsText", kRule + "support = [\"aliased == 1\"]\n", "6:12", "must be a list"},
        Mistake{"BaseAsText", kRule + "base = \"0.5\"\n", "6:8", "without quotes"},
        Mistake{"EnabledAsText", kRule + "enabled = \"no\"\n", "6:11", "true or false"},
        Mistake{"BadLayer", kRule + "layer = \"tresh\"\n", "6:9", "unknown layer 'tresh'"},
        Mistake{"WhenInComposite", kRule + "when = \"sm_util < 30%\"\n", "6:8", "belongs to a threshold or trend rule"},
        Mistake{"WindowInThreshold",
                kRule + "layer = \"threshold\"\nwhen = \"sm_util < 30%\"\nfor = \"1m\"\nwindow = \"1m\"\n", "9:10",
                "belongs to a trend rule"},
        Mistake{"ThresholdWithoutWhen", kRule + "layer = \"threshold\"\nfor = \"5m\"\n", "2:1", "needs when"},
        Mistake{"ThresholdWithoutFor", kRule + "layer = \"threshold\"\nwhen = \"sm_util < 30%\"\n", "2:1", "needs for"},
        Mistake{"TrendWithoutAgainst", kRule + "layer = \"trend\"\nwhen = \"sm_util falls 15%\"\nwindow = \"5m\"\n",
                "2:1", "and against"},
        Mistake{"UnknownMetric", kRule + "layer = \"threshold\"\nwhen = \"sm_utl < 30%\"\nfor = \"5m\"\n", "7:9",
                "did you mean 'sm_util'?"},
        Mistake{"BadDuration", kRule + "layer = \"threshold\"\nwhen = \"sm_util < 30%\"\nfor = \"5 parsecs\"\n", "8:7",
                "is no length of time"},
        Mistake{"NothingRequired", "[[rule]]\nname = \"r\"\nfinding = \"unused\"\n", "2:1", "would always fire"},
        Mistake{"CannotReach", kRule + "base = 0.2\n", "2:1", "can never be told"},
        Mistake{"UnknownCause", kRule + "[[rule.cause]]\nid = \"few-worker\"\n", "7:6", "did you mean 'few-workers'?"},
        Mistake{"CauseOfAnotherFinding", kRule + "[[rule.cause]]\nid = \"thermal\"\n", "7:6",
                "'data-loading' cannot have the cause 'thermal'"},
        Mistake{"CauseWithoutId", kRule + "[[rule.cause]]\nbase = 0.5\n", "6:1", "needs id"},
        Mistake{"CauseKey", kRule + "[[rule.cause]]\nid = \"few-workers\"\nscore_min = 1\n", "8:1",
                "unknown key 'score_min'"},
        Mistake{"CauseTwice", kRule + "[[rule.cause]]\nid = \"few-workers\"\n[[rule.cause]]\nid = \"few-workers\"\n",
                "9:6", "stands twice"},
        Mistake{"FindingWithoutCauses",
                "[[rule]]\nname = \"r\"\nfinding = \"startup\"\nrequire = [\"startup_s > 1m\"]\n[[rule.cause]]\nid = "
                "\"crash\"\n",
                "7:6", "it has none"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(ParseRules, TheSchemaMustBeThisBuilds) {
  EXPECT_THAT(Parse("").status().message(), HasSubstr("put schema = \"sawbill.rules/1\""));
  EXPECT_THAT(Parse("schema = \"sawbill.rules/9\"\n").status().message(), StartsWith("my.toml:1:10: schema"));
  EXPECT_THAT(Parse("schema = 1\n").status().message(), StartsWith("my.toml:1:10: schema must be"));
}

TEST(ParseRules, AllMistakesAreReportedInOrder) {
  const std::string message = Wrong(R"([[rule]]
name = "a"
finding = "unsued"
require = ["cards > x"]
base = 2
[[rule]]
name = "b"
findings = "unused"
finding = "unused"
require = ["cards > 1"]
)");
  const std::vector<std::string_view> lines = Split(message, '\n');
  ASSERT_EQ(lines.size(), 4u) << message;
  EXPECT_THAT(std::string(lines[0]), StartsWith("my.toml:4:11: unknown finding"));
  EXPECT_THAT(std::string(lines[1]), StartsWith("my.toml:5:21: 'x' is no number"));
  EXPECT_THAT(std::string(lines[2]), StartsWith("my.toml:6:8: base must be"));
  EXPECT_THAT(std::string(lines[3]), StartsWith("my.toml:9:1: unknown key 'findings'"));
}

TEST(ParseRules, TurningOffAMisspeltRuleIsAMistake) {
  EXPECT_THAT(Wrong("[[rule]]\nname = \"data-loadin\"\nenabled = false\n", DefaultRules()),
              HasSubstr("did you mean 'data-loading'?"));
}

TEST(ParseRules, ChangingTheLayerDropsTheOldTest) {
  const std::string message =
      Wrong("[[rule]]\nname = \"idle-held\"\nlayer = \"trend\"\nwindow = \"1m\"\nagainst = \"1m\"\n", DefaultRules());
  EXPECT_THAT(message, HasSubstr("needs when"));
}

TEST(ParseRules, ChangingTheFindingRefusesCausesThatItCannotHave) {
  EXPECT_THAT(Wrong("[[rule]]\nname = \"logging\"\nfinding = \"unused\"\n", DefaultRules()),
              HasSubstr("enabled = false"));
}

TEST(ParseRules, BytesThatAreNoTextAreRefusedNotPrinted) {
  const Result<RuleSet> r = Parse("schema = \"\x1b[31m\xff\"\n");
  ASSERT_FALSE(r.ok());
  EXPECT_THAT(r.status().message(), Not(HasSubstr("\x1b")));
}

TEST(ParseRules, EveryPrefixOfTheDefaultRulesIsReadOrRefused) {
  const std::string_view text = DefaultRulesText();
  for (size_t n = 0; n < text.size(); n += 397) {
    const Result<RuleSet> r = ParseRules(text.substr(0, n), "cut", {}, false);
    if (!r.ok()) {
      EXPECT_THAT(r.status().message(), StartsWith("cut:"));
    }
  }
}

TEST(CausesOf, EveryCauseBelongsToAFinding) {
  std::vector<int> seen(static_cast<size_t>(model::Cause::kCount));
  for (size_t i = 0; i < model::kFindingIds; ++i) {
    for (const model::Cause c : CausesOf(static_cast<model::FindingId>(i))) ++seen[static_cast<size_t>(c)];
  }
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_GT(seen[i], 0) << model::Name(static_cast<model::Cause>(i));
}

}  // namespace
}  // namespace sawbill::rules
