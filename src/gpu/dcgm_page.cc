// SPDX-License-Identifier: Apache-2.0
#include "gpu/dcgm_page.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "gpu/nvml_calls.h"
#include "gpu/prometheus_text.h"

namespace sawbill::gpu {
namespace {

using model::GpuMetric;

struct Row {
  std::string_view name;  // without DCGM_FI_DEV_ and DCGM_FI_PROF_
  GpuMetric metric;
  double scale;             // to the catalogue's unit
  bool whole_card = false;  // says nothing of a MIG instance, though it is printed for each
  bool second = false;      // taken where the first choice is missing
};
constexpr Row kRows[] = {
    {"GPU_UTIL", GpuMetric::kSmUtil, 1, true},
    {"GPU_UTIL_RATIO", GpuMetric::kSmUtil, 1, true},
    {"MEM_COPY_UTIL", GpuMetric::kMemUtil, 1, true},
    {"FB_USED", GpuMetric::kMemUsedMb, 1},
    {"GPU_TEMP", GpuMetric::kTempC, 1},
    {"GPU_TEMP_CELSIUS", GpuMetric::kTempC, 1},
    {"POWER_USAGE", GpuMetric::kPowerW, 1, true},
    {"BOARD_POWER_WATTS", GpuMetric::kPowerW, 1, true},
    {"POWER_USAGE_INSTANT", GpuMetric::kPowerW, 1, true, true},
    {"BOARD_POWER_RAW_WATTS", GpuMetric::kPowerW, 1, true, true},
    {"SM_CLOCK", GpuMetric::kSmClockMhz, 1},
    {"MEM_CLOCK", GpuMetric::kMemClockMhz, 1},
    {"CLOCK_THROTTLE_REASONS", GpuMetric::kThrottle, 1},
    {"CLOCKS_EVENT_REASONS", GpuMetric::kThrottle, 1},
    {"TOTAL_ENERGY_CONSUMPTION", GpuMetric::kEnergyJ, 1e-3, true},
    {"GR_ENGINE_ACTIVE", GpuMetric::kGrActive, 1},
    {"GR_ENGINE_UTIL_RATIO", GpuMetric::kGrActive, 1},
    {"SM_ACTIVE", GpuMetric::kSmActive, 1},
    {"SM_UTIL_RATIO", GpuMetric::kSmActive, 1},
    {"SM_OCCUPANCY", GpuMetric::kSmOccupancy, 1},
    {"SM_OCCUPANCY_RATIO", GpuMetric::kSmOccupancy, 1},
    {"PIPE_TENSOR_ACTIVE", GpuMetric::kTensorActive, 1},
    {"TENSOR_UTIL_RATIO", GpuMetric::kTensorActive, 1},
    {"DRAM_ACTIVE", GpuMetric::kDramActive, 1},
    {"DRAM_UTIL_RATIO", GpuMetric::kDramActive, 1},
    // Bytes a second, though named bytes.
    {"PCIE_TX_BYTES", GpuMetric::kPcieTxMbS, 1e-6},
    {"PCIE_RX_BYTES", GpuMetric::kPcieRxMbS, 1e-6},
    {"NVLINK_TX_BYTES", GpuMetric::kNvlinkTxMbS, 1e-6},
    {"NVLINK_RX_BYTES", GpuMetric::kNvlinkRxMbS, 1e-6},
    {"PCIE_TX_THROUGHPUT", GpuMetric::kPcieTxMbS, 1e-3, true, true},
    {"PCIE_RX_THROUGHPUT", GpuMetric::kPcieRxMbS, 1e-3, true, true},
    // NVLINK_BANDWIDTH_TOTAL adds both directions up, and cannot be taken apart.
};

struct Fact {
  std::string_view name;
  double DcgmCard::* place;
};
constexpr Fact kFacts[] = {
    {"FB_FREE", &DcgmCard::memory_free_mb},
    {"FB_TOTAL", &DcgmCard::memory_total_mb},
    {"FB_RESERVED", &DcgmCard::memory_reserved_mb},
    {"ENFORCED_POWER_LIMIT", &DcgmCard::power_limit_w},
    {"BOARD_POWER_LIMIT_ENFORCED_WATTS", &DcgmCard::power_limit_w},
    {"POWER_MGMT_LIMIT", &DcgmCard::power_limit_w},
    {"XID_ERRORS", &DcgmCard::xid},
    {"XID_ERROR", &DcgmCard::xid},
    {"ECC_DBE_VOL_TOTAL", &DcgmCard::uncorrected},
};

/// "DCGM_FI_DEV_GPU_UTIL" -> "GPU_UTIL"; "" for what is not DCGM's.
std::string_view ShortName(std::string_view name) {
  for (const std::string_view prefix : {"DCGM_FI_DEV_", "DCGM_FI_PROF_", "DCGM_FI_"}) {
    if (StartsWith(name, prefix)) return name.substr(prefix.size());
  }
  return {};
}

/// Labels changed their case between releases (UUID and uuid, Hostname and hostname) and their names on NVLink lines.
std::string_view AnyLabel(const PromSample& s, std::string_view name, std::string_view other = {}) {
  for (const auto& [label, text] : s.labels) {
    const std::string lower = ToLower(label);
    if (lower == name || (!other.empty() && lower == other)) return text;
  }
  return {};
}

void Identify(const PromSample& s, DcgmCard* card) {
  const auto take = [](std::string_view text, std::string* to) {
    if (to->empty() && !text.empty() && !IsDcgmBlank(ParseDouble(text).value_or(0)) && text != "<<<NULL>>>") {
      *to = Sanitize(text);
    }
  };
  take(AnyLabel(s, "gpu"), &card->gpu);
  take(AnyLabel(s, "uuid", "gpu_uuid"), &card->uuid);
  take(AnyLabel(s, "modelname", "model_name"), &card->name);
  take(AnyLabel(s, "dcgm_fi_driver_version"), &card->driver);
  take(AnyLabel(s, "gpu_i_profile"), &card->profile);
  const std::optional<int64_t> instance = ParseInt(AnyLabel(s, "gpu_i_id"));
  if (instance && *instance >= 0 && *instance < 64) card->instance = static_cast<int>(*instance);
}

void Apply(std::string_view name, double value, DcgmCard* card, model::GpuValues* second) {
  for (const Fact& fact : kFacts) {
    if (fact.name == name) card->*fact.place = value;
  }
  for (const Row& row : kRows) {
    if (row.name != name || (row.whole_card && card->instance)) continue;
    if (row.metric == GpuMetric::kThrottle)
      value = value >= 0 && value < 1e9 ? ThrottleMask(static_cast<uint64_t>(value)) : kMissing;
    // Each value by itself: one that cannot be true never costs its neighbours.
    const double sound = Sound(row.metric, value * row.scale).value_or(kMissing);
    (row.second ? *second : card->values)[static_cast<size_t>(row.metric)] = sound;
  }
}

/// FNV-1a, 64 bits.
uint64_t Mix(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

bool Before(const DcgmCard& a, const DcgmCard& b) {
  const auto number = [](const DcgmCard& c) { return ParseInt(c.gpu).value_or(INT64_MAX); };
  return std::tuple(number(a), a.gpu, a.uuid, a.instance.value_or(-1)) <
         std::tuple(number(b), b.gpu, b.uuid, b.instance.value_or(-1));
}

}  // namespace

DcgmCard::DcgmCard()
    : memory_free_mb(kMissing),
      memory_total_mb(kMissing),
      memory_reserved_mb(kMissing),
      power_limit_w(kMissing),
      xid(kMissing),
      uncorrected(kMissing) {
  values.fill(kMissing);
}

std::string DcgmCard::key() const {
  return (uuid.empty() ? "gpu" + gpu : uuid) + (instance ? "/" + std::to_string(*instance) : "");
}

bool IsDcgmBlank(double v) {
  constexpr double kInt32 = 2147483632, kInt64 = 9223372036854775000.0, kFp64 = 140737488355328;
  return std::isnan(v) || (v >= kInt32 && v <= kInt32 + 15) || v >= kInt64 || (v >= kFp64 && v <= kFp64 + 15);
}

DcgmPage ParseDcgmPage(std::string_view text) {
  std::map<std::string, std::pair<DcgmCard, model::GpuValues>> cards;
  DcgmPage page;
  page.fingerprint = 14695981039346656037ULL;
  PromSample sample;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!ParsePromLine(line, &sample)) continue;
    const std::string_view name = ShortName(sample.name);
    if (name.empty()) continue;
    page.fingerprint = Mix(page.fingerprint, line);
    DcgmCard probe;
    Identify(sample, &probe);
    if (probe.gpu.empty() && probe.uuid.empty()) continue;  // of a switch, or of the host
    auto [it, fresh] = cards.try_emplace(probe.key());
    auto& [card, second] = it->second;
    if (fresh) second.fill(kMissing);
    Identify(sample, &card);
    if (!IsDcgmBlank(sample.value)) Apply(name, sample.value, &card, &second);
  }
  for (auto& [key, found] : cards) {
    auto& [card, second] = found;
    for (size_t m = 0; m < second.size(); ++m) {
      if (IsMissing(card.values[m])) card.values[m] = second[m];
    }
    page.cards.push_back(std::move(card));
  }
  std::sort(page.cards.begin(), page.cards.end(), Before);
  return page;
}

}  // namespace sawbill::gpu
