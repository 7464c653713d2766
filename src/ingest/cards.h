// SPDX-License-Identifier: Apache-2.0
// Which card each row is about: from the columns that say so, else from the order of rows within one sample.
#pragma once

#include <string>
#include <vector>

#include "ingest/bursts.h"
#include "ingest/format.h"
#include "ingest/table.h"

namespace sawbill::ingest {

struct Cards {
  std::vector<int16_t> of_row;         // index into `cards`; -1 = left out, counted; empty = every row is cards[0]
  std::vector<model::CardInfo> cards;  // ordered by node and label
  bool inferred = false;
  bool spread = false;      // one card with several rows to a stamp: see SpreadOverStamps()
  bool by_column = false;   // a column told the card of every row
  int64_t uuid_twice = 0;   // cards that bore the uuid of another one, so that it tells neither
  std::string explanation;  // ready to print
};

/// kUnsupported when rows of several cards cannot be told apart.
Status AssignCards(const Table& table, const ReadContext& context, model::DataQuality* quality,
                   std::vector<std::string>* notes, Cards* out);

/// The label in a cell that names a card: "0", "GPU 3" -> "3", "cuda:1" -> "1", "0.2.0"; "" when it is none.
std::string CardLabel(std::string_view cell);

}  // namespace sawbill::ingest
