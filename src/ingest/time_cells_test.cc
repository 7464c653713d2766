// SPDX-License-Identifier: Apache-2.0
#include "ingest/time_cells.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace sawbill::ingest {
namespace {

/// A cell as logs hold it, now and then with one character changed.
std::string AnyCell() {
  std::string cell;
  if (*rc::gen::arbitrary<bool>()) {
    cell = *rc::gen::element<std::string>("1767225600", "1767225601", "999999999", "17672256000", "1767225600123",
                                          "1.7672256", "1.767225600", "1.767225601");
  } else {
    cell = *rc::gen::element<std::string>(
        "2026-01-02 03:04:", "2026/01/02 03:04:", "2026-01-02T03:04:", "2026-01-02 03:05:");
    cell += *rc::gen::element<std::string>("05", "06", "59", "60", "61", "5");
  }
  cell += *rc::gen::element<std::string>("", "", ".5", ".123", ".123456", ".", "e3", "e9", "e+09");
  cell += *rc::gen::element<std::string>("", "", "Z", "+08:00", " ", " UTC", "x");
  if (*rc::gen::inRange(0, 8) == 0)
    cell[*rc::gen::inRange<size_t>(0, cell.size())] = *rc::gen::element(' ', '0', '9', ':', '.', 'x', '-');
  return cell;
}

RC_GTEST_PROP(TimeCellsTest, WhatWasReadBeforeChangesNothing, ()) {
  const TimeZone tz = TimeZone::Utc();
  TimeCells warm(&tz);
  for (int i = 0; i < 6; ++i) {
    const std::string cell = AnyCell();
    TimeCells fresh(&tz);
    TimeMs wanted = 0, t = 0;
    const bool is_time = fresh.Parse(cell, &wanted);
    RC_TAG(is_time);
    RC_LOG() << "'" << cell << "'\n";
    RC_ASSERT(warm.Parse(cell, &t) == is_time);
    if (!is_time) continue;
    RC_ASSERT(t == wanted);
    RC_ASSERT(warm.last() == fresh.last());
  }
}

TEST(TimeCellsTest, TheNotationIsThatOfTheCell) {
  const TimeZone tz = TimeZone::Utc();
  TimeCells cells(&tz);
  TimeMs t = 0;
  ASSERT_TRUE(cells.Parse("2026-01-02 03:04:05", &t));
  ASSERT_TRUE(cells.Parse("1767225600", &t));
  EXPECT_EQ(cells.last(), kEpochSeconds);
  ASSERT_TRUE(cells.Parse("2026-01-02 03:04:06", &t));
  EXPECT_EQ(cells.last(), kLocalNotation);
}

TEST(TimeCellsTest, APointWithoutDigitsIsNoTimeInAKnownMinuteEither) {
  const TimeZone tz = TimeZone::Utc();
  TimeCells cells(&tz);
  TimeMs t = 0;
  ASSERT_TRUE(cells.Parse("2026-01-02 03:04:05.5", &t));
  EXPECT_FALSE(cells.Parse("2026-01-02 03:04:06.", &t));
}

TEST(TimeCellsTest, AnExponentIsATimeWhereAllSecondsAreThere) {
  const TimeZone tz = TimeZone::Utc();
  const auto read = [&](const char* cell) {
    TimeMs t = 0;
    return TimeCells(&tz).Parse(cell, &t) ? t : TimeMs{-1};
  };
  EXPECT_EQ(read("1.793696412e+09"), 1'793'696'412'000);
  EXPECT_EQ(read("1.793696412250e+09"), 1'793'696'412'250);
  EXPECT_EQ(read("1.793696412250000000e+09"), 1'793'696'412'250);
  EXPECT_EQ(read("1.793696412250e+12"), 1'793'696'412'250);  // milliseconds
  EXPECT_EQ(read("1.793696412E+09"), 1'793'696'412'000);
  for (const char* coarse : {"1.793696e+09", "1.79369641e+09", "1.8E+09", "1.793696e+12"}) {
    EXPECT_EQ(read(coarse), -1) << coarse;
    EXPECT_GT(CoarseEpochStepS(coarse), 1) << coarse;
  }
  EXPECT_EQ(CoarseEpochStepS("1.793696e+09"), 1000);
  EXPECT_EQ(CoarseEpochStepS("1.793696e+12"), 1000);
  for (const char* none : {"1.793696412e+09", "1.5e3", "1793696412", "2026-12-02 10:00:00", "e", "1.8E+99", ""}) {
    EXPECT_EQ(CoarseEpochStepS(none), 0) << none;
  }
}

}  // namespace
}  // namespace sawbill::ingest
