// SPDX-License-Identifier: Apache-2.0
#include "host/scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sawbill::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CpuList, GapsAndRanges) {
  EXPECT_THAT(ParseCpuList("0-1,8\n"), ElementsAre(0, 1, 8));
  EXPECT_THAT(ParseCpuList("3"), ElementsAre(3));
  EXPECT_THAT(ParseCpuList("10-11,2,2-3"), ElementsAre(2, 3, 10, 11));
}

TEST(CpuList, EmptyOrBrokenIsNone) {
  for (const char* text : {"", "\n", "a", "3-1", "0-", "-1", "0,x", "0-99999999999", "0-70000"}) {
    EXPECT_THAT(ParseCpuList(text), IsEmpty()) << text;
  }
}

TEST(CpuList, UnionAndIntersection) {
  EXPECT_THAT(Union({0, 2}, {1, 2}), ElementsAre(0, 1, 2));
  EXPECT_THAT(Intersection({0, 2, 5}, {2, 5, 7}), ElementsAre(2, 5));
}

TEST(ValueOf, NeedsTheWholeKeyAtTheStartOfALine) {
  const char* text = "nr_usage_usec 1\nusage_usec 25\nusage_usec_other 3\nUid:\t7\t8";
  EXPECT_EQ(ValueOf(text, "usage_usec"), "25");
  EXPECT_EQ(ValueOf(text, "Uid:"), "7\t8");
  EXPECT_EQ(ValueOf(text, "Gid:"), "");
}

TEST(Words, LastLineNeedsNoNewline) {
  std::string_view text = "a  b\n\nlast";
  std::string_view line = *TakeLine(&text);
  EXPECT_EQ(TakeWord(&line), "a");
  EXPECT_EQ(TakeWord(&line), "b");
  EXPECT_EQ(TakeWord(&line), "");
  EXPECT_EQ(*TakeLine(&text), "");
  EXPECT_EQ(*TakeLine(&text), "last");
  EXPECT_FALSE(TakeLine(&text));
}

TEST(Words, NumbersAreDigitsOnly) {
  EXPECT_EQ(ToU64("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", "max", "-1", "+1", "1.5", "18446744073709551616"}) EXPECT_FALSE(ToU64(text)) << text;
}

}  // namespace
}  // namespace sawbill::host
