// SPDX-License-Identifier: Apache-2.0
// Which card and which node a series is about. Labels changed their case between releases (UUID and uuid, Hostname and
// hostname) and differ between exporters; the host label is sometimes the exporter's own pod, which changes with every
// rollout while the card stays.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "prom/exposition.h"

namespace sawbill::prom {

/// How well a label tells the node; the best one counts.
enum class NodeTold { kNot, kExporterPod, kInstance, kHostname, kNode };

struct CardLabels {
  std::string gpu, uuid, name, driver, profile;  // "" = not told; `gpu` is the card's number
  std::optional<int> instance;                   // GPU_I_ID: a MIG instance of that card
  std::string node;
  NodeTold node_told = NodeTold::kNot;
  std::string workload;  // pod or job that the exporter says holds the card; "" = none
  bool names_card() const { return !gpu.empty() || !uuid.empty(); }
};
CardLabels ReadCardLabels(const SeriesName& series);

/// "3g.40gb" of an H100: 3/7. Compute slices over those of a whole card: 7, and 4 on A30.
std::optional<double> InstanceShare(std::string_view profile, std::string_view model);
/// Pages have the GPU instance, not the compute instance, which is 0 unless somebody divided it further; and the uuid
/// of the whole card, from which NVIDIA's older name of an instance is made.
std::string InstanceLabel(std::string_view gpu, int instance);
std::string InstanceUuid(std::string_view card_uuid, int instance);

/// A uuid that was made unreadable before it was published: nothing but zeros behind its prefix.
bool IsMaskedUuid(std::string_view uuid);

}  // namespace sawbill::prom
