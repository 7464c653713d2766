// SPDX-License-Identifier: Apache-2.0
#include "model/metrics.h"

#include <iterator>

namespace sawbill::model {
namespace {
constexpr double kMb =
    1048576.0;  // NVML and /proc count memory in MiB; the columns' "mb" is that, by the field's habit
constexpr double kMbS = 1e6;
// The limits are physical or by definition; a reading outside is counted as odd and left empty.
constexpr MetricInfo kGpu[] = {
    {"sm_util", "percent", Kind::kGauge, 0, 0, 100, "sawbill_gpu_sm_utilization_ratio", 0.01, "GPU-Util", "GPU 利用率",
     "Share of the driver's last window in which at least one kernel was resident (NVML utilization.gpu). Not a "
     "measure of work."},
    {"mem_util", "percent", Kind::kGauge, 0, 0, 100, "sawbill_gpu_memory_controller_ratio", 0.01,
     "memory controller busy", "显存控制器占用率",
     "Share of time in which device memory was read or written (NVML utilization.memory). Not memory used."},
    {"mem_used_mb", "MiB", Kind::kGauge, 0, 0, 4e6, "sawbill_gpu_memory_used_bytes", kMb, "memory used", "已用显存",
     "Device memory in use, without what the driver reserves where NVML tells them apart."},
    {"temp_c", "Celsius", Kind::kGauge, 0, -20, 150, "sawbill_gpu_temperature_celsius", 1, "temperature", "温度",
     "Temperature of the GPU die (NVML)."},
    {"power_w", "W", Kind::kGauge, 1, 0, 3000, "sawbill_gpu_power_watts", 1, "power", "功率",
     "Board power (NVML): a 1 s mean on Ampere other than GA100 and newer, instantaneous on GA100 and older."},
    {"sm_clock_mhz", "MHz", Kind::kGauge, 0, 0, 6000, "sawbill_gpu_sm_clock_hertz", 1e6, "SM clock", "SM 时钟",
     "Current SM clock (NVML)."},
    {"mem_clock_mhz", "MHz", Kind::kGauge, 0, 0, 30000, "sawbill_gpu_memory_clock_hertz", 1e6, "memory clock",
     "显存时钟", "Current memory clock (NVML)."},
    {"throttle", "reasons", Kind::kState, 0, 0, 511, "", 1, "clock reasons", "降频原因",
     "Why clocks are below the maximum (NVML clocks event reasons), names joined by '|'; 'none' = read, nothing set."},
    {"pcie_rx_mb_s", "MB/s", Kind::kGauge, 1, 0, 5e5, "sawbill_gpu_pcie_receive_bytes_per_second", kMbS, "PCIe receive",
     "PCIe 接收", "PCIe traffic to the card (NVML, a 20 ms sample)."},
    {"pcie_tx_mb_s", "MB/s", Kind::kGauge, 1, 0, 5e5, "sawbill_gpu_pcie_transmit_bytes_per_second", kMbS,
     "PCIe transmit", "PCIe 发送", "PCIe traffic from the card (NVML, a 20 ms sample)."},
    {"nvlink_rx_mb_s", "MB/s", Kind::kGauge, 1, 0, 5e6, "sawbill_gpu_nvlink_receive_bytes_per_second", kMbS,
     "NVLink receive", "NVLink 接收", "NVLink payload received, from counter differences."},
    {"nvlink_tx_mb_s", "MB/s", Kind::kGauge, 1, 0, 5e6, "sawbill_gpu_nvlink_transmit_bytes_per_second", kMbS,
     "NVLink transmit", "NVLink 发送", "NVLink payload sent, from counter differences."},
    {"sm_active", "ratio", Kind::kGauge, 4, 0, 1, "sawbill_gpu_sm_active_ratio", 1, "SM active", "SM 活跃度",
     "Share of SM-cycles with at least one warp assigned (GPM or DCGM 1002)."},
    {"sm_occupancy", "ratio", Kind::kGauge, 4, 0, 1, "sawbill_gpu_sm_occupancy_ratio", 1, "SM occupancy", "SM 占用率",
     "Resident warps over the maximum (GPM or DCGM 1003)."},
    {"tensor_active", "ratio", Kind::kGauge, 4, 0, 1, "sawbill_gpu_tensor_active_ratio", 1, "tensor active",
     "张量核心活跃度", "Share of cycles in which a tensor pipe was active (GPM or DCGM 1004)."},
    {"dram_active", "ratio", Kind::kGauge, 4, 0, 1, "sawbill_gpu_dram_active_ratio", 1, "DRAM active", "DRAM 活跃度",
     "Share of cycles in which device memory moved data (GPM or DCGM 1005)."},
    {"gr_active", "ratio", Kind::kGauge, 4, 0, 1, "sawbill_gpu_graphics_engine_active_ratio", 1, "engine active",
     "图形引擎活跃度", "Share of time in which the graphics/compute engine was active (GPM or DCGM 1001)."},
    {"energy_j", "J", Kind::kCounter, 1, 0, 1e13, "sawbill_gpu_energy_joules_total", 1, "energy", "能耗",
     "Energy since the driver was loaded (NVML counter); read differences."},
    {"sm_util_min", "percent", Kind::kGauge, 0, 0, 100, "", 0.01, "GPU-Util, lowest", "GPU 利用率最低值",
     "Lowest of the driver's own utilisation samples within the interval (NVML sample ring buffer)."},
    {"sm_util_max", "percent", Kind::kGauge, 0, 0, 100, "", 0.01, "GPU-Util, highest", "GPU 利用率最高值",
     "Highest of the driver's own utilisation samples within the interval (NVML sample ring buffer)."},
};
static_assert(std::size(kGpu) == kGpuMetrics);

constexpr MetricInfo kHost[] = {
    {"cpu_count", "cores", Kind::kGauge, 2, 0, 65536, "sawbill_host_cpu_cores", 1, "cores", "核数",
     "Cores that the recorder's cgroup quota and cpuset allow, not the host's."},
    {"cpu_util", "percent", Kind::kGauge, 1, 0, 100.5, "sawbill_host_cpu_utilization_ratio", 0.01, "CPU", "CPU",
     "CPU use in percent of those cores."},
    {"cpu_iowait", "percent", Kind::kGauge, 1, 0, 100.5, "sawbill_host_cpu_iowait_ratio", 0.01, "I/O wait", "I/O 等待",
     "CPU time spent waiting for I/O, in percent of those cores."},
    {"load1", "tasks", Kind::kGauge, 2, 0, 1e6, "sawbill_host_load1", 1, "load", "负载",
     "Load average over one minute."},
    {"mem_used_mb", "MiB", Kind::kGauge, 0, 0, 1e9, "sawbill_host_memory_used_bytes", kMb, "host memory used",
     "主机已用内存", "Host memory in use (total minus available)."},
    {"mem_total_mb", "MiB", Kind::kGauge, 0, 0, 1e9, "sawbill_host_memory_total_bytes", kMb, "host memory", "主机内存",
     "Host memory, or the cgroup's limit where lower."},
    {"disk_read_mb_s", "MB/s", Kind::kGauge, 1, 0, 1e6, "sawbill_host_disk_read_bytes_per_second", kMbS, "disk read",
     "磁盘读", "Bytes read from disks."},
    {"disk_write_mb_s", "MB/s", Kind::kGauge, 1, 0, 1e6, "sawbill_host_disk_write_bytes_per_second", kMbS, "disk write",
     "磁盘写", "Bytes written to disks; page-cache writes lag by up to 30 s."},
    {"disk_util", "percent", Kind::kGauge, 1, 0, 100.5, "sawbill_host_disk_busy_ratio", 0.01, "disk busy", "磁盘繁忙度",
     "Busy time of the busiest disk."},
    {"net_rx_mb_s", "MB/s", Kind::kGauge, 2, 0, 1e6, "sawbill_host_network_receive_bytes_per_second", kMbS,
     "network receive", "网络接收", "Network bytes received."},
    {"net_tx_mb_s", "MB/s", Kind::kGauge, 2, 0, 1e6, "sawbill_host_network_transmit_bytes_per_second", kMbS,
     "network transmit", "网络发送", "Network bytes sent."},
    {"cpu_physical", "cores", Kind::kGauge, 2, 0, 65536, "sawbill_host_cpu_physical_cores", 1, "physical cores",
     "物理核数", "Physical cores among the allowed ones."},
    {"psi_cpu_some", "percent", Kind::kGauge, 2, 0, 100, "sawbill_host_pressure_cpu_ratio", 0.01, "CPU pressure",
     "CPU 压力", "Pressure stall: share of time in which some task waited for CPU (10 s average)."},
    {"psi_io_some", "percent", Kind::kGauge, 2, 0, 100, "sawbill_host_pressure_io_ratio", 0.01, "I/O pressure",
     "I/O 压力", "Pressure stall: share of time in which some task waited for I/O (10 s average)."},
    {"psi_mem_some", "percent", Kind::kGauge, 2, 0, 100, "sawbill_host_pressure_memory_ratio", 0.01, "memory pressure",
     "内存压力", "Pressure stall: share of time in which some task waited for memory (10 s average)."},
};
static_assert(std::size(kHost) == kHostMetrics);

constexpr MetricInfo kProcess[] = {
    {"gpu_mem_mb", "MiB", Kind::kGauge, 0, 0, 4e6, "", kMb, "GPU memory of the process", "进程显存",
     "Device memory that the process holds on this card."},
    {"sm_util", "percent", Kind::kGauge, 0, 0, 100, "", 0.01, "SM share of the process", "进程 SM 份额",
     "SM share of the process in the interval (NVML process utilisation)."},
    {"cpu_cores", "cores", Kind::kGauge, 2, 0, 65536, "", 1, "CPU of the process tree", "进程树 CPU",
     "CPU cores that the process tree used, without descendants that hold a card themselves."},
    {"read_mb_s", "MB/s", Kind::kGauge, 1, 0, 1e6, "", kMbS, "reads of the process tree", "进程树读",
     "Bytes read by the tree."},
    {"write_mb_s", "MB/s", Kind::kGauge, 1, 0, 1e6, "", kMbS, "writes of the process tree", "进程树写",
     "Bytes written by the tree."},
    {"started", "s", Kind::kState, 0, 0, 1e11, "", 1, "started", "启动时间", "Start of the process, Unix seconds."},
    {"workers", "processes", Kind::kGauge, 0, 0, 1e6, "", 1, "loader workers", "加载进程数",
     "Live children of the tree that are data-loader workers by name or behaviour."},
    {"main_cpu_cores", "cores", Kind::kGauge, 2, 0, 65536, "", 1, "CPU of the main process", "主进程 CPU",
     "CPU cores that the process alone used."},
    {"cores_allowed", "cores", Kind::kGauge, 2, 0, 65536, "", 1, "cores allowed", "可用核数",
     "Cores that the process may use by its own cpuset and quota."},
};
static_assert(std::size(kProcess) == kProcessMetrics);

constexpr const char* kThrottleNames[] = {"gpu_idle",   "sw_power_cap",   "hw_slowdown",
                                          "hw_thermal", "hw_power_brake", "sw_thermal",
                                          "app_clocks", "sync_boost",     "display_clocks"};
static_assert(std::size(kThrottleNames) == static_cast<size_t>(ThrottleBit::kCount));

template <typename Id, size_t N>
std::optional<Id> Find(const MetricInfo (&rows)[N], std::string_view name) {
  for (size_t i = 0; i < N; ++i) {
    if (name == rows[i].name) return static_cast<Id>(i);
  }
  return std::nullopt;
}
}  // namespace

const MetricInfo& Info(GpuMetric m) { return kGpu[static_cast<size_t>(m)]; }
const MetricInfo& Info(HostMetric m) { return kHost[static_cast<size_t>(m)]; }
const MetricInfo& Info(ProcessMetric m) { return kProcess[static_cast<size_t>(m)]; }
std::optional<GpuMetric> FindGpuMetric(std::string_view name) { return Find<GpuMetric>(kGpu, name); }
std::optional<HostMetric> FindHostMetric(std::string_view name) { return Find<HostMetric>(kHost, name); }
std::optional<ProcessMetric> FindProcessMetric(std::string_view name) { return Find<ProcessMetric>(kProcess, name); }

const char* Name(ThrottleBit b) { return kThrottleNames[static_cast<size_t>(b)]; }

std::optional<unsigned> ParseThrottle(std::string_view cell) {
  if (cell.empty()) return std::nullopt;
  if (cell == "none") return 0U;
  unsigned mask = 0;
  while (!cell.empty()) {
    const size_t bar = cell.find('|');
    const std::string_view name = cell.substr(0, bar);
    bool known = false;
    for (size_t i = 0; i < std::size(kThrottleNames); ++i) {
      if (name == kThrottleNames[i]) {
        mask |= 1U << i;
        known = true;
      }
    }
    if (!known) return std::nullopt;
    if (bar == std::string_view::npos) break;
    cell.remove_prefix(bar + 1);
  }
  return mask;
}

}  // namespace sawbill::model
