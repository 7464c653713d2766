// SPDX-License-Identifier: Apache-2.0
#include "prom/series_table.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::prom {
namespace {
using model::GpuMetric;
using model::HostMetric;
using model::ProcessMetric;

constexpr double kFromMib = 1.0 / (1024 * 1024), kFromBytes = 1e-6, kFromHz = 1e-6;

constexpr Meaning Card(std::string_view name, GpuMetric m, double factor = 1, Range range = Range::kAsNamed) {
  return {name, Target::kCard, static_cast<int>(m), factor, range};
}
/// Of the card as a whole.
constexpr Meaning Whole(std::string_view name, GpuMetric m, double factor = 1, Range range = Range::kAsNamed) {
  return {name, Target::kCard, static_cast<int>(m), factor, range, true};
}
/// As Whole, where a better one is missing.
constexpr Meaning Second(std::string_view name, GpuMetric m, double factor = 1) {
  return {name, Target::kCard, static_cast<int>(m), factor, Range::kAsNamed, true, true};
}
constexpr Meaning Of(std::string_view name, Fact f, double factor = 1) {
  return {name, Target::kFact, static_cast<int>(f), factor};
}
constexpr Meaning Node(std::string_view name, NodeSeries s, bool counter = true) {
  return {name, Target::kNode, static_cast<int>(s), 1, Range::kAsNamed, false, false, counter};
}
constexpr Meaning Host(std::string_view name, HostMetric m, double factor = 1) {
  return {name, Target::kHost, static_cast<int>(m), factor};
}

// dcgm-exporter: DCGM's own units (mJ, MiB, percent for DEV, ratio for PROF). DCGM 4.6 renamed fields.
constexpr Meaning kDcgm[] = {
    Whole("GPU_UTIL", GpuMetric::kSmUtil),
    Whole("GPU_UTIL_RATIO", GpuMetric::kSmUtil, 1, Range::kRatioIfSmall),
    Whole("MEM_COPY_UTIL", GpuMetric::kMemUtil),
    Card("FB_USED", GpuMetric::kMemUsedMb),
    Card("GPU_TEMP", GpuMetric::kTempC),
    Card("GPU_TEMP_CELSIUS", GpuMetric::kTempC),
    Whole("POWER_USAGE", GpuMetric::kPowerW),
    Whole("BOARD_POWER_WATTS", GpuMetric::kPowerW),
    Second("POWER_USAGE_INSTANT", GpuMetric::kPowerW),
    Second("BOARD_POWER_RAW_WATTS", GpuMetric::kPowerW),
    Card("SM_CLOCK", GpuMetric::kSmClockMhz),
    Card("MEM_CLOCK", GpuMetric::kMemClockMhz),
    Card("CLOCK_THROTTLE_REASONS", GpuMetric::kThrottle),
    Card("CLOCKS_EVENT_REASONS", GpuMetric::kThrottle),
    Whole("TOTAL_ENERGY_CONSUMPTION", GpuMetric::kEnergyJ, 1e-3),
    Card("GR_ENGINE_ACTIVE", GpuMetric::kGrActive, 1, Range::kPercentIfLarge),
    Card("GR_ENGINE_UTIL_RATIO", GpuMetric::kGrActive, 1, Range::kPercentIfLarge),
    Card("SM_ACTIVE", GpuMetric::kSmActive, 1, Range::kPercentIfLarge),
    Card("SM_UTIL_RATIO", GpuMetric::kSmActive, 1, Range::kPercentIfLarge),
    Card("SM_OCCUPANCY", GpuMetric::kSmOccupancy, 1, Range::kPercentIfLarge),
    Card("SM_OCCUPANCY_RATIO", GpuMetric::kSmOccupancy, 1, Range::kPercentIfLarge),
    Card("PIPE_TENSOR_ACTIVE", GpuMetric::kTensorActive, 1, Range::kPercentIfLarge),
    Card("TENSOR_UTIL_RATIO", GpuMetric::kTensorActive, 1, Range::kPercentIfLarge),
    Card("DRAM_ACTIVE", GpuMetric::kDramActive, 1, Range::kPercentIfLarge),
    Card("DRAM_UTIL_RATIO", GpuMetric::kDramActive, 1, Range::kPercentIfLarge),
    // Bytes a second, though named bytes.
    Card("PCIE_TX_BYTES", GpuMetric::kPcieTxMbS, kFromBytes),
    Card("PCIE_RX_BYTES", GpuMetric::kPcieRxMbS, kFromBytes),
    Card("NVLINK_TX_BYTES", GpuMetric::kNvlinkTxMbS, kFromBytes),
    Card("NVLINK_RX_BYTES", GpuMetric::kNvlinkRxMbS, kFromBytes),
    Second("PCIE_TX_THROUGHPUT", GpuMetric::kPcieTxMbS, 1e-3),
    Second("PCIE_RX_THROUGHPUT", GpuMetric::kPcieRxMbS, 1e-3),
    // NVLINK_BANDWIDTH_TOTAL adds both directions up, and cannot be taken apart.
    Of("FB_FREE", Fact::kMemoryFreeMb),
    Of("FB_TOTAL", Fact::kMemoryTotalMb),
    Of("FB_RESERVED", Fact::kMemoryReservedMb),
    Of("ENFORCED_POWER_LIMIT", Fact::kPowerLimitW),
    Of("BOARD_POWER_LIMIT_ENFORCED_WATTS", Fact::kPowerLimitW),
    Of("POWER_MGMT_LIMIT", Fact::kPowerLimitW),
    Of("XID_ERRORS", Fact::kXid),
    Of("XID_ERROR", Fact::kXid),
    Of("ECC_DBE_VOL_TOTAL", Fact::kUncorrected),
};

// dcgm-exporter 1.x: lower-case names of the same fields.
constexpr Meaning kDcgmOld[] = {
    Whole("gpu_utilization", GpuMetric::kSmUtil),
    Whole("mem_copy_utilization", GpuMetric::kMemUtil),
    Card("fb_used", GpuMetric::kMemUsedMb),
    Of("fb_free", Fact::kMemoryFreeMb),
    Card("gpu_temp", GpuMetric::kTempC),
    Whole("power_usage", GpuMetric::kPowerW),
    Card("sm_clock", GpuMetric::kSmClockMhz),
    Card("memory_clock", GpuMetric::kMemClockMhz),
    Whole("total_energy_consumption", GpuMetric::kEnergyJ, 1e-3),
    Of("xid_errors", Fact::kXid),
    Of("ecc_dbe_volatile_total", Fact::kUncorrected),
    Card("fi_prof_gr_engine_active", GpuMetric::kGrActive, 1, Range::kPercentIfLarge),
    Card("fi_prof_sm_active", GpuMetric::kSmActive, 1, Range::kPercentIfLarge),
    Card("fi_prof_pipe_tensor_active", GpuMetric::kTensorActive, 1, Range::kPercentIfLarge),
    Card("fi_prof_dram_active", GpuMetric::kDramActive, 1, Range::kPercentIfLarge),
};

// nvidia_gpu_exporter: base units and ratios, though its HELP texts are nvidia-smi's headings ("[%]", "[MHz]").
constexpr Meaning kNvidiaSmi[] = {
    Whole("utilization_gpu_ratio", GpuMetric::kSmUtil, 100, Range::kPercentIfLarge),
    Whole("utilization_memory_ratio", GpuMetric::kMemUtil, 100, Range::kPercentIfLarge),
    Card("memory_used_bytes", GpuMetric::kMemUsedMb, kFromMib),
    Of("memory_free_bytes", Fact::kMemoryFreeMb, kFromMib),
    Of("memory_total_bytes", Fact::kMemoryTotalMb, kFromMib),
    Of("memory_reserved_bytes", Fact::kMemoryReservedMb, kFromMib),
    Card("temperature_gpu", GpuMetric::kTempC),
    Whole("power_draw_watts", GpuMetric::kPowerW),
    Second("power_draw_average_watts", GpuMetric::kPowerW),
    Second("power_draw_instant_watts", GpuMetric::kPowerW),
    Of("enforced_power_limit_watts", Fact::kPowerLimitW),
    Of("power_limit_watts", Fact::kPowerLimitW),
    Card("clocks_current_sm_clock_hz", GpuMetric::kSmClockMhz, kFromHz),
    Card("clocks_current_memory_clock_hz", GpuMetric::kMemClockMhz, kFromHz),
    Of("clocks_max_sm_clock_hz", Fact::kSmClockMaxMhz, kFromHz),
    Card("clocks_event_reasons_active", GpuMetric::kThrottle),
    Card("clocks_throttle_reasons_active", GpuMetric::kThrottle),
    Of("index", Fact::kIndex),
    Of("gpu_info", Fact::kInfo),
    {"compute_app_used_memory_bytes", Target::kProcess, static_cast<int>(ProcessMetric::kGpuMemMb), kFromMib},
};

constexpr Meaning kAllSmi[] = {
    Whole("gpu_utilization", GpuMetric::kSmUtil),
    Card("gpu_memory_used_bytes", GpuMetric::kMemUsedMb, kFromMib),
    Of("gpu_memory_total_bytes", Fact::kMemoryTotalMb, kFromMib),
    Card("gpu_temperature_celsius", GpuMetric::kTempC),
    Whole("gpu_power_consumption_watts", GpuMetric::kPowerW),
    Of("gpu_power_limit_current_watts", Fact::kPowerLimitW),
    Card("gpu_frequency_mhz", GpuMetric::kSmClockMhz),
    Of("gpu_info", Fact::kInfo),
    Host("cpu_utilization", HostMetric::kCpuUtil),
    Host("cpu_core_count", HostMetric::kCpuCount),
    Host("memory_used_bytes", HostMetric::kMemUsedMb, kFromMib),
    Host("memory_total_bytes", HostMetric::kMemTotalMb, kFromMib),
};

constexpr Meaning kNode[] = {
    Node("cpu_seconds_total", NodeSeries::kCpuSeconds),
    Node("memory_MemTotal_bytes", NodeSeries::kMemTotal, false),
    Node("memory_MemAvailable_bytes", NodeSeries::kMemAvailable, false),
    Host("load1", HostMetric::kLoad1),
    Node("disk_read_bytes_total", NodeSeries::kDiskRead),
    Node("disk_written_bytes_total", NodeSeries::kDiskWritten),
    Node("disk_io_time_seconds_total", NodeSeries::kDiskBusySeconds),
    Node("network_receive_bytes_total", NodeSeries::kNetReceived),
    Node("network_transmit_bytes_total", NodeSeries::kNetSent),
    Node("pressure_cpu_waiting_seconds_total", NodeSeries::kCpuWaiting),
    Node("pressure_io_waiting_seconds_total", NodeSeries::kIoWaiting),
    Node("pressure_memory_waiting_seconds_total", NodeSeries::kMemWaiting),
};

/// Our own names come from the metric catalogue.
const std::vector<Meaning>& Own() {
  static const std::vector<Meaning> rows = [] {
    std::vector<Meaning> out;
    const auto add = [&](Target target, int what, const model::MetricInfo& info) {
      if (*info.prometheus == '\0') return;
      Meaning m{info.prometheus, target, what, 1 / info.prometheus_scale};
      m.name.remove_prefix(8);  // "sawbill_"
      out.push_back(m);
    };
    for (size_t i = 0; i < model::kGpuMetrics; ++i) {
      add(Target::kCard, static_cast<int>(i), model::Info(static_cast<GpuMetric>(i)));
    }
    for (size_t i = 0; i < model::kHostMetrics; ++i) {
      add(Target::kHost, static_cast<int>(i), model::Info(static_cast<HostMetric>(i)));
    }
    return out;
  }();
  return rows;
}

struct Family {
  std::string_view prefix, exporter;
  const Meaning* rows;
  size_t size;
};

const std::vector<Family>& Families() {
  // The longest prefix first.
  static const std::vector<Family> families = {
      {"DCGM_FI_DEV_", "dcgm-exporter", kDcgm, std::size(kDcgm)},
      {"DCGM_FI_PROF_", "dcgm-exporter", kDcgm, std::size(kDcgm)},
      {"DCGM_FI_", "dcgm-exporter", kDcgm, std::size(kDcgm)},
      {"dcgm_", "dcgm-exporter 1.x", kDcgmOld, std::size(kDcgmOld)},
      {"nvidia_smi_", "nvidia_gpu_exporter", kNvidiaSmi, std::size(kNvidiaSmi)},
      {"all_smi_", "all-smi", kAllSmi, std::size(kAllSmi)},
      {"node_", "node_exporter", kNode, std::size(kNode)},
      {"sawbill_", "Sawbill", Own().data(), Own().size()},
  };
  return families;
}

/// Every row with its family, so that a pointer to one can be handed out.
const std::vector<std::vector<Meaning>>& Rows() {
  static const std::vector<std::vector<Meaning>> all = [] {
    std::vector<std::vector<Meaning>> out;
    for (const Family& f : Families()) {
      out.emplace_back(f.rows, f.rows + f.size);
      for (Meaning& m : out.back()) m.family = f.exporter;
    }
    return out;
  }();
  return all;
}

}  // namespace

const Meaning* FindSeries(std::string_view name) {
  for (size_t f = 0; f < Families().size(); ++f) {
    const std::string_view prefix = Families()[f].prefix;
    if (!StartsWith(name, prefix)) continue;
    for (const Meaning& m : Rows()[f]) {
      if (m.name == name.substr(prefix.size())) return &m;
    }
    return nullptr;
  }
  return nullptr;
}

const Meaning* FindDcgmColumn(std::string_view heading) {
  static constexpr std::string_view kColumns[][2] = {
      {"GPUTL", "GPU_UTIL"},         {"MCUTL", "MEM_COPY_UTIL"},
      {"FBUSD", "FB_USED"},          {"FBTTL", "FB_TOTAL"},
      {"FBFRE", "FB_FREE"},          {"TMPTR", "GPU_TEMP"},
      {"POWER", "POWER_USAGE"},      {"TOTEC", "TOTAL_ENERGY_CONSUMPTION"},
      {"SMCLK", "SM_CLOCK"},         {"MMCLK", "MEM_CLOCK"},
      {"GRACT", "GR_ENGINE_ACTIVE"}, {"SMACT", "SM_ACTIVE"},
      {"SMOCC", "SM_OCCUPANCY"},     {"TENSO", "PIPE_TENSOR_ACTIVE"},
      {"DRAMA", "DRAM_ACTIVE"},      {"PCITX", "PCIE_TX_BYTES"},
      {"PCIRX", "PCIE_RX_BYTES"},    {"NVLTX", "NVLINK_TX_BYTES"},
      {"NVLRX", "NVLINK_RX_BYTES"}};
  for (const auto& [column, field] : kColumns) {
    if (column == heading) return FindSeries("DCGM_FI_" + std::string(field));
  }
  return nullptr;
}

bool IsKnownFamily(std::string_view name) {
  for (const Family& f : Families()) {
    if (StartsWith(name, f.prefix)) return true;
  }
  return false;
}

double ThrottleOf(double nvml_reasons) {
  if (!(nvml_reasons >= 0 && nvml_reasons < 1e9)) return kMissing;
  // Bits of nvml.h, in the order of model::ThrottleBit.
  static constexpr unsigned kNvmlReason[] = {0x1, 0x4, 0x8, 0x40, 0x80, 0x20, 0x2, 0x10, 0x100};
  static_assert(std::size(kNvmlReason) == static_cast<size_t>(model::ThrottleBit::kCount));
  const auto reasons = static_cast<unsigned>(nvml_reasons);
  unsigned mask = 0;
  for (size_t i = 0; i < std::size(kNvmlReason); ++i) {
    if ((reasons & kNvmlReason[i]) != 0) mask |= 1U << i;
  }
  return mask;
}

}  // namespace sawbill::prom
