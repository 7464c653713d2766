// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/render.h"
#include "report/testdata/hostile_report.h"
#include "report/testdata/sample_reports.h"

namespace sawbill::report {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::ElementsAreArray;

Json Parse(const Report& r) { return Json::parse(RenderJson(r), nullptr, false); }

std::vector<std::string> Keys(const Json& j) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : j.items()) keys.push_back(key);
  return keys;
}

/// The keys of the contract, in its order; what came later stands behind them.
void ExpectKeys(const Json& j, const std::vector<std::string>& contract) {
  std::vector<std::string> keys = Keys(j);
  ASSERT_GE(keys.size(), contract.size());
  keys.resize(contract.size());
  EXPECT_THAT(keys, ElementsAreArray(contract));
}

TEST(Json, KeysStandInTheOrderOfTheContract) {
  const Json j = Parse(TwoCards(Lang::kEn));
  ExpectKeys(j, {"schema", "generated", "currency", "lang", "period", "gpus", "runs", "bill", "findings",
                 "below_minimum", "data_quality"});
  EXPECT_EQ(j["schema"], "sawbill.report/1");
  ExpectKeys(j["period"], {"from", "to", "duration_s", "observed_s", "missing_s"});
  ExpectKeys(j["gpus"][0], {"node", "gpu", "uuid", "name", "label", "hours", "cost", "prices", "idle", "stats"});
  ExpectKeys(j["gpus"][0]["prices"][0], {"from", "to", "price_per_hour", "contract", "source"});
  ExpectKeys(j["gpus"][0]["idle"], {"share", "pattern", "period_s", "longest_s"});
  ExpectKeys(j["gpus"][0]["stats"]["sm_util"], {"mean", "median", "p95", "low_share"});
  ExpectKeys(j["runs"][0], {"run", "job", "user", "project", "program", "node", "gpus", "from", "to", "duration_s",
                            "cost", "exit_status"});
  ExpectKeys(j["bill"], {"gpu_hours", "cost", "waste_upper_bound", "ledger"});
  ExpectKeys(j["bill"]["ledger"][0], {"line", "gpu_seconds", "cost", "share"});
  ExpectKeys(j["findings"][0], {"id", "cause", "run", "gpus", "confidence", "severity", "evidence_tier", "wasted",
                                "saving", "period_s", "width_s", "evidence", "because", "recommendations"});
  ExpectKeys(j["findings"][0]["saving"], {"low", "expected", "high", "share", "alone", "kind"});
  ExpectKeys(j["findings"][0]["evidence"][0], {"metric", "statement", "value", "threshold", "from", "to"});
  ExpectKeys(j["findings"][0]["recommendations"][0], {"id", "level", "action", "key", "from", "to", "check_first"});
  ExpectKeys(j["data_quality"][0], {"counter", "severity", "count", "detail"});
}

TEST(Json, LedgerHasEachLineOnceAndAddsUp) {
  for (const Report& r : {TwoCards(Lang::kEn), TwelveCards(Lang::kZh)}) {
    const Json bill = Parse(r)["bill"];
    double seconds = 0, cost = 0, share = 0;
    std::vector<std::string> lines;
    for (const Json& row : bill["ledger"]) {
      lines.push_back(row["line"]);
      seconds += row["gpu_seconds"].get<double>();
      cost += row["cost"].get<double>();
      share += row["share"].get<double>();
    }
    EXPECT_THAT(lines, ElementsAre("useful", "unsaturated", "data-loading", "checkpoint", "evaluation", "logging",
                                   "imbalance", "communication", "throttling", "startup", "idle-held", "unused",
                                   "unmeasured", "unexplained"));
    EXPECT_NEAR(seconds, bill["gpu_hours"].get<double>() * 3600, 1e-3);
    EXPECT_NEAR(cost, bill["cost"].get<double>(), 0.005);
    EXPECT_NEAR(share, 1, 1e-6);
  }
}

TEST(Json, WhatIsNotKnownIsNullOrAbsentAndNeverZero) {
  const Json j = Parse(ForeignLog(Lang::kEn));
  EXPECT_TRUE(j["bill"]["cost"].is_null());
  EXPECT_TRUE(j["bill"]["waste_upper_bound"].is_null());
  EXPECT_TRUE(j["bill"]["ledger"][0]["cost"].is_null());
  EXPECT_TRUE(j["gpus"][0]["cost"].is_null());
  EXPECT_TRUE(j["total_saving"].is_null());
  EXPECT_FALSE(j["gpus"][0]["idle"].contains("period_s"));
  const Json twelve = Parse(TwelveCards(Lang::kEn));
  EXPECT_TRUE(twelve["findings"][3]["saving"].is_null());
  EXPECT_FALSE(twelve["findings"][3].contains("cause"));
  EXPECT_FALSE(twelve["findings"][3].contains("period_s"));
  EXPECT_EQ(twelve["findings"][0]["cause"], "over-allocated");
}

TEST(Json, MoneyHasSixDecimals) {
  Report r = TwoCards(Lang::kEn);
  r.cost = 1.0 / 3;
  EXPECT_EQ(Parse(r)["bill"]["cost"].dump(), "0.333333");
}

TEST(Json, IdsAreNotTranslated) {
  const Json en = Parse(TwoCards(Lang::kEn)), zh = Parse(TwoCards(Lang::kZh));
  EXPECT_EQ(zh["lang"], "zh");
  for (size_t i = 0; i < en["findings"].size(); ++i) {
    for (const char* key : {"id", "severity", "evidence_tier", "gpus"}) {
      EXPECT_EQ(en["findings"][i][key], zh["findings"][i][key]);
    }
    EXPECT_NE(en["findings"][i]["evidence"][0]["statement"], zh["findings"][i]["evidence"][0]["statement"]);
  }
}

TEST(Json, HostileNamesAndMissingNumbersStillGiveValidJson) {
  const std::string text = RenderJson(HostileReport(Lang::kEn));
  const Json j = Json::parse(text, nullptr, false);
  ASSERT_FALSE(j.is_discarded());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("NaN"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf,"), std::string::npos);
  EXPECT_TRUE(j["gpus"][0]["stats"]["sm_util"]["mean"].is_null());
  EXPECT_NE(j["gpus"][0]["name"].get<std::string>().find("\xEF\xBF\xBD"), std::string::npos);
  EXPECT_FALSE(Json::parse(RenderJson(Report()), nullptr, false).is_discarded());
}

}  // namespace
}  // namespace sawbill::report
