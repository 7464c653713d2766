// SPDX-License-Identifier: Apache-2.0
// Whole commands through RunMain, with a disk in memory: what is printed, where, and with which exit status.
#include "app/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "app/config.h"
#include "app/environment.h"
#include "base/text.h"
#include "sys/mem_fs.h"

namespace sawbill::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// A log as nvidia-smi writes it: one card, `n` samples a second apart from 12:00:00 UTC, 3 of 10 near nothing.
std::string SmiLog(int n, const std::string& name = "NVIDIA TEST 8GB") {
  std::string out = "timestamp, index, name, uuid, utilization.gpu [%], memory.used [MiB], power.draw [W]\n";
  for (int i = 0; i < n; ++i) {
    const bool low = i % 10 < 3;
    out += fmt::format("2026/03/01 12:{:02}:{:02}.000, 0, {}, GPU-1111, {} %, 4000 MiB, {}.00 W\n", i / 60, i % 60,
                       name, low ? 3 : 95, low ? 90 : 300);
  }
  return out;
}

class CliTest : public testing::Test {
 protected:
  CliTest() {
    env_.fs = &fs_;
    env_.out = &out_;
    env_.err = &err_;
    env_.now = 1'772'400'000'000;
    env_.vars = {{"HOME", "/home/u"}, {"LANG", "C.UTF-8"}, {"SAWBILL_TZ", "UTC"}};
    fs_.Put("/logs/gpu.csv", SmiLog(600));
    EXPECT_TRUE(fs_.MakeDirs("/home/u").ok());
    EXPECT_TRUE(fs_.MakeDirs("/tmp").ok());
  }
  int Run(const std::vector<std::string>& args) {
    out_.Clear();
    err_.Clear();
    return RunMain(args, &env_);
  }
  const std::string& Out() const { return out_.text(); }
  const std::string& Err() const { return err_.text(); }

  sys::MemFileSystem fs_;
  MemStream out_, err_;
  Environment env_;
};

// Help and usage.

TEST_F(CliTest, WithoutArgumentsTheHelpIsPrinted) {
  EXPECT_EQ(Run({}), 0);
  EXPECT_THAT(Out(), AllOf(StartsWith("Sawbill reads the waveform"), HasSubstr("sawbill demo"), HasSubstr("  report"),
                           HasSubstr("Planned, not in this version: run record")));
  EXPECT_THAT(Err(), IsEmpty());
}

TEST_F(CliTest, HelpListsOnlyCommandsThatWork) {
  EXPECT_EQ(Run({"--help"}), 0);
  const std::string commands =
      Out().substr(Out().find("\nCommands\n"), Out().find("\nGeneral") - Out().find("\nCommands\n"));
  EXPECT_THAT(commands, AllOf(HasSubstr("  doctor"), Not(HasSubstr("  serve")), Not(HasSubstr("  whatif"))));
}

TEST_F(CliTest, HelpOfACommandGroupsItsFlagsAndGivesExamples) {
  EXPECT_EQ(Run({"report", "--help"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("\nMoney\n"), HasSubstr("--min-saving 2%|5"), HasSubstr("\nExamples\n"),
                           HasSubstr("--last DURATION"), HasSubstr("-o, --output FILE"), HasSubstr("SAWBILL_DATA")));
}

TEST_F(CliTest, HelpFitsTheTerminal) {
  for (const char* lang : {"en", "zh"}) {
    env_.columns = 80;
    EXPECT_EQ(Run({"report", "--help", "--lang", lang}), 0);
    for (std::string_view line : Split(Out(), '\n')) {
      if (line.find("  sawbill ") == std::string_view::npos) EXPECT_LE(DisplayWidth(line), 80) << line;
    }
  }
}

TEST_F(CliTest, HelpIsChineseByFlagVariableAndLocale) {
  EXPECT_EQ(Run({"--lang", "zh", "--help"}), 0);
  EXPECT_THAT(Out(), HasSubstr("用法"));
  env_.vars["LC_ALL"] = "zh_CN.UTF-8";
  EXPECT_EQ(Run({"diagnose", "--help"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("用法"), HasSubstr("显示语言")));
  env_.vars["SAWBILL_LANG"] = "en";
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(Out(), HasSubstr("Usage"));
  EXPECT_EQ(Run({"report", "--help", "--lang=zh"}), 0);
  EXPECT_THAT(Out(), HasSubstr("用法"));
}

TEST_F(CliTest, VersionIsOneLine) {
  EXPECT_EQ(Run({"version"}), 0);
  EXPECT_EQ(Out(), "sawbill " SAWBILL_VERSION "\n");
  EXPECT_EQ(Run({"--version"}), 0);
  EXPECT_EQ(Out(), "sawbill " SAWBILL_VERSION "\n");
}

TEST_F(CliTest, UnknownFlagIsNamedWithTheNearest) {
  EXPECT_EQ(Run({"report", "--pirce", "10", "/logs/gpu.csv"}), 2);
  EXPECT_THAT(Err(), AllOf(StartsWith("sawbill: error: "), HasSubstr("'--pirce'"), HasSubstr("did you mean '--price'?"),
                           HasSubstr("sawbill report --help")));
  EXPECT_THAT(Out(), IsEmpty());
}

TEST_F(CliTest, AFlagOfAnotherCommandIsSaidToBeThat) {
  EXPECT_EQ(Run({"doctor", "--fail-on-waste", "20%"}), 2);
  EXPECT_THAT(Err(), HasSubstr("is a flag of 'sawbill report', not of 'sawbill doctor'"));
}

TEST_F(CliTest, UnknownCommandIsNamedWithTheNearest) {
  EXPECT_EQ(Run({"repotr", "x"}), 2);
  EXPECT_THAT(Err(), AllOf(HasSubstr("'sawbill repotr'"), HasSubstr("did you mean 'report'?")));
  EXPECT_EQ(Run({"rules", "explian"}), 2);
  EXPECT_THAT(Err(), HasSubstr("did you mean 'explain'?"));
}

TEST_F(CliTest, PlannedCommandsSayWhatToUseInstead) {
  for (const char* name : {"run", "record", "live", "serve", "trace", "probe", "advise", "whatif", "verify", "savings",
                           "compare", "alert", "sync", "pause", "replay"}) {
    EXPECT_EQ(Run({name, "--job", "x", "--", "python", "train.py"}), 2) << name;
    EXPECT_THAT(Err(), AllOf(HasSubstr("not in this version"), HasSubstr("sawbill"))) << name;
    EXPECT_THAT(Out(), IsEmpty());
  }
  EXPECT_EQ(Run({"--lang", "zh", "run"}), 2);
  EXPECT_THAT(Err(), HasSubstr("本版本尚未提供"));
}

TEST_F(CliTest, MissingArgumentsAndValuesAreNamed) {
  EXPECT_EQ(Run({"rules", "explain"}), 2);
  EXPECT_THAT(Err(), HasSubstr("needs FINDING"));
  EXPECT_EQ(Run({"report", "--tz"}), 2);
  EXPECT_THAT(Err(), HasSubstr("--tz needs a value"));
  EXPECT_EQ(Run({"version", "x"}), 2);
  EXPECT_THAT(Err(), HasSubstr("one argument too many"));
}

// What is read.

TEST_F(CliTest, ReportOfALogGoesToStdoutAlone) {
  EXPECT_EQ(Run({"report", "--price", "10", "/logs/gpu.csv"}), 0) << Err();
  EXPECT_THAT(Out(), AllOf(HasSubstr("RECEIPT"), HasSubstr("USD")));
  EXPECT_THAT(Err(), IsEmpty());
}

TEST_F(CliTest, ReportWithoutAPriceShowsHoursAndSaysHowToGiveOne) {
  EXPECT_EQ(Run({"report", "/logs/gpu.csv"}), 0);
  EXPECT_THAT(Out(), HasSubstr("--price"));
  EXPECT_EQ(Run({"report", "--format", "json", "/logs/gpu.csv"}), 0);
  EXPECT_THAT(Out(), HasSubstr("\"cost\": null"));
  EXPECT_THAT(Err(), HasSubstr("--price \"NVIDIA TEST 8GB=AMOUNT\""));
}

TEST_F(CliTest, ChineseReportIsInYuan) {
  env_.vars["LC_ALL"] = "zh_CN.UTF-8";
  EXPECT_EQ(Run({"report", "--price", "10", "/logs/gpu.csv"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("账单"), HasSubstr("CNY")));
}

TEST_F(CliTest, MissingFileAndMissingDataFolderSayWhatToDo) {
  EXPECT_EQ(Run({"report", "/logs/none.csv"}), 2);
  EXPECT_THAT(Err(), HasSubstr("/logs/none.csv"));
  EXPECT_EQ(Run({"report"}), 2);
  EXPECT_THAT(Err(),
              AllOf(HasSubstr("/home/u/.local/state/sawbill"), HasSubstr("sawbill demo"), HasSubstr("--data DIR")));
}

TEST_F(CliTest, AFolderOfForeignLogsNamesOneAsAnExample) {
  EXPECT_EQ(Run({"report", "/logs"}), 2);
  EXPECT_THAT(Err(), HasSubstr("sawbill report /logs/gpu.csv"));
}

TEST_F(CliTest, SeveralFilesGetAReceiptEach) {
  fs_.Put("/logs/b.csv", SmiLog(60));
  EXPECT_EQ(Run({"report", "/logs/gpu.csv", "/logs/b.csv"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("1 of 2: /logs/gpu.csv"), HasSubstr("2 of 2: /logs/b.csv")));
  EXPECT_EQ(Run({"report", "--format", "json", "/logs/gpu.csv", "/logs/b.csv"}), 2);
  EXPECT_EQ(Run({"report", "/logs/gpu.csv", "/logs/none.csv"}), 2) << "one that cannot be read does not hide the other";
  EXPECT_THAT(Out(), HasSubstr("RECEIPT"));
}

TEST_F(CliTest, PeriodIsCut) {
  EXPECT_EQ(Run({"report", "--format", "json", "--from", "2026-03-01 12:02", "--to", "2026-03-01T12:03:00Z",
                 "/logs/gpu.csv"}),
            0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("\"from\": \"2026-03-01T12:02:00.000Z\""),
                           HasSubstr("\"to\": \"2026-03-01T12:03:00.000Z\"")));
  EXPECT_EQ(Run({"report", "--format", "json", "--last", "1m", "/logs/gpu.csv"}), 0);
  EXPECT_THAT(Out(), HasSubstr("\"from\": \"2026-03-01T12:08:59.000Z\""));
  EXPECT_EQ(Run({"report", "--tz", "+08:00", "--format", "json", "--from", "2026-03-01 20:02", "/logs/gpu.csv"}), 2)
      << "the log's times have no zone either, so they are taken in +08:00 as well";
}

TEST_F(CliTest, APeriodWithoutSamplesNamesWhatThereIs) {
  EXPECT_EQ(Run({"report", "--from", "2026-04-01", "/logs/gpu.csv"}), 2);
  EXPECT_THAT(Err(), AllOf(HasSubstr("2026-03-01 12:00:00"), HasSubstr("2026-03-01 12:09:59")));
}

TEST_F(CliTest, ACardThatIsNotThereIsNamedWithThoseThatAre) {
  EXPECT_EQ(Run({"report", "--gpu", "7", "/logs/gpu.csv"}), 2);
  EXPECT_THAT(Err(), HasSubstr("its cards: 0"));
  EXPECT_EQ(Run({"report", "--gpu", "0", "/logs/gpu.csv"}), 0);
}

TEST_F(CliTest, ExplainFormatSaysWhatColumnsWereTakenFor) {
  EXPECT_EQ(Run({"diagnose", "--explain-format", "/logs/gpu.csv"}), 0);
  EXPECT_THAT(Out(), HasSubstr("sm_util"));
  EXPECT_EQ(Run({"diagnose", "--explain-format"}), 2);
}

// Values.

struct BadValue {
  std::vector<std::string> args;
  std::string says;
};
class BadValues : public CliTest, public testing::WithParamInterface<BadValue> {};
TEST_P(BadValues, AreRefusedWithWhatToWrite) {
  std::vector<std::string> args = {"report", "/logs/gpu.csv"};
  args.insert(args.end(), GetParam().args.begin(), GetParam().args.end());
  EXPECT_EQ(Run(args), 2);
  EXPECT_THAT(Err(), AllOf(StartsWith("sawbill: error: "), HasSubstr(GetParam().says)));
  EXPECT_THAT(Out(), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(
    Flags, BadValues,
    testing::Values(
        BadValue{{"--from", "yesterday"}, "--from: 'yesterday'"}, BadValue{{"--from", "2026-02-30"}, "--from"},
        BadValue{{"--to", "2026"}, "--to: '2026'"}, BadValue{{"--last", "7 parsecs"}, "90m"},
        BadValue{{"--last", "-1h"}, "--last"}, BadValue{{"--last", "0"}, "--last"},
        BadValue{{"--last", "1h", "--from", "2026-03-01"}, "give one of them"},
        BadValue{{"--from", "2026-03-02", "--to", "2026-03-01"}, "is not before"},
        BadValue{{"--tz", "Mars/Base"}, "Asia/Shanghai"}, BadValue{{"--min-saving", "lots"}, "such as 2%"},
        BadValue{{"--min-saving", "-1"}, "--min-saving"}, BadValue{{"--min-saving", "101%"}, "--min-saving"},
        BadValue{{"--fail-on-waste", "20"}, "such as 20%"}, BadValue{{"--format", "jsno"}, "did you mean 'json'?"},
        BadValue{{"--format", "focus"}, "not in this version"}, BadValue{{"--by", "usr"}, "did you mean 'user'?"},
        BadValue{{"--color", "sometimes"}, "auto, always, never"}, BadValue{{"--currency", "dollars"}, "USD"},
        BadValue{{"--lang", "fr"}, "en, zh"}, BadValue{{"--price", "-5"}, "cannot be negative"},
        BadValue{{"--price", "cheap"}, "not a number"}, BadValue{{"--prices", "/none.toml"}, "/none.toml"},
        BadValue{{"--config", "/none.toml"}, "/none.toml"}, BadValue{{"--project", "x"}, "not in this version"},
        BadValue{{"-o", "/dev/null"}, "redirect stdout"}));

TEST_F(CliTest, MinSavingTakesAShareOrAnAmount) {
  for (const char* v : {"2%", "0%", "100 %", "5", "0", "2.5"}) {
    EXPECT_EQ(Run({"report", "--price", "1", "--min-saving", v, "/logs/gpu.csv"}), 0) << v << Err();
  }
}

TEST_F(CliTest, FailOnWasteExitsWithOne) {
  EXPECT_EQ(Run({"report", "--fail-on-waste", "100%", "/logs/gpu.csv"}), 0);
  EXPECT_EQ(Run({"report", "--fail-on-waste", "0%", "/logs/gpu.csv"}), 1) << Out();
  EXPECT_THAT(Out(), HasSubstr("RECEIPT"));
  EXPECT_THAT(Err(), HasSubstr("--fail-on-waste"));
}

TEST_F(CliTest, OutputGoesIntoAFile) {
  EXPECT_EQ(Run({"report", "-o", "/tmp/r.json", "--format", "json", "/logs/gpu.csv", "--price", "1"}), 0) << Err();
  EXPECT_THAT(Out(), IsEmpty());
  EXPECT_THAT(fs_.Get("/tmp/r.json"), HasSubstr("sawbill.report/1"));
  fs_.SetSpaceLeft(10);
  EXPECT_EQ(Run({"report", "-o", "/tmp/r.json", "/logs/gpu.csv"}), 3);
  EXPECT_THAT(fs_.Get("/tmp/r.json"), HasSubstr("sawbill.report/1")) << "the old file stays whole";
}

TEST_F(CliTest, ColourOnlyOnATerminalAndNotWithNoColor) {
  const std::vector<std::string> args = {"report", "--price", "10", "/logs/gpu.csv"};
  Run(args);
  EXPECT_THAT(Out(), Not(HasSubstr("\x1b[")));
  env_.out_is_terminal = true;
  Run(args);
  EXPECT_THAT(Out(), HasSubstr("\x1b["));
  env_.vars["NO_COLOR"] = "1";
  Run(args);
  EXPECT_THAT(Out(), Not(HasSubstr("\x1b[")));
  Run({"report", "--color", "always", "/logs/gpu.csv"});
  EXPECT_THAT(Out(), HasSubstr("\x1b["));
}

TEST_F(CliTest, AsciiByFlagAndWhereTheLocaleIsNotUtf8) {
  const auto is_ascii = [](const std::string& s) {
    return std::all_of(s.begin(), s.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
  };
  Run({"report", "/logs/gpu.csv"});
  EXPECT_FALSE(is_ascii(Out()));
  Run({"report", "--ascii", "/logs/gpu.csv"});
  EXPECT_TRUE(is_ascii(Out())) << Out();
  env_.vars["LC_ALL"] = "C";
  Run({"report", "/logs/gpu.csv"});
  EXPECT_TRUE(is_ascii(Out()));
}

// Prices and configuration.

TEST_F(CliTest, FlagWinsOverVariableOverUserConfigOverSystemConfig) {
  const auto currency = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"report", "--format", "json", "/logs/gpu.csv"});
    EXPECT_EQ(Run(args), 0) << Err();
    const size_t at = Out().find("\"currency\": \"");
    return at == std::string::npos ? "" : Out().substr(at + 13, 3);
  };
  EXPECT_EQ(currency({}), "USD");
  fs_.Put("/etc/sawbill/sawbill.toml", "currency = \"CHF\"\nmin_saving = 3\n");
  EXPECT_EQ(currency({}), "CHF");
  fs_.Put("/home/u/.config/sawbill/sawbill.toml", "currency = \"SEK\"\n");
  EXPECT_EQ(currency({}), "SEK");
  env_.vars["SAWBILL_CURRENCY"] = "JPY";
  EXPECT_EQ(currency({}), "JPY");
  EXPECT_EQ(currency({"--currency", "eur"}), "EUR");
  env_.vars.erase("SAWBILL_CURRENCY");
  fs_.Put("/x.toml", "lang = \"en\"\n");
  EXPECT_EQ(currency({"--config", "/x.toml"}), "USD") << "--config stands in for both";
}

TEST_F(CliTest, ConfigErrorsNamePlaceAndTheNearestKey) {
  fs_.Put("/home/u/.config/sawbill/sawbill.toml", "lang = \"en\"\ncurency = \"EUR\"\n");
  EXPECT_EQ(Run({"report", "/logs/gpu.csv"}), 2);
  EXPECT_THAT(Err(),
              HasSubstr("/home/u/.config/sawbill/sawbill.toml:2:1: unknown key 'curency'; did you mean 'currency'?"));
  EXPECT_EQ(Run({"--help"}), 0) << "help works with a broken configuration";
  EXPECT_EQ(Run({"version"}), 0);
  EXPECT_EQ(Run({"doctor"}), 2) << "the doctor says that it is broken";
  EXPECT_THAT(Out(), HasSubstr("did you mean 'currency'?"));
}

TEST_F(CliTest, LanguageOfTheConfigurationCountsForErrorsAndHelp) {
  fs_.Put("/home/u/.config/sawbill/sawbill.toml", "lang = \"zh\"\n");
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_THAT(Out(), HasSubstr("用法"));
  EXPECT_EQ(Run({"report", "--nonsense"}), 2);
  EXPECT_THAT(Err(), HasSubstr("没有参数"));
}

TEST_F(CliTest, PathsInTheConfigurationAreTakenFromItsFolder) {
  fs_.Put("/cfg/sawbill.toml",
          "prices = [\"p.toml\"]\n[[price]]\nmodel = \"other\"\nper_hour = 1\ncurrency = \"EUR\"\n");
  fs_.Put("/cfg/p.toml",
          "currency = \"EUR\"\n[[price]]\nmodel = \"NVIDIA TEST 8GB\"\nper_hour = 36\nsource = \"list\"\n");
  EXPECT_EQ(Run({"report", "--config", "/cfg/sawbill.toml", "--format", "json", "/logs/gpu.csv"}), 0) << Err();
  EXPECT_THAT(Out(), AllOf(HasSubstr("\"price_per_hour\": 36"), HasSubstr("\"currency\": \"EUR\"")));
}

TEST_F(CliTest, LabelsOfCardsComeFromTheConfiguration) {
  fs_.Put("/c.toml", "[[card]]\nuuid = \"GPU-1111\"\nlabel = \"team-a\"\n");
  EXPECT_EQ(Run({"report", "--config", "/c.toml", "--label", "team-a", "--format", "json", "/logs/gpu.csv"}), 0)
      << Err();
  EXPECT_THAT(Out(), HasSubstr("\"label\": \"team-a\""));
  EXPECT_EQ(Run({"report", "--config", "/c.toml", "--label", "team-b", "/logs/gpu.csv"}), 2);
}

TEST_F(CliTest, ShippedConfigurationIsSoundWithAndWithoutItsComments) {
  std::ifstream in(std::string(SAWBILL_SOURCE_DIR) + "/examples/sawbill.toml");
  ASSERT_TRUE(in.good());
  std::string line, plain, bare;
  while (std::getline(in, line)) {
    plain += line + "\n";
    if (line.size() > 1 && line[0] == '#' && line[1] != ' ') line = line.substr(1);
    bare += line + "\n";
  }
  Config config;
  const Status as_shipped = ReadConfig(plain, "sawbill.toml", "/home/u", &config);
  EXPECT_TRUE(as_shipped.ok()) << as_shipped.message();
  EXPECT_FALSE(config.data || config.currency || config.rules) << "every setting is commented out";
  const Status uncommented = ReadConfig(bare, "/c/sawbill.toml", "/home/u", &config);
  EXPECT_TRUE(uncommented.ok()) << uncommented.message();
  EXPECT_EQ(config.labels.at("GPU-00000000-0000-0000-0000-000000000000"), "team-a");
  for (const std::string& key : ConfigKeys()) {
    const std::string name = key.substr(key.find('.') == std::string::npos ? 0 : key.find('.') + 1);
    EXPECT_TRUE(bare.find("\n" + name + " = ") != std::string::npos ||
                bare.find("[[" + name + "]]") != std::string::npos)
        << key;
  }
  fs_.Put("/c/my-prices.toml", "");
  fs_.Put("/c/my-rules.toml", "");
  fs_.Put("/c/sawbill.toml", bare);
  EXPECT_EQ(Run({"report", "--config", "/c/sawbill.toml", "/logs/gpu.csv"}), 0) << Err();
}

TEST_F(CliTest, PricesListsWhatIsKnownAndHowToGiveWhatIsNot) {
  EXPECT_EQ(Run({"prices", "/logs/gpu.csv"}), 0) << Err();
  EXPECT_THAT(Out(), AllOf(HasSubstr("No price is known"), HasSubstr("--price \"NVIDIA TEST 8GB=")));
  EXPECT_EQ(Run({"prices", "--price", "NVIDIA TEST 8GB=3", "/logs/gpu.csv"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("model \"NVIDIA TEST 8GB\""), HasSubstr("3 USD"), Not(HasSubstr("unknown"))));
  EXPECT_EQ(Run({"prices"}), 0);
  EXPECT_THAT(Out(), HasSubstr("name a recording"));
}

// Rules.

TEST_F(CliTest, RulesListExplainAndCheck) {
  EXPECT_EQ(Run({"rules", "list"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("data-loading"), HasSubstr("composite"), HasSubstr("shipped")));
  EXPECT_EQ(Run({"rules", "explain", "data-loading"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("All of these must be true"), HasSubstr("few-workers")));
  EXPECT_EQ(Run({"rules", "explain", "data-loadign"}), 2);
  EXPECT_THAT(Err(), HasSubstr("did you mean 'data-loading'?"));
  fs_.Put("/r.toml", "[[rule]]\nname = \"data-loading\"\nenabld = false\n");
  EXPECT_EQ(Run({"rules", "check", "/r.toml"}), 2);
  EXPECT_THAT(Err(), AllOf(HasSubstr("/r.toml:3:1"), HasSubstr("enabled")));
  fs_.Put("/r.toml", "[[rule]]\nname = \"data-loading\"\nenabled = false\n");
  EXPECT_EQ(Run({"rules", "check", "/r.toml"}), 0) << Err();
  EXPECT_THAT(Out(), HasSubstr("/r.toml: ok"));
}

TEST_F(CliTest, RulesExplainJudgesARecordingStepByStep) {
  EXPECT_EQ(Run({"rules", "explain", "data-loading", "/logs/gpu.csv"}), 0) << Err();
  EXPECT_THAT(Out(), AllOf(HasSubstr("wait_share"), HasSubstr("sawbill diagnose --all /logs/gpu.csv")));
  EXPECT_EQ(Run({"rules", "explain", "data-loading", "--format", "json", "/logs/gpu.csv"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("\"schema\": \"sawbill.rules-explain/1\""), HasSubstr("\"trials\": [")));
}

// Demo, doctor, completion.

TEST_F(CliTest, DemoSaysThatItIsSimulatedAndThatThePriceIsAssumed) {
  fs_.Put(
      "/demo/gpu-2026-03-01.csv",
      "timestamp,gpu,sm_util,power_w\n1772366400.000,0,95,300.0\n1772366401.000,0,95,300.0\n1772366402.000,0,3,90.0\n");
  fs_.Put("/demo/truth.json", "{}");
  env_.vars["SAWBILL_DEMO_DIR"] = "/demo";
  EXPECT_EQ(Run({"demo"}), 0) << Err();
  EXPECT_THAT(Err(), AllOf(HasSubstr("SIMULATED"), HasSubstr("10 USD"), HasSubstr("assumed")));
  EXPECT_EQ(Run({"demo", "--price", "3"}), 0);
  EXPECT_THAT(Err(), Not(HasSubstr("assumed")));
  env_.vars["SAWBILL_DEMO_DIR"] = "/nowhere";
  EXPECT_EQ(Run({"demo"}), 2);
  EXPECT_THAT(Err(), HasSubstr("/nowhere"));
}

TEST_F(CliTest, DemoIsFoundBesideTheProgram) {
  fs_.Put("/src/examples/demo/gpu-2026-03-01.csv", "timestamp,gpu,sm_util\n1772366400.000,0,95\n1772366401.000,0,95\n");
  env_.exe_path = "/src/build/sawbill";
  EXPECT_EQ(Run({"demo"}), 0) << Err();
}

TEST_F(CliTest, DoctorOnAMachineWithoutACard) {
  env_.load_library = [](const std::string& name) { return std::optional(name + ": cannot open"); };
  EXPECT_EQ(Run({"doctor"}), 0) << "reports can be made without a card";
  EXPECT_THAT(Out(), AllOf(HasSubstr("missing nvml"), HasSubstr("--gpus all"), HasSubstr("Reports can be made here")));
  EXPECT_EQ(Run({"doctor", "--require", "nvml"}), 3);
  EXPECT_EQ(Run({"doctor", "--require", "nvlm"}), 2);
  EXPECT_THAT(Err(), HasSubstr("did you mean 'nvml'?"));
}

TEST_F(CliTest, DoctorOnAMachineWithCardsAndAQuota) {
  env_.load_library = [](const std::string&) { return std::optional<std::string>(); };
  fs_.Put("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.00\nGCC version: x\n");
  fs_.Put("/dev/nvidia0", "");
  fs_.Put("/dev/nvidia1", "");
  fs_.Put("/dev/nvidiactl", "");
  fs_.Put("/sys/devices/system/cpu/online", "0-127\n");
  fs_.Put("/proc/self/status", "Name:\tsawbill\nCpus_allowed_list:\t0-63,96\n");
  fs_.Put("/proc/self/cgroup", "0::/kube/pod\n");
  fs_.Put("/sys/fs/cgroup/kube/cpu.max", "400000 100000\n");
  fs_.Put("/sys/fs/cgroup/kube/pod/cpu.max", "max 100000\n");
  fs_.SetNetwork("nfs");
  EXPECT_EQ(Run({"doctor", "--require", "nvml", "--require", "devices"}), 0) << Out() << Err();
  EXPECT_THAT(Out(), AllOf(HasSubstr("570.00"), HasSubstr("2 cards"), HasSubstr("4 of the host's 128 CPU cores"),
                           HasSubstr("nfs")));
  EXPECT_EQ(Run({"doctor", "--format", "json"}), 0);
  EXPECT_THAT(Out(), AllOf(HasSubstr("\"schema\": \"sawbill.doctor/1\""), HasSubstr("\"id\": \"cores\""),
                           HasSubstr("\"status\": \"warn\"")));
}

TEST_F(CliTest, DoctorNeverLeavesItsProbeBehind) {
  const auto before = fs_.Paths();
  Run({"doctor"});
  EXPECT_EQ(fs_.Paths(), before);
  fs_.SetSpaceLeft(0);
  Run({"doctor", "--data", "/tmp/x"});
  EXPECT_EQ(fs_.Paths(), before);
}

TEST_F(CliTest, CompletionKnowsEveryCommandAndFlag) {
  const CommandSpec root = DescribeCommands(Lang::kEn);
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_EQ(Run({"completion", shell}), 0);
    for (const CommandSpec& c : root.subcommands) {
      EXPECT_THAT(Out(), HasSubstr(c.path)) << shell;
      for (const FlagSpec& f : c.flags) EXPECT_THAT(Out(), HasSubstr(f.names.back().substr(2))) << shell;
    }
    EXPECT_THAT(Out(), HasSubstr("restart-loop")) << shell;
  }
  EXPECT_EQ(Run({"completion", "tcsh"}), 2);
  EXPECT_THAT(Err(), HasSubstr("bash, zsh or fish"));
}

TEST_F(CliTest, ProgressOnlyOnATerminal) {
  Run({"report", "--price", "1", "/logs/gpu.csv"});
  EXPECT_THAT(Err(), Not(HasSubstr("\r")));
}

}  // namespace
}  // namespace sawbill::app
