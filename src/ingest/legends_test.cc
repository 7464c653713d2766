// SPDX-License-Identifier: Apache-2.0
#include "ingest/legends.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// "node/gpu: utilisation / power" of each card.
std::string Seen(const model::Recording& r) {
  std::string out;
  for (size_t k = 0; k < r.gpus.size(); ++k) {
    if (k > 0) out += "; ";
    out += r.gpus[k].card.node + "/" + r.gpus[k].card.gpu + ": " + Values(r, k, GpuMetric::kSmUtil) + " / " +
           Values(r, k, GpuMetric::kPowerW);
  }
  return out;
}

/// Headings in quotes, their own doubled.
std::string Heading(const std::vector<std::string>& names) {
  std::string out = "\"Time\"";
  for (const std::string& name : names) {
    out += ",\"";
    for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
    out += '"';
  }
  return out + "\n";
}
const std::string kT1 = "2026-12-02 10:00:00,", kT2 = "2026-12-02 10:00:15,";

TEST(Legends, SeriesAreReadWithTheirNodes) {
  const auto r = ReadText(
      Heading({R"(DCGM_FI_DEV_GPU_UTIL{Hostname="n1", gpu="0"})", R"(DCGM_FI_DEV_GPU_UTIL{Hostname="n2", gpu="0"})",
               R"(DCGM_FI_DEV_POWER_USAGE{Hostname="n2", gpu="0"})"}) +
      kT1 + "95 %,60 %,300 W\n" + kT2 + "96 %,,301 W\n");
  EXPECT_EQ(Seen(r), "n1/0: 95 96 / - -; n2/0: 60 - / 300 301");
}

TEST(Legends, AFormatOfOnesOwnThatKeepsTheMetricIsRead) {
  EXPECT_EQ(Seen(ReadText(Heading({"DCGM_FI_DEV_GPU_UTIL GPU 0", "DCGM_FI_DEV_GPU_UTIL gpu1"}) + kT1 + "95,60\n")),
            "/0: 95 / -; /1: 60 / -");
  EXPECT_EQ(Seen(ReadText(Heading({"DCGM_FI_DEV_GPU_UTIL n1 GPU 0", "DCGM_FI_DEV_GPU_UTIL n2:1"}) + kT1 + "95,60\n")),
            "n1/0: 95 / -; n2/1: 60 / -");
}

TEST(Legends, ThatTellLessAreOfTheCardThatFits) {
  const std::string util = R"(DCGM_FI_DEV_GPU_UTIL{Hostname="n1", gpu="0"})", power = "DCGM_FI_DEV_POWER_USAGE GPU 0";
  EXPECT_EQ(Seen(ReadText(Heading({util, power}) + kT1 + "95,300\n")), "n1/0: 95 / 300");
  const auto two =
      ReadText(Heading({util, R"(DCGM_FI_DEV_GPU_UTIL{Hostname="n2", gpu="0"})", power}) + kT1 + "95,60,300\n");
  EXPECT_EQ(Seen(two), "n1/0: 95 / -; n2/0: 60 / -");  // of which node the power is, nothing says
  EXPECT_EQ(Odds(two, model::Odd::kUnknownColumn), 1);
}

TEST(Legends, InRowsAreRead) {
  const std::string rows = "\"Time\",\"Metric\",\"Value\"\n";
  const auto row = [](const std::string& t, const char* metric, const char* gpu, const char* value) {
    return t + "\"" + metric + "{gpu=\"\"" + gpu + "\"\"}\"," + value + "\n";
  };
  const auto r =
      ReadText(rows + row(kT1, "DCGM_FI_DEV_GPU_UTIL", "0", "95") + row(kT2, "DCGM_FI_DEV_GPU_UTIL", "0", "96") +
               row(kT1, "DCGM_FI_DEV_GPU_UTIL", "1", "60") + row(kT1, "DCGM_FI_DEV_POWER_USAGE", "0", "300"));
  EXPECT_EQ(Seen(r), "/0: 95 96 / 300 -; /1: 60 / -");
}

TEST(Legends, LabelsAsColumnsAreRead) {
  const auto r =
      ReadText("\"Time\",\"Hostname\",\"__name__\",\"gpu\",\"Value\"\n" + kT1 + "n1,DCGM_FI_DEV_GPU_UTIL,0,95\n" + kT1 +
               "n1,DCGM_FI_DEV_POWER_USAGE,0,300\n" + kT1 + "n1,DCGM_FI_DEV_XID_ERRORS,0,0\n");
  EXPECT_EQ(Seen(r), "n1/0: 95 / 300");
}

TEST(Legends, WithoutTheMetricAreRefusedWithTheWayOut) {
  for (const char* legend : {"GPU 0", "gpu1", "{gpu=\"0\"}", "n1:0", "n1 GPU 0"}) {
    for (const char* cell : {"95", "95%"}) {
      EXPECT_THAT(Refusal(Heading({legend}) + kT1 + cell + "\n"),
                  AllOf(HasSubstr(std::string("name cards (") + legend + ") but not what was read of them"),
                        HasSubstr("`{{__name__}} GPU {{gpu}}`"), HasSubstr("GPU 0 utilization")));
    }
  }
  EXPECT_THAT(Refusal("Time,Metric,Value\n" + kT1 + "GPU 0,95\n" + kT1 + "GPU 1,60\n"),
              HasSubstr("name cards (GPU 0, GPU 1)"));
}

TEST(Legends, OfOtherThingsAreNotCalledCards) {
  EXPECT_THAT(LegendsWithoutMetric("Time,GPU 0,loss\n"), IsEmpty());
  EXPECT_THAT(LegendsWithoutMetric("Time,Metric,Value\n" + kT1 + "cpu,95\n"), IsEmpty());
  EXPECT_THAT(LegendsWithoutMetric("Time,12:30\n"), IsEmpty());
  EXPECT_THAT(LegendsWithoutMetric("Time,GPU 0,GPU 1\n"), ElementsAre("GPU 0", "GPU 1"));
  EXPECT_THAT(Refusal("Time,loss,lr\n" + kT1 + "1,2\n"), Not(HasSubstr("legends")));
}

}  // namespace
}  // namespace sawbill::ingest
