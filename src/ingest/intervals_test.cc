// SPDX-License-Identifier: Apache-2.0
// Logs whose sampling interval changes on the way, as the receipt has them.
#include <gmock/gmock.h>

#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::Odd;
using testing::HasSubstr;

TEST(Intervals, OneThatChangesIsSaidAndMakesNoHoles) {
  std::string text = "timestamp,index,utilization.gpu [%]\n";
  for (int i = 0; i < 300; ++i) {
    text += fmt::format("{},0,90\n{},1,20\n", 1762903990 + i, 1762903990 + i);
  }
  for (int i = 0; i < 30; ++i) {
    text += fmt::format("{},0,90\n{},1,20\n", 1762903990 + 359 + i * 60, 1762903990 + 359 + i * 60);
  }
  const auto r = ReadText(text);
  EXPECT_EQ(Odds(r, Odd::kGap), 0);
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_DOUBLE_EQ(model::Cover(r.gpus[1].t_ms).covered_s, 299 + 1800);
  ASSERT_EQ(r.notes.size(), 1U);
  EXPECT_THAT(r.notes[0], HasSubstr("(mostly 60 s, elsewhere 1 s)"));
}

}  // namespace
}  // namespace sawbill::ingest
