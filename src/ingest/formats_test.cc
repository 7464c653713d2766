// SPDX-License-Identifier: Apache-2.0
// Day files of our own as single files, script logs, the list of formats, and real public logs where they are at hand.
#include <gmock/gmock.h>

#include "base/text.h"
#include "ingest/format.h"
#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;

TEST(DayFile, OfCards) {
  const auto r = ReadText(
      "timestamp,gpu,sm_util,mem_util,mem_used_mb,temp_c,power_w,sm_clock_mhz,mem_clock_mhz,throttle,pcie_rx_mb_s,pcie_"
      "tx_mb_s,nvlink_rx_mb_s,"
      "nvlink_tx_mb_s,sm_active,sm_occupancy,tensor_active,dram_active,gr_active,energy_j,sm_util_min,sm_util_max\n"
      "1762900000.125,0,40,20,1000,50,250.5,1980,2619,sw_power_cap|hw_thermal,12.5,,,,0.5,0.25,0.125,,,123456789012.5,"
      "0,100\n"
      "1762900000.125,0.1.0,,,500,,,,,none,,,,,,,,,,,,\n");
  EXPECT_EQ(r.format, "sawbill gpu day file");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[0].t_ms[0], 1762900000125);
  EXPECT_EQ(Values(r, 0, GpuMetric::kThrottle), "10");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmActive), "0.5");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtilMax), "100");
  EXPECT_DOUBLE_EQ(r.gpus[0].energy_j[0], 123456789012.5);
  EXPECT_EQ(r.gpus[1].card.gpu, "0.1.0");
  EXPECT_EQ(Values(r, 1, GpuMetric::kSmUtil), "-");
  EXPECT_EQ(Values(r, 1, GpuMetric::kThrottle), "0");
  EXPECT_EQ(Odds(r, Odd::kNotSupported), 0);  // an empty cell is our way to say "not read"
}

TEST(DayFile, RatiosOfOursStayRatios) {
  const auto r = ReadText(
      "timestamp,gpu,sm_util,mem_util,mem_used_mb,sm_active\n1762900000,0,1,0,5,0.5\n1762900001,0,0.5,0,5,0.25\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "1 0.5");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmActive), "0.5 0.25");
}

TEST(DayFile, OfHosts) {
  const auto r =
      ReadText("timestamp,cpu_count,cpu_util,cpu_iowait,load1\n1762900000,16,50.5,1.0,3.25\n1762900001,16,,1.0,3.25\n");
  ASSERT_EQ(r.hosts.size(), 1U);
  EXPECT_FLOAT_EQ(r.hosts[0].At(model::HostMetric::kCpuUtil, 0), 50.5F);
  EXPECT_TRUE(IsMissing(r.hosts[0].At(model::HostMetric::kCpuUtil, 1)));
}

TEST(DayFile, OfProcesses) {
  const auto r = ReadText(
      "timestamp,gpu,pid,user,name,job,gpu_mem_mb,sm_util,cpu_cores,read_mb_s,write_mb_s,started,workers,main_cpu_"
      "cores,cores_allowed\n"
      "1762900000,1,4194000,ann,train.py,77,1000,50,3.5,10,0,1762899999.25,4,1.0,16\n1762900000,,5,bob,hog,,,,16,,,,,,"
      "\n");
  ASSERT_EQ(r.processes.size(), 2U);
  const auto& p = r.processes[0];
  EXPECT_EQ(p.pid, 4194000);
  EXPECT_EQ(r.gpus[static_cast<size_t>(p.card)].card.gpu, "1");
  EXPECT_EQ(r.strings.Get(p.user), "ann");
  EXPECT_EQ(r.strings.Get(p.name), "train.py");
  EXPECT_DOUBLE_EQ(p.started_s, 1762899999.25);
  EXPECT_EQ(p.Value(model::ProcessMetric::kWorkers), 4);
  EXPECT_EQ(r.processes[1].card, -1);
}

TEST(ScriptLog, WithAndWithoutACardColumn) {
  const auto with =
      ReadText("timestamp,gpu,sm_util,mem_util,mem_used\n1762900000,0,40,20,1000\n1762900000,1,41,21,1001\n");
  EXPECT_EQ(with.format, "script log csv");
  EXPECT_EQ(with.gpus.size(), 2U);
  const auto without =
      ReadText("timestamp,sm_util,mem_util,mem_used_mb\n1762900000,40,20,1000\n1762900001,41,21,1001\n");
  EXPECT_EQ(without.gpus.size(), 1U);
  EXPECT_EQ(Values(without, 0, GpuMetric::kMemUsedMb), "1000 1001");
}

TEST(Formats, HaveNamesOfTheirOwn) {
  std::vector<std::string_view> names;
  for (const Format* f : AllFormats()) names.push_back(f->name());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

TEST(Source, HasOnePieceWithAllCards) {
  sys::MemFileSystem fs;
  fs.Put("/a.csv", "timestamp,index,utilization.gpu\n1762900000,0,1\n1762900007,1,2\n");
  const auto s = OpenFile(&fs, "/a.csv", {});
  ASSERT_TRUE(s.ok());
  EXPECT_EQ((*s)->cards().size(), 2U);
  EXPECT_EQ((*s)->pieces().size(), 1U);
  EXPECT_EQ((*s)->period().from, 1762900000000);
  EXPECT_EQ((*s)->period().to, 1762900007000);
  EXPECT_EQ((*s)->Read(0)->source, "/a.csv");
}

/// A public log and what was found in it by eye.
struct Known {
  const char* path;
  size_t cards, samples;  // samples of card 0
  const char *first, *last;
  GpuMetric metric;
  size_t at;
  float value;  // of `metric` of card 0 at `at`
};
constexpr Known kKnown[] = {
    {"gpu_glasses_h100/nvidia_smi.csv", 8, 6, "2025-09-08T09:26:50.000Z", "2025-09-08T09:26:58.000Z",
     GpuMetric::kPowerW, 0, 74.01F},
    {"ilapetrovic/gpu_usage_log.csv", 1, 130, "2025-10-27T18:26:56.675Z", "2025-10-27T18:37:44.535Z", GpuMetric::kTempC,
     0, 27},
    {"mend_memonly/gpu_profile.csv", 8, 222, "2025-05-11T15:30:21.913Z", "2025-05-11T15:35:21.514Z",
     GpuMetric::kMemUsedMb, 0, 3},
    {"miris_v100s/gpu_log.csv", 1, 107, "2025-06-13T00:27:52.195Z", "2025-06-13T00:29:38.248Z", GpuMetric::kTempC, 106,
     28},
    {"nanogpt_8gpu_pr/gpu_metrics.v3.csv", 8, 780, "2025-09-24T03:41:43.487Z", "2025-09-24T03:46:09.434Z",
     GpuMetric::kPowerW, 1, 73.40F},
    {"plato_fl_noheader/gpu_log.csv", 1, 1923, "2026-04-25T16:06:06.780Z", "2026-04-25T18:46:43.733Z",
     GpuMetric::kPowerW, 1922, 11.28F},
    {"rpf_60s/gpu_usage.v0.csv", 1, 122, "2025-11-11T23:33:10.000Z", "2025-11-12T01:34:43.000Z", GpuMetric::kSmUtil,
     121, 83},
    {"rpf_60s/gpu_usage.v1.csv", 1, 90, "2025-11-26T20:31:15.000Z", "2025-11-26T22:00:22.000Z", GpuMetric::kMemUsedMb,
     89, 10904},
};

TEST(PublicLogs, AreReadAsTheyWereByEye) {
  const auto fs = sys::MakeRealFileSystem();
  const std::string root = std::string(SAWBILL_SOURCE_DIR) + "/../shared/data/smi_csv/";
  if (!fs->Stat(root).ok()) GTEST_SKIP() << "no public logs beside the checkout (../shared/data)";
  for (const Known& k : kKnown) {
    const auto s = OpenFile(fs.get(), root + k.path, {});
    ASSERT_TRUE(s.ok()) << k.path << ": " << s.status().message();
    const auto r = (*s)->Read(0);
    ASSERT_TRUE(r.ok());
    ASSERT_EQ(r->gpus.size(), k.cards) << k.path;
    const auto& g = r->gpus[0];
    ASSERT_EQ(g.size(), k.samples) << k.path;
    EXPECT_EQ(FormatRfc3339(g.t_ms.front()), k.first) << k.path;
    EXPECT_EQ(FormatRfc3339(g.t_ms.back()), k.last) << k.path;
    EXPECT_NEAR(g.At(k.metric, k.at), k.value, 0.001) << k.path;
  }
}

TEST(PublicLogs, AreAllReadOrRefusedWithReason) {
  const auto fs = sys::MakeRealFileSystem();
  const std::string root = std::string(SAWBILL_SOURCE_DIR) + "/../shared/data/smi_csv";
  const auto folders = fs->List(root);
  if (!folders.ok()) GTEST_SKIP() << "no public logs beside the checkout (../shared/data)";
  int read = 0;
  for (const auto& folder : *folders) {
    const std::string dir = sys::JoinPath(root, folder.name);
    const auto files = fs->List(dir);
    ASSERT_TRUE(files.ok());
    for (const auto& file : *files) {
      const auto s = OpenFile(fs.get(), sys::JoinPath(dir, file.name), {});
      read += s.ok() ? 1 : 0;
      EXPECT_TRUE(s.ok() || s.status().message().size() > 40) << file.name;
    }
  }
  EXPECT_GE(read, 8);
}

TEST(PublicLogs, CapturesOfEveryFieldGiveTheCardsReadings) {
  const auto fs = sys::MakeRealFileSystem();
  const std::string dir = std::string(SAWBILL_SOURCE_DIR) + "/../shared/data/nvidia_gpu_exporter/extracted";
  const auto files = fs->List(dir);
  if (!files.ok()) GTEST_SKIP() << "no public captures beside the checkout (../shared/data)";
  for (const auto& file : *files) {
    if (!EndsWith(file.name, "query-gpu.csv")) continue;
    const auto s = OpenFile(fs.get(), sys::JoinPath(dir, file.name), {});
    ASSERT_TRUE(s.ok()) << file.name << ": " << s.status().message();
    const auto r = (*s)->Read(0);
    const auto& g = r->gpus[0];
    const bool mig = file.name.find("-mig") != std::string::npos;
    EXPECT_EQ(IsMissing(g.At(GpuMetric::kSmUtil, 0)), mig) << file.name;  // under MIG utilisation is [N/A], never 0
    EXPECT_GT(g.At(GpuMetric::kTempC, 0), 20) << file.name;
    EXPECT_GT(g.At(GpuMetric::kSmClockMhz, 0), 100) << file.name;
    EXPECT_FALSE(IsMissing(g.At(GpuMetric::kThrottle, 0))) << file.name;
    EXPECT_GT(g.card.memory_total_mb.value_or(0), 7000) << file.name;
    EXPECT_EQ(r->quality.count(Odd::kBadCell), 0) << file.name << " " << r->quality.detail(Odd::kBadCell);
  }
}

}  // namespace
}  // namespace sawbill::ingest
