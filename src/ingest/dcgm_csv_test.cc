// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/text.h"
#include "ingest/prom_formats.h"
#include "ingest/test_util.h"
#include "sys/file.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using testing::Contains;
using testing::HasSubstr;

TEST(DcgmEntityCsv, RowsBecomeSamplesOfTheEntity) {
  const model::Recording r =
      ReadText("EntityId,GRACT,FBUSD,TimeStamp\n0,0.000,3,1661698242\n0,0.814,5067,1661698243\n1,0.5,9,1661698243\n");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.format, "dcgm entity csv");
  EXPECT_EQ(Values(r, 0, GpuMetric::kGrActive), "0 0.814");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "3 5067");
  EXPECT_EQ(r.gpus[0].t_ms.back(), 1661698243000);
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kSmUtil)) << "missing is not zero";
  EXPECT_EQ(r.gpus[1].card.gpu, "1");
  EXPECT_THAT(r.notes, Contains(HasSubstr("MIG instance")));
}

TEST(DcgmEntityCsv, ColumnsMayStandInAnyOrderAndUnknownOnesAreLeftOut) {
  const model::Recording r = ReadText("TimeStamp,EntityId,XYZZY,TOTEC,GPUTL\n2026-07-14T09:00:00Z,GPU 3,7,187000,91\n");
  EXPECT_EQ(r.gpus.at(0).card.gpu, "3");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "91");
  EXPECT_EQ(r.gpus[0].energy_j.at(0), 187) << "mJ";
}

TEST(DcgmEntityCsv, BlanksTornAndRepeatedLinesAreSurvived) {
  const model::Recording r = ReadText(
      "EntityId,GRACT,FBUSD,TimeStamp\n0,140737488355330,7,1661698242\n0,N/A,2147483634,1661698243\n0,0.5,8\n"
      "EntityId,GRACT,FBUSD,TimeStamp\n0,0.6,9,1661698244\n0,0.7");
  EXPECT_EQ(Values(r, 0, GpuMetric::kGrActive), "- 0.6");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "7 9");
  EXPECT_EQ(Odds(r, Odd::kBadRow), 1);
  EXPECT_EQ(Odds(r, Odd::kTornLine), 1);
  EXPECT_EQ(Odds(r, Odd::kRepeatedHeader), 1);
}

// Published runs of ResNet-50 in MIG profiles from 7g to 1g, with the mean of each as its authors give it.
TEST(DcgmEntityCsv, WindowMeansOfThePublishedRunsAreMet) {
  const std::string folder = SAWBILL_SOURCE_DIR "/../shared/data/dcgm_csv/migprofiler/";
  const auto fs = sys::MakeRealFileSystem();
  const auto labels = fs->Map(folder + "labels_A100-80g_train_cv_integrated_result.csv");
  if (!labels.ok()) GTEST_SKIP() << "../shared/data is not there";
  const auto source = OpenFile(fs.get(), folder + "A100-80g_train_cv.csv", {});
  ASSERT_TRUE(source.ok()) << source.status().message();
  const model::Recording r = (*source)->Read(0).value();
  ASSERT_EQ(r.gpus.size(), 1U);
  const model::GpuTrack& g = r.gpus[0];
  int runs = 0;
  for (const std::string_view line : Split((*labels)->bytes(), '\n')) {
    const auto cells = Split(line, ',');
    if (cells.size() < 14) continue;
    const auto from = ParseInt(cells[7]), to = ParseInt(cells[8]);
    const auto gract = ParseDouble(cells[10]), memory = ParseDouble(cells[12]);
    if (!from || !to || *from == 0 || !gract) continue;
    double sum = 0, sum_mb = 0, n = 0;
    for (size_t i = 0; i < g.size(); ++i) {
      if (g.t_ms[i] < *from * 1000 || g.t_ms[i] > *to * 1000) continue;
      sum += g.At(GpuMetric::kGrActive, i);
      sum_mb += g.At(GpuMetric::kMemUsedMb, i);
      ++n;
    }
    EXPECT_NEAR(sum / n, *gract, 0.01 * *gract) << line;
    EXPECT_NEAR(sum_mb / n, *memory, 0.01 * *memory) << line;
    ++runs;
  }
  EXPECT_EQ(runs, 21);
}

}  // namespace
}  // namespace sawbill::ingest
