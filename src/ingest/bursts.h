// SPDX-License-Identifier: Apache-2.0
// Rows that were printed for one sample, told from their times alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace sawbill::ingest {

/// The most cards of one sample that are told by the order of rows.
inline constexpr size_t kMostInferred = 64;

/// Rows of one sample stand together: how many they are and the gap that parts samples. k = 1 where there is no such
/// thing.
struct Bursts {
  size_t k = 1;
  TimeMs threshold_ms = 0;
  double share = 1;  // of rows that stand in bursts of exactly k
};
Bursts FindBursts(const std::vector<TimeMs>& t_ms, size_t known_k = 0);

/// Samples [from, to) of equally many rows, in a file in which that number changes: a card was added, or lost, or the
/// job moved to a machine with more of them.
struct Stretch {
  size_t from = 0, to = 0, k = 1;
};
struct Stretches {
  std::vector<Stretch> list;  // empty where the number does not change
  TimeMs threshold_ms = 0;
  size_t close_rows = 0;  // rows so close behind the one above that one card cannot have been read anew; else 0
};
/// `usual`: what FindBursts() found.
Stretches FindStretches(const std::vector<TimeMs>& t_ms, const Bursts& usual);

/// Puts the rows of each whole burst to cards 0..k-1; returns the number of rows left out.
int64_t ByBursts(const std::vector<TimeMs>& t, const Bursts& b, std::vector<int16_t>* of_row);
/// As ByBursts() where the number of cards changes on the way; rows between the stretches are left out as well.
int64_t ByStretches(const std::vector<TimeMs>& t, const Stretches& s, std::vector<int16_t>* of_row);

}  // namespace sawbill::ingest
