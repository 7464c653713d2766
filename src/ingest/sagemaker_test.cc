// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/text.h"
#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::HostMetric;
using model::Odd;
using testing::HasSubstr;

std::string Reading(const char* type, const char* name, const char* dimension, double value, const char* time) {
  return fmt::format(R"({{"Type": "{}", "Name":"{}", "Dimension": "{}", "Value":{},"NodeId":"algo-1","Timestamp":{}}})",
                     type, name, dimension, value, time) +
         "\n";
}

TEST(SageMaker, ReadingsOfCardsAndTheMeanOfAllCores) {
  const auto r = ReadText(Reading("cpu", "cpu0", "CPUUtilization", 10, "1591160899.25") +
                          Reading("cpu", "cpu1", "CPUUtilization", 30, "1591160899.25") +
                          Reading("gpu", "gpu0", "GPUUtilization", 8, "1591160899.25") +
                          Reading("gpu", "gpu1", "GPUUtilization", 14.5, "1591160899.25") +
                          Reading("gpu", "gpu1", "GPUMemoryUtilization", 24.75, "1591160899.25") +
                          Reading("cpu", "cpu0", "CPUUtilization", 90, "1591160900.25") +
                          Reading("disk", "total", "IOPS", 5, "1591160900.25"));
  EXPECT_EQ(r.format, "sagemaker metrics");
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[0].card.node, "algo-1");
  EXPECT_EQ(r.gpus[0].t_ms[0], 1591160899250);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "8");
  EXPECT_EQ(Values(r, 1, GpuMetric::kMemUtil), "24.75");
  ASSERT_EQ(r.hosts.size(), 1U);
  ASSERT_EQ(r.hosts[0].size(), 1U);  // one core of two is no mean of the host
  EXPECT_EQ(r.hosts[0].At(HostMetric::kCpuUtil, 0), 20);
  EXPECT_EQ(r.hosts[0].At(HostMetric::kCpuCount, 0), 2);
  EXPECT_EQ(Odds(r, Odd::kUnknownColumn), 1);
}

TEST(SageMaker, ATornLineCostsThatReadingAlone) {
  std::string text = Reading("gpu", "gpu0", "GPUUtilization", 8, "1591160899.25");
  text += Reading("gpu", "gpu0", "GPUUtilization", 9, "1591160900.25").substr(0, 90) + "\n";
  text += Reading("gpu", "gpu0", "GPUUtilization", 4000, "1591160901.25");
  text += Reading("gpu", "gpu0", "GPUUtilization", 10, "1591160902.25");
  text.resize(text.size() - 25);
  const auto r = ReadText(text);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "8");
  EXPECT_EQ(Odds(r, Odd::kTornLine), 2);
  EXPECT_EQ(Odds(r, Odd::kOutOfRange), 1);
}

TEST(EventTimeline, IsRefusedByItsName) {
  const std::string text =
      "[\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 0, \"args\": {\"start_time_since_epoch_in_micros\": "
      "1}},\n"
      "{\"name\": \"step\", \"ph\": \"X\", \"ts\": 100, \"dur\": 5, \"pid\": 1}\n]\n";
  EXPECT_THAT(Refusal(text), HasSubstr("timeline of profiler events"));
}

TEST(SageMaker, PublicFilesAreReadOrRefusedByName) {
  const auto fs = sys::MakeRealFileSystem();
  const std::string dir = std::string(SAWBILL_SOURCE_DIR) + "/../shared/data/sagemaker_debugger";
  const auto files = fs->List(dir);
  if (!files.ok()) GTEST_SKIP() << "no public files beside the checkout (../shared/data)";
  int read = 0, timelines = 0;
  for (const auto& file : *files) {
    const auto s = OpenFile(fs.get(), sys::JoinPath(dir, file.name), {});
    if (file.name.find("timeline") != std::string::npos) {
      ASSERT_FALSE(s.ok()) << file.name;
      EXPECT_THAT(s.status().message(), HasSubstr("timeline of profiler events")) << file.name;
      ++timelines;
      continue;
    }
    ASSERT_TRUE(s.ok()) << file.name << ": " << s.status().message();
    const auto r = (*s)->Read(0);
    ++read;
    if (file.name == "1591160699.algo-1.json") {
      ASSERT_EQ(r->gpus.size(), 2U);
      EXPECT_EQ(r->gpus[0].At(GpuMetric::kSmUtil, 0), 8);
      EXPECT_EQ(Odds(*r, Odd::kTornLine), 0);
    }
    if (EndsWith(file.name, ".corrupt")) {
      EXPECT_EQ(r->gpus.size(), 2U);
      EXPECT_GE(Odds(*r, Odd::kTornLine), 1);
    }
    if (file.name.find("1591748100") != std::string::npos) {
      EXPECT_EQ(r->hosts[0].At(HostMetric::kCpuCount, 0), 32);
    }
  }
  EXPECT_EQ(read, 5);
  EXPECT_GE(timelines, 8);
}

}  // namespace
}  // namespace sawbill::ingest
