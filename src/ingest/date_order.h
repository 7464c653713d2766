// SPDX-License-Identifier: Apache-2.0
// Whether 02/12/2026 is in December or in February, as far as the file that holds it proves it.
#pragma once

#include <string>
#include <string_view>

#include "ingest/date_words.h"

namespace sawbill::ingest {

struct DatesTold {
  DateOrder order = DateOrder::kUntold;
  std::string first;   // the first such date
  std::string sample;  // the date that proves the order
  std::string number;  // its number above 12; "" = the change of day before it proves it
};

/// Looks through `bytes` (packed or not) when their beginning, `sample`, holds such dates. kUntold where nothing proves
/// an order, and where proofs contradict one another.
DatesTold FindDateOrder(std::string_view sample, std::string_view bytes);

}  // namespace sawbill::ingest
