// SPDX-License-Identifier: Apache-2.0
#include "ingest/prom_cards.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace sawbill::ingest {
namespace {
using model::CardInfo;
using prom::CardLabels;
using prom::Fact;
using prom::NodeTold;

/// All that is said of one card.
struct Group {
  std::vector<size_t> owners;
  CardLabels labels;
  NodeTold node_told = NodeTold::kNot;
};

bool HasUuid(const CardLabels& l) { return !l.uuid.empty() && !prom::IsMaskedUuid(l.uuid); }

std::string Key(const CardLabels& l) {
  const std::string instance = l.instance ? std::to_string(*l.instance) : "-";
  if (HasUuid(l)) return "u/" + l.uuid + "/" + instance;
  return "n/" + l.node + "/" + l.uuid + "/" + l.gpu + "/" + instance;
}

void Take(const CardLabels& from, CardLabels* to) {
  for (std::string CardLabels::* fact :
       {&CardLabels::gpu, &CardLabels::uuid, &CardLabels::name, &CardLabels::driver, &CardLabels::profile}) {
    if ((to->*fact).empty()) to->*fact = from.*fact;
  }
}

std::string IndexOf(const PromOwner& o) {
  const double index = o.facts[static_cast<size_t>(Fact::kIndex)];
  return index >= 0 && index < 1e5 ? std::to_string(static_cast<int>(index)) : "";
}

void Join(size_t owner, const PromOwner& o, Group* g) {
  g->owners.push_back(owner);
  CardLabels l = o.labels;
  if (l.gpu.empty()) l.gpu = IndexOf(o);
  Take(l, &g->labels);
  g->labels.instance = l.instance;
  if (l.node_told > g->node_told) {  // of equally good ones the first stands
    g->labels.node = l.node;
    g->node_told = l.node_told;
  }
}

/// A series that gives less than others ("gpu 0" without uuid, or a masked uuid without a number) is of the one card
/// that it can mean.
void MergeVague(std::vector<Group>* groups) {
  const auto same = [](const std::string& a, const std::string& b) { return a.empty() || b.empty() || a == b; };
  for (size_t i = 0; i < groups->size(); ++i) {
    const CardLabels& vague = (*groups)[i].labels;
    if (HasUuid(vague)) continue;
    size_t found = groups->size(), n = 0;
    for (size_t k = 0; k < groups->size(); ++k) {
      const CardLabels& other = (*groups)[k].labels;
      const bool vaguer = (vague.node.empty() && !other.node.empty()) || (vague.gpu.empty() && !other.gpu.empty()) ||
                          (vague.uuid.empty() && !other.uuid.empty());
      if (k == i || !vaguer || vague.instance != other.instance) continue;
      const bool names =
          (!vague.gpu.empty() && vague.gpu == other.gpu) || (!vague.uuid.empty() && vague.uuid == other.uuid);
      if (!names || !same(vague.node, other.node) || !same(vague.gpu, other.gpu) || !same(vague.uuid, other.uuid))
        continue;
      found = k;
      ++n;
    }
    if (n != 1) continue;
    Group& to = (*groups)[found];
    const Group from = (*groups)[i];
    to.owners.insert(to.owners.end(), from.owners.begin(), from.owners.end());
    Take(from.labels, &to.labels);
    if (from.node_told > to.node_told) {
      to.labels.node = from.labels.node;
      to.node_told = from.node_told;
    }
    groups->erase(groups->begin() + static_cast<std::ptrdiff_t>(i));
    --i;
  }
}

std::optional<double> Known(double v) { return v > 0 && v < 1e9 ? std::optional<double>(v) : std::nullopt; }

void TakeFacts(const std::vector<PromOwner>& owners, const Group& g, CardInfo* card) {
  std::array<double, prom::kFacts> facts;
  facts.fill(kMissing);
  double used = kMissing;
  for (const size_t i : g.owners) {
    for (size_t f = 0; f < facts.size(); ++f) {
      if (IsMissing(facts[f])) facts[f] = owners[i].facts[f];
    }
    if (IsMissing(used)) used = owners[i].used_mb;
  }
  const auto fact = [&](Fact f) { return facts[static_cast<size_t>(f)]; };
  card->memory_total_mb = Known(fact(Fact::kMemoryTotalMb));
  const double reserved = fact(Fact::kMemoryReservedMb);
  if (!card->memory_total_mb)
    card->memory_total_mb = Known(used + fact(Fact::kMemoryFreeMb) + (IsPresent(reserved) ? reserved : 0));
  card->power_limit_w = Known(fact(Fact::kPowerLimitW));
  card->sm_clock_max_mhz = Known(fact(Fact::kSmClockMaxMhz));
}

CardInfo CardOf(const std::vector<PromOwner>& owners, const Group& g) {
  const CardLabels& l = g.labels;
  CardInfo card;
  card.node = l.node;
  card.gpu = l.gpu;
  card.uuid = HasUuid(l) ? l.uuid : "";
  card.name = l.name;
  card.driver = l.driver;
  TakeFacts(owners, g, &card);
  if (!l.instance) return card;
  card.gpu = prom::InstanceLabel(l.gpu, *l.instance);
  card.parent_uuid = card.uuid;
  card.uuid = prom::InstanceUuid(card.uuid, *l.instance);
  card.share = prom::InstanceShare(l.profile, l.name);
  card.power_limit_w.reset();  // the whole card's
  if (!l.profile.empty()) card.name += " MIG " + l.profile;
  return card;
}

/// Cards that nothing numbers get the numbers that are free, in the order in which the file names them.
void NumberCards(std::vector<Group>* groups) {
  std::set<std::pair<std::string, std::string>> taken;
  for (const Group& g : *groups) taken.emplace(g.labels.node, g.labels.gpu);
  std::map<std::string, int> next;
  for (Group& g : *groups) {
    if (!g.labels.gpu.empty()) continue;
    int& n = next[g.labels.node];
    while (!taken.emplace(g.labels.node, std::to_string(n)).second) ++n;
    g.labels.gpu = std::to_string(n);
  }
}

}  // namespace

PromCards ResolveCards(std::vector<PromOwner>* owners, const std::vector<bool>& is_card) {
  std::vector<Group> groups;
  std::map<std::string, size_t> known;
  PromCards out;
  for (size_t i = 0; i < owners->size(); ++i) {
    if (!is_card[i]) continue;
    const CardLabels& labels = (*owners)[i].labels;
    const auto [at, fresh] = known.try_emplace(Key(labels), groups.size());
    if (fresh) groups.emplace_back();
    Join(i, (*owners)[i], &groups[at->second]);
    out.masked = out.masked || (!labels.uuid.empty() && !HasUuid(labels));
  }
  if (groups.size() <= 4096) MergeVague(&groups);
  NumberCards(&groups);
  for (const Group& g : groups) {
    for (const size_t i : g.owners) (*owners)[i].card = static_cast<int>(out.cards.size());
    out.cards.push_back(CardOf(*owners, g));
    if (g.node_told == NodeTold::kExporterPod && out.exporter_pod.empty()) out.exporter_pod = g.labels.node;
  }
  std::set<std::array<std::string, 3>> divided;
  const auto whole = [](const CardLabels& l) { return std::array<std::string, 3>{l.node, l.gpu, l.uuid}; };
  for (const Group& g : groups) {
    if (g.labels.instance) divided.insert(whole(g.labels));
  }
  for (const Group& g : groups) out.parents.push_back(!g.labels.instance && divided.count(whole(g.labels)) > 0);
  return out;
}

}  // namespace sawbill::ingest
