// SPDX-License-Identifier: Apache-2.0
// Tables of scripts in which each column belongs to one card: "timestamp,gpu0_util,gpu1_util,gpu0_mem_used", "util_0",
// "GPU 0 utilization". They are rewritten as tables with a row for each card, which the reader of tables knows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/fields.h"
#include "ingest/format.h"

namespace sawbill::ingest {

/// "gpu0_mem_used_mb" = card 0, "mem_used_mb".
struct CardHeading {
  int card = 0;
  bool named = false;  // "gpu" stands beside the number: it can mean nothing else
  std::string rest;    // the heading without the card
};
/// Nothing where no number stands in it, or what is left is no reading that is known.
std::optional<CardHeading> ReadCardHeading(std::string_view cell);

struct WideTable {
  std::string text;
  std::string first, last;  // headings of the first and the last column that names its card
  size_t cards = 0;
  std::vector<std::string> left_out;  // headings without a card
  model::DataQuality quality;         // rows that could not be taken apart
};

/// Nothing where the table that `sample` (the beginning of `bytes`, unpacked) begins with is none: no time, a column
/// that tells the card, or numbers in headings that need not be cards.
std::optional<WideTable> TakeWideTable(std::string_view sample, std::string_view bytes, const ReadContext& context);

}  // namespace sawbill::ingest
