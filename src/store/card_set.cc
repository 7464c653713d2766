// SPDX-License-Identifier: Apache-2.0
#include "store/card_set.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"

namespace sawbill::store {
namespace {

std::vector<int64_t> IndexParts(const std::string& gpu) {
  std::vector<int64_t> parts;
  for (const std::string_view part : Split(gpu, '.')) parts.push_back(ParseInt(part).value_or(-1));
  return parts;
}

/// The card that `gpu` meant at `t`.
model::CardInfo InfoAt(const Inventory& inventory, const std::string& node, std::string_view gpu, TimeMs t,
                       TimeMs* valid_from, TimeMs* valid_to) {
  if (const model::CardInfo* known = inventory.At(gpu, t, valid_from, valid_to)) return *known;
  model::CardInfo unknown;
  unknown.node = node;
  unknown.gpu = std::string(gpu);
  return unknown;
}

}  // namespace

bool CardBefore(const model::CardInfo& a, const model::CardInfo& b) {
  if (a.node != b.node) return a.node < b.node;
  const std::vector<int64_t> x = IndexParts(a.gpu), y = IndexParts(b.gpu);
  return x != y ? x < y : a.key() < b.key();
}

TrackColumns* CardSet::Find(std::string_view gpu, TimeMs t, TimeMs* valid_from, TimeMs* valid_to) {
  model::CardInfo info = InfoAt(*inventory_, node_, gpu, t, valid_from, valid_to);
  const std::string key = info.key();
  const auto it = cards_.find(key);
  if (it != cards_.end()) return it->second.track.get();
  if (inventory_->At(gpu, t) == nullptr) {
    quality_->Count(model::Odd::kUnknownCard, (node_.empty() ? "gpu " : node_ + " gpu ") + std::string(gpu));
  }
  Card& card = cards_[key];
  card.info = std::move(info);
  card.track = std::make_unique<TrackColumns>(expected_rows_);
  return card.track.get();
}

int32_t CardSet::FindCard(std::string_view gpu, TimeMs t) {
  for (size_t tried = 0; tried < found_.size(); ++tried) {
    if (next_found_ >= found_.size()) next_found_ = 0;
    const Found& f = found_[next_found_];
    if (f.gpu == gpu && t >= f.from && t < f.to) return f.index;  // the next row may be of the same card
    ++next_found_;
  }
  Found f{std::string(gpu), t, t + 1, -1};
  const auto it = cards_.find(InfoAt(*inventory_, node_, gpu, t, &f.from, &f.to).key());
  if (it != cards_.end()) f.index = it->second.index;
  constexpr size_t kMostFound = 64;  // a column of anything else than cards must not be searched row by row
  if (found_.size() < kMostFound) found_.push_back(f);
  return f.index;
}

bool CardSet::LacksBefore() const {
  return std::any_of(cards_.begin(), cards_.end(), [](const auto& entry) {
    return entry.second.track->size() > 0 && !entry.second.track->has_before();
  });
}

void CardSet::TakeBefore(const CardSet& earlier) {
  for (auto& [key, card] : cards_) {
    if (const auto it = earlier.cards_.find(key); it != earlier.cards_.end()) card.track->TakeBefore(*it->second.track);
  }
}

void CardSet::Join(CardSet* later, int threads) {
  std::vector<std::pair<TrackColumns*, TrackColumns*>> both;
  for (auto& [key, card] : later->cards_) {
    Card& mine = cards_[key];
    if (mine.track == nullptr) {
      mine = std::move(card);
    } else {
      both.emplace_back(mine.track.get(), card.track.get());
    }
  }
  const auto step = static_cast<size_t>(std::max(1, threads));
  const auto join = [&](size_t first) {
    for (size_t i = first; i < both.size(); i += step) both[i].first->Join(both[i].second);
  };
  std::vector<std::jthread> others;
  for (size_t i = 1; i < step && i < both.size(); ++i) others.emplace_back(join, i);
  join(0);
}

void CardSet::Finish(model::Recording* out) {
  std::vector<Card*> order;
  for (auto& [key, card] : cards_) {
    if (card.track->size() > 0 || card.track->silent()) order.push_back(&card);
  }
  std::sort(order.begin(), order.end(), [](const Card* a, const Card* b) { return CardBefore(a->info, b->info); });
  for (Card* card : order) {
    card->index = static_cast<int32_t>(out->gpus.size());
    model::GpuTrack& track = out->gpus.emplace_back();
    track.card = card->info;
    card->track->Finish(&track);
  }
}

}  // namespace sawbill::store
