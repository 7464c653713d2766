// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/text.h"
#include "rules/rules.h"

namespace sawbill::rules {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;
using wave::Feature;

RuleSet Starving() {
  const Result<RuleSet> r = ParseRules(R"(schema = "sawbill.rules/1"
[[rule]]
name = "starving"
finding = "data-loading"
require = ["wait_share >= 8%"]
exclude = ["aliased == 1"]
support = [{ if = "worker_busy >= 80%", weight = 0.25 }, { if = "iowait >= 10%", weight = 0.1 }]
contra = [{ if = "swing < 10%", weight = 0.05 }]
base = 0.5
note = "A starving card waits."
note_zh = "挨饿的显卡在等待。"
[[rule.cause]]
id = "few-workers"
require = ["worker_busy >= 80%"]
base = 0.6
[[rule.cause]]
id = "cpu-saturated"
require = ["cpu_util >= 90%"]
base = 0.55
)",
                                       "my.toml", {}, false);
  EXPECT_TRUE(r.ok()) << r.status().message();
  return r.ok() ? *r : RuleSet{};
}

wave::FeatureSet Seen() {
  wave::FeatureSet f;
  f.Set(Feature::kWaitShare, 0.432);
  f.Set(Feature::kWorkerBusy, 0.92);
  f.Set(Feature::kAliased, 0);
  f.Set(Feature::kSwing, 5);
  return f;
}

TEST(Explain, PrintsEachStepAndTheRunningSum) {
  const RuleSet set = Starving();
  EXPECT_EQ(Explain(Judge(set.rules[0], Seen()), Lang::kEn),
            R"(Rule starving: The GPU waits for data
  my.toml, line 2; layer: composite
  Why: A starving card waits.
  ✓ true   ✗ false   ? not in this data: adds nothing, and fulfils nothing   (+0.20) in brackets: would count if it were true

Must be true
  ✓  wait_share  43.2 %  >= 8 %  share of active time in which no kernel ran, without interruptions
Must not be true (so ✗ is right here)
  ✗  aliased  no  == yes  the swings are an artefact of sampling
Evidence, added up
     base                                         0.50
  ✓  worker_busy  92 %      >= 80 %      +0.25    0.75  CPU use of a loader worker while the card waited
  ?  iowait       —         >= 10 %      (+0.10)  0.75  CPU time waiting for I/O while the card waited
  ✓  swing        5 points  < 10 points  -0.05    0.70  spread of GPU-Util from sample to sample
score 0.70, needed 0.50
Verdict: found, confidence 70 % (the score, at most 99 %)

Causes
  few-workers (too few loader workers): score 0.60
    Must be true
      ✓  worker_busy  92 %  >= 80 %  CPU use of a loader worker while the card waited
    Evidence, added up
         base        0.60
  cpu-saturated (all CPU cores are busy): cannot be told from this data
    Must be true
      ?  cpu_util  —  >= 90 %  CPU use of the allowed cores while the card waited
    Evidence, added up
         base        0.55
Cause: few-workers, the only one that is possible; score 0.60, needed 0.50
)");
}

TEST(Explain, SaysInWordsThatItAbstains) {
  const RuleSet set = Starving();
  wave::FeatureSet f = Seen();
  f.Set(Feature::kWaitShare, kMissing);
  const std::string text = Explain(Judge(set.rules[0], f), Lang::kEn);
  EXPECT_THAT(text, HasSubstr("Verdict: cannot be told\n  - wait_share cannot be told here, and >= 8 % is required"));
  EXPECT_THAT(text, HasSubstr("No cause is named: the finding itself does not hold"));
}

TEST(Explain, CannotBeToldIsNeitherFoundNorRuledOut) {
  const RuleSet set = Starving();
  wave::FeatureSet f = Seen();
  EXPECT_FALSE(CannotBeTold(Judge(set.rules[0], f)));  // found
  f.Set(Feature::kWaitShare, kMissing);
  EXPECT_TRUE(CannotBeTold(Judge(set.rules[0], f)));
  f.Set(Feature::kWaitShare, 0.01);
  EXPECT_FALSE(CannotBeTold(Judge(set.rules[0], f)));  // known to be false
}

TEST(Explain, SaysWhichRequirementFailed) {
  const RuleSet set = Starving();
  wave::FeatureSet f = Seen();
  f.Set(Feature::kWaitShare, 0.031);
  EXPECT_THAT(Explain(Judge(set.rules[0], f), Lang::kEn),
              HasSubstr("Verdict: not found\n  - wait_share is 3.1 %, and >= 8 % is required"));
  f = Seen();
  f.Set(Feature::kAliased, 1);
  EXPECT_THAT(Explain(Judge(set.rules[0], f), Lang::kEn), HasSubstr("aliased is yes, and == yes rules it out"));
}

TEST(Explain, SaysWhatCouldLiftAScoreThatIsTooLow) {
  RuleSet set = Starving();
  set.rules[0].score_min = 0.8;
  const std::string text = Explain(Judge(set.rules[0], Seen()), Lang::kEn);
  EXPECT_THAT(text, HasSubstr("cannot be told"));
  EXPECT_THAT(text, HasSubstr("the score 0.70 does not reach 0.80; it could, with what is not in this data: iowait"));
  set.rules[0].score_min = 0.9;
  EXPECT_THAT(Explain(Judge(set.rules[0], Seen()), Lang::kEn), HasSubstr("- the score 0.70 does not reach 0.90\n"));
}

TEST(Explain, SaysWhyNoCauseIsNamed) {
  RuleSet set = Starving();
  wave::FeatureSet f = Seen();
  f.Set(Feature::kCpuUtil, 97);
  EXPECT_THAT(Explain(Judge(set.rules[0], f), Lang::kEn),
              HasSubstr("No cause is named: few-workers leads cpu-saturated by only 0.05, and 0.10 is needed"));
  set.rules[0].margin = 0.05;
  EXPECT_THAT(Explain(Judge(set.rules[0], f), Lang::kEn),
              HasSubstr("Cause: few-workers, which leads cpu-saturated by 0.05"));
  f.Set(Feature::kWorkerBusy, 0.2);
  f.Set(Feature::kCpuUtil, 10);
  f.Set(Feature::kIowait, 50);
  const std::string text = Explain(Judge(set.rules[0], f), Lang::kEn);
  EXPECT_THAT(text, HasSubstr("No cause is named: none is possible"));
  EXPECT_THAT(text, HasSubstr("few-workers (too few loader workers): ruled out"));
  set.rules[0].causes.clear();
  EXPECT_THAT(Explain(Judge(set.rules[0], f), Lang::kEn), HasSubstr("This rule knows no causes"));
}

TEST(Explain, ChineseHasNoEnglishSentences) {
  const RuleSet set = Starving();
  const std::string text = Explain(Judge(set.rules[0], Seen()), Lang::kZh);
  EXPECT_THAT(text, HasSubstr("挨饿的显卡在等待。"));
  EXPECT_THAT(text, HasSubstr("结论：成立，置信度 70 %（即得分，至多 99 %）"));
  for (const char* english : {"Must", "Verdict", "score", "Cause", "share of"})
    EXPECT_THAT(text, Not(HasSubstr(english)));
}

TEST(Explain, ShowsTheTestOfAThresholdRule) {
  const Rule& rule = *DefaultRules().Find("idle-held");
  wave::FeatureSet f;
  f.Set(Feature::kIdleHeldS, 1200);
  EXPECT_THAT(Explain(Judge(rule, f), Lang::kEn),
              HasSubstr("sm_util <= 2% for at least 10 min; read from the requirements"));
  EXPECT_THAT(Explain(Judge(rule, f, {Truth::kFalse, 120}), Lang::kEn),
              HasSubstr("✗ sm_util <= 2% for at least 10 min; the longest stretch in which it held: 2 min"));
}

TEST(Explain, EveryDefaultRulePrintsOnEmptyDataInBothLanguages) {
  for (const Rule& rule : DefaultRules().rules) {
    for (const Lang lang : {Lang::kEn, Lang::kZh}) {
      const std::string text = Explain(Judge(rule, wave::FeatureSet()), lang);
      EXPECT_THAT(text, HasSubstr(Tr(lang, Msg::kRulesAbstains))) << rule.name;
      EXPECT_THAT(text, Not(HasSubstr("{"))) << rule.name;
    }
  }
}

TEST(Explain, NamesFromAFileCannotSendControlCharacters) {
  RuleSet set = Starving();
  set.rules[0].where = "a\x1b[31m";
  set.rules[0].note_en = "b\x1b]0;x";
  EXPECT_THAT(Explain(Judge(set.rules[0], Seen()), Lang::kEn), Not(HasSubstr("\x1b")));
}

TEST(Describe, PrintsValueAndThresholdInTheFeaturesUnit) {
  const RuleSet set = Starving();
  const Verdict v = Judge(set.rules[0], Seen());
  EXPECT_EQ(Describe(v.checks[0], Lang::kEn),
            "share of active time in which no kernel ran, without interruptions: 43.2 % (threshold ≥ 8 %)");
  EXPECT_EQ(Describe(v.checks[0], Lang::kZh), "活跃期（不含中断）没有内核运行的时间占比：43.2 %（阈值 ≥ 8 %）");
  EXPECT_EQ(Describe(v.checks[3], Lang::kEn),
            "CPU time waiting for I/O while the card waited: not in this data (threshold ≥ 10 %)");
}

TEST(Describe, SaysAFactThatHoldsOrNotWithoutFigures) {
  Checked c;
  c.condition.feature = wave::Feature::kHasTensorCores;
  c.value = 1;
  EXPECT_EQ(Describe(c, Lang::kEn), "the card model has tensor cores");
  EXPECT_EQ(Describe(c, Lang::kZh), "显卡型号带张量核心");
  c.value = 0;
  EXPECT_EQ(Describe(c, Lang::kEn), "not so: the card model has tensor cores");
}

}  // namespace
}  // namespace sawbill::rules
