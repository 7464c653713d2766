// SPDX-License-Identifier: Apache-2.0
#include "report/sparkline.h"

#include <gmock/gmock.h>

#include <limits>
#include <numeric>

namespace sawbill::report {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
using testing::ElementsAre;
using testing::NanSensitiveFloatEq;

TEST(Sparkline, DrawsEightLevelsAndADotForAHole) {
  EXPECT_EQ(Sparkline({0, 13, 30, 40, 55, 70, 80, 100, kNaN, 250, -3}, true), "▁▂▃▄▅▆▇█·█▁");
  EXPECT_EQ(Sparkline({0, 100, kNaN, 50}, false), "_# =");
}

TEST(Resample, KeepsHolesAndTakesTheMeanOrLowestOfWhatIsThere) {
  const std::vector<float> values = {10, 30, kNaN, 50, kNaN, kNaN};
  EXPECT_THAT(Resample(values, 3, Pool::kMean),
              ElementsAre(NanSensitiveFloatEq(20), NanSensitiveFloatEq(50), NanSensitiveFloatEq(kNaN)));
  EXPECT_THAT(Resample(values, 2, Pool::kMin), ElementsAre(NanSensitiveFloatEq(10), NanSensitiveFloatEq(50)));
}

TEST(Resample, StretchesAShortWaveAndDrawsNothingOfNone) {
  EXPECT_THAT(Resample({1, 2}, 4, Pool::kMean), ElementsAre(1, 1, 2, 2));
  EXPECT_TRUE(Resample({}, 10, Pool::kMean).empty());
  EXPECT_TRUE(Resample({1}, 0, Pool::kMean).empty());
}

TEST(LowMarks, MarkOnlyDipsThatTheMeanHides) {
  EXPECT_EQ(LowMarks({90, 90, 10, kNaN, 90}, {5, 80, 5, kNaN, 5}, true), "▾   ▾");
  EXPECT_EQ(LowMarks({90, 90}, {80, 80}, true), "");
  EXPECT_EQ(LowMarks({90}, {3}, false), "v");
}

TEST(BarCells, FillTheBarExactly) {
  for (int width = 1; width < 120; ++width) {
    const std::vector<int> cells = BarCells({0.5671, 0.2943, 0.0612, 0, 0.0387, 0.0124, 0.0263}, width);
    EXPECT_EQ(std::accumulate(cells.begin(), cells.end(), 0), width);
    EXPECT_EQ(cells[3], 0);
  }
  EXPECT_THAT(BarCells({0, 0}, 10), ElementsAre(0, 0));
}

}  // namespace
}  // namespace sawbill::report
