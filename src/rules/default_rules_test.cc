// SPDX-License-Identifier: Apache-2.0
// The shipped rules, and that docs/formats/rules.md says of them what the code does.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"
#include "rules/rules.h"

namespace sawbill::rules {
namespace {
using ::testing::HasSubstr;

std::string ReadFile(const std::string& path) {
  std::ifstream in(std::string(SAWBILL_SOURCE_DIR) + "/" + path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// What stands between the line that begins with `from` and the next `to`.
std::string Between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t mark = text.find(from);
  if (mark == std::string::npos) return "";
  const size_t begin = text.find('\n', mark) + 1;
  return text.substr(begin, text.find(to, begin) - begin);
}

TEST(DefaultRules, AreTheFileInTheTree) {
  EXPECT_TRUE(DefaultRulesText() == ReadFile("rules/default.toml"))
      << "built from another rules/default.toml: build again";
}

TEST(DefaultRules, ParseAndAreBuiltIn) {
  const Result<RuleSet> r = ParseRules(DefaultRulesText(), "rules/default.toml", {}, true);
  ASSERT_TRUE(r.ok()) << r.status().message();
  for (const Rule& rule : DefaultRules().rules) {
    EXPECT_TRUE(rule.built_in) << rule.name;
    EXPECT_EQ(rule.where, "default rules");
  }
}

TEST(DefaultRules, EveryFindingHasAnEnabledRuleNamedAfterIt) {
  for (size_t i = 0; i < model::kFindingIds; ++i) {
    const auto id = static_cast<model::FindingId>(i);
    const Rule* rule = DefaultRules().Find(model::Name(id));
    ASSERT_NE(rule, nullptr) << model::Name(id);
    EXPECT_TRUE(rule->enabled) << rule->name;
    EXPECT_EQ(rule->finding, id) << rule->name;
  }
}

TEST(DefaultRules, EachSaysWhyInBothLanguages) {
  for (const Rule& rule : DefaultRules().rules) {
    EXPECT_GE(rule.note_en.size(), 40u) << rule.name;
    EXPECT_GE(rule.note_zh.size(), 40u) << rule.name;
  }
}

TEST(DefaultRules, UseAllThreeLayers) {
  std::set<Layer> layers;
  for (const Rule& rule : DefaultRules().rules) layers.insert(rule.layer);
  EXPECT_EQ(layers.size(), 3u);
}

TEST(DefaultRules, NoneFiresOnNoData) {
  for (const Rule& rule : DefaultRules().rules) {
    EXPECT_FALSE(Judge(rule, wave::FeatureSet()).fired) << rule.name;
  }
}

TEST(DefaultRules, NoneFiresOnAWellFedCard) {
  using wave::Feature;
  wave::FeatureSet f;
  const std::pair<Feature, double> healthy[] = {
      {Feature::kActiveS, 7200},      {Feature::kMeasuredShare, 1},   {Feature::kCards, 1},
      {Feature::kUtilMean, 98},       {Feature::kUtilP95, 100},       {Feature::kLowShare, 0},
      {Feature::kWaitShare, 0.01},    {Feature::kPowerShare, 0.9},    {Feature::kBusyPowerShare, 0.9},
      {Feature::kSmActive, 0.9},      {Feature::kTensorActive, 0.4},  {Feature::kHasTensorCores, 1},
      {Feature::kMemUsedShare, 0.85}, {Feature::kCpuUtil, 40},        {Feature::kIowait, 0},
      {Feature::kDiskUtil, 5},        {Feature::kWorkers, 8},         {Feature::kWorkerBusy, 0.4},
      {Feature::kMainBusy, 0.5},      {Feature::kSwing, 3},           {Feature::kAliased, 0},
      {Feature::kThermalShare, 0},    {Feature::kPowerCapShare, 0.9}, {Feature::kClockShare, 0.99},
      {Feature::kTrendDrop, 0.01},    {Feature::kStartupS, 40},       {Feature::kIdleHeldS, 0},
      {Feature::kUnusedS, 0},         {Feature::kHangS, 0},           {Feature::kRestarts, 0},
      {Feature::kNeighbourShare, 0}};
  for (const auto& [feature, v] : healthy) f.Set(feature, v);
  for (const Rule& rule : DefaultRules().rules)
    EXPECT_FALSE(Judge(rule, f).fired) << Explain(Judge(rule, f), Lang::kEn);
}

TEST(Docs, FeatureTableEqualsTheCode) {
  const std::string path = "docs/formats/rules.md";
  const std::string text = ReadFile(path), table = FeatureTableMarkdown();
  const std::string old = Between(text, "<!-- features:", "<!-- end of features -->");
  if (old != table && std::getenv("SAWBILL_UPDATE_DOCS") != nullptr) {
    const size_t begin = text.find('\n', text.find("<!-- features:")) + 1;
    std::string fresh = text;
    fresh.replace(begin, old.size(), table);
    std::ofstream(std::string(SAWBILL_SOURCE_DIR) + "/" + path, std::ios::binary) << fresh;
    GTEST_SKIP() << path << " rewritten; run again";
  }
  EXPECT_EQ(old, table) << "features.inc changed: run SAWBILL_UPDATE_DOCS=1 rules_test, and commit " << path;
}

/// A word of `from` that a reader can look up: a column of the day files or of the inventory, or another feature.
bool CanBeLookedUp(const std::string& word) {
  constexpr std::string_view kOtherColumns[] = {"memory_total_mb", "power_limit_w"};
  return model::FindGpuMetric(word) || model::FindHostMetric(word) || model::FindProcessMetric(word) ||
         wave::FindFeature(word) ||
         std::find(std::begin(kOtherColumns), std::end(kOtherColumns), word) != std::end(kOtherColumns);
}

TEST(Docs, EveryFeatureSaysFromWhichColumnsItIs) {
  for (size_t i = 0; i < wave::kFeatures; ++i) {
    const wave::FeatureInfo& info = wave::Info(static_cast<wave::Feature>(i));
    const std::string from = std::string(info.from) + " ";
    EXPECT_GT(from.size(), 8u) << info.name;
    std::string word;
    for (const char c : from) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
        word += c;
        continue;
      }
      EXPECT_TRUE(word.find('_') == std::string::npos || CanBeLookedUp(word)) << info.name << ": " << word;
      word.clear();
    }
  }
}

// SageMaker Debugger's documented thresholds differ from the shipped ones for six rules.
TEST(Docs, TheDefaultsThatAreQuotedAreTheCodes) {
  const std::string text = ReadFile("docs/formats/rules.md");
  const Rule rule;
  EXPECT_THAT(text, HasSubstr("| `base` | `" + FormatShortest(rule.base) + "` |"));
  EXPECT_THAT(text, HasSubstr("| `score_min` | `" + FormatShortest(rule.score_min) + "` |"));
  EXPECT_THAT(text, HasSubstr("| `margin` | `" + FormatShortest(rule.margin) + "` |"));
  EXPECT_THAT(text, HasSubstr("`base` (default `" + FormatShortest(CauseRule().base) + "`)"));
  EXPECT_THAT(text, HasSubstr(rule.layer == Layer::kComposite && rule.enabled ? "| `layer` | `composite` |" : "?"));
}

TEST(Docs, TheExampleFileIsRight) {
  const std::string example = Between(ReadFile("docs/formats/rules.md"), "```toml", "```");
  const Result<RuleSet> r = ParseRules(example, "example", DefaultRules(), false);
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_FALSE(r->Find("logging")->enabled);
  EXPECT_NE(r->Find("hot-card"), nullptr);
}

TEST(Docs, TheMistakesAreAnsweredAsQuoted) {
  const std::string text = ReadFile("docs/formats/rules.md");
  const std::string part = text.substr(text.find("<!-- mistakes -->"));
  const Result<RuleSet> r = ParseRules(Between(part, "```toml", "```"), "my.toml", DefaultRules(), false);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(Between(part, "```text", "```"), r.status().message() + "\n");
}

}  // namespace
}  // namespace sawbill::rules
