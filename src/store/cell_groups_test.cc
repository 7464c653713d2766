// SPDX-License-Identifier: Apache-2.0
#include "store/cell_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>

#include "store/cell_ends.h"

namespace sawbill::store {
namespace {

/// Digits with a point somewhere, or what is no number in the column's format: empty, long, with letters or signs.
std::string RandomCell(std::mt19937* random, int decimals) {
  const auto below = [&](unsigned n) { return (*random)() % n; };
  const std::string_view others = "-+e,.x\" :/";
  std::string cell;
  for (size_t n = below(10); n > 0; --n) cell += static_cast<char>('0' + below(10));
  if (decimals > 0 && below(4) != 0) {
    cell += '.';
    for (int i = 0; i < decimals; ++i) cell += static_cast<char>('0' + below(10));
  }
  char other = others[below(static_cast<unsigned>(others.size()))];
  if (other == ',') other = '\x7f';  // would end the cell
  if (below(8) == 0) cell.insert(below(static_cast<unsigned>(cell.size()) + 1), 1, other);
  return cell;
}

bool FourAtATime() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

TEST(CellGroups, CellsAreReadAsOneByOne) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const size_t cells = 1 + random() % 22;
    std::vector<CellColumn> columns;
    std::string text(16, ' ');
    text += '\n';
    const size_t row = text.size();
    for (size_t i = 0; i < cells; ++i) {
      const int decimals = static_cast<int>(random() % 7);
      if (random() % 4 != 0) {
        columns.push_back({static_cast<uint32_t>(i), static_cast<uint8_t>(columns.size()), 0,
                           random() % 2 == 0 ? 100.0F : 1e8F, FixedFormat(decimals), random() % 8 != 0});
      }
      text += RandomCell(&random, decimals) + (i + 1 < cells ? "," : "\n");
    }
    std::vector<uint32_t> ends(text.size() + kEndsSlack), lines(ends.size());
    FindEnds(text, ends.data(), lines.data());
    const uint32_t* const first = ends.data() + 1;  // behind the end of the blank line
    ASSERT_EQ(first[-1] + 1, row);

    std::vector<float> expected(columns.size(), -1), values(columns.size(), -1);
    std::vector<float*> out;
    for (float& v : values) out.push_back(random() % 16 == 0 ? nullptr : &v);
    uint64_t left = 0;
    for (size_t k = 0; k < columns.size(); ++k) {
      const CellColumn& c = columns[k];
      const uint32_t end = first[c.index], length = end - (first + c.index)[-1] - 1;
      float v = 0;
      const bool good = length >= 1 && length <= 8 && ScanInFormat(text.data() + end, length, c.format, &v) &&
                        v >= c.min && v <= c.max && (out[k] != nullptr || !c.kept);
      if (!good) left |= uint64_t{1} << k;
      if (good && c.kept) expected[k] = v;
    }
    CellGroups groups;
    groups.Set(columns, cells);
    const uint64_t got = groups.Read({first, text.data(), out.data(), 0});
    if (!FourAtATime() || cells < 4) {  // all are left
      EXPECT_EQ(std::popcount(got), static_cast<int>(columns.size()));
      continue;
    }
    EXPECT_EQ(got, left) << text.substr(row);
    EXPECT_EQ(values, expected) << text.substr(row);
  }
}

TEST(ScanWide, IsTheDigitsDividedByThePowerOfTen) {
  const FixedFormat tenths(1);
  const auto scan = [&](const std::string& cell, double* v) {
    const std::string text = std::string(16, '9') + cell;
    return ScanWide(text.data() + text.size(), cell.size(), tenths, v);
  };
  for (const std::string cell : {"299907165.9", "1000000.3", "9999999999999.9", "12345678901234.5"}) {
    double fast = 0, slow = 0;
    ASSERT_TRUE(scan(cell, &fast)) << cell;
    ASSERT_TRUE(ScanLong(cell.data(), cell.data() + cell.size(), &slow));
    EXPECT_EQ(fast, slow) << cell;
  }
  double v = 0;
  for (const std::string cell :
       {"12345678", "299907165", "29990716.59", "2999O7165.9", "-99907165.9", "123456789012345.6"})
    EXPECT_FALSE(scan(cell, &v)) << cell;
}

}  // namespace
}  // namespace sawbill::store
