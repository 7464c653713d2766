// SPDX-License-Identifier: Apache-2.0
// The cards of one node while a piece is read: rows go to tracks by identity (node, uuid), whatever index the card had.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/recording.h"
#include "store/inventory.h"
#include "store/metric_table.h"
#include "store/text_tables.h"

namespace sawbill::store {

/// By node, then by index: 0, 1, 2, 2.1.0, 10.
bool CardBefore(const model::CardInfo& a, const model::CardInfo& b);

class CardSet : public TrackFinder, public CardFinder {
 public:
  CardSet(const Inventory* inventory, std::string node, size_t expected_rows, model::DataQuality* quality)
      : inventory_(inventory), node_(std::move(node)), expected_rows_(expected_rows), quality_(quality) {}

  TrackColumns* Find(std::string_view gpu, TimeMs t, TimeMs* valid_from, TimeMs* valid_to) override;
  int32_t FindCard(std::string_view gpu, TimeMs t) override;

  /// Some card has samples in the window but none before it.
  bool LacksBefore() const;
  /// Takes from `earlier` what this lacks before the window.
  void TakeBefore(const CardSet& earlier);
  /// Appends the rows of `later`, card by card.
  void Join(CardSet* later, int threads);
  /// Moves the cards that have samples in the window to the end of `out`, in the order of CardBefore; one whose rows
  /// are all empty (Jetson, some virtual cards: present, and every reading "not supported") as a track without samples.
  void Finish(model::Recording* out);

 private:
  struct Card {
    model::CardInfo info;
    std::unique_ptr<TrackColumns> track;
    int32_t index = -1;  // in Recording::gpus
  };
  /// What an index meant in [from, to).
  struct Found {
    std::string gpu;
    TimeMs from, to;
    int32_t index;
  };
  const Inventory* inventory_;
  std::string node_;
  size_t expected_rows_;
  model::DataQuality* quality_;
  std::map<std::string, Card> cards_;  // by CardInfo::key()
  std::vector<Found> found_;
  size_t next_found_ = 0;  // rows of processes come in the same order each tick
};

}  // namespace sawbill::store
