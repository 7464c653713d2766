// SPDX-License-Identifier: Apache-2.0
#include "host/family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sawbill::host {
namespace {

using testing::UnorderedElementsAre;

std::string StatLine(int64_t pid, const std::string& name, char state, int64_t parent, int64_t started) {
  std::string text = std::to_string(pid) + " (" + name + ") " + state + " " + std::to_string(parent);
  for (int field = 5; field <= 21; ++field) text += " 0";
  return text + " " + std::to_string(started) + " 0 0\n";
}

TEST(Family, HoldsGrandchildrenAndNobodyElse) {
  sys::MemProcFiles files;
  files.Put("/proc/10/stat", StatLine(10, "python", 'S', 1, 500));
  files.Put("/proc/11/stat", StatLine(11, "a) R 99 (b", 'R', 10, 510));  // a name that looks like fields
  files.Put("/proc/12/stat", StatLine(12, "worker", 'S', 11, 520));
  files.Put("/proc/13/stat", StatLine(13, "other", 'S', 1, 530));
  files.Put("/proc/self/stat", "x");
  EXPECT_THAT(Family(&files, 10), UnorderedElementsAre(10, 11, 12));
}

TEST(Family, AProcessIsItsNumberAndItsStart) {
  sys::MemProcFiles files;
  EXPECT_FALSE(FindProcess(&files, 10).alive);
  files.Put("/proc/10/stat", StatLine(10, "python", 'S', 1, 500));
  EXPECT_TRUE(FindProcess(&files, 10).alive);
  EXPECT_EQ(FindProcess(&files, 10).started_ticks, 500U);
  files.Put("/proc/10/stat", StatLine(10, "python", 'Z', 1, 500));
  EXPECT_FALSE(FindProcess(&files, 10).alive);
  files.Put("/proc/10/stat", "10 (cut");
  EXPECT_FALSE(FindProcess(&files, 10).alive);
}

}  // namespace
}  // namespace sawbill::host
