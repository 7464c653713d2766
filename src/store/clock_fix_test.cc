// SPDX-License-Identifier: Apache-2.0
#include "store/clock_fix.h"

#include <gtest/gtest.h>

#include "store/test_util.h"

namespace sawbill::store {
namespace {

model::EventRow EventAt(TimeMs t, const std::string& kind, const std::string& detail = "") {
  model::EventRow e;
  e.t_ms = t;
  e.kind = kind;
  e.detail = detail;
  return e;
}

std::vector<TimeMs> FixAll(const ClockFix& fix, const std::vector<TimeMs>& raw) {
  ClockCursor cursor(&fix);
  std::vector<TimeMs> out;
  for (const TimeMs t : raw) out.push_back(cursor.Fix(t));
  return out;
}

TEST(ClockWatch, NoticesStepsAndNotDrift) {
  ClockWatch watch;
  EXPECT_FALSE(watch.Observe({1000, 50}));
  EXPECT_FALSE(watch.Observe({2010, 1050}));    // slewed a little
  EXPECT_FALSE(watch.Observe({62010, 61050}));  // a late tick is no step
  const auto back = watch.Observe({62010 + 1000 - 7'200'000, 62050});
  ASSERT_TRUE(back);
  EXPECT_EQ(back->offset_ms, -7'200'000);
  EXPECT_EQ(back->detail(), "offset_s=-7200.0");
  EXPECT_EQ((ClockStep{0, 1234}).detail(), "offset_s=1.234");
}

TEST(ClockWatch, OffsetIsReadFromAmongOtherDetails) {
  EXPECT_EQ(ParseOffsetMs("source=ntp offset_s=-7200.0"), -7'200'000);
  EXPECT_EQ(ParseOffsetMs("offset_s=0.25 x=1"), 250);
  EXPECT_EQ(ParseOffsetMs("offset=5"), std::nullopt);
  EXPECT_EQ(ParseOffsetMs("offset_s=soon"), std::nullopt);
}

TEST(ClockFix, WithoutStepsNothingMoves) {
  const ClockFix fix({EventAt(5, "collector_start"), EventAt(7, "xid")});
  EXPECT_TRUE(fix.empty());
  EXPECT_EQ(FixAll(fix, {1, 3, 2}), (std::vector<TimeMs>{1, 3, 2}));
}

// 10 rows, 2 h back, 10 rows, 1 h forward, 10 rows.
TEST(ClockFix, StepsBackAndForthGiveTheSteadyTimeAgain) {
  std::vector<TimeMs> raw;
  TimeMs wall = kNoon;
  for (int i = 0; i < 10; ++i) raw.push_back(wall += 1000);
  wall -= 7'200'000;
  const TimeMs first = wall + 1000;
  for (int i = 0; i < 10; ++i) raw.push_back(wall += 1000);
  wall += 3'600'000;
  const TimeMs second = wall + 1000;
  for (int i = 0; i < 10; ++i) raw.push_back(wall += 1000);
  const ClockFix fix(
      {EventAt(first, "clock_step", "offset_s=-7200.0"), EventAt(second, "clock_step", "offset_s=3600.0")});
  const std::vector<TimeMs> fixed = FixAll(fix, raw);
  for (size_t i = 1; i < fixed.size(); ++i) EXPECT_EQ(fixed[i] - fixed[i - 1], 1000) << i;
  EXPECT_EQ(fixed.back(), raw.back());  // the clock after the last step is taken as right
}

TEST(ClockFix, RowsBeforeAStepBackMayCarryTheTimesOfThoseBehindIt) {
  // The clock goes back 5 s after 20 s: times 15..19 come twice.
  std::vector<TimeMs> raw;
  for (int i = 0; i < 20; ++i) raw.push_back(kNoon + i * 1000);
  for (int i = 15; i < 40; ++i) raw.push_back(kNoon + i * 1000);
  const ClockFix fix({EventAt(kNoon + 15'000, "clock_step", "offset_s=-5.0")});
  const std::vector<TimeMs> fixed = FixAll(fix, raw);
  for (size_t i = 1; i < fixed.size(); ++i) EXPECT_EQ(fixed[i] - fixed[i - 1], 1000) << i;
}

TEST(ClockFix, AHeaderLineTellsWhereASmallStepBackWas) {
  // Every 15 s, 10 s back: no time runs back, so only the header line can tell.
  const std::vector<TimeMs> before = {kNoon, kNoon + 15'000, kNoon + 30'000};
  const std::vector<TimeMs> after = {kNoon + 35'000, kNoon + 50'000};
  const ClockFix fix({EventAt(kNoon + 35'000, "clock_step", "offset_s=-10.0")});
  ClockCursor cursor(&fix);
  for (const TimeMs t : before) EXPECT_EQ(cursor.Fix(t), t - 10'000);
  cursor.OnHeader();
  for (const TimeMs t : after) EXPECT_EQ(cursor.Fix(t), t);
}

TEST(ClockFix, StepsOfOneLifeDoNotMoveTheLifeBefore) {
  const ClockFix fix({EventAt(kNoon, "collector_start"), EventAt(kNoon + 100'000, "collector_start"),
                      EventAt(kNoon + 210'000, "clock_step", "offset_s=10.0")});
  EXPECT_EQ(FixAll(fix, {kNoon, kNoon + 50'000}), (std::vector<TimeMs>{kNoon, kNoon + 50'000}));
  EXPECT_EQ(FixAll(fix, {kNoon + 50'000, kNoon + 150'000, kNoon + 211'000}),
            (std::vector<TimeMs>{kNoon + 50'000, kNoon + 160'000, kNoon + 211'000}));
}

TEST(ClockFix, AFileMayBeginBehindAStep) {
  const ClockFix fix(
      {EventAt(kNoon, "collector_start"), EventAt(kNoon - 86'400'000, "clock_step", "offset_s=-90000.0")});
  EXPECT_EQ(FixAll(fix, {kNoon - 86'400'000 + 500}), (std::vector<TimeMs>{kNoon - 86'400'000 + 500}));
  EXPECT_EQ(FixAll(fix, {kNoon + 500}), (std::vector<TimeMs>{kNoon + 500 - 90'000'000}));
}

}  // namespace
}  // namespace sawbill::store
