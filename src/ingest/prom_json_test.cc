// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "ingest/prom_formats.h"
#include "ingest/test_util.h"

namespace sawbill::ingest {
namespace {
using model::GpuMetric;
using model::Odd;
using testing::Contains;
using testing::HasSubstr;

constexpr TimeMs kT0 = 1'784'019'600'000;

std::string Series(const std::string& name, const std::string& values, const std::string& more = "") {
  return R"({"metric":{"__name__":")" + name + R"(","gpu":"0","UUID":"GPU-a","Hostname":"n1")" + more +
         R"(},"values":)" + values + "}";
}
std::string Matrix(const std::string& result) {
  return R"({"status":"success","data":{"resultType":"matrix","result":[)" + result + "]}}\n";
}

TEST(PrometheusJson, AMatrixBecomesTracks) {
  const model::Recording r =
      ReadText(Matrix(Series("DCGM_FI_DEV_GPU_UTIL", R"([[1784019600,"91"],[1784019615.5,"7"]])") + "," +
                      Series("DCGM_FI_PROF_GR_ENGINE_ACTIVE", R"([[1784019600,"0.88"],[1784019615.5,"NaN"]])")));
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(r.format, "prometheus json");
  EXPECT_EQ(r.gpus[0].t_ms, (std::vector<TimeMs>{kT0, kT0 + 15500}));
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "91 7");
  EXPECT_EQ(Values(r, 0, GpuMetric::kGrActive), "0.88 -");
}

TEST(PrometheusJson, SeveralAnswersInOneFileAreOneRecording) {
  const model::Recording r = ReadText(Matrix(Series("DCGM_FI_DEV_GPU_UTIL", R"([[1784019600,"91"]])")) +
                                      Matrix(Series("DCGM_FI_DEV_GPU_UTIL", R"([[1784019615,"92"]])")) +
                                      Matrix(Series("DCGM_FI_DEV_GPU_TEMP", R"([[1784019600,"50"]])")));
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "91 92");
  EXPECT_EQ(Values(r, 0, GpuMetric::kTempC), "50 -");
}

TEST(PrometheusJson, AnInstantQueryIsAMoment) {
  const model::Recording r = ReadText(
      R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"DCGM_FI_DEV_GPU_TEMP","gpu":"0",)"
      R"("UUID":"GPU-a","instance":"10.0.0.5:9400","pod":"dcgm-exporter-x"},"value":[1784019600.082,"32"]}]}})");
  ASSERT_EQ(r.gpus.size(), 1U);
  EXPECT_EQ(Values(r, 0, GpuMetric::kTempC), "32");
  EXPECT_EQ(r.gpus[0].t_ms, (std::vector<TimeMs>{kT0 + 82}));
  EXPECT_EQ(r.gpus[0].card.node, "10.0.0.5");
  EXPECT_THAT(r.notes, Contains(HasSubstr("covers no time")));
}

TEST(PrometheusJson, PrintedOverManyLinesItIsTheSame) {
  const model::Recording r = ReadText(
      "{\n  \"status\": \"success\",\n  \"data\": {\n    \"resultType\": \"matrix\",\n    \"result\": [\n      {\n"
      "        \"metric\": {\n          \"__name__\": \"DCGM_FI_DEV_GPU_UTIL\",\n          \"gpu\": \"0\"\n        },\n"
      "        \"values\": [\n          [\n            1784019600,\n            \"91\"\n          ],\n          [\n"
      "            1784019615,\n            \"7\"\n          ]\n        ]\n      }\n    ]\n  }\n}\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "91 7");
}

TEST(PrometheusJson, VictoriaMetricsExportIsOneObjectALine) {
  const std::string metric = R"({"metric":{"__name__":"DCGM_FI_DEV_FB_USED","gpu":"0","UUID":"GPU-a"},)";
  const model::Recording r =
      ReadText(metric + R"("values":[1000,2000],"timestamps":[1784019600000,1784019615000]})" + "\n" + metric +
               R"("values":[null,4000],"timestamps":[1784019630000,1784019645000]})" + "\n");
  ASSERT_EQ(r.gpus.size(), 1U) << "a series may come in several lines";
  EXPECT_EQ(Values(r, 0, GpuMetric::kMemUsedMb), "1000 2000 4000");
  EXPECT_EQ(r.gpus[0].t_ms.back(), kT0 + 45000);
  const model::Recording big = ReadText(
      R"({"values":[1784019600,1784019601],"timestamps":[1784019600000,1784019615000],"metric":{"__name__":"sawbill_gpu_memory_used_bytes","gpu":"0"}})");
  EXPECT_EQ(Values(big, 0, GpuMetric::kMemUsedMb), "1701.374 1701.374") << "two bytes counts that look like a time";
}

// A name that lies across lines is held in memory that the next token takes.
TEST(PrometheusJson, KeysMayStandApartFromTheirValues) {
  const model::Recording r = ReadText(
      "{\"metric\"\n:\n{\"__name__\"\n:\"DCGM_FI_DEV_GPU_UTIL\",\"gpu\":\"0\"},\"values\"\n:\n[\n7\n,\n8\n],"
      "\"timestamps\"\n:\n"
      "[1784019600000,\n1784019615000]}\n");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "7 8");
}

TEST(PrometheusJson, KeysMayComeInAnyOrderAndMoreOfThemMayCome) {
  const model::Recording r = ReadText(
      R"({"data":{"stats":{"seriesFetched":"1"},"result":[{"values":[[1784019600,"91"]],"histograms":[[1,{"count":"2"}]],)"
      R"("metric":{"gpu":"0","__name__":"DCGM_FI_DEV_GPU_UTIL"}}],"resultType":"matrix"},"warnings":["x"],"status":"success"})");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "91");
}

TEST(PrometheusJson, AFileThatIsCutOffGivesWhatIsThere) {
  const model::Recording r = ReadText(
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"0"},)"
      R"("values":[[1784019600,"91"],[1784019615,"7"],[17840)");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "91 7");
  EXPECT_GE(Odds(r, Odd::kTornLine), 1);
}

TEST(PrometheusJson, AnswersAreFoundInADocument) {
  const model::Recording r =
      ReadText("# AI metrics\n\n```bash\n$ kubectl logs job/x\n" +
               Matrix(Series("DCGM_FI_DEV_GPU_UTIL", R"([[1784019600,"91"]])")) +
               "```\n\nattempt 2 response: " + Matrix(Series("DCGM_FI_DEV_GPU_UTIL", R"([[1784019615,"92"]])")));
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "91 92");
}

TEST(PrometheusJson, ErrorsAndEmptyAnswersAreRefusedWithTheReason) {
  EXPECT_THAT(
      Refusal(R"({"status":"error","errorType":"bad_data","error":"exceeded maximum resolution of 11,000 points"})"),
      HasSubstr("11,000 points"));
  EXPECT_THAT(Refusal(R"({"status":"success","data":{"resultType":"matrix","result":[]}})"),
              HasSubstr("without any sample"));
  EXPECT_THAT(Refusal(Matrix(R"({"metric":{"gpu":"0"},"values":[[1784019600,"91"]]})")), HasSubstr("rate()"));
  EXPECT_THAT(Refusal(Matrix(Series("vllm:num_requests_waiting", R"([[1784019600,"0"]])"))),
              HasSubstr("vllm:num_requests_waiting"));
}

// D3: a rollout of the exporter, as Prometheus sees it.
TEST(PrometheusJson, TargetsThatMoveAreTheSameCard) {
  const model::Recording r = ReadText(Matrix(
      R"({"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"0","UUID":"GPU-a","Hostname":"dcgm-exporter-abc","instance":"10.0.0.5:9400","node":"n1"},"values":[[1784019600,"1"]]},)"
      R"({"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"0","UUID":"GPU-a","hostname":"dcgm-exporter-def","instance":"10.0.0.9:9400","node":"n1"},"values":[[1784019615,"2"]]},)"
      R"({"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"0","UUID":"GPU-b","Hostname":"dcgm-exporter-xyz","instance":"10.0.0.6:9400","node":"n2"},"values":[[1784019600,"3"]]})"));
  ASSERT_EQ(r.gpus.size(), 2U);
  EXPECT_EQ(r.gpus[0].card.node, "n1");
  EXPECT_EQ(Values(r, 0, GpuMetric::kSmUtil), "1 2");
  EXPECT_EQ(r.gpus[1].card.node, "n2");
}

TEST(PrometheusJson, OtherJsonIsLeftAlone) {
  for (const char* text : {R"({"traceEvents":[{"ph":"X","name":"metric"}]})",
                           R"({"hostname":"n1","gpus":[{"index":0}]})", R"([1,2,3])", "", "timestamp,gpu\n"}) {
    EXPECT_LT(PrometheusJson().Certainty(text), kLeastCertainty) << text;
  }
}

}  // namespace
}  // namespace sawbill::ingest
