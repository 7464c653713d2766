// SPDX-License-Identifier: Apache-2.0
#include "ingest/comma_numbers.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// "decimal / grouped + rest", '-' for a reading that the form excludes.
std::string Both(std::string_view cell) {
  std::string_view rest;
  const auto n = ReadCommaNumber(cell, &rest);
  if (!n) return "none";
  const auto word = [](double v) { return IsMissing(v) ? std::string("-") : FormatShortest(v); };
  return word(n->decimal) + " / " + word(n->grouped) + std::string(rest.empty() ? "" : " +") + std::string(rest);
}

TEST(CommaNumber, ItsFormSaysWhatItCanBe) {
  EXPECT_EQ(Both("95,5"), "95.5 / -");
  EXPECT_EQ(Both("375,25 W"), "375.25 / - + W");
  EXPECT_EQ(Both("0,955"), "0.955 / -");
  EXPECT_EQ(Both("1234,567"), "1234.567 / -");
  EXPECT_EQ(Both("1.234,5"), "1234.5 / -");
  EXPECT_EQ(Both("40,123 MiB"), "40.123 / 40123 + MiB");
  EXPECT_EQ(Both("1,234,567"), "- / 1234567");
  EXPECT_EQ(Both("1,234.5"), "- / 1234.5");
  for (const char* none : {"95", "95.5", ",5", "5,", "95,x", "n/a, 5", "-,-"}) EXPECT_EQ(Both(none), "none") << none;
}

const std::string kHeading = "timestamp,gpu,util,power,mem_used,sm_clock\n";
std::string Row(int second, const std::string& cells) {
  return "2026-11-03T09:00:0" + std::to_string(second) + "Z,0," + cells + "\n";
}

TEST(CommaNumbers, ADecimalCommaInQuotesIsRead) {
  const auto r = ReadText(kHeading + Row(0, R"("95,5","375,2 W",40123,1410)") + Row(1, R"(96,"380",40123,1410)"));
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "95.5 96");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "375.2 380");
  EXPECT_EQ(Odds(r, Odd::kBadCell), 0);
  EXPECT_THAT(Join(r.notes, "\n"), HasSubstr("'95,5' in column 3 (util), and all cells like it, were read with a "
                                             "decimal comma."));
}

TEST(CommaNumbers, OneSureCellDecidesForAllColumns) {
  const std::string either = R"("40,123")";
  EXPECT_EQ(
      Values(ReadText(kHeading + Row(0, "95,375," + either + ",1410") + Row(1, "\"9,5\",375," + either + ",1410")), 0,
             GpuMetric::kMemUsedMb),
      "40.123 40.123");
  EXPECT_EQ(
      Values(ReadText(kHeading + Row(0, "95,375," + either + ",1410") + Row(1, "95,375,\"1,040,123\",\"1,410.5\"")), 0,
             GpuMetric::kMemUsedMb),
      "40123 1040123");
}

TEST(CommaNumbers, WhatCannotBeDecides) {
  // 95,512 % is no utilisation, 1.41 MHz is no clock.
  const auto decimal = ReadText(kHeading + Row(0, R"("95,512",375,"40,123",1410)"));
  EXPECT_EQ(Values(decimal, 0, GpuMetric::kSmUtil) + " " + Values(decimal, 0, GpuMetric::kMemUsedMb), "95.512 40.123");
  const auto groups = ReadText(kHeading + Row(0, R"(95,375,"40,123","1,410")"));
  EXPECT_EQ(Values(groups, 0, GpuMetric::kSmClockMhz) + " " + Values(groups, 0, GpuMetric::kMemUsedMb), "1410 40123");
  EXPECT_THAT(Join(groups.notes, "\n"), HasSubstr("commas that part thousands"));
}

TEST(CommaNumbers, WhatNothingDecidesIsLeftEmptyAndNamed) {
  const auto r = ReadText(kHeading + Row(0, R"(95,375,"40,123",1410)") + Row(1, R"(95,375,"40,125",1410)"));
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "95 95");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "- -");
  EXPECT_EQ(Odds(r, Odd::kBadCell), 2);
  EXPECT_THAT(Join(r.notes, "\n"),
              AllOf(HasSubstr("'40,123' in column 5 (mem_used) may be 40.123 or 40123"), HasSubstr("LC_ALL=C")));
  EXPECT_THAT(Refusal("timestamp,mem_used\n2026-11-03T09:00:00Z,\"40,123\"\n"),
              AllOf(HasSubstr("column 2 mem_used: '40,123'"), HasSubstr("may be 40.123 or 40123")));
}

TEST(CommaNumbers, ProofsThatContradictDecideNothing) {
  const auto r = ReadText(kHeading + Row(0, R"("95,5",375,"1,040,123",1410)") + Row(1, R"(95,375,"40,125",1410)"));
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil) + " / " + Values(r, 0, GpuMetric::kMemUsedMb), "95.5 95 / 1040123 -");
}

TEST(CommaNumbers, OfARowThatDoesNotFitCountForNothing) {
  const auto r = ReadText(kHeading + Row(0, R"(95,"375,5","40,123",1410,7)") + Row(1, R"(95,375,"40,125",1410)"));
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "-");
}

TEST(CommaNumbers, InColumnsOfEachCard) {
  const auto r = ReadText("timestamp,gpu0_util,gpu1_util\n2026-11-03T09:00:00Z,\"95,5\",\"60,5\"\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil) + " " + Values(r, 1, GpuMetric::kSmUtil), "95.5 60.5");
}

TEST(BadCells, AreNamedWithLineColumnAndText) {
  const auto r = ReadText("timestamp,gpu,util,power\n2026-11-03T09:00:00Z,0,95x5,375\n2026-11-03T09:00:01Z,0,zz,375\n");
  EXPECT_EQ(Odds(r, Odd::kBadCell), 2);
  EXPECT_EQ(r.quality.detail(Odd::kBadCell), "log.csv:2, column 3 util: '95x5'");
}

TEST(BadCells, AloneMakeNoRecording) {
  EXPECT_THAT(Refusal("timestamp,gpu,util\n2026-11-03T09:00:00Z,0,95x5\n2026-11-03T09:00:01Z,0,zz\n"),
              AllOf(HasSubstr("2 bad cells, the first at log.csv:2, column 3 util: '95x5'"), Not(HasSubstr("doctor"))));
}

}  // namespace
}  // namespace sawbill::ingest
