// SPDX-License-Identifier: Apache-2.0
// Cells of a row that are fixed-decimal numbers of at most 8 characters (number_scan.h), four at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/number_scan.h"

namespace sawbill::store {

/// A column of readings in one row after the other.
struct CellColumn {
  uint32_t index = 0;  // of the cell in the row
  uint8_t metric = 0;
  float min = 0, max = 0;
  FixedFormat format;  // as our writer has it
  bool kept = true;    // false: it must be a number in its range, and goes nowhere
};

class CellGroups {
 public:
  /// REQUIRES: at most 64 columns, by index, in rows of `cells` cells.
  void Set(const std::vector<CellColumn>& columns, size_t cells);

  struct Row {
    const uint32_t* ends;  // offsets of the ends of its cells from `base`; the one before the first is there, too
    const char* base;      // 16 bytes before the row are readable
    float* const* columns;
    size_t row;
  };
  /// Writes columns[metric][row] of all cells that are numbers in their column's format and range. Returns those that
  /// it left alone, as bits in the order of Set(): all of them where the processor has no fitting instructions.
  uint64_t Read(const Row& row) const;

 private:
  static constexpr size_t kLanes = 4;
  /// Four cells side by side in the row, and what they need side by side. Lanes of other cells are not used.
  struct Group {
    alignas(32) std::array<uint64_t, kLanes> dot_mask{}, dot{}, below{}, above{}, fill{};
    alignas(32) std::array<double, kLanes> scale{};
    alignas(16) std::array<float, kLanes> min{}, max{};
    std::array<uint64_t, kLanes> bit{};  // what Read() returns for it
    std::array<uint8_t, kLanes> metric{};
    uint32_t index = 0;           // of the first cell
    unsigned used = 0, kept = 0;  // lanes, as bits
  };
  void AddTo(Group* group, const CellColumn& column, uint64_t bit);
  uint64_t ReadAvx2(const Row& row) const;

  std::vector<Group> groups_;
  uint64_t all_ = 0, in_no_group_ = 0;
};

}  // namespace sawbill::store
