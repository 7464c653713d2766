// SPDX-License-Identifier: Apache-2.0
// Raw nvidia-smi and the Prometheus text that an exporter made of it at the same moment say the same: every shared
// metric of every public pair, and one pair of our own writing.
#include <gmock/gmock.h>

#include <set>

#include "base/text.h"
#include "ingest/csv_formats.h"
#include "ingest/prom_formats.h"
#include "ingest/test_util.h"
#include "sys/file.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;

model::Recording ReadAs(const Format& format, const std::string& text) {
  static const TimeZone utc = TimeZone::Utc();
  ReadContext context;
  context.tz = &utc;
  context.file = "pair";
  context.modified_ms = 1'784'019'600'000;
  sys::LineReader lines(sys::OpenBytes(text));
  model::Recording out;
  Explanation explanation;
  const Status read = format.Read(&lines, context, &out, &explanation);
  EXPECT_TRUE(read.ok()) << read.message();
  return out;
}

/// The first sample of each card: what both have to say alike, number by number.
void ExpectSame(const model::Recording& smi, const model::Recording& page, const std::string& pair,
                std::set<GpuMetric>* met) {
  ASSERT_EQ(smi.gpus.size(), page.gpus.size()) << pair;
  for (size_t g = 0; g < smi.gpus.size(); ++g) {
    for (size_t m = 0; m < model::kGpuMetrics; ++m) {
      const auto metric = static_cast<GpuMetric>(m);
      const float a = smi.gpus[g].At(metric, 0), b = page.gpus[g].At(metric, 0);
      EXPECT_EQ(IsMissing(a), IsMissing(b)) << pair << ": " << model::Info(metric).name << ": " << a << " and " << b;
      // nvidia-smi rounds to its last digit, and the page keeps that.
      if (IsMissing(a)) continue;
      EXPECT_NEAR(a, b, 1e-4F * std::max(1.0F, std::fabs(a))) << pair << ": " << model::Info(metric).name;
      met->insert(metric);
    }
    EXPECT_EQ(smi.gpus[g].card.name, page.gpus[g].card.name) << pair;
    EXPECT_EQ(smi.gpus[g].card.driver, page.gpus[g].card.driver) << pair;
    EXPECT_EQ(smi.gpus[g].card.gpu, page.gpus[g].card.gpu) << pair;
    EXPECT_NEAR(smi.gpus[g].card.memory_total_mb.value_or(-1), page.gpus[g].card.memory_total_mb.value_or(-1), 1)
        << pair;
    EXPECT_EQ(smi.gpus[g].card.power_limit_w, page.gpus[g].card.power_limit_w) << pair;
    EXPECT_EQ(smi.gpus[g].card.sm_clock_max_mhz, page.gpus[g].card.sm_clock_max_mhz) << pair;
  }
}

TEST(SmiAndPage, OfOneMomentSayTheSame) {
  const model::Recording smi = ReadAs(
      NvidiaSmiCsv(),
      "timestamp, index, name, uuid, driver_version, utilization.gpu [%], utilization.memory [%], memory.total [MiB], "
      "memory.used [MiB], temperature.gpu, power.draw [W], enforced.power.limit [W], clocks.current.sm [MHz], "
      "clocks.max.sm [MHz], clocks_event_reasons.active\n"
      "2026/07/14 09:00:44.579, 0, NVIDIA L4, GPU-c2f76b33-7953-256e-8f33-1343419b1a1c, 590.48.01, 7 %, [N/A], 23034 "
      "MiB, "
      "1235 MiB, 54, 35.23 W, 72.00 W, 2040 MHz, 2040 MHz, 0x0000000000000004\n");
  const char* const label = "{uuid=\"c2f76b33-7953-256e-8f33-1343419b1a1c\"} ";
  std::string text;
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"utilization_gpu_ratio", "0.07"},
                                                                  {"memory_total_bytes", "2.4152899584e+10"},
                                                                  {"memory_used_bytes", "1.29499136e+09"},
                                                                  {"temperature_gpu", "54"},
                                                                  {"power_draw_watts", "35.23"},
                                                                  {"enforced_power_limit_watts", "72"},
                                                                  {"clocks_current_sm_clock_hz", "2.04e+09"},
                                                                  {"clocks_max_sm_clock_hz", "2.04e+09"},
                                                                  {"clocks_event_reasons_active", "4"}}) {
    text += std::string("nvidia_smi_") + name + label + value + "\n";
  }
  text +=
      "nvidia_smi_gpu_info{driver_version=\"590.48.01\",index=\"0\",name=\"NVIDIA "
      "L4\",uuid=\"c2f76b33-7953-256e-8f33-1343419b1a1c\"} 1\n";
  std::set<GpuMetric> met;
  ExpectSame(smi, ReadAs(PrometheusText(), text), "own", &met);
  EXPECT_EQ(met.size(), 6U);
}

TEST(SmiAndPage, EveryPublicPairSaysTheSame) {
  const std::string folder = SAWBILL_SOURCE_DIR "/../shared/data/nvidia_gpu_exporter/";
  const auto fs = sys::MakeRealFileSystem();
  const auto files = fs->List(folder);
  if (!files.ok()) GTEST_SKIP() << "no public captures beside the checkout (../shared/data)";
  int pairs = 0;
  std::set<GpuMetric> met;
  for (const auto& entry : *files) {
    const std::string& name = entry.name;
    if (!EndsWith(name, ".metrics") || name.find("seeded") != std::string::npos) continue;
    const std::string base = name.substr(0, name.size() - 8);
    const auto csv = fs->Map(folder + "extracted/" + base + "__query-gpu.csv");
    const auto page = fs->Map(folder + name);
    ASSERT_TRUE(csv.ok() && page.ok()) << base;
    ExpectSame(ReadAs(NvidiaSmiCsv(), std::string((*csv)->bytes())),
               ReadAs(PrometheusText(), std::string((*page)->bytes())), base, &met);
    ++pairs;
  }
  EXPECT_EQ(pairs, 20);
  EXPECT_GE(met.size(), 7U);
}

}  // namespace
}  // namespace sawbill::ingest
