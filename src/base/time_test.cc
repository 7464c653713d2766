// SPDX-License-Identifier: Apache-2.0
#include "base/time.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <thread>
#include <vector>

#include "base/messages.h"
#include "base/numbers.h"

namespace sawbill {
namespace {

/// $TZ for the life of a test.
class ScopedTz {
 public:
  explicit ScopedTz(const char* value) {
    if (const char* old = std::getenv("TZ")) old_ = old;
    value != nullptr ? ::setenv("TZ", value, 1) : ::unsetenv("TZ");
  }
  ScopedTz(const ScopedTz&) = delete;
  ScopedTz& operator=(const ScopedTz&) = delete;
  ~ScopedTz() { old_ ? ::setenv("TZ", old_->c_str(), 1) : ::unsetenv("TZ"); }

 private:
  std::optional<std::string> old_;
};

TimeMs At(std::string_view rfc3339) {
  const std::optional<TimeMs> t = ParseRfc3339(rfc3339);
  EXPECT_TRUE(t.has_value()) << rfc3339;
  return t.value_or(0);
}

TEST(CivilTest, KnownDays) {
  EXPECT_EQ(DaysFromCivil(1970, 1, 1), 0);
  EXPECT_EQ(DaysFromCivil(1969, 12, 31), -1);
  EXPECT_EQ(DaysFromCivil(2000, 3, 1), 11017);
  EXPECT_EQ(DaysFromCivil(0, 3, 1), -719468);
}

TEST(CivilTest, EveryDayOfFourCenturiesRoundTrips) {
  for (int64_t day = DaysFromCivil(1800, 1, 1); day < DaysFromCivil(2200, 1, 1); ++day) {
    const CivilTime c = CivilFromUtc(day * 86'400'000 + 86'399'999);
    ASSERT_EQ(DaysFromCivil(c.year, c.month, c.day), day);
    ASSERT_EQ(c.hour, 23);
    ASSERT_EQ(c.millisecond, 999);
  }
}

TEST(CivilTest, BeforeTheEpoch) {
  const CivilTime c = CivilFromUtc(-1);
  EXPECT_EQ(c.year, 1969);
  EXPECT_EQ(c.second, 59);
  EXPECT_EQ(c.millisecond, 999);
  EXPECT_EQ(UtcFromCivil(c), -1);
}

TEST(CivilTest, TheEndsOfTimeDoNotOverflow) {
  EXPECT_GT(CivilFromUtc(std::numeric_limits<int64_t>::max()).year, 200'000'000);
  EXPECT_LT(CivilFromUtc(std::numeric_limits<int64_t>::min()).year, -200'000'000);
}

TEST(Rfc3339Test, RoundTrip) {
  EXPECT_EQ(FormatRfc3339(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatRfc3339(At("2026-03-14T09:26:53.589Z")), "2026-03-14T09:26:53.589Z");
  EXPECT_EQ(FormatRfc3339(At("2025-09-08T17:26:50+08:00")), "2025-09-08T09:26:50.000Z");
  EXPECT_EQ(FormatRfc3339(At("2025-09-08T17:26:50-0330")), "2025-09-08T20:56:50.000Z");
  EXPECT_EQ(FormatRfc3339(At("2025-09-08 17:26:50.1234567Z")), "2025-09-08T17:26:50.123Z");
  EXPECT_EQ(FormatRfc3339(At("2024-02-29T23:59:60Z")), "2024-03-01T00:00:00.000Z");
  EXPECT_EQ(FormatRfc3339(At("2025-09-08T17:26Z")), "2025-09-08T17:26:00.000Z");
  EXPECT_EQ(FormatRfc3339(At("2025-09-08t17:26:50+02")), "2025-09-08T15:26:50.000Z");
}

TEST(Rfc3339Test, Refuses) {
  for (const char* s :
       {"", "2025-09-08", "2025-09-08Z", "2025-09-08T17:26:50", "2025-13-08T17:26:50Z", "2025-02-29T00:00:00Z",
        "2025-09-08T24:00:00Z", "2025-09-08T17:60:00Z", "2025-09-08T17:26:61Z", "2025-09-08T17:26:50.Z",
        "2025-09-08T17:26:50+8", "2025-09-08T17:26:50+24:00", "2025-09-08T17:26:50Zx", "25-09-08T17:26:50Z",
        "2025-9-8T17:26:50Z", "2025-00-08T17:26:50Z", "2025-09-00T17:26:50Z", "2025-09-08T1:26:50Z"}) {
    EXPECT_EQ(ParseRfc3339(s), std::nullopt) << s;
  }
}

TEST(ParseCivilTest, FormsAndRest) {
  const std::optional<CivilTime> c = ParseCivil("2025/09/24 03:41:43.487");
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(UtcFromCivil(*c), At("2025-09-24T03:41:43.487Z"));
  EXPECT_TRUE(ParseCivil("2025-09-24").has_value());
  EXPECT_TRUE(ParseCivil("2025-09-24T03:41").has_value());
  EXPECT_FALSE(ParseCivil("2025-09/24").has_value());
  EXPECT_FALSE(ParseCivil("2025-09-24 03:41:43Z").has_value());
  EXPECT_FALSE(ParseCivil("2025-09-24 03:99").has_value());
  EXPECT_FALSE(ParseCivil("2025-09-241").has_value());
  std::string_view rest;
  ASSERT_TRUE(ParseCivil("2025-09-24 03:41:43, 98 %", &rest).has_value());
  EXPECT_EQ(rest, ", 98 %");
  ASSERT_TRUE(ParseCivil("2025-09-24 noon", &rest).has_value());
  EXPECT_EQ(rest, " noon");
  ASSERT_TRUE(ParseCivil("2025-09-24T03:41:43.5+08:00", &rest).has_value());
  EXPECT_EQ(rest, "+08:00");
}

TEST(DurationTest, Parse) {
  EXPECT_EQ(ParseDuration("90s"), 90'000);
  EXPECT_EQ(ParseDuration("90"), 90'000);
  EXPECT_EQ(ParseDuration("15m"), 900'000);
  EXPECT_EQ(ParseDuration("15 min"), 900'000);
  EXPECT_EQ(ParseDuration("1h"), 3'600'000);
  EXPECT_EQ(ParseDuration("1.5h"), 5'400'000);
  EXPECT_EQ(ParseDuration("7d"), 604'800'000);
  EXPECT_EQ(ParseDuration("2w"), 1'209'600'000);
  EXPECT_EQ(ParseDuration("250ms"), 250);
  EXPECT_EQ(ParseDuration("0"), 0);
  EXPECT_EQ(ParseDuration("0.1s"), 100);
  for (const char* s : {"", "s", "-5s", "5x", "5 s s", "1e300d", "five", "1h30m"})
    EXPECT_EQ(ParseDuration(s), std::nullopt) << s;
}

TEST(DurationTest, Format) {
  EXPECT_EQ(FormatDuration(0, Lang::kEn), "0 s");
  EXPECT_EQ(FormatDuration(-0.0001, Lang::kEn), "0 s");
  EXPECT_EQ(FormatDuration(0.25, Lang::kEn), "250 ms");
  EXPECT_EQ(FormatDuration(0.9999, Lang::kEn), "1 s");
  EXPECT_EQ(FormatDuration(1.5, Lang::kEn), "1.5 s");
  EXPECT_EQ(FormatDuration(9.96, Lang::kEn), "10 s");
  EXPECT_EQ(FormatDuration(45, Lang::kEn), "45 s");
  EXPECT_EQ(FormatDuration(59.7, Lang::kEn), "1 min");
  EXPECT_EQ(FormatDuration(200, Lang::kEn), "3 min 20 s");
  EXPECT_EQ(FormatDuration(185, Lang::kEn), "3 min 05 s");
  EXPECT_EQ(FormatDuration(900, Lang::kEn), "15 min");
  EXPECT_EQ(FormatDuration(3599.6, Lang::kEn), "1 h");
  EXPECT_EQ(FormatDuration(7500, Lang::kEn), "2 h 05 min");
  EXPECT_EQ(FormatDuration(86'399, Lang::kEn), "1 d");
  EXPECT_EQ(FormatDuration(3 * 86'400 + 4 * 3600 + 60, Lang::kEn), "3 d 4 h");
  EXPECT_EQ(FormatDuration(-45, Lang::kEn), "-45 s");
  EXPECT_EQ(FormatDuration(kMissing, Lang::kEn), "—");
  EXPECT_EQ(FormatDuration(std::numeric_limits<double>::infinity(), Lang::kEn), "∞");
}

TEST(DurationTest, ChineseHasItsOwnUnits) {
  const std::pair<double, const char*> cases[] = {{std::nan(""), "—"},    {0, "0 秒"},      {0.25, "250 毫秒"},
                                                  {9.5, "9.5 秒"},        {45, "45 秒"},    {200, "3 分 20 秒"},
                                                  {900, "15 分钟"},       {3600, "1 小时"}, {6900, "1 小时 55 分"},
                                                  {7500, "2 小时 05 分"}, {86400, "1 天"},  {97200, "1 天 3 小时"},
                                                  {-200, "-3 分 20 秒"},  {1e300, "∞"}};
  for (const auto& [seconds, text] : cases) EXPECT_EQ(FormatDuration(seconds, Lang::kZh), text) << seconds;
}

TEST(TimeZoneTest, FixedOffsetsNeedNoDatabase) {
  const std::optional<TimeZone> east = TimeZone::Load("+08:00");
  ASSERT_TRUE(east.has_value());
  EXPECT_EQ(east->OffsetSeconds(0), 8 * 3600);
  EXPECT_EQ(east->name(), "+08:00");
  EXPECT_EQ(east->LocalDay(At("2026-01-01T16:00:00Z")), "2026-01-02");
  EXPECT_EQ(TimeZone::Load("-03:30")->OffsetSeconds(0), -(3 * 3600 + 1800));
  EXPECT_EQ(TimeZone::Load("UTC")->OffsetSeconds(0), 0);
  EXPECT_EQ(TimeZone::Utc().name(), "UTC");
  CivilTime c;
  c.hour = 8;
  EXPECT_EQ(east->FromLocal(c), 0);
}

TEST(TimeZoneTest, UnknownNames) {
  for (const char* name : {"Mars/Olympus", "+8", "+25:00", "-", "../../etc/passwd", "Europe", "/etc/localtime"}) {
    EXPECT_FALSE(TimeZone::Load(name).has_value()) << name;
  }
}

class DatabaseTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!TimeZone::Load("Europe/Berlin")) GTEST_SKIP() << "no tzdata here";
  }
};

TEST_F(DatabaseTest, FollowsDaylightSaving) {
  const TimeZone berlin = *TimeZone::Load("Europe/Berlin");
  EXPECT_EQ(berlin.OffsetSeconds(At("2026-01-15T12:00:00Z")), 3600);
  EXPECT_EQ(berlin.OffsetSeconds(At("2026-07-15T12:00:00Z")), 7200);
  EXPECT_EQ(berlin.OffsetSeconds(At("2026-03-29T00:59:59.999Z")), 3600);
  EXPECT_EQ(berlin.OffsetSeconds(At("2026-03-29T01:00:00Z")), 7200);
  EXPECT_EQ(TimeZone::Load("Asia/Shanghai")->OffsetSeconds(At("2026-07-15T12:00:00Z")), 8 * 3600);
  EXPECT_EQ(TimeZone::Load("Asia/Kathmandu")->OffsetSeconds(At("2026-07-15T12:00:00Z")), 5 * 3600 + 45 * 60);
}

TEST_F(DatabaseTest, GapAndOverlap) {
  const TimeZone berlin = *TimeZone::Load("Europe/Berlin");
  // 02:30 did not exist on 2026-03-29: the instant after the gap.
  EXPECT_EQ(berlin.FromLocal(*ParseCivil("2026-03-29 02:30:00")), At("2026-03-29T01:00:00Z"));
  // 02:30 came twice on 2026-10-25: the first one, still in summer time.
  EXPECT_EQ(berlin.FromLocal(*ParseCivil("2026-10-25 02:30:00.250")), At("2026-10-25T00:30:00.250Z"));
  EXPECT_EQ(berlin.FromLocal(*ParseCivil("2026-07-15 14:00:00")), At("2026-07-15T12:00:00Z"));
}

TEST_F(DatabaseTest, EveryHourOfAYearRoundTripsOutsideTheOverlap) {
  const TimeZone york = *TimeZone::Load("America/New_York");
  for (TimeMs t = At("2026-01-01T00:00:00Z"); t < At("2027-01-01T00:00:00Z"); t += 3'600'000) {
    const TimeMs back = york.FromLocal(york.ToLocal(t));
    ASSERT_TRUE(back == t || back == t - 3'600'000) << FormatRfc3339(t);
  }
}

TEST_F(DatabaseTest, DaysAreLocal) {
  EXPECT_EQ(TimeZone::Load("America/New_York")->LocalDay(At("2026-03-14T03:59:59Z")), "2026-03-13");
  EXPECT_EQ(TimeZone::Load("America/New_York")->LocalDay(At("2026-03-14T04:00:00Z")), "2026-03-14");
}

TEST_F(DatabaseTest, ZonesDoNotMixInOneThreadOrInMany) {
  const TimeZone berlin = *TimeZone::Load("Europe/Berlin"), shanghai = *TimeZone::Load("Asia/Shanghai");
  const TimeMs t = At("2026-07-15T12:00:00Z");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 2000; ++n) {
        const TimeZone zone = i % 2 == 0 ? berlin : shanghai;
        EXPECT_EQ(zone.OffsetSeconds(t + n), i % 2 == 0 ? 7200 : 28'800);
        EXPECT_EQ(shanghai.OffsetSeconds(t), 28'800);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(DatabaseTest, LocalFollowsTheEnvironment) {
  {
    const ScopedTz tz("Asia/Tokyo");
    EXPECT_EQ(TimeZone::Load("")->name(), "Asia/Tokyo");
    EXPECT_EQ(TimeZone::Load("local")->OffsetSeconds(0), 9 * 3600);
  }
  {
    const ScopedTz tz(":/usr/share/zoneinfo/Europe/Berlin");
    EXPECT_EQ(TimeZone::Load("")->name(), "Europe/Berlin");
  }
}

TEST(TimeZoneTest, LocalWithoutTheDatabase) {
  {
    const ScopedTz tz("CST-8");
    EXPECT_EQ(TimeZone::Load("")->OffsetSeconds(0), 8 * 3600);
  }
  {
    const ScopedTz tz("<+0530>-5:30");
    EXPECT_EQ(TimeZone::Load("local")->OffsetSeconds(0), 5 * 3600 + 1800);
  }
  {
    const ScopedTz tz("local");
    EXPECT_EQ(TimeZone::Load("")->OffsetSeconds(0), 0);
  }
  {
    const ScopedTz tz("no such zone");
    EXPECT_EQ(TimeZone::Load("")->name(), "UTC");
  }
  {
    const ScopedTz tz(nullptr);
    EXPECT_TRUE(TimeZone::Load("").has_value());
  }
}

}  // namespace
}  // namespace sawbill
