// SPDX-License-Identifier: Apache-2.0
// Every scenario: its truth adds up, its files are whole, and a seed gives the same bytes again.
#include "simulator/scenarios.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "base/numbers.h"
#include "base/text.h"
#include "model/ids.h"

namespace sawbill::simulator {
namespace {

Options Short(uint64_t seed) {
  Options options;
  options.seed = seed;
  options.hours = 0.25;
  return options;
}

std::vector<OutFile> Files(const ScenarioInfo& info, const Options& options) {
  const Simulation s = Simulate(info, options);
  WriteSpec spec;
  spec.packing = Packing::kPlain;
  spec.seed = options.seed;
  spec.start_ms = *ParseRfc3339("2026-03-02T23:55:00Z");  // over midnight
  return Render(s.world, Measure(s.world, *s.model, s.measure, Rng(options.seed)), *s.model, s.truth, spec);
}

uint64_t Hash(const std::vector<OutFile>& files) {  // FNV-1a
  uint64_t h = 0xcbf29ce484222325ULL;
  for (const OutFile& file : files) {
    for (char c : file.name + file.bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return h;
}

class EachScenario : public testing::TestWithParam<const ScenarioInfo*> {};

TEST_P(EachScenario, TrueSecondsAddUpToCardsTimesDuration) {
  for (uint64_t seed : {1, 2, 3}) {
    const Simulation s = Simulate(*GetParam(), Short(seed));
    const auto seconds = s.world.Seconds();
    EXPECT_NEAR(std::accumulate(seconds.begin(), seconds.end(), 0.0),
                s.world.duration_s * static_cast<double>(s.world.cards.size()), 1e-3);
    for (const auto& card : s.world.cards) {
      for (size_t i = 1; i < card.size(); ++i) ASSERT_NEAR(card[i].t0, card[i - 1].t1, 1e-6);
    }
  }
}

TEST_P(EachScenario, RowsHaveAsManyCellsAsTheirHeader) {
  for (const OutFile& file : Files(*GetParam(), Short(5))) {
    if (!EndsWith(file.name, ".csv")) continue;
    const auto lines = Split(file.bytes, '\n');
    ASSERT_EQ(lines.back(), "") << file.name;
    for (size_t i = 1; i + 1 < lines.size(); ++i) {
      ASSERT_EQ(Split(lines[i], ',').size(), Split(lines[0], ',').size()) << file.name << ": " << lines[i];
    }
  }
}

TEST_P(EachScenario, TheSameSeedGivesTheSameBytesAndAnotherSeedOthers) {
  EXPECT_EQ(Hash(Files(*GetParam(), Short(9))), Hash(Files(*GetParam(), Short(9))));
  EXPECT_NE(Hash(Files(*GetParam(), Short(9))), Hash(Files(*GetParam(), Short(10))));
}

TEST_P(EachScenario, ExpectsOnlyFindingsAndCausesThatExist) {
  const Truth truth = Simulate(*GetParam(), Short(1)).truth;
  for (const auto* list : {&truth.findings, &truth.also, &truth.not_allowed}) {
    for (const std::string& id : *list) EXPECT_TRUE(model::FindFinding(id).has_value()) << id;
  }
  EXPECT_TRUE(truth.cause.empty() || model::FindCause(truth.cause).has_value()) << truth.cause;
  EXPECT_EQ(truth.healthy, truth.findings.empty() && truth.not_allowed.empty());
}

INSTANTIATE_TEST_SUITE_P(All, EachScenario, testing::ValuesIn([] {
                           std::vector<const ScenarioInfo*> all;
                           for (const ScenarioInfo& scenario : Scenarios()) all.push_back(&scenario);
                           return all;
                         }()),
                         [](const auto& p) {
                           std::string name = p.param->name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A change of the simulator that changes recordings is allowed, but it must be seen: paste the new value, and make
// examples/demo again. The same value must come out of every compiler.
TEST(Simulator, DemoBytesAreThoseOfEveryCompiler) {
  EXPECT_EQ(fmt::format("{:016x}", Hash(Files(*FindScenario("demo"), Short(7)))), "b19193607fbfd04c");
}

TEST(Simulator, HeadersAreThoseOfTheDayFileFormat) {
  EXPECT_EQ(
      GpuHeader(),
      "timestamp,gpu,sm_util,mem_util,mem_used_mb,temp_c,power_w,sm_clock_mhz,mem_clock_mhz,throttle,pcie_rx_mb_s,"
      "pcie_tx_mb_s,nvlink_rx_mb_s,nvlink_tx_mb_s,sm_active,sm_occupancy,tensor_active,dram_active,gr_active,energy_j,"
      "sm_util_min,sm_util_max\n");
  EXPECT_EQ(
      HostHeader(),
      "timestamp,cpu_count,cpu_util,cpu_iowait,load1,mem_used_mb,mem_total_mb,disk_read_mb_s,disk_write_mb_s,disk_util,"
      "net_rx_mb_s,net_tx_mb_s,cpu_physical,psi_cpu_some,psi_io_some,psi_mem_some\n");
  EXPECT_EQ(ProcessHeader(),
            "timestamp,gpu,pid,user,name,job,gpu_mem_mb,sm_util,cpu_cores,read_mb_s,write_mb_s,started,workers,main_"
            "cpu_cores,"
            "cores_allowed\n");
}

TEST(Simulator, ARecordingOverMidnightBecomesTwoDayFiles) {
  std::vector<std::string> names;
  for (const OutFile& file : Files(*FindScenario("healthy"), Short(1))) names.push_back(file.name);
  EXPECT_THAT(names, testing::ElementsAre("gpu-2026-03-02.csv", "gpu-2026-03-03.csv", "host-2026-03-02.csv",
                                          "host-2026-03-03.csv", "process-2026-03-02.csv", "process-2026-03-03.csv",
                                          "inventory.csv", "truth.json", "SIMULATED"));
}

TEST(Simulator, TheFixOfFewWorkersSavesWhatTheCardsWaitedFor) {
  Options options;
  options.seed = 4;
  const Simulation s = Simulate(*FindScenario("few-workers"), options);
  const double waited = s.world.Seconds()[static_cast<size_t>(Activity::kData)] / s.world.duration_s;
  EXPECT_NEAR(*s.truth.saving_share, waited, 0.03);
}

TEST(Simulator, StragglerMakesTheOthersSpin) {
  const Simulation s = Simulate(*FindScenario("straggler"), Short(2));
  for (size_t c = 0; c < s.world.cards.size(); ++c) {
    double spin = 0;
    for (const Interval& iv : s.world.cards[c]) spin += iv.activity == Activity::kSpin ? iv.t1 - iv.t0 : 0;
    EXPECT_EQ(spin < 0.02 * s.world.duration_s, static_cast<int>(c) == *s.truth.gpu) << c;
  }
}

TEST(Simulator, GzipHasNoTimeAndReadsBack) {
  const std::string text(100000, 'x');
  const std::string packed = Gzip(text);
  EXPECT_EQ(packed.substr(4, 4), std::string(4, '\0'));
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(text.size(), '\0');
  std::string in = packed;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  EXPECT_EQ(out, text);
}

}  // namespace
}  // namespace sawbill::simulator
