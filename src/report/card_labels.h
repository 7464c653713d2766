// SPDX-License-Identifier: Apache-2.0
// How cards are called where people must tell them apart: by index, with the node where there are several, and with a
// part of the uuid where one index meant two cards (a card lost and the others counted anew).
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace sawbill::report {

class CardLabels {
 public:
  explicit CardLabels(const std::vector<model::CardInfo>& cards);
  /// "0", "node-a/0", "1 (GPU-5a3b1111)".
  std::string Label(size_t card) const;
  /// "GPU-5a3b1111" where the index alone does not tell the card, else "".
  const std::string& Tag(size_t card) const { return tags_[card]; }

 private:
  std::vector<model::CardInfo> cards_;
  std::vector<std::string> tags_;
  bool several_nodes_ = false;
};

}  // namespace sawbill::report
