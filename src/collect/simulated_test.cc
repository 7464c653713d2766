// SPDX-License-Identifier: Apache-2.0
// Collector, NVML source and the scripted library together, as a recorder runs them, under a clock of the test's own:
// cards that fall off and come back, drivers that come late or are replaced, calls that hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/text.h"
#include "collect/collector.h"
#include "store/day_reader.h"
#include "sys/dynamic_library.h"
#include "sys/mem_fs.h"

namespace sawbill::collect {
namespace {

using model::GpuMetric;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr TimeMs kStart = 1'772'400'000'000;  // 2026-03-01T21:20:00Z

class SimulatedTest : public testing::Test {
 protected:
  SimulatedTest() : library_(sys::OpenLibrary(SAWBILL_NVML_LIBRARY)) {}
  ~SimulatedTest() override {
    collector_.reset();
    Function<void()>("sawbill_sim_reset")();
  }
  template <typename F>
  F* Function(const char* name) {
    return reinterpret_cast<F*>(library_.value()->Find(name));
  }
  void Start(const std::string& script, std::chrono::milliseconds patience = std::chrono::milliseconds(1000)) {
    ASSERT_EQ(Function<int(const char*)>("sawbill_sim_load")(script.c_str()), 0)
        << Function<const char*()>("sawbill_sim_error")();
    auto writer = store::FolderWriter::Open(&fs_, "/data", {});
    ASSERT_TRUE(writer.ok());
    writer_ = std::move(writer).value();
    gpu::NvmlOptions nvml;
    nvml.library = SAWBILL_NVML_LIBRARY;
    nvml.proc_root = "/nonexistent";
    CollectorOptions o;
    o.node = "n1";
    o.watch.wait_for_all = true;
    o.watch.patience = patience;
    o.watch.open_wait = std::chrono::milliseconds(5000);
    auto files = std::make_shared<sys::MemProcFiles>();
    files->Put("/proc/loadavg", "0.50 0.40 0.30 1/100 4242\n");
    collector_ =
        std::make_unique<Collector>(o, Collector::Seams{gpu::MakeNvmlSource(nvml), files, writer_.get(), {}, {}});
  }
  void Ticks(int from, int to) {
    for (int s = from; s < to; ++s) {
      Function<void(double)>("sawbill_sim_set_time")(s);
      collector_->Tick({kStart + 1000LL * s, 1000LL * s, 1'000'000LL * s});
    }
  }
  /// What a reader makes of it: the recording, and the seconds at which each uuid has a sample.
  void Read() {
    ASSERT_TRUE(writer_->EndTick().ok());
    store::DataFolderOptions o;
    const auto source = store::OpenDataFolder(&fs_, "/data", o);
    ASSERT_TRUE(source.ok()) << source.status().message();
    auto recording = (*source)->Read(0);
    ASSERT_TRUE(recording.ok());
    recording_ = std::move(recording).value();
    for (const model::GpuTrack& g : recording_.gpus) {
      for (const TimeMs t : g.t_ms) seconds_[g.card.uuid].insert(static_cast<int>((t - kStart) / 1000));
    }
  }
  std::vector<std::string> Events() const {
    std::vector<std::string> out;
    for (const model::EventRow& e : recording_.events) {
      if (e.kind.find("collector") != 0)
        out.push_back(std::to_string((e.t_ms - kStart) / 1000) + " " + e.kind + (e.gpu.empty() ? "" : " " + e.gpu) +
                      " " + e.detail);
    }
    return out;
  }

  Result<std::unique_ptr<sys::DynamicLibrary>> library_;
  sys::MemFileSystem fs_;
  std::unique_ptr<store::FolderWriter> writer_;
  std::unique_ptr<Collector> collector_;
  model::Recording recording_;
  std::map<std::string, std::set<int>> seconds_;
};

std::string Cards(int n) {
  std::string out;
  for (int k = 0; k < n; ++k) {
    out += "[[card]]\nmodel = \"A100\"\nuuid = \"GPU-" + std::string(1, static_cast<char>('a' + k)) +
           "\"\nsm_util = " + std::to_string(10 * (k + 1)) + "\n";
  }
  return out;
}

TEST_F(SimulatedTest, ACardLostAndBackUnderAnotherIndexKeepsItsOwnHistory) {  // B1
  Start(Cards(4) + "[[fault]]\nkind = \"lost\"\ncard = 3\nat = 30\nuntil = 90\nreturn_index = 0\n");
  Ticks(0, 240);
  Read();
  ASSERT_EQ(recording_.gpus.size(), 4U);
  for (const char* uuid : {"GPU-a", "GPU-b", "GPU-c"}) EXPECT_GE(seconds_[uuid].size(), 230U) << uuid;
  const auto& d = seconds_["GPU-d"];
  EXPECT_TRUE(d.contains(29));
  for (int s = 31; s < 90; ++s) EXPECT_FALSE(d.contains(s)) << s;  // not measured, not idle
  EXPECT_TRUE(d.contains(239));
  for (const model::GpuTrack& g : recording_.gpus) {  // nobody got another's values when the indices shifted
    const float expected = 10.0F * static_cast<float>(g.card.uuid.back() - 'a' + 1);
    for (size_t i = 0; i < g.size(); ++i) ASSERT_EQ(g.At(GpuMetric::kSmUtil, i), expected) << g.card.uuid;
  }
  EXPECT_THAT(Events(), Contains("30 gpu_lost 3 code=15"));
  EXPECT_THAT(Events(), Contains(HasSubstr("gpu_back 0 uuid=GPU-d")));
}

TEST_F(SimulatedTest, ADriverThatIsTwentySecondsLateIsFound) {  // B4
  Start(Cards(2) + "[[fault]]\nkind = \"driver\"\ncode = 9\nat = 0\nuntil = 20\n");
  Ticks(0, 60);
  Read();
  ASSERT_EQ(recording_.gpus.size(), 2U);
  EXPECT_GE(*seconds_["GPU-a"].begin(), 20);
  EXPECT_LE(*seconds_["GPU-a"].begin(), 33);
  EXPECT_EQ(recording_.hosts.at(0).size(), 60U);
  EXPECT_THAT(Events(), Contains("0 driver_lost trouble=no_driver code=9"));
}

TEST_F(SimulatedTest, AMismatchInMidRunIsAHole) {  // B3
  Start(Cards(2) + "[[fault]]\nkind = \"driver\"\ncode = 18\nat = 30\nuntil = 60\n");
  Ticks(0, 120);
  Read();
  const auto& a = seconds_["GPU-a"];
  EXPECT_TRUE(a.contains(29));
  for (int s = 30; s < 60; ++s) EXPECT_FALSE(a.contains(s)) << s;
  EXPECT_TRUE(a.contains(119));
  EXPECT_EQ(recording_.hosts.at(0).size(), 120U);
  EXPECT_THAT(Events(), Contains("30 driver_lost trouble=mismatch code=18"));
}

TEST_F(SimulatedTest, WhenNothingIsSupportedNothingIsIdle) {  // A4
  Start(R"(
[[card]]
model = "A100"
unsupported = ["nvmlDeviceGetUtil*", "nvmlDeviceGetMemoryInfo*", "nvmlDeviceGetTemp*", "nvmlDeviceGetPower*",
  "nvmlDeviceGetClock*", "nvmlDeviceGetCurrentClocks*", "nvmlDeviceGetTotalEnergy*", "nvmlDeviceGetSamples",
  "nvmlDeviceGetPcie*", "nvmlDeviceGetFieldValues", "field:*"]
)");
  Ticks(0, 60);
  Read();
  for (const model::GpuTrack& g : recording_.gpus) {
    for (size_t i = 0; i < g.size(); ++i) {
      EXPECT_TRUE(IsMissing(g.At(GpuMetric::kSmUtil, i)));
      EXPECT_TRUE(IsMissing(g.At(GpuMetric::kMemUsedMb, i)));
      EXPECT_TRUE(IsMissing(g.At(GpuMetric::kPowerW, i)));
    }
  }
  const std::string& rows = fs_.Get("/data/gpu-2026-03-01.csv");
  EXPECT_THAT(rows, HasSubstr("\n1772400010.000,0,,,,,,"));  // a row without a value, not one of zeros
  EXPECT_THAT(rows, Not(HasSubstr(",0,0,")));
  const std::string& events = fs_.Get("/data/event-2026-03-01.csv");
  EXPECT_THAT(events, HasSubstr("no_readings,0,supported=0 asked="));
}

TEST_F(SimulatedTest, AProbeThatSaysNotSupportedIsAskedOnce) {  // A20
  Start("[[card]]\nmodel = \"4090\"\nunsupported = [\"nvmlDeviceGetTotalEnergyConsumption\"]\n");
  Ticks(0, 60);
  EXPECT_LE(Function<long(const char*, int)>("sawbill_sim_calls")("nvmlDeviceGetTotalEnergyConsumption", -1), 1);
}

TEST_F(SimulatedTest, ACallThatHangsCostsItsCardAndNoTick) {
  Start(Cards(3) + "[[fault]]\nkind = \"hang\"\ncard = 1\ncall = \"nvmlDeviceGetTemperature\"\nat = 10\nuntil = 20\n",
        std::chrono::milliseconds(15));
  Ticks(0, 10);
  // Only as long as it hangs does a tick wait for real: a handful is enough.
  Ticks(10, 13);
  EXPECT_EQ(collector_->state().cards.at(1).trouble.empty(), true);  // hangs for less than five seconds so far
  Ticks(20, 40);
  Read();
  for (const char* uuid : {"GPU-a", "GPU-c"}) {
    for (int s = 2; s < 13; ++s) EXPECT_TRUE(seconds_[uuid].contains(s)) << uuid << " " << s;
  }
  for (int s = 10; s < 13; ++s) EXPECT_FALSE(seconds_["GPU-b"].contains(s));
  EXPECT_TRUE(seconds_["GPU-b"].contains(39));
}

TEST_F(SimulatedTest, AnXidIsAnEventOfItsCard) {
  Start(Cards(2) + "[[event]]\nat = 12\ncard = 1\nkind = \"xid\"\ndata = 79\n");
  Ticks(0, 20);
  Read();
  EXPECT_THAT(Events(), Contains(HasSubstr("xid 1 ")));
  EXPECT_THAT(Events(), Contains(HasSubstr("79")));
}

TEST_F(SimulatedTest, ThreeHoursWithJobsThatComeAndGoLeaveThreadsAndDescriptorsFlat) {  // G2, G3
  std::string script;
  for (int k = 0; k < 8; ++k) {
    script += "[[card]]\nmodel = \"H100\"\nsm_util = \"95x40 5x3\"\n";
    for (int p = 0; p < 8; ++p)
      script += "[[card.process]]\npid = " + std::to_string(100'000 + 10 * k + p) +
                "\nmem_mib = 100\nfrom_s = " + std::to_string(600 * p) +
                "\nuntil_s = " + std::to_string(600 * p + 1800) + "\n";
  }
  Start(script);
  Ticks(0, 600);
  const auto before = sys::ReadSelfUsage();
  Ticks(600, 3600);
  const auto after = sys::ReadSelfUsage();
  EXPECT_EQ(collector_->state().lost_ticks, 0);
  EXPECT_LE(collector_->state().threads, 6U);
  ASSERT_TRUE(before.open_fds && after.open_fds);
  EXPECT_EQ(*after.open_fds, *before.open_fds);
}

}  // namespace
}  // namespace sawbill::collect
