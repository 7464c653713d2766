// SPDX-License-Identifier: Apache-2.0
#include "ingest/printed_time.h"

#include <gtest/gtest.h>

namespace sawbill::ingest {
namespace {
using model::Odd;

std::string Read(std::string_view text, const char* zone = "UTC") {
  const auto tz = TimeZone::Load(zone);
  ReadContext context;
  context.tz = &*tz;
  PrintedTimes times(context);
  TimeMs t = 0;
  return times.Parse(text, &t) ? FormatRfc3339(t) : "no time";
}

TEST(PrintedTimes, OfTheToolItself) {
  EXPECT_EQ(Read("Sat Jan 24 21:52:14 2026       "), "2026-01-24T21:52:14.000Z");
  EXPECT_EQ(Read("Fri Jan  2 03:04:05 2026", "Asia/Shanghai"), "2026-01-01T19:04:05.000Z");
}

TEST(PrintedTimes, OfDateInSeveralLocales) {
  for (const char* text :
       {"Fri Jan  2 03:04:05 UTC 2026", "Fri Jan  2 04:04:05 CET 2026", "Fri Jan  2 11:04:05 +08 2026",
        "Fri 02 Jan 2026 03:04:05 AM UTC", "Fri  2 Jan 03:04:05 UTC 2026", "Fri, 02 Jan 2026 11:04:05 +0800",
        "2026年 01月 02日 星期五 03:04:05 UTC", "2026-01-02T03:04:05+00:00", "2026-01-02 03:04:05", "1767323045"}) {
    EXPECT_EQ(Read(text), "2026-01-02T03:04:05.000Z") << text;
  }
  EXPECT_EQ(Read("Fri 02 Jan 2026 12:04:05 AM UTC"), "2026-01-02T00:04:05.000Z");
  EXPECT_EQ(Read("Fri 02 Jan 2026 12:04:05 PM UTC"), "2026-01-02T12:04:05.000Z");
}

TEST(PrintedTimes, AZoneOfSeveralMeaningsIsAssumedToBeTheGivenOne) {
  const auto tz = TimeZone::Load("Asia/Shanghai");
  ReadContext context;
  context.tz = &*tz;
  PrintedTimes times(context);
  TimeMs t = 0;
  ASSERT_TRUE(times.Parse("Fri Jan  2 11:04:05 CST 2026", &t));  // China, the United States or Cuba
  EXPECT_EQ(FormatRfc3339(t), "2026-01-02T03:04:05.000Z");
  model::Recording out;
  Explanation e;
  times.Report(&out, &e);
  EXPECT_EQ(out.quality.count(Odd::kZoneAssumed), 1);
  EXPECT_EQ(out.notes.size(), 1U);
}

TEST(PrintedTimes, ATextThatMentionsADateIsNone) {
  for (const char* text : {"started on Fri Jan  2 03:04:05 2026", "Epoch 12 03:04:05", "Jan 2026", "03:04:05", "",
                           "Fri Jan 32 03:04:05 2026", "Fri Jan  2 25:04:05 2026", "Fri Jan  2 03:04:05 2026 2027"}) {
    EXPECT_EQ(Read(text), "no time") << text;
  }
}

TEST(PrintedTimes, TheHourThatIsPassedTwiceIsTwoHours) {
  const auto tz = TimeZone::Load("Europe/Berlin");
  ReadContext context;
  context.tz = &*tz;
  PrintedTimes times(context);
  TimeMs t = 0, first = 0;
  ASSERT_TRUE(times.Parse("Sun Oct 25 02:50:00 2026", &first));
  ASSERT_TRUE(times.Parse("Sun Oct 25 02:10:00 2026", &t));  // 20 minutes later: clocks went back at 03:00
  EXPECT_EQ(Seconds(t - first), 20 * 60);
  ASSERT_TRUE(times.Parse("Sun Oct 25 03:10:00 2026", &t));
  EXPECT_EQ(Seconds(t - first), 80 * 60);
}

TEST(PrintedTimes, BehindOtherWords) {
  const TimeZone tz = TimeZone::Utc();
  ReadContext context;
  context.tz = &tz;
  PrintedTimes times(context);
  TimeMs t = 0;
  std::string_view before;
  ASSERT_TRUE(times.Find("myhost             Fri Jan  2 03:04:05 2026  580.95.05", &t, &before));
  EXPECT_EQ(FormatRfc3339(t), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(before, "myhost");
  EXPECT_FALSE(times.Find("myhost is down", &t, &before));
}

TEST(PrintedTimes, InFrontOfARow) {
  const TimeZone tz = TimeZone::Utc();
  ReadContext context;
  context.tz = &tz;
  PrintedTimes times(context);
  TimeMs t = 0;
  std::string_view row = "2026-01-02T11:04:05+0800 GPU 0  91";
  ASSERT_TRUE(times.TakePrefix(&row, &t));
  EXPECT_EQ(FormatRfc3339(t), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(row, " GPU 0  91");
  row = "2026-01-02 03:04:05 0 91";
  ASSERT_TRUE(times.TakePrefix(&row, &t));
  EXPECT_EQ(row, " 0 91");
  row = "0    631     63";
  EXPECT_FALSE(times.TakePrefix(&row, &t));
  EXPECT_EQ(row, "0    631     63");
}

}  // namespace
}  // namespace sawbill::ingest
