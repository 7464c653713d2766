// SPDX-License-Identifier: Apache-2.0
// Columns of a file without headings, from units in cells, ranges of values and the order in which the common commands
// print fields. What cannot be told is left out and said so; nothing is guessed in silence.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/messages.h"
#include "ingest/table.h"

namespace sawbill::ingest {

/// A line with more than one cell, one of the first of which is a time.
bool LooksLikeRow(std::string_view line);

/// Nothing where no column holds a time, or none a reading that can be told.
std::optional<Layout> InferLayout(const std::vector<std::string_view>& lines, Lang lang);

}  // namespace sawbill::ingest
