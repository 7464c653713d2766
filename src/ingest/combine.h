// SPDX-License-Identifier: Apache-2.0
// Several files that are one recording: logs of each card, a log that was rotated, a GPU log and a host log.
#pragma once

#include <string>
#include <vector>

#include "base/messages.h"
#include "model/recording.h"

namespace sawbill::ingest {

struct Combined {
  std::vector<model::Recording> recordings;
  std::vector<std::vector<size_t>> parts;  // of each recording: the inputs in it, ascending
  std::vector<std::string> notes;          // why inputs that look alike were kept apart, ready to print
};

/// Which inputs belong together, by what is in them (essay in combine.cc), each such group made into one recording.
/// Order: of the first input of each group. `names` are the inputs' names for people.
Combined Combine(std::vector<model::Recording> inputs, const std::vector<std::string>& names, Lang lang);

/// A log that was appended to days apart is several recordings; samples with wrong times are left out, and that is
/// noted. One recording in most cases.
std::vector<model::Recording> SplitAtLongHoles(model::Recording recording, Lang lang);

}  // namespace sawbill::ingest
