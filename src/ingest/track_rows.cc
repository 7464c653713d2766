// SPDX-License-Identifier: Apache-2.0
#include "ingest/track_rows.h"

#include <cmath>

namespace sawbill::ingest {

void MarkRowsWithReading(const model::GpuTrack& track, std::vector<char>* keep) {
  const auto look = [&](const auto& column) {
    for (size_t i = 0; i < column.size(); ++i) (*keep)[i] = (*keep)[i] != 0 || !std::isnan(column[i]) ? 1 : 0;
  };
  for (const auto& c : track.columns) look(c);
  look(track.energy_j);
}

void KeepRows(const std::vector<char>& keep, model::GpuTrack* track) {
  const auto cut = [&](auto* column) {
    if (column->empty()) return;
    size_t kept = 0;
    for (size_t i = 0; i < keep.size(); ++i) {
      if (keep[i] != 0) (*column)[kept++] = (*column)[i];
    }
    column->resize(kept);
  };
  for (auto& c : track->columns) cut(&c);
  cut(&track->energy_j);
  cut(&track->t_ms);
}

}  // namespace sawbill::ingest
