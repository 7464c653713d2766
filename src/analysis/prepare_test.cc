// SPDX-License-Identifier: Apache-2.0
// Which measure of activity a card is judged by: GPU-Util, or the engine's counter.
#include "analysis/prepare.h"

#include <gmock/gmock.h>

#include "analysis/recording_builder.h"

namespace sawbill::analysis {
namespace {
using model::GpuMetric;
using model::Line;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Util(const PreparedCard& c) {
  std::string out;
  for (const float v : c.util) out += (out.empty() ? "" : " ") + (IsMissing(v) ? "-" : FormatFixed(v, 0));
  return out;
}

double Seconds(const Analysis& a, Line line) { return a.Lines()[model::Index(line)]; }

// A real scrape of a T4: GPU_UTIL 91, GR_ENGINE_ACTIVE 0.156.
TEST(Utilisation, WhereTheTwoContradictEachOtherTheCounterIsRight) {
  model::Recording r = RecordingBuilder().Card("91x900").Constant(GpuMetric::kGrActive, 0.156).Build();
  EXPECT_TRUE(Prepare(r.gpus[0]).util_contradicted);
  EXPECT_NEAR(Prepare(r.gpus[0]).util[5], 15.6, 1e-4);
  const Analysis a = Judge(std::move(r));
  EXPECT_LT(Seconds(a, Line::kUseful), 0.2 * 899) << "a card that is busy 15.6 % of the time is not well used";
  EXPECT_THAT(a.notes, Contains(HasSubstr("contradict")));
}

TEST(Utilisation, WhereTheyAgreeGpuUtilStays) {
  const model::Recording r = RecordingBuilder().Card("91x900").Constant(GpuMetric::kGrActive, 0.88).Build();
  EXPECT_FALSE(Prepare(r.gpus[0]).util_contradicted);
  EXPECT_EQ(Prepare(r.gpus[0]).util[5], 91);
}

// A5: some exporters print 0 for an instance that is busy.
TEST(Utilisation, AZeroBesideABusyEngineIsNoIdleness) {
  model::Recording r = RecordingBuilder().Card("0x900").Constant(GpuMetric::kGrActive, 0.88).Build();
  r.gpus[0].columns[static_cast<size_t>(GpuMetric::kPowerW)].clear();
  const Analysis a = Judge(std::move(r));
  EXPECT_EQ(Seconds(a, Line::kUnused) + Seconds(a, Line::kIdleHeld), 0);
}

TEST(Utilisation, ACounterThatNeverRunsProvesNothing) {
  model::Recording r = RecordingBuilder().Card("91x900").Constant(GpuMetric::kGrActive, 0).Build();
  EXPECT_EQ(Prepare(r.gpus[0]).util[5], 91) << "vGPU";
  EXPECT_THAT(Judge(std::move(r)).notes, IsEmpty());
}

// A6: 0.91 of one source beside 91 of the other; the mean is 91, not 45.95.
TEST(Utilisation, EachFillsWhatTheOtherLacksInOneUnit) {
  model::Recording r = RecordingBuilder().Card("91x6").Constant(GpuMetric::kGrActive, 0.91).Build();
  const auto missing = static_cast<float>(kMissing);
  for (size_t i = 0; i < 6; ++i)
    r.gpus[0].columns[static_cast<size_t>(i < 3 ? GpuMetric::kSmUtil : GpuMetric::kGrActive)][i] = missing;
  EXPECT_EQ(Util(Prepare(r.gpus[0])), "91 91 91 91 91 91");
}

// Under MIG: two instances with nothing but the engine's ratio, below a card without utilisation.
TEST(Mig, InstancesThatWorkAreBilledByTheirShareAndNotIdle) {
  model::Recording r = RecordingBuilder()
                           .Card("0x900")
                           .Card("0x900")
                           .Constant(GpuMetric::kGrActive, 0.97)
                           .Card("0x900")
                           .Constant(GpuMetric::kGrActive, 0.9)
                           .Build();
  for (size_t k = 0; k < 3; ++k) {
    model::GpuTrack& g = r.gpus[k];
    g.card.gpu = k == 0 ? "0" : "0." + std::to_string(k) + ".0";
    g.card.uuid = k == 0 ? "GPU-a" : "MIG-GPU-a/" + std::to_string(k) + "/0";
    if (k > 0) g.card.parent_uuid = "GPU-a";
    if (k > 0) g.card.share = k == 1 ? 3.0 / 7 : 4.0 / 7;
    for (const GpuMetric m : {GpuMetric::kSmUtil, GpuMetric::kPowerW}) g.columns[static_cast<size_t>(m)].clear();
  }
  const Analysis a = Judge(std::move(r));
  EXPECT_EQ(Seconds(a, Line::kUnused) + Seconds(a, Line::kIdleHeld), 0);
  EXPECT_GT(Seconds(a, Line::kUseful), 0.95 * 2 * 899);
  double all = 0;
  for (const double seconds : a.Lines()) all += seconds;
  EXPECT_NEAR(all, 2 * 899, 2) << "of the instances, not of the card";
}

}  // namespace
}  // namespace sawbill::analysis
