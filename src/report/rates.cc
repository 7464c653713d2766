// SPDX-License-Identifier: Apache-2.0
#include "report/rates.h"

#include <algorithm>
#include <limits>

namespace sawbill::report {
namespace {

using analysis::AccountKey;

constexpr TimeMs kDayMs = 86'400'000;

bool Prepaid(const money::Price& p) { return p.contract == "reserved" || p.contract == "own"; }

/// The price was given to this very instance, not to the card that it is a part of.
bool NamesInstance(const money::Price& p) {
  return p.selector_kind == "uuid" || p.selector_kind == "gpu" || p.selector_kind == "model";
}

model::TimeRange Both(model::TimeRange a, model::TimeRange b) {
  return {std::max(a.from, b.from), std::min(a.to, b.to)};
}

}  // namespace

model::CardInfo Rates::Parent(size_t card) const {
  const model::CardInfo& instance = a_.cards[card].card;
  for (const auto& c : a_.cards) {
    if (analysis::IsParentOf(c.card, instance)) return c.card;
  }
  // The card itself was not recorded: what its instance says of it.
  model::CardInfo parent;
  parent.node = instance.node;
  parent.gpu = instance.gpu.substr(0, instance.gpu.find('.'));
  parent.uuid = instance.parent_uuid;
  parent.name = instance.name.substr(0, instance.name.find(" MIG "));
  parent.label = instance.label;
  return parent;
}

bool Rates::LacksShare(size_t card) const {
  const model::CardInfo& c = a_.cards[card].card;
  if (!analysis::IsInstance(c) || c.share || prices_ == nullptr) return false;
  const auto of_card = prices_->Lookup(Parent(card), "", a_.period);
  return std::any_of(of_card.begin(), of_card.end(), [](const auto& i) { return i.price != nullptr; });
}

std::vector<Rates::Span> Rates::Spans(size_t card, const std::string& job, model::TimeRange range) const {
  std::vector<Span> out;
  if (prices_ == nullptr) return out;
  const model::CardInfo& c = a_.cards[card].card;
  if (!analysis::IsInstance(c)) {
    for (const auto& i : prices_->Lookup(c, job, range)) {
      out.push_back({i.range, std::nullopt, i.price});
      if (i.price != nullptr) out.back().rate = Rate{i.price->per_hour, Prepaid(*i.price)};
    }
    return out;
  }
  const model::CardInfo parent = Parent(card);
  for (const auto& own : prices_->Lookup(c, job, range)) {
    if (own.price != nullptr && NamesInstance(*own.price)) {
      out.push_back({own.range, Rate{own.price->per_hour, Prepaid(*own.price)}, own.price});
      continue;
    }
    for (const auto& i : prices_->Lookup(parent, job, own.range)) {
      out.push_back({i.range, std::nullopt, i.price});
      if (i.price != nullptr && c.share) out.back().rate = Rate{i.price->per_hour * *c.share, Prepaid(*i.price)};
    }
  }
  return out;
}

const std::optional<Rate>& Rates::Of(const AccountKey& key) {
  const auto [it, fresh] = cache_.try_emplace(key);
  if (fresh) it->second = Compute(key);
  return it->second;
}

std::optional<Rate> Rates::Compute(const AccountKey& key) const {
  const TimeMs midnight = static_cast<TimeMs>(key.day) * kDayMs;
  const TimeMs local_from = midnight - 1000LL * tz_.OffsetSeconds(midnight);
  model::TimeRange where{local_from, local_from + kDayMs};
  const auto span = static_cast<size_t>(key.span);
  if (span > 0) where.from = std::max(where.from, a_.cuts[span - 1]);
  if (span < a_.cuts.size()) where.to = std::min(where.to, a_.cuts[span]);
  std::string job;
  if (key.run >= 0) {
    const auto& run = a_.runs[static_cast<size_t>(key.run)];
    job = run.job;
    if (const auto narrow = Both(where, run.range); !narrow.empty()) where = narrow;
  }
  if (const auto narrow = Both(where, a_.period); !narrow.empty()) where = narrow;
  // The day of a clock change is an hour longer or shorter than the stretch that was assumed for it.
  if (where.empty()) where.to = where.from + 1;
  Rate mean;
  double seconds = 0;
  for (const Span& s : Spans(key.card, job, where)) {
    if (!s.rate) return std::nullopt;
    mean.per_hour += s.rate->per_hour * s.range.seconds();
    mean.prepaid = s.rate->prepaid;
    seconds += s.range.seconds();
  }
  if (seconds <= 0) return std::nullopt;
  mean.per_hour /= seconds;
  return mean;
}

}  // namespace sawbill::report
