// SPDX-License-Identifier: Apache-2.0
#include "prom/series_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numbers.h"
#include "prom/labels.h"

namespace sawbill::prom {
namespace {
using model::GpuMetric;

/// The value of a card's metric after the table, "metric value".
std::string Read(std::string_view name, double value) {
  const Meaning* m = FindSeries(name);
  if (m == nullptr) return "unknown";
  if (m->target != Target::kCard) return "no metric of a card";
  return std::string(model::Info(static_cast<GpuMetric>(m->what)).name) + " " + FormatFixed(value * m->factor, 3);
}

TEST(FindSeries, NamesOfAllExportersMeanTheSame) {
  for (const char* name :
       {"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", "dcgm_gpu_utilization", "all_smi_gpu_utilization"}) {
    EXPECT_EQ(Read(name, 91), "sm_util 91.000") << name;
  }
  EXPECT_EQ(Read("nvidia_smi_utilization_gpu_ratio", 0.91), "sm_util 91.000");
  EXPECT_EQ(Read("sawbill_gpu_sm_utilization_ratio", 0.91), "sm_util 91.000");
  EXPECT_EQ(Read("DCGM_FI_DEV_FB_USED", 11125), "mem_used_mb 11125.000");
  EXPECT_EQ(Read("nvidia_smi_memory_used_bytes", 1.1665408e10), "mem_used_mb 11125.000");
  EXPECT_EQ(Read("all_smi_gpu_memory_used_bytes", 1.1665408e10), "mem_used_mb 11125.000");
  EXPECT_EQ(Read("sawbill_gpu_memory_used_bytes", 1.1665408e10), "mem_used_mb 11125.000");
  EXPECT_EQ(Read("nvidia_smi_clocks_current_sm_clock_hz", 1.98e9), "sm_clock_mhz 1980.000");
  EXPECT_EQ(Read("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 187000), "energy_j 187.000") << "mJ";
  EXPECT_EQ(Read("DCGM_FI_PROF_PCIE_RX_BYTES", 2.5e9), "pcie_rx_mb_s 2500.000") << "a rate, though named bytes";
  EXPECT_EQ(Read("DCGM_FI_DEV_PCIE_RX_THROUGHPUT", 2500000), "pcie_rx_mb_s 2500.000") << "KB/s";
}

TEST(FindSeries, BothGenerationsOfDcgmsNamesAreKnown) {
  EXPECT_EQ(Read("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 0.156), "gr_active 0.156");
  EXPECT_EQ(Read("DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", 0.156), "gr_active 0.156");
  EXPECT_EQ(Read("DCGM_FI_PROF_SM_UTIL_RATIO", 0.5), "sm_active 0.500");
  EXPECT_EQ(Read("DCGM_FI_DEV_BOARD_POWER_WATTS", 412.35), "power_w 412.350");
}

TEST(FindSeries, WhatIsNotKnownIsNull) {
  for (const char* name :
       {"go_goroutines", "DCGM_FI_DEV_ENC_UTIL", "node_load5", "nvidia_smi_edpp_multiplier_ratio", "", "dcgm_"}) {
    EXPECT_EQ(FindSeries(name), nullptr) << name;
  }
  EXPECT_TRUE(IsKnownFamily("DCGM_FI_DEV_ENC_UTIL"));
  EXPECT_FALSE(IsKnownFamily("go_goroutines"));
}

TEST(FindSeries, EveryMetricThatWeExportIsReadBack) {
  for (size_t i = 0; i < model::kGpuMetrics; ++i) {
    const auto& info = model::Info(static_cast<GpuMetric>(i));
    if (*info.prometheus == '\0') continue;
    EXPECT_EQ(Read(info.prometheus, info.prometheus_scale), std::string(info.name) + " 1.000");
  }
  EXPECT_EQ(FindSeries("sawbill_host_cpu_utilization_ratio")->what, static_cast<int>(model::HostMetric::kCpuUtil));
}

// A7.
TEST(IsDcgmBlank, BlanksOfAllTypesAreKnown) {
  for (const double v : {2147483632.0, 2147483635.0, 9223372036854775792.0, 9223372036854775794.0, 140737488355328.0,
                         140737488355331.0, std::nan("")}) {
    EXPECT_TRUE(IsDcgmBlank(v)) << v;
  }
  for (const double v : {0.0, 100.0, 2147483631.0, 1.4e14}) EXPECT_FALSE(IsDcgmBlank(v)) << v;
}

TEST(ThrottleOf, NvmlsBitsBecomeOurs) {
  EXPECT_EQ(ThrottleOf(4), Mask(model::ThrottleBit::kSwPowerCap));
  EXPECT_EQ(ThrottleOf(0x21), Mask(model::ThrottleBit::kGpuIdle) + Mask(model::ThrottleBit::kSwThermal));
  EXPECT_EQ(ThrottleOf(0), 0);
  EXPECT_TRUE(IsMissing(ThrottleOf(-1)));
}

CardLabels Labels(std::string_view series) {
  SeriesName s;
  EXPECT_TRUE(ParseSeries(series, &s));
  return ReadCardLabels(s);
}

// D3.
TEST(ReadCardLabels, TheNodeComesFromTheLabelThatKnowsIt) {
  EXPECT_EQ(Labels("x{gpu=\"0\",Hostname=\"n1\"}").node, "n1");
  EXPECT_EQ(Labels("x{gpu=\"0\",hostname=\"n1\"}").node, "n1") << "renamed in 2026";
  EXPECT_EQ(Labels("x{gpu=\"0\",Hostname=\"dcgm-exporter-abc\",node=\"n1\"}").node, "n1");
  EXPECT_EQ(Labels("x{gpu=\"0\",Hostname=\"dcgm-exporter-abc\",instance=\"10.0.0.5:9400\"}").node, "10.0.0.5");
  EXPECT_EQ(Labels("x{uuid=\"GPU-a\",instance=\"[fd00::1]:9835\"}").node, "fd00::1");
  const CardLabels pod = Labels("x{gpu=\"0\",Hostname=\"nvidia-dcgm-exporter-abc\"}");
  EXPECT_EQ(pod.node_told, NodeTold::kExporterPod);
  EXPECT_EQ(Labels("x{gpu=\"0\",Hostname=\"agent-7xk\",pod=\"agent-7xk\"}").node_told, NodeTold::kExporterPod);
}

TEST(ReadCardLabels, CardsAreNamedAsEachExporterDoes) {
  EXPECT_EQ(Labels("x{uuid=\"1c67088e-9ecb-4564-bb97-6151ecc2ef64\"}").uuid, "GPU-1c67088e-9ecb-4564-bb97-6151ecc2ef64")
      << "nvidia_gpu_exporter takes the prefix off";
  const CardLabels all_smi = Labels("x{gpu=\"NVIDIA H100 80GB HBM3\",instance=\"n1\",uuid=\"GPU-a\",index=\"3\"}");
  EXPECT_EQ(all_smi.gpu, "3");
  EXPECT_EQ(all_smi.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(Labels("x{gpu_index=\"2\",gpu_name=\"NVIDIA L4\"}").gpu, "2");
  EXPECT_EQ(Labels("x{gpu=\"<<<NULL>>>\",UUID=\"GPU-a\",device=\"nvidia5\"}").gpu, "5");
  EXPECT_FALSE(Labels("x{nvswitch=\"0\"}").names_card());
}

TEST(ReadCardLabels, PodsAreTheWorkloadsNotTheExporters) {
  EXPECT_EQ(Labels("x{gpu=\"0\",pod=\"train-0\"}").workload, "train-0");
  EXPECT_EQ(Labels("x{gpu=\"0\",pod=\"dcgm-exporter-zxgzh\",exported_pod=\"train-0\"}").workload, "train-0");
  EXPECT_EQ(Labels("x{gpu=\"0\",pod=\"dcgm-exporter-zxgzh\"}").workload, "");
  EXPECT_EQ(Labels("x{gpu=\"0\",hpc_job=\"4711\"}").workload, "4711");
}

TEST(Instances, AreNamedAndHaveTheirShare) {
  EXPECT_EQ(Labels("x{gpu=\"0\",GPU_I_ID=\"2\",GPU_I_PROFILE=\"3g.40gb\"}").instance, 2);
  EXPECT_EQ(InstanceLabel("0", 2), "0.2.0");
  EXPECT_EQ(InstanceUuid("GPU-a", 2), "MIG-GPU-a/2/0");
  EXPECT_NEAR(InstanceShare("3g.40gb", "NVIDIA H100 80GB HBM3").value_or(0), 3.0 / 7, 1e-12);
  EXPECT_NEAR(InstanceShare("1g.6gb", "NVIDIA A30").value_or(0), 0.25, 1e-12);
  EXPECT_NEAR(InstanceShare("1c.3g.40gb", "NVIDIA H100").value_or(0), 1.0 / 7, 1e-12);
  EXPECT_FALSE(InstanceShare("", "NVIDIA H100"));
  EXPECT_FALSE(InstanceShare("9g.9gb", "NVIDIA H100"));
}

}  // namespace
}  // namespace sawbill::prom
