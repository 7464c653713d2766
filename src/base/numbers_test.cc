// SPDX-License-Identifier: Apache-2.0
#include "base/numbers.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <charconv>
#include <clocale>
#include <cstdlib>

#include "base/messages.h"
#include "base/time.h"

namespace sawbill {
namespace {

TEST(ParseDoubleTest, WholeNumbersOnly) {
  EXPECT_EQ(ParseDouble("12"), 12.0);
  EXPECT_EQ(ParseDouble("-3.5"), -3.5);
  EXPECT_EQ(ParseDouble("+3.5"), 3.5);
  EXPECT_EQ(ParseDouble("1e3"), 1000.0);
  EXPECT_EQ(ParseDouble("1E-3"), 0.001);
  EXPECT_EQ(ParseDouble(" \t7 \r\n"), 7.0);
  EXPECT_EQ(ParseDouble(".5"), 0.5);
  EXPECT_EQ(ParseDouble("5."), 5.0);
  EXPECT_EQ(ParseDouble("-0"), 0.0);
  EXPECT_EQ(ParseDouble("1.7976931348623157e308"), std::numeric_limits<double>::max());
}

TEST(ParseDoubleTest, RefusesWhatIsNoReading) {
  for (const char* s :
       {"",     " ",   "-",   "+",   ".",    "-.",       "+-3",   "--3", "1 2",   "98 %", "4,00", "1.2.3",
        "0x10", "nan", "NaN", "inf", "-inf", "infinity", "1e999", "N/A", "[N/A]", "e5",   "1e"}) {
    EXPECT_EQ(ParseDouble(s), std::nullopt) << s;
  }
}

/// The short way of reading a plain decimal against the standard library's, over every form that a log may hold.
RC_GTEST_PROP(ParseDoubleTest, TheShortWayReadsTheSameDouble, ()) {
  const auto digits = [](int least, int most) {
    return rc::gen::container<std::string>(*rc::gen::inRange(least, most + 1),
                                           rc::gen::inRange('0', static_cast<char>('9' + 1)));
  };
  std::string text = *rc::gen::element<std::string>("", "-");
  text += *digits(1, 18);
  if (*rc::gen::arbitrary<bool>()) text += "." + *digits(0, 18);
  const std::string tail = *rc::gen::element<std::string>("", "", " %", "MiB", "e2", "E-3", "e", ".", ",5", "W");
  const std::string all = text + tail;
  double wanted = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), wanted);
  RC_ASSERT(error == std::errc());
  std::string_view rest;
  const auto read = ParseDoublePrefix(all, &rest);
  RC_ASSERT(read.has_value());
  RC_ASSERT(std::bit_cast<uint64_t>(*read) == std::bit_cast<uint64_t>(wanted));
  RC_ASSERT(rest.size() == static_cast<size_t>(all.data() + all.size() - end));
}

TEST(ParseDoubleTest, PrefixLeavesTheRest) {
  std::string_view rest;
  EXPECT_EQ(ParseDoublePrefix("98 %", &rest), 98.0);
  EXPECT_EQ(rest, " %");
  EXPECT_EQ(ParseDoublePrefix(" 250.12W", &rest), 250.12);
  EXPECT_EQ(rest, "W");
  EXPECT_EQ(ParseDoublePrefix("1e", &rest), 1.0);
  EXPECT_EQ(rest, "e");
  EXPECT_EQ(ParseDoublePrefix("7", nullptr), 7.0);
  EXPECT_EQ(ParseDoublePrefix("W", &rest), std::nullopt);
}

TEST(ParseIntTest, WholeRange) {
  EXPECT_EQ(ParseInt("0"), 0);
  EXPECT_EQ(ParseInt(" +42 "), 42);
  EXPECT_EQ(ParseInt("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(ParseInt("9223372036854775807"), std::numeric_limits<int64_t>::max());
  for (const char* s : {"", "9223372036854775808", "1.0", "1e3", "0x1", "1 2", "+-1", "a"}) {
    EXPECT_EQ(ParseInt(s), std::nullopt) << s;
  }
}

TEST(FormatFixedTest, DecimalsAndSigns) {
  EXPECT_EQ(FormatFixed(3.14159, 2), "3.14");
  EXPECT_EQ(FormatFixed(-3.14159, 0), "-3");
  EXPECT_EQ(FormatFixed(-0.001, 2), "0.00");
  EXPECT_EQ(FormatFixed(-0.0, 0), "0");
  EXPECT_EQ(FormatFixed(-0.006, 2), "-0.01");
  EXPECT_EQ(FormatFixed(1e300, 1).size(), 303u);
  EXPECT_EQ(FormatFixed(-std::numeric_limits<double>::max(), 99).size(), 1u + 309 + 1 + 64);
  EXPECT_EQ(FormatFixed(5, -3), "5");
  EXPECT_EQ(FormatFixed(kMissing, 2), "nan");
  EXPECT_EQ(FormatFixed(-kMissing, 2), "nan");
}

TEST(FormatShortestTest, ReadsBackAndStaysPlain) {
  EXPECT_EQ(FormatShortest(0.1), "0.1");
  EXPECT_EQ(FormatShortest(100000), "100000");
  EXPECT_EQ(FormatShortest(-2.5), "-2.5");
  EXPECT_EQ(FormatShortest(-0.0), "0");
  EXPECT_EQ(FormatShortest(1e20), "1e+20");
  for (const double v :
       {1.0 / 3, 1e-5, 9.99e-6, 123456789.125, 999999999999999.9, 1e15, 5e-324, 1.7976931348623157e308}) {
    EXPECT_EQ(std::strtod(FormatShortest(v).c_str(), nullptr), v);
  }
}

TEST(FormatGroupedTest, Thousands) {
  EXPECT_EQ(FormatGrouped(1234567.891, 2), "1,234,567.89");
  EXPECT_EQ(FormatGrouped(-1234.5, 1), "-1,234.5");
  EXPECT_EQ(FormatGrouped(-123, 0), "-123");
  EXPECT_EQ(FormatGrouped(999, 0), "999");
  EXPECT_EQ(FormatGrouped(1000, 0), "1,000");
  EXPECT_EQ(FormatGrouped(999.996, 2), "1,000.00");
  EXPECT_EQ(FormatGrouped(kMissing, 0), "nan");
}

TEST(NumbersTest, MissingIsNotZero) {
  EXPECT_TRUE(IsMissing(kMissing));
  EXPECT_FALSE(IsPresent(kMissing));
  EXPECT_TRUE(IsPresent(0.0));
}

TEST(NumbersTest, TheLocaleChangesNothing) {
  const char* set = nullptr;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8"}) {
    if (set == nullptr) set = std::setlocale(LC_ALL, name);
  }
  EXPECT_EQ(FormatFixed(1234.5, 2), "1234.50");
  EXPECT_EQ(FormatGrouped(1234.5, 2), "1,234.50");
  EXPECT_EQ(FormatShortest(0.5), "0.5");
  EXPECT_EQ(ParseDouble("4.25"), 4.25);
  EXPECT_EQ(ParseDouble("4,25"), std::nullopt);
  EXPECT_EQ(ParseDuration("1.5s"), 1500);
  EXPECT_EQ(FormatDuration(1.5, Lang::kEn), "1.5 s");
  EXPECT_EQ(FormatRfc3339(1500), "1970-01-01T00:00:01.500Z");
  std::setlocale(LC_ALL, "C");
  if (set == nullptr) GTEST_SKIP() << "no locale with a decimal comma is installed here";
}

}  // namespace
}  // namespace sawbill
