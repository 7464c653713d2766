// SPDX-License-Identifier: Apache-2.0
#include "store/csv_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/numbers.h"

namespace sawbill::store {
namespace {
using ::testing::ElementsAre;

std::vector<std::string> Cells(std::string_view line) {
  std::vector<std::string_view> cells;
  std::vector<std::string> scratch;
  EXPECT_TRUE(SplitCells(line, &cells, &scratch)) << line;
  return {cells.begin(), cells.end()};
}

TEST(CsvLine, EmptyCellsKeepTheirPlace) {
  EXPECT_THAT(Cells("1,,3,"), ElementsAre("1", "", "3", ""));
  EXPECT_THAT(Cells(","), ElementsAre("", ""));
}

TEST(CsvLine, QuotedCellsMayHoldCommasAndQuotes) {
  EXPECT_THAT(Cells("1,\"a,b\",\"say \"\"hi\"\"\",\"\""), ElementsAre("1", "a,b", "say \"hi\"", ""));
  std::vector<std::string_view> cells;
  std::vector<std::string> scratch;
  EXPECT_FALSE(SplitCells("1,\"open", &cells, &scratch));
  EXPECT_FALSE(SplitCells("1,\"a\"b,2", &cells, &scratch));
}

TEST(CsvLine, ManyQuotedCellsDoNotDisturbEachOther) {
  std::string line;
  for (int i = 0; i < 50; ++i) line += (i > 0 ? ",\"" : "\"") + std::to_string(i) + ",\"";
  const std::vector<std::string> cells = Cells(line);
  ASSERT_EQ(cells.size(), 50U);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(cells[static_cast<size_t>(i)], std::to_string(i) + ",");
}

TEST(CsvLine, HeaderIsToldByItsNames) {
  EXPECT_TRUE(IsHeaderLine("timestamp,gpu,sm_util"));
  EXPECT_TRUE(IsHeaderLine("timestamp"));
  EXPECT_TRUE(IsHeaderLine("gpu,timestamp,sm_util"));
  EXPECT_FALSE(IsHeaderLine("timestamps,gpu"));
  EXPECT_FALSE(IsHeaderLine("1765065329.000,0,5"));
  EXPECT_FALSE(IsHeaderLine("alice,timestamp,5"));
}

TEST(CsvLine, TimestampsAreMillisecondsAndNothingElse) {
  EXPECT_EQ(ParseTimestamp("1765065329.125"), 1765065329125);
  EXPECT_EQ(ParseTimestamp("1765065329"), 1765065329000);
  EXPECT_EQ(ParseTimestamp("1765065329.1254"), 1765065329125);
  for (const char* bad : {"", "abc", "-5", "1765065329125", "1765065329,5", "2026-01-01"}) {
    EXPECT_EQ(ParseTimestamp(bad), std::nullopt) << bad;
  }
  std::string s;
  AppendTimestamp(1765065329007, &s);
  EXPECT_EQ(s, "1765065329.007");
}

TEST(CsvLine, RowsAreWrittenCellByCell) {
  RowText row;
  row.AddNumber(12.345, 1);
  row.AddNumber(kMissing, 1);
  row.AddNumber(-0.01, 1);
  row.AddInt(-7);
  row.AddText("a,\"b\"\nc");
  row.AddEmpty();
  EXPECT_EQ(row.text(), "12.3,,0.0,-7,\"a,\"\"b\"\"?c\",");
  EXPECT_EQ(row.cells(), 6U);
}

}  // namespace
}  // namespace sawbill::store
