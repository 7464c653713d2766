// SPDX-License-Identifier: Apache-2.0
#include "prom/labels.h"

#include <fmt/format.h>

#include <initializer_list>

#include "base/numbers.h"
#include "base/text.h"
#include "prom/series_table.h"

namespace sawbill::prom {
namespace {

/// Values that mean "none": DCGM prints its blanks into labels as well.
bool SaysNothing(std::string_view text) {
  if (text.empty() || text == "<<<NULL>>>" || text == "[N/A]" || text == "N/A") return true;
  const std::optional<double> number = ParseDouble(text);
  return number && IsDcgmBlank(*number);
}

std::string First(const SeriesName& s, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const std::string_view text = s.Label(key);
    if (!SaysNothing(text)) return Sanitize(text);
  }
  return {};
}

bool IsNumber(std::string_view s) {
  return !s.empty() && s.size() < 6 && s.find_first_not_of("0123456789") == std::string_view::npos;
}

bool IsExporterPod(std::string_view name) {
  const std::string lower = ToLower(name);
  return lower.find("exporter") != std::string::npos;
}

/// nvidia_gpu_exporter takes NVIDIA's "GPU-" off; the same card is one card all the same.
std::string WithPrefix(std::string uuid) {
  const bool bare = uuid.size() == 36 && uuid[8] == '-' && uuid[13] == '-' &&
                    uuid.find_first_not_of("0123456789abcdefABCDEF-") == std::string::npos;
  return bare ? "GPU-" + uuid : uuid;
}

/// "10.0.0.5:9400" -> "10.0.0.5", "[fd00::1]:9400" -> "fd00::1".
std::string WithoutPort(const std::string& instance) {
  if (!instance.empty() && instance.front() == '[') return instance.substr(1, instance.find(']') - 1);
  const size_t colon = instance.rfind(':');
  const bool port = colon != std::string::npos && instance.find(':') == colon && IsNumber(instance.substr(colon + 1));
  return port ? instance.substr(0, colon) : instance;
}

void TellNode(const SeriesName& s, CardLabels* out) {
  out->node = First(s, {"node", "kubernetes_node", "node_name", "nodename", "k8s_node_name", "exported_node"});
  out->node_told = NodeTold::kNode;
  if (!out->node.empty()) return;
  const std::string host = First(s, {"hostname", "exported_hostname", "host"});
  out->node_told = NodeTold::kHostname;
  out->node = host;
  if (!host.empty() && !IsExporterPod(host) && host != s.Label("pod")) return;
  const std::string instance = WithoutPort(First(s, {"instance", "exported_instance"}));
  out->node_told = NodeTold::kExporterPod;
  if (instance.empty() && !host.empty()) return;
  out->node = instance;
  out->node_told = instance.empty() ? NodeTold::kNot : NodeTold::kInstance;
}

}  // namespace

CardLabels ReadCardLabels(const SeriesName& s) {
  CardLabels out;
  const std::string gpu = First(s, {"gpu"});
  out.gpu = gpu;
  out.name = First(s, {"modelname", "model_name", "gpu_name", "name", "model"});
  if (!IsNumber(gpu)) {  // all-smi's "gpu" is the model
    out.gpu = First(s, {"index", "gpu_index", "minor_number", "gpu_id"});
    if (out.name.empty()) out.name = gpu;
    const std::string device = First(s, {"device"});
    if (out.gpu.empty() && StartsWith(device, "nvidia") && IsNumber(device.substr(6))) out.gpu = device.substr(6);
  }
  out.uuid = WithPrefix(First(s, {"uuid", "gpu_uuid"}));
  out.driver = First(s, {"dcgm_fi_driver_version", "driver_version"});
  out.profile = First(s, {"gpu_i_profile"});
  const std::optional<int64_t> instance = ParseInt(s.Label("gpu_i_id"));
  if (instance && *instance >= 0 && *instance < 64) out.instance = static_cast<int>(*instance);
  TellNode(s, &out);
  out.workload = First(s, {"exported_pod", "pod", "pod_name", "hpc_job"});
  if (IsExporterPod(out.workload)) out.workload.clear();  // the target's own pod
  return out;
}

std::optional<double> InstanceShare(std::string_view profile, std::string_view model) {
  // "1c.3g.40gb": one compute slice of an instance of three.
  const size_t g = profile.find_first_not_of("0123456789");
  if (g == std::string_view::npos || g == 0 || (profile[g] != 'g' && profile[g] != 'c')) return std::nullopt;
  const std::optional<int64_t> slices = ParseInt(profile.substr(0, g));
  const int whole = model.find("A30") != std::string_view::npos ? 4 : 7;
  if (!slices || *slices < 1 || *slices > whole) return std::nullopt;
  return static_cast<double>(*slices) / whole;
}

std::string InstanceLabel(std::string_view gpu, int instance) { return fmt::format("{}.{}.0", gpu, instance); }

std::string InstanceUuid(std::string_view card_uuid, int instance) {
  return card_uuid.empty() ? "" : fmt::format("MIG-{}/{}/0", card_uuid, instance);
}

bool IsMaskedUuid(std::string_view uuid) {
  return uuid.size() >= 12 && uuid.find_first_not_of("GPUMIGgpu-0") == std::string_view::npos;
}

}  // namespace sawbill::prom
