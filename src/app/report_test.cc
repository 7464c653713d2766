// SPDX-License-Identifier: Apache-2.0
// `report` on recordings with several jobs, periods and prices, whole.
#include <nlohmann/json.hpp>

#include "app/cli_fixture.h"

namespace sawbill::app {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kStart = 1772366400;  // 2026-03-01T12:00:00Z

class ReportTest : public CliTest {
 protected:
  /// A day folder: one card, an hour of samples at .01 s past the second; alice all the time, carol for 20 minutes.
  void PutShared() {
    std::string gpu = "timestamp,gpu,sm_util,mem_util,mem_used_mb,power_w\n",
                process = "timestamp,gpu,pid,user,name,job,gpu_mem_mb,sm_util\n";
    for (int i = 0; i <= 3600; ++i) gpu += fmt::format("{}.010,0,95,40,60000,300\n", kStart + i);
    for (int i = 0; i <= 3600; i += 10) {
      process += fmt::format("{}.010,0,100,alice,train.py,train,40000,60\n", kStart + i);
      if (i >= 1200 && i <= 2400) process += fmt::format("{}.010,0,200,carol,serve.py,infer,9000,20\n", kStart + i);
    }
    fs_.Put("/rec/gpu-2026-03-01.csv", gpu);
    fs_.Put("/rec/process-2026-03-01.csv", process);
  }
  json Report(std::vector<std::string> args) {
    args.insert(args.begin(), {"report", "--format", "json", "--price", "10"});
    EXPECT_EQ(Run(args), 0) << Err();
    return json::parse(Out());
  }
  static double Seconds(const json& r) {
    double s = 0;
    for (const auto& row : r["bill"]["ledger"]) s += row["gpu_seconds"].get<double>();
    return s;
  }
};

TEST_F(ReportTest, AdjacentPeriodsAddUp) {
  PutShared();
  const double whole = Seconds(Report({"/rec"}));
  for (const char* cut : {"2026-03-01T12:20:00Z", "2026-03-01T12:20:00.010Z", "2026-03-01T12:30:00.500Z"}) {
    const json a = Report({"--to", cut, "/rec"}), b = Report({"--from", cut, "/rec"});
    EXPECT_NEAR(Seconds(a) + Seconds(b), whole, 1e-3) << cut;
    EXPECT_EQ(a["period"]["to"], b["period"]["from"]) << cut;
  }
  EXPECT_NEAR(whole, 3600, 1e-3);
}

TEST_F(ReportTest, ADayThatEndsInAHoleHasTheHoleUpToItsEnd) {
  std::string one = "timestamp,gpu,sm_util\n", two = one;
  for (int i = 0; i < 600; ++i) {
    one += fmt::format("{}.000,0,95\n", kStart + i);
    two += fmt::format("{}.000,0,95\n", kStart + 86400 + i);
  }
  fs_.Put("/rec/gpu-2026-03-01.csv", one);
  fs_.Put("/rec/gpu-2026-03-02.csv", two);
  const double whole = Seconds(Report({"/rec"}));
  const json a = Report({"--to", "2026-03-01", "/rec"}), b = Report({"--from", "2026-03-02", "/rec"});
  EXPECT_NEAR(Seconds(a), 12 * 3600, 1e-3);
  EXPECT_NEAR(Seconds(a) + Seconds(b), whole, 1e-3);
}

TEST_F(ReportTest, TwoJobsOnACardAreEachBilledTheirShareHoweverTheyAreSelected) {
  PutShared();
  const json by_user = Report({"--by", "user", "/rec"});
  std::map<std::string, double> cost;
  double sum = 0;
  for (const auto& g : by_user["groups"]) sum += cost[g["key"]] = g["cost"].get<double>();
  EXPECT_NEAR(sum, 10, 1e-4);
  EXPECT_NEAR(cost["carol"], 10 * 1200 / 3600.0 * 0.25, 0.05);
  EXPECT_NEAR(Report({"--user", "alice", "/rec"})["bill"]["cost"].get<double>(), cost["alice"], 1e-4);
  EXPECT_NEAR(Report({"--user", "carol", "/rec"})["bill"]["cost"].get<double>(), cost["carol"], 1e-4);
}

TEST_F(ReportTest, AFilteredReceiptIsOfThatTimeInAllItsFigures) {
  PutShared();
  const json r = Report({"--job", "infer", "/rec"});
  EXPECT_TRUE(r["filtered"].get<bool>());
  EXPECT_NEAR(r["period"]["duration_s"].get<double>(), 1205, 15);
  EXPECT_NEAR(r["period"]["observed_s"].get<double>(), r["period"]["duration_s"].get<double>(), 1e-3);
  EXPECT_LE(r["bill"]["waste_upper_bound"].get<double>(), r["bill"]["cost"].get<double>());
  EXPECT_NEAR(r["gpus"][0]["measured_hours"].get<double>(), r["gpus"][0]["hours"].get<double>(), 1e-3);
  EXPECT_EQ(Run({"report", "--job", "infer", "/rec"}), 0);
  EXPECT_THAT(Out(), HasSubstr("selected runs only"));
}

TEST_F(ReportTest, AnUnknownNameIsAnErrorThatNamesTheKnownOnes) {
  PutShared();
  EXPECT_EQ(Run({"report", "--user", "bob", "/rec"}), 2);
  EXPECT_THAT(Err(), AllOf(HasSubstr("bob"), HasSubstr("alice, carol")));
  EXPECT_EQ(Run({"report", "--user", "alice", "--user", "bob", "/rec"}), 2);
  EXPECT_EQ(Run({"report", "--job", "nope", "/rec"}), 2);
  EXPECT_THAT(Err(), HasSubstr("infer"));
  EXPECT_EQ(Run({"report", "--user", "al*", "/rec"}), 0) << Err();
  EXPECT_EQ(Run({"report", "--user", "bob", "/logs/gpu.csv"}), 2);
  EXPECT_THAT(Err(), HasSubstr("no processes were recorded"));
}

TEST_F(ReportTest, ProjectsComeFromRunRecords) {
  PutShared();
  fs_.Put(
      "/rec/run-2026-03-01.csv",
      fmt::format("timestamp,run,job,user,project,node,gpus,state\n{}.500,r-1,train,alice,vision,,0,start\n", kStart));
  const json r = Report({"--project", "vision", "/rec"});
  ASSERT_EQ(r["runs"].size(), 1U);
  EXPECT_EQ(r["runs"][0]["project"], "vision");
  EXPECT_EQ(Run({"report", "--project", "speech", "/rec"}), 2);
  EXPECT_THAT(Err(), HasSubstr("its projects: vision"));
}

TEST_F(ReportTest, APriceChangeInThePriceBookCutsTheBill) {
  PutShared();
  fs_.Put("/p.toml",
          "currency = \"USD\"\n[[price]]\nany = true\nper_hour = 10\n[[price]]\nany = true\nper_hour = 20\n"
          "from = 2026-03-01T12:20:00Z\n");
  EXPECT_EQ(Run({"report", "--format", "json", "--prices", "/p.toml", "/rec"}), 0);
  EXPECT_NEAR(json::parse(Out())["bill"]["cost"].get<double>(), 10 / 3.0 + 20 * 2 / 3.0, 1e-3);
}

TEST_F(ReportTest, WhatCouldNotBeJudgedIsSaidBesideAPassedCheck) {
  std::string log = "timestamp,gpu,sm_util\n";
  for (int i = 0; i < 3600; ++i) log += fmt::format("{},0,{}\n", kStart + i, i < 1200 ? 95 : 0);
  fs_.Put("/logs/u.csv", log);
  EXPECT_EQ(Run({"report", "--fail-on-waste", "10%", "/logs/u.csv"}), 0);
  EXPECT_THAT(Err(), HasSubstr("67 % of the card time could not be judged"));
  EXPECT_THAT(Out(), Not(HasSubstr("Nothing worth a change")));
}

TEST_F(ReportTest, ErrorsOfReadingAreInTheUsersLanguage) {
  fs_.Put("/logs/empty.csv", "");
  for (const auto& [args, says] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"report", "/logs/none.csv"}, "没有这个文件"},
           {{"report", "/logs/empty.csv"}, "文件为空"},
           {{"report", "--price", "abc", "/logs/gpu.csv"}, "不是数字"},
           {{"report", "--price", "-1", "/logs/gpu.csv"}, "不能为负"}}) {
    std::vector<std::string> zh = args;
    zh.insert(zh.end(), {"--lang", "zh"});
    EXPECT_EQ(Run(zh), 2);
    EXPECT_THAT(Err(), HasSubstr(says));
  }
  PutShared();
  Run({"report", "--lang", "zh", "--price", "1", "/rec"});
  EXPECT_THAT(Out(), AllOf(HasSubstr("/rec 中的 Sawbill 日文件（1 个节点）"), Not(HasSubstr("1 node"))));
}

TEST_F(ReportTest, APriceFromTheEnvironmentIsNamedAsThat) {
  env_.vars["SAWBILL_PRICE"] = "abc";
  EXPECT_EQ(Run({"report", "/logs/gpu.csv"}), 2);
  EXPECT_THAT(Err(), AllOf(HasSubstr("SAWBILL_PRICE 'abc'"), Not(HasSubstr("--price 'abc'"))));
}

TEST_F(ReportTest, ABadValueInTheConfigFileIsShownInItsLine) {
  fs_.Put("/c.toml", "lang = \"en\"\ntz = \"Mars/Base\"\n");
  env_.vars.erase("SAWBILL_TZ");
  EXPECT_EQ(Run({"report", "--config", "/c.toml", "/logs/gpu.csv"}), 2);
  EXPECT_THAT(Err(), HasSubstr("/c.toml:2: tz"));
}

TEST_F(ReportTest, HelpIsACommandToo) {
  EXPECT_EQ(Run({"help", "report"}), 0);
  const std::string asked = Out();
  EXPECT_EQ(Run({"report", "--help"}), 0);
  EXPECT_EQ(asked, Out());
  EXPECT_EQ(Run({"help"}), 0);
  EXPECT_THAT(Out(), Not(HasSubstr("dcgmi"))) << "only what can be read is named";
}

TEST_F(ReportTest, APricedCardKeepsItsPriceWhenTheOtherIsGivenOne) {
  std::string log = "timestamp,index,name,utilization.gpu [%]\n";
  for (int i = 0; i < 600; ++i) {
    for (int k = 0; k < 2; ++k) log += fmt::format("{},{},A100,95 %\n", kStart + i, k);
  }
  fs_.Put("/logs/two.csv", log);
  fs_.Put("/p.toml", "currency = \"USD\"\n[[price]]\ngpu = \"1\"\nper_hour = 3\n");
  EXPECT_EQ(Run({"report", "--prices", "/p.toml", "/logs/two.csv"}), 0);
  EXPECT_THAT(Out(), HasSubstr("--price \"gpu:0=10\""));
  EXPECT_EQ(Run({"prices", "--prices", "/p.toml", "/logs/two.csv"}), 0);
  EXPECT_THAT(Out(), HasSubstr("--price \"gpu:0=AMOUNT\""));
  EXPECT_EQ(Run({"report", "--format", "json", "--prices", "/p.toml", "--price", "gpu:0=10", "/logs/two.csv"}), 0);
  const json r = json::parse(Out());
  EXPECT_NEAR(r["gpus"][1]["cost"].get<double>(), 3 * 599 / 3600.0, 1e-4);
  EXPECT_TRUE(r["unpriced_cards"].empty());
}

}  // namespace
}  // namespace sawbill::app
