// SPDX-License-Identifier: Apache-2.0
// Whole commands through RunMain, with a disk in memory: what is printed, where, and with which exit status.
#include <algorithm>

#include "app/cli_fixture.h"
#include "base/text.h"

namespace sawbill::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// Help and usage.

TEST_F(CliTest, WithoutArgumentsTheHelpIsPrinted) {
  EXPECT_EQ(Run({}), 0);
  EXPECT_THAT(Out(), AllOf(StartsWith("Sawbill reads the waveform"), HasSubstr("sawbill demo"), HasSubstr("  report"),
                           HasSubstr("Planned, not in this version: live")));
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
      if (line.find("  sawbill ") != std::string_view::npos) continue;  // commands are not broken
      EXPECT_LE(DisplayWidth(line), 80) << line;
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
  for (const char* name :
       {"live", "serve", "trace", "probe", "advise", "whatif", "verify", "savings", "compare", "alert", "sync"}) {
    EXPECT_EQ(Run({name, "--job", "x", "--", "python", "train.py"}), 2) << name;
    EXPECT_THAT(Err(), AllOf(HasSubstr("not in this version"), HasSubstr("sawbill"))) << name;
    EXPECT_THAT(Out(), IsEmpty());
  }
  EXPECT_EQ(Run({"--lang", "zh", "live"}), 2);
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
              AllOf(HasSubstr("/users/u/.local/state/sawbill"), HasSubstr("sawbill demo"), HasSubstr("--data DIR")));
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
        BadValue{{"--config", "/none.toml"}, "/none.toml"}, BadValue{{"--project", "x"}, "its projects: none"},
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

}  // namespace
}  // namespace sawbill::app
