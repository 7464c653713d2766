// SPDX-License-Identifier: Apache-2.0
// Faults that comparable tools had in public, each as a test of its whole kind: what they said, and what is right.
#include <gtest/gtest.h>

#include <map>

#include "analysis/recording_builder.h"
#include "ledger/apportion.h"

namespace sawbill::analysis {
namespace {

using model::Cause;
using model::FindingId;
using model::GpuMetric;
using model::HostMetric;
using model::Index;
using model::Line;
using model::Mask;
using model::ThrottleBit;

/// Four ranks whose kernels spin: GPU-Util is 99 on each card, whoever waits.
Analysis Ranks(const std::vector<double>& power_w) {
  RecordingBuilder b;
  for (size_t k = 0; k < power_w.size(); ++k) {
    b.Card("0x20 99x900").Constant(GpuMetric::kMemUsedMb, 60000);
    b.Set(GpuMetric::kPowerW, "60x20 " + std::to_string(power_w[k]) + "x900");
    RecordingBuilder::Job j;
    j.pid = 100 + static_cast<int64_t>(k);
    j.to_s = 920;
    b.Process({k}, j);
  }
  return Judge(b.Build());
}

// A rule on utilisation is blind here, or blames the cards that wait.
TEST(Faults, WhoeverIsSlowUnderNcclIsFoundOnAnyCardAndTheVictimsAreNotBlamed) {
  for (size_t slow = 0; slow < 4; ++slow) {
    std::vector<double> power(4, 180);
    power[slow] = 320;
    const Analysis a = Ranks(power);
    const Finding* f = Find(a, FindingId::kImbalance);
    ASSERT_NE(f, nullptr) << slow;
    EXPECT_EQ(f->cause, Cause::kStraggler);
    EXPECT_EQ(f->cards, std::vector<size_t>{slow});
  }
  EXPECT_EQ(Find(Ranks({318, 320, 315, 322}), FindingId::kImbalance), nullptr);  // balanced is balanced
}

// What was not read was taken for 0: "disk idle, CPU idle, so it must be the network", with full confidence.
TEST(Faults, WithoutHostReadingsNoCauseOfTheHostIsNamedAndConfidenceIsLower) {
  std::string wave;
  for (int i = 0; i < 90; ++i) wave += "98x6 3x4 ";
  const auto recording = [&](bool host) {
    RecordingBuilder b;
    b.Card(wave).Constant(GpuMetric::kMemUsedMb, 60000);
    if (host) {
      RecordingBuilder::Job j;
      j.to_s = 900;
      j.workers = 2;
      j.tree_cores = 2.5;
      j.main_cores = 0.5;
      b.Process({0}, j);
      b.Host(HostMetric::kCpuUtil, "20x900")
          .Host(HostMetric::kCpuCount, "16x900")
          .Host(HostMetric::kCpuIowait, "1x900");
    }
    return b.Build();
  };
  const Analysis without = Judge(recording(false)), with = Judge(recording(true));
  for (const Finding& f : without.findings) {
    EXPECT_NE(f.cause, Cause::kSlowStorage);
    EXPECT_NE(f.cause, Cause::kCpuSaturated);
    EXPECT_NE(f.cause, Cause::kFewWorkers);
    EXPECT_EQ(f.tier, "nvml");
  }
  const Finding* known = Find(with, FindingId::kDataLoading);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->cause, Cause::kFewWorkers);
  EXPECT_EQ(known->tier, "host");
  for (const Finding& f : without.findings) EXPECT_LT(f.confidence, known->confidence);
  EXPECT_FALSE(without.limits.empty());  // and what was not recorded is said
}

// Ten replicas on one card billed ten cards, and what nobody used came out negative.
TEST(Faults, TenReplicasOnOneCardAreOneCard) {
  RecordingBuilder b;
  b.Card("60x1800").Constant(GpuMetric::kMemUsedMb, 60000);
  for (int k = 0; k < 10; ++k) {
    RecordingBuilder::Job j;
    j.name = "replica-" + std::to_string(k);
    j.pid = 200 + k;
    j.to_s = 1800;
    j.sm_util = 6;
    b.Process({0}, j);
  }
  const Analysis a = Judge(b.Build());
  for (const double s : a.Lines()) EXPECT_GE(s, 0);
  EXPECT_NEAR(ledger::Sum(a.Lines()), a.period.seconds(), 1e-3);
  std::map<int, double> by_run;
  for (const auto& [key, lines] : a.account) by_run[key.run] += ledger::Sum(lines);
  for (const auto& [run, s] : by_run) EXPECT_LE(s, 0.2 * a.period.seconds()) << run;
}

// "Usage" and "allocation" came out within 1 % of each other, since both were requested hours.
TEST(Faults, ACardThatIsUsedForAThirdIsPaidInFullAndUsedForAThird) {
  RecordingBuilder::Job j;
  j.to_s = 7200;
  std::string wave;
  for (int i = 0; i < 720; ++i) wave += "100x3 0x7 ";
  const Analysis a =
      Judge(RecordingBuilder().Card(wave).Constant(GpuMetric::kMemUsedMb, 60000).Process({0}, j).Build());
  const double all = ledger::Sum(a.Lines()), useful = a.Lines()[Index(Line::kUseful)];
  EXPECT_NEAR(all, 7200, 2);
  EXPECT_NEAR(useful / all, 0.3, 0.01);
}

// A page cache of 40 GB on a host of 2 TB read as "50 % of memory": it was held against the card's 80 GB.
TEST(Faults, MemoryOfTheHostIsNoMemoryOfTheCard) {
  const auto memory_share = [](double host_used_mb) {
    RecordingBuilder b;
    b.Card("0x20 97x900").Constant(GpuMetric::kMemUsedMb, 8192);
    b.Host(HostMetric::kMemUsedMb, std::to_string(host_used_mb) + "x920");
    b.Host(HostMetric::kMemTotalMb, "2097152x920");
    const Analysis a = Judge(b.Build());
    return a.runs.at(0).features.Get(wave::Feature::kMemUsedShare);
  };
  EXPECT_NEAR(memory_share(40960), 0.1, 1e-3);
  EXPECT_NEAR(memory_share(1500000), 0.1, 1e-3);
}

// Any bit counted as throttling: idle cards, clocks set by the user, and a cap that works as configured.
TEST(Faults, OnlyReasonsThatTakeClocksAreThrottling) {
  struct Case {
    unsigned mask;
    double mhz, limit_w;
    std::optional<Cause> cause;
  };
  const unsigned idle = Mask(ThrottleBit::kGpuIdle), cap = Mask(ThrottleBit::kSwPowerCap),
                 heat = Mask(ThrottleBit::kHwThermal), app = Mask(ThrottleBit::kAppClocks),
                 brake = Mask(ThrottleBit::kHwPowerBrake);
  // The card's own limit is 400 W: at it lower clocks under full load are how the card is built to run.
  const Case cases[] = {{idle, 1410, 400, std::nullopt},    {app, 1000, 400, std::nullopt},
                        {cap, 1380, 300, std::nullopt},     {cap, 1000, 300, Cause::kPower},
                        {cap, 1200, 400, std::nullopt},     {brake, 1000, 400, Cause::kPower},
                        {heat, 1000, 400, Cause::kThermal}, {heat | cap, 1000, 400, Cause::kThermal}};
  for (const Case& c : cases) {
    const Analysis a = Judge(RecordingBuilder()
                                 .Card("0x10 99x60 99x840")
                                 .Limit(c.limit_w)
                                 .Constant(GpuMetric::kMemUsedMb, 60000)
                                 .Constant(GpuMetric::kTempC, 80)
                                 .Set(GpuMetric::kThrottle, "1x10 0x60 " + std::to_string(c.mask) + "x840")
                                 .Set(GpuMetric::kSmClockMhz, "210x10 1410x60 " + std::to_string(c.mhz) + "x840")
                                 .Build());
    const Finding* f = Find(a, FindingId::kThrottling);
    EXPECT_EQ(f != nullptr, c.cause.has_value()) << c.mask << " " << c.mhz << " " << c.limit_w;
    EXPECT_TRUE(f == nullptr || f->cause == c.cause) << c.mask << " " << c.mhz << " " << c.limit_w;
  }
  // At rest the idle bit is set all the time.
  EXPECT_EQ(Find(Judge(RecordingBuilder().Card("0x900").Constant(GpuMetric::kThrottle, idle).Build()),
                 FindingId::kThrottling),
            nullptr);
}

}  // namespace
}  // namespace sawbill::analysis
