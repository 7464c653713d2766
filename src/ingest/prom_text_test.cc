// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "ingest/prom_formats.h"
#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::HostMetric;
using model::Odd;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr TimeMs kT0 = 1'784'019'600'000;  // 2026-07-14T09:00:00Z

/// One line of dcgm-exporter.
std::string Line(const std::string& field, const std::string& value, int gpu = 0, const std::string& more = "") {
  return "DCGM_FI_" + field + "{gpu=\"" + std::to_string(gpu) + "\",UUID=\"GPU-" + std::to_string(gpu) +
         "\",modelName=\"NVIDIA H100 80GB HBM3\",Hostname=\"n1\"" + more + "} " + value + "\n";
}
std::string At(int second) { return FormatRfc3339(kT0 + 1000LL * second) + "\n"; }

model::Recording ReadSaved(const std::string& text, TimeMs modified_ms) {
  static const TimeZone utc = TimeZone::Utc();
  ReadContext context;
  context.tz = &utc;
  context.file = "page.prom";
  context.modified_ms = modified_ms;
  sys::LineReader lines(sys::OpenBytes(text));
  model::Recording out;
  Explanation explanation;
  const Status read = PrometheusText().Read(&lines, context, &out, &explanation);
  EXPECT_TRUE(read.ok()) << read.message();
  return out;
}

std::string HostValues(const model::Recording& r, HostMetric m) {
  std::string out;
  if (r.hosts.empty()) return "no host";
  for (size_t i = 0; i < r.hosts[0].size(); ++i) {
    const float v = r.hosts[0].At(m, i);
    if (i > 0) out += ' ';
    out += IsMissing(v) ? "-" : FormatShortest(std::round(static_cast<double>(v) * 100) / 100);
  }
  return out;
}

TEST(PrometheusText, PagesWithTheTimeBeforeEachBecomeSamples) {
  const auto page = [](int s, const char* util) {
    return At(s) + "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n" +
           Line("DEV_GPU_UTIL", util) + Line("DEV_FB_USED", "1000") + Line("DEV_FB_FREE", "80000") +
           Line("DEV_FB_RESERVED", "559") + "\n";
  };
  const model::Recording r = ReadText(page(0, "10") + page(15, "20") + page(30, "30"));
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(r.format, "prometheus text");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "10 20 30");
  EXPECT_EQ(r.gpus[0].t_ms, (std::vector<TimeMs>{kT0, kT0 + 15000, kT0 + 30000}));
  EXPECT_EQ(r.gpus[0].card.uuid, "GPU-0");
  EXPECT_EQ(r.gpus[0].card.node, "n1");
  EXPECT_EQ(r.gpus[0].card.memory_total_mb, 81559);
}

TEST(PrometheusText, TheTimeStandsInManyWays) {
  for (const char* time : {"2026-07-14T09:00:00Z", "# scraped 2026-07-14T09:00:00Z", "1784019600", "1784019600000",
                           "--- 2026-07-14 09:00:00 ---", "Tue Jul 14 09:00:00 UTC 2026",
                           "Date: Tue, 14 Jul 2026 09:00:00 GMT", "=== 2026-07-14T11:00:00+02:00 ==="}) {
    const model::Recording r = ReadText(std::string(time) + "\n" + Line("DEV_GPU_UTIL", "10"));
    ASSERT_EQ(r.gpus.size(), 1U) << time;
    EXPECT_EQ(r.gpus[0].t_ms, (std::vector<TimeMs>{kT0})) << time;
  }
}

TEST(PrometheusText, ATimeBehindEachPageIsThatPages) {
  const model::Recording r = ReadText(Line("DEV_GPU_UTIL", "10") + At(0) + Line("DEV_GPU_UTIL", "20") + At(15));
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "10 20");
  EXPECT_EQ(r.gpus[0].t_ms, (std::vector<TimeMs>{kT0, kT0 + 15000}));
}

TEST(PrometheusText, SamplesMayCarryTheirTime) {
  const model::Recording ms =
      ReadText(Line("DEV_GPU_UTIL", "10 1784019600000") + Line("DEV_GPU_UTIL", "20 1784019615000"));
  EXPECT_EQ(ms.gpus.at(0).t_ms, (std::vector<TimeMs>{kT0, kT0 + 15000}));
  const model::Recording s =
      ReadText(Line("DEV_GPU_UTIL", "10 1784019600.0") + Line("DEV_GPU_UTIL", "20 1784019615.5") + "# EOF\n");
  EXPECT_EQ(s.gpus.at(0).t_ms, (std::vector<TimeMs>{kT0, kT0 + 15500})) << "OpenMetrics: seconds";
}

TEST(PrometheusText, ASinglePageWithoutTimeIsThatOfTheFileAndCoversNone) {
  const model::Recording r = ReadSaved(Line("DEV_GPU_UTIL", "91") + Line("PROF_GR_ENGINE_ACTIVE", "0.156205"), kT0);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "91");
  EXPECT_EQ(Values(r, 0, GpuMetric::kGrActive), "0.156");
  EXPECT_EQ(r.gpus.at(0).t_ms, (std::vector<TimeMs>{kT0}));
  EXPECT_EQ(Odds(r, Odd::kSingleSample), 1);
  EXPECT_THAT(r.notes, Contains(HasSubstr("covers no time")));
  EXPECT_THAT(r.notes, Contains(HasSubstr("2026-07-14T09:00:00.000Z")));
}

TEST(PrometheusText, PagesWithoutAnyTimeAreRefusedWithTheRemedy) {
  const std::string page = Line("DEV_GPU_UTIL", "10", 0) + Line("DEV_GPU_UTIL", "10", 1);
  const std::string why = Refusal(page + page + page);
  EXPECT_THAT(why, HasSubstr("3 pages"));
  EXPECT_THAT(why, HasSubstr("query_range"));
}

TEST(PrometheusText, MetricsOfSomethingElseAreRefused) {
  const std::string why = Refusal("# HELP go_goroutines x\n# TYPE go_goroutines gauge\ngo_goroutines 12\nup 1\n");
  EXPECT_THAT(why, HasSubstr("go_goroutines"));
  EXPECT_THAT(why, HasSubstr("DCGM_FI_DEV_GPU_UTIL"));
}

// A page of a known exporter that happens to hold none of its readings is not told that its exporter is known.
TEST(PrometheusText, AKnownExporterWithoutAReadingIsRefusedForThat) {
  const std::string why = Refusal(
      "# HELP DCGM_FI_DEV_PCIE_REPLAY_COUNTER Total number of PCIe retries.\n"
      "# TYPE DCGM_FI_DEV_PCIE_REPLAY_COUNTER counter\nDCGM_FI_DEV_PCIE_REPLAY_COUNTER{gpu=\"0\"} 0\n");
  EXPECT_THAT(why, HasSubstr("there is no utilisation, memory, power"));
  EXPECT_THAT(why, HasSubstr("such as DCGM_FI_DEV_PCIE_REPLAY_COUNTER"));
}

// A6: "[%]" in a HELP text is nvidia-smi's heading; the value is a ratio. And DCGM's ratio is a percentage.
TEST(PrometheusText, HelpTextsAndNamesDoNotMislead) {
  const model::Recording smi = ReadText(
      At(0) +
      "# HELP nvidia_smi_utilization_gpu_ratio utilization.gpu [%]\n"
      "nvidia_smi_utilization_gpu_ratio{uuid=\"1c67088e-9ecb-4564-bb97-6151ecc2ef64\"} 0.91\n"
      "nvidia_smi_memory_used_bytes{uuid=\"1c67088e-9ecb-4564-bb97-6151ecc2ef64\"} 1.1665408e+10\n"
      "nvidia_smi_clocks_current_sm_clock_hz{uuid=\"1c67088e-9ecb-4564-bb97-6151ecc2ef64\"} 1.98e+09\n"
      "nvidia_smi_gpu_info{index=\"3\",name=\"NVIDIA H200\",uuid=\"1c67088e-9ecb-4564-bb97-6151ecc2ef64\"} 1\n");
  ASSERT_EQ(smi.gpus.size(), 1U);
  EXPECT_EQ(Values(smi, 0, GpuMetric::kSmUtil), "91");
  EXPECT_EQ(Values(smi, 0, GpuMetric::kMemUsedMb), "11125");
  EXPECT_EQ(Values(smi, 0, GpuMetric::kSmClockMhz), "1980");
  EXPECT_EQ(smi.gpus[0].card.gpu, "3");
  EXPECT_EQ(smi.gpus[0].card.name, "NVIDIA H200");
  const model::Recording dcgm = ReadText(At(0) + Line("DEV_GPU_UTIL_RATIO", "91") + Line("PROF_SM_UTIL_RATIO", "0.5"));
  EXPECT_EQ(Values(dcgm, 0, GpuMetric::kSmUtil), "91");
  EXPECT_EQ(Values(dcgm, 0, GpuMetric::kSmActive), "0.5");
}

TEST(PrometheusText, ValuesThatCannotBeWhatTheNameSaysDecide) {
  const model::Recording r =
      ReadText(At(0) + Line("PROF_GR_ENGINE_ACTIVE", "0.9") + At(15) + Line("PROF_GR_ENGINE_ACTIVE", "88") + At(30) +
               Line("PROF_GR_ENGINE_ACTIVE", "90"));
  EXPECT_EQ(Values(r, 0, GpuMetric::kGrActive), "0.009 0.88 0.9") << "one unit for all of a series";
  EXPECT_THAT(r.notes, Contains(HasSubstr("DCGM_FI_PROF_GR_ENGINE_ACTIVE: the values show that it is a percentage")));
  const model::Recording ratio =
      ReadText(At(0) + Line("DEV_GPU_UTIL_RATIO", "0.25") + At(15) + Line("DEV_GPU_UTIL_RATIO", "1"));
  EXPECT_EQ(Values(ratio, 0, GpuMetric::kSmUtil), "25 100");
  EXPECT_EQ(Values(ReadText(At(0) + Line("PROF_SM_ACTIVE", "1.002")), 0, GpuMetric::kSmActive), "1") << "rounding";
}

// A7: one blank field of one card of eight.
TEST(PrometheusText, BlanksAreMissingAndCostNoOther) {
  std::string page = At(0);
  for (int gpu = 0; gpu < 8; ++gpu) {
    const bool blank = gpu == 3;
    page += Line("DEV_GPU_UTIL", blank ? "2147483632" : "90", gpu);
    page += Line("PROF_SM_ACTIVE", blank ? "140737488355328.0" : "0.8", gpu);
    page += Line("DEV_TOTAL_ENERGY_CONSUMPTION", blank ? "9223372036854775794" : "1000", gpu);
    page += Line("DEV_GPU_TEMP", blank ? "N/A" : "61", gpu);
    page += Line("DEV_SM_CLOCK", "1980", gpu);
  }
  const model::Recording r = ReadText(page);
  ASSERT_EQ(r.gpus.size(), 8U);
  for (size_t gpu = 0; gpu < 8; ++gpu) {
    const std::string missing = "-";
    EXPECT_EQ(Values(r, gpu, GpuMetric::kSmUtil), gpu == 3 ? missing : "90");
    EXPECT_EQ(Values(r, gpu, GpuMetric::kSmActive), gpu == 3 ? missing : "0.8");
    EXPECT_EQ(Values(r, gpu, GpuMetric::kTempC), gpu == 3 ? missing : "61");
    EXPECT_EQ(Values(r, gpu, GpuMetric::kSmClockMhz), "1980");
    EXPECT_EQ(r.gpus[gpu].energy_j.empty(), gpu == 3);
  }
}

// A5: two instances; the card's own utilisation is 0 or absent and is no idleness.
TEST(PrometheusText, InstancesAreCardsAndTheirParentHasNoUtilisation) {
  const std::string i1 = ",GPU_I_PROFILE=\"3g.40gb\",GPU_I_ID=\"1\"", i2 = ",GPU_I_PROFILE=\"4g.40gb\",GPU_I_ID=\"2\"";
  const model::Recording r =
      ReadText(At(0) + Line("DEV_GPU_UTIL", "0") + Line("DEV_POWER_USAGE", "300") + Line("DEV_GPU_UTIL", "0", 0, i1) +
               Line("PROF_GR_ENGINE_ACTIVE", "0.88", 0, i1) + Line("DEV_POWER_USAGE", "300", 0, i1) +
               Line("PROF_GR_ENGINE_ACTIVE", "0.5", 0, i2) + Line("DEV_FB_USED", "12000", 0, i2));
  ASSERT_EQ(r.gpus.size(), 3U);
  EXPECT_EQ(r.gpus[0].card.gpu, "0");
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kSmUtil));
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "300");
  EXPECT_EQ(r.gpus[1].card.gpu, "0.1.0");
  EXPECT_EQ(r.gpus[1].card.uuid, "MIG-GPU-0/1/0");
  EXPECT_EQ(r.gpus[1].card.parent_uuid, "GPU-0");
  EXPECT_NEAR(r.gpus[1].card.share.value_or(0), 3.0 / 7, 1e-9);
  EXPECT_FALSE(r.gpus[1].Has(GpuMetric::kSmUtil));
  EXPECT_FALSE(r.gpus[1].Has(GpuMetric::kPowerW)) << "the card's";
  EXPECT_EQ(Values(r, 1, GpuMetric::kGrActive), "0.88");
  EXPECT_EQ(Values(r, 2, GpuMetric::kMemUsedMb), "12000");
}

// D3.
TEST(PrometheusText, ExportersPodThatChangesIsNoNewNodeAndTwoNodesAreTwo) {
  const auto line = [](const std::string& uuid, const std::string& host, const char* label) {
    return "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"" + uuid + "\"," + label + "=\"" + host + "\"} 50\n";
  };
  const model::Recording rollout = ReadText(At(0) + line("GPU-a", "dcgm-exporter-abc", "Hostname") + At(15) +
                                            line("GPU-a", "dcgm-exporter-def", "hostname"));
  ASSERT_EQ(rollout.gpus.size(), 1U);
  EXPECT_EQ(Values(rollout, 0, GpuMetric::kSmUtil), "50 50");
  EXPECT_EQ(rollout.gpus[0].card.node, "dcgm-exporter-abc");
  EXPECT_THAT(rollout.notes, Contains(HasSubstr("dcgm-exporter-abc")));
  const model::Recording renamed =
      ReadText(At(0) + line("GPU-a", "n1", "Hostname") + At(15) + line("GPU-a", "n1", "hostname"));
  ASSERT_EQ(renamed.gpus.size(), 1U);
  EXPECT_EQ(renamed.gpus[0].card.node, "n1");
  EXPECT_EQ(ReadText(At(0) + line("GPU-a", "n1", "Hostname") + line("GPU-b", "n2", "Hostname")).gpus.size(), 2U);
  const model::Recording no_uuid = ReadText(At(0) +
                                            "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"n1\"} 10\n"
                                            "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"n2\"} 20\n");
  ASSERT_EQ(no_uuid.gpus.size(), 2U) << "GPU 0 of every node looks alike";
  EXPECT_EQ(Values(no_uuid, 1, GpuMetric::kSmUtil), "20");
}

// D1: the job ended at 0:30, its label stays.
TEST(PrometheusText, LabelOfAPodOwnsNothing) {
  std::string text;
  for (int s = 0; s <= 120; s += 15) text += At(s) + Line("DEV_GPU_UTIL", s <= 30 ? "95" : "0", 0, ",pod=\"train-0\"");
  const model::Recording r = ReadText(text);
  EXPECT_THAT(r.processes, IsEmpty());
  EXPECT_THAT(r.runs, IsEmpty());
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "95 95 95 0 0 0 0 0 0");
  EXPECT_THAT(r.notes, Contains(HasSubstr("train-0")));
}

TEST(PrometheusText, PodThatComesAndGoesIsNoOtherCard) {
  const model::Recording r =
      ReadText(At(0) + Line("DEV_GPU_UTIL", "10", 0, ",pod=\"a\"") + At(15) +
               Line("DEV_GPU_UTIL", "20", 0, ",pod=\"\"") + At(30) + Line("DEV_GPU_UTIL", "30", 0, ",pod=\"b\""));
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "10 20 30");
}

TEST(PrometheusText, NodeExporterGivesTheHost) {
  const auto page = [](int s, double busy, double idle, double wait) {
    const auto cpu = [](int core, const char* mode, double v) {
      return fmt::format("node_cpu_seconds_total{{cpu=\"{}\",mode=\"{}\"}} {}\n", core, mode, v);
    };
    std::string out = At(s) + Line("DEV_GPU_UTIL", "50");
    for (int core = 0; core < 2; ++core)
      out += cpu(core, "user", 100 + busy) + cpu(core, "idle", 500 + idle) + cpu(core, "iowait", 9 + wait);
    return out + fmt::format(
                     "node_load1 1.5\nnode_memory_MemTotal_bytes 1.073741824e+09\n"
                     "node_memory_MemAvailable_bytes 5.36870912e+08\n"
                     "node_disk_read_bytes_total{{device=\"sda\"}} {0}\n"
                     "node_disk_read_bytes_total{{device=\"dm-0\"}} {0}\n"
                     "node_disk_io_time_seconds_total{{device=\"sda\"}} {1}\n"
                     "node_network_receive_bytes_total{{device=\"eth0\"}} {0}\n"
                     "node_network_receive_bytes_total{{device=\"lo\"}} {0}\n",
                     1e9 + s * 2e6, s * 0.25);
  };
  const model::Recording r = ReadText(page(0, 0, 0, 0) + page(10, 6, 3, 1) + page(20, 6, 13, 1));
  ASSERT_EQ(r.hosts.size(), 1U);
  EXPECT_EQ(r.hosts[0].node, "n1") << "a lone host is the node of the cards";
  EXPECT_EQ(HostValues(r, HostMetric::kCpuUtil), "- 60 0");
  EXPECT_EQ(HostValues(r, HostMetric::kCpuIowait), "- 10 0");
  EXPECT_EQ(HostValues(r, HostMetric::kCpuCount), "- 2 2");
  EXPECT_EQ(HostValues(r, HostMetric::kMemUsedMb), "512 512 512");
  EXPECT_EQ(HostValues(r, HostMetric::kLoad1), "1.5 1.5 1.5");
  EXPECT_EQ(HostValues(r, HostMetric::kDiskReadMbS), "- 2 2") << "dm-0 stands on sda";
  EXPECT_EQ(HostValues(r, HostMetric::kDiskUtil), "- 25 25");
  EXPECT_EQ(HostValues(r, HostMetric::kNetRxMbS), "- 2 2");
}

TEST(PrometheusText, CounterThatRanBackIsNoReading) {
  const auto page = [](int s, double bytes) {
    return At(s) + fmt::format("node_load1 1\nnode_disk_read_bytes_total{{device=\"sda\"}} {}\n", bytes);
  };
  const model::Recording r = ReadText(page(0, 5e8) + page(10, 6e8) + page(20, 1e6) + page(30, 2.1e7));
  EXPECT_EQ(HostValues(r, HostMetric::kDiskReadMbS), "- 10 - 2") << "the machine was restarted";
  const model::Recording once = ReadText(page(0, 5e8));
  EXPECT_EQ(HostValues(once, HostMetric::kDiskReadMbS), "-");
  EXPECT_THAT(once.notes, Contains(HasSubstr("two samples")));
}

TEST(PrometheusText, OwnMetricsAreReadBack) {
  const model::Recording r =
      ReadText(At(0) +
               "sawbill_gpu_sm_utilization_ratio{gpu=\"1\",uuid=\"GPU-a\",model=\"NVIDIA L4\"} 0.42\n"
               "sawbill_gpu_energy_joules_total{gpu=\"1\",uuid=\"GPU-a\",model=\"NVIDIA L4\"} 12.5\n"
               "sawbill_host_cpu_utilization_ratio 0.5\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "42");
  EXPECT_EQ(r.gpus.at(0).energy_j.at(0), 12.5);
  EXPECT_EQ(r.gpus[0].card.name, "NVIDIA L4");
  EXPECT_EQ(HostValues(r, HostMetric::kCpuUtil), "50");
}

TEST(PrometheusText, ReservedMemoryStandsInTheTotal) {
  const model::Recording r =
      ReadText(At(0) + Line("DEV_FB_USED", "5120") + Line("DEV_FB_FREE", "9791") + Line("DEV_FB_RESERVED", "447"));
  EXPECT_EQ(r.gpus.at(0).card.memory_total_mb, 15358);
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "5120");
}

TEST(PrometheusText, ProcessesOfNvidiaGpuExporterAreHolders) {
  const model::Recording r = ReadText(
      At(0) +
      "nvidia_smi_temperature_gpu{uuid=\"GPU-a\"} 50\n"
      "nvidia_smi_compute_app_used_memory_bytes{pid=\"21198\",process_name=\"/opt/bin/gpu_burn -d\",uuid=\"GPU-a\"} "
      "1.048576e+09\n");
  ASSERT_EQ(r.processes.size(), 1U);
  EXPECT_EQ(r.processes[0].pid, 21198);
  EXPECT_EQ(r.processes[0].card, 0);
  EXPECT_EQ(r.processes[0].Value(model::ProcessMetric::kGpuMemMb), 1000);
  EXPECT_EQ(r.strings.Get(r.processes[0].name), "gpu_burn");
}

TEST(PrometheusText, XidIsAnEventWhenItChanges) {
  const model::Recording r = ReadText(At(0) + Line("DEV_XID_ERRORS", "43") + Line("DEV_GPU_UTIL", "1") + At(15) +
                                      Line("DEV_XID_ERRORS", "43") + Line("DEV_GPU_UTIL", "1") + At(30) +
                                      Line("DEV_XID_ERRORS", "79") + Line("DEV_GPU_UTIL", "1"));
  ASSERT_EQ(r.events.size(), 1U) << "what stood there before is of a time that nobody knows";
  EXPECT_EQ(r.events[0].t_ms, kT0 + 30000);
  EXPECT_EQ(r.events[0].detail, "xid=79");
}

TEST(PrometheusText, MetricsAreFoundInADocument) {
  const std::string text =
      "# Accelerator Metrics Validation\n\n## Step 2\n\nRun this:\n\n```bash\n$ curl -s http://x:9400/metrics\n\n" +
      Line("DEV_GPU_UTIL", "91") + Line("PROF_GR_ENGINE_ACTIVE", "0.156205") +
      "```\n\n| Metric | Value |\n|---|---|\n| `DCGM_FI_DEV_GPU_UTIL` | 91 |\n";
  const model::Recording r = ReadSaved(text, kT0);
  EXPECT_EQ(Values(r, 0, GpuMetric::kGrActive), "0.156");
  EXPECT_THAT(r.notes, Contains(HasSubstr("text for people")));
  EXPECT_GE(PrometheusText().Certainty(text), kLeastCertainty);
}

TEST(PrometheusText, PagesShortenedForPeopleAreOneCard) {
  const model::Recording r =
      ReadText(At(0) + Line("DEV_SM_CLOCK", "210") +
               "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",...,modelName=\"NVIDIA H100 80GB HBM3\",...} 32\n");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(Values(r, 0, GpuMetric::kTempC), "32");
}

TEST(PrometheusText, TornLinesAndCrLfAreSurvived) {
  std::string text =
      At(0) + Line("DEV_GPU_UTIL", "10") + Line("DEV_GPU_TEMP", "50") + At(15) + Line("DEV_GPU_UTIL", "20");
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\r\n");
  const model::Recording r = ReadText(text + "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GP");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "10 20");
  EXPECT_EQ(Values(r, 0, GpuMetric::kTempC), "50 -");
  EXPECT_EQ(Odds(r, Odd::kTornLine), 1);
}

TEST(PrometheusText, ExplanationSaysWhatWasTakenForWhat) {
  const std::string e = ExplainText(At(0) + Line("DEV_GPU_UTIL", "91") + Line("DEV_GPU_UTIL", "7", 1) +
                                    Line("DEV_ENC_UTIL", "0") + Line("DEV_FB_FREE", "9791"));
  EXPECT_THAT(e, HasSubstr("prometheus text"));
  EXPECT_THAT(e, HasSubstr("DCGM_FI_DEV_GPU_UTIL -> sm_util [percent]: a series of dcgm-exporter (0: 91, 1: 7)"));
  EXPECT_THAT(e, HasSubstr("DCGM_FI_DEV_ENC_UTIL -> left out"));
  EXPECT_THAT(e, HasSubstr("2 cards on 1 nodes"));
}

TEST(PrometheusText, OtherFormatsAreLeftAlone) {
  for (const char* text : {"timestamp, index, utilization.gpu [%]\n2026/07/14 09:00:44.579, 0, 97 %\n",
                           "timestamp,sm_util,mem_util,mem_used_mb\n1784019600,97,10,100\n",
                           "# gpu   sm  mem\n# Idx   %   %\n 0 97 10\n", "{\"metric\":{}}\n", "", "hello world\n"}) {
    EXPECT_EQ(PrometheusText().Certainty(text), 0) << text;
  }
}

}  // namespace
}  // namespace sawbill::ingest
