// SPDX-License-Identifier: Apache-2.0
// Files that are full of what is no row. A reader must pass such lines about as quickly as rows: what is counted here
// is not time but the work that costs it, allocations, which was dozens a line.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "ingest/fields.h"
#include "ingest/test_util.h"

namespace {
std::atomic<int64_t> allocations{0};
}  // namespace

// Not inlined: g++ would see new that is freed by free, and take it for a mistake.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* p = std::malloc(size > 0 ? size : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {  // std::stable_sort asks so
  ++allocations;
  return std::malloc(size > 0 ? size : 1);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace sawbill::ingest {
namespace {
using model::Odd;

constexpr int kLines = 20'000;
constexpr int kRows = 1200;  // more than is looked at to find the columns

int64_t AllocationsOf(const std::string& text, Odd odd, int64_t count) {
  const int64_t before = allocations;
  const model::Recording r = ReadText(text);
  const int64_t after = allocations;
  EXPECT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(Odds(r, odd), count);
  return after - before;
}

/// Allocations that each of `line` costs more than a row does, behind a sound table.
double PerLine(const std::string& line, Odd odd) {
  std::string text = "timestamp, index, utilization.gpu [%], memory.used [MiB]\n";
  for (int i = 0; i < kRows; ++i) text += fmt::format("{}, 0, 5 %, 100 MiB\n", 1767225600 + i);
  std::string once = text, twice = text;
  for (int i = 0; i < kLines; ++i) once += line;
  for (int i = 0; i < 2 * kLines; ++i) twice += line;
  return static_cast<double>(AllocationsOf(twice, odd, 2 * kLines) - AllocationsOf(once, odd, kLines)) / kLines;
}

TEST(UnreadableTest, TextBetweenRowsCostsNoWorkOfItsOwn) {
  EXPECT_LT(PerLine("step 17 loss 0.53 some output of a training run, and more of it\n", Odd::kForeignText), 0.1);
}
TEST(UnreadableTest, RowsWithoutATimeCostNoWorkOfTheirOwn) {
  EXPECT_LT(PerLine("2026/13/92 03:04:05.000, 0, 5 %, 100 MiB\n", Odd::kBadRow), 0.1);
}
TEST(UnreadableTest, RowsOfAnotherWidthCostNoWorkOfTheirOwn) {
  EXPECT_LT(PerLine("1767229200, 0, 5 %\n", Odd::kMissingCells), 0.1);
}

TEST(UnreadableTest, EveryNameOfATimeMayBeOne) {
  for (const std::string name : {"timestamp", "Time", " \"Date Time\"", "_ts", "\tEpoch", "unix_time", "DATE"}) {
    EXPECT_EQ(ReadHeading(name, model::Scope::kGpu).field.target, Target::kTime) << name;
    EXPECT_TRUE(MayNameTime(name)) << name;
  }
  EXPECT_FALSE(MayNameTime("2026/01/02 03:04:05"));
  EXPECT_FALSE(MayNameTime("98 %"));
}

}  // namespace
}  // namespace sawbill::ingest
