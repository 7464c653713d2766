// SPDX-License-Identifier: Apache-2.0
#include "gpu/dcgm_page.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "gpu/nvml_calls.h"
#include "prom/exposition.h"
#include "prom/labels.h"
#include "prom/series_table.h"

namespace sawbill::gpu {
namespace {

using model::GpuMetric;

double DcgmCard::* PlaceOf(prom::Fact fact) {
  switch (fact) {
    case prom::Fact::kMemoryFreeMb:
      return &DcgmCard::memory_free_mb;
    case prom::Fact::kMemoryTotalMb:
      return &DcgmCard::memory_total_mb;
    case prom::Fact::kMemoryReservedMb:
      return &DcgmCard::memory_reserved_mb;
    case prom::Fact::kPowerLimitW:
      return &DcgmCard::power_limit_w;
    case prom::Fact::kXid:
      return &DcgmCard::xid;
    case prom::Fact::kUncorrected:
      return &DcgmCard::uncorrected;
    default:
      return nullptr;
  }
}

void Identify(const prom::CardLabels& labels, DcgmCard* card) {
  const auto take = [](const std::string& text, std::string* to) {
    if (to->empty()) *to = text;
  };
  take(labels.gpu, &card->gpu);
  take(labels.uuid, &card->uuid);
  take(labels.name, &card->name);
  take(labels.driver, &card->driver);
  take(labels.profile, &card->profile);
  card->instance = labels.instance;
}

void Apply(const prom::Meaning& meaning, double value, DcgmCard* card, model::GpuValues* second) {
  if (meaning.target == prom::Target::kFact) {
    if (const auto place = PlaceOf(static_cast<prom::Fact>(meaning.what))) card->*place = value * meaning.factor;
    return;
  }
  if (meaning.target != prom::Target::kCard || (meaning.whole_card && card->instance)) return;
  const auto metric = static_cast<GpuMetric>(meaning.what);
  if (metric == GpuMetric::kThrottle) value = prom::ThrottleOf(value);
  // Each value by itself: one that cannot be true never costs its neighbours.
  const double sound = Sound(metric, value * meaning.factor).value_or(kMissing);
  (meaning.second ? *second : card->values)[static_cast<size_t>(metric)] = sound;
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

DcgmPage ParseDcgmPage(std::string_view text) {
  std::map<std::string, std::pair<DcgmCard, model::GpuValues>> cards;
  DcgmPage page;
  page.fingerprint = 14695981039346656037ULL;
  prom::PromLine split;
  prom::SeriesName series;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const prom::LineKind kind = prom::SplitPromLine(line, &split);
    if (kind != prom::LineKind::kSample && kind != prom::LineKind::kBadValue) continue;
    if (!StartsWith(split.series, "DCGM_FI_") || !prom::ParseSeries(split.series, &series)) continue;
    page.fingerprint = Mix(page.fingerprint, line);
    DcgmCard probe;
    const prom::CardLabels labels = prom::ReadCardLabels(series);
    Identify(labels, &probe);
    if (!labels.names_card()) continue;  // of a switch, or of the host
    auto [it, fresh] = cards.try_emplace(probe.key());
    auto& [card, second] = it->second;
    if (fresh) second.fill(kMissing);
    Identify(labels, &card);
    const prom::Meaning* meaning = prom::FindSeries(series.name);
    if (meaning == nullptr || kind == prom::LineKind::kBadValue || prom::IsDcgmBlank(split.value)) continue;
    Apply(*meaning, split.value, &card, &second);
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
