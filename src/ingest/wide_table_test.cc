// SPDX-License-Identifier: Apache-2.0
// Tables with columns for each card: every card gets its own readings, and a number that need be none makes no card.
#include "ingest/wide_table.h"

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

const std::string kT1 = "2026-12-02 10:00:00,", kT2 = "2026-12-02 10:00:01,";

/// "card: util/memory/power ..." of all cards.
std::string Seen(const model::Recording& r) {
  std::string out;
  for (size_t k = 0; k < r.gpus.size(); ++k) {
    out += (k > 0 ? "; " : "") + r.gpus[k].card.gpu + ": " + Values(r, k, GpuMetric::kSmUtil) + " / " +
           Values(r, k, GpuMetric::kMemUsedMb);
  }
  return out;
}

TEST(WideTables, CardsThatAreNamed) {
  const std::string wanted = "0: 95 96 / 1000 1001; 1: 0 3 / 10 11";
  for (const std::string head :
       {"timestamp,gpu0_util,gpu1_util,gpu0_mem_used,gpu1_mem_used",
        "timestamp,gpu_0_util,gpu_1_util,gpu_0_mem_used_mb,gpu_1_mem_used_mb",
        "Time,GPU 0 utilization [%],GPU 1 utilization [%],GPU 0 memory.used [MiB],GPU 1 memory.used [MiB]",
        "timestamp,util_gpu0,util_gpu1,mem_used_gpu0,mem_used_gpu1",
        "ts,cuda:0 util,cuda:1 util,cuda:0 mem used,cuda:1 mem used",
        "\"timestamp\",\"GPU0-Util\",\"GPU1-Util\",\"GPU0-Memory-Usage\",\"GPU1-Memory-Usage\""}) {
    EXPECT_EQ(Seen(ReadText(head + "\n" + kT1 + "95,0,1000,10\n" + kT2 + "96,3,1001,11\n")), wanted) << head;
  }
}

TEST(WideTables, OfASpreadsheet) {
  const std::string wanted = "0: 95.5 96.5 / - -; 1: 0 3 / - -";
  EXPECT_EQ(Seen(ReadText(
                "Time;GPU 0 utilization;GPU 1 utilization\n03.02.2026 10:00:00;95,5;0\n03.02.2026 10:00:01;96,5;3\n")),
            wanted);
  const auto r = ReadText(
      "Time\tGPU 0 utilization\tGPU 1 utilization\n03/02/2026 11:59:59 PM\t95.5\t0\n04/02/2026 12:00:00 AM\t96.5\t3\n");
  EXPECT_EQ(Seen(r), wanted);
  EXPECT_EQ(FormatRfc3339(r.gpus[0].t_ms[1]), "2026-02-04T00:00:00.000Z");
}

TEST(WideTables, NumbersThatCountUp) {
  const std::string wanted = "0: 95 96 / 1000 1001; 1: 0 3 / 10 11";
  for (const std::string head :
       {"timestamp,util_0,util_1,mem_used_0,mem_used_1", "timestamp,util0,util1,mem_used0,mem_used1",
        "timestamp,0_util,1_util,0_mem_used,1_mem_used", "timestamp,util_0 (%),util_1 (%),mem_0_used,mem_1_used"}) {
    EXPECT_EQ(Seen(ReadText(head + "\n" + kT1 + "95,0,1000,10\n" + kT2 + "96,3,1001,11\n")), wanted) << head;
  }
  EXPECT_EQ(Seen(ReadText("timestamp,util_1,util_2\n" + kT1 + "95,0\n" + kT2 + "96,3\n")),
            "1: 95 96 / - -; 2: 0 3 / - -");
}

TEST(WideTables, UnitsAndRatiosAreThoseOfOtherTables) {
  const auto r = ReadText("timestamp,gpu0_util,gpu1_util,gpu0_mem_used_gb,gpu1_mem_used_gb\n" + kT1 + "0.95,0.5,2,1\n" +
                          kT2 + "0.97,0.25,2,N/A\n");
  EXPECT_EQ(Seen(r), "0: 95 97 / 2048 2048; 1: 50 25 / 1024 -");
  EXPECT_EQ(Odds(r, Odd::kNotSupported), 1);
}

TEST(WideTables, AreSaidToBeSo) {
  const auto r =
      ReadText("timestamp,hostname,cpu_util,gpu0_util,gpu3_util\n" + kT1 + "n1,55,95,0\n" + kT2 + "n1,56,96,3\n");
  EXPECT_EQ(Seen(r), "0: 95 96 / - -; 3: 0 3 / - -");
  EXPECT_EQ(r.gpus[1].card.node, "n1");
  EXPECT_THAT(
      Join(r.notes, "\n"),
      AllOf(HasSubstr(
                "Columns name their card (gpu0_util to gpu3_util): each row was read as one row for each of 2 cards."),
            HasSubstr("no card stands in the heading while others name theirs: cpu_util.")));
  EXPECT_THAT(ExplainText("timestamp,gpu0_util,gpu1_util\n" + kT1 + "95,0\n", Lang::kZh),
              HasSubstr("gpu0_util 至 gpu1_util"));
}

TEST(WideTables, ColumnsThatAreNotKnownAreCounted) {
  const auto r =
      ReadText(",timestamp,gpu0_util,gpu1_util,gpu0_loss,gpu1_loss\n0," + kT1 + "95,0,7,7\n1," + kT2 + "96,3,7,7\n");
  EXPECT_EQ(Seen(r), "0: 95 96 / - -; 1: 0 3 / - -");
  EXPECT_EQ(Odds(r, Odd::kUnknownColumn), 2);
  EXPECT_THAT(Join(r.notes, "\n"), Not(HasSubstr("Left out")));
}

TEST(WideTables, ACardWithoutACellIsNotThere) {
  const auto r = ReadText("timestamp,gpu0_util,gpu1_util\n" + kT1 + "95,\n" + kT2 + "96,3\n");
  EXPECT_EQ(Seen(r), "0: 95 96 / - -; 1: 3 / -");
}

TEST(WideTables, RowsOfAnotherWidthAreLeftOutNotShifted) {
  const auto r = ReadText("timestamp,gpu0_util,gpu1_util,gpu0_mem_used,gpu1_mem_used\n" + kT1 + "95,0,1000,10\n" +
                          "2026-12-02 10:00:01,96,3,1001\n2026-12-02 10:00:02,97,4,1002,12,7\nsome text\n" +
                          "2026-12-02 10:00:03,98,5,1003,1");  // cut
  EXPECT_EQ(Seen(r), "0: 95 98 / 1000 1003; 1: 0 5 / 10 -");
  EXPECT_EQ(Odds(r, Odd::kMissingCells), 2);
  EXPECT_EQ(Odds(r, Odd::kExtraCells), 1);
  EXPECT_EQ(Odds(r, Odd::kTornLine), 1);
}

TEST(WideTables, OfWhichNoRowFitsAreRefusedWithTheCount) {
  EXPECT_THAT(Refusal("timestamp,gpu0_util,gpu1_util\n" + kT1 + "95\n" + kT2 + "96\n"), HasSubstr("2 × "));
}

TEST(WideTables, NumbersThatNeedBeNoCardsMakeNone) {
  // A second sensor of one card; a column for the card beside a numbered one; a number that counts nothing up.
  EXPECT_EQ(ReadText("timestamp,util,temp,temp_1,temp_2\n" + kT1 + "95,50,60,70\n").gpus.size(), 1U);
  EXPECT_EQ(ReadText("timestamp,index,util,temp_0,temp_1\n" + kT1 + "0,95,60,70\n" + kT1 + "1,95,60,70\n").gpus.size(),
            2U);
  EXPECT_THAT(Refusal("timestamp,util_3,util_7\n" + kT1 + "95,60\n"), HasSubstr("util_3, util_7"));
  EXPECT_FALSE(ReadCardHeading("gpu0"));
  EXPECT_FALSE(ReadCardHeading("loss_0"));
  EXPECT_FALSE(ReadCardHeading("util"));
  EXPECT_FALSE(ReadCardHeading("util_0_1"));
}

TEST(WideTables, WhoseCardsAreNotNumberedAreRefusedByTheNamesOfTheirColumns) {
  EXPECT_THAT(
      Refusal("timestamp,utilA,utilB\n" + kT1 + "95,0\n"),
      AllOf(HasSubstr("no column with a reading that is known: utilA, utilB. For several cards name the columns"),
            HasSubstr("gpu0_util")));
}

TEST(DuplicateHeadings, AreNamedWithTheOneThatWasRead) {
  const auto r = ReadText("timestamp,gpu,sm_util,sm_util,mem_used_mb\n" + kT1 + "0,95,10,7\n" + kT2 + "0,96,11,7\n");
  EXPECT_EQ(Seen(r), "0: 95 96 / 7 7");
  EXPECT_THAT(Join(r.notes, "\n"), HasSubstr("The heading sm_util stands over 2 columns (3, 4); column 3 was read."));
  EXPECT_THAT(Join(ReadText("timestamp,gpu,sm_util\n" + kT1 + "0,95\n").notes, "\n"), Not(HasSubstr("stands over")));
}

}  // namespace
}  // namespace sawbill::ingest
