// SPDX-License-Identifier: Apache-2.0
#include "gpu/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/nvml_api.h"

namespace sawbill::gpu {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ExplainTest, EveryTroubleIsExplainedInBothLanguages) {
  for (int t = 0; t <= static_cast<int>(Trouble::kOther); ++t) {
    const SourceStatus status = {static_cast<Trouble>(t), 0, ""};
    const std::string en = Explain(status, Lang::kEn), zh = Explain(status, Lang::kZh);
    EXPECT_GT(en.size(), 20U) << Name(status.trouble);
    EXPECT_NE(en, zh) << Name(status.trouble);
    EXPECT_THAT(en, Not(HasSubstr("()"))) << Name(status.trouble);
    EXPECT_THAT(en, Not(HasSubstr("{0}"))) << Name(status.trouble);
  }
}

// B3: what is wrong, with both versions, and what to do.
TEST(ExplainTest, MismatchSaysVersionsAndRemedy) {
  const std::string text = Explain({Trouble::kMismatch, 18, "kernel module 535.104.05, library 535.309.01"}, Lang::kEn);
  EXPECT_THAT(text, HasSubstr("NVML 18: kernel module 535.104.05, library 535.309.01"));
  EXPECT_THAT(text, HasSubstr("reboot"));
}

// B5: the container that lost its devices is told what took them.
TEST(ExplainTest, LostSightIsNotIdleness) {
  const std::string text = Explain({Trouble::kLostSight, 999, "Unknown Error"}, Lang::kEn);
  EXPECT_THAT(text, HasSubstr("does not mean that they are idle"));
  EXPECT_THAT(text, HasSubstr("daemon-reload"));
}

TEST(CodeTest, AnyIntegerMayCome) {
  EXPECT_STREQ(CodeText(15), "GPU is lost");
  for (const int code : {-1, 31, 999, 1000, 2'000'000'000}) EXPECT_STREQ(CodeText(code), "Unknown Error");
  EXPECT_EQ(Classify(15), CodeClass::kCardGone);
  EXPECT_EQ(Classify(18), CodeClass::kLibraryGone);
  EXPECT_EQ(Classify(26), CodeClass::kAbsent);
  EXPECT_EQ(Classify(-5), CodeClass::kNoValue);
}

}  // namespace
}  // namespace sawbill::gpu
