// SPDX-License-Identifier: Apache-2.0
// Times as people write them: the right instant, and on the receipt what was assumed; where nothing tells, a refusal.
#include "ingest/date_words.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "ingest/date_order.h"
#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

/// A log of two rows with these times.
std::string Log(const std::string& first, const std::string& second) {
  return "timestamp,index,utilization.gpu [%]\n" + first + ",0,90 %\n" + second + ",0,80 %\n";
}
std::string Times(const model::Recording& r) {
  std::string out;
  for (const auto& g : r.gpus) {
    for (const TimeMs t : g.t_ms) out += (out.empty() ? "" : " ") + FormatRfc3339(t);
  }
  return out;
}
std::string TimesOf(const std::string& first, const std::string& second, const std::string& zone = "UTC") {
  return Times(ReadText(Log(first, second), zone));
}
std::string Notes(const model::Recording& r) { return Join(r.notes, "\n"); }

TEST(DateWords, OfWhichOneMeaningIsPossible) {
  const std::string noon = "2026-12-02T17:00:12.000Z 2026-12-02T17:00:22.000Z";
  EXPECT_EQ(TimesOf("2026-12-02 05:00:12 PM", "2026-12-02 05:00:22 PM"), noon);
  EXPECT_EQ(TimesOf("2026/12/2 5:00:12pm", "2026/12/2 5:00:22pm"), noon);
  EXPECT_EQ(TimesOf("2026/12/2 下午 5:00:12", "2026/12/2 下午5:00:22"), noon);
  EXPECT_EQ(TimesOf("\"Wed, 02 Dec 2026 18:00:12 +0100\"", "\"Wed, 02 Dec 2026 18:00:22 +0100\""), noon);
  EXPECT_EQ(TimesOf("Wed, 02 Dec 2026 18:00:12 +0100", "Wed, 02 Dec 2026 18:00:22 +0100"), noon);  // unquoted
  EXPECT_EQ(TimesOf("2 Dec 2026 12:00:12 EST", "2 Dec 2026 12:00:22 EST"), noon);
  EXPECT_EQ(TimesOf("Wed Dec  2 09:00:12 PST 2026", "Wed Dec  2 09:00:22 PST 2026"), noon);
  EXPECT_EQ(TimesOf("02 Dec 2026 17:00:12 UT", "02 Dec 2026 17:00:22 GMT"), noon);
  EXPECT_EQ(TimesOf("\"December 2, 2026 5:00:12 PM\"", "\"December 2, 2026 5:00:22 PM\""), noon);
  EXPECT_EQ(TimesOf("2026-12-02 12:00:12 EST", "2026-12-02 12:00:22 EST"), noon);
  EXPECT_EQ(TimesOf("2026-12-03 01:00:12 UTC+8", "2026-12-03 01:00:22 GMT+08:00"), noon);
  EXPECT_EQ(TimesOf("02-Dec-2026 17:00:12", "02-Dec-2026 17:00:22"), noon);
  EXPECT_EQ(TimesOf("02.12.2026 18:00:12", "02.12.2026 18:00:22", "Europe/Berlin"), noon);
}

TEST(DateWords, AsEasternLocalesCountThem) {
  const std::string noon = "2026-12-02T17:00:12.000Z 2026-12-02T17:00:22.000Z";
  const auto both = [](std::string text) {
    std::string second = text;
    second.replace(second.find("12", second.find(':') == std::string::npos ? second.find("00") : second.find(':')), 2,
                   "22");
    return TimesOf(text, second);
  };
  for (const char* text :
       {"2026年12月02日 星期三 17:00:12 UTC", "2026年 12月 02日 星期三 17:00:12 UTC", "2026年12月2日星期三 17:00:12",
        "2026年12月02日 星期三 下午 05:00:12", "2026年12月02日 星期三 17时00分12秒", "2026年12月02日 下午05时00分12秒",
        "西元2026年12月02日 (週三) 17時00分12秒 UTC", "2026年 12月  2日 水曜日 17:00:12 UTC",
        "2026년 12월 02일 수요일 17:00:12", "2026년 12월 02일 (수요일) 17시 00분 12초"}) {
    EXPECT_EQ(both(text), noon) << text;
  }
  for (const char* text : {"2026年13月02日 17:00:12", "2026年12月 17:00:12", "2026年2027年12月02日 17:00:12",
                           "2026年12月02日 25时00分12秒", "2026年12月02日 17:00:12 17时", "2026年12月02日x 17:00:12"}) {
    EXPECT_FALSE(ReadTimeWords(text, DateOrder::kEither)) << text;
  }
}

TEST(DateWords, TwelveIsTheFirstHourOfItsHalf) {
  EXPECT_EQ(TimesOf("2026-12-02 11:59:59 AM", "2026-12-02 12:00:09 PM"),
            "2026-12-02T11:59:59.000Z 2026-12-02T12:00:09.000Z");
  EXPECT_EQ(TimesOf("2026-12-01 11:59:59 PM", "2026-12-02 12:00:09 AM"),
            "2026-12-01T23:59:59.000Z 2026-12-02T00:00:09.000Z");
}

TEST(DateWords, AreNoTimeWhereAWordHasNoPlace) {
  for (const char* text :
       {"2026-12-02 13:00:00 PM", "2026-12-02 0:00:00 AM", "31.02.2026 10:00:00", "2026-13-02 10:00:00 EST",
        "02.12.26 10:00:00", "5:00:12 PM", "02/12/2026", "Wed Dec 2 10:00:00 2026 loss", "2026-12-02 10:00:00 AM PM",
        "2026-12-02 10:00:00,7", "2026-12-02 10:00:00,", "2026-12-02 10:00:00 EST CET", "2026-12-02 10:60:00 AM",
        "2026-12-02 10:00:0 AM", "Octopus 2 2026 10:00:00"}) {
    EXPECT_FALSE(ReadTimeWords(text, DateOrder::kEither)) << text;
  }
}

TEST(DateWords, AZoneOfSeveralMeaningsIsNamedOnTheReceipt) {
  const model::Recording r = ReadText(Log("2026-12-02 10:00:00 CST", "2026-12-02 10:00:10 CST"), "Asia/Shanghai");
  EXPECT_EQ(Times(r), "2026-12-02T02:00:00.000Z 2026-12-02T02:00:10.000Z");
  EXPECT_THAT(Notes(r), HasSubstr("The zone CST of its times has several meanings; they were taken as Asia/Shanghai"));
}

TEST(DateOrderTest, ANumberAbove12IsTheDay) {
  const model::Recording r = ReadText(Log("22/12/2026 10:00:00", "22/12/2026 10:00:10"));
  EXPECT_EQ(Times(r), "2026-12-22T10:00:00.000Z 2026-12-22T10:00:10.000Z");
  EXPECT_THAT(Notes(r),
              HasSubstr("Dates such as 22/12/2026 10:00:00 were read as day, month, year: 22 can be no month."));
  EXPECT_EQ(TimesOf("12/22/2026 10:00:00 PM", "12/22/2026 10:00:10 PM"),
            "2026-12-22T22:00:00.000Z 2026-12-22T22:00:10.000Z");
}

TEST(DateOrderTest, ALaterRowProvesTheFirstOnes) {
  EXPECT_EQ(TimesOf("12/12/2026 10:00:00", "13/12/2026 10:00:00"), "2026-12-12T10:00:00.000Z 2026-12-13T10:00:00.000Z");
  EXPECT_EQ(TimesOf("2/12/2026 23:59:55", "2/13/2026 00:00:05"), "2026-02-12T23:59:55.000Z 2026-02-13T00:00:05.000Z");
}

TEST(DateOrderTest, AGrowingLogProvesItself) {
  const model::Recording r = ReadText(Log("02/12/2026 23:59:55", "03/12/2026 00:00:05"));
  EXPECT_EQ(Times(r), "2026-12-02T23:59:55.000Z 2026-12-03T00:00:05.000Z");
  EXPECT_THAT(Notes(r), HasSubstr("read as day, month, year: read the other way round, time would leap by months at "
                                  "the change of day before 03/12/2026 00:00:05"));
  EXPECT_EQ(TimesOf("2/11/2026 11:59:55 PM", "2/12/2026 12:00:05 AM"),
            "2026-02-11T23:59:55.000Z 2026-02-12T00:00:05.000Z");
}

TEST(DateOrderTest, WhatNothingTellsIsRefused) {
  const std::string open = "the date in column 1 may be day, month, year or month, day, year: '";
  EXPECT_THAT(Refusal(Log("02/12/2026 10:00:00", "02/12/2026 10:00:10")), HasSubstr(open + "02/12/2026 10:00:00'"));
  EXPECT_THAT(Refusal(Log("12/02/2026 10:00:00 AM", "12/02/2026 10:00:10 AM")), HasSubstr(open));
  // A day or a month later: too far apart to be one step.
  EXPECT_THAT(Refusal(Log("02/12/2026 10:00:00", "03/12/2026 18:00:00")), HasSubstr(open));
  // Proofs that contradict one another.
  EXPECT_THAT(Refusal(Log("22/12/2026 10:00:00", "12/22/2026 10:00:10")), HasSubstr(open));
  EXPECT_THAT(Refusal(Log("10:00:00", "10:00:10")), HasSubstr("the time in column 1 cannot be read: '10:00:00'"));
  EXPECT_THAT(Refusal(Log("22/12/26 10:00:00", "22/12/26 10:00:10")), HasSubstr("cannot be read: '22/12/26 10:00:00'"));
}

TEST(DateOrderTest, PointsHaveOneOrder) {
  const model::Recording r = ReadText(Log("02.12.2026 10:00:00", "02.12.2026 10:00:10"));
  EXPECT_EQ(Times(r), "2026-12-02T10:00:00.000Z 2026-12-02T10:00:10.000Z");
  EXPECT_THAT(Notes(r), HasSubstr("Dates such as 02.12.2026 10:00:00 were read as day, month, year: dates with points "
                                  "are written so."));
}

TEST(DateOrderTest, TimesOfOneMeaningNeedNoNote) {
  EXPECT_THAT(Notes(ReadText(Log("2026-12-02 10:00:00Z", "2026-12-02 10:00:10Z"))), Not(AnyOf(HasSubstr("Dates"))));
}

TEST(DateOrderTest, TheNotationStandsInTheExplanation) {
  EXPECT_THAT(ExplainText(Log("22/12/2026 10:00:00", "22/12/2026 10:00:10")), HasSubstr("DD/MM/YYYY hh:mm:ss"));
  EXPECT_THAT(ExplainText(Log("12/22/2026 10:00:00", "12/22/2026 10:00:10")), HasSubstr("MM/DD/YYYY hh:mm:ss"));
}

}  // namespace
}  // namespace sawbill::ingest
