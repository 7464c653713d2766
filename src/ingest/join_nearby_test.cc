// SPDX-License-Identifier: Apache-2.0
#include "ingest/join_nearby.h"

#include <gmock/gmock.h>

#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kStart = 1'762'900'000;

/// Utilisation each 15 s, power `late` s behind it.
std::string Log(int n, int late) {
  std::string text = "timestamp,gpu,sm_util,power_w\n";
  for (int i = 0; i < n; ++i) {
    text += std::to_string(kStart + 15 * i) + ",0," + std::to_string(90 + i) + ",\n";
    text += std::to_string(kStart + 15 * i + late) + ",0,," + std::to_string(300 + i) + "\n";
  }
  return text;
}
std::string Series(const char* name, int late, int first) {
  std::string text = std::string(R"({"metric": {"__name__": ")") + name +
                     R"(", "gpu": "0", "UUID": "GPU-1", "Hostname": "n1"}, "values": [)";
  for (int i = 0; i < 4; ++i)
    text += std::string(i > 0 ? "," : "") + "[" + std::to_string(kStart + 15 * i + late) + ", \"" +
            std::to_string(first + i) + "\"]";
  return text + "]}";
}

TEST(JoinNearby, SeriesApartWithinTheIntervalMakeWholeRows) {
  const auto r = ReadText(Log(4, 7));
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "90 91 92 93");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "300 301 302 303");
  EXPECT_EQ(Odds(r, Odd::kNoValues), 0);
  EXPECT_THAT(r.notes, Contains(HasSubstr("(7 of 15 s)")));
}

TEST(JoinNearby, TheNearestRowIsTakenAndWhatFindsNoneStays) {
  // 9 s behind one row is 6 s before the next; the last reading is too far from any.
  const auto r = ReadText(Log(4, 9));
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "90 91 92 93 -");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "- 300 301 302 303");
  EXPECT_EQ(r.gpus[0].t_ms.back(), (kStart + 54) * 1000);
}

TEST(JoinNearby, AnswersOfPrometheusToo) {
  const std::string text = R"({"status": "success", "data": {"resultType": "matrix", "result": [)" +
                           Series("DCGM_FI_DEV_GPU_UTIL", 0, 90) + "," + Series("DCGM_FI_DEV_POWER_USAGE", 7, 300) +
                           "]}}";
  const auto r = ReadText(text);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "90 91 92 93");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "300 301 302 303");
  EXPECT_THAT(ExplainText(text, Lang::kZh), HasSubstr("（7，间隔 15 秒）"));
}

TEST(JoinNearby, AReadingThatFailedNowAndThenIsNotMadeUp) {
  std::string text = "timestamp,gpu,sm_util,power_w\n";
  for (int i = 0; i < 10; ++i)
    text += std::to_string(kStart + i) + ",0," + (i % 3 == 0 ? "[N/A]" : "95") + "," + std::to_string(300 + i) + "\n";
  const auto r = ReadText(text);
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "300 301 302 303 304 305 306 307 308 309");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "- 95 95 - 95 95 - 95 95 -");
  EXPECT_THAT(r.notes, Not(Contains(HasSubstr("different times"))));
}

TEST(JoinNearby, OfSeveralReadingsToOneRowTheNearestIsTaken) {
  std::string text = "timestamp,gpu,sm_util,power_w\n";
  for (int i = 0; i < 4; ++i) {
    text += std::to_string(kStart + 20 * i) + ",0,95,\n";
    text += std::to_string(kStart + 20 * i + 2) + ",0,," + std::to_string(300 + i) + "\n";
    text += std::to_string(kStart + 20 * i + 8) + ",0,," + std::to_string(400 + i) + "\n";
  }
  const auto r = ReadText(text);
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "300 400 301 401 302 402 303 403");
}

}  // namespace
}  // namespace sawbill::ingest
