// SPDX-License-Identifier: Apache-2.0
#include "report/card_labels.h"

#include <algorithm>

namespace sawbill::report {
namespace {

constexpr size_t kShortUuid = 12;  // "GPU-5a3b1111"

/// The beginning of the uuid that no other card of the same index has.
std::string ShortUuid(size_t card, const std::vector<size_t>& same, const std::vector<model::CardInfo>& cards) {
  const std::string& uuid = cards[card].uuid;
  for (size_t n = kShortUuid; n < uuid.size(); ++n) {
    const bool alone = std::none_of(same.begin(), same.end(), [&](size_t k) {
      return k != card && cards[k].uuid.substr(0, n) == uuid.substr(0, n);
    });
    if (alone) return uuid.substr(0, n);
  }
  return uuid;
}

}  // namespace

CardLabels::CardLabels(const std::vector<model::CardInfo>& cards) : cards_(cards), tags_(cards.size()) {
  for (size_t i = 0; i < cards.size(); ++i) {
    several_nodes_ = several_nodes_ || cards[i].node != cards[0].node;
    std::vector<size_t> same;
    for (size_t k = 0; k < cards.size(); ++k) {
      if (cards[k].node == cards[i].node && cards[k].gpu == cards[i].gpu) same.push_back(k);
    }
    if (same.size() > 1) tags_[i] = ShortUuid(i, same, cards);
  }
}

std::string CardLabels::Label(size_t card) const {
  const model::CardInfo& c = cards_[card];
  std::string label = several_nodes_ && !c.node.empty() ? c.node + "/" + c.gpu : c.gpu;
  if (!tags_[card].empty()) label += " (" + tags_[card] + ")";
  return label;
}

}  // namespace sawbill::report
