// SPDX-License-Identifier: Apache-2.0
// Which series are one card. A uuid is one card wherever it turns up: an exporter's pod gets another name with each
// rollout, and Prometheus another `instance`. Without one it is the node and the number; never the number alone.
#pragma once

#include <string>
#include <vector>

#include "ingest/prom_series.h"

namespace sawbill::ingest {

struct PromCards {
  std::vector<model::CardInfo> cards;
  std::vector<bool> parents;  // cards of which MIG instances are there
  std::string exporter_pod;   // stood where a node should, "" = nowhere
  bool masked = false;        // some uuids are all zeros
};

/// Sets PromOwner::card. Owners whose `is_card` is false are hosts.
PromCards ResolveCards(std::vector<PromOwner>* owners, const std::vector<bool>& is_card);

}  // namespace sawbill::ingest
