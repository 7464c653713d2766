// SPDX-License-Identifier: Apache-2.0
#include "ingest/unwrap.h"

#include <gmock/gmock.h>

#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;

/// Ten rows 5 s apart: `row` with '@' for the time of day.
std::string Rows(const std::string& row, const std::string& heading = "") {
  std::string text = heading;
  for (int i = 0; i < 10; ++i) {
    std::string line = row;
    const size_t at = line.find('@');
    line.replace(at, 1, "09:00:" + std::string(i < 2 ? "0" : "") + std::to_string(i * 5));
    text += line + "\n";
  }
  return text;
}

/// One card at 95 %, ten samples, 45 s.
void ExpectTen(const std::string& text, const char* what) {
  const auto r = ReadText(text);
  ASSERT_EQ(r.gpus.size(), 1U) << what;
  ASSERT_EQ(r.gpus[0].size(), 10U) << what;
  EXPECT_EQ(r.gpus[0].t_ms.back() - r.gpus[0].t_ms.front(), 45'000) << what;
  EXPECT_EQ(r.gpus[0].t_ms.front() % 86'400'000, 9 * 3'600'000) << what;
  EXPECT_EQ(r.gpus[0].At(GpuMetric::kSmUtil, 9), 95) << what;
}

TEST(Unwrap, ThePrefixOfEveryLineIsTakenOff) {
  ExpectTen(Rows("[pod/train-0/gpu-logger] 2026/11/03 @.000, 0, 95 %",
                 "[pod/train-0/gpu-logger] timestamp, index, utilization.gpu [%]\n"),
            "kubectl");
}

TEST(Unwrap, LinesOfSeveralPodsAreNotOneLog) {
  const std::string head = "[pod/a/log] timestamp, index, utilization.gpu [%]\n";
  EXPECT_FALSE(
      TryRead(Rows("[pod/a/log] 2026/11/03 @.000, 0, 95 %", head) + Rows("[pod/b/log] 2026/11/03 @.000, 0, 5 %")).ok());
}

TEST(Unwrap, DockersJsonFile) {
  ExpectTen(Rows(R"({"log":"2026/11/03 @.000, 0, 95 %\n","stream":"stdout","time":"2026-11-03T09:01:00.1Z"})",
                 R"({"log":"timestamp, index, utilization.gpu [%]\n","stream":"stdout","time":"2026-11-03T09:01:00Z"})"
                 "\n"),
            "own times");
  ExpectTen(Rows(R"({"log":"0, 95 %\n","stream":"stdout","time":"2026-11-03T@Z"})",
                 R"({"log":"index, utilization.gpu [%]\n","stream":"stdout","time":"2026-11-03T09:00:00Z"})"
                 "\n"),
            "docker's times");
}

TEST(Unwrap, AnObjectALine) {
  ExpectTen(Rows(R"({"timestamp": "2026-11-03T@Z", "gpu": 0, "utilization": 95, "power": 375.5, "note": null})"),
            "flat");
  EXPECT_FALSE(TryRead(Rows(R"({"timestamp": "2026-11-03T@Z", "gpu": {"util": 95}})")).ok());
}

TEST(Unwrap, DateAndTimeInTwoColumns) {
  ExpectTen(Rows("2026-11-03,@,0,95", "date,time,gpu,util\n"), "iso");
  ExpectTen(Rows("13.11.2026,@.0,55,95", "Date,Time,\"GPU Temperature [C]\",\"GPU Core Load [%]\"\n"), "points");
  ExpectTen(Rows("0;2026-11-03;@;95", "gpu;date;time;util\n"), "semicolons");
  ExpectTen(Rows("2026-11-03,2026-11-03 @,0,95", "date,time,gpu,util\n"), "a date that is told twice");
}

TEST(Unwrap, WhatPromtoolPrints) {
  std::string text = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\", UUID=\"GPU-0\", Hostname=\"n1\"} =>\n";
  std::string json =
      "[{\"metric\": {\"__name__\": \"DCGM_FI_DEV_GPU_UTIL\", \"gpu\": \"0\", \"UUID\": \"GPU-0\"}, \"values\": [";
  for (int i = 0; i < 10; ++i) {
    const std::string t = std::to_string(1'793'696'400 + i * 5);
    text += "95 @[" + t + "]\n";
    json += (i > 0 ? ", [" : "[") + t + ".0, \"95\"]";
  }
  ExpectTen(text, "text");
  ExpectTen(json + "]}]\n", "json");
}

}  // namespace
}  // namespace sawbill::ingest
