// SPDX-License-Identifier: Apache-2.0
// The same runs as a plainer tool would have recorded them: fewer columns, no host, no processes, samples far apart.
// What cannot be told from such a record must not be said.
#pragma once

#include <string>
#include <vector>

#include "bench/diagnosis/answer.h"
#include "simulator/scenarios.h"
#include "simulator/write.h"

namespace sawbill::bench {

struct PoorerRecord {
  std::string name;
  int every_s = 1;  // one sample in so many seconds
  bool host = true, processes = true;
  std::vector<std::string> columns;  // of the cards, besides time and card; all where empty
};

/// From all but the host to one bare sample a minute.
const std::vector<PoorerRecord>& PoorerRecords();
/// `files` as the simulator renders them without packing.
std::vector<simulator::OutFile> MakePoorer(std::vector<simulator::OutFile> files, const PoorerRecord& record);

/// What a poorer record makes of one run.
struct PoorerScore {
  int expected = 0, named = 0;
  int on_healthy = 0;   // findings on a run that has none
  int wrong_cause = 0;  // a cause that is not the run's
  int promised = 0;     // a saving for a finding without a cause that the run does not have
  std::string wrong;    // what these were
};
PoorerScore ScorePoorer(const simulator::Simulation& truth, const Answer& answer);

}  // namespace sawbill::bench
