// SPDX-License-Identifier: Apache-2.0
#include "prom/exposition.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numbers.h"

namespace sawbill::prom {
namespace {

LineKind Kind(std::string_view line) {
  PromLine out;
  return SplitPromLine(line, &out);
}

PromLine Split(std::string_view line) {
  PromLine out;
  EXPECT_EQ(SplitPromLine(line, &out), LineKind::kSample) << line;
  return out;
}

SeriesName Series(std::string_view line) {
  SeriesName out;
  EXPECT_TRUE(ParseSeries(Split(line).series, &out)) << line;
  return out;
}

TEST(SplitPromLine, ASampleIsSeriesValueAndPerhapsATime) {
  const PromLine plain = Split("up 1");
  EXPECT_EQ(plain.series, "up");
  EXPECT_EQ(plain.value, 1);
  EXPECT_FALSE(plain.has_time);
  const PromLine timed = Split("x{a=\"b\"}  2.5\t1395066363000");
  EXPECT_EQ(timed.series, "x{a=\"b\"}");
  EXPECT_EQ(timed.value, 2.5);
  EXPECT_EQ(timed.time, 1395066363000.0);
  EXPECT_EQ(Split("x{} 3 -3982045").time, -3982045);
  EXPECT_EQ(Split("  x { a = \"b\" , } 3  ").value, 3);
}

TEST(SplitPromLine, LineEndsOfWindowsDoNotMatter) { EXPECT_EQ(Split("x{a=\"b\"} 12\r").value, 12); }

TEST(SplitPromLine, ValuesAreInGosNotation) {
  EXPECT_EQ(Split("x 1.8e+09").value, 1.8e9);
  EXPECT_EQ(Split("x 0x1p4").value, 16);
  EXPECT_EQ(Split("x -0x1.8p1").value, -3);
  EXPECT_TRUE(IsMissing(Split("x NaN").value));
  EXPECT_EQ(Split("x +Inf").value, HUGE_VAL);
  EXPECT_EQ(Split("x -inf").value, -HUGE_VAL);
  EXPECT_EQ(Kind("x 1_000"), LineKind::kBadValue);
  EXPECT_EQ(Kind("x{gpu=\"0\"} N/A"), LineKind::kBadValue);
}

TEST(SplitPromLine, CommentsAndBlankLinesAreTold) {
  EXPECT_EQ(Kind("# HELP x {a=\"b\"} 5"), LineKind::kComment);
  EXPECT_EQ(Kind("# EOF"), LineKind::kComment);
  EXPECT_EQ(Kind(" \t\r"), LineKind::kBlank);
}

TEST(SplitPromLine, WhatIsNoSampleIsTold) {
  for (const char* line : {"```", "$ kubectl get pods", "2026/07/14 09:00:44.579, 0, 97 %", "x", "x{", "x{a=\"b\"",
                           "x{a=\"b\"}", "x 1 2 3", "x{a=\"b\"} 1 soon", "12 13", "- Node labels:", "x} 1"}) {
    EXPECT_NE(Kind(line), LineKind::kSample) << line;
  }
}

TEST(SplitPromLine, ExemplarsAreCutOff) {
  const PromLine l = Split("x_bucket{le=\"0.1\"} 8 # {trace_id=\"KOO5S4vxi0o\"} 0.67 1520879607.789");
  EXPECT_EQ(l.series, "x_bucket{le=\"0.1\"}");
  EXPECT_EQ(l.value, 8);
  EXPECT_FALSE(l.has_time);
  EXPECT_EQ(Split("x 8 1520879607.7 # {a=\"}\"} 1").time, 1520879607.7);
  EXPECT_EQ(Split("x{pod=\"job #1 # {a\"} 8").value, 8) << "a label that looks like one";
}

TEST(ParseSeries, LabelValuesAreUnescaped) {
  const SeriesName s = Series(R"(x{a="one\\two",b="say \"hi\", now",c="line\nbreak",d="C:\tmp"} 1)");
  EXPECT_EQ(s.name, "x");
  EXPECT_EQ(s.Label("a"), "one\\two");
  EXPECT_EQ(s.Label("b"), "say \"hi\", now");
  EXPECT_EQ(s.Label("c"), "line\nbreak");
  EXPECT_EQ(s.Label("d"), "C:\\tmp") << "another backslash stands for itself";
}

// dcgm-exporter's template escapes nothing.
TEST(ParseSeries, RawQuotesAndBracesInsideValuesEndNothing) {
  const SeriesName s = Series("x{name=\"A \"quoted\" name}, {and\\a slash\",pod=\"p\"} 5");
  EXPECT_EQ(s.Label("name"), "A \"quoted\" name}, {and\\a slash");
  EXPECT_EQ(s.Label("pod"), "p");
}

TEST(ParseSeries, NamesBeyondAsciiStandInQuotes) {
  const SeriesName s = Series(R"({"gpu.利用率","card.name"="a",plain="b"} 5)");
  EXPECT_EQ(s.name, "gpu.利用率");
  EXPECT_EQ(s.Label("card.name"), "a");
  EXPECT_EQ(s.Label("plain"), "b");
  SeriesName none;
  EXPECT_FALSE(ParseSeries(R"({a="b"})", &none)) << "no name at all";
}

TEST(ParseSeries, LabelsDoNotDependOnCase) {
  EXPECT_EQ(Series("x{UUID=\"GPU-a\"} 1").Label("uuid"), "GPU-a");
  EXPECT_EQ(Series("x{Hostname=\"n\"} 1").Label("hostname"), "n");
}

TEST(ParseSeries, PagesShortenedForPeopleAreRead) {
  const SeriesName s = Series("x{gpu=\"0\",...,modelName=\"NVIDIA L40S\",...} 405");
  EXPECT_EQ(s.Label("gpu"), "0");
  EXPECT_EQ(s.Label("modelname"), "NVIDIA L40S");
}

TEST(TimeMsOf, SecondsAndMillisecondsAreToldApart) {
  EXPECT_EQ(TimeMsOf(1395066363000), 1395066363000);
  EXPECT_EQ(TimeMsOf(1520879607.789), 1520879607789);
  for (const double none : {1e300, -1.0, 0.0, 12345.0}) EXPECT_EQ(TimeMsOf(none), INT64_MIN);
}

}  // namespace
}  // namespace sawbill::prom
