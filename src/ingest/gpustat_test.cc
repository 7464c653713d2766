// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using model::ProcessMetric;
using testing::HasSubstr;

std::string Document(const std::string& time, const std::string& util, const char* name = "n1") {
  return std::string("{\n    \"hostname\": \"") + name +
         "\",\n    \"driver_version\": \"580.95.05\",\n    \"query_time\": \"" + time +
         "\",\n    \"gpus\": [\n        {\n            \"index\": 0,\n            \"uuid\": \"GPU-a\",\n"
         "            \"name\": \"NVIDIA A40\",\n            \"temperature.gpu\": 38,\n            \"fan.speed\": "
         "null,\n"
         "            \"utilization.gpu\": " +
         util +
         ",\n            \"utilization.enc\": 0,\n            \"power.draw\": 97,\n"
         "            \"enforced.power.limit\": 300,\n            \"memory.used\": 1835,\n"
         "            \"memory.total\": 46068,\n            \"processes\": [\n                {\n"
         "                    \"username\": \"ann\",\n                    \"command\": \"python\",\n"
         "                    \"full_command\": [\n                        \"python\",\n"
         "                        \"train.py\"\n                    ],\n"
         "                    \"gpu_memory_usage\": 1826,\n                    \"cpu_percent\": 98.4,\n"
         "                    \"cpu_memory_usage\": 123,\n                    \"pid\": 4242\n                }\n"
         "            ]\n        }\n    ]\n}\n";
}
std::string OneLine(std::string document) {
  std::string out;
  for (size_t i = 0; i < document.size(); ++i) {
    if (document[i] != '\n' && !(document[i] == ' ' && (out.empty() || out.back() == ' '))) out += document[i];
  }
  return out + "\n";
}

TEST(GpustatJson, DocumentsOneAfterTheOther) {
  const auto r = ReadText(Document("2026-01-02T03:04:05.678901", "0") + Document("2026-01-02T03:04:15.678901", "29"));
  EXPECT_EQ(r.format, "gpustat json");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(FormatRfc3339(r.gpus[0].t_ms[0]), "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "0 29");
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "97 97");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "1835 1835");
  EXPECT_EQ(Values(r, 0, GpuMetric::kTempC), "38 38");
  const auto& card = r.gpus[0].card;
  EXPECT_EQ(card.node + "/" + card.gpu + "/" + card.uuid + "/" + card.name, "n1/0/GPU-a/NVIDIA A40");
  EXPECT_EQ(card.power_limit_w.value_or(0), 300);
  ASSERT_EQ(r.processes.size(), 2U);
  EXPECT_EQ(r.processes[0].pid, 4242);
  EXPECT_EQ(r.strings.Get(r.processes[0].user) + ":" + r.strings.Get(r.processes[0].name), "ann:python");
  EXPECT_EQ(r.processes[0].Value(ProcessMetric::kGpuMemMb), 1826);
  EXPECT_FLOAT_EQ(r.processes[0].Value(ProcessMetric::kMainCpuCores), 0.984F);
  EXPECT_EQ(Odds(r, Odd::kZoneAssumed), 2);
}

TEST(GpustatJson, OneDocumentALine) {
  const auto r =
      ReadText(OneLine(Document("2026-01-02T03:04:05", "0")) + OneLine(Document("2026-01-02T03:04:06", "1")));
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "0 1");
}

TEST(GpustatJson, AnArrayOfDocuments) {
  std::string first = OneLine(Document("2026-01-02T03:04:05", "0")),
              last = OneLine(Document("2026-01-02T03:04:06", "1"));
  first.pop_back(), last.pop_back();
  EXPECT_EQ(Values(ReadText("[\n" + first + ",\n" + last + "\n]\n"), 0, GpuMetric::kSmUtil), "0 1");
  EXPECT_EQ(Values(ReadText("[" + first + ", " + last + "]"), 0, GpuMetric::kSmUtil), "0 1");
}

TEST(GpustatJson, NullIsNoReadingAndGarbageIsLeftEmpty) {
  const auto r = ReadText(Document("2026-01-02T03:04:05", "null") + Document("2026-01-02T03:04:06", "2287971552"));
  EXPECT_FALSE(r.gpus[0].Has(GpuMetric::kSmUtil));
  EXPECT_EQ(Values(r, 0, GpuMetric::kPowerW), "97 97");
  EXPECT_EQ(Odds(r, Odd::kNotSupported), 1);
  EXPECT_EQ(Odds(r, Odd::kOutOfRange), 1);
}

TEST(GpustatJson, ATornDocumentCostsNoOther) {
  const std::string torn = Document("2026-01-02T03:04:05", "7");
  const auto r = ReadText(torn.substr(0, 300) + "\n" + Document("2026-01-02T03:04:06", "8") + torn.substr(0, 200));
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "8");
  EXPECT_EQ(Odds(r, Odd::kBadRow), 2);
}

TEST(GpustatJson, WithoutQueryTimeIsRefused) {
  std::string text = Document("2026-01-02T03:04:05", "7");
  text.replace(text.find("query_time"), 10, "asked_when");
  EXPECT_THAT(Refusal(text), HasSubstr("no date"));
}

constexpr char kText[] =
    "myhost             Fri Jan  2 03:04:05 2026  580.95.05\n"
    "[0] NVIDIA A40     | 27°C,   0 %,   22 / 300 W |     0 / 46068 MB |\n"
    "[1] NVIDIA A40     | 67'C,  30 %,  98 % (E:   3 %  D:   4 %),  290 / 300 W | 40000 / 46068 MB | ann(39990M)\n";

TEST(GpustatText, TheLastPercentageIsTheUtilisation) {
  const auto r = ReadText(std::string(kText) +
                          "myhost             Fri Jan  2 03:04:15 2026  580.95.05\n"
                          "[0] NVIDIA A40     | 27°C,   ?? %,   22 / 300 W |     1 / 46068 MB |\n");
  EXPECT_EQ(r.format, "gpustat text");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "0 -");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "0 1");
  EXPECT_EQ(Values(r, 1, GpuMetric::kSmUtil), "98");  // 30 % is the fan
  EXPECT_EQ(Values(r, 1, GpuMetric::kTempC), "67");
  EXPECT_EQ(Values(r, 1, GpuMetric::kPowerW), "290");
  const auto& card = r.gpus[0].card;
  EXPECT_EQ(card.node + "/" + card.name + "/" + card.driver, "myhost/NVIDIA A40/580.95.05");
}

TEST(GpustatText, ColoursAreTakenOff) {
  const auto r = ReadText(
      "\x1b[1m\x1b[37mmyhost         \x1b[m  2026-01-02 03:04:05  \x1b[1m\x1b[30m580.95.05\x1b[m\n"
      "\x1b[36m[0]\x1b[m \x1b[34mNVIDIA A40\x1b[m |\x1b[31m 27\xC2\xB0\x43\x1b[m, \x1b[1m\x1b[32m 91 %\x1b[m | "
      "\x1b[1m\x1b[33m 1835\x1b[m / \x1b[33m46068\x1b[m MB |\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "91");
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "1835");
  EXPECT_EQ(Values(r, 0, GpuMetric::kTempC), "27");
}

TEST(GpustatText, WithoutItsFirstLineIsRefused) {
  EXPECT_THAT(Refusal("[0] NVIDIA A40     | 27°C,   0 %,   22 / 300 W |     0 / 46068 MB |\n"),
              HasSubstr("gpustat --json"));
}

}  // namespace
}  // namespace sawbill::ingest
